r"""Additive logarithms of widths: curves of numbers and terms of indicators, fitted together.

The penalised loss of scores :math:`a_i`, with penalties updated by Wood and Fasiolo (2017), is

.. math:: \sum_i f_i + a_i e^{-f_i} + \tfrac12 \sum_j \lambda_j \beta_j^\top S_j \beta_j.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.tables.observations import Chosen
from bochner.tables.trees import TreeInputs

_FIRST_PENALTY = 10.0
"""Penalty before the first update, in scores: it halves the effect of a level with ten rows."""

_PENALTIES = (0.1, 1e5)
"""Smallest and largest penalty, in scores: beyond them terms are unpenalised, or zero."""

_MOST_UPDATES, _SAME_NUMBER = 25, 0.05
"""Most updates of the penalties, and the change of coefficients, a per cent, that ends them."""

_LEAST_SQUARE = 1e-9
"""Lower bound of the squares of coefficients, so that the penalty of vanishing terms is finite."""

_JITTER = 1e-9
"""Multiple of the identity added to the curvature, because indicators may be equal."""

_SAME_LOSS = 1e-7
"""Gain of a step, per score, that ends the steps: changes of widths are below a thousandth."""

_MOST_STEPS = 50
"""Largest number of scoring steps: the loss is convex, and ten steps suffice."""

_MOST_TERMS = 100
"""Most indicators that have terms; the time of a fit grows with their cube."""

_LARGEST_LOG = 50.0  # Of a factor: scores are between a thousandth and all rows times their mean

_FEWEST_OF_TERM = 5
"""Fewest scores on each side of an indicator with a term: fewer scores do not determine a width."""


@register(shapes={"knots": "k", "values": "k"})
@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A function of a number, linear between knots and constant beyond them."""

    knots: Array  # (k,): Increasing
    values: Array  # (k,)

    def __post_init__(self) -> None:
        if (np.diff(self.knots) <= 0.0).any() or (np.abs(self.values) > _LARGEST_LOG).any():
            raise ValueError("a curve of widths is not one of a fit")

    def __call__(self, x: Array) -> Array:
        return as_array(np.interp(x, self.knots, self.values))


@register(shapes={"columns": "q", "middles": "q", "values": "q"})
@dataclass(frozen=True, slots=True, eq=False)
class BinaryTerms:
    """A sum of values, each added where an encoded column exceeds a threshold."""

    columns: Chosen  # (q,): Columns with two different values
    middles: Array  # (q,): Numbers between the two values
    values: Array  # (q,)

    def __call__(self, X: Array) -> Array:
        """Return sums (n,) at encoded rows (n, d)."""
        return as_array(indicators(X, self.columns, self.middles) @ self.values)


@dataclass(frozen=True, slots=True, eq=False)
class BinaryColumns:
    """Encoded columns with two different values, in groups that share a penalty."""

    columns: Chosen  # (q,)
    middles: Array  # (q,)
    ends: Chosen  # (g + 1,): First column of each group, and the number of columns

    @classmethod
    def of(cls, X: Array, inputs: TreeInputs | None) -> "BinaryColumns":
        """Return levels and other indicators among the columns of encoded rows (n, d)."""
        if inputs is None:
            return cls(np.empty(0, dtype=np.int64), np.empty(0), np.zeros(1, dtype=np.int64))
        pairs = zip(inputs.starts, inputs.widths, strict=True)
        groups = [*(np.arange(first, first + width) for first, width in pairs), inputs.columns]
        candidates = np.concatenate(groups).astype(np.int64)
        of_group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        values = X[:, candidates]
        least, greatest = values.min(axis=0), values.max(axis=0)
        has_two = ((values == least) | (values == greatest)).all(axis=0) & (least < greatest)
        counts = np.sum(values == greatest, axis=0)
        rarer = np.where(has_two, np.minimum(counts, len(X) - counts), 0)
        chosen = np.flatnonzero(rarer >= _FEWEST_OF_TERM)
        chosen = np.sort(chosen[np.argsort(-rarer[chosen], kind="stable")[:_MOST_TERMS]])
        sizes = np.bincount(of_group[chosen], minlength=len(groups))
        ends = np.cumsum(np.append(0, sizes[sizes > 0]))
        return cls(candidates[chosen], 0.5 * (least + greatest)[chosen], ends)


