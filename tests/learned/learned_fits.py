"""Small fits of the models that learn their kernel."""

from dataclasses import fields

import numpy as np
from learned.grouped_parameters import grouped
from numpy.testing import assert_array_equal

from bochner import (
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    LocallyStationaryClassifier,
    LocallyStationaryRegressor,
    papers,
)

SMALL = {
    "n_frequencies": 8,
    "n_burn_in": 14,
    "n_samples": 30,
    "thin": 1,
    "n_chains": 1,
    "random_state": 3,
}
X = np.random.default_rng(0).normal(size=(60, 3))
NEW = np.random.default_rng(1).normal(size=(9, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * np.random.default_rng(2).normal(size=60)
THREE = np.digitize(Y, [-0.5, 0.5])


def regressor(**parameters):
    return LearnedKernelRegressor(**grouped(**{**SMALL, **parameters}))


def classifier(**parameters):
    return LearnedKernelClassifier(**grouped(**{**SMALL, **parameters}))


def modulated(**parameters):
    return LocallyStationaryRegressor(**grouped(**{**SMALL, **parameters}))


def modulated_classifier(**parameters):
    return LocallyStationaryClassifier(**grouped(**{**SMALL, **parameters}))


CASES = {
    "sparse": lambda: (regressor(structure="sparse", trend=1), Y),
    "dense": lambda: (regressor(structure="dense"), Y),
    "hamiltonian": lambda: (regressor(structure="dense", sampler="hmc", dtype="float32"), Y),
    "sparse hamiltonian": lambda: (regressor(structure="sparse", sampler="hmc"), Y),
    "independence": lambda: (regressor(sampler=papers.bank.SAMPLER, thin=2), Y),
    "two classes": lambda: (classifier(structure="sparse"), Y > 0),
    "joint pairs": lambda: (classifier(sampler=papers.bank.SAMPLER), Y > 0),
    "three classes": lambda: (classifier(structure="dense"), THREE),
    "varying noise": lambda: (modulated(structure="sparse", trend=1), Y),
    "modulated classes": lambda: (modulated_classifier(structure="dense"), Y > 0),
    "paper's classes": lambda: (modulated_classifier(sampler=papers.gabasr.sampler(2)), Y > 0),
    "two chains": lambda: (regressor(structure="sparse", n_chains=2), Y),
}


def fitted(case, **parameters):
    model, y = CASES[case]()
    return model.set_params(**parameters).fit(X, y)


def assert_same_draws(a, b):
    for field in fields(a):
        first, second = getattr(a, field.name), getattr(b, field.name)
        if not isinstance(first, np.ndarray):
            assert first == second, field.name
            continue
        assert first.dtype == second.dtype, field.name
        assert_array_equal(first, second, err_msg=field.name)


def assert_same_trace(a, b):
    assert a.n_burn_in == b.n_burn_in
    assert a.records.keys() == b.records.keys()
    for name in a.records.keys() - {"seconds"}:
        assert_array_equal(a.records[name], b.records[name], err_msg=name)


def assert_same_model(a, b):
    """Compare bit for bit what two models have learned, but for the time it took."""
    assert len(a.learned_) == len(b.learned_)
    for first, second in zip(a.learned_, b.learned_, strict=True):
        assert first.structure == second.structure
        assert first.kernel == second.kernel
        assert_same_draws(first.draws, second.draws)
        assert_same_trace(first.trace, second.trace)
    assert a.kernel_ == b.kernel_
    assert repr(a.convergence_) == repr(b.convergence_)
    method = "predict_proba" if hasattr(a, "predict_proba") else "predict"
    assert_array_equal(getattr(a, method)(NEW), getattr(b, method)(NEW))
