"""The linear program of a designed measure."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from bochner._numerics.arrays import Array
from bochner.spectral.geometry import Geometry

_CEILING = 1.2
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Masses of atoms that follow a function within a tolerance, at the least cost.

    In units of ``size``, the function's greatest value: the atoms' values (n_distances, n_atoms)
    ``inside`` and ``outside`` the reach of the data, the function's ``values`` (n_distances,)
    inside, and the ``ceiling`` of the absolute sum of the atoms outside.
    """

    scales: Array
    inside: Array
    outside: Array
    values: Array
    ceiling: float
    size: float

    @classmethod
    def of(cls, geometry: Geometry, scales: Array) -> "Program":
        """Return the program for atoms of these scales."""
        # Two points for the shortest wave.
        grid = geometry.inside(max(200, 2 * len(scales)))
        values = geometry.function(grid)
        greatest = geometry.largest_value(values)
        size = greatest or 1.0
        return cls(
            scales=scales,
            inside=geometry.atoms.transform(grid, scales),
            outside=geometry.atoms.transform(geometry.outside(80), scales),
            values=values / size,
            ceiling=_CEILING * greatest / size,
            size=size,
        )

    def solve(self, cost: Array, tolerance: float) -> Array | None:
        """Return the masses of least ``cost`` (n_atoms,), per unit of mass of either sign.

        ``None`` where the ``tolerance``, in units of the greatest value, cannot be kept.
        """
        half = np.vstack([self.inside, -self.inside, self.outside, -self.outside])
        bound = np.concatenate(
            [
                self.values + tolerance,
                tolerance - self.values,
                np.full(2 * len(self.outside), self.ceiling + tolerance),
            ]
        )
        solution = linprog(
            np.concatenate([cost, cost]),
            A_ub=np.hstack([half, -half]),
            b_ub=bound,
            bounds=(0.0, None),
            method="highs",
        )
        if solution.status != 0:
            return None
        positive, negative = np.split(np.asarray(solution.x, dtype=np.float64), 2)
        masses = positive - negative
        masses[np.abs(masses) < _NEGLIGIBLE] = 0.0
        return self.size * masses
