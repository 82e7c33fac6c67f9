r"""Sequential decisions on the proposals of several chains, without transfers from the device.

The algebra is that of :mod:`bochner.learning.chains.moves.replacement`, in another order. There an
acceptance updates the panels of all following proposals. Here it adds rows to two arrays,
``factors`` and ``scaled``, whose product is the change of the covariance so far,
:math:`P \leftarrow P + S^\top F`. Each proposal updates its panel when it is decided. Positions of
features are one-hot rows, so that all operations are matrix products, and a rejection adds rows of
zeros. The host reads the decisions of a block once, at its end: a transfer per proposal would take
longer than the products.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array, Index, Mask
from bochner._numerics.namespaces import DeviceArray, like, namespace, to_numpy
from bochner.learning.batched.evidence import BatchEvidence, numbers_of
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.moves.replacement import Proposals

FEATURES_PER_WAVE = 2
"""Features of a wave."""


@dataclass(slots=True, eq=False)
class _Block:
    """The arrays by which ``B`` proposals of each of ``C`` chains are decided, on the device."""

    places: DeviceArray  # (C, 2B, p): One-hot rows, the positions of the block's features
    columns: DeviceArray  # (C, 2B, p): Columns of P before the block, as rows
    propagated: DeviceArray  # (C, 2B, p): Rows of C' P before the block
    products: DeviceArray  # (C, 2B, p): C', products of proposed with current features
    within: DeviceArray  # (C, 2B, 2B): H, of proposed features with each other
    cross: DeviceArray  # (C, 2B): Of proposed features with the targets
    precision: DeviceArray  # (C, 1, 1)
    # The following arrays change with each acceptance
    mean: DeviceArray  # (C, p)
    target: DeviceArray  # (C, p): Products of current features with the targets
    explained: DeviceArray  # (C,)
    log_determinant: DeviceArray  # (C,)
    factors: DeviceArray  # (C, 4B, p): Rows whose outer products are the change of P
    scaled: DeviceArray  # (C, 4B, p)
    accepted: DeviceArray  # (C, 2B): One for features of accepted proposals, else zero


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """Coefficients of the log likelihood of a residual, and the variates of the decisions."""

    square: DeviceArray  # (C,)
    linear: DeviceArray  # (C,): Coefficients of the noise, see Noise.coefficients
    exponent: DeviceArray
    rate: DeviceArray
    log_ratio: DeviceArray  # (C, B)
    log_uniform: DeviceArray  # (C, B)

    def gain(self, before: DeviceArray, after: DeviceArray) -> DeviceArray:
        """Return the change of the log likelihood between two explained sums of squares."""
        xp = namespace(before)
        zero = xp.zeros_like(before)
        s, t = (xp.maximum(self.square - explained, zero) for explained in (before, after))
        ratio = (self.rate + 0.5 * t) / (self.rate + 0.5 * s)
        # A known variance has an exponent of zero, so that its rate does not matter.
        return -self.linear * (t - s) - self.exponent * xp.log(ratio)


def replace_frequencies(
    evidence: BatchEvidence, rows: BatchRows, proposals: Sequence[Proposals]
) -> Mask:
    """Decide a block of proposals of every chain; return a mask (C, B) of acceptances.

    The decisions are those of single chains. The evidence is updated in place.
    """
    index = np.stack([proposal.index for proposal in proposals])
    proposed = np.stack([proposal.omega for proposal in proposals])
    products, fresh = _products(evidence, rows, proposed)
    block = _block_of(evidence, index, *products)
    coefficients = np.array([evidence.noise.coefficients(d) for d in evidence.degrees])
    law = _Law(
        *(like(proposal, evidence.gram) for proposal in (evidence.square, *coefficients.T)),
        *(
            like(np.stack([getattr(proposal, name) for proposal in proposals]), evidence.gram)
            for name in ("log_ratio", "log_uniform")
        ),
    )
    for unit in range(index.shape[1]):
        _decide(block, law, unit)
    _carry_over(evidence, block)
    accepted: Mask = to_numpy(block.accepted)[:, ::FEATURES_PER_WAVE] > 0.5
    evidence.explained, evidence.log_determinant = numbers_of(
        block.explained, block.log_determinant
    )
    chain, units = np.nonzero(accepted)
    evidence.omega[chain, index[chain, units]] = proposed[chain, units]
    if fresh is not None:
        _keep(evidence.features, fresh, chain, index[chain, units], units)
    return accepted


def _products(
    evidence: BatchEvidence, rows: BatchRows, proposed: Array
) -> tuple[list[DeviceArray], DeviceArray]:
    """Return C', H, F'Wy and the features ``F`` of the proposals, or None if none are stored."""
    stored, fresh = evidence.features, None
    if stored is not None:
        fresh = rows.room(FEATURES_PER_WAVE * proposed.shape[1])

    def terms(chosen: slice) -> tuple[DeviceArray, ...]:
        F = rows.waves(proposed, chosen, evidence.n_waves)
        Z = rows.features(evidence.omega, chosen) if stored is None else stored[:, :, chosen]
        if fresh is not None:
            fresh[:, :, chosen] = F
        xp, weighted = namespace(F), rows.weighted(F, chosen)
        cross = F @ rows.target[:, chosen, None]
        outer = weighted @ xp.matrix_transpose(Z)
        return outer, F @ xp.matrix_transpose(weighted), cross[:, :, 0]

    return rows.total(terms, evidence.gram.shape[-1]), fresh


def _block_of(
    evidence: BatchEvidence,
    index: Index,
    products: DeviceArray,
    within: DeviceArray,
    cross: DeviceArray,
) -> _Block:
    xp, p = namespace(products), products.shape[-1]
    features = (FEATURES_PER_WAVE * index[:, :, None] + np.arange(FEATURES_PER_WAVE)).reshape(
        len(index), -1
    )
    places = like(np.eye(p)[features], evidence.gram)
    columns, propagated = places @ evidence.covariance, products @ evidence.covariance
    # One correction removes most of the rounding error of an ill-conditioned covariance.
    rest = products - propagated @ evidence.posterior_precision(evidence.precision)
    shape = (len(index), 2 * features.shape[1], p)
    none = xp.zeros(shape, dtype=products.dtype, device=products.device)
    return _Block(
        places=places,
        columns=columns,
        propagated=propagated + rest @ evidence.covariance,
        products=products,
        within=within,
        cross=cross,
        precision=like(evidence.precision[:, None, None], evidence.gram),
        mean=evidence.mean,
        target=evidence.cross,
        explained=like(evidence.explained, evidence.gram),
        log_determinant=like(evidence.log_determinant, evidence.gram),
        factors=none,
        scaled=xp.zeros_like(none),
        accepted=xp.zeros_like(cross),
    )


def _decide(block: _Block, law: _Law, unit: int) -> None:
    """Decide one proposal of every chain; update the block of chains that accept it."""
    xp = namespace(block.mean)
    of_unit = slice(FEATURES_PER_WAVE * unit, FEATURES_PER_WAVE * (unit + 1))
    at, up = block.places[:, of_unit, :], xp.matrix_transpose(block.places[:, of_unit, :])
    left, current, propagated = _up_to_date(block, of_unit)

    # The state without the unit's features: S_old = P_jj^{-1} and the posterior mean.
    old, lost_determinant = _inverted(left @ up)
    mean_of_unit = _times(at, block.mean)
    weights = _times(old, mean_of_unit)
    without = block.mean - _times(xp.matrix_transpose(left), weights)
    without = without - _times(up, _times(at, without))
    # T, the change of P C. Products with the old features cancel.
    change = propagated - (propagated @ up) @ old @ left
    change = change - (change @ up) @ at

    # The state with the proposal's features.
    remainder = block.cross[:, of_unit] - _times(current, without)
    unit_matrix = xp.eye(FEATURES_PER_WAVE, dtype=change.dtype, device=change.device)
    inner = block.within[:, of_unit, of_unit] - current @ xp.matrix_transpose(change)
    new, gained_determinant = _inverted(inner + block.precision * unit_matrix)
    gains = _times(new, remainder)
    explained = block.explained - _dot(weights, mean_of_unit) + _dot(gains, remainder)
    determinants = lost_determinant + gained_determinant
    ratio = law.gain(block.explained, explained) - 0.5 * determinants
    # Comparisons with NaN are false, so that matrices that are not positive definite are rejected.
    accepted = law.log_uniform[:, unit] < ratio + law.log_ratio[:, unit]

    change = change - at
    rows = slice(2 * of_unit.start, 2 * of_unit.stop)
    as_rows = accepted[:, None, None]
    pair = xp.concat((left, change), axis=1)
    block.factors[:, rows, :] = xp.where(as_rows, pair, xp.zeros_like(pair))
    pair = xp.concat((-(old @ left), new @ change), axis=1)
    block.scaled[:, rows, :] = xp.where(as_rows, pair, xp.zeros_like(pair))
    moved = without - _times(xp.matrix_transpose(change), gains)
    block.mean = xp.where(accepted[:, None], moved, block.mean)
    replaced = block.target + _times(up, block.cross[:, of_unit] - _times(at, block.target))
    block.target = xp.where(accepted[:, None], replaced, block.target)
    block.explained = xp.where(accepted, explained, block.explained)
    reached = block.log_determinant + determinants
    block.log_determinant = xp.where(accepted, reached, block.log_determinant)
    block.accepted[:, of_unit] = xp.where(
        accepted[:, None], xp.ones_like(remainder), xp.zeros_like(remainder)
    )


def _up_to_date(block: _Block, of_unit: slice) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return rows of P, C' and C' P (C, 2, p) of a unit, updated by all decisions so far."""
    xp, before = namespace(block.mean), slice(0, of_unit.start)
    left, current = block.columns[:, of_unit, :], block.products[:, of_unit, :]
    propagated = block.propagated[:, of_unit, :]
    if not of_unit.start:
        return left, current, propagated
    decided = slice(0, 2 * of_unit.start)
    factors = xp.matrix_transpose(block.factors[:, decided, :])
    scaled, places = block.scaled[:, decided, :], block.places[:, before, :]
    left = left + (block.places[:, of_unit, :] @ factors) @ scaled
    # Products of the unit's features with replaced features have changed.
    replaced = block.within[:, of_unit, before] - current @ xp.matrix_transpose(places)
    replaced = replaced * block.accepted[:, None, before]
    current = current + replaced @ places
    propagated = propagated + replaced @ block.columns[:, before, :]
    return left, current, propagated + (current @ factors) @ scaled


