r"""Proposals of several chains, decided one after another without a look at the device in between.

The algebra is that of :mod:`bochner.learning.chains.moves.replacement`, in another order. There an
acceptance changes the panels of all proposals that follow. Here it adds rows to two arrays,
``factors`` and ``scaled``, whose product is the change of the covariance so far,
:math:`P \leftarrow P + S^\top F`, and each proposal brings its own panel up to date when its turn
comes. Places of features are one-hot rows, so that all of it is products of matrices, and a refusal
is a row of zeros: the host sees the decisions of a block together, at its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, Index, Mask
from bochner._numerics.namespaces import like, namespace, to_numpy
from bochner.learning.batched.evidence import BatchEvidence, numbers_of
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.moves.replacement import Proposals

FEATURES_PER_WAVE = 2
"""Features of a wave."""


@dataclass(slots=True, eq=False)
class _Block:
    """What decides ``B`` proposals of each of ``C`` chains; arrays on the device."""

    places: Any  # (C, 2B, p): One-hot rows, the places of the block's features
    columns: Any  # (C, 2B, p): Columns of P before the block, as rows
    propagated: Any  # (C, 2B, p): Rows of C' P before the block
    products: Any  # (C, 2B, p): C', products of proposed with current features
    within: Any  # (C, 2B, 2B): H, of proposed features with each other
    cross: Any  # (C, 2B): Of proposed features with the targets
    precision: Any  # (C, 1, 1)
    # What acceptances change
    mean: Any  # (C, p)
    target: Any  # (C, p): Products of current features with the targets
    explained: Any  # (C,)
    log_determinant: Any  # (C,)
    factors: Any  # (C, 4B, p): Rows whose outer products are the change of P
    scaled: Any  # (C, 4B, p)
    accepted: Any  # (C, 2B): One for features of accepted proposals, zero for others


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """The numbers of the log likelihood of a residual, and the variates that decide."""

    square: Any  # (C,)
    linear: Any  # (C,): Coefficients of the noise, see Noise.coefficients
    exponent: Any
    rate: Any
    log_ratio: Any  # (C, B)
    log_uniform: Any  # (C, B)

    def gain(self, before: Any, after: Any) -> Any:
        """Return the change of the log likelihood between two explained sums of squares."""
        xp = namespace(before)
        zero = xp.zeros_like(before)
        s, t = (xp.maximum(self.square - one, zero) for one in (before, after))
        ratio = (self.rate + 0.5 * t) / (self.rate + 0.5 * s)
        # A known variance has an exponent of zero, and any rate.
        return -self.linear * (t - s) - self.exponent * xp.log(ratio)


def replace_frequencies(
    evidence: BatchEvidence, rows: BatchRows, proposals: Sequence[Proposals]
) -> Mask:
    """Decide a block of proposals of every chain; return which were accepted, of shape (C, B).

    Every chain makes the decisions that it would make alone. The evidence is updated in place.
    """
    index = np.stack([each.index for each in proposals])
    proposed = np.stack([each.omega for each in proposals])
    made, fresh = _products(evidence, rows, proposed)
    block = _block_of(evidence, index, *made)
    coefficients = np.array([evidence.noise.coefficients(d) for d in evidence.degrees])
    law = _Law(
        *(like(each, evidence.gram) for each in (evidence.square, *coefficients.T)),
        *(
            like(np.stack([getattr(each, name) for each in proposals]), evidence.gram)
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
    chain, taken = np.nonzero(accepted)
    evidence.omega[chain, index[chain, taken]] = proposed[chain, taken]
    if fresh is not None:
        _keep(evidence.features, fresh, chain, index[chain, taken], taken)
    return accepted


def _products(evidence: BatchEvidence, rows: BatchRows, proposed: Array) -> tuple[list[Any], Any]:
    """Return C', H, F'Wy and the features ``F`` of the proposals, or None if none are stored."""
    kept, fresh = evidence.features, None
    if kept is not None:
        fresh = rows.room(FEATURES_PER_WAVE * proposed.shape[1])

    def terms(chosen: slice) -> tuple[Any, ...]:
        F = rows.waves(proposed, chosen, evidence.n_waves)
        Z = rows.features(evidence.omega, chosen) if kept is None else kept[:, :, chosen]
        if fresh is not None:
            fresh[:, :, chosen] = F
        xp, weighted = namespace(F), rows.weighted(F, chosen)
        cross = F @ rows.target[:, chosen, None]
        outer = weighted @ xp.matrix_transpose(Z)
        return outer, F @ xp.matrix_transpose(weighted), cross[:, :, 0]

    return rows.total(terms, evidence.gram.shape[-1]), fresh


def _block_of(
    evidence: BatchEvidence, index: Index, products: Any, within: Any, cross: Any
) -> _Block:
    xp, p = namespace(products), products.shape[-1]
    features = (FEATURES_PER_WAVE * index[:, :, None] + np.arange(FEATURES_PER_WAVE)).reshape(
        len(index), -1
    )
    places = like(np.eye(p)[features], evidence.gram)
    columns, propagated = places @ evidence.covariance, products @ evidence.covariance
    # One correction takes most of the rounding of an ill-conditioned covariance away.
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
    """Decide one proposal of every chain, and carry it through the block where it is accepted."""
    xp = namespace(block.mean)
    own = slice(FEATURES_PER_WAVE * unit, FEATURES_PER_WAVE * (unit + 1))
    at, up = block.places[:, own, :], xp.matrix_transpose(block.places[:, own, :])
    left, current, propagated = _up_to_date(block, own)

    # The state without the unit's features: S_old = P_jj^{-1} and the posterior mean.
    old, lost_determinant = _inverted(left @ up)
    there = _times(at, block.mean)
    weights = _times(old, there)
    without = block.mean - _times(xp.matrix_transpose(left), weights)
    without = without - _times(up, _times(at, without))
    # T, the change of P C: products with the old features themselves cancel.
    change = propagated - (propagated @ up) @ old @ left
    change = change - (change @ up) @ at

    # The state with the proposal's features.
    remainder = block.cross[:, own] - _times(current, without)
    unit_matrix = xp.eye(FEATURES_PER_WAVE, dtype=change.dtype, device=change.device)
    inner = block.within[:, own, own] - current @ xp.matrix_transpose(change)
    new, gained_determinant = _inverted(inner + block.precision * unit_matrix)
    gains = _times(new, remainder)
    explained = block.explained - _dot(weights, there) + _dot(gains, remainder)
    determinants = lost_determinant + gained_determinant
    ratio = law.gain(block.explained, explained) - 0.5 * determinants
    # Comparisons with NaN are false: where rounding leaves no positive definite matrix.
    accepted = law.log_uniform[:, unit] < ratio + law.log_ratio[:, unit]

    change = change - at
    rows = slice(2 * own.start, 2 * own.stop)
    as_rows = accepted[:, None, None]
    pair = xp.concat((left, change), axis=1)
    block.factors[:, rows, :] = xp.where(as_rows, pair, xp.zeros_like(pair))
    pair = xp.concat((-(old @ left), new @ change), axis=1)
    block.scaled[:, rows, :] = xp.where(as_rows, pair, xp.zeros_like(pair))
    moved = without - _times(xp.matrix_transpose(change), gains)
    block.mean = xp.where(accepted[:, None], moved, block.mean)
    replaced = block.target + _times(up, block.cross[:, own] - _times(at, block.target))
    block.target = xp.where(accepted[:, None], replaced, block.target)
    block.explained = xp.where(accepted, explained, block.explained)
    reached = block.log_determinant + determinants
    block.log_determinant = xp.where(accepted, reached, block.log_determinant)
    block.accepted[:, own] = xp.where(
        accepted[:, None], xp.ones_like(remainder), xp.zeros_like(remainder)
    )


def _up_to_date(block: _Block, own: slice) -> tuple[Any, Any, Any]:
    """Return columns of P as rows, C' and C' P (C, 2, p) of a unit after all decisions so far."""
    xp, before = namespace(block.mean), slice(0, own.start)
    left, current = block.columns[:, own, :], block.products[:, own, :]
    propagated = block.propagated[:, own, :]
    if not own.start:
        return left, current, propagated
    decided = slice(0, 2 * own.start)
    factors = xp.matrix_transpose(block.factors[:, decided, :])
    scaled, places = block.scaled[:, decided, :], block.places[:, before, :]
    left = left + (block.places[:, own, :] @ factors) @ scaled
    # Features that were replaced have other products with the unit's.
    replaced = block.within[:, own, before] - current @ xp.matrix_transpose(places)
    replaced = replaced * block.accepted[:, None, before]
    current = current + replaced @ places
    propagated = propagated + replaced @ block.columns[:, before, :]
    return left, current, propagated + (current @ factors) @ scaled


def _carry_over(evidence: BatchEvidence, block: _Block) -> None:
    """Give the evidence the posterior and the sums of the features after all decisions."""
    xp = namespace(block.mean)
    evidence.covariance = evidence.covariance + xp.matrix_transpose(block.scaled) @ block.factors
    evidence.mean, evidence.cross = block.mean, block.target
    # Rows of accepted features, with each other's new products among them.
    places = block.places * block.accepted[:, :, None]
    down = xp.matrix_transpose(places)
    current = block.products + (block.within - block.products @ down) @ places
    current = block.accepted[:, :, None] * current
    stays = 1.0 - xp.sum(places, axis=1)
    gram = evidence.gram * stays[:, :, None] + down @ current
    columns = xp.matrix_transpose(current)
    evidence.gram = gram * stays[:, None, :] + columns @ places


def _keep(features: Any, fresh: Any, chain: Index, wave: Index, unit: Index) -> None:
    """Write features (C, 2B, n) of accepted units to their places among all (C, p, n)."""
    for cosine_or_sine in range(FEATURES_PER_WAVE):
        to = FEATURES_PER_WAVE * wave + cosine_or_sine
        source = FEATURES_PER_WAVE * unit + cosine_or_sine
        features[chain, to] = fresh[chain, source]


def _inverted(matrix: Any) -> tuple[Any, Any]:
    """Return inverses (C, 2, 2) of symmetric matrices, and the logarithms of determinants (C,).

    These are NaN where a matrix is not positive definite.
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


def _times(matrix: Any, vector: Any) -> Any:
    """Return products (C, r) of matrices (C, r, s) and vectors (C, s)."""
    return (matrix @ vector[:, :, None])[:, :, 0]


def _dot(first: Any, second: Any) -> Any:
    """Return the inner products (C,) of vectors (C, s)."""
    return namespace(first).sum(first * second, axis=-1)
