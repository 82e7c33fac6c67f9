"""Complex functions of rows as factors of waves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, InputRows, as_count
from bochner.registry import register

Order = NDArray[np.intp]


class Carrier(ABC):
    r"""A complex function :math:`f_j` of rows for each of ``m`` waves; an immutable value.

    The j-th term of an estimate is :math:`a_j \Re\big(f_j(x) \overline{f_j(y)}
    e^{i (\omega_j \cdot x - \nu_j \cdot y + \theta_j)}\big)` then: the size of :math:`f_j` is a
    factor of both features of the wave, and its angle is added to the wave's.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def n_factors(self) -> int:
        """Number of waves, ``m``."""

    @abstractmethod
    def polar(self, X: InputRows) -> tuple[Array | None, Array]:
        """Return sizes (n, m), ``None`` for ones, and angles (n, m) for rows, dense or CSR."""

    @property
    def parts(self) -> "tuple[Carrier, ...]":
        """Carriers of consecutive waves that this one consists of."""
        return (self,)

    def joined(self, other: "Carrier") -> "Carrier":
        """Concatenate the functions of both carriers."""
        return CarrierSeries((*self.parts, *other.parts))

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        values = tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return type(self), values


class DrawnCarrier(Carrier):
    """A carrier of waves that a law draws: some of its waves, and waves of wider rows."""

    __slots__ = ()

    @abstractmethod
    def taken(self, order: Order) -> "DrawnCarrier":
        """Return the functions of some waves, in this order."""

    @abstractmethod
    def on(self, columns: Order) -> "DrawnCarrier":
        """Return the same functions of these columns (q,) of wider rows."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class NoCarrier(Carrier):
    """The function one, for ``m`` waves."""

    m: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", as_count("m", self.m))

    @classmethod
    def none(cls, m: int, dim: int) -> "NoCarrier":
        """Return the function one for ``m`` waves."""
        return cls(m)

    @property
    def n_factors(self) -> int:
        return self.m

    def polar(self, X: InputRows) -> tuple[Array | None, Array]:
        return None, np.zeros((X.shape[0], self.m))


@register
@dataclass(frozen=True, slots=True, eq=False)
class CarrierSeries(Carrier):
    """Carriers of waves that follow one another, as in the features of a sum of kernels."""

    carriers: tuple[Carrier, ...]

    @property
    def n_factors(self) -> int:
        return sum(carrier.n_factors for carrier in self.carriers)

    @property
    def parts(self) -> tuple[Carrier, ...]:
        return self.carriers

    def polar(self, X: InputRows) -> tuple[Array | None, Array]:
        sizes, angles = zip(*(carrier.polar(X) for carrier in self.carriers), strict=True)
        filled_sizes = [
            np.ones_like(angle) if size is None else size
            for size, angle in zip(sizes, angles, strict=True)
        ]
        return np.concatenate(filled_sizes, axis=1), np.concatenate(angles, axis=1)
