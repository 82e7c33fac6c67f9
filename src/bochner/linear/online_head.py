"""Online ridge regression: add, forget and remove rows, and refresh the random features."""

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from bochner._base import limits
from bochner._base.amounts import as_bytes
from bochner._base.arrays import LengthScale, MatrixLike, RandomState, as_finite_scalar
from bochner._base.whole_fits import all_or_nothing
from bochner.features.checks import CheckedMap
from bochner.features.chunks import Chunk
from bochner.features.fading import FadingFeatures
from bochner.features.median_length_scales import AnyKernel, kernel_name
from bochner.features.parameters import generators
from bochner.features.region import check_rows
from bochner.features.residual import FeatureMap
from bochner.features.stats import NOT_AMONG, FeatureSums, chunk_sums
from bochner.features.targets import Targets
from bochner.kernels import Kernel
from bochner.linear.faded_features import prediction_change
from bochner.linear.inputs import checked_alpha
from bochner.linear.iterative import IterativeSolution
from bochner.linear.predictions import LinearSolution
from bochner.linear.ridge_head import RidgeHead
from bochner.linear.ridge_posterior import RidgePosterior
from bochner.linear.solver_plan import RidgePlan, RidgeProblem, plan_ridge
from bochner.spectral.frequencies import Frequencies

_HALF = 0.5
"""Share of the earlier features in the prior variance below which dropping them is tried: above it
they dominate the predictions, and solving without them would waste time."""


