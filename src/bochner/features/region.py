"""The region in which the features of a designed measure are accurate."""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, InputRows, frozen_array, squared_norms
from bochner._base.registry import register
from bochner._base.warn import warn_user
from bochner.kernels import Kernel


@register
@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Rows whose distance from ``centre`` (d,) is from ``least`` to ``greatest``."""

    centre: Array
    least: float
    greatest: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", frozen_array("centre", self.centre, None))

    def warn_outside(self, X: InputRows) -> None:
        """Emit one ``UserWarning`` if rows of ``X`` (n, d), dense or sparse, lie outside."""
        offset = float(self.centre @ self.centre)
        square = squared_norms(X) - 2.0 * (X @ self.centre) + offset
        distance = np.sqrt(np.maximum(square, 0.0))
        outside = (distance > self.greatest) | (distance < self.least)
        if outside.any():
            worst = distance[outside][np.argmax(np.abs(distance[outside] - self.greatest))]
            expected = (
                f"at most {self.greatest:.6g}"
                if self.least == 0.0
                else f"{self.greatest:.6g}, up to rounding"
            )
            warn_user(
                f"{int(outside.sum())} of {len(outside)} rows lie outside the region that the "
                f"training data cover: their distance from its centre should be {expected}, and "
                f"one of them has {worst:.6g}. The kernel's values there are bounded but not "
                f"approximated; fit on data that reach as far."
            )


def check_rows(kernel: object, region: Region | None, X: object, *, right: bool = False) -> None:
    """Raise for rows of an argument outside a kernel's domain; warn of rows outside a region."""
    if isinstance(kernel, Kernel):
        (kernel.check_right_inputs if right else kernel.check_inputs)(X)
    if region is not None:
        region.warn_outside(X)
