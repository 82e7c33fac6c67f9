"""Cosines of the inputs by which features are multiplied."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, frozen_array
from bochner._numerics.namespaces import like, namespace, on_device, widened
from bochner.registry import register


@register(former_names=("ModulatingWaves",))
@dataclass(frozen=True, slots=True, eq=False)
class CosineFactors:
    r"""One cosine of the inputs for each frequency, a factor of both its features.

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

    def __post_init__(self) -> None:
        v = frozen_array("v", self.v, None)
        if v.ndim != 2 or 0 in v.shape:
            raise ValueError(f"v must have shape (m, d), both positive, got {v.shape}.")
        object.__setattr__(self, "v", v)
        object.__setattr__(self, "phase", frozen_array("phase", self.phase, v.shape[:1]))

    def __reduce__(self) -> tuple[Any, ...]:
        return CosineFactors, (self.v, self.phase)

    @classmethod
    def none(cls, m: int, dim: int) -> "CosineFactors":
        """Return ``m`` factors that are one everywhere."""
        return cls(np.zeros((m, dim)), np.zeros(m))

    def joined(self, other: "CosineFactors") -> "CosineFactors":
        """Return the factors of both, one after the other."""
        return CosineFactors(np.r_[self.v, other.v], np.r_[self.phase, other.phase])

    def factors(self, X: Any) -> Any:
        """Return the factors of shape (n, m) for rows ``X`` (n, d), dense or CSR."""
        return cosines(widened(X) if on_device(X) else X, *self.to_device_of(X))

    def to_device_of(self, X: Any) -> tuple[Any, Any]:
        """Return ``v.T / 2`` (d, m) and the phases, where rows ``X`` are."""
        halved = 0.5 * np.ascontiguousarray(self.v.T)
        if not on_device(X):
            return halved, self.phase
        wide = widened(X)
        return like(halved, wide), like(self.phase, wide)


def cosines(X: Any, frequencies: Any, phase: Any) -> Any:
    """Return the cosines (n, m) of ``X @ frequencies + phase``, all on one device."""
    angle = X @ frequencies + phase
    return namespace(angle).cos(angle)
