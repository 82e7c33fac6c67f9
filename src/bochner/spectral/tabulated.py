"""One-dimensional densities of either sign, as tables with exact masses and monotone quantiles."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import elementwise

from bochner._base.arrays import Array, frozen_array

_FEWEST_BINS = 1024  # bins of a table; its error falls with the square of their width


class Tabulated:
    """The positive (``sign=1``) or negative part (``sign=-1``) of a density on [0, upper].

    Bins, ``left`` to ``right`` (n_bins,), end at the zeros of the density and may have gaps between
    them. ``cumulative`` (n_bins + 1,) is the mass to the left of each bin, followed by the total
    mass; ``lean`` (n_bins,) is the density at the left edge divided by the sum of the densities at
    both edges.
    """

    def __init__(
        self, density: Callable[[Array], Array], upper: float, sign: int, bins_per_unit: int = 512
    ) -> None:
        n_bins = int(np.ceil(max(bins_per_unit, _FEWEST_BINS / upper) * upper))
        edges = _split_at_zeros(density, np.linspace(0.0, upper, n_bins + 1))
        nodes, weights = gauss_legendre(edges, 4)
        masses = sign * (weights * density(nodes)).sum(axis=1)
        cumulative = np.cumsum(np.maximum(masses, 0.0))
        has_mass = np.diff(cumulative, prepend=0.0) > 0.0
        at_edges = np.maximum(sign * density(edges), 0.0)
        left, at_both_edges = at_edges[:-1][has_mass], (at_edges[:-1] + at_edges[1:])[has_mass]
        lean = np.divide(
            left, at_both_edges, out=np.full_like(at_both_edges, 0.5), where=at_both_edges > 0.0
        )
        # Tables are cached: read-only.
        self.left = frozen_array("left", edges[:-1][has_mass], None)
        self.right = frozen_array("right", edges[1:][has_mass], None)
        self.cumulative = frozen_array("cumulative", np.append(0.0, cumulative[has_mass]), None)
        self.lean = frozen_array("lean", lean, None)

    @property
    def mass(self) -> float:
        """The total mass; zero if there are no bins."""
        return float(self.cumulative[-1])

    def quantile(self, probability: Array) -> Array:
        """Return where the given shares of the mass, in [0, 1], lie to the left; nondecreasing."""
        target = probability * self.mass
        index = np.searchsorted(self.cumulative, target, side="right") - 1
        index = np.clip(index, 0, len(self.left) - 1)
        start, stop = self.cumulative[index], self.cumulative[index + 1]
        share = np.clip((target - start) / (stop - start), 0.0, 1.0)
        lean, left, right = self.lean[index], self.left[index], self.right[index]
        # The root in [0, 1] of lean t + (1/2 - lean) t^2 = share / 2, free of cancellation.
        slope = lean + np.sqrt(lean**2 + (1.0 - 2.0 * lean) * share)
        fraction = share / np.maximum(slope, np.finfo(np.float64).tiny)
        return np.minimum(left + fraction * (right - left), right)


def gauss_legendre(edges: Array, order: int) -> tuple[Array, Array]:
    """Return Gauss and Legendre's nodes and weights on every panel, of shape (n_panels, order)."""
    unit, weight = np.polynomial.legendre.leggauss(order)
    half = 0.5 * np.diff(edges)[:, None]
    return edges[:-1, None] + half * (1.0 + unit), half * weight


def _split_at_zeros(density: Callable[[Array], Array], edges: Array) -> Array:
    signs = np.sign(density(edges))
    (changes,) = np.nonzero(signs[:-1] * signs[1:] < 0.0)
    if not len(changes):
        return edges
    zeros = elementwise.find_root(density, (edges[changes], edges[changes + 1])).x
    return np.sort(np.concatenate([edges, zeros]))
