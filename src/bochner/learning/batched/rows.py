"""Rows of several chains on a device."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.namespaces import like, namespace, retyped, widened
from bochner.learning.chains.training_data import TrainingData

KEPT_BYTES = 4 * 2**30
"""Features of all rows of all chains are kept on the device up to this size: a quarter of a small
GPU. Half makes chains of more rows compute theirs in every pass; twice may not fit."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchRows:
    """Rows of ``C`` chains, filled up with rows without weight to equally many.

    Arrays lie on the device, in the type of the features; totals lie on the host.
    """

    parts: tuple[TrainingData, ...]  # The rows of each chain on the host
    inputs: Any  # (C, d, n)
    target: Any  # (C, n): The pseudo-targets w y
    weight: Any  # (C, n), or None where all weights are one
    fixed: Any  # (C, q, n)
    total_square: Array  # (C,)

    @classmethod
    def of(cls, parts: Sequence[TrainingData], home: Any) -> "BatchRows":
        """Return the rows of all chains in the namespace and on the device of ``home``.

        The type of ``home`` is that of the features.
        """
        most = max(part.n_samples for part in parts)
        is_even = all(part.weight is None and part.n_samples == most for part in parts)
        weights = [np.ones(p.n_samples) if p.weight is None else p.weight for p in parts]
        return cls(
            parts=tuple(parts),
            inputs=_together([part.inputs for part in parts], home),
            target=_together([part.target for part in parts], home),
            weight=None if is_even else _together(weights, home),
            fixed=_together([part.fixed for part in parts], home),
            total_square=np.array([part.total_square for part in parts]),
        )

    def reweighted(self, given: Sequence[tuple[Array, Array]]) -> "BatchRows":
        """Return the rows with weights ``w`` and pseudo-targets ``w y`` (n,) of each chain."""
        weights, targets = zip(*given, strict=True)
        return replace(
            self,
            weight=_together(weights, self.inputs),
            target=_together(targets, self.inputs),
            total_square=np.array([float(np.sum(t**2 / w)) for w, t in given]),
        )

    @property
    def n_observations(self) -> Array:
        """Number of observations in the data of each chain, of shape (C,)."""
        return np.array([part.n_observations for part in self.parts])

    @property
    def n_chains(self) -> int:
        """Number of chains, ``C``."""
        return int(self.target.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of rows of a chain, those without weight included."""
        return int(self.target.shape[1])

    @property
    def n_fixed(self) -> int:
        """Number of fixed columns, ``q``."""
        return int(self.fixed.shape[1])

    def features(self, omega: Array, rows: slice) -> Any:
        """Return features (C, p, n) of frequencies (C, m, d) at some rows, then fixed columns."""
        waves = self.waves(omega, rows, omega.shape[1])
        return namespace(waves).concat((waves, self.fixed[:, :, rows]), axis=1)

    def waves(self, omega: Array, rows: slice, n_waves: int) -> Any:
        r"""Return the features (C, 2k, n) of some frequencies (C, k, d) of ``n_waves``.

        They are :math:`m^{-1/2} \cos(\omega_j \cdot x)` and sines in turn, as in
        :class:`~bochner.learning.chains.training_data.TrainingData`.
        """
        xp, (n_chains, size, _) = namespace(self.inputs), omega.shape
        angle = like(omega, self.inputs) @ self.inputs[:, :, rows]
        pairs = xp.stack((xp.cos(angle), xp.sin(angle)), axis=2)
        return xp.reshape(pairs, (n_chains, 2 * size, angle.shape[2])) * (1.0 / np.sqrt(n_waves))

    def values(self, omega: Array, beta: Any, kept: Any) -> Any:
        """Return functions of weights ``beta`` (C, p) at all rows (C, n).

        Features are those ``kept`` (C, p, n), or made anew.
        """
        narrow = retyped(beta, self.inputs.dtype)[:, None, :]
        made = [
            (narrow @ (self.features(omega, rows) if kept is None else kept[:, :, rows]))[:, 0, :]
            for rows in self.blocks(beta.shape[1])
        ]
        return made[0] if len(made) == 1 else namespace(made[0]).concat(made, axis=1)

    def weighted(self, features: Any, rows: slice) -> Any:
        """Return features (C, p, n) of some rows times their weights."""
        return features if self.weight is None else features * self.weight[:, None, rows]

    def room(self, p: int) -> Any:
        """Return an empty array (C, p, n) for the features of all rows, or None for too many."""
        shape = (self.n_chains, p, self.n_samples)
        size = np.prod(shape, dtype=np.float64) * (4 if _is_single(self.inputs) else 8)
        xp = namespace(self.inputs)
        if size > KEPT_BYTES:
            return None
        return xp.empty(shape, dtype=self.inputs.dtype, device=self.inputs.device)

    def blocks(self, p: int) -> Iterator[slice]:
        """Yield slices of the rows whose features (C, p, rows) fit into a block of the device."""
        width = 8 * p * self.n_chains
        return row_blocks(self.n_samples, width, block_bytes=limits.DEVICE_BLOCK_BYTES)

    def total(self, terms: Callable[[slice], tuple[Any, ...]], p: int) -> list[Any]:
        """Return sums over blocks of rows of the arrays that ``terms`` makes, in float64.

        A device without float64 adds in float32.
        """
        sums: list[Any] = []
        for rows in self.blocks(p):
            made = [widened(term) for term in terms(rows)]
            sums = [a + b for a, b in zip(sums, made, strict=True)] if sums else made
        return sums


def _together(values: Sequence[Array], home: Any) -> Any:
    """Return arrays of each chain as one on a device, their last axes filled up with zeros."""
    most = max(own.shape[-1] for own in values)
    short = [(0, 0)] * (values[0].ndim - 1)
    filled = [np.pad(own, [*short, (0, most - own.shape[-1])]) for own in values]
    return like(np.stack(filled), home)


def _is_single(values: Any) -> bool:
    return bool(values.dtype == namespace(values).float32)
