"""Other ways to choose frequencies: against closed forms, moments and brute force."""

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from laws.registry import check_mean
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.kernel_ridge import KernelRidge

from benchmarks import Cell, Options, find
from benchmarks.schemes import candidates, control, cubature, selected
from benchmarks.schemes.couplings import CoupledNorms
from bochner import kernels, spectral_measure
from bochner.spectral import Coordinates, Directions, Uniforms

ALPHA = 1e-5
GAUSSIAN = kernels.Gaussian(1.0)
UNBIASED = [
    *(("coupled norms", kernel, 3) for kernel in (GAUSSIAN, kernels.Laplacian(1.0))),
    ("coupled norms", GAUSSIAN, 1),
    ("coupled strata", kernels.Matern(1.0, nu=1.5), 3),
    ("leverage", GAUSSIAN, 2),
    ("leverage", kernels.Matern(1.0, nu=1.5), 3),
    *(("grid", kernel, dim) for kernel in (GAUSSIAN, kernels.Laplacian(1.0)) for dim in (1, 2)),
    ("grid", kernels.RationalQuadratic(1.0, 0.5), 2),
    ("grid", kernels.Matern(1.0, nu=1.5), 3),
    ("iid + Taylor", GAUSSIAN, 2),
    ("energy + Taylor", kernels.RationalQuadratic(1.0, 0.5), 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kernel", "dim"), UNBIASED, ids=str)
def test_the_mean_over_seeds_is_the_kernel(name, kernel, dim, monkeypatch):
    monkeypatch.setattr(control, "_PILOT", 200)  # Any coefficient leaves the mean as it is
    rng = np.random.default_rng((dim, 1))
    X = rng.standard_normal((30, dim)) / np.sqrt(dim)
    problem = candidates.Problem(kernel, X, 20)
    lags = np.stack([np.full(dim, size) for size in (0.3, 0.8, 2.0)]) / np.sqrt(dim)
    choose = candidates.CANDIDATES[name].choose
    values = [
        choose(problem, stream).gram(np.zeros((1, dim)), lags)[0] for stream in rng.spawn(200)
    ]
    check_mean(np.array(values), kernel(np.zeros((1, dim)), lags)[0], ALPHA)


@pytest.mark.parametrize("are_stratified", [False, True])
@pytest.mark.parametrize("m", [1, 7, 12])
def test_norms_of_orthogonal_pairs_are_antithetic(m, are_stratified):
    scheme = CoupledNorms(are_stratified)
    directions, uniforms = scheme.sample((Directions(4), Uniforms(2)), m, np.random.default_rng(m))
    assert_allclose(np.linalg.norm(directions, axis=1), 1.0)
    pairs = m // 2
    first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    assert_allclose(uniforms[first] + uniforms[second], 1.0)
    assert_allclose(np.sum(directions[first] * directions[second], axis=1), 0.0, atol=1e-12)
    if are_stratified and m == 12:
        strata = np.sort(np.floor(12 * uniforms).astype(int), axis=0)
        assert set(np.unique(strata // 2, return_counts=True)[1]) == {4}
    (u,) = scheme.sample((Coordinates(3),), m, np.random.default_rng(m))
    assert 0.0 < u.min() <= u.max() < 1.0


def test_no_coupling_of_two_norms_has_less_variance():
    # Orthogonal pairs in the plane at a small lag, norms at the centres of five strata.
    norms = stats.chi.ppf((np.arange(5) + 0.5) / 5, 2)
    angle = np.linspace(0.0, np.pi, 400, endpoint=False)

    def covariance(order):
        left, right = (
            np.outer(norms, 0.5 * np.cos(angle)),
            np.outer(norms[order], 0.5 * np.sin(angle)),
        )
        return np.mean(np.cos(left) * np.cos(right))

    best = min(permutations(range(5)), key=lambda order: covariance(list(order)))
    assert best == (4, 3, 2, 1, 0)


def normal_moment(powers):
    """The mean of a product of powers of standard normals."""
    if any(power % 2 for power in powers):
        return 0.0
    return float(np.prod([factorial(p) / (2 ** (p // 2) * factorial(p // 2)) for p in powers]))


def check_moments(rule, dim, is_exact):
    omega = np.asarray(rule.omega)
    for powers in product(range(8), repeat=dim):
        if sum(powers) % 2 == 0 and is_exact(powers):
            found = float(rule.weight @ np.prod(omega ** np.array(powers), axis=1))
            assert_allclose(found, normal_moment(powers), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("dim", "m", "q"), [(1, 5, 10), (2, 8, 4), (3, 20, 3), (2, 13, 5)])
def test_products_of_hermite_rules_have_the_moments(dim, m, q):
    rule = cubature.product_rule(dim, m)
    assert len(rule.weight) == (q**dim + 1) // 2 <= m
    assert rule.weight.min() > 0.0
    check_moments(rule, dim, lambda powers: max(powers) <= 2 * q - 1)


@pytest.mark.parametrize(("dim", "m", "level"), [(1, 4, 4), (2, 10, 3), (3, 20, 3), (3, 60, 4)])
def test_sparse_rules_have_the_moments(dim, m, level):
    rule = cubature.sparse_rule(dim, m)
    assert len(rule.weight) <= m
    assert_allclose(rule.weight.sum(), 1.0)
    check_moments(rule, dim, lambda powers: sum(powers) <= 2 * level - 1)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("m", [2, 9, 40, 300])
def test_weights_of_a_grid_are_positive_and_sum_to_one(dim, m):
    law = spectral_measure(GAUSSIAN, dim).parts[0].law
    for seed in range(20):
        weight = cubature.shifted_grid(law, m, np.random.default_rng(seed)).weight
        assert len(weight) == m
        assert_allclose(weight.sum(), 1.0)
        if m > 9**dim:
            assert weight.min() > 0.0


def test_draws_outside_a_cube_are_those_that_rejection_keeps():
    rng = np.random.default_rng(0)
    found = cubature.normals_outside(0.8, 20_000, 3, rng)
    all_drawn = rng.standard_normal((60_000, 3))
    kept = all_drawn[np.abs(all_drawn).max(axis=1) > 0.8][:20_000]
    assert np.abs(found).max(axis=1).min() > 0.8
    for values, others in zip(found.T, kept.T, strict=True):
        assert stats.ks_2samp(values, others).pvalue > ALPHA
    products, others = np.prod(found**2, axis=1), np.prod(kept**2, axis=1)
    assert stats.ks_2samp(products, others).pvalue > ALPHA


def tiny_pool():
    X = np.random.default_rng(1).standard_normal((40, 2))
    return selected.pool(GAUSSIAN, X, 5, np.random.default_rng(2)), X


def test_a_pool_has_mean_products_at_lags():
    drawn, X = tiny_pool()
    rng = np.random.default_rng(2)
    omega = spectral_measure(GAUSSIAN, 2).sample(20, rng, "iid").omega
    left, right = rng.integers(40, size=(2, 1000))
    lags = X[left] - X[right]
    cosines = np.array([[np.cos(lag @ one) for one in omega] for lag in lags])
    assert_allclose(drawn.products, np.mean(cosines[:, :, None] * cosines[:, None], axis=0))
    value = np.exp(-0.5 * np.sum(lags**2, axis=1))
    assert_allclose(drawn.target, np.mean(cosines * value[:, None], axis=0))


def loss(drawn, chosen, weight):
    """The mean square of a weighted sum of cosines less the kernel, but for a constant."""
    products, target = drawn.products[np.ix_(chosen, chosen)], drawn.target[chosen]
    return weight @ products @ weight - 2.0 * weight @ target


def test_herding_takes_the_best_next_one():
    drawn, _ = tiny_pool()
    chosen = []
    for count in range(1, 6):
        weight = np.full(count, 1.0 / count)
        others = [i for i in range(20) if i not in chosen]
        chosen.append(min(others, key=lambda i: loss(drawn, [*chosen, i], weight)))
    found = selected.herded(drawn, 5)
    assert_allclose(found.omega, drawn.omega[chosen])
    assert_allclose(found.weight, 0.2)


def test_pursuit_takes_the_best_next_one_and_the_best_weights(monkeypatch):
    monkeypatch.setattr(selected, "_RIDGE", 0.0)
    drawn, _ = tiny_pool()

    def best(chosen):
        return np.linalg.solve(drawn.products[np.ix_(chosen, chosen)], drawn.target[chosen])

    chosen = []
    for _ in range(5):
        others = [i for i in range(20) if i not in chosen]
        tried = {i: loss(drawn, [*chosen, i], best([*chosen, i])) for i in others}
        chosen.append(min(tried, key=tried.get))
    found = selected.pursued(drawn, 5)
    assert_allclose(found.omega, drawn.omega[chosen])
    assert_allclose(found.weight, best(chosen), rtol=1e-6)


def test_leverages_are_quadratic_forms_of_the_waves():
    X = np.random.default_rng(0).standard_normal((25, 2))
    found = selected.by_leverage(GAUSSIAN, X, 6, np.random.default_rng(3))
    pool = spectral_measure(GAUSSIAN, 2).sample(24, np.random.default_rng(3), "iid").omega
    waves = np.exp(1j * X @ pool.T)
    inner = np.linalg.inv(GAUSSIAN(X) + 0.01 * np.eye(25))
    leverage = np.einsum("in,ij,jn->n", waves.conj(), inner, waves).real
    place = [int(np.flatnonzero((pool == one).all(axis=1))[0]) for one in found.omega]
    assert_allclose(found.weight, leverage.sum() / leverage[place] / (24 * 6))


def test_the_coefficient_is_the_closed_form_of_the_gaussian_kernel():
    X = np.random.default_rng(0).standard_normal((50, 2))
    frequencies = spectral_measure(GAUSSIAN, 2).sample(8, 0, "iid")
    found = control.controlled(GAUSSIAN, np.eye(2), X, frequencies, np.random.default_rng(4))
    left, right = np.random.default_rng(4).integers(50, size=(2, 300))
    square = np.sum((X[left] - X[right]) ** 2, axis=1)
    # Covariance of cos and square / 2 of a normal: minus half of s^4 k; variance: half of s^4.
    expected = np.sum(square**2 * np.exp(-0.5 * square)) / np.sum(square**2)
    assert_allclose(found.coefficient, expected, rtol=0.15)
    omega, lags = np.asarray(frequencies.omega), X[:3, None] - X[None, :4]
    squares = np.mean((lags @ omega.T) ** 2, axis=2) - np.sum(lags**2, axis=2)
    exact = np.mean(np.cos(lags @ omega.T), axis=2) + 0.5 * found.coefficient * squares
    assert_allclose(found.gram(X[:3], X[:4]), exact)


def test_errors_by_hand():
    cell = Cell("Gaussian", "Hermite", 2, {"part": "candidates", "inputs": 2, "features": 32})
    found = find("schemes").run(cell, Options())
    data = candidates._data("Gaussian", 2, 2)
    fit, held = data.X[:200], data.X[200:]
    rule = cubature.product_rule(2, 16)
    exact = np.exp(-0.5 * np.sum((held[:, None] - held) ** 2, axis=2))
    gram = rule.gram(held)
    expected = np.linalg.norm(gram - exact) / np.linalg.norm(exact)
    assert found["relative_error"] == pytest.approx(expected)
    far = rule.gram(10.0 * held) - np.exp(-50.0 * np.sum((held[:, None] - held) ** 2, axis=2))
    off = far[~np.eye(200, dtype=bool)]
    assert found["far_error"] == pytest.approx(np.sqrt(np.mean(off**2)))
    errors = []
    for kernel in (GAUSSIAN, rule.gram):
        model = KernelRidge(alpha=0.01, kernel="precomputed").fit(kernel(fit, fit), data.y[:200])
        errors.append(np.sqrt(np.mean((model.predict(kernel(held, fit)) - data.truth[200:]) ** 2)))
    assert found["ridge_error"] == pytest.approx(errors[1] / errors[0], rel=1e-4)
    assert np.std(data.y - data.truth) == pytest.approx(0.1, rel=0.2)


def test_candidates_are_measured_where_they_apply():
    cells = find("schemes").cells(Options())
    some = {
        (cell.method, cell.dataset, cell.settings["inputs"])
        for cell in cells
        if cell.settings["part"] == "candidates"
    }
    assert ("grid", "Laplacian", 3) in some
    assert ("grid", "Laplacian", 5) not in some
    assert ("Hermite", "Gaussian", 5) in some
    assert not [key for key in some if key[:2] == ("Hermite", "Laplacian")]
    assert {key[0] for key in some} == set(candidates.CANDIDATES)
