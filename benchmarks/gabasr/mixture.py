"""The paper's synthetic regression: a function whose spectrum is a mixture of Gaussians."""

from functools import lru_cache

import numpy as np
from scipy.stats import norm

from benchmarks.datasets import SpectralDraw, make_spectral_mixture
from benchmarks.gabasr.data import posterior
from benchmarks.gabasr.design import MIXTURE_FREQUENCIES, TRUE, Size
from benchmarks.gabasr.methods import learner
from benchmarks.results import curve_metrics
from bochner._base.arrays import Array
from bochner.kernels import SpectralMixture
from bochner.learned.draws import Draws
from bochner.learned.modulated_waves import CosineAmplitudes
from bochner.learned.training_data import Scaling

SPECTRUM = SpectralMixture(
    (1.0 / 3.0,) * 3, ((0.0,), (0.75 * np.pi,), (1.375 * np.pi,)), (0.5**2, 0.5**2, 0.25**2)
)
"""Equation (12), its last parameters being standard deviations squared."""

_WIDTH = 0.1  # Width of a bin of frequencies: 0.4 deviations of the narrowest component
# Middles of bins up to 6, and places of the drawn functions: the range of the rows in 100 steps.
FREQUENCIES = tuple(round(_WIDTH * (k + 0.5), 2) for k in range(60))
PLACES = tuple(round(-10.0 + 0.2 * k, 1) for k in range(101))

# The paper's rows; test rows and the greatest place are a choice, since it names none.
_ROWS, _TEST_ROWS, _REACH = 250, 1_000, 10.0
_NOISE = 1.0 / np.sqrt(MIXTURE_FREQUENCIES)  # One, like the weights, where waves have amplitude one


def mixture_metrics(method: str, size: Size, seed: int) -> dict[str, float]:
    """Return the error of a learned function, over the function's standard deviation.

    Rows are 250 random places of [-10, 10], the function has 250 frequencies of the mixture (12)
    with standard normal weights, and the noise is of deviation one, as these weights; the error is
    at 1,000 other places. In the first trial with the function and with the density of the
    absolute value of a frequency.
    """
    draw = _draw(seed)
    X, y = draw.dataset.X[:_ROWS], draw.dataset.y[:_ROWS]
    X_new, f = draw.dataset.X[_ROWS:], draw.f[_ROWS:]
    if method == TRUE:
        mean = posterior(SPECTRUM, _NOISE, X, y, X_new)[0]
        density = true_density()
    else:
        model = learner(method, size.mixture, seed, is_regression=True).fit(X, y)
        mean = model.predict(X_new)
        density = learned_density(model.learned_[0].draws, float(Scaling.of(X).scale[0]))
    test = slice(_TEST_ROWS)
    error = np.sqrt(np.mean((mean[test] - f[test]) ** 2)) / f[test].std()
    metrics = {"rms_error": float(error)}
    if seed == 0:
        shown = (f if method == TRUE else mean)[_TEST_ROWS:]
        metrics |= curve_metrics({"function": shown}, PLACES)
        metrics |= curve_metrics({"density": density}, FREQUENCIES)
    return metrics


@lru_cache(maxsize=1)
def _draw(seed: int) -> SpectralDraw:
    rng = np.random.default_rng(seed)
    places = rng.uniform(-_REACH, _REACH, size=_ROWS + _TEST_ROWS)
    return make_spectral_mixture(
        np.concatenate([places, PLACES])[:, None],
        np.array(SPECTRUM.weights),
        np.array(SPECTRUM.means),
        np.array(SPECTRUM.covariances)[:, None, None],
        noise=_NOISE,
        n_frequencies=MIXTURE_FREQUENCIES,
        random_state=rng,
    )


def true_density() -> Array:
    """Return the density of the absolute value of a frequency of (12), at FREQUENCIES."""
    means = np.array(SPECTRUM.means)[:, 0]
    deviations = np.sqrt(np.array(SPECTRUM.covariances))
    at = np.array(FREQUENCIES)[:, None]
    densities = norm.pdf(at, means, deviations) + norm.pdf(at, -means, deviations)
    return np.asarray(densities @ np.array(SPECTRUM.weights))


def learned_density(draws: Draws, scale: float) -> Array:
    r"""Return the density about FREQUENCIES of the absolute value of a frequency of the draws.

    A wave :math:`\sqrt 2 \cos(v x / 2 + \psi) \cos(s x)` is one of the frequencies
    :math:`s \pm v/2`, which count a half each.
    """
    waves = [draws.waves(index) for index in range(draws.n_draws)]
    shifts = [
        0.5 * wave.amplitudes.v
        if isinstance(wave.amplitudes, CosineAmplitudes)
        else np.zeros_like(wave.omega)
        for wave in waves
    ]
    pairs = zip(waves, shifts, strict=True)
    omega = np.concatenate(
        [wave.omega + sign * shift for wave, shift in pairs for sign in (-1.0, 1.0)]
    )
    edges = _WIDTH * np.arange(len(FREQUENCIES) + 1)
    counts, _ = np.histogram(np.abs(omega) / scale, bins=edges)
    return np.asarray(counts / (omega.size * _WIDTH))
