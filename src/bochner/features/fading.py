r"""Gradual replacement of features in a model of a stream, without a jump in predictions.

Let :math:`g(x) = z(x) \cdot w` be the function before a refresh. The function after it is

.. math:: f(x) = \sqrt s\, g(x) + \sqrt{1 - s}\, h(x), \qquad h(x) = z'(x) \cdot w',

with new features :math:`z'`, independent prior weights :math:`w, w' \sim N(0, (\sigma^2 / \alpha)
I)`, and the share :math:`s` of the rows before the refresh in the weight of all rows. Its prior
kernel is :math:`s k + (1 - s) k'`. Rows before the refresh are observations of :math:`g`, and rows
after it of :math:`f`.

At the refresh :math:`s = 1`, and :math:`f` has the posterior of :math:`g`. As new rows arrive and
earlier rows are forgotten or removed, :math:`s` falls to zero; :math:`f` is then a function of the
new features, determined only by rows after the refresh. In between, the model is one ridge
regression: rows before the refresh have the features :math:`[z, 0]`, and rows after it
:math:`[\sqrt s\, z, \sqrt{1 - s}\, z']`. The sums over both sets of rows are stored separately, for
unit shares, so that no row is needed again when the shares change.

:math:`g` keeps its prior. With the prior variance :math:`s` in place of one, the fit to rows before
the refresh would become worse and worse, and these rows would count as noise.

Sources: Kulhavý and Zarrop, "On a general concept of forgetting", 1993, and Ibrahim and Chen,
"Power prior distributions for regression models", 2000, for weights that fall with age; Van
Vaerenbergh, Lázaro-Gredilla and Santamaría, "Kernel recursive least-squares tracker for
time-varying regression", 2012, for functions that return to their prior.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.features.stats import NOT_AMONG, FeatureSums
from bochner.kernels import Kernel
from bochner.spectral.frequencies import Frequencies

_ROUNDING = 1e-6
"""Relative rounding error of float32 products that remains in sums after rows are removed."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class FadingFeatures:
    """The features before and after a refresh, while the former fade.

    Parameters
    ----------
    earlier, later : Frequencies
        Frequencies before and after the refresh.
    earlier_kernel, later_kernel : Kernel
        Kernels that these frequencies approximate.
    before : FeatureSums
        Sums over the rows before the refresh, of the earlier features.
    tolerance : float
        Greatest ``change`` at which the earlier features are dropped.
    change : float, default=None
        Change of predictions if the earlier features were dropped, in standard deviations of the
        residuals, at its last computation. ``None`` before the first one.
    earlier_checks, later_checks : Frequencies, default=None
        Check frequencies of both, whose features are summed next to theirs.
    """

    earlier: Frequencies
    later: Frequencies
    earlier_kernel: Kernel
    later_kernel: Kernel
    before: FeatureSums
    tolerance: float
    change: float | None = None
    earlier_checks: Frequencies | None = None
    later_checks: Frequencies | None = None

    def __post_init__(self) -> None:
        if (self.earlier_checks is None) != (self.later_checks is None):
            raise ValueError("Checks of the earlier and of the later features need each other.")
        if self.before.gram.shape != 2 * (len(self.earlier_columns),):
            raise ValueError(
                f"before has sums of {len(self.before.gram)} features; earlier has "
                f"{len(self.earlier_columns)}."
            )
        if self.earlier.dim != self.later.dim:
            raise ValueError(f"earlier has {self.earlier.dim} inputs, later has {self.later.dim}.")

    @property
    def joint(self) -> Frequencies:
        """The frequencies of both and their checks, with unit shares."""
        waves = self.earlier + self.later
        if self.earlier_checks is None or self.later_checks is None:
            return waves
        return waves + self.earlier_checks + self.later_checks

    @property
    def earlier_columns(self) -> NDArray[np.intp]:
        """Indices of the earlier features among all features: cosines, then sines."""
        is_earlier = self._is_earlier
        return np.flatnonzero(np.concatenate((is_earlier, is_earlier)))

    @property
    def later_columns(self) -> NDArray[np.intp]:
        """Indices of the later features among all features."""
        is_later = ~self._is_earlier
        return np.flatnonzero(np.concatenate((is_later, is_later)))

    @property
    def _is_earlier(self) -> NDArray[np.bool_]:
        """Whether a frequency of :attr:`joint` is an earlier one, of shape (m,)."""
        each = (self.earlier, self.later, self.earlier_checks, self.later_checks)
        counts = [0 if part is None else part.n_frequencies for part in each]
        return np.repeat([True, False, True, False], counts)

    def share(self, since: FeatureSums) -> float:
        """Return the share of the rows before the refresh, given the sums over later rows."""
        return self.before.weight / (self.before.weight + since.weight)

    def factors(self, share: float) -> Array:
        """Return the factors of both features, of shape (p,)."""
        factors = np.full(2 * len(self._is_earlier), np.sqrt(1.0 - share))
        factors[self.earlier_columns] = np.sqrt(share)
        return factors

    def mixed(self, share: float) -> tuple[Frequencies, Frequencies | None, Kernel]:
        """Return frequencies and checks of both, weighted by their shares, and the prior kernel.

        With the share one they are the earlier ones.
        """
        if share == 1.0:
            return self.earlier, self.earlier_checks, self.earlier_kernel
        frequencies, checks = (
            _mixture(earlier, later, share)
            for earlier, later in (
                (self.earlier, self.later),
                (self.earlier_checks, self.later_checks),
            )
        )
        assert frequencies is not None
        kernel = share * self.earlier_kernel + (1.0 - share) * self.later_kernel
        return frequencies, checks, kernel

    def total(self, since: FeatureSums) -> FeatureSums:
        """Return the sums over all rows that determine the weights of :meth:`mixed`."""
        share = self.share(since)
        if share == 1.0:
            return self.before
        total, before, columns = (
            since.scaled(self.factors(share)),
            self.before,
            self.earlier_columns,
        )
        # In place, because the Gram matrix may fill much of the memory.
        total.gram[np.ix_(columns, columns)] += before.gram
        total.cross[columns] += before.cross
        total.features[columns] += before.features
        return replace(
            total,
            square=total.square + before.square,
            targets=total.targets + before.targets,
            weight=total.weight + before.weight,
            n_samples=total.n_samples + before.n_samples,
            n_fractional=total.n_fractional + before.n_fractional,
            n_remembered=total.n_remembered + before.n_remembered,
            log_weight=total.log_weight + before.log_weight,
        )

    def nothing(self) -> FeatureSums:
        """Return the sums over no rows after the refresh."""
        p, t = 2 * len(self._is_earlier), len(self.before.square)
        of_features = np.zeros((p, p)), np.zeros((p, t)), np.zeros(t), np.zeros(p)
        return FeatureSums(*of_features, np.zeros(t), 0.0, 0)

    def later_sums(self, since: FeatureSums) -> FeatureSums:
        """Return the sums of the later features over the rows after the refresh."""
        return since.at(self.later_columns)

    def aged(self, factor: float) -> "FadingFeatures":
        """Return the features with the weights of the rows before the refresh times ``factor``."""
        return self if factor == 1.0 else replace(self, before=self.before.weighted(factor))

    def without(self, removed: FeatureSums) -> "FadingFeatures | None":
        """Return the features without some rows before the refresh; ``None`` if no row is left."""
        if removed.n_samples < self.before.n_samples:
            return replace(self, before=self.before - removed)
        if removed.n_samples > self.before.n_samples:
            raise ValueError(
                f"Rows before a refresh are taken out first, and alone: {self.before.n_samples} of "
                f"them are left, got {removed.n_samples} rows."
            )
        left: Array = np.diagonal(self.before.gram) - np.diagonal(removed.gram)
        if np.abs(left).max() > _ROUNDING * np.diagonal(self.before.gram).max():
            raise ValueError(NOT_AMONG)
        return None


def _mixture(
    earlier: Frequencies | None, later: Frequencies | None, share: float
) -> Frequencies | None:
    if earlier is None or later is None:
        return None
    weighted = earlier.with_weights(share * earlier.weight)
    return weighted + later.with_weights((1.0 - share) * later.weight)
