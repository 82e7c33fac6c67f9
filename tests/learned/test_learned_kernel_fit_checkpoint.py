"""A fit that was killed goes on from its checkpoint to the model that it would have been."""

import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from estimators import bank_fits
from estimators.bank_fits import CASES, CHAINS, NEW, X, Y, fitted, last_checkpoint, regressor
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from bochner.learned import chain_sizes as sizes

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
KILLED = ("sparse", "dense", "two classes", "three classes", "two chains")


@pytest.fixture(scope="module")
def whole():
    """Models of fits that nothing disturbs, without a checkpoint, made once each."""
    made = {}

    def get(case):
        if case not in made:
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                made[case] = fitted(case)
        return made[case]

    return get


@pytest.fixture
def often(monkeypatch):
    bank_fits.save_at_every_chance(monkeypatch.setattr)


@contextmanager
def interruption(n_rounds, error=KeyboardInterrupt):
    """Let that many rounds of all chains together pass, and fail in the next one."""
    passed = iter(range(n_rounds))
    with pytest.MonkeyPatch.context() as patch:
        for cls in CHAINS:

            def step(self, *args, right=cls.step, **options):
                if next(passed, None) is None:
                    raise error
                return right(self, *args, **options)

            patch.setattr(cls, "step", step)
        yield


def interrupt(n_rounds, case, path, **parameters):
    """Fit until the fit is interrupted after that many rounds."""
    with interruption(n_rounds), pytest.raises(KeyboardInterrupt):
        fitted(case, path, **parameters)
    return path


def kill(case, path):
    """Fit in another process and kill it in the middle, as soon as there is a checkpoint."""
    awaited = last_checkpoint(case, path)
    child = subprocess.Popen([sys.executable, bank_fits.__file__, case, str(path)])
    try:
        while not awaited.exists():
            assert child.poll() is None, "The fit ended without a checkpoint."
            time.sleep(0.005)
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        assert child.wait() == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("case", KILLED)
def test_a_killed_fit_goes_on_to_the_same_model(case, whole, tmp_path):
    path = tmp_path / "fit.checkpoint"
    kill(case, path)
    assert last_checkpoint(case, path).exists()
    bank_fits.assert_same_model(fitted(case, path), whole(case))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("case", CASES)
def test_the_checkpoint_changes_nothing(case, whole, tmp_path, often):
    bank_fits.assert_same_model(fitted(case, tmp_path / "fit"), whole(case))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_rounds", [5, 12, 33])
@pytest.mark.parametrize("case", CASES)
def test_an_interrupted_fit_goes_on_to_the_same_model(case, n_rounds, whole, tmp_path, often):
    n_rounds *= {"independence": 2, "three classes": 3}.get(case, 1)
    path = interrupt(n_rounds, case, tmp_path / "fit")
    bank_fits.assert_same_model(fitted(case, path), whole(case))


@pytest.mark.parametrize("case", ["dense", "two classes"])
@pytest.mark.parametrize("n_rounds", [11, 15, 35])
def test_it_goes_on_from_the_warm_up_on_some_rows(case, n_rounds, tmp_path, often, monkeypatch):
    monkeypatch.setattr(sizes, "_LADDER", ((20, False, 0.25), (25, True, 0.45)))
    parameters = {"n_burn_in": 24, "n_samples": 12}  # in stages of 12, 6, 6 and 12
    expected = fitted(case, **parameters)
    path = interrupt(n_rounds, case, tmp_path / "fit", **parameters)
    assert path.exists()
    bank_fits.assert_same_model(fitted(case, path, **parameters), expected)


@pytest.mark.parametrize(("case", "n_done"), [("two chains", 44), ("three classes", 88)])
def test_chains_that_had_finished_are_not_run_again(case, n_done, whole, tmp_path):
    """Even if they were too fast for a checkpoint before their end."""
    path = interrupt(n_done, case, tmp_path / "fit")
    with interruption(44, AssertionError("more rounds than the chain that was missing")):
        resumed = fitted(case, path)
    bank_fits.assert_same_model(resumed, whole(case))


def test_a_fit_may_be_interrupted_again_and_again(whole, tmp_path, often):
    path, n_fits = tmp_path / "fit", 1
    while True:
        try:
            with interruption(16):
                model = fitted("sparse", path)
            break
        except KeyboardInterrupt:
            n_fits += 1
    bank_fits.assert_same_model(model, whole("sparse"))
    assert n_fits == 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_fit_that_fails_leaves_no_trace_of_itself(error):
    model = regressor()
    before = dict(vars(model))
    with interruption(20, error), pytest.raises(error):
        model.fit(X, Y)
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.trace_  # noqa: B018


@pytest.mark.parametrize("case", ["dense", "three classes"])
def test_a_fit_that_fails_leaves_the_one_before(case):
    model = fitted(case)
    before, predictions = dict(vars(model)), model.predict(NEW)
    with interruption(20), pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], 5 - CASES[case]()[1])
    assert {name: id(value) for name, value in vars(model).items()} == {
        name: id(value) for name, value in before.items()
    }
    assert_array_equal(model.predict(NEW), predictions)


@pytest.fixture
def interrupted(tmp_path, often):
    """A checkpoint in the middle of a fit."""
    return interrupt(25, "dense", tmp_path / "fit")


def test_data_parameters_and_kind_of_another_fit_are_refused(interrupted):
    content, weight = interrupted.read_bytes(), np.linspace(1.0, 2.0, len(Y))
    for case, parameters in (
        ("dense", {"random_state": 4}),
        ("dense", {"n_samples": 31}),
        ("sparse", {"trend": 0}),
        ("dense", {"trend": 1}),
        ("two classes", {"structure": "dense"}),
    ):
        with pytest.raises(ValueError, match="belongs to a fit with other data or parameters"):
            fitted(case, interrupted, **parameters)
    for data in ((X + 1e-9 * X**2, Y), (X, Y**3), (X, Y, weight)):
        with pytest.raises(ValueError, match="belongs to a fit with other data or parameters"):
            regressor(structure="dense").fit(*data, checkpoint=interrupted)
    assert interrupted.read_bytes() == content


def test_the_number_of_processes_and_verbosity_may_change(interrupted, whole, capsys):
    model = fitted("dense", interrupted, n_jobs=2, verbose=True)
    bank_fits.assert_same_model(model, whole("dense"))
    assert "sampling 30/30" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["no/folder/fit", "."])
def test_unusable_paths_are_refused_before_the_fit(name, tmp_path):
    early = AssertionError("a round before the path was checked")
    with interruption(0, early), pytest.raises(ValueError, match=r"checkpoint .* folder"):
        fitted("dense", tmp_path / name)


def test_what_a_kill_left_of_half_written_files_goes_in_the_end(tmp_path):
    for name in ("fit.77.partial", "fit.0.78.partial", "fit.1.79.partial", "fitting.80.partial"):
        (tmp_path / name).write_bytes(b"half")
    fitted("two chains", tmp_path / "fit")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "fit.77.partial",
        "fitting.80.partial",
    ]


def test_a_checkpoint_that_is_no_path_is_refused():
    with pytest.raises(TypeError, match="checkpoint must be a str or path-like, got 5"):
        regressor().fit(X, Y, checkpoint=5)
