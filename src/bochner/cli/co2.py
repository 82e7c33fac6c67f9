"""A forecast of atmospheric carbon dioxide over ten years, with a learned kernel and others."""

from itertools import product

import numpy as np

from bochner import datasets
from bochner._numerics.progress import Progress, silent
from bochner.comparison.contenders import CONTENDERS, OURS, Split, evaluate, measure
from bochner.estimators.bank_forecaster import BaNKForecaster
from bochner.estimators.krein_ridge import KreinRidge
from bochner.kernels import Gaussian, Kernel, Matern, SpectralMixture

FIXED = "a kernel built by hand"

_HELD_OUT_YEARS = 10.0
"""Last years of the record that are held out: a trend and ten seasons to extrapolate."""

_FIRST_YEARS = 2.0
"""First held-out years whose error is shown separately: a short-term forecast."""

_N_COMPONENTS = 1024
"""Features of the methods compared, the default of `bochner fit --model fourier`."""

_HARMONICS = (1, 2, 3)
"""Waves per year in the kernel built by hand: beyond the third, the seasons have no power."""

_TREND_YEARS = (25.0, 50.0, 100.0)
"""Length scales of the trend to choose from by evidence, within the record's four decades."""

_TREND_VARIANCES = (10.0, 100.0)
"""Variances of the trend to choose from by evidence, relative to that of the record."""

_SEASONS = (0.02, 100.0)
"""Variance of the seasons, relative to that of the record, and years in which they change."""

_WEATHER = (0.003, 1.5)
"""Variance and length scale in years of short-term variation."""


def co2_split() -> Split:
    """Return the weekly record in ppm by decimal years, with its last ten years held out."""
    record = datasets.load("mauna_loa_co2_weekly")
    known = np.isfinite(record.y)
    X, y = record.X[known], record.y[known]
    train = X[:, 0] < X[-1, 0] - _HELD_OUT_YEARS
    return Split(X[train], y[train], X[~train], y[~train], "regression")


def first_years(split: Split) -> Split:
    """Return the split with the first two of the held-out years only."""
    first = split.X_test[:, 0] < split.X_test[0, 0] + _FIRST_YEARS
    return Split(split.X, split.y, split.X_test[first], split.y_test[first], split.task)


def learner(
    n_frequencies: int = 40, n_chains: int = 12, seed: int = 0, n_jobs: int | None = 2
) -> BaNKForecaster:
    """Return the model that learns the kernel. It is not told about years or seasons."""
    return BaNKForecaster(
        n_frequencies=n_frequencies, n_chains=n_chains, n_jobs=n_jobs, random_state=seed
    )


def co2_kernel(trend_years: float, trend_variance: float) -> Kernel:
    """Return trend + seasons that change over a century + short-term variation."""
    trend = trend_variance * Gaussian(trend_years)
    yearly = SpectralMixture(
        weights=tuple(1.0 / harmonic**2 for harmonic in _HARMONICS),
        means=tuple((2.0 * np.pi * harmonic,) for harmonic in _HARMONICS),
        covariances=(0.0,) * len(_HARMONICS),
    )
    seasons = _SEASONS[0] * yearly * Gaussian(_SEASONS[1])
    weather = _WEATHER[0] * Matern(_WEATHER[1], nu=1.5)
    return trend + seasons + weather


def fit_by_hand(split: Split, n_components: int, seed: int) -> KreinRidge:
    """Return the model with the trend, of six, that has the greatest evidence."""
    models = (
        KreinRidge(
            co2_kernel(years, variance),
            n_components,
            "evidence",
            scheme="qmc",
            fit_intercept=True,
            random_state=seed,
        ).fit(split.X, split.y)
        for years, variance in product(_TREND_YEARS, _TREND_VARIANCES)
    )
    return max(models, key=lambda model: model.log_evidence_)


def forecast_errors(model: object, split: Split) -> dict[str, float]:
    """Return the metrics over the held-out years, and ``rmse_first`` over the first two."""
    return {**evaluate(model, split), "rmse_first": evaluate(model, first_years(split))["rmse"]}


def compare_co2(
    split: Split,
    model: BaNKForecaster,
    seed: int,
    n_components: int = _N_COMPONENTS,
    progress: Progress = silent,
) -> dict[str, dict[str, float]]:
    """Return the metrics of the fitted ``model``, of a kernel built by hand, and of others."""
    results = {OURS: forecast_errors(model, split)}
    progress(f"comparing with {FIXED}")
    results[FIXED] = forecast_errors(fit_by_hand(split, n_components, seed), split)
    for name, contender in CONTENDERS.items():
        if name != OURS:
            progress(f"comparing with: {name}")
            other = contender("regression", n_components, seed)
            seconds = measure(other, split)["fit_seconds"]
            results[name] = {**forecast_errors(other, split), "fit_seconds": seconds}
    return results
