"""Measures of functions of the lag, by Fourier series: against closed forms and quadrature."""

import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import dblquad, quad
from scipy.stats import multivariate_normal, norm

from bochner.kernels import Stationary
from bochner.spectral import CosineFactors, NoMeasureError, Part, SpectralMeasure
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.lattice_measure import Lattice, hilbert_order, lattice_measure
from bochner.spectral.schemes import resolve_scheme

SHIFT = np.array([0.9, -0.6, 0.4])
BETA = np.array([0.8, 0.5, -0.3])
SCALES = np.array([1.0, 0.4, 2.5])


def squared(delta):
    return np.sum(delta**2, axis=-1)


def gaussian(delta):
    return np.exp(-0.5 * squared(delta / SCALES[: delta.shape[-1]]))


def shifted(delta):
    return np.exp(-0.5 * squared(delta + SHIFT[: delta.shape[-1]]))


def sinh(delta):
    return np.exp(-0.5 * squared(delta)) * (1.0 + np.sinh(delta @ BETA[: delta.shape[-1]]))


def cosh(delta):
    return np.exp(delta @ BETA[: delta.shape[-1]] - 0.5 * squared(delta))


def difference(delta):
    return np.exp(-0.5 * squared(delta)) - 0.6 * np.exp(-0.125 * squared(delta))


def hat(delta):
    return (1.0 - delta[..., 0] ** 2) * np.exp(-0.5 * squared(delta))


def narrow(delta):
    return shifted(10.0 * delta)


def line(delta):
    return 1.0 + delta @ BETA[: delta.shape[-1]]


def sinc(delta):
    return np.sinc(delta).prod(axis=-1)


def cauchy(delta):
    return (1.0 / (1.0 + delta**2)).prod(axis=-1)


def laplace(delta):
    return np.exp(-np.abs(delta).sum(axis=-1))


def triangle(delta):
    return np.maximum(1.0 - np.abs(delta), 0.0).prod(axis=-1)


def sheet(delta):
    return np.exp(-0.5 * squared(delta) - np.abs(delta[..., 0] - 0.3))


def skewed_tent(delta):
    return np.interp(delta[..., 0], [-0.5, 0.3, 2.0], [0.0, 1.0, 0.0])


SMOOTH = [gaussian, shifted, sinh, cosh, difference, hat, narrow]
ENDLESS = [line, sinc, cauchy]


def transform(measure, lags):
    """The sum over all atoms, written from the definition."""
    total = np.zeros(len(lags))
    for part in measure.parts:
        law = part.law
        for rows in np.array_split(np.arange(len(law.omega)), 1 + len(law.omega) // 2000):
            waves = np.cos(lags @ law.omega[rows].T + law.phase[rows])
            total += part.mass * (waves @ law.probability[rows])
    return total


def fresh_lags(reach, dim, seed, n=150):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (n, dim)) * reach


def error(measure, function, lags):
    return np.abs(transform(measure, lags) - function(lags)).max()


def quietly(*args, **kwargs):
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return lattice_measure(*args, **kwargs)


@pytest.mark.thorough_cases(but="None|1|3|narrow")
@pytest.mark.parametrize(
    ("function", "dim", "reach"),
    [*product(SMOOTH, [1, 2], [None, 4.0]), (gaussian, 3, None), (sinh, 3, 4.0)],
)
def test_smooth_functions_are_exact_within_reach(function, dim, reach):
    measure = lattice_measure(function, dim, reach)
    width = {gaussian: SCALES[:dim], narrow: 0.3}.get(function, 3.0)
    for lags in (fresh_lags(reach or width, dim, 1), fresh_lags(0.2, dim, 2)):
        peak = np.abs(function(lags)).max()
        assert error(measure, function, lags) <= measure.max_error <= 2e-4 * max(peak, 0.9)


