"""Predictive densities on series whose variance changes, and on one whose does not."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import make_gp_draw
from benchmarks.folds import fifth_at_random
from benchmarks.gabasr.data import (
    LENGTH_SCALE,
    STATIONARY_NOISE,
    Series,
    doppler,
    posterior,
    prepared,
    terrain,
)
from benchmarks.gabasr.design import (
    DOPPLER,
    HARMONIZABLE,
    OTHERS,
    STATIONARY,
    TERRAIN,
    TRUE,
    Size,
)
from benchmarks.gabasr.methods import harmonizable, learner
from benchmarks.gabasr.nonstationary import process
from benchmarks.predictions import log_density
from benchmarks.results import curve_metrics
from bochner._base.arrays import Array
from bochner.kernels import Gaussian

SHOWN = tuple(round(0.01 * k, 2) for k in range(101))  # Shares of the range: ends of its hundredths

_STATIONARY_ROWS = 300  # Fifteen for each length scale

Indices = NDArray[np.intp]


def series_metrics(
    name: str, method: str, size: Size, seed: int, folder: Path | None
) -> dict[str, float]:
    """Return the log predictive density of held-out rows, in nats per row, and their ``r2``.

    A random fifth of the rows is held out; generated series are drawn anew for every seed. In the
    first split with the central 95 % of the prediction along the series.
    """
    series = _series(name, seed, folder)
    X, y = series.dataset.X, series.dataset.y
    train, test = fifth_at_random(len(y), seed)
    if method == TRUE:
        mean, std = _truth(series, train, test)
        return _figures(y[test], mean, std)
    if method == HARMONIZABLE:
        model = harmonizable(X[train], y[train], seed)
    elif method in OTHERS:
        return _figures(y[test], *process(method, seed).fit(X[train], y[train]).predict(X[test]))
    else:
        model = learner(method, size.series, seed, is_regression=True).fit(X[train], y[train])
    metrics = _figures(y[test], *model.predict(X[test], return_std=True))
    if seed == 0 and X.shape[1] == 1:
        low, high = X.min(), X.max()
        places = low + (high - low) * np.array(SHOWN)
        mean, std = model.predict(places[:, None], return_std=True)
        half = 1.96 * std
        curves = {"place": places, "mean": mean, "low": mean - half, "high": mean + half}
        metrics |= curve_metrics(curves, SHOWN)
    return metrics


def _series(name: str, seed: int, folder: Path | None) -> Series:
    if name == DOPPLER:
        return doppler(seed)
    if name == TERRAIN:
        return terrain(seed)
    if name == STATIONARY:
        draw = make_gp_draw(
            _STATIONARY_ROWS,
            1,
            length_scale=LENGTH_SCALE,
            noise=STATIONARY_NOISE,
            random_state=seed,
        )
        return Series(draw.dataset)
    return Series(prepared(name, folder))


def _truth(series: Series, train: Indices, test: Indices) -> tuple[Array, Array]:
    X, y = series.dataset.X, series.dataset.y
    if series.f is not None and series.noise is not None:
        return series.f[test], series.noise[test]
    return posterior(Gaussian(LENGTH_SCALE), STATIONARY_NOISE, X[train], y[train], X[test])


def _figures(y: Array, mean: Array, std: Array) -> dict[str, float]:
    residual = y - mean
    return {
        "lpd": float(np.mean(log_density(residual, std))),
        "r2": 1.0 - float(np.mean(residual**2) / np.var(y)),
    }
