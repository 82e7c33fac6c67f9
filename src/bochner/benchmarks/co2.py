"""Ten years of carbon dioxide, forecast from a kernel built with the algebra."""

from itertools import product

import numpy as np

from bochner import datasets
from bochner.benchmarks.contenders import CONTENDERS, OURS, Split, evaluate, measure
from bochner.estimators.krein_ridge import KreinRidge
from bochner.kernels import Gaussian, Kernel, Matern, SpectralMixture

_HELD_OUT_YEARS = 10.0
_HARMONICS = (1, 2, 3)
_TREND_YEARS = (25.0, 50.0, 100.0)
_TREND_VARIANCES = (10.0, 100.0)


def co2_split() -> Split:
    """Return the weekly record in ppm against decimal years, its last ten years held out."""
    record = datasets.load("mauna_loa_co2_weekly")
    known = np.isfinite(record.y)
    X, y = record.X[known], record.y[known]
    train = X[:, 0] < X[-1, 0] - _HELD_OUT_YEARS
    return Split(X[train], y[train], X[~train], y[~train], "regression")


def co2_kernel(trend_years: float, trend_variance: float) -> Kernel:
    """Return trend + seasons that change over a century + short-term variation.

    Variances are relative to that of the record; length scales are in years. The seasons are a
    spectral mixture of the year and its first overtones.
    """
    trend = trend_variance * Gaussian(trend_years)
    yearly = SpectralMixture(
        weights=tuple(1.0 / harmonic**2 for harmonic in _HARMONICS),
        means=tuple((2.0 * np.pi * harmonic,) for harmonic in _HARMONICS),
        covariances=(0.0,) * len(_HARMONICS),
    )
    seasons = 0.02 * yearly * Gaussian(100.0)
    weather = 0.003 * Matern(1.5, nu=1.5)
    return trend + seasons + weather


def fit_co2(split: Split, n_components: int, seed: int) -> KreinRidge:
    """Return the model whose trend, of six, has the greatest evidence on the training years."""
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


def compare_co2(
    split: Split, model: KreinRidge, n_components: int, seed: int
) -> dict[str, dict[str, float]]:
    """Return the figures of ``model`` and of what a user would otherwise pick."""
    others = {
        name: measure(contender("regression", n_components, seed), split)
        for name, contender in CONTENDERS.items()
        if name != OURS
    }
    return {OURS: evaluate(model, split), **others}