@pytest.mark.parametrize(("function", "dim"), [*product(ENDLESS, [1, 2]), (cauchy, 3)])
def test_functions_that_do_not_end_are_exact_within_reach(function, dim):
    reach = np.array([3.0, 1.0, 2.0])[:dim]
    measure = lattice_measure(function, dim, reach)
    lags = fresh_lags(reach, dim, 3)
    peak = np.abs(function(lags)).max()
    assert error(measure, function, lags) <= measure.max_error <= 1e-3 * peak


@pytest.mark.parametrize(
    ("function", "dim", "worst"),
    [
        (laplace, 1, 1e-3),
        (triangle, 1, 1e-3),
        (triangle, 2, 0.02),
        (sheet, 3, 0.05),
        (skewed_tent, 1, 2e-3),
    ],
)
def test_kinks_cost_what_is_reported(function, dim, worst):
    measure = quietly(function, dim, 3.0)
    near_kinks = fresh_lags(1e-3, dim, 5)
    lags = np.concatenate([fresh_lags(3.0, dim, 4), near_kinks, 1.0 + near_kinks])
    assert error(measure, function, lags) <= measure.max_error <= worst


@pytest.mark.parametrize("seed", range(3))
def test_the_reported_error_bounds_that_of_bumps_anywhere(seed):
    rng = np.random.default_rng(seed)
    dim = 1 + seed % 3
    centres, widths = rng.uniform(-2.0, 2.0, (5, dim)), rng.uniform(0.15, 1.0, (5, dim))
    heights = rng.standard_normal(5)

    def bumps(delta):
        gaps = (delta[..., None, :] - centres) / widths
        return np.exp(-0.5 * np.sum(gaps**2, axis=-1)) @ heights

    measure = quietly(bumps, dim, 2.5)
    lags = np.concatenate([fresh_lags(2.5, dim, 100 + seed), centres])
    assert error(measure, bumps, lags) <= measure.max_error <= 0.01


@pytest.mark.thorough_cases(but="1")
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_atoms_are_the_density_of_the_measure(dim):
    """Half of a Gaussian's mass in every cell twice, and the phase r.omega: not its conjugate."""
    measure = lattice_measure(shifted, dim, 6.0)
    (part,) = measure.parts
    law = part.law
    spacing = np.array([np.diff(np.unique(np.abs(w))).min() for w in law.omega.T])
    density = multivariate_normal(np.zeros(dim)).pdf(law.omega).reshape(-1)
    pairs = np.where(np.any(law.omega != 0.0, axis=1), 2.0, 1.0)
    assert_allclose(part.mass * law.probability, pairs * density * spacing.prod(), atol=1e-5)
    large = law.probability > 1e-3 * law.probability.max()
    assert large.sum() > 5
    turn = np.exp(1j * (law.phase - law.omega @ SHIFT[:dim]))
    assert_allclose(turn[large], 1.0, atol=1e-2)


@pytest.mark.thorough_cases("2")
@pytest.mark.parametrize("dim", [1, 2])
def test_total_variations_are_those_of_the_measures(dim):
    beta = BETA[:dim]
    c = np.exp(0.5 * beta @ beta)
    spread = np.linalg.norm(beta)
    absolute, _ = quad(
        lambda t: norm.pdf(t) * np.hypot(1.0, c * np.sin(spread * t)), -12.0, 12.0, limit=500
    )
    for function, expected in ((shifted, 1.0), (cosh, c), (sinh, absolute)):
        assert_allclose(lattice_measure(function, dim, 8.0).total_variation, expected, atol=3e-4)


@pytest.mark.thorough_cases("2")
@pytest.mark.parametrize("dim", [1, 2])
def test_jordan_parts_have_the_masses_of_quadrature(dim):
    def density(*omega):
        square = np.sum(np.square(omega))
        wide = 2.0**dim * 0.6 * np.exp(-2.0 * square)
        return (np.exp(-0.5 * square) - wide) / (2.0 * np.pi) ** (dim / 2.0)

    def positive(*omega):
        return max(density(*omega), 0.0)

    if dim == 1:
        expected = 2.0 * quad(positive, 0.0, 12.0, limit=500)[0]
    else:
        expected = 4.0 * dblquad(positive, 0.0, 8.0, 0.0, 8.0, epsabs=1e-6)[0]
    measure = lattice_measure(difference, dim, 12.0, symmetric=True)
    plus, minus = measure.parts
    # The cells cut by the zero of the density are counted to the one side or the other.
    assert_allclose(plus.mass, expected, atol=2e-3)
    assert_allclose(plus.mass + minus.mass, 0.4, atol=measure.max_error)
    assert minus.mass < 0.0
    assert not plus.law.phase.any()
    assert not minus.law.phase.any()
    lags = fresh_lags(12.0, dim, 8)
    assert error(measure, difference, lags) <= measure.max_error < 1e-4


