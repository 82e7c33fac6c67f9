"""Least-squares weights with phases, against designs of explicit cosines and sines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.spectral import Envelope, least_squares
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.least_squares import Sample, least_squares_weights

M, DIM, DIM_RIGHT = 9, 3, 2


def kernel(X, Y):
    """Asymmetric, of rows of 3 and 2 columns: no function of a lag."""
    return np.exp(-np.square(X[:, None, :2] - Y[None] + 0.4).sum(axis=-1) / 2) + 0.3 * np.sin(
        X[:, 2:] * Y[None, :, 0]
    )


def problem(seed, *, envelope=False, of=kernel):
    """Frequencies with weights and phases of all kinds; more rows on the left than the right."""
    rng = np.random.default_rng(seed)
    samples = []
    for n, n2 in ((30, 22), (12, 17)):
        X, Y = rng.normal(size=(n, DIM)), rng.normal(size=(n2, DIM_RIGHT))
        samples.append(Sample(X, Y, of(X, Y)))
    frequencies = Frequencies(
        rng.normal(size=(M, DIM)),
        rng.normal(size=M) / M,
        rng.uniform(-np.pi, np.pi, M),
        rng.normal(size=(M, DIM_RIGHT)),
        Envelope(rng.uniform(0.0, 0.2, M), np.full(M, 5.0)) if envelope else None,
    )
    return frequencies, *samples


def angles(f, X, Y):
    """The angles of all pairs, and the factors of their cosines, of shape (m, n, n2)."""
    angle = (X @ f.omega.T).T[:, :, None] - (Y @ f.nu.T).T[:, None, :]
    if f.factor is None:
        return angle, np.ones_like(angle)
    left, right = (f.factor.values(rows).T for rows in (X, Y))
    return angle, left[:, :, None] * right[:, None, :]


def design(f, sample, *, phases=True):
    """The matrix whose columns are the flat Gram matrices of the terms."""
    angle, factor = angles(f, sample.left, sample.right)
    if not phases:
        terms = factor * np.cos(angle + f.phase[:, None, None])
    else:
        terms = np.concatenate([factor * np.cos(angle), -factor * np.sin(angle)])
    return terms.reshape(len(terms), -1).T


def values(f, weight, phase, X, Y):
    """The finite sum, term by term."""
    angle, factor = angles(f, X, Y)
    shift = phase[:, None, None]
    return (weight[:, None, None] * factor * np.cos(angle + shift)).sum(axis=0)


def relative_error(f, sample, weight, phase):
    gap = values(f, weight, phase, sample.left, sample.right) - sample.gram
    return np.linalg.norm(gap) / np.linalg.norm(sample.gram)


def start(f, *, phases=True):
    cosine, sine = f.weight * np.cos(f.phase), f.weight * np.sin(f.phase)
    return np.concatenate([cosine, sine]) if phases else f.weight


def candidates(f, sample, *, phases=True):
    """The solutions for all ridges, each stacked as one problem of least squares."""
    A, b, prior = design(f, sample, phases=phases), sample.gram.ravel(), start(f, phases=phases)
    for ridge in least_squares._RIDGES:
        root = np.sqrt(ridge * np.mean(np.sum(A**2, axis=0)))
        stacked = np.vstack([A, root * np.eye(len(prior))]), np.concatenate([b, root * prior])
        yield np.linalg.lstsq(*stacked)[0]


@pytest.mark.parametrize("envelope", [False, True])
@pytest.mark.parametrize("phases", [False, True])
def test_coefficients_are_those_of_brute_force(phases, envelope):
    improved = 0
    for seed in range(4):
        f, fit, held_out = problem(seed, envelope=envelope)
        found = least_squares_weights(f, fit, held_out, phases=phases)
        A, target = design(f, held_out, phases=phases), held_out.gram.ravel()
        errors = [
            np.linalg.norm(A @ coefficient - target) / np.linalg.norm(target)
            for coefficient in [start(f, phases=phases), *candidates(f, fit, phases=phases)]
        ]
        assert_allclose(found.prior_error, errors[0], rtol=1e-9)
        assert_allclose(found.error, min(errors), rtol=1e-6)
        # The weights and phases that come back are those that were judged.
        again = relative_error(f, held_out, found.weight, found.phase)
        assert_allclose(again, found.error, rtol=1e-9)
        improved += not found.is_prior
    assert improved == 4


SPAN = (
    np.array([0.5, 1.2, -0.8, 0.05, 2.0, 0.3, -1.0, 0.7, 0.1]),
    np.array([0.0, 2.5, -0.4, 1.0, -2.9, np.pi / 2, 0.3, -np.pi / 2, 3.0]),
)


def test_a_kernel_in_the_span_is_found():
    """A kernel of the span is found, with its weights made positive and their phases."""
    weight, phase = SPAN
    for seed in range(3):
        f, fit, held_out = problem(seed)
        rng = np.random.default_rng(100 + seed)
        fit, held_out = (
            Sample(s.left, s.right, values(f, weight, phase, s.left, s.right))
            for s in (fit, held_out)
        )
        f = f.with_weights(np.zeros(M), np.zeros(M))
        found = least_squares_weights(f, fit, held_out, phases=True)
        X, Y = rng.normal(size=(20, DIM)), rng.normal(size=(25, DIM_RIGHT))
        K = values(f, weight, phase, X, Y)
        gram = f.with_weights(found.weight, found.phase).gram(X, Y)
        assert np.abs(gram - K).max() < 1e-6 * np.abs(K).max()
        assert_allclose(found.weight, np.abs(weight), atol=1e-6)
        turn = np.exp(1j * (found.phase - phase)) * np.sign(weight)
        assert_allclose(turn, 1.0, atol=1e-4)


def test_a_kernel_of_known_formula_is_found_at_both_orders():
    r"""The cosine of a shifted lag, ``k(x, y) = 2 cos(3 (x - y) + 1) - cos(x - y)``."""
    X, Y, new = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 40, 1))

    def shifted(X, Y):
        lag = X - Y.T
        return 2.0 * np.cos(3.0 * lag + 1.0) - np.cos(lag)

    f = Frequencies([[1.0], [2.0], [3.0]], np.zeros(3))
    samples = Sample(X, X, shifted(X, X)), Sample(Y, X, shifted(Y, X))
    found = least_squares_weights(f, *samples, phases=True)
    fitted = f.with_weights(found.weight, found.phase)
    assert found.error < 1e-6
    for left, right in ((new, Y), (Y, new)):
        assert_allclose(fitted.gram(left, right), shifted(left, right), atol=3e-6)
    assert np.abs(fitted.gram(new) - shifted(new, new).T).max() > 1.0


def test_given_phases_are_kept_where_weights_alone_are_fitted():
    f, fit, held_out = problem(2)
    found = least_squares_weights(f, fit, held_out)
    assert not found.is_prior
    assert found.weight.min() < 0.0
    assert_array_equal(found.phase, f.phase)
    positive = f.with_weights(np.abs(f.weight))
    kept = least_squares_weights(positive, fit, held_out, nonnegative=True)
    assert not kept.is_prior
    assert kept.weight.min() == 0.0


def test_far_values_stay_below_the_ceiling_on_both_sides():
    f, fit, held_out = problem(1)
    rng = np.random.default_rng(3)
    far, far_right = 40.0 * rng.normal(size=(25, DIM)), 40.0 * rng.normal(size=(35, DIM_RIGHT))

    def greatest(found):
        fitted = f.with_weights(found.weight, found.phase)
        return np.array(
            [
                np.abs(fitted.gram(far, held_out.right)).max(),
                np.abs(fitted.gram(held_out.left, far_right)).max(),
            ]
        )

    free = least_squares_weights(f, fit, held_out, phases=True)
    for side, rows in enumerate(({"far": far}, {"far_right": far_right})):
        for share in (0.5, 0.99, 1.01):
            ceiling = share * greatest(free)[side]
            tame = least_squares_weights(f, fit, held_out, phases=True, ceiling=ceiling, **rows)
            assert tame.is_prior or greatest(tame)[side] <= ceiling
            assert_array_equal(np.array_equal(tame.weight, free.weight), share > 1.0)
