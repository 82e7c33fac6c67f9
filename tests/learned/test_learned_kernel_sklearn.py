"""scikit-learn's own checks of the models that learn their kernel, parameters and refusals."""

import numpy as np
import pytest
from learned.learned_fits import (
    NEW,
    THREE,
    X,
    Y,
    assert_same_model,
    classifier,
    modulated,
    modulated_classifier,
    regressor,
)
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import bochner
from bochner import (
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    LocallyStationaryRegressor,
    papers,
)
from bochner.learned import Chains, DenseStructure, LearnedEnvelope, SparseStructure
from bochner.learned.moves import LOCAL_MOVES, Hamiltonian, PrecisionWalk, PriorParameters

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
LITTLE = {"n_frequencies": 10, "chains": Chains(5, 5, 2, thin=1)}
MORE = {"n_frequencies": 10, "chains": Chains(12, 5, 2, thin=1)}


@pytest.mark.thorough_cases(
    r"^Locally|memmap|is_fitted",
    r"_(dtype|object|pip|nan|pickle|idem|pos|train|in$|y_2d|int|classes|.*dense_)",
    r"^\w+C.*(dict|dont|self|over|contig|1d$|y$|inv|list)",
)
@parametrize_with_checks(
    [
        LearnedKernelRegressor(**MORE, structure="dense"),
        LearnedKernelClassifier(**LITTLE, structure="sparse"),
        LocallyStationaryRegressor(**MORE, structure="dense"),
    ],
    xfail_strict=True,
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_frequencies": 0}, ValueError, "n_frequencies must be at least 1, got 0"),
        ({"n_frequencies": 2.0}, TypeError, "n_frequencies must be an integer, got 2.0"),
        ({"chains": 3}, TypeError, "chains must be a bochner.learned.Chains .*got 3"),
        ({"structure": "full"}, ValueError, "structure must be one of 'auto', .*, got 'full'"),
        ({"structure": None}, TypeError, "structure must be one of 'auto', .*, got None"),
        ({"sampler": "nuts"}, ValueError, "sampler must be one of 'auto', .*, got 'nuts'"),
        ({"sampler": papers.bank.SAMPLER, "structure": "sparse"}, ValueError, "structure='dense'"),
        ({"trend": 3}, ValueError, "trend must be 0, 1 or 2, got 3"),
        ({"trend": 1.0}, TypeError, "trend must be an integer, got 1.0"),
        ({"time_limit": 0}, ValueError, "time_limit must be positive and finite, got 0"),
        ({"time_limit": float("nan")}, ValueError, "time_limit must be positive and finite"),
        ({"time_limit": "1h"}, TypeError, "time_limit must be a number, got '1h'"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be a nonzero integer or None, got 1.5"),
        ({"dtype": "int32"}, ValueError, "dtype must be None, 'float32' or 'float64'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [regressor, classifier])
def test_bad_parameters_are_refused(make, parameters, error, message):
    with pytest.raises(error, match=message):
        make(**parameters).fit(X, THREE)


@pytest.mark.parametrize("make", [modulated, modulated_classifier])
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"envelope": "flat"}, ValueError, "envelope must be one of 'learned', .*, got 'flat'"),
        ({"envelope": True}, TypeError, "envelope must be one of"),
        ({"sampler": papers.bank.SAMPLER, "structure": "sparse"}, ValueError, "structure='dense'"),
    ],
    ids=str,
)
def test_bad_envelopes_are_refused(make, parameters, error, message):
    test_bad_parameters_are_refused(make, parameters, error, message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Chains(n_samples=0), "n_samples must be at least 1"),
        (lambda: Chains(n_burn_in=-1), "n_burn_in must be at least 0, got -1"),
        (lambda: Chains(n_chains=True), "n_chains must be an integer, got True"),
        (lambda: Chains(thin=0), "thin must be at least 1"),
        (lambda: Chains(thin="all"), "thin must be an integer, got 'all'"),
        (lambda: LearnedEnvelope("waves"), "amplitudes must be one of 'cosines', .*got 'waves'"),
        (lambda: LearnedEnvelope(noise="no"), "noise must be True or False, got 'no'"),
    ],
)
def test_objects_of_parameters_refuse_wrong_fields(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_what_only_one_of_them_knows_is_refused_by_the_other():
    with pytest.raises(ValueError, match="one of 'learned', 'windows', 'constant'"):
        modulated_classifier(envelope="noise").fit(X, THREE)
    with pytest.raises(ValueError, match="LocallyStationaryClassifier needs at least two classes"):
        modulated_classifier().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="whole-number weights"):
        modulated_classifier(sampler=papers.gabasr.sampler(2)).fit(
            X, THREE, np.linspace(0.5, 2.0, len(X))
        )


def test_classes_are_refused_where_they_are_no_classes():
    with pytest.raises(ValueError, match="at least two classes, got 1 class"):
        classifier().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="at least two classes, got 1 class"):
        classifier().fit(X, THREE, THREE == 1)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        classifier().fit(X, Y)


TRAJECTORIES = (Hamiltonian(), PrecisionWalk(), PriorParameters())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("names", "objects"),
    [
        ({"structure": "sparse"}, {"structure": SparseStructure(), "sampler": [*LOCAL_MOVES]}),
        (
            {"structure": "dense", "sampler": "hmc"},
            {"structure": DenseStructure(), "sampler": TRAJECTORIES},
        ),
    ],
)
def test_objects_are_what_strings_stand_for(names, objects, tmp_path):
    model = clone(regressor(**objects)).fit(X, Y)
    assert_same_model(model, regressor(**names).fit(X, Y))
    bochner.save(model, tmp_path / "model")
    assert_array_equal(bochner.load(tmp_path / "model").predict(NEW), model.predict(NEW))


@pytest.mark.parametrize(
    ("sampler", "error"),
    [("gibbs", ValueError), (3, TypeError), ([], TypeError), (["pcn"], TypeError)],
)
def test_other_samplers_are_refused(sampler, error):
    with pytest.raises(
        error, match=r"a Sampler or a sequence of moves \(instances, not classes\), got"
    ):
        regressor(sampler=sampler).fit(X, Y)
