"""What the solutions of linear models have in common, whichever way they were found."""

from typing import Protocol

from bochner._numerics.arrays import Array
from bochner.learning.iterative import IterativeSolution
from bochner.learning.krein import KreinSolution
from bochner.learning.ridge import RidgePosterior


class Solution(Protocol):
    """A linear function of ``p`` features for ``t`` targets, and what is known of its uncertainty.

    A quantity that the solution does not offer is ``None``, and ``limitation`` says why.
    """

    @property
    def coef(self) -> Array:
        """Weights of the features, of shape (p, t)."""

    @property
    def intercept(self) -> Array:
        """Constants, of shape (t,)."""

    @property
    def alpha(self) -> float:
        """The regularisation in use."""

    @property
    def noise_variance(self) -> Array | None:
        """Variances of the noise, of shape (t,)."""

    @property
    def log_evidence(self) -> float | None:
        """Log marginal likelihood of the training targets, summed over targets."""

    @property
    def limitation(self) -> str | None:
        """Why quantities are missing, and what to do; ``None`` for a full posterior.

        Only a full posterior, :class:`~bochner.learning.ridge.RidgePosterior`, has ``std``.
        """

    def mean(self, Z: Array) -> Array:
        """Return predictions of shape (n, t) for features ``Z`` (n, p)."""


LinearSolution = RidgePosterior | KreinSolution | IterativeSolution
"""The solutions that model files of linear heads may hold."""
