"""Models of whole tables with one kernel on random features, chosen by evidence."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.progress import Progress
from bochner._numerics.threads import single_threaded_blas
from bochner.estimators.inputs import refuse_asymmetric
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import TableModel
from bochner.estimators.table_rows import TableRows
from bochner.features.parameters import count_frequencies, generators
from bochner.kernels import Kernel, named_kernel
from bochner.learning.families import (
    ANOVA_FAMILIES,
    FAMILIES,
    GAUSSIAN_FAMILY,
    MATERN_FAMILY,
    Family,
)
from bochner.learning.kernel_search import ExactEvidence, PairCriterion, search_kernel
from bochner.tables.encoder import TableEncoder

ENCODINGS: tuple[Literal["standardize", "normal_quantile"], ...] = (
    "standardize",
    "normal_quantile",
)
"""Encodings of numbers that models of tables compare or use side by side."""

_MOST_QMC_INPUTS = 256
"""Most encoded columns for quasi-Monte Carlo frequencies; beyond, Sobol' points are no more even
than orthogonal blocks, and they take longer to scramble."""

_SEARCH_ROWS = 800
"""Rows of the search for kernels by exact evidence, whose time grows with the cube of the rows."""

_CHOICE_ROWS = 5000
"""Rows of the choice among the kernels found, with random features: time grows linearly."""

_SEARCHED: Mapping[str, Sequence[Family]] = {
    "auto": FAMILIES,
    "gaussian": (GAUSSIAN_FAMILY,),
    "matern": (MATERN_FAMILY,),
    "anova": ANOVA_FAMILIES,
}
"""Families of kernels to search, by the value of ``kernel``."""

Choice = tuple[TableEncoder, Array, Sequence[Kernel | str]]


@dataclass(eq=False, repr=False)
class FixedKernelTable(TableModel):
    """A table model that chooses a kernel by evidence and fits a ridge head on its features."""

    _head_class: ClassVar[type[RidgeHead]]
    _criterion: ClassVar[type[PairCriterion]]

    kernel: Kernel | str = "auto"
    n_components: int = 1024
    _: KW_ONLY
    random_state: Any = None

    @abstractmethod
    def _head_target(self, rows: TableRows) -> NDArray[Any]:
        """Return the target (n,) of the head."""

    @abstractmethod
    def _search_targets(self, y: NDArray[Any]) -> Array:
        """Return targets (n, t) of order one for the search, given those of the head."""

    def _learn(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, Any]:
        return self._fixed(rows, progress)

    def _fixed(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, RidgeHead]:
        """Return the encoder and the head on features of the kernel of greatest evidence."""
        count_frequencies(self.n_components)
        self._check_kernel()
        if rows.removal.groups is not None:
            raise ValueError(
                "groups and time need rows to be left out, and a single kernel is chosen by "
                "evidence: leave them out, or use kernel='auto' with method='auto'."
            )
        y = self._head_target(rows)
        search_rng, choice_rng, head_rng = generators(self.random_state, 3)
        seed = int(head_rng.integers(2**31))
        # On matrices this small, threads of BLAS cost more than they gain.
        with single_threaded_blas():
            choices = self._choices(rows.X, self._search_targets(y), search_rng, progress)
            progress("choosing among the fitted kernels")
            some = choice_rng.permutation(len(y))[:_CHOICE_ROWS]
            encoder, table, head = self._best(choices, some, y, seed)
        progress("fitting all rows")
        head.fit(table, y, rows.given_weights)
        return encoder, head

    def _check_kernel(self) -> None:
        if isinstance(self.kernel, Kernel):
            refuse_asymmetric(self.kernel, associated=False)
        elif not isinstance(self.kernel, str):
            raise TypeError(
                f"kernel must be one of {', '.join(map(repr, _SEARCHED))}, the name of another "
                f"kernel, or a Kernel, got {self.kernel!r}."
            )
        elif self.kernel not in _SEARCHED:
            named_kernel(self.kernel, also=_SEARCHED)

    def _choices(
        self, X: Any, targets: Array, rng: np.random.Generator, progress: Progress
    ) -> list[Choice]:
        """Return encoders, each with the encoded table and kernels to choose from."""
        encoders = [TableEncoder(numeric=numeric) for numeric in ENCODINGS]
        tables = [as_array(encoder.fit_transform(X, targets)) for encoder in encoders]
        if not isinstance(self.kernel, str) or self.kernel not in _SEARCHED:
            pairs = zip(encoders, tables, strict=True)
            return [(encoder, table, [self._kernel_on(encoder)]) for encoder, table in pairs]
        rows = rng.permutation(len(targets))[:_SEARCH_ROWS]
        found = search_kernel(
            [table[rows] for table in tables],
            targets[rows],
            rng,
            families=_SEARCHED[self.kernel],
            criterion=self._criterion,
            progress=progress,
        )
        encodings = [candidate.encoding for candidate in found]
        kernels = [candidate.kernels for candidate in found]
        return [(encoders[i], tables[i], some) for i, some in zip(encodings, kernels, strict=True)]

    def _kernel_on(self, encoder: TableEncoder) -> Kernel | str:
        """Return the kernel, its columns by position among those that an encoder makes."""
        if not isinstance(self.kernel, Kernel):
            return self.kernel
        return self.kernel.resolved(encoder.get_feature_names_out().tolist())

    def _best(
        self, choices: list[Choice], rows: NDArray[np.intp], y: NDArray[Any], seed: int
    ) -> tuple[TableEncoder, Array, RidgeHead]:
        """Return the encoder, the table and the head with the greatest evidence on some rows.

        The first kernels of all choices are compared. Richer kernels of the best choice
        are tried as long as the evidence grows. They are not tried for classes, whose indicators
        are not Gaussian, so that the evidence is no guide there.
        """

        def fitted(table: Array, kernel: Kernel | str) -> Any:
            encoded = table[rows]
            scheme = "qmc" if encoded.shape[1] <= _MOST_QMC_INPUTS else "orthogonal"
            options: dict[str, Any] = {"fit_intercept": True, "random_state": seed}
            # Kernels that were searched for, or given, keep the length scales they have.
            length_scale = "evidence" if isinstance(kernel, str) else "median"
            options |= {"length_scale": length_scale, "scheme": scheme}
            head = self._head_class(kernel, self.n_components, "evidence", **options)
            return head.fit(encoded, y[rows])

        heads = [fitted(table, kernels[0]) for _, table, kernels in choices]
        best = max(range(len(heads)), key=lambda index: heads[index].log_evidence_)
        head, (encoder, table, kernels) = heads[best], choices[best]
        for kernel in kernels[1:] if self._criterion is ExactEvidence else ():
            richer = fitted(table, kernel)
            if richer.log_evidence_ <= head.log_evidence_:
                break
            head = richer
        return encoder, table, head
