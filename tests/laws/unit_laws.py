"""Laws of weights and of observations left out, for models of rows, and a registry of models."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from bochner import (
    FourierFeatures,
    KernelGLMClassifier,
    KernelGLMRegressor,
    KreinRidge,
    KreinRidgeClassifier,
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    LocallyStationaryClassifier,
    LocallyStationaryRegressor,
    kernels,
)
from bochner.features.chunks import Units
from bochner.learned import Chains
from bochner.linear.softmax_weights import left_out_probabilities

CELLS = np.random.default_rng(1).normal(size=(6, 2))
"""Different rows of tables of few of them."""

FEATURES = {"n_components": 32, "random_state": 0}
CHAINS = {"random_state": 0, "chains": Chains(n_burn_in=6, n_samples=6, n_chains=4)}


@dataclass(frozen=True)
class RowModel:
    """A model, and what it promises of weights."""

    name: str
    make: Callable[[], Any]
    rtol: float = 1e-6  # Of predictions by counts and by repeated rows
    takes_seconds: bool = False

    def __str__(self):
        return self.name


REGRESSORS = (
    RowModel("ridge", lambda: KreinRidge(alpha="evidence", fit_intercept=True, **FEATURES)),
    RowModel(
        "ridge of learned scales",
        lambda: KreinRidge(
            alpha="evidence", length_scale="evidence", fit_intercept=True, **FEATURES
        ),
        1e-4,
    ),
    RowModel(
        "ridge with landmarks",
        lambda: KreinRidge(alpha="evidence", residual=20, fit_intercept=True, **FEATURES),
    ),
    RowModel("normal targets", lambda: KernelGLMRegressor(**FEATURES), 1e-5),
    RowModel(
        "normal targets of learned scales",
        lambda: KernelGLMRegressor(length_scale="evidence", **FEATURES),
        1e-3,
    ),
    RowModel("learned kernel", lambda: LearnedKernelRegressor(15, **CHAINS), takes_seconds=True),
    RowModel(
        "locally stationary learned kernel",
        lambda: LocallyStationaryRegressor(8, random_state=0, chains=Chains(6, 6)),
        takes_seconds=True,
    ),
)
"""Regressions whose noise is learned, and which predict with standard deviations."""

ROBUST = (RowModel("student-t targets", lambda: KernelGLMRegressor("student_t", **FEATURES), 1e-4),)
"""Regressions whose noise has tails, which data of a normal law do not determine."""

INDEFINITE = (
    RowModel(
        "indefinite ridge",
        lambda: KreinRidge(
            alpha="evidence",
            features=FourierFeatures(kernels.DeltaGaussian(), 32, decomposition="jordan"),
            random_state=0,
        ),
    ),
)
"""Regressions without standard deviations."""

CLASSIFIERS = (
    RowModel("classes by ridge", lambda: KreinRidgeClassifier(alpha="evidence", **FEATURES)),
    RowModel("classes by likelihood", lambda: KernelGLMClassifier(**FEATURES), 1e-4),
    RowModel(
        "classes of a learned kernel",
        lambda: LearnedKernelClassifier(10, **CHAINS),
        takes_seconds=True,
    ),
    RowModel(
        "locally stationary classes",
        lambda: LocallyStationaryClassifier(6, random_state=0, chains=Chains(6, 6)),
        takes_seconds=True,
    ),
)

SCORED = (CLASSIFIERS[0], CLASSIFIERS[2])
"""Classifiers that predict rows left out."""


def ratings(n, rng):
    """Numbers of cells, and whole numbers from one to five whose mean depends on the cell."""
    cell = rng.integers(6, size=n)
    return cell, np.clip(np.round(3.0 + CELLS[cell, 0] + rng.normal(size=n)), 1.0, 5.0)


def weighted(n, rng):
    """Rows, numbers with noise of variance 0.16 over a weight, and weights over two decades."""
    X, weight = rng.uniform(-2.0, 2.0, (n, 2)), 10.0 ** rng.uniform(-1.0, 1.0, n)
    return X, mean_of(X) + 0.4 * rng.normal(size=n) / np.sqrt(weight), weight


def mean_of(X):
    return np.sin(2.0 * X[:, 0]) + X[:, 1]


def predictions(model, X):
    """Probabilities, or means, with standard deviations where there are any."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    if isinstance(model, KreinRidge) and (model.signature_ < 0.0).any():
        return model.predict(X)
    return np.concatenate(model.predict(X, return_std=True))


