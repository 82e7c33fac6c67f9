"""The synthetic kernel of the paper: how well a kernel is recovered from noisy data."""

import numpy as np

from benchmarks.bank.design import OURS
from benchmarks.results import curve_metrics
from bochner._base.arrays import Array
from bochner.learned import Chains
from bochner.learned.learned_kernel_regressor import LearnedKernelRegressor
from bochner.learned.training_data import Scaling

TRUE, TRUE_SPECTRUM = "true kernel", "true spectral distribution"
LAGS = tuple(round(0.1 * k, 1) for k in range(61))  # To 6, where the kernel is below 0.01

_ROWS, _SPREAD = 1_000, 4.0  # The paper's rows, and the standard deviation of their input
_MEAN, _DEVIATION = 0.75 * np.pi, 0.5  # The paper's second component, and the deviation of both
_BAND = (0.05, 0.95)  # Quantiles of the draws: nine tenths lie between them


def true_kernel(lags: Array) -> Array:
    r"""Return :math:`e^{-t^2/8} (1 + \cos(\tfrac34 \pi t)) / 2`."""
    return np.asarray(np.exp(-0.5 * (_DEVIATION * lags) ** 2) * 0.5 * (1.0 + np.cos(_MEAN * lags)))


def kernel_metrics(
    method: str, n_frequencies: int, n_iterations: int, seed: int
) -> dict[str, float]:
    """Return a kernel at lags from 0 to 6, and its root mean square errors there.

    One is of the kernel, one of ``1 - k`` times the best factor: that is what is left to be known
    of a kernel next to an intercept, where adding a constant changes nothing.

    The data of Section 4.1: 1,000 inputs of deviation 4, and targets of a function with as many
    frequencies of the true spectral distribution, with unit weights and unit noise.
    """
    lags = np.array(LAGS)
    truth = true_kernel(lags)
    rng = np.random.default_rng(seed)
    omega = _frequencies(rng, n_frequencies)
    curves = {"mean": truth}
    if method == TRUE_SPECTRUM:
        curves = {"mean": np.cos(lags[:, None] * omega).mean(axis=1)}
    elif method == OURS:
        curves = _learned(rng, lags, omega, n_iterations, seed)
    rms = float(np.sqrt(np.mean((curves["mean"] - truth) ** 2)))
    # With an intercept, a constant part of the kernel shows in no data.
    fall, true_fall = 1.0 - curves["mean"], 1.0 - truth
    factor = max(0.0, float(fall @ true_fall) / float(fall @ fall))
    shape = float(np.sqrt(np.mean((factor * fall - true_fall) ** 2)))
    inside = {}
    if "low" in curves:
        held = (curves["low"] <= truth) & (truth <= curves["high"])
        inside = {"share_in_band": float(np.mean(held[1:]))}
    values = curve_metrics(curves, LAGS)
    return {"rms_error": rms, "rms_up_to_constant": shape, **inside, **values}


def _frequencies(rng: np.random.Generator, n_frequencies: int) -> Array:
    middle = np.where(rng.random(n_frequencies) < 0.5, 0.0, _MEAN)
    return np.asarray(middle + _DEVIATION * rng.normal(size=n_frequencies))


def _learned(
    rng: np.random.Generator, lags: Array, omega: Array, n_iterations: int, seed: int
) -> dict[str, Array]:
    x = _SPREAD * rng.normal(size=_ROWS)
    angle = np.multiply.outer(x, omega)
    waves = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / np.sqrt(len(omega))
    y = waves @ rng.normal(size=waves.shape[1]) + rng.normal(size=_ROWS)
    model = LearnedKernelRegressor(
        len(omega),
        random_state=seed,
        chains=Chains(n_burn_in=n_iterations, n_samples=n_iterations, n_chains=1),
    ).fit(x[:, None], y)
    kernel = model.kernel_(lags[:, None], np.zeros((1, 1)))[:, 0]
    # Draws are of frequencies on scaled inputs.
    scale = Scaling.of(x[:, None]).scale[0]
    every = model.learned_[0].draws.omega
    draws = [np.cos(lags[:, None] / scale * omega[:, 0]).mean(axis=1) for omega in every]
    low, high = np.quantile(draws, _BAND, axis=0)
    return {"mean": kernel, "low": low, "high": high}
