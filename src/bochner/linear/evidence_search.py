"""Searches for the parameters of a family of kernels by the gradient of an evidence."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.optimize import Bounds

from bochner._base.arrays import Array
from bochner._base.descent import minimised
from bochner.linear.reparameterised import ParameterisedKernel

_ROUNDS = 3
"""Largest number of searches in a stage: after each, shorter scales of single inputs are tried."""

_DEVIATION = np.log(10.0)
"""Prior standard deviation of every parameter. Scales of two inputs may differ by a factor of ten
before the prior matters. It keeps scales of irrelevant inputs finite, which the evidence does not
determine."""

_REACH = 3.0 * _DEVIATION
"""Largest change of a parameter, three prior standard deviations: a factor of a thousand."""

_TOLERANCE = 1e-5
"""Decrease of the loss per row, which is of order one, at which a search ends: 0.01 nats for 1000
rows."""


class EvidenceSearch(ABC):
    """A loss as a function of points: parameters (q,) of a family of kernels, then others.

    The loss is the negative log evidence per row, penalised by a weak prior of the parameters.
    """

    __slots__ = ()

    family: ParameterisedKernel[Any]

    @abstractmethod
    def value(self, point: Array) -> float:
        """Return the loss of a point."""

    @abstractmethod
    def loss(self, point: Array) -> tuple[float, Array]:
        """Return the loss of a point and its gradient."""

    @abstractmethod
    def bounds_of_others(self, start: Array) -> tuple[Array, Array]:
        """Return lower and upper bounds of the coordinates that are not kernel parameters."""

    def split(self, point: Array) -> tuple[Array, Array]:
        """Return the parameters of the family and the remaining coordinates of a point."""
        n = self.family.origin.size
        return point[:n], point[n:]

    def penalty(self, theta: Array) -> tuple[float, Array]:
        """Return the negative log prior of parameters (q,), and its gradient."""
        away = (theta - self.family.origin) / _DEVIATION
        return 0.5 * float(away @ away), away / _DEVIATION

    def climbed(self, start: Array, n_steps: int) -> tuple[Array, float]:
        """Return the end of an L-BFGS search from a start, and its loss."""
        theta, _ = self.split(start)
        origin, other_bounds = self.family.origin, self.bounds_of_others(start)
        low = np.append(np.minimum(origin - _REACH, theta), other_bounds[0])
        high = np.append(np.maximum(origin + _REACH, theta), other_bounds[1])
        end = minimised(
            self.loss,
            start,
            n_steps=n_steps,
            bounds=Bounds(low, high),
            decrease=_TOLERANCE,
        )
        return end.point, end.loss

    def explored(self, point: Array, n_steps: int) -> Array:
        """Return the best end of searches from a point and from its neighbours."""
        for _ in range(_ROUNDS):
            point, _ = self.climbed(point, n_steps)
            theta, other_parameters = self.split(point)
            near = [
                np.append(neighbour, other_parameters)
                for neighbour in self.family.neighbours(theta)
            ]
            best = min([point, *near], key=self.value)
            if best is point:
                break
            point = best
        return point
