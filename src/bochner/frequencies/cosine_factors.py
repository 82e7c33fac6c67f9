"""Factors by which features are waves themselves."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bochner._numerics.arrays import Array, frozen_array
from bochner._numerics.namespaces import like, namespace, on_device, widened
from bochner.registry import register


@register(former_names=("ModulatingWaves",))
@dataclass(frozen=True, slots=True, eq=False)
class CosineFactors:
    r"""One wave for each frequency, a factor of its features.

    .. math:: g_j(x) = \cos(v_j \cdot x / 2 + \psi_j)

    The difference of two products of such factors is a wave of the midpoint of the arguments,
    :math:`\cos(v \cdot x/2 + \psi) \cos(v \cdot y/2 + \psi)
    - \sin(v \cdot x/2 + \psi) \sin(v \cdot y/2 + \psi)
    = \cos(v \cdot (x + y)/2 + 2 \psi)`.

    Parameters
    ----------
    v : array-like of shape (m, d)
        Radians per unit of the inputs; zero, with a phase of zero, means no factor.
    phase : array-like of shape (m,)
        :math:`\psi`, in radians.

    Raises
    ------
    ValueError
        If shapes disagree, or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.frequencies import CosineFactors
    >>> waves = CosineFactors(v=[[2.0], [2.0]], phase=[0.0, -np.pi / 2])
    >>> waves.factors([[0.0], [np.pi / 2]]).round(12)
    array([[1., 0.],
           [0., 1.]])
    """

    v: Array
    phase: Array

    def __init__(self, v: ArrayLike, phase: ArrayLike) -> None:
        v = frozen_array("v", v, None)
        if v.ndim != 2 or 0 in v.shape:
            raise ValueError(f"v must have shape (m, d), both positive, got {v.shape}.")
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "phase", frozen_array("phase", phase, v.shape[:1]))

    def __reduce__(self) -> tuple[Any, ...]:
        return CosineFactors, (self.v, self.phase)

    @classmethod
    def none(cls, m: int, dim: int) -> "CosineFactors":
        """Return the waves of ``m`` factors that are one everywhere."""
        return cls(np.zeros((m, dim)), np.zeros(m))

    def joined(self, other: "CosineFactors") -> "CosineFactors":
        """Return the factors of both, one after the other."""
        v, phase = (np.concatenate(pair) for pair in ((self.v, other.v), (self.phase, other.phase)))
        return CosineFactors(v, phase)

    def factors(self, X: Any) -> Any:
        """Return the factors of shape (n, m) for rows ``X`` (n, d)."""
        return self.to_device_of(X)(X)

    def to_device_of(self, X: Any) -> "MovedWaves":
        """Return what makes the factors of blocks of rows where ``X`` lies."""
        halved = 0.5 * np.ascontiguousarray(self.v.T)
        if not on_device(X):
            return MovedWaves(halved, self.phase)
        wide = widened(X)
        return MovedWaves(like(halved, wide), like(self.phase, wide))


@dataclass(frozen=True, slots=True, eq=False)
class MovedWaves:
    """The same factors, their numbers where the rows are.

    Parameters
    ----------
    halved : array of shape (d, m)
        Half the frequencies, transposed.
    phase : array of shape (m,)
    """

    halved: Any
    phase: Any

    def __call__(self, X: Any) -> Any:
        """Return the factors of shape (n, m) for rows ``X`` (n, d), dense or sparse."""
        angle = (widened(X) if on_device(X) else X) @ self.halved + self.phase
        return namespace(angle).cos(angle)