def check_counts_are_repeated_rows(case):
    """Whole weights of few different rows are as many independent rows, in any order."""
    rng = np.random.default_rng(7)
    cell, y = ratings(70, rng)
    y = (y > 3.0).astype(int) if case in CLASSIFIERS else y
    table, counts = np.unique(np.column_stack((cell, y)), axis=0, return_counts=True)
    assert len(table) < 31
    one = case.make().fit(CELLS[table[:, 0].astype(int)], table[:, 1], counts)
    other = case.make().fit(CELLS[cell], y)
    assert_allclose(predictions(one, CELLS), predictions(other, CELLS), rtol=case.rtol)
    for name in ("score_", "noise_variance_", "log_evidence_"):
        if getattr(one, name, None) is not None:
            assert_allclose(getattr(one, name), getattr(other, name), rtol=10.0 * case.rtol)


def check_factors_of_weights(case):
    """A factor of fractional weights multiplies the noise variance of weight one."""
    X, y, weight = weighted(80, np.random.default_rng(3))
    one, other = (case.make().fit(X, y, factor * weight) for factor in (1.0, 64.0))
    assert_allclose(other.predict(X), one.predict(X), rtol=1e-3, atol=1e-4)
    if case in REGRESSORS + ROBUST:
        stds = [np.sqrt(variance_of_noise(model, X)) for model in (one, other)]
        assert_allclose(stds[1], 8.0 * stds[0], rtol=1e-3)


def variance_of_noise(model, X):
    """Variances of the noise at rows, of weight one."""
    if hasattr(model, "likelihood_") and isinstance(model, KernelGLMRegressor):
        return np.full(len(X), model.likelihood_.scale**2)
    if isinstance(model, LocallyStationaryRegressor):
        return model.noise_std(X) ** 2
    return np.full(len(X), model.noise_variance_)


def check_deviations_hold(case, kind, n_seeds):
    """Squares of errors of fresh rows of weight one are those that deviations predict."""
    ratios = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(100 + seed)
        if kind == "weights":
            X, y, weight = weighted(150, rng)
            model = case.make().fit(X, y, weight)
            new = rng.uniform(-2.0, 2.0, (2000, 2))
            fresh = mean_of(new) + 0.4 * rng.normal(size=2000)
        else:
            cell, y = ratings(150, rng)
            model = case.make().fit(CELLS[cell], y)
            cell, fresh = ratings(2000, rng)
            new = CELLS[cell]
        mean, std = model.predict(new, return_std=True)
        ratios.append(np.log(np.mean((fresh - mean) ** 2) / np.mean(std**2)))
    error = np.std(ratios, ddof=1) / np.sqrt(n_seeds)
    assert abs(np.mean(ratios)) < max(0.05, 2.5 * error), (np.mean(ratios), error)


def left_out_loss(model):
    """Expected log loss of new rows, from rows left out of the fit and of the last stage."""
    if hasattr(model, "score_"):
        return model.score_
    rows = model.left_out_.rows
    scores = np.concatenate((-rows.X, rows.X), axis=1) if rows.X.shape[1] == 1 else rows.X
    units = Units.of(rows.weight, len(rows))
    found = left_out_probabilities(scores[:, None], rows.y, units, has_biases=False)
    return -float(np.average(np.log(found), weights=units.totals))


def check_nothing_beats_the_entropy(case, n_classes, n_seeds):
    """Labels that nothing predicts have an expected loss of their entropy at least."""
    losses = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X = CELLS[rng.integers(6, size=40)] if seed % 2 else rng.normal(size=(40, 2))
        losses.append(left_out_loss(case.make().fit(X, rng.integers(n_classes, size=40))))
    error = np.std(losses, ddof=1) / np.sqrt(n_seeds)
    assert np.mean(losses) > np.log(n_classes) - 2.0 * error, (np.mean(losses), error)


def check_loss_of_few_rows(case, n_seeds):
    """The loss of rows left out is that of fresh rows of six cells."""
    shares, excess = np.linspace(0.1, 0.9, 6), []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        cell = rng.integers(6, size=200)
        labels = (rng.uniform(size=200) < shares[cell]).astype(int)
        model = case.make().fit(CELLS[cell], labels)
        p = model.predict_proba(CELLS)[:, 1]
        fresh = -np.mean(shares * np.log(p) + (1.0 - shares) * np.log(1.0 - p))
        excess.append(np.log(left_out_loss(model) / fresh))
    error = np.std(excess, ddof=1) / np.sqrt(n_seeds)
    assert abs(np.mean(excess)) < max(0.05, 2.0 * error), (np.mean(excess), error)


def check_error_of_few_rows(case, n_seeds):
    """The error of rows left out is that of fresh rows of six cells."""
    excess = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        cell, y = ratings(150, rng)
        model = case.make().fit(CELLS[cell], y)
        cell, fresh = ratings(4000, rng)
        error = np.mean((fresh - model.predict(CELLS[cell])) ** 2)
        excess.append(np.log(model.score_**2 / error))
    error = np.std(excess, ddof=1) / np.sqrt(n_seeds)
    assert abs(np.mean(excess)) < max(0.05, 2.0 * error), (np.mean(excess), error)
