r"""AsK-RFF: random Fourier features of asymmetric kernels, as printed.

He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022. The spectral measure
of an asymmetric stationary kernel is complex, :math:`\mu = \mu_R + i \mu_I`, with an even real and
an odd imaginary part (Theorem 2, Corollary 5).

==========================  ========================================================================
In the paper                Here
==========================  ========================================================================
Eqs. (1) to (4)             the Jordan parts :math:`\mu_R^+, \mu_R^-, \mu_I^+, \mu_I^-`:
                            ``spectral_measure(k, d, decomposition="jordan").parts``
Eqs. (5) to (7)             :func:`random_features`: cosines with two signs, and one set of sines
Eq. (8)                     :meth:`bochner.Frequencies.features` is :math:`\phi` of all sets, and
                            :meth:`~bochner.Frequencies.features_right` the other argument: a phase
                            of :math:`\pi / 2` in place of :math:`\psi`
Algorithm 1                 :func:`random_features`
Eqs. (9) to (11)            ``bochner.kernels.ShiftGaussian``, ``SinhGaussian``, ``CoshGaussian``
Eq. (12), Algorithm 2       :func:`random_features` with rows ``X_s``; also
                            ``FourierFeatures(k, decomposition="jordan", masses="least_squares")``
Proposition 6               a bound, not computed
Table 1, Figures 1 to 3     the benchmark ``asymmetric``: masses, errors and accuracies
==========================  ========================================================================

Rows "#Train" and "#Test" of ijcnn1 and letter are swapped in Table 1. The library's default draws
one set from :math:`|\mu|` and carries the phase, which needs a third of the frequencies; its total
masses are sums of one-dimensional series, exact in any dimension.
"""

from functools import reduce
from operator import add

import numpy as np

from bochner._base.arrays import Array
from bochner.kernels import Kernel
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.least_squares import Sample, least_squares_masses
from bochner.spectral.measure import SpectralMeasure


def random_features(
    k: Kernel, d: int, M: int, rng: np.random.Generator, X_s: Array | None = None
) -> Frequencies:
    r"""Return the frequencies of Algorithm 1, or of Algorithm 2 if there are rows ``X_s``.

    Parameters
    ----------
    k : Kernel
        Stationary, such as ``kernels.ShiftGaussian()``.
    d : int
        Number of inputs.
    M : int
        Number of frequencies of each part: :math:`\omega_i` of :math:`\mu_R^+`, :math:`\zeta_i` of
        :math:`\mu_R^-` and :math:`\nu_i` of :math:`\mu_I^+`, which stands for :math:`\mu_I^-` as
        well.
    rng : numpy.random.Generator
    X_s : ndarray of shape (N_s, d), default=None
        Rows on which the total masses are fitted by eq. (12); ``None`` uses the exact masses.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import kernels
    >>> from bochner.papers import ask_rff
    >>> k = kernels.ShiftGaussian(2.0, shift=0.5)
    >>> X = np.random.default_rng(1).normal(size=(20, 2))
    >>> for X_s in (None, X[:10]):
    ...     frequencies = ask_rff.random_features(k, 2, 4000, np.random.default_rng(0), X_s)
    ...     print(bool(np.abs(frequencies.gram(X) - k(X)).max() < 0.1))
    True
    True
    """
    mu = spectral_measure(k, d, decomposition="jordan")
    sets = [SpectralMeasure((part,)).sample(M, rng, scheme="iid") for part in mu.parts]
    if X_s is not None:
        sets = least_squares_masses(sets, Sample(X_s, X_s, k(X_s)), mu.mass)
    return reduce(add, sets)
