"""Frequencies of symmetric kernels whose estimates are symmetric, too."""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.random import Generator

from bochner.features.length_scales import AnyKernel
from bochner.frequencies import CosineFactors, Frequencies
from bochner.kernels import Kernel
from bochner.sampling import Scheme
from bochner.spectral import SpectralMeasure


def one_sided(kernel: AnyKernel, frequencies: Frequencies) -> Frequencies:
    r"""Return frequencies whose left and right features are the same, if a kernel is symmetric.

    The symmetric part of :math:`a \cos(\omega \cdot \Delta + \theta)` is
    :math:`a \cos\theta \cos(\omega \cdot \Delta)`: phases, as those of a sum of a kernel and its
    transpose in polar form, become weights of either sign.

    Where the arguments have frequencies of their own, with :math:`s = (\omega + \nu)/2` and
    :math:`v = \omega - \nu` the symmetric part is

    .. math:: a \cos(s \cdot (x - y)) \cos\big(v \cdot \tfrac{x + y}2 + \theta\big)
              = a \cos(s \cdot (x - y)) \big(g(x) g(y) - h(x) h(y)\big),

    :math:`g(x) = \cos((v \cdot x + \theta)/2)` and :math:`h(x) = \sin((v \cdot x + \theta)/2)`:
    two frequencies :math:`s`, of weights :math:`\pm a`, whose features carry the factors ``g`` and
    ``h`` (:class:`~bochner.frequencies.CosineFactors`). Twice as many frequencies are returned
    then, even where some :math:`v` are zero.

    Frequencies of an asymmetric kernel or of a function are returned as they are, and so are those
    whose arguments have different widths or envelopes.
    """
    if not isinstance(kernel, Kernel) or not kernel.is_symmetric:
        return frequencies
    if frequencies.nu_blocks is not None:
        return _modulated(frequencies)
    if frequencies.is_symmetric:
        return frequencies
    turned = frequencies.with_weights(
        frequencies.weight * np.cos(frequencies.phase), np.zeros_like(frequencies.phase)
    )
    return turned if turned.is_symmetric else frequencies


def _modulated(frequencies: Frequencies) -> Frequencies:
    """Return twice as many frequencies of one side, or the same ones if that is impossible."""
    envelope = frequencies.envelope
    differ = frequencies.dim != frequencies.dim_right or frequencies.modulation is not None
    if differ or not (envelope is None or envelope.is_symmetric):
        return frequencies
    s = 0.5 * (frequencies.omega + frequencies.nu)
    v = frequencies.omega - frequencies.nu
    psi = 0.5 * frequencies.phase
    return Frequencies(
        np.tile(s, (2, 1)),
        np.concatenate([frequencies.weight, -frequencies.weight]),
        envelope=None if envelope is None else envelope.joined(envelope),
        modulation=CosineFactors(np.tile(v, (2, 1)), np.concatenate([psi, psi - 0.5 * np.pi])),
    )


@dataclass(frozen=True, slots=True)
class Draw:
    """How many frequencies to draw, how they depend on one another, and the generator."""

    n_frequencies: int
    scheme: Scheme
    rng: Generator


def halves(kernel: AnyKernel, measure: SpectralMeasure, n_frequencies: int) -> bool:
    """Return whether half as many frequencies of two sides are drawn; refuse an odd number then."""
    if not (isinstance(kernel, Kernel) and kernel.is_symmetric and measure.is_two_sided):
        return False
    if n_frequencies % 2:
        raise ValueError(
            f"n_components must be a multiple of 4 for {kernel!r}: each pair of frequencies that "
            f"is drawn makes two cosines and two sines, so that the estimate is symmetric; got "
            f"{2 * n_frequencies}. Use {2 * n_frequencies + 2}."
        )
    return True


def sampled_one_sided(
    kernel: AnyKernel,
    measure: SpectralMeasure,
    n_frequencies: int,
    rng: Generator | int,
    scheme: Scheme | str = "orthogonal",
) -> Frequencies:
    """Return ``n_frequencies`` of all parts of a kernel's measure, made one-sided part by part."""
    halved = halves(kernel, measure, n_frequencies)
    parts = measure.sample_parts(n_frequencies, rng, scheme, to_be_one_sided=halved)
    return reduce(add, (one_sided(kernel, part) for part in parts))