def indicators(X: Array, columns: Chosen, middles: Array) -> Array:
    """Return zeros and ones (n, q): whether columns exceed the middle of their two values."""
    return as_array((X[:, columns] > middles).astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class WidthTerms:
    """Basis of an additive logarithm of widths: curves with given knots, and indicators."""

    knots: Sequence[Array]  # One array (k,) for each input
    indicators: BinaryColumns

    def fitted(
        self,
        inputs: Array,
        X: Array,
        scores: Array,
        offset: Array | None = None,
        stretches: Chosen | None = None,
    ) -> tuple[tuple[Curve, ...], BinaryTerms]:
        """Return curves of inputs (n, c) and terms of rows (n, d), fitted to scores (n,)."""
        offset = np.zeros(len(scores)) if offset is None else offset
        basis, penalties, ends = self._basis(inputs, X), self._penalties(), self._ends()
        if stretches is not None:
            of_stretch = (stretches[:, None] == np.unique(stretches)).astype(np.float64)
            basis = np.hstack([basis, of_stretch])
            penalties.append((slice(int(ends[-1]), basis.shape[1]), np.eye(of_stretch.shape[1])))
        coef = penalised(basis, penalties, scores, offset)
        places = list(pairwise(ends))
        curves = [
            Curve(knots, coef[start:end])
            for knots, (start, end) in zip(self.knots, places, strict=False)
        ]
        curves[0] = Curve(curves[0].knots, curves[0].values + coef[0])
        values = coef[ends[len(self.knots)] : ends[-1]]
        chosen = self.indicators
        return tuple(curves), BinaryTerms(chosen.columns, chosen.middles, values)

    def _ends(self) -> Chosen:
        """Return the first coefficient of each term after the constant, and their number."""
        of_curves = 1 + np.cumsum([0] + [len(places) for places in self.knots])
        return np.concatenate((of_curves[:-1], of_curves[-1] + self.indicators.ends))

    def _basis(self, inputs: Array, X: Array) -> Array:
        hats = [
            np.stack([np.interp(column, places, unit) for unit in np.eye(len(places))], axis=1)
            for column, places in zip(inputs.T, self.knots, strict=True)
        ]
        ones = indicators(X, self.indicators.columns, self.indicators.middles)
        return np.hstack([np.ones((len(inputs), 1)), *hats, ones])

    def _penalties(self) -> list[tuple[slice, Array]]:
        """Return the coefficient slice of each term, with its penalty matrix of full rank."""
        penalties = []
        for number, (start, end) in enumerate(pairwise(self._ends())):
            size, matrix = end - start, np.eye(end - start)
            if number < len(self.knots):
                steps = np.diff(matrix, axis=0)
                # The constant of a curve is penalised to zero: the sum has one constant.
                matrix = steps.T @ steps + np.full((size, size), 1.0 / size**2)
            penalties.append((slice(start, end), matrix))
        return penalties


def penalised(
    basis: Array, penalties: Sequence[tuple[slice, Array]], scores: Array, offset: Array
) -> Array:
    """Return coefficients (p,), the first a constant, with penalties of greatest likelihood."""
    information, sizes = basis.T @ basis, np.full(len(penalties), _FIRST_PENALTY)
    information += _JITTER * np.max(np.diagonal(information)) * np.eye(len(information))
    coef, previous = np.zeros(basis.shape[1]), np.full(len(penalties), np.inf)
    coef[0] = np.log(np.mean(scores * np.exp(-offset)))
    for _ in range(_MOST_UPDATES):
        penalty = _total(penalties, sizes, len(coef))
        inverse = as_array(np.linalg.inv(information + penalty))
        coef = least_loss(basis, penalty, scores, offset, coef, inverse)
        effective, squares = np.empty(len(penalties)), np.empty(len(penalties))
        for number, (part, matrix) in enumerate(penalties):
            effective[number] = len(matrix) - sizes[number] * np.sum(inverse[part, part] * matrix)
            squares[number] = coef[part] @ matrix @ coef[part]
        if (np.abs(effective - previous) < _SAME_NUMBER).all():
            break
        ratio = scores * np.exp(-offset - basis @ coef)
        n_free = max(len(scores) - 1.0 - np.sum(effective), 0.5 * len(scores))
        dispersion = np.sum((ratio - 1.0) ** 2) / n_free
        sizes = dispersion * np.maximum(effective, 0.0) / np.maximum(squares, _LEAST_SQUARE)
        sizes, previous = np.clip(sizes, *_PENALTIES), effective
    return coef


def least_loss(
    basis: Array, penalty: Array, scores: Array, offset: Array, coef: Array, inverse: Array
) -> Array:
    """Return the coefficients (p,) of least penalised loss, by Fisher scoring with halved steps."""

    def loss(trial: Array) -> float:
        logs = offset + basis @ trial
        return float(np.sum(logs + scores * np.exp(-logs)) + 0.5 * trial @ penalty @ trial)

    value = loss(coef)
    for _ in range(_MOST_STEPS):
        ratio = scores * np.exp(-offset - basis @ coef)
        step, size = inverse @ (basis.T @ (1.0 - ratio) + penalty @ coef), 1.0
        while (trial := loss(coef - size * step)) > value and size > 1e-6:
            size *= 0.5
        if not trial < value:
            break
        coef, gain, value = coef - size * step, value - trial, trial
        if gain < _SAME_LOSS * len(scores):
            break
    return coef


def _total(penalties: Sequence[tuple[slice, Array]], sizes: Array, count: int) -> Array:
    """Return the sum (count, count) of all penalties times their sizes."""
    total = np.zeros((count, count))
    for (part, matrix), size in zip(penalties, sizes, strict=True):
        total[part, part] += size * matrix
    return total