def frequencies(measure, m, rng, scheme, flip=1.0):
    drawn = measure.sample(m, rng, scheme)
    return drawn.with_weights(drawn.weight, flip * drawn.phase)


def z_scores(measure, function, scheme, flip=1.0, swap=False, m=64, n_seeds=400):
    """Standardised errors of k^(x, y) and k^(y, x), less what the measure itself is off by."""
    dim = measure.dim
    rng = np.random.default_rng(11)
    X, Y = rng.uniform(-1.0, 1.0, (2, 4, dim))
    streams = np.random.default_rng(12).spawn(n_seeds)
    drawn = [frequencies(measure, m, stream, scheme, flip) for stream in streams]
    scores = []
    for left, right in ((X, Y), (Y, X)):
        exact = function(left[:, None] - right[None])
        if swap:
            left, right = right, left
        grams = np.array([f.gram(left, right) for f in drawn])
        grams = grams.swapaxes(1, 2) if swap else grams
        deviation = grams.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        gap = np.maximum(np.abs(grams.mean(axis=0) - exact) - measure.max_error, 0.0)
        # With one input, 64 draws have all atoms, and neither an error nor a deviation.
        scores.append(np.divide(gap, deviation, out=np.zeros_like(gap), where=gap > 0.0))
    return np.array(scores)


# 32 scores a case, 12 cases, family-wise alpha = 1e-3.
LIMIT = float(norm.isf(1e-3 / (2 * 32 * 12)))


@pytest.mark.thorough
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "structured"])
def test_draws_are_unbiased_on_both_sides(scheme, dim):
    measure = lattice_measure(sinh, dim, 2.0)
    assert z_scores(measure, sinh, scheme).max() < LIMIT


def test_factors_that_are_nearly_constant_have_atoms_for_the_difference():
    """A quarter or more of the draws, of the exact total weight of the atoms."""
    law = Lattice([[2.0], [0.0], [1.0]], [0.004, 0.99, 0.006], np.zeros(3))
    draw = law.draw_factor(64, np.random.default_rng(0), resolve_scheme("orthogonal"))
    moves = np.asarray(draw.omega)[:, 0] > 0.0
    assert 16 <= moves.sum() < 24
    assert_allclose([draw.ratio[moves].mean(), draw.ratio.mean()], [0.01 * 64 / moves.sum(), 1.0])
    twos = (np.asarray(draw.omega)[:, 0] == 2.0).sum()
    assert twos == pytest.approx(0.4 * moves.sum(), abs=1.5)
    half = Lattice([[0.0], [1.0]], [0.5, 0.5], np.zeros(2))
    assert_allclose(
        half.draw_factor(64, np.random.default_rng(0), resolve_scheme("iid")).ratio, 1.0
    )


@pytest.mark.thorough
def test_jordan_parts_of_a_law_sum_to_it():
    measure = lattice_measure(sinh, 2, 2.0)
    law = measure.parts[0].law
    shares, laws = zip(*law.jordan(), strict=True)
    positive, negative, imaginary = shares
    assert positive > 0.0 > negative
    assert imaginary > 0.0
    assert_allclose(positive + negative, law.at_zero)
    assert not laws[0].phase.any()
    assert not laws[1].phase.any()
    assert_allclose(np.abs(laws[2].phase), np.pi / 2.0)
    parts = (Part(measure.parts[0].mass * s, law) for s, law in zip(shares, laws, strict=True))
    lags = fresh_lags(2.0, 2, 14)
    assert_allclose(
        transform(SpectralMeasure(tuple(parts)), lags), transform(measure, lags), atol=1e-12
    )


