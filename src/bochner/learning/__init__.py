"""Learning from data: posteriors, evidence and the choice of kernels.

The learned kernels, such as :class:`bochner.LearnedKernelRegressor`, take objects in place of the
names that ``structure`` and ``sampler`` accept. The moves of a sampler are in
:mod:`bochner.learning.chains.moves`.
"""

from bochner.learning.chains.plan import Sampler
from bochner.learning.chains.start import DenseStructure, SparseStructure, Structure

__all__ = ["DenseStructure", "Sampler", "SparseStructure", "Structure"]
