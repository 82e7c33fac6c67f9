"""What least-squares weights obey, against brute force on vectorised Gram matrices."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from bochner.spectral import Envelope, least_squares
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.least_squares import Sample, least_squares_weights

M, DIM = 12, 3


def kernel(X, Y):
    """Indefinite, and a function of neither the lag nor the inner product alone."""
    lag = np.sum((X[:, None] - Y[None]) ** 2, axis=-1)
    return np.exp(-0.5 * lag) - 0.4 * np.exp(-0.1 * lag) + 0.2 * np.tanh(X @ Y.T)


def problem(seed=0, *, envelope=False):
    """Frequencies with weights of both signs, and rows to fit on and to hold out."""
    rng = np.random.default_rng(seed)
    fit, held_out = (
        Sample(rows, rows, kernel(rows, rows))
        for rows in (rng.normal(size=(40, DIM)), rng.normal(size=(15, DIM)))
    )
    factors = Envelope(rng.uniform(0.0, 0.2, M), np.full(M, 5.0)) if envelope else None
    omega = rng.normal(size=(M, DIM))
    weight = rng.normal(size=M) / M
    return Frequencies(omega, weight, factor=factors), fit, held_out


def columns(f, X):
    """The Gram matrices of unit frequencies, flat: a matrix with a column for each of them."""
    factors = 1.0 if f.factor is None else f.factor.values(X).T
    angle = f.omega @ X.T
    cosine, sine = factors * np.cos(angle), factors * np.sin(angle)
    grams = [np.outer(c, c) + np.outer(s, s) for c, s in zip(cosine, sine, strict=True)]
    return np.stack([gram.ravel() for gram in grams], axis=1)


def brute_force(f, sample, ridge, solve):
    """Minimise the squared error plus a ridge, stacked as one problem of least squares."""
    n = len(sample.left)
    A, b = columns(f, sample.left) / n, sample.gram.ravel() / n
    root = np.sqrt(ridge * np.mean(np.sum(A**2, axis=0)))
    stacked = np.vstack([A, root * np.eye(M)]), np.concatenate([b, root * f.weight])
    return solve(*stacked)


def relative_error(f, sample, weight):
    gram = columns(f, sample.left) @ weight
    return np.linalg.norm(gram - sample.gram.ravel()) / np.linalg.norm(sample.gram)


def check_weights(*, envelope=False, nonnegative=False):
    """The weights are those of brute force, of the ridge that is best on the held-out rows."""
    for seed in range(3):
        f, fit, held_out = problem(seed, envelope=envelope)
        if nonnegative:
            f = f.with_weights(np.abs(f.weight))
        solve = (
            (lambda A, b: nnls(A, b)[0]) if nonnegative else (lambda A, b: np.linalg.lstsq(A, b)[0])
        )
        found = least_squares_weights(f, fit, held_out, nonnegative=nonnegative)
        candidates = [brute_force(f, fit, ridge, solve) for ridge in least_squares._RIDGES]
        errors = [relative_error(f, held_out, weight) for weight in candidates]
        best = candidates[int(np.argmin(errors))]
        assert min(errors) < relative_error(f, held_out, f.weight)
        assert_allclose(found.error, min(errors), rtol=1e-6)
        assert_allclose(found.prior_error, relative_error(f, held_out, f.weight), rtol=1e-9)
        # Nearly equal ridges may trade places; their Gram matrices hardly differ.
        A = columns(f, held_out.left)
        assert_allclose(A @ found.weight, A @ best, atol=1e-6 * np.abs(A @ best).max())


def check_optimality():
    """Nonnegative weights: no descent is left that keeps them so (Karush, Kuhn and Tucker)."""
    for seed in range(3):
        f, fit, held_out = problem(seed)
        f = f.with_weights(np.abs(f.weight))
        weight = least_squares_weights(f, fit, held_out, nonnegative=True).weight
        assert weight.min() >= 0.0
        n = len(fit.left)
        A, b = columns(f, fit.left) / n, fit.gram.ravel() / n
        gradients = []
        for ridge in least_squares._RIDGES:
            damping = ridge * np.mean(np.sum(A**2, axis=0))
            gradients.append(A.T @ (A @ weight - b) + damping * (weight - f.weight))
        size = np.linalg.norm(A.T @ b)
        slack = [max(-g.min(), np.abs(g[weight > 0.0]).max()) / size for g in gradients]
        assert min(slack) < 1e-9, slack


def check_never_worse():
    """On the held-out rows the error is at most that of the weights at the start."""
    for seed in range(5):
        f, fit, held_out = problem(seed)
        for gram in (held_out.gram, -held_out.gram, np.ones_like(held_out.gram)):
            other = Sample(held_out.left, held_out.left, gram)
            found = least_squares_weights(f, fit, other)
            assert found.error <= found.prior_error
            assert_allclose(found.error, relative_error(f, other, found.weight))


def check_start():
    """Fewer rows than frequencies leave weights open: they stay as near the start as can be."""
    found_better = 0
    for seed in range(8):
        f, fit, held_out = problem(seed)
        few = Sample(fit.left[:4], fit.left[:4], fit.gram[:4, :4])
        candidates = [f.weight] + [
            brute_force(f, few, ridge, lambda A, b: np.linalg.lstsq(A, b)[0])
            for ridge in least_squares._RIDGES
        ]
        errors = [relative_error(f, held_out, weight) for weight in candidates]
        found = least_squares_weights(f, few, held_out)
        assert_allclose(found.error, min(errors), rtol=1e-4)
        found_better += not found.is_prior
    assert found_better > 3
