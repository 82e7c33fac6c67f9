"""Posterior draws of functions of tables: functions of encoded columns, with the encoders."""

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from bochner._base.arrays import Array, MatrixLike, as_array
from bochner._base.registry import register
from bochner.linear.functions import SampledFunctions
from bochner.tables.encoder import TableEncoder, side_by_side
from bochner.tables.ensemble import SumOfLaws
from bochner.tables.table_knowledge import NewRows, RowKnowledge
from bochner.tables.table_targets import at_least
from bochner.tables.target_transformations import Transformation


@register
@dataclass(frozen=True, slots=True, eq=False)
class TableFunctions:
    """Functions drawn jointly from the posterior of a table model, without noise.

    ``functions(X)`` returns their values at the rows of a table, ``functions[i]`` and
    ``functions[i:j]`` select functions, and ``len(functions)`` is the number of functions.
    :meth:`bochner.TableRegressor.sample_functions` draws them.

    Parameters
    ----------
    encoders : list of TableEncoder
        Encoders of the table's columns.
    background : ndarray of shape (b, d)
        Encoded columns of training rows, which give entries to rows with unknown entries. Function
        ``i`` has the entries of the ``i``-th donor of each row, and the first donor after the last.
    knowledge : RowKnowledge
        How unknown entries are treated.
    functions : SampledFunctions
        Functions of encoded columns, with gradients by the encoded columns.
    head : SumOfLaws or None
        Weighted sum of base models whose standard deviations are multiplied by a factor that
        depends on the row. Deviations of the functions from its mean are multiplied by the same
        factor. ``None`` for no factor.
    shift, scale : float or ndarray of shape (t,)
        Mean and scale of the targets; ``head`` predicts the standardised targets.
    transformation : Transformation or None
        Increasing function of the targets that the functions model; returned values are mapped back
        by its inverse.
    floor : float, ndarray of shape (t,) or None
        Smallest values of the targets, such as zero for counts; ``None`` for no bound.
    """

    encoders: list[TableEncoder]
    background: Array
    knowledge: RowKnowledge
    functions: SampledFunctions
    head: SumOfLaws | None = None
    shift: Any = 0.0
    scale: Any = 1.0
    transformation: Transformation | None = None
    floor: Any = None

    def __len__(self) -> int:
        return len(self.functions)

    def __getitem__(self, index: object) -> "TableFunctions":
        return replace(self, functions=self.functions[index])

    def __call__(self, X: MatrixLike) -> Array:
        """Return the values at the rows of a table, (n, n_functions) or (n, t, n_functions)."""
        rows = NewRows.of(self.encoders, self.background, self.knowledge, X)
        values = self._values(rows.encoded)
        for places, completed, index in rows.completions():
            of_completed, numbers = self._values(completed), np.arange(values.shape[-1])
            donors = index[:, numbers % index.shape[1]]
            for number in numbers:
                values[places, ..., number] = of_completed[donors[:, number], ..., number]
        return values

    def _values(self, encoded: Array) -> Array:
        """Return the values (n, *t, n_functions) at encoded rows (n, d)."""
        values = self.functions(encoded)
        if self.head is not None:
            mean = self.shift + self.scale * self.head.predict(encoded)
            factors = self.head.factors(encoded)
            if values.ndim > mean.ndim:
                mean, factors = mean[..., None], factors[..., None]
            values = as_array(mean + factors * (values - mean))
        if self.transformation is not None:
            values = self.transformation.inverse(values)
        return values if self.floor is None else at_least(values, self.floor)

    def encode(self, X: MatrixLike) -> Array:
        """Return the encoded columns (n, d) that the functions take."""
        return side_by_side(self.encoders, X)

    def gradient(self, X: MatrixLike) -> NoReturn:
        """Raise ``NotImplementedError``: columns of tables have no derivatives."""
        raise NotImplementedError(
            "Functions of tables have no gradients, because columns are encoded. For gradients by "
            "the encoded columns use functions.functions.gradient(functions.encode(X)), which "
            "leaves out factors of the widths; for numbers alone fit KreinRidge, whose functions "
            "have gradients."
        )
