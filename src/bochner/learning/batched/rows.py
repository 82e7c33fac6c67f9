"""Rows of several chains on a device."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bochner._numerics import limits
from bochner._numerics.arrays import Array, Floats, row_blocks
from bochner._numerics.namespaces import DeviceArray, like, namespace, retyped, widened
from bochner.learning.chains.training_data import TrainingData

KEPT_BYTES = 4 * 2**30
"""Largest size of the features of all rows and chains that are stored on the device: a quarter of a
small GPU. Larger features are recomputed in every pass. Twice the size may not fit."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchRows:
    """Rows of ``C`` chains, padded with rows of weight zero to equal numbers.

    Arrays are on the device, in the type of the features; totals are on the host.
    """

    parts: tuple[TrainingData, ...]  # The rows of each chain on the host
    inputs: DeviceArray  # (C, d, n)
    target: DeviceArray  # (C, n): The pseudo-targets w y
    weight: DeviceArray  # (C, n), or None if all weights are one
    fixed: DeviceArray  # (C, q, n)
    total_square: Array  # (C,)

    @classmethod
    def of(cls, parts: Sequence[TrainingData], home: DeviceArray) -> "BatchRows":
        """Return the rows of all chains in the namespace and on the device of ``home``.

        Features have the type of ``home``.
        """
        most = max(part.n_samples for part in parts)
        # Without padding and weights, products with weights can be skipped.
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

    def reweighted(self, weights_and_targets: Sequence[tuple[Array, Array]]) -> "BatchRows":
        """Return the rows with weights ``w`` and pseudo-targets ``w y`` (n,) of each chain."""
        weights, targets = zip(*weights_and_targets, strict=True)
        return replace(
            self,
            weight=_together(weights, self.inputs),
            target=_together(targets, self.inputs),
            total_square=np.array([float(np.sum(t**2 / w)) for w, t in weights_and_targets]),
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
        """Number of rows of a chain, padding included."""
        return int(self.target.shape[1])

    @property
    def n_fixed(self) -> int:
        """Number of fixed columns, ``q``."""
        return int(self.fixed.shape[1])

    def features(self, omega: Array, rows: slice) -> DeviceArray:
        """Return features (C, p, n) of frequencies (C, m, d), then fixed columns, at some rows."""
        waves = self.waves(omega, rows, omega.shape[1])
        return namespace(waves).concat((waves, self.fixed[:, :, rows]), axis=1)

    def waves(self, omega: Array, rows: slice, n_waves: int) -> DeviceArray:
        r"""Return the features (C, 2k, n) of some frequencies (C, k, d) of ``n_waves``.

        They are :math:`m^{-1/2} \cos(\omega_j \cdot x)` and sines in turn, as in
        :class:`~bochner.learning.chains.training_data.TrainingData`.
        """
        xp, (n_chains, size, _) = namespace(self.inputs), omega.shape
        angle = like(omega, self.inputs) @ self.inputs[:, :, rows]
        pairs = xp.stack((xp.cos(angle), xp.sin(angle)), axis=2)
        return xp.reshape(pairs, (n_chains, 2 * size, angle.shape[2])) * (1.0 / np.sqrt(n_waves))

    def values(self, omega: Array, beta: DeviceArray, stored: DeviceArray) -> DeviceArray:
        """Return the functions (C, n) with weights ``beta`` (C, p) at all rows.

        ``stored`` are the features (C, p, n) of all rows, or ``None`` to compute them.
        """
        narrow = retyped(beta, self.inputs.dtype)[:, None, :]
        blocks = [
            (narrow @ (self.features(omega, rows) if stored is None else stored[:, :, rows]))[
                :, 0, :
            ]
            for rows in self.blocks(beta.shape[1])
        ]
        return blocks[0] if len(blocks) == 1 else namespace(blocks[0]).concat(blocks, axis=1)

    def weighted(self, features: DeviceArray, rows: slice) -> DeviceArray:
        """Return features (C, p, n) of some rows times their weights."""
        return features if self.weight is None else features * self.weight[:, None, rows]

    def room(self, p: int) -> DeviceArray:
        """Return an empty array (C, p, n) for the features of all rows; None if it is too large."""
        shape = (self.n_chains, p, self.n_samples)
        size = np.prod(shape, dtype=np.float64) * (4 if _is_single(self.inputs) else 8)
        xp = namespace(self.inputs)
        if size > KEPT_BYTES:
            return None
        return xp.empty(shape, dtype=self.inputs.dtype, device=self.inputs.device)

    def blocks(self, p: int) -> Iterator[slice]:
        """Yield slices of rows whose features (C, p, rows) fit into a block on the device."""
        # 8 bytes per number, an upper bound for float32 features.
        width = 8 * p * self.n_chains
        return row_blocks(self.n_samples, width, block_bytes=limits.DEVICE_BLOCK_BYTES)

    def total(self, terms: Callable[[slice], tuple[DeviceArray, ...]], p: int) -> list[DeviceArray]:
        """Return sums over blocks of rows of the arrays that ``terms`` returns, in float64.

        A device without float64 adds in float32.
        """
        sums: list[DeviceArray] = []
        for rows in self.blocks(p):
            terms_of_block = [widened(term) for term in terms(rows)]
            sums = (
                [a + b for a, b in zip(sums, terms_of_block, strict=True)]
                if sums
                else terms_of_block
            )
        return sums


def _together(values: Sequence[Floats], home: DeviceArray) -> DeviceArray:
    """Return the arrays of all chains stacked on a device, with last axes padded with zeros."""
    most = max(array.shape[-1] for array in values)
    short = [(0, 0)] * (values[0].ndim - 1)
    filled = [np.pad(array, [*short, (0, most - array.shape[-1])]) for array in values]
    return like(np.stack(filled), home)


def _is_single(values: DeviceArray) -> bool:
    return bool(values.dtype == namespace(values).float32)
