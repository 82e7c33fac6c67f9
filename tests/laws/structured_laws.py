"""What frequencies held by Hadamard blocks obey, by oracles that know nothing of transforms."""

import numpy as np
from laws.sampling_laws import ALPHA
from scipy import stats
from scipy.linalg import hadamard

from bochner import spectral_measure
from bochner.kernels import Gaussian
from bochner.spectral import Directions, Structured
from bochner.spectral.hadamard import HadamardRows

DIM, ORDER = 100, 128


def matrix(rows):
    """The array (m, d) from dense Hadamard matrices, block by block."""
    order = rows.signs.shape[-1]
    blocks = []
    for diagonals in rows.signs:
        block = np.eye(order)
        for diagonal in diagonals:
            block = hadamard(order) @ np.diag(diagonal) @ block / np.sqrt(order)
        blocks.append(block)
    m, dim = rows.shape
    cut = np.vstack(blocks)[:m, :dim]
    return rows.row_scale[:, None] * cut * rows.column_scale


def drawn(m, dim=DIM, seed=0, length_scale=1.0):
    """Gaussian frequencies as they are held."""
    measure = spectral_measure(Gaussian(length_scale), dim)
    return measure.sample(m, seed, "structured").omega_blocks


def check_angles():
    """Both the products and the array are those of the matrix."""
    rng = np.random.default_rng(0)
    for dim, order, m in ((1, 1, 1), (5, 8, 8), (8, 8, 11), (37, 64, 130)):
        signs = rng.choice((-1, 1), size=(-(-m // order), 3, order))
        rows = HadamardRows(signs, rng.normal(size=m), rng.normal(size=dim))
        X = rng.normal(size=(9, dim))
        assert np.allclose(np.asarray(rows), matrix(rows), rtol=0.0, atol=1e-13)
        assert np.allclose(rows.angles(X), X @ matrix(rows).T, rtol=0.0, atol=1e-13)


def check_directions(dim=DIM):
    """Unit vectors whose projections follow the law of uniform ones, on and off the axes."""
    rows = np.asarray(Structured().sample((Directions(dim),), 2000, np.random.default_rng(dim))[0])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    half = (dim - 1) / 2.0
    law = stats.beta(half, half, loc=-1.0, scale=2.0)
    oblique = np.linspace(1.0, 2.0, dim) / np.linalg.norm(np.linspace(1.0, 2.0, dim))
    for probe in (rows @ oblique, rows[:, 3]):
        assert stats.kstest(probe, law.cdf).pvalue > ALPHA


def check_radii():
    """Norms are a stratified sample of the chi law, and length scales divide the inputs' own."""
    m = 300
    scale = np.linspace(0.5, 3.0, DIM)
    for length_scale in (1.0, 2.5, tuple(scale)):
        omega = matrix(drawn(m, length_scale=length_scale)) * length_scale
        levels = np.sort(stats.chi(DIM).cdf(np.linalg.norm(omega, axis=1)))
        assert np.abs(levels - (np.arange(m) + 0.5) / m).max() <= 0.5 / m + 1e-9


def places(n=40, dim=DIM):
    """Rows of several kinds by name: full, thin, two ones, and few centres."""
    rng = np.random.default_rng(1)
    units = np.eye(dim)
    return {
        "normal": rng.normal(size=(n, dim)),
        "thin": np.where(rng.random((n, dim)) < 0.05, rng.exponential(size=(n, dim)), 0.0),
        "ones": units[rng.integers(dim, size=n)] + units[rng.integers(dim, size=n)],
        "centres": rng.choice((0.0, 1.0), size=(4, dim))[rng.integers(4, size=n)]
        + 0.1 * rng.normal(size=(n, dim)),
    }


def error(X, scheme, m, seeds):
    """Root mean square error over pairs of rows and seeds, at lags of about a length scale."""
    norms = np.linalg.norm(X[:, None] - X, axis=2)
    kernel = Gaussian(float(np.sqrt(np.mean(norms**2))))
    pairs = norms > 0.0
    measure, exact = spectral_measure(kernel, X.shape[1]), kernel(X)
    squares = [
        np.mean((measure.sample(m, stream, scheme).gram(X) - exact)[pairs] ** 2)
        for stream in np.random.default_rng(2).spawn(seeds)
    ]
    return np.sqrt(np.mean(squares))


def check_error(place, m=4 * ORDER, seeds=100):
    """The error is at most a tenth over that of orthogonal blocks."""
    X = places()[place]
    assert error(X, "structured", m, seeds) <= 1.1 * error(X, "orthogonal", m, seeds)
