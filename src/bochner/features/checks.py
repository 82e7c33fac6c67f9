"""Check features: a second, independent draw of random features next to those of a model."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner.features.residual import FeatureMap, ResidualFeatures
from bochner.spectral.frequencies import Frequencies

N_CHECKS = 128
"""Number of check frequencies. The variance that 256 check features give has a relative standard
deviation of a tenth; half as many features understate the error of 512 features of a smooth kernel,
twice as many double the time of a fit on 512."""


@dataclass(frozen=True, slots=True)
class CheckedMap:
    """The features of a model and check features, with the indices of either.

    The features of landmarks belong to both: kernels between a landmark and any row are exact.
    """

    joint: FeatureMap
    main_columns: NDArray[np.intp]
    check_columns: NDArray[np.intp]

    @classmethod
    def of(cls, features: FeatureMap, checks: Frequencies) -> "CheckedMap":
        """Return the features of a model with those of the frequencies ``checks``."""
        waves = features.frequencies if isinstance(features, ResidualFeatures) else features
        both = waves + checks
        joint = features.with_frequencies(both) if isinstance(features, ResidualFeatures) else both
        m, total = waves.n_frequencies, both.n_frequencies
        landmarks = np.arange(2 * total, joint.n_features)
        main, other = np.arange(m), np.arange(m, total)
        return cls(
            joint,
            np.concatenate((main, total + main, landmarks)),
            np.concatenate((other, total + other, landmarks)),
        )