def _carry_over(evidence: BatchEvidence, block: _Block) -> None:
    """Update the posterior and the sums of features of the evidence, after all decisions."""
    xp = namespace(block.mean)
    evidence.covariance = evidence.covariance + xp.matrix_transpose(block.scaled) @ block.factors
    evidence.mean, evidence.cross = block.mean, block.target
    # Rows of accepted features, including their new products with each other.
    places = block.places * block.accepted[:, :, None]
    down = xp.matrix_transpose(places)
    current = block.products + (block.within - block.products @ down) @ places
    current = block.accepted[:, :, None] * current
    stays = 1.0 - xp.sum(places, axis=1)
    gram = evidence.gram * stays[:, :, None] + down @ current
    columns = xp.matrix_transpose(current)
    evidence.gram = gram * stays[:, None, :] + columns @ places


def _keep(
    features: DeviceArray, fresh: DeviceArray, chain: Index, wave: Index, unit: Index
) -> None:
    """Write features (C, 2B, n) of accepted units to their positions in ``features`` (C, p, n)."""
    for cosine_or_sine in range(FEATURES_PER_WAVE):
        to = FEATURES_PER_WAVE * wave + cosine_or_sine
        source = FEATURES_PER_WAVE * unit + cosine_or_sine
        features[chain, to] = fresh[chain, source]


def _inverted(matrix: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Return inverses (C, 2, 2) of symmetric matrices, and the logarithms of determinants (C,).

    Both are NaN for a matrix that is not positive definite.
    """
    xp = namespace(matrix)
    a, d = matrix[:, 0, 0], matrix[:, 1, 1]
    b = 0.5 * (matrix[:, 0, 1] + matrix[:, 1, 0])
    determinant = a * d - b * b
    definite = (a > 0.0) & (determinant > 0.0)
    nothing = xp.full_like(a, xp.nan)
    determinant = xp.where(definite, determinant, nothing)
    rows = xp.stack((xp.stack((d, -b), axis=-1), xp.stack((-b, a), axis=-1)), axis=-2)
    return rows / determinant[:, None, None], xp.log(determinant)


def _times(matrix: DeviceArray, vector: DeviceArray) -> DeviceArray:
    """Return products (C, r) of matrices (C, r, s) and vectors (C, s)."""
    return (matrix @ vector[:, :, None])[:, :, 0]


def _dot(first: DeviceArray, second: DeviceArray) -> DeviceArray:
    """Return the inner products (C,) of vectors (C, s)."""
    return namespace(first).sum(first * second, axis=-1)
