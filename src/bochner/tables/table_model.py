"""Base class of the models of tables: parameters, fitted attributes and explanations."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    LARGEST_COUNT,
    Array,
    ArrayLike,
    MatrixLike,
    RandomState,
    as_count,
    as_positive_scalar,
)
from bochner._base.checks import check_choice, check_seed, generators, refuse_lazy
from bochner._base.file_writing import as_path
from bochner._base.number_texts import as_bytes
from bochner._base.threads import checked_n_jobs
from bochner.features.chunks import MEANINGS
from bochner.files.columns import rows_of
from bochner.tables.contributions import Contributions, contributions
from bochner.tables.encoder import (
    MOST_ENCODED,
    TableEncoder,
    column_blocks,
    read_parts,
    read_rows,
    side_by_side,
)
from bochner.tables.encodings import KnownEntries
from bochner.tables.estimator_laws import checked_base_models
from bochner.tables.fit_plan import EFFORTS
from bochner.tables.new_rows import NewRows, RowKnowledge
from bochner.tables.sensitivity import (
    Dependence,
    Effect,
    VarianceShares,
    check_background,
    grids_of,
)
from bochner.tables.table_fit import FitSettings
from bochner.tables.table_rows import TableRows
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_BACKGROUND_ROWS = 1000
"""Training rows stored for importance and effects, for standard errors of a few per cent."""

Head = SumOfLaws | SoftmaxOfLaws


@dataclass(eq=False, repr=False)
class TableModel(BaseEstimator, ABC):
    """Base class of models with encoders, a weighted sum of base models, and explanations."""

    _: KW_ONLY
    effort: str = "default"
    time_limit: float | None = None
    memory_limit: int | str | None = None
    n_jobs: int | None = None
    base_models: Any = ()
    weights: str = "precisions"
    random_state: Any = None

    encoder_: TableEncoder = field(init=False)
    quantile_encoder_: TableEncoder = field(init=False)
    tail_encoder_: TableEncoder | None = field(init=False, default=None)
    head_: Head = field(init=False)
    weight_unit_: float = field(init=False)
    record_: dict[str, Any] = field(init=False)
    background_: Array = field(init=False)
    background_values_: Array = field(init=False)
    knowledge_: RowKnowledge = field(init=False)

    @abstractmethod
    def _outputs(self, encoded: Array) -> Array:
        """Return predictions of encoded rows to explain: (n,), (n, t) or probabilities (n, C)."""

    @abstractmethod
    def _output_names(self) -> NDArray[Any] | None:
        """Return the names of targets or classes; ``None`` for a single output."""

    @abstractmethod
    def _output_unit(self) -> Any:
        """Return numbers () or (t,) by which outputs are divided to be comparable."""

    @abstractmethod
    def _changes_by_column(self, rows: NewRows) -> Array:
        """Return changes (n, d, k) of outputs due to each column's numbers beyond its range."""

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter, also after loading from a file."""
        self._settings()

    def _settings(self) -> FitSettings:
        """Return the settings of a fit; raise an error for an invalid parameter."""
        check_choice("effort", self.effort, tuple(EFFORTS))
        check_choice("weights", self.weights, MEANINGS)
        if self.time_limit is not None:
            as_positive_scalar("time_limit", self.time_limit)
        memory_limit = None if self.memory_limit is None else as_bytes(self.memory_limit)
        checked_n_jobs(self.n_jobs)
        check_seed(self.random_state)
        models: tuple[Any, ...] = ()
        if self.base_models != ():
            models = checked_base_models(self.base_models, is_classifier(self))
        limits = self.time_limit, memory_limit, self.n_jobs
        return FitSettings(EFFORTS[self.effort], *limits, self.random_state, models)

    def _keep(self, rows: TableRows, encoders: list[TableEncoder], head: Head) -> None:
        """Set all fitted attributes that regressor and classifier share, or none on failure."""
        encoder, *_ = encoders
        trends = _trends(encoder, rows)
        # A fixed seed, so that the background rows do not depend on random_state.
        some = np.random.default_rng(0).permutation(len(rows.y))[:_BACKGROUND_ROWS]
        encoded, known = read_rows(encoders, rows_of(rows.X, some))
        knowledge = RowKnowledge.of(encoder.columns_, known, rows.n_given, trends)
        background = NewRows(encoded, encoded, knowledge, known, encoders).completed_once()
        self.n_features_in_ = encoder.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        self.encoder_, self.quantile_encoder_ = encoders[:2]
        self.tail_encoder_ = encoders[2] if len(encoders) > 2 else None
        self.head_, self.knowledge_ = head, knowledge
        self.weight_unit_ = rows.unit / rows.noise_unit
        self.record_ = {"n_samples": rows.n_given}
        self.background_, self.background_values_ = background

    def _new_rows(self, X: MatrixLike) -> NewRows:
        """Return encoded new rows, with masks of their missing, new and far entries."""
        return next(self._parts(X, LARGEST_COUNT)[1])

    def _parts(
        self, X: MatrixLike, most: int = MOST_ENCODED
    ) -> tuple[list[slice], Iterator[NewRows]]:
        """Return parts of new rows of at most ``most`` encoded entries, which bounds memory."""
        check_is_fitted(self, "head_")
        encoders = self._encoders()
        places, parts = read_parts(encoders, X, most)
        own = self.background_, self.knowledge_
        return places, (NewRows(encoded, *own, known, encoders) for encoded, known in parts)

    def unlike_rows(self, X: MatrixLike) -> dict[str, NDArray[np.bool_]]:
        """Return masks (n,) of rows of a table that differ from the training rows, by the reason.

        Predictions of such rows are averages over possible values of unknown entries, and intervals
        are wider. ``"missing"``: an entry is missing in a column that had no, or hardly any,
        missing entries at the fit. ``"new level"``: text that no training row had. ``"beyond the
        range"``: a number is greater or smaller than any of the fit, or a date is earlier.
        ``"later"``: a date is later than any of the fit, or a column that grows with the ``time``
        of the fit is greater.

        Examples
        --------
        >>> import pandas as pd
        >>> from bochner import TableRegressor
        >>> X = pd.DataFrame({"size": np.arange(60.0), "colour": ["red", "blue"] * 30})
        >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X["size"])
        >>> new = pd.DataFrame({"size": [1.0, 90.0], "colour": ["green", "red"]})
        >>> {reason: mask.tolist() for reason, mask in model.unlike_rows(new).items()}
        {'missing': [False, False], 'new level': [True, False],
         'beyond the range': [False, True], 'later': [False, False]}
        """
        return {why: np.any(mask, axis=1) for why, mask in self.unlike_entries(X).items()}

    def unlike_entries(self, X: MatrixLike) -> dict[str, NDArray[np.bool_]]:
        """Return masks (n, d) of the entries for which :meth:`unlike_rows` flags rows."""
        check_is_fitted(self, "head_")
        return self.knowledge_.unlike(self.encoder_.known(X))

    def encode(self, X: MatrixLike) -> Array:
        """Return the encoded columns (n, d_encoded) of a table, on which kernels are defined."""
        check_is_fitted(self, "head_")
        refuse_lazy("X", X)
        return side_by_side(self._encoders(), X)

    def _encoders(self) -> list[TableEncoder]:
        """Return the encoders whose concatenated outputs are the encoded columns."""
        encoders = (self.encoder_, self.quantile_encoder_, self.tail_encoder_)
        return [encoder for encoder in encoders if encoder is not None]

    def report(self, X: MatrixLike, y: ArrayLike | None, path: object = None) -> Any:
        """Return an HTML report on the model and its predictions of labelled rows.

        The report has errors with standard errors, predictions with intervals, calibration,
        residuals, importance, effects and checks in plain words. It is one HTML page that needs no
        network, and notebooks display it. It takes some seconds and needs the extra ``report``.

        Parameters
        ----------
        X : pandas.DataFrame, polars.DataFrame or array-like of shape (n, d)
            Rows, preferably held out: errors on training rows are too small.
        y : array-like of shape (n,) or (n, t)
            Targets of the rows; a Series or a DataFrame also gives their names.
        path : str or path-like, default=None
            HTML file to write the page to.

        Returns
        -------
        report : bochner.report.Report
            ``save(path)`` writes the page, and ``html`` holds it.

        Raises
        ------
        ImportError
            If jinja2, matplotlib or pandas is missing.
        ValueError
            If there are no rows, not as many targets as rows, or unknown classes.
        """
        check_is_fitted(self, "head_")
        try:
            from bochner.report.page import report_of  # Needs optional packages
        except ImportError as error:
            raise ImportError(
                f"Reports need {error.name}, which is not installed: run pip install "
                "'bochner[report]'."
            ) from error
        target = None if path is None else as_path(path)
        html_report = report_of(self, X, y)
        if target is not None:
            html_report.save(target)
        return html_report

    def importance(self) -> VarianceShares:
        """Return the total Sobol' index of each column: its share of the variance of predictions.

        The index is half of the mean squared change of the prediction, relative to its variance, if
        the value of the column in a training row is replaced by its value in another row. Squares
        are summed over class probabilities, or over several targets in units of their standard
        deviations. With interactions, the shares add up to more than one. The share of a column
        that is strongly correlated with another may exceed one.

        References
        ----------
        Jansen, "Analysis of variance designs for model output", 1999. Saltelli et al., "Variance
        based sensitivity analysis of model output", 2010.

        Examples
        --------
        >>> from bochner import TableRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 0] * X[:, 2])
        >>> sorted(model.importance().columns[:2]), model.interactions().columns[0]
        (['x0', 'x2'], ('x0', 'x2'))
        >>> model.effect("x0", "x2", n_values=5).mean.shape
        (5, 5)
        """
        return self._dependence(self._output_unit()).importance()

    def interactions(self, importance: VarianceShares | None = None) -> VarianceShares:
        """Return the share of the variance of predictions due to interactions of two columns.

        The superset importance of Liu and Owen ("Estimating mean dimensionality of analysis of
        variance decompositions", 2006), E[(f(x) - f(x with a) - f(x with b) + f(x with both))²] /
        (4 Var f(x)), where "x with a" has the value of column a of another row.
        It is zero if the effects of both columns are additive. Pairs are formed from the eight most
        important columns, without columns whose share is at most one per cent. The result of
        :meth:`importance`, which determines them, is computed unless given as ``importance``.
        """
        return self._dependence(self._output_unit()).interactions(importance)

    def effect(self, *columns: str, n_values: int = 24) -> Effect:
        """Return the partial dependence of predictions on one column, or on a grid of two columns.

        Predictions are averaged over 500 background rows with the column set to each value
        (Friedman, "Greedy function approximation", 2001). The averages have one column per class,
        or per target if there are several. Columns of an array have the names x0, x1, ... If the
        background rows have more than ``n_values`` different values, numbers at evenly spaced ranks
        or the most frequent levels are used. Raises ValueError if there is no such column, it had
        no features at fit, or there are not one or two different columns.
        """
        dependence, most = self._dependence(), as_count("n_values", n_values)
        states = {state["name"]: state for state in self.encoder_.columns_}
        grids = grids_of(dependence, states, self.background_values_, columns, most)
        dates = tuple(name for name in columns if states[name]["kind"] == "date")
        return dependence.effect(grids, self._output_names(), dates)

    @property
    def feature_importances_(self) -> Array:
        """Shares (d,) of :meth:`importance` in the order of the columns, computed at each access.

        scikit-learn's ``SelectFromModel`` and ``RFE`` read them.
        """
        importance = self.importance()
        shares = dict(zip(importance.columns, importance.share, strict=True))
        return np.array([shares[state["name"]] for state in self.encoder_.columns_])

    def contributions(
        self, X: MatrixLike, *, n_evaluations: int = 20_000, random_state: RandomState = None
    ) -> Contributions:
        """Return the Shapley values of each column of the table for the predictions of some rows.

        The prediction of a row is ``base``, the average prediction of the background rows, plus the
        ``values`` of all columns, interventional Shapley values. The entries of a background row
        are replaced by those of the explained row, one column after another; the value of a column
        is the change of the prediction at its replacement, averaged over all orders and background
        rows. If columns are strongly correlated, replaced values make rows unlike those of the
        table. For classes, contributions refer to the probabilities of :meth:`predict_proba`, and
        add up to zero over classes.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)
            Rows to explain.
        n_evaluations : int, default=20_000
            Total number of predictions for all rows. Values are exact if it suffices for all
            coalitions of columns with all background rows, at most ``1000 * n * (2**d - 2)``.
            Otherwise they are averages over random permutations, with at least eight permutations
            and their reverses per row.
        random_state : int, RandomState instance or None, default=None
            Seed of the permutations and of the sample of background rows.

        Returns
        -------
        Contributions
            ``columns``, ``base``, ``values`` (n, d), ``std_error`` (n, d) and ``prediction`` (n,);
            for classes or several targets ``base`` is (k,), ``values`` and ``std_error`` are
            (n, d, k), and ``prediction`` is (n, k).

        References
        ----------
        Lundberg and Lee, "A unified approach to interpreting model predictions", 2017. Mitchell,
        Cooper, Frank and Holmes, "Sampling permutations for Shapley value estimation", 2022.

        Examples
        --------
        >>> from bochner import TableRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 0] + X[:, 1])
        >>> found = model.contributions(X[:2], random_state=0)
        >>> bool(np.allclose(found.base + found.values.sum(axis=1), model.predict(X[:2])))
        True
        """
        dependence, count = self._dependence(), as_count("n_evaluations", n_evaluations)
        (rng,) = generators(random_state, 1)
        new, names = self._new_rows(X), self._output_names()
        completed, parts = new.distinct()
        found = contributions(dependence, completed, rng, count, names)
        return found.averaged(len(new), parts).plus(self._changes_by_column(new))

    def _dependence(self, unit: Any = 1.0) -> Dependence:
        """Return predictions divided by ``unit`` as a function of all encoded columns."""
        check_is_fitted(self, "head_")
        encoders = self._encoders()
        names = [state["name"] for state in self.encoder_.columns_]
        groups = dict(zip(names, column_blocks(encoders), strict=True))
        return Dependence(lambda X: self._outputs(X) / unit, self.background_, groups)

    def _answers(self, rows: NewRows) -> list[Array]:
        return [rows.averaged(self._outputs)]

    def _try_out(self) -> list[Array]:
        """Return all kinds of predictions of background rows; raise ValueError if they fail."""
        for encoder in self._encoders():
            if not hasattr(encoder, "columns_"):
                raise ValueError("an encoder of the table is not fitted")
            encoder._try_out()
        n_samples = self.record_.get("n_samples")
        if type(n_samples) is not int or n_samples < 1:
            raise ValueError(f"record_ has {n_samples!r:.60} for the number of rows of the fit")
        donors = self.knowledge_.donors.values
        check_background(self._encoders(), self.background_, self.background_values_, donors)
        encoded, values = self.background_[:20], self.background_values_[:20]
        known = KnownEntries(values, values != values, values != values, 0.0 * values)
        rows = NewRows(encoded, self.background_, self.knowledge_, known, self._encoders())
        answers = [*self._answers(rows), self._dependence(self._output_unit()).function(encoded)]
        if not all(np.isfinite(answer).all() for answer in answers):
            raise ValueError("a prediction of a row of the fit is not finite")
        return answers

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


def _trends(encoder: TableEncoder, rows: TableRows) -> dict[str, float]:
    """Return, by name, 1 or -1 for columns that grow or fall with the time of the rows."""
    if rows.order is None:
        return {}
    steps = np.diff(encoder.known(rows.X).values[rows.order], axis=0)
    signs = np.subtract((steps >= 0.0).all(axis=0), (steps <= 0.0).all(axis=0), dtype=float)
    names = (state["name"] for state in encoder.columns_)
    return {name: sign for name, sign in zip(names, signs.tolist(), strict=True) if sign}
