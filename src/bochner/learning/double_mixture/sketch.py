"""What inference sees of a kernel: its values on a few rows, and their split by sign."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from bochner._numerics.arrays import Array
from bochner._numerics.limits import EIGENVALUE_ROUNDING

_TYPICAL, _AMONG = 10, 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """Rows and the symmetric matrix of their similarities.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    gram : ndarray of shape (n, n)
    distance : float
        Typical of the data, positive: the scale of everything that has one. Frequencies of the
        order of its inverse are what a prior expects.
    """

    rows: Array
    gram: Array
    distance: float


@dataclass(frozen=True, slots=True, eq=False)
class SplitPart:
    """One sign of a split matrix: ``mass`` times a matrix (n, n) of mean diagonal one."""

    mass: float
    gram: Array


def random_rows(rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
    """Return the indices of ``n`` random rows, or of all."""
    return rng.permutation(len(rows))[:n]


def spread_rows(rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
    """Return the indices of ten random rows and of others, ``n`` in all, that lie far apart.

    Ten rows have differences of the usual lengths. Each further row is drawn with a probability
    in proportion to its squared distance from the nearest of those before it: what is learned
    from random rows alone is wrong for the few that lie far from the rest. At most 10,000
    random rows, or ``n``, are looked at.

    References
    ----------
    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.append(np.linspace(0.0, 1.0, 5_000), 1e4)[:, None]
    >>> bool(5_000 in spread_rows(rows, 11, np.random.default_rng(0)))
    True
    """
    order = rng.permutation(len(rows))[: max(n, _AMONG)]
    candidates = rows[order]
    square = cdist(candidates, candidates[:_TYPICAL], "sqeuclidean").min(axis=1)
    chosen = list(range(min(n, _TYPICAL, len(order))))
    left = np.ones(len(order), dtype=bool)
    left[chosen] = False
    while len(chosen) < min(n, len(order)):
        weight = square * left
        if not weight.any():  # the others repeat those that are chosen
            weight = left.astype(np.float64)
        chosen.append(int(rng.choice(len(order), p=weight / weight.sum())))
        left[chosen[-1]] = False
        last = candidates[chosen[-1:]]
        square = np.minimum(square, cdist(candidates, last, "sqeuclidean")[:, 0])
    return order[chosen]


def eigen_split(gram: Array, shift: float) -> tuple[SplitPart | None, SplitPart | None]:
    r"""Return the positive and the negative part of a symmetric matrix.

    .. math:: K_\pm = U \, \mathrm{diag}(\max(\pm\lambda, 0) + \tau) \, U^\top, \qquad
              K = K_+ - K_-, \qquad \tau = -\mathrm{shift} \cdot \lambda_{\min},

    Liu et al. (2020), equation (5). The shift is on the diagonal alone: entries beside it do
    not depend on it, and what it adds is white noise. A part is ``None`` if no eigenvalue beyond
    rounding has its sign; without negative ones nothing is shifted.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    shift : float
        At least 1 in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> positive, negative = eigen_split(np.array([[1.0, 2.0], [2.0, 1.0]]), 1.1)
    >>> round(positive.mass, 12), round(negative.mass, 12)
    (2.6, 1.6)
    """
    eigenvalues, vectors = eigh(gram)
    rounding = EIGENVALUE_ROUNDING * float(np.abs(eigenvalues).max(initial=0.0))
    least = float(eigenvalues[0])
    tau = -shift * least if least < -rounding else 0.0
    signs = (1.0, -1.0)
    return (
        _part(vectors, np.maximum(signs[0] * eigenvalues, 0.0), tau, rounding),
        _part(vectors, np.maximum(signs[1] * eigenvalues, 0.0), tau, rounding),
    )


def _part(vectors: Array, eigenvalues: Array, tau: float, rounding: float) -> SplitPart | None:
    if eigenvalues.max() <= rounding:
        return None
    matrix = (vectors * (eigenvalues + tau)) @ vectors.T
    mass = float(np.trace(matrix)) / len(matrix)
    return SplitPart(mass, matrix / mass)
