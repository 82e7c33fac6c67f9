"""What solutions of linear models without a posterior have in common."""

from abc import ABC, abstractmethod

from bochner._numerics.arrays import Array


class PointSolution(ABC):
    """The weights of a linear model without their covariance."""

    __slots__ = ()

    @property
    def noise_variance(self) -> Array | None:
        """Variances of the noise (t,); ``None`` where ``limitation`` says why."""
        return None

    @property
    def log_evidence(self) -> float | None:
        """``None``; see ``limitation``."""
        return None

    @property
    @abstractmethod
    def limitation(self) -> str:
        """Why there is no uncertainty, and what to do."""
