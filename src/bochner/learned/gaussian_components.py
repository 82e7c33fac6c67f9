"""Gaussian mixtures over frequencies, and their kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from bochner._base.arrays import Array
from bochner.kernels import Harmonizable, ModulatedWaves, SpectralMixture
from bochner.learned.modulated_waves import WaveFeatures
from bochner.learned.training_data import Scaling
from bochner.spectral.factors import Amplitudes, CosineFactors, separated
from bochner.spectral.frequencies import Frequencies

# Largest number of components of an averaged mixture, which bounds its cost: the lightest ones are
# merged.
_MOST_COMPONENTS = 128
# Largest number of waves of an averaged kernel, which bounds its cost: every k-th wave is used.
_MOST_WAVES = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Weighted Gaussians over frequencies."""

    weights: Array  # (Q,)
    means: Array  # (Q, d)
    covariances: Array  # (Q, d, d)

    def __post_init__(self) -> None:
        q, d = self.means.shape
        if self.weights.shape != (q,) or self.covariances.shape != (q, d, d):
            raise ValueError(
                f"weights of shape {self.weights.shape} and covariances of shape "
                f"{self.covariances.shape} do not fit to means of shape {(q, d)}"
            )


def mean_kernel(draws: Sequence[Components], scale: Array) -> SpectralMixture:
    """Return the mean kernel of mixtures over inputs that were divided by ``scale`` (d,)."""
    weights, means, covariances = _merged(
        np.concatenate([part.weights for part in draws]) / len(draws),
        np.concatenate([part.means for part in draws]),
        np.concatenate([part.covariances for part in draws]),
    )
    return spectral_mixture(
        weights / weights.sum(), means / scale, covariances / np.multiply.outer(scale, scale)
    )


def spectral_mixture(*arrays: Array) -> SpectralMixture:
    """Return the kernel of a mixture of weights (Q,), means (Q, d) and covariances (Q, d, d)."""
    return SpectralMixture(*(array.tolist() for array in arrays))


def mean_of_waves(draws: Sequence[WaveFeatures], scaling: Scaling) -> ModulatedWaves | Harmonizable:
    """Return the mean over draws of the kernels of waves, on unscaled inputs."""
    frequencies = reduce(add, (waves_in_units(waves, scaling) for waves in draws))
    thinned = slice(None, None, -(-frequencies.n_frequencies // _MOST_WAVES))
    _, modulation = separated(frequencies.factor)
    omega = frequencies.omega[thinned]
    if isinstance(modulation, Amplitudes):
        # Weights of the thinned waves are increased to the same total.
        share = frequencies.n_frequencies / (len(omega) * len(draws))
        return _windows(modulation, share * frequencies.weight[thinned], omega, thinned)
    weight = np.full(len(omega), 1.0 / len(omega))
    if modulation is None:
        modulation = CosineFactors.none(*frequencies.omega.shape)
    arrays: tuple[Array, ...] = (weight, omega, modulation.v[thinned], modulation.phase[thinned])
    return ModulatedWaves(*(array.tolist() for array in arrays))


def _windows(modulation: Amplitudes, weight: Array, omega: Array, thinned: slice) -> Harmonizable:
    """Return the kernel of the ``thinned`` waves, with weights and windows along the inputs."""
    root = np.diagonal(modulation.window[thinned], axis1=1, axis2=2)
    flat = root == 0.0
    centre = modulation.centre[thinned] / np.where(flat, 1.0, root)
    return Harmonizable(np.sqrt(weight), omega, np.where(flat, 0.0, centre), root)


def waves_in_units(waves: WaveFeatures, scaling: Scaling) -> Frequencies:
    """Return waves as frequencies for unscaled inputs; the mean square of the sum is one."""
    m = len(waves)
    omega, weight = waves.omega / scaling.scale, np.full(m, 1.0 / m)
    if waves.amplitudes is None or not len(waves.modulated):
        return Frequencies(omega, weight)
    weight, modulation = waves.amplitudes.in_units(scaling.centre, scaling.scale, weight)
    return Frequencies(omega, weight, factor=modulation)


def frequency_components(omega: Array) -> Components:
    """Return Gaussians of sparse frequencies (m, d), one per set of active inputs and octave.

    The sign of a frequency does not change the kernel. A Gaussian therefore has mean zero, unless
    its frequencies are far from zero relative to their spread.
    """
    active = omega != 0.0
    octave = np.floor(np.log2(np.maximum(np.linalg.norm(omega, axis=1), 1e-6)))
    octave[~active.any(axis=1)] = 0.0
    patterns, which = np.unique(np.column_stack([active, octave]), axis=0, return_inverse=True)
    groups = [omega[which.ravel() == index] for index in range(len(patterns))]
    means, covariances = zip(*map(_gaussian, groups), strict=True)
    weights = np.array([len(members) / len(omega) for members in groups])
    return Components(weights, np.array(means), np.array(covariances))


def _gaussian(members: Array) -> tuple[Array, Array]:
    """Return mean and covariance of frequencies (m, d) with arbitrary signs."""
    second = members.T @ members / len(members)
    if len(members) == 1:
        return members[0], np.zeros_like(second)
    # Signs are chosen so that all frequencies point along the largest second moment.
    direction = np.linalg.eigh(second)[1][:, -1]
    turned = members * np.where(members @ direction < 0, -1.0, 1.0)[:, None]
    mean = turned.mean(axis=0)
    spread = turned - mean
    # Only a spectral line away from zero has a mean of two deviations: a half-normal law has 1.3,
    # and half a ring has less than two, too.
    if np.linalg.norm(mean) < 2.0 * np.sqrt(np.mean(np.sum(spread**2, axis=1))):
        return np.zeros(members.shape[1]), second
    return mean, spread.T @ spread / len(members)


def _merged(weights: Array, means: Array, covariances: Array) -> tuple[Array, Array, Array]:
    """Merge the lightest components into one that preserves their second moments."""
    if len(weights) <= _MOST_COMPONENTS:
        return weights, means, covariances
    order = np.argsort(-weights, kind="stable")
    heavy, light = order[: _MOST_COMPONENTS - 1], order[_MOST_COMPONENTS - 1 :]
    share = weights[light] / weights[light].sum()
    second = covariances[light] + means[light][:, :, None] * means[light][:, None, :]
    rest = np.einsum("q,qij->ij", share, second)
    return (
        np.append(weights[heavy], weights[light].sum()),
        np.concatenate([means[heavy], np.zeros((1, means.shape[1]))]),
        np.concatenate([covariances[heavy], rest[None]]),
    )
