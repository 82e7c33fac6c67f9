r"""Generalised random Fourier features: indefinite kernels by signed measures, as printed.

Liu, Huang, Chen and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed
measures", AISTATS 2021. A stationary kernel is a difference of two positive definite ones if and
only if its spectral measure :math:`\mu` has a finite total mass (Theorem 3).

====================  ==============================================================================
In the paper          Here
====================  ==============================================================================
Eq. (1)               :meth:`bochner.Frequencies.gram` of :func:`random_features`; the measure is
                      ``spectral_measure(k, d, decomposition="jordan")``
Eq. (2)               :meth:`bochner.Frequencies.features`; in place of the imaginary unit,
                      ``signature`` has the signs: real features of :math:`\mu_+`, then of
                      :math:`\mu_-`
Algorithm 1           :func:`random_features`
Eq. (3)               :func:`bochner.spectral.spherical_measure.radial_density`
Eq. (4), Theorem 4    ``bochner.kernels.NTK``, as a function of the distance on the sphere
Corollary 4.1         ``bochner.kernels.ArcCosine(order)`` with orders zero and one
Proposition 2         (i) is a bound, not computed; (ii) the scheme ``"orthogonal"``
Tables 1 and 2,       the benchmark ``indefinite``: errors, accuracies and seconds on the same data,
Figures 1 to 6        with the methods that the figures compare
====================  ==============================================================================

The paper misses that :math:`\mu` of eq. (3) has an infinite mass unless :math:`p > (d - 1)/2`; its
rejection sampling, and :class:`bochner.spectral.decompositions.Jordan`, truncate frequencies to
:math:`|\omega| \le 10`. The default of :class:`bochner.FourierFeatures` designs a measure with few
radii in its place, whose error is ten times smaller and more.
"""

from functools import reduce
from operator import add

import numpy as np

from bochner.kernels import Kernel
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.measure import SpectralMeasure


def random_features(k: Kernel, d: int, s: int, rng: np.random.Generator) -> Frequencies:
    r"""Return the frequencies of Algorithm 1: ``s`` of each sign of the measure.

    Parameters
    ----------
    k : Kernel
        Stationary, such as ``kernels.DeltaGaussian()`` or ``kernels.SphericalPolynomial()``.
    d : int
        Number of inputs.
    s : int
        Number of frequencies :math:`\omega_i` and of frequencies :math:`\nu_i`; the feature map has
        ``4 s`` real features, or ``2 s`` if the kernel is positive definite.
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import kernels
    >>> from bochner.papers import grff
    >>> k = kernels.DeltaGaussian(tau1=1.0, tau2=10.0)
    >>> frequencies = grff.random_features(k, 3, 4000, np.random.default_rng(0))
    >>> X = np.random.default_rng(1).normal(size=(20, 3))
    >>> frequencies.features(X).shape, int(frequencies.signature.sum())
    ((20, 16000), 0)
    >>> bool(np.abs(frequencies.gram(X) - k(X)).max() < 0.1)
    True
    """
    # Steps 1 and 2: the measure and its Jordan decomposition, with their masses.
    mu = spectral_measure(k, d, decomposition="jordan")
    drawn = []
    for sign in (1.0, -1.0):
        mu_sign = tuple(part for part in mu.parts if sign * part.mass > 0.0)
        if mu_sign:
            # Step 3: as many frequencies of either sign, whatever its mass.
            drawn.append(SpectralMeasure(mu_sign).sample(s, rng, scheme="iid"))
    return reduce(add, drawn)
