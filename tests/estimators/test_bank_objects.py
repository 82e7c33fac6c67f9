"""Moves and structures passed as objects, where strings are shorthands."""

import pytest
from estimators.bank_fits import NEW, X, Y, assert_same_model, regressor
from numpy.testing import assert_array_equal
from sklearn.base import clone

import bochner
from bochner.learning.inference.start import DenseStructure, SparseStructure
from bochner.learning.moves import LOCAL_MOVES, Hamiltonian, PrecisionWalk, PriorParameters

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TRAJECTORIES = (Hamiltonian(), PrecisionWalk(), PriorParameters())


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
    with pytest.raises(error, match="a Sampler or a sequence of moves, got"):
        regressor(sampler=sampler).fit(X, Y)