class OnlineHead(RidgeHead, ABC):
    """Base of the ridge models whose sums over rows can be updated."""

    @property
    @abstractmethod
    def _targets(self) -> Targets:
        """The map from targets to the numeric columns that the model fits."""

    @abstractmethod
    def _later(self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Chunk:
        """Return validated rows of a batch after the first."""

    @all_or_nothing
    def refresh(
        self,
        X: MatrixLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        kernel: AnyKernel | str | None = None,
        length_scale: LengthScale | str | None = None,
        random_state: RandomState = None,
        tolerance: float = 0.05,
    ) -> Self:
        r"""Draw new frequencies without changing the predictions.

        The rows are only used to choose the length scale, as in the first batch; the model is not
        fitted to them. Means and standard deviations do not change. Let :math:`g` be the function
        before the refresh and :math:`h` a function of the new features. Rows that
        :meth:`partial_fit` adds afterwards are observations of

        .. math:: f(x) = \sqrt s\, g(x) + \sqrt{1 - s}\, h(x),

        where :math:`s` is the share of the rows before the refresh in the weight of all rows, and
        :math:`g` and :math:`h` are independent a priori: the prior kernel of :math:`f` is
        :math:`s k + (1 - s) k'`. As the earlier rows are forgotten, :math:`s` falls to zero, and
        the model becomes that of the later rows and the new features alone.

        Until the earlier features are dropped, the sums take five times the memory of the sums of
        one set of features. :meth:`partial_fit` with ``forgetting`` below one drops them as soon as
        predictions change by no more than ``tolerance``. ``KreinRidge.forget`` drops them, without
        a further change, when it removes the last of the rows before the refresh.

        Parameters
        ----------
        X, y, sample_weight
            Recent rows, as in :meth:`fit`. Targets are only used by ``length_scale="evidence"``.
        kernel, length_scale : default=None
            Kernel and length scale of the new features; ``None`` means the parameter of the model,
            which the refresh does not change. A kernel object includes its length scale.
        random_state : int, RandomState instance or None, default=None
            Seed of the new frequencies.
        tolerance : float, default=0.05
            Largest change of predictions at which the earlier features are dropped. It is the
            greater of two numbers at the rows since the refresh: the root mean square change of the
            mean divided by the root mean square residual, and the change of the log predictive
            standard deviation. With the default, the mean square change is at most 1/400 of the
            mean square residual.

        Raises
        ------
        ValueError
            If features from before an earlier refresh are still needed, because predictions would
            change by more than ``tolerance`` without them; if the model has ``residual`` or was
            fitted by conjugate gradients; if both sets of features exceed ``memory_limit``; or if
            the kernel is a function.

        Examples
        --------
        >>> import numpy as np
        >>> from bochner import KreinRidge
        >>> X = np.linspace(0.0, 1.0, 200)[:, None]
        >>> y = np.sin(9.0 * X[:, 0])
        >>> model = KreinRidge(length_scale=1.0, random_state=0).partial_fit(X, y)
        >>> before = model.predict(X)
        >>> model = model.refresh(X, y, length_scale=0.1, random_state=1)
        >>> bool((model.predict(X) == before).all())
        True
        >>> for _ in range(10):
        ...     model = model.partial_fit(X, y, forgetting=0.99)
        >>> model.kernel_, model.fading_
        (Gaussian(length_scale=0.1), None)
        """
        check_is_fitted(self, "posterior_")
        tolerance = as_finite_scalar("tolerance", tolerance)
        if tolerance < 0.0:
            raise ValueError(f"tolerance must not be negative, got {tolerance}.")
        rows = self._later(X, y, sample_weight)
        if self.fading_ is not None:
            self._end_earlier_refresh(self.fading_, tolerance)
        if self.residual_ is not None:
            raise ValueError("refresh needs features of frequencies alone: use residual=None.")
        sums, earlier = self._kept_sums(), self.frequencies_
        drawing = copy(self)
        changes = {"kernel": kernel, "length_scale": length_scale}
        drawing.set_params(**{name: each for name, each in changes.items() if each is not None})
        later_kernel, approximation = drawing._approximation(
            rows, self._targets, *generators(random_state, 3)
        )
        checks, later_checks = self.checks_, self._checks_of(approximation)
        if checks is not None and later_checks is None:
            sums = sums.at(CheckedMap.of(earlier, checks).main_columns)
        both = checks is not None and later_checks is not None
        fading = FadingFeatures(
            earlier,
            approximation.frequencies,
            _kernel_object(self.kernel_),
            _kernel_object(later_kernel),
            sums,
            tolerance,
            earlier_checks=checks if both else None,
            later_checks=later_checks if both else None,
        )
        self._plan(fading.joint)
        self.fading_, self.sums_ = fading, fading.nothing()
        self._region = approximation.region
        return self

    def _end_earlier_refresh(self, fading: FadingFeatures, tolerance: float) -> None:
        """Drop the features before an earlier refresh, or raise ValueError."""
        since = self._kept_sums()
        share, rows = fading.share(since), fading.later_sums(since)
        if share == 1.0:  # No row has been added since the earlier refresh
            if fading.earlier_checks is None:  # The later kernel has none
                alpha = checked_alpha(self.alpha)
                self.posterior_ = self._solve(fading.before, fading.earlier, None, alpha)
            self._use(fading.mixed(share), fading.before)
            return
        later = self._solve(rows, fading.later, fading.later_checks, checked_alpha(self.alpha))
        change = _change(fading, since, self.posterior_, later)
        if change > tolerance:
            raise ValueError(
                f"The features before the last refresh have a share of {share:.3g}, and "
                f"predictions would change by {change:.3g} without them, which is more than "
                f"tolerance={tolerance:g}. Learn more rows with forgetting below one first, or "
                f"set a greater tolerance."
            )
        self._use((fading.later, fading.later_checks, fading.later_kernel), rows)
        self.posterior_ = later

    def _add_rows(self, rows: Chunk, *, forgetting: float = 1.0) -> None:
        """Add rows to the sums over earlier rows, and solve.

        Each new row multiplies the weights of earlier ones by ``forgetting``.
        """
        before, factor, fading = self._kept_sums(), forgetting ** len(rows), self.fading_
        sums = before.weighted(factor) if forgetting < 1.0 else before
        sums += self._sums_of(rows.aged(forgetting), self._learning_features)
        if fading is None:
            alpha = checked_alpha(self.alpha)
            self.posterior_ = self._solve(sums, self._features, self.checks_, alpha)
            self.sums_ = sums
        else:
            self._learn_both(fading.aged(factor), sums, may_drop=forgetting < 1.0)

    def _learn_both(self, fading: FadingFeatures, since: FeatureSums, *, may_drop: bool) -> None:
        """Solve on the features before and after a refresh; drop the earlier ones if allowed."""
        share, alpha = fading.share(since), checked_alpha(self.alpha)
        mixed = fading.mixed(share)
        self.posterior_ = self._solve(fading.total(since), *mixed[:2], alpha)
        self._use(mixed, since)
        if may_drop and share <= _HALF:
            rows = fading.later_sums(since)
            later = self._solve(rows, fading.later, fading.later_checks, alpha)
            change = _change(fading, since, self.posterior_, later)
            if change <= fading.tolerance or share <= limits.NEGLIGIBLE:
                self._use((fading.later, fading.later_checks, fading.later_kernel), rows)
                self.posterior_ = later
                return
            fading = replace(fading, change=change)
        self.fading_ = fading

    def _remove_rows(self, rows: Chunk) -> None:
        """Remove rows from the sums, first the rows before a refresh, and solve."""
        sums, fading = self._kept_sums(), self.fading_
        if fading is None:
            after = sums - self._sums_of(rows, self._summed_features)
            self.posterior_ = self._solve_rest(after, sums, self._features, self.checks_)
            self.sums_ = after
            return
        before = self._sums_of(rows, fading.joint).at(fading.earlier_columns)
        remaining = fading.without(before)
        if remaining is None:
            if not sums.n_samples:
                raise ValueError("At least one row must be left, and none came since the refresh.")
            later = fading.later_sums(sums)
            alpha = checked_alpha(self.alpha)
            self.posterior_ = self._solve(later, fading.later, fading.later_checks, alpha)
            self._use((fading.later, fading.later_checks, fading.later_kernel), later)
            return
        mixed = remaining.mixed(remaining.share(sums))
        self.posterior_ = self._solve_rest(remaining.total(sums), fading.total(sums), *mixed[:2])
        self._use(mixed, sums)
        self.fading_ = remaining

    def _try_out(self) -> None:
        """Raise ValueError unless rows could be added to a model that was loaded."""
        if self.sums_ is None:  # No rows can be added
            return
        self._plan(self._learning_features)
        sums = self._solved_sums  # Of all rows, those before a refresh included
        assert sums is not None
        if not sums.are_of_rows:
            raise ValueError(f"sums over {sums.n_samples} rows of total weight {sums.weight:g}")
        if self.fading_ is not None:
            sums = self._kept_sums()
            p = self.fading_.joint.n_features
            if len(sums.gram) != p:
                raise ValueError(f"sums of {len(sums.gram)} features, and {p} since a refresh")

    def _use(
        self, features: tuple[Frequencies, Frequencies | None, Kernel], sums: FeatureSums
    ) -> None:
        """Set the frequencies, checks and kernel in use, and end a refresh."""
        frequencies, self.checks_, self.kernel_ = features
        self.frequencies_, self.sums_ = frequencies, sums
        self.signature_, self.fading_ = frequencies.signature, None

    @property
    def _learning_features(self) -> FeatureMap:
        """The features of the stored sums: both sets after a refresh, with unit shares."""
        return self._summed_features if self.fading_ is None else self.fading_.joint

    @property
    def _solved_sums(self) -> FeatureSums | None:
        """The sums over all rows of the features in use, from which the solution is computed."""
        if self.sums_ is None or self.fading_ is None:
            return self.sums_
        return self.fading_.total(self.sums_)

    def _kept_sums(self) -> FeatureSums:
        if self.sums_ is None:
            raise ValueError(
                "This model was fitted by conjugate gradients, which keep no sums that rows could "
                "be added to. Use solver='cholesky', or fit to all rows."
            )
        return self.sums_

    def _plan(self, features: FeatureMap) -> tuple[RidgeProblem, RidgePlan]:
        n_checks = 0 if self.checks_ is None else self.checks_.n_features
        problem = self._problem(features, self._targets, checked_alpha(self.alpha), n_checks)
        # Rows of earlier batches are gone, so that conjugate gradients cannot pass over them.
        problem = replace(problem, is_repeatable=False)
        return problem, plan_ridge(problem, self.solver, as_bytes(self.memory_limit))

    def _sums_of(self, rows: Chunk, features: FeatureMap) -> FeatureSums:
        """Return the sums over rows; raise ValueError for rows outside the kernel's domain."""
        check_rows(self.kernel_, self._region, rows.X)
        problem, plan = self._plan(features)
        return chunk_sums([rows], features, self._targets, problem.product_dtype, plan.block_bytes)

    def _solve_rest(
        self,
        remaining: FeatureSums,
        before: FeatureSums,
        features: FeatureMap,
        checks: Frequencies | None,
    ) -> LinearSolution:
        """Return the solution after a removal; raise ValueError if no rows have such sums."""
        try:
            posterior = self._solve(remaining, features, checks, checked_alpha(self.alpha))
        except np.linalg.LinAlgError as error:
            raise ValueError(NOT_AMONG) from error
        # Sums of squared residuals of actual rows are not negative.
        coef = posterior.law.coef if isinstance(posterior, RidgePosterior) else posterior.coef
        if remaining.misfit(coef, posterior.intercept, before).min() < 0.0:
            raise ValueError(NOT_AMONG)
        return posterior


def _kernel_object(kernel: AnyKernel) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"refresh adds kernels, which must be of bochner.kernels, got {kernel_name(kernel)}."
        )
    return kernel


def _change(
    fading: FadingFeatures, since: FeatureSums, joint: LinearSolution, later: LinearSolution
) -> float:
    # Conjugate gradients keep no sums, so that a refresh is refused.
    assert not isinstance(joint, IterativeSolution)
    assert not isinstance(later, IterativeSolution)
    return prediction_change(fading, since, joint, later)