@pytest.mark.thorough
def test_products_are_unbiased():
    """One of each pair of frequencies is kept, which a product has to know."""
    measure = lattice_measure(sinh, 2, 2.0)
    product_measure = measure * measure
    lags = fresh_lags(2.0, 2, 15, 16)
    streams = np.random.default_rng(16).spawn(400)
    drawn = [product_measure.sample(64, stream, "iid") for stream in streams]
    values = np.array([f.gram(lags, np.zeros((1, 2)))[:, 0] for f in drawn])
    deviation = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    # 16 scores, family-wise alpha = 1e-3; what the measure is off by is far smaller.
    assert np.abs((values.mean(axis=0) - sinh(lags) ** 2) / deviation).max() < norm.isf(1e-3 / 32)


@pytest.mark.parametrize("dim", [4, 20])
def test_many_inputs_are_referred_to_least_squares(dim):
    with pytest.raises(NoMeasureError, match="weights='least_squares'"):
        spectral_measure(Stationary(shifted), dim)


@pytest.mark.thorough_cases(but="line|1-floor|1-cosine")
@pytest.mark.parametrize(
    "function",
    [
        line,
        lambda delta: np.cos(delta[..., 0]),
        lambda delta: 1.0 / (1.0 + np.abs(delta[..., 0])),
        lambda delta: np.exp(-(delta[..., 0] ** 2)) + 1e-3,
    ],
    ids=["line", "cosine", "hyperbola", "floor"],
)
@pytest.mark.parametrize("dim", [1, 2])
def test_functions_that_are_not_integrable_need_a_reach(function, dim):
    with pytest.raises(ValueError, match="does not fall off along input 0"):
        lattice_measure(function, dim)
    assert quietly(function, dim, 2.0).max_error < 0.03


@pytest.mark.parametrize(("dim", "side"), [(1, 16), (2, 2), (2, 32), (3, 2), (3, 16)])
def test_the_curve_visits_each_point_once_and_moves_by_one_step(dim, side):
    cube = np.stack(np.meshgrid(*[np.arange(side)] * dim), axis=-1).reshape(-1, dim)
    order = hilbert_order(cube)
    assert np.array_equal(np.sort(order), np.arange(side**dim))
    assert (np.abs(np.diff(cube[order], axis=0)).sum(axis=1) == 1).all()


def measured(function=shifted, **options):
    return lambda: lattice_measure(function, 2, 1.0, **options)


@pytest.mark.thorough_cases(r"\bleave\b")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (measured(lambda delta: 1j * delta[..., 0]), "real values"),
        (measured(lambda delta: delta), "reduce over the last axis"),
        (measured(lambda delta: np.where(delta[..., 0] > 0.5, np.nan, 1.0)), "must be finite"),
        (measured(lambda delta: 0.0 * delta[..., 0]), "zero at all"),
        (measured(symmetric=True), "leave symmetric=False"),
        (lambda: Lattice([0.0, 1.0], [0.5, 0.5], [0.0, 0.0]), "shape"),
        (lambda: Lattice([[0.0], [1.0]], [0.5, 0.4], [0.0, 0.0]), "sum to one"),
        (lambda: Lattice([[0.0], [1.0]], [1.5, -0.5], [0.0, 0.0]), "nonnegative"),
        (lambda: Lattice([[0.0], [1.0]], [0.5, 0.5], [0.0]), "phase must have shape"),
    ],
)
def test_what_cannot_be_served_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_factor_of_a_lattice_counts_at_zero():
    waves, ends = CosineFactors([[1.0], [1.0]], [0.5, 2.0]), [[0.0], [1.0]]
    law = Lattice(ends, [0.3, 0.7], [0.0, 0.0], factor=waves)
    drawn = SpectralMeasure((Part(1.0, law),)).sample(10, 0)
    assert law.at_zero == pytest.approx(drawn.gram(np.zeros((1, 1)))[0, 0])
