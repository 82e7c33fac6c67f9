"""Functions of tables: drawn functions of encoded columns, and the encoders of the columns."""

from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from bochner._numerics.arrays import Array, as_array
from bochner.learning.ensemble.ensemble import SumOfLaws
from bochner.learning.ensemble.transformations import Transformation
from bochner.learning.functions import SampledFunctions
from bochner.registry import register
from bochner.tables.encoder import TableEncoder


@register
@dataclass(frozen=True, slots=True, eq=False)
class TableFunctions:
    """Functions drawn together from the posterior of a model of a table, without noise.

    ``functions(X)`` returns their values at the rows of a table, ``functions[i]`` and
    ``functions[i:j]`` are some of them, and ``len(functions)`` is how many there are.
    :meth:`bochner.TableRegressor.sample_functions` draws them.

    Parameters
    ----------
    encoders : list of TableEncoder
        Encoders of the table's columns.
    functions : SampledFunctions
        Functions of encoded columns, with gradients by these.
    head : SumOfLaws or None
        Sum of laws whose standard deviations have a factor that depends on the row: deviations of
        the functions from its mean have the same factor. ``None`` for no factor.
    shift, scale : float or ndarray of shape (t,)
        Mean and scale of the targets, whose units those of ``head`` are.
    transformation : Transformation or None
        Increasing function of the targets to which the functions belong; values are those of its
        inverse.
    """

    encoders: list[TableEncoder]
    functions: SampledFunctions
    head: SumOfLaws | None = None
    shift: Any = 0.0
    scale: Any = 1.0
    transformation: Transformation | None = None

    def __len__(self) -> int:
        return len(self.functions)

    def __getitem__(self, index: Any) -> "TableFunctions":
        return replace(self, functions=self.functions[index])

    def __call__(self, X: Any) -> Array:
        """Return the values at the rows of a table, (n, n_functions) or (n, t, n_functions)."""
        encoded = self.encode(X)
        values = self.functions(encoded)
        if self.head is not None:
            mean = self.shift + self.scale * self.head.predict(encoded)
            factors = self.head.factors(encoded)
            if values.ndim > mean.ndim:
                mean, factors = mean[..., None], factors[..., None]
            values = as_array(mean + factors * (values - mean))
        return values if self.transformation is None else self.transformation.inverse(values)

    def encode(self, X: Any) -> Array:
        """Return the encoded columns (n, d) that the functions take."""
        return np.hstack([as_array(encoder.transform(X)) for encoder in self.encoders])

    def gradient(self, X: Any) -> NoReturn:
        """Raise ``NotImplementedError``: columns of tables have no derivatives."""
        raise NotImplementedError(
            "Functions of tables have no gradients, because columns are encoded. For gradients by "
            "the encoded columns use functions.functions.gradient(functions.encode(X)), which "
            "leaves out factors of the widths; for numbers alone fit KreinRidge, whose functions "
            "have gradients."
        )
