"""Metropolis-Hastings on one frequency after another, at the speed of matrix products."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from bochner._numerics.arrays import Array
from bochner.learning.inference.evidence import Evidence
from bochner.learning.inference.rows import Rows, trigonometric_rows
from bochner.learning.inference.summed import SummedRows, part_features

_ILL_CONDITIONED = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """New values of some frequencies, to be decided one after another.

    Parameters
    ----------
    index : ndarray of shape (B,)
        The frequencies, each at most once.
    omega : ndarray of shape (B, d)
        Their proposed values.
    log_ratio : ndarray of shape (B,)
        What the prior and the proposal law contribute to the log acceptance ratio.
    log_uniform : ndarray of shape (B,)
        Logarithms of uniform variates, which decide.
    """

    index: NDArray[np.intp]
    omega: Array
    log_ratio: Array
    log_uniform: Array


def replace_frequencies(
    evidence: Evidence, rows: SummedRows, proposals: Proposals
) -> NDArray[np.bool_]:
    r"""Decide a block of proposals and update the evidence in place; return which were accepted.

    Exactly the chain of one proposal at a time, each with its own evidence (equation (15) of the
    paper): the data are met in three matrix products, :math:`C = \Phi^\top W F`,
    :math:`H = F^\top W F` and :math:`F^\top W y`, ``F`` the features of all proposals of the
    block. What the decisions need of :math:`P = A^{-1}` are its columns at the block's
    frequencies and :math:`P C`; these panels follow every acceptance, ``P`` itself follows once
    at the end, by one matrix product of all the changes.
    """
    block = _Block.of(evidence, rows, proposals)
    accepted = np.zeros(len(proposals.index), dtype=np.bool_)
    current = evidence.log_evidence()
    for k in range(len(accepted)):
        exchange = block.exchange(k)
        if exchange is None:
            continue
        log_evidence = evidence.log_evidence(exchange.explained, exchange.log_determinant)
        if proposals.log_uniform[k] < log_evidence - current + proposals.log_ratio[k]:
            accepted[k] = True
            current = log_evidence
            block.accept(k, exchange)
    block.finish()
    changed = np.flatnonzero(accepted)
    evidence.omega[proposals.index[changed]] = proposals.omega[changed]
    return accepted


@dataclass(slots=True, eq=False)
class _Exchange:
    """The state after one frequency's features have given way to the proposal's."""

    explained: float
    log_determinant: float
    left: Array  # P_{:, jj}
    old: Array  # S_old = P_jj^{-1}
    new: Array  # S_new^{-1}
    change: Array  # T
    remainder: Array  # r
    mean: Array  # u without the old features


@dataclass(slots=True, eq=False)
class _Block:
    """Panels of a block: for each proposal two columns of ``P``, then two of ``P C``."""

    evidence: Evidence
    columns: NDArray[np.intp]  # (2B,) places of the block's features among all
    fresh: NDArray[np.floating] | None  # (2B, n) features of the proposals, where all are kept
    products: Array  # C (p, 2B), Fortran order
    within: Array  # H (2B, 2B)
    cross: Array  # (2B,)
    panel: Array  # (p, 4B), Fortran order
    changes: list[tuple[Array, Array]]

    @classmethod
    def of(cls, evidence: Evidence, rows: SummedRows, proposals: Proposals) -> "_Block":
        columns = (2 * proposals.index[:, None] + np.arange(2)).ravel()
        fresh, products, within, cross = _products(evidence, rows, proposals.omega)
        p, width = products.shape
        panel = np.empty((p, 2 * width), order="F")
        covariance = evidence.covariance
        propagated = covariance @ products
        if evidence.precision < _ILL_CONDITIONED * np.mean(np.diagonal(evidence.gram)):
            # Rounding in P is as large as its condition: one correction takes most of it away.
            propagated += covariance @ (products - _posterior_precision(evidence) @ propagated)
        for offset in (0, 1):
            panel[:, offset::4] = covariance[:, columns[offset::2]]
            panel[:, 2 + offset :: 4] = propagated[:, offset::2]
        return cls(evidence, columns, fresh, products, within, cross, panel, [])

    def exchange(self, k: int) -> _Exchange | None:
        """Return the state that proposal ``k`` leads to, ``None`` where rounding forbids it."""
        here = slice(2 * k, 2 * k + 2)
        jj = self.columns[here]
        left = self.panel[:, 4 * k : 4 * k + 2]
        old, old_determinant = _inverse(left[jj])  # S_old and |P_jj|
        # The products with the old features themselves cancel in this difference.
        change = self.panel[:, 4 * k + 2 : 4 * k + 4]
        change = change - left @ (old @ change[jj])
        change[jj] = 0.0
        evidence = self.evidence
        weights = old @ evidence.mean[jj]
        mean = evidence.mean - left @ weights
        mean[jj] = 0.0
        # Rows jj of both factors on the right are zero, as the old features have left.
        products = self.products[:, here]
        schur = self.within[here, here] - products.T @ change
        schur[0, 0] += evidence.precision
        schur[1, 1] += evidence.precision
        remainder = self.cross[here] - products.T @ mean
        new, new_determinant = _inverse(schur)
        if not (old_determinant > 0 and new_determinant > 0):
            return None
        lost = float(evidence.mean[jj] @ weights)
        return _Exchange(
            explained=evidence.explained - lost + float(remainder @ new @ remainder),
            log_determinant=evidence.log_determinant
            + float(np.log(old_determinant) + np.log(new_determinant)),
            left=left,
            old=old,
            new=new,
            change=change,
            remainder=remainder,
            mean=mean,
        )

    def accept(self, k: int, exchange: _Exchange) -> None:
        """Carry the exchange through the sums, the posterior and the panels."""
        here, rest = slice(2 * k, 2 * k + 2), slice(2 * k + 2, None)
        jj = self.columns[here]
        evidence, change = self.evidence, exchange.change
        change[jj] = -np.eye(2)
        self.products[jj, rest] = self.within[here, rest]
        sums = self.products[:, here].copy()
        sums[jj] = self.within[here, here]
        evidence.gram[:, jj] = sums
        evidence.gram[jj] = sums.T
        evidence.cross[jj] = self.cross[here]
        if evidence.features is not None and self.fresh is not None:
            evidence.features[jj] = self.fresh[here]
        evidence.mean = exchange.mean - change @ (exchange.new @ exchange.remainder)
        evidence.explained = exchange.explained
        evidence.log_determinant = exchange.log_determinant
        # P changes by -left S_old left' + T S_new^{-1} T': the right factors, then the left ones.
        factors = np.empty((len(change), 4), order="F")
        factors[:, :2] = exchange.left
        factors[:, 2:] = change
        scaled = np.empty_like(factors, order="F")
        scaled[:, :2] = -(exchange.left @ exchange.old)
        scaled[:, 2:] = change @ exchange.new
        self.changes.append((factors, scaled))
        self._carry(k, jj, rest, change, scaled)

    def _carry(
        self, k: int, jj: NDArray[np.intp], rest: slice, change: Array, scaled: Array
    ) -> None:
        """Update the panels of the proposals that are still to be decided."""
        tail = self.panel[:, 4 * k + 4 :]
        if not tail.shape[1]:
            return
        right = np.empty((4, tail.shape[1]), order="F")
        right[:2] = tail[jj]
        for offset in (0, 1):
            right[2:, offset::4] = change[self.columns[rest][offset::2]].T
            right[2:, 2 + offset :: 4] = change.T @ self.products[:, rest][:, offset::2]
        dgemm(1.0, scaled, right, beta=1.0, c=tail, overwrite_c=1)

    def finish(self) -> None:
        """Carry all changes through ``P`` at once."""
        if self.changes:
            factors = np.concatenate([pair[0] for pair in self.changes], axis=1)
            scaled = np.concatenate([pair[1] for pair in self.changes], axis=1)
            dgemm(
                1.0,
                scaled,
                factors,
                beta=1.0,
                c=self.evidence.covariance,
                trans_b=1,
                overwrite_c=1,
            )


def _products(
    evidence: Evidence, rows: SummedRows, omega: Array
) -> tuple[NDArray[np.floating] | None, Array, Array, Array]:
    """Return the proposals' features (where all are kept), C, H and F'Wy."""
    kept = evidence.features
    fresh = None if kept is None else rows.room(2 * len(omega))
    products, within, cross = rows.total(
        part_products,
        evidence.omega,
        omega,
        along=(kept, fresh),
        n_features=len(evidence.cross),
    )
    return fresh, np.asfortranarray(products), within, cross


def part_products(
    part: Rows,
    Z: NDArray[np.floating] | None,
    fresh: NDArray[np.floating] | None,
    omega: Array,
    proposed: Array,
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """Return C, H and F'Wy of a part of the rows, and write ``F`` to ``fresh``, if it is there."""
    F = trigonometric_rows(part.inputs, proposed, 1.0 / np.sqrt(len(omega)))
    weighted = F if part.weight is None else F * part.weight.astype(F.dtype)
    if fresh is not None:
        fresh[:] = F
    outer = part_features(part, omega, Z) @ weighted.T
    return outer, F @ weighted.T, F @ part.target.astype(F.dtype)


def _posterior_precision(evidence: Evidence) -> Array:
    A = evidence.gram.copy(order="F")
    ridge = np.arange(2 * evidence.n_frequencies)
    A[ridge, ridge] += evidence.precision
    return A


def _inverse(matrix: Array) -> tuple[Array, float]:
    """Return the inverse of a symmetric 2 by 2 matrix and its determinant."""
    a, b, c = matrix[0, 0], 0.5 * (matrix[0, 1] + matrix[1, 0]), matrix[1, 1]
    determinant = float(a * c - b * b)
    if not determinant > 0:
        return np.zeros((2, 2)), determinant
    return np.array([[c, -b], [-b, a]]) / determinant, determinant
