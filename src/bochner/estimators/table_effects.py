"""What models of whole tables depend on: columns, pairs, effects, and single predictions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array, as_count
from bochner._numerics.limits import LARGEST_ENTRY
from bochner.diagnosis.contributions import Contributions, contributions
from bochner.diagnosis.evaluators import Evaluator, RowFunction, owners_of
from bochner.diagnosis.sensitivity import Dependence, Effect, VarianceShares
from bochner.features.parameters import generators
from bochner.learning.ensemble.ensemble import SoftmaxOfLaws, SumOfLaws
from bochner.learning.ensemble.exchanges import MixedRows, at_mixed_rows
from bochner.tables.encoder import TableEncoder, side_by_side
from bochner.tables.encodings import grid, output_names


@dataclass(frozen=True, slots=True, eq=False)
class _SumsOfLaws:
    """The function of a sum of laws: exchanges of columns update its kernel values."""

    of_rows: RowFunction
    outputs: Callable[[MixedRows], Array]

    def predict(self, X: Array) -> Array:
        return self.of_rows.predict(X)

    def exchanged(self, pool: Array, sources: NDArray[np.intp]) -> Array:
        outputs = self.outputs(MixedRows(pool, sources, self.of_rows.owners))
        return outputs.reshape(len(sources), -1)


class ExplainedTable(ABC):
    """A model of a table whose predictions are functions of all encoded columns."""

    encoder_: TableEncoder
    head_: Any
    background_: Array | None = None
    background_values_: Array | None = None

    def importance(self) -> VarianceShares:
        r"""Return the share of the variance of predictions that involves each column of the table.

        The total Sobol' index, :math:`E[(f(x) - f(x'_a, x_{-a}))^2] / (2 \operatorname{Var} f(x))`:
        training rows ``x`` take column ``a`` from other rows ``x'``. All encoded columns of a
        column move together. Squares are summed over class probabilities, or over several targets
        in units of their standard deviations. With interactions, shares add up to more than one.
        Each of two strongly correlated columns may have more than one, because exchanges make rows
        unlike those of the table.

        Raises ValueError if the model is from a file written before this method existed.

        References
        ----------
        Jansen, "Analysis of variance designs for model output", 1999. Saltelli et al., "Variance
        based sensitivity analysis of model output", 2010.

        Examples
        --------
        >>> from bochner import TableRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> model = TableRegressor("gaussian", 128, random_state=0).fit(X, X[:, 0] * X[:, 2])
        >>> sorted(model.importance().columns[:2]), model.interactions().columns[0]
        (['x0', 'x2'], ('x0', 'x2'))
        >>> model.effect("x0", "x2", n_values=5).mean.shape
        (5, 5)
        """
        return self._dependence(self._units()[1]).importance()

    def interactions(self) -> VarianceShares:
        r"""Return the share of the variance of predictions that involves pairs of columns together.

        The superset importance of Liu and Owen ("Estimating mean dimensionality of analysis of
        variance decompositions", 2006), :math:`E[(f(x) - f(x'_a, x_{-a}) - f(x'_b, x_{-b}) +
        f(x'_{ab}, x_{-ab}))^2] / (4 \operatorname{Var} f(x))`, with rows as in :meth:`importance`.
        It is zero if the effects of both columns add up. Pairs are those of the eight most
        important columns whose shares are more than one per cent.

        Raises ValueError if the model is from a file written before this method existed.
        """
        return self._dependence(self._units()[1]).interactions()

    def effect(self, *columns: str, n_values: int = 24) -> Effect:
        """Return predictions averaged over rows, along one column or over the grid of two.

        Several targets have a column of averages each, as classes have.

        At each value all rows get that value and keep their other columns (partial dependence:
        Friedman, "Greedy function approximation", 2001).

        Parameters
        ----------
        *columns : str
            One or two names; those of an array are x0, x1, ...
        n_values : int, default=24
            Largest number of values of a column: all that the background rows have, or else numbers
            at evenly spaced ranks, or the most frequent levels.

        Raises
        ------
        ValueError
            If there is no such column, it had no features at fit, there are not one or two
            different columns, or the model is from a file written before this method existed.
        """
        dependence, most = self._dependence(), as_count("n_values", n_values)
        states = {state["name"]: state for state in self.encoder_.columns_}
        are_names = all(isinstance(column, str | int) for column in columns)
        if not are_names or len(columns) not in (1, 2) or len(set(columns)) < len(columns):
            raise ValueError(f"effect takes one column or two different ones, got {columns}.")
        unknown = [name for name in columns if not len(dependence.groups.get(name, ()))]
        if unknown:
            used = ", ".join(repr(name) for name, group in dependence.groups.items() if len(group))
            reason = "had no features at fit" if unknown[0] in states else "is not in the table"
            raise ValueError(f"Column {unknown[0]!r} {reason}. Columns with effects are {used}.")
        assert self.background_values_ is not None  # With the other rows
        values = dict(zip(states, self.background_values_.T, strict=True))
        grids = {
            name: grid(states[name], values[name], dependence.X[:, dependence.groups[name]], most)
            for name in columns
        }
        return dependence.effect(grids, self._names_of_outputs())

    def contributions(
        self, X: Any, *, n_evaluations: int = 20_000, random_state: Any = None
    ) -> Contributions:
        r"""Return how much each column of the table contributes to the predictions of some rows.

        ``base``, the average prediction of the background rows, plus the ``values`` of all columns
        is the prediction. The values are interventional Shapley values: what a column changes when
        the prediction moves from a background row to the row, one column after the other, on
        average over all orders and background rows. All encoded columns of a column move together.
        Strongly correlated columns make rows unlike those of the table.

        Classes have contributions to their probabilities, as :meth:`predict_proba` returns them:
        they add up to zero over classes, and need no reference class, as log odds would.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)
            Rows to explain.
        n_evaluations : int, default=20_000
            Number of predictions that the rows share, some thousands a second for models of 2,000
            rows. Values are exact if it suffices for all coalitions of columns with all background
            rows, at most :math:`1000 n (2^d - 2)`. Else they are averages over random permutations,
            at least eight and their reverses for each row, even if these take more.
        random_state : int, RandomState instance or None, default=None
            Seed of the permutations and of the sample of background rows.

        Returns
        -------
        Contributions
            ``columns``, ``base``, ``values`` (n, d), ``std_error`` (n, d) and ``prediction`` (n,);
            for classes or several targets ``base`` is (k,), ``values`` and ``std_error`` are
            (n, d, k), and ``prediction`` is (n, k).

        Raises
        ------
        ValueError
            If the table is not valid, or the model is from a file written before background rows
            were kept.

        References
        ----------
        Lundberg and Lee, "A unified approach to interpreting model predictions", 2017. Mitchell,
        Cooper, Frank and Holmes, "Sampling permutations for Shapley value estimation", 2022.

        Examples
        --------
        >>> from bochner import TableRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> model = TableRegressor("gaussian", 128, random_state=0).fit(X, X[:, 0] + X[:, 1])
        >>> found = model.contributions(X[:2], random_state=0)
        >>> bool(np.allclose(found.base + found.values.sum(axis=1), model.predict(X[:2])))
        True
        """
        dependence, count = self._dependence(), as_count("n_evaluations", n_evaluations)
        (rng,) = generators(random_state, 1)
        names = self._names_of_outputs()
        return contributions(dependence, self._encoded(X), rng, count, names)

    def _names_of_outputs(self) -> NDArray[Any] | None:
        """Return the classes, names of several targets, or ``None`` for a single target."""
        scales = self._units()[1]
        several = np.array([f"target {number}" for number in range(np.size(scales))])
        return getattr(self, "classes_", several if np.ndim(scales) else None)

    def _dependence(self, unit: Any = 1.0) -> Dependence:
        """Return the model as a function of all encoded columns, grouped by the table's columns.

        Its values are those of the model, divided by ``unit``.
        """
        check_is_fitted(self, "head_")
        if self.background_ is None:
            raise ValueError("The model file is older than this method: fit the model again.")
        states = [state for encoder in self._encoders() for state in encoder.columns_]
        sources = np.array([state["name"] for state in states for _ in output_names(state)])
        groups = {s["name"]: np.flatnonzero(sources == s["name"]) for s in self.encoder_.columns_}
        owners = owners_of(groups, self.background_.shape[1])
        of_rows = RowFunction(lambda X: self._outputs(self._used(X)) / unit, owners)
        evaluator: Evaluator = of_rows
        if isinstance(self.head_, SumOfLaws | SoftmaxOfLaws):
            of_mixed = copy(self)
            of_mixed.head_ = at_mixed_rows(self.head_, owners)
            evaluator = _SumsOfLaws(of_rows, lambda rows: of_mixed._outputs(rows) / unit)
        return Dependence(evaluator, self.background_, groups)

    def _units(self) -> tuple[Any, Any]:
        """Return shift and scale, () or (t,), from the head's target to the table's."""
        return 0.0, 1.0

    def _encoders(self) -> list[TableEncoder]:
        """Return the encoders whose outputs, side by side, are all encoded columns."""
        return [self.encoder_]

    def _encoded(self, X: Any) -> Array:
        """Return all encoded columns of a table."""
        return side_by_side(self._encoders(), X)

    def _used(self, encoded: Array) -> Array:
        """Return those of all encoded columns on which the head is defined."""
        return encoded

    def _try_out(self) -> None:
        """Refuse background rows of other columns than the table's, as after loading a file."""
        for encoder in self._encoders():
            encoder._try_out()
        if self.background_ is None or self.background_values_ is None:
            return
        n_rows, n_encoded = self.background_.shape
        n_outputs = sum(len(encoder.get_feature_names_out()) for encoder in self._encoders())
        expected = (n_rows or 1, len(self.encoder_.columns_))
        if n_encoded != n_outputs or self.background_values_.shape != expected:
            raise ValueError("the rows kept for importance are not those of the table's columns")
        if np.abs(self.background_).max() > LARGEST_ENTRY:
            raise ValueError("the rows kept for importance are larger than any encoded column")
        for state, values in zip(self.encoder_.columns_, self.background_values_.T, strict=True):
            if (
                state["kind"] == "text"
                and not np.isin(values, np.arange(len(state["levels"]) + 1)).all()
            ):
                raise ValueError(f"the rows kept for importance have no levels of {state['name']}")

    @abstractmethod
    def _outputs(self, encoded: Any) -> Array:
        """Return predictive means, (n,) or (n, t), or class probabilities of encoded rows."""
