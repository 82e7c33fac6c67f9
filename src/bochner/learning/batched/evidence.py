"""The Gaussian evidence of the frequencies of several chains, on a device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from bochner._numerics.arrays import Array
from bochner._numerics.batched import factored, half_solved, inverse_of, log_determinants
from bochner._numerics.namespaces import DeviceArray, like, namespace, to_numpy
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.evidence import LEAST, ChainEvidence, Noise


@dataclass(slots=True, eq=False)
class BatchEvidence:
    r"""The :class:`~bochner.learning.chains.evidence.ChainEvidence` of ``C`` chains.

    Matrices and vectors are on the device; frequencies and scalars of each chain are on the host.
    """

    omega: Array  # (C, m, d)
    gram: DeviceArray  # (C, p, p): Phi' W Phi, p = 2m + q
    cross: DeviceArray  # (C, p): b = Phi' W y
    square: Array  # (C,): y' W y
    degrees: Array  # (C,)
    noise: Noise
    precision: Array  # (C,): lambda_0
    covariance: DeviceArray  # (C, p, p): P
    mean: DeviceArray  # (C, p): u
    explained: Array  # (C,)
    log_determinant: Array  # (C,)
    least_precision: Array  # (C,)
    features: DeviceArray  # (C, p, n) of all rows, or None if they are too many to store

    @property
    def n_waves(self) -> int:
        """Number of waves of a chain, ``m``."""
        return int(self.omega.shape[1])

    def posterior_precision(self, precision: Array) -> DeviceArray:
        """Return :math:`A` (C, p, p) at precisions (C,)."""
        xp, p = namespace(self.gram), self.gram.shape[-1]
        ridge = np.repeat([1.0, 0.0], [2 * self.n_waves, p - 2 * self.n_waves])
        diagonal = like(precision[:, None] * ridge, self.gram)
        unit = xp.eye(p, dtype=self.gram.dtype, device=self.gram.device)
        return self.gram + diagonal[:, :, None] * unit[None, :, :]

    def log_evidence(self) -> Array:
        """Return equation (14) of the paper up to constants, of shape (C,)."""
        return np.array([self.of(index).log_evidence() for index in range(len(self.precision))])

    def of(self, index: int, mean: Array | None = None, gram: Array | None = None) -> ChainEvidence:
        """Return the evidence of one chain on the host; arrays that are not passed are empty."""
        nothing = np.empty((0, 0))
        return ChainEvidence(
            omega=self.omega[index],
            n_waves=self.n_waves,
            gram=nothing if gram is None else gram,
            cross=nothing[0:0],
            square=float(self.square[index]),
            degrees=float(self.degrees[index]),
            noise=self.noise,
            precision=float(self.precision[index]),
            covariance=nothing,
            mean=nothing[0:0] if mean is None else mean,
            explained=float(self.explained[index]),
            log_determinant=float(self.log_determinant[index]),
            least_precision=float(self.least_precision[index]),
            features=None,
        )


def evidence_of(
    rows: BatchRows,
    omega: Array,
    precision: Array,
    noise: Noise,
    *,
    keep: bool = True,
    reused: BatchEvidence | None = None,
) -> BatchEvidence:
    """Return the evidence of frequencies (C, m, d) at precisions (C,), from one pass.

    ``keep`` is whether the features of all rows are stored, unless they are too many. ``reused`` is
    an evidence of the same ``omega`` for other weights of the rows, whose features are used again
    if it has stored them.
    """
    p = 2 * omega.shape[1] + rows.n_fixed
    stored = None if reused is None else reused.features
    features = rows.room(p) if keep and reused is None else stored

    def terms(chosen: slice) -> tuple[DeviceArray, ...]:
        Z = rows.features(omega, chosen) if stored is None else stored[:, :, chosen]
        if stored is None and features is not None:
            features[:, :, chosen] = Z
        weighted, xp = rows.weighted(Z, chosen), namespace(Z)
        cross = Z @ rows.target[:, chosen, None]
        return weighted @ xp.matrix_transpose(Z), cross[:, :, 0]

    gram, cross = rows.total(terms, p)
    xp = namespace(gram)
    trace = to_numpy(xp.sum(xp.linalg.diagonal(gram), axis=-1)).astype(np.float64)
    # Float32 features have larger rounding errors, which require a larger least precision.
    single = rows.inputs.dtype == namespace(rows.inputs).float32
    least = LEAST[np.float32 if single else np.float64] * trace
    unsolved = BatchEvidence(
        omega=omega.copy(),
        gram=gram,
        cross=cross,
        square=rows.total_square,
        degrees=rows.n_observations - rows.n_fixed,
        noise=noise,
        precision=precision,
        covariance=None,
        mean=None,
        explained=np.zeros(len(omega)),
        log_determinant=np.zeros(len(omega)),
        least_precision=least,
        features=features,
    )
    return solved(unsolved, np.maximum(precision, least))


def solved(evidence: BatchEvidence, precision: Array) -> BatchEvidence:
    """Return the evidence with posteriors recomputed from the sums, at precisions (C,).

    Raises ``numpy.linalg.LinAlgError`` if a posterior precision is not positive definite.
    """
    lower, definite = factored(evidence.posterior_precision(precision))
    is_definite = to_numpy(definite)
    if not is_definite.all():
        wrong = float(precision[~is_definite][0])
        raise LinAlgError(
            "The posterior precision of the weights is not positive definite at "
            f"lambda_0 = {wrong:.3g}."
        )
    # The inverse, and not solutions: exchanges need columns of the covariance.
    covariance = inverse_of(lower)
    mean = (covariance @ evidence.cross[:, :, None])[:, :, 0]
    explained = namespace(mean).sum(mean * evidence.cross, axis=-1)
    explained, log_determinant = numbers_of(explained, log_determinants(lower))
    return replace(
        evidence,
        precision=precision.copy(),
        covariance=covariance,
        mean=mean,
        explained=explained,
        log_determinant=log_determinant,
    )


def log_evidence_at(evidence: BatchEvidence, precision: Array) -> Array:
    """Return the log evidence (C,) of the same frequencies at other precisions (C,).

    It is minus infinity if rounding makes the posterior precision indefinite.
    """
    lower, definite = factored(evidence.posterior_precision(precision))
    half = half_solved(lower, evidence.cross[:, :, None])[:, :, 0]
    explained = namespace(half).sum(half**2, axis=-1)
    explained, log_determinant = numbers_of(explained, log_determinants(lower))
    at_precision = replace(
        evidence, precision=precision, explained=explained, log_determinant=log_determinant
    )
    return np.where(to_numpy(definite), at_precision.log_evidence(), -np.inf)


def whiteners(evidence: BatchEvidence) -> NDArray[np.float32]:
    """Return upper ``U`` (C, p, p) with ``U U' = P``, from the factors of ``A``."""
    xp = namespace(evidence.gram)
    lower, _ = factored(evidence.posterior_precision(evidence.precision))
    unit = xp.eye(lower.shape[-1], dtype=lower.dtype, device=lower.device)
    inverse = half_solved(lower, xp.broadcast_to(unit, lower.shape))
    return np.ascontiguousarray(to_numpy(xp.matrix_transpose(inverse)), dtype=np.float32)


def numbers_of(*values: DeviceArray) -> Sequence[Array]:
    """Return arrays (C,) on a device as arrays of the host, in one transfer."""
    xp = namespace(values[0])
    together = to_numpy(xp.stack(values))
    return [np.array(row, dtype=np.float64) for row in together]
