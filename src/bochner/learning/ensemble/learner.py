"""Fitting the laws of a table, and predicting the rows that each leaves out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.progress import Progress
from bochner._numerics.threads import in_order, single_threaded_blas
from bochner.kernels import Exponential, Laplacian, Matern
from bochner.learning.ensemble.kernel_laws import KernelLaw, LeftOut, exact, on_landmarks
from bochner.learning.ensemble.length_scales import Found, LearnedKernel
from bochner.learning.ensemble.rows import Chosen, Rows
from bochner.learning.ensemble.search import Family, learned, noise_factor
from bochner.registry import register

_MOST_SCORED = 5000
"""Most rows that are scored: the error of a quantile is below one per cent in rank."""

_FEWEST_OTHERS = 500
"""Fewest rows without a part in the search or among landmarks that are scored alone: their scores'
quantile of 90 per cent is accurate to 1.3 per cent in rank."""

_NOISE_ROWS = 1600
"""Rows that correct the noise found by the search, in a third of a second for each law."""

_VARIANCE_LANDMARKS = 1000
"""Landmarks of variances, which are smoother than means, and whose matrix the model keeps."""

_HOPELESS = 1.5
"""Errors this many times the least in the search: such laws get next to no weight in the sum."""

_SEARCH_SHARE = 0.5
"""Share of a time limit after which no search for a kernel begins; fits need the rest."""

_ROUGH = Family(Laplacian)
"""Functions with kinks along every input, as those of trees have steps."""

_TURNED = Family(Exponential, is_mapped=True)
"""Functions with kinks in any direction."""

_SMOOTH = Family(lambda length: Matern(length, nu=2.5), is_mapped=True)
"""Functions with two derivatives."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes of everything that takes time."""

    families: Mapping[str, tuple[Family, int]]  # By name, with the number of encodings
    search_rows: int
    most_exact: int  # Rows that are fitted exactly
    n_landmarks: int  # Of more rows


_RICH = {"rough": (_ROUGH, 3), "smooth": (_SMOOTH, 3), "turned": (_TURNED, 2)}

EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort({"rough": (_ROUGH, 2), "smooth": (_SMOOTH, 2)}, 400, 3000, 1500),
        "default": Effort(_RICH, 1000, 10_000, 3000),
        "thorough": Effort(_RICH, 2000, 15_000, 6000),
    }
)
"""Sizes by name."""


