"""Searching the parameters of a family of kernels along the gradient of an evidence."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from bochner._numerics.arrays import Array, as_array
from bochner.learning.reparameterised import ParameterisedKernel

_ROUNDS = 3
"""Most searches of a stage after the first: after each, shorter scales of inputs are tried."""

_DEVIATION = np.log(10.0)
"""Prior standard deviation of every parameter: scales of two inputs may differ by a factor of ten
before it matters. It keeps those of irrelevant inputs, which the evidence leaves open, finite."""

_REACH = 3.0 * _DEVIATION
"""Largest change of a parameter, three prior standard deviations: a factor of a thousand."""

_TOLERANCE = 1e-5
"""Decrease of the loss of a row, of order one, at which a search ends: 0.01 of 1000 rows."""


def stopping_at(deadline: float) -> Callable[[Any], None]:
    """Return a callback of SciPy's ``minimize`` that ends the descent after a deadline."""

    def callback(_: Any) -> None:
        if perf_counter() > deadline:
            raise StopIteration

    return callback


class EvidenceSearch(ABC):
    """A loss of points: parameters (q,) of a family of kernels, then further coordinates.

    The loss is the negative log evidence, per row and penalised by a weak prior of the parameters.
    """

    __slots__ = ()

    family: ParameterisedKernel[Any]

    @property
    def deadline(self) -> float:
        """Value of ``perf_counter`` after which no further step is begun."""
        return np.inf

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
        """Return the point and loss that L-BFGS reaches from a start."""
        theta, _ = self.split(start)
        origin, others = self.family.origin, self.bounds_of_others(start)
        low = np.append(np.minimum(origin - _REACH, theta), others[0])
        high = np.append(np.maximum(origin + _REACH, theta), others[1])
        options: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "bounds": Bounds(low, high)}
        options["callback"] = stopping_at(self.deadline)
        options["options"] = {"maxiter": n_steps, "ftol": _TOLERANCE}
        found = minimize(self.loss, start, **options)
        return as_array(found.x), float(found.fun)

    def explored(self, point: Array, n_steps: int) -> Array:
        """Return the point of least loss that searches find from a point, and from neighbours."""
        for _ in range(_ROUNDS):
            point, _ = self.climbed(point, n_steps)
            if perf_counter() > self.deadline:
                break
            theta, others = self.split(point)
            near = [np.append(other, others) for other in self.family.neighbours(theta)]
            best = min([point, *near], key=self.value)
            if best is point:
                break
            point = best
        return point
