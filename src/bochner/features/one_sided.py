"""Estimates of symmetric kernels that are symmetric themselves."""

import numpy as np

from bochner.features.length_scales import AnyKernel
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel


def one_sided(kernel: AnyKernel, frequencies: Frequencies) -> Frequencies:
    r"""Return frequencies whose left and right features are the same, if a kernel is symmetric.

    The symmetric part of :math:`a \cos(\omega \cdot \Delta + \theta)` is
    :math:`a \cos\theta \cos(\omega \cdot \Delta)`: phases, as those of a sum of a kernel and its
    transpose in polar form, become weights of either sign. They stay where the arguments have
    frequencies or envelopes of their own, and those of an asymmetric kernel stay, too.

    Parameters
    ----------
    kernel : Kernel or callable
        That the frequencies were drawn for; of a function nothing is known.
    frequencies : Frequencies

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.features.one_sided import one_sided
    >>> from bochner.frequencies import Frequencies
    >>> from bochner.kernels import Gaussian
    >>> found = one_sided(Gaussian(), Frequencies([[1.0], [2.0]], [0.5, 0.5], [np.pi, 0.0]))
    >>> found.weight, found.phase
    (array([-0.5,  0.5]), array([0., 0.]))
    """
    if not isinstance(kernel, Kernel) or not kernel.is_symmetric or frequencies.is_symmetric:
        return frequencies
    turned = frequencies.with_weights(
        frequencies.weight * np.cos(frequencies.phase), np.zeros_like(frequencies.phase)
    )
    two_sided = turned.is_two_sided
    if two_sided.all():
        return frequencies
    return frequencies.with_weights(
        np.where(two_sided, frequencies.weight, turned.weight),
        np.where(two_sided, frequencies.phase, 0.0),
    )
