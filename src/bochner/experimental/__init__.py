"""Kernels of histograms and sets, and features of sequences, without a win on real data so far.

Everything here is tested like the rest of the library. Importing the module adds the kernels'
names, such as ``FourierFeatures(kernel="tanimoto")``. :func:`bochner.load` imports it for models
that need it.
"""

from bochner.experimental.histogram_carriers import Hashes, Powers
from bochner.experimental.histogram_kernels import (
    Additive,
    ChiSquared,
    Intersection,
    JensenShannon,
    Tanimoto,
)
from bochner.experimental.histogram_laws import HashLaw, LogarithmLaw
from bochner.experimental.sequence_features import SequenceFeatures

__all__ = [
    "Additive",
    "ChiSquared",
    "HashLaw",
    "Hashes",
    "Intersection",
    "JensenShannon",
    "LogarithmLaw",
    "Powers",
    "SequenceFeatures",
    "Tanimoto",
]