@register(shapes={"rows": "nd"})
@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Several laws of the same targets on the same rows."""

    rows: Array  # (n, d)
    members: list[KernelLaw]

    def means(self, X: Array) -> Array:
        """Return the laws' means (n', K, t) at encoded rows (n', d)."""
        return self._stacked(X, lambda law, part: law.mean(part, self.rows))

    def variances(self, X: Array) -> Array:
        """Return the laws' variances (n', K) of new targets at encoded rows (n', d)."""
        return self._stacked(X, lambda law, part: law.variance(part, self.rows))

    def _stacked(self, X: Array, values: Callable[[KernelLaw, Array], Array]) -> Array:
        def block(rows: slice) -> Array:
            return np.stack([values(law, X[rows]) for law in self.members], axis=1)

        blocks = list(row_blocks(len(X), 8 * len(self.rows)))
        with single_threaded_blas() as n_threads:
            return np.concatenate([part for _, part in in_order(block, blocks, n_threads)])


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Laws, and what they predict at rows that they were not fitted to."""

    laws: Laws
    scored: Chosen  # (s,): Numbers of rows
    means: Array  # (s, K, t)
    variances: Array  # (s, K)


@dataclass(frozen=True, slots=True)
class Learner:
    """How to fit the laws of a table; see :class:`bochner.TableRegressor`."""

    effort: Effort
    n_threads: int
    time_limit: float | None
    progress: Progress

    def fit(
        self,
        rows: Rows,
        encodings: Sequence[Chosen],
        rng: Generator,
        *,
        latest: NDArray[np.bool_] | None = None,
        with_variance: bool = True,
    ) -> Judged:
        """Return the laws of encoded rows with targets of variance about one.

        ``encodings`` are sets of columns, each the whole table; all of them together are one more.
        Rows that no search has seen are scored if they are many, else all rows, by kernels that the
        other half of the rows has learned; only those marked by ``latest`` if it is given.
        """
        began = perf_counter()
        order_rng, search_rng = rng.spawn(2)
        order = order_rng.permutation(len(rows))
        rows = rows.part(order)
        sets = [*encodings, np.unique(np.concatenate(encodings))]
        trials = [
            ((name, family), columns)
            for name, (family, count) in self.effort.families.items()
            for columns in sets[:count]
        ]
        few = min(len(rows), self.effort.search_rows)
        fresh = max(few, _VARIANCE_LANDMARKS)
        has_fresh = len(rows) >= fresh + _FEWEST_OTHERS
        scored = np.arange(fresh if has_fresh else 0, len(rows))
        if latest is not None:
            scored = np.flatnonzero(latest[order])
        scored = scored[:_MOST_SCORED]
        n_landmarks = len(rows)
        if has_fresh:
            n_landmarks = _VARIANCE_LANDMARKS
        if not with_variance:
            n_landmarks = 0

        halves = rows.part(np.arange(few)).halves()
        with single_threaded_blas():
            found = self._searched(rows, trials, few, began, search_rng)
        fitted: list[tuple[KernelLaw, LeftOut]] = []
        for name, columns, result in found:
            if fitted and self._is_late(began, 1.0):
                break
            self.progress(f"fitting a {name} kernel to all rows")
            law, (means, variances) = self._fitted(
                name, result.whole, rows, columns, n_landmarks, scored
            )
            if not has_fresh and latest is None:
                for seen, half in zip(halves[::-1], range(2), strict=True):
                    _, (mean, variance) = exact(
                        name,
                        result.halves[half],
                        rows,
                        columns,
                        n_landmarks,
                        self.n_threads,
                        halves[half],
                    )
                    means[seen], variances[seen] = mean[seen], variance[seen]
            elif with_variance and rows.groups is None:
                variances[scored] = law.variance(rows.X[scored], rows.X)
            fitted.append((law, (means[scored], variances[scored])))
        members, left_out = zip(*fitted, strict=True)
        means, variances = (np.stack(part, axis=1) for part in zip(*left_out, strict=True))
        return Judged(Laws(rows.X, list(members)), order[scored], means, variances)

    def _is_late(self, began: float, share: float) -> bool:
        return self.time_limit is not None and perf_counter() - began > share * self.time_limit

    def _searched(
        self,
        rows: Rows,
        trials: Sequence[tuple[tuple[str, Family], Chosen]],
        few: int,
        began: float,
        rng: Generator,
    ) -> list[tuple[str, Chosen, Found]]:
        """Return the kernels found in the time that there is, at least one, the best first."""
        seeds = rng.spawn(len(trials))
        some = rows.part(np.arange(few))
        most = rows.part(np.arange(min(len(rows), _NOISE_ROWS)))

        def search(number: int) -> list[tuple[str, Chosen, Found]]:
            (name, family), columns = trials[number]
            if number and self._is_late(began, _SEARCH_SHARE):
                return []
            self.progress(f"learning a {name} kernel")
            return [(name, columns, learned(family, some.columns(columns), seeds[number]))]

        def corrected(entry: tuple[str, Chosen, Found]) -> tuple[str, Chosen, Found]:
            name, columns, found = entry
            factor = noise_factor(found.whole, most.columns(columns))
            return name, columns, found.with_noise(factor)

        results = in_order(search, range(len(trials)), self.n_threads)
        found = sorted((part for _, parts in results for part in parts), key=lambda e: e[2].error)
        found = [entry for entry in found if entry[2].error <= _HOPELESS * found[0][2].error]
        if len(most) == few:
            return found
        return [entry for _, entry in in_order(corrected, found, self.n_threads)]

    def _fitted(
        self,
        name: str,
        found: LearnedKernel,
        rows: Rows,
        columns: Chosen,
        n_landmarks: int,
        scored: Chosen,
    ) -> tuple[KernelLaw, LeftOut]:
        if len(rows) <= self.effort.most_exact:
            return exact(name, found, rows, columns, n_landmarks, self.n_threads)
        sizes = self.effort.n_landmarks, n_landmarks
        return on_landmarks(name, found, rows, columns, sizes, scored, self.n_threads)
