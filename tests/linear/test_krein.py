"""The stationary point in a Krein space, its poles, and alpha by cross-validation."""

import warnings

import numpy as np
import pytest
from laws.head_laws import krein_problem, krein_solution, krein_spectrum
from numpy.testing import assert_allclose, assert_array_equal

from bochner._base.arrays import pivoted_cholesky
from bochner.features import FeatureSums
from bochner.linear.krein import KreinSpectrum, fit_krein

RNG = np.random.default_rng(0)
Z, Y = RNG.normal(size=(30, 8)), RNG.normal(size=(30, 2)) + 1.0
SUMS = FeatureSums.from_rows(Z, Y)
SIGNS = np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0])


@pytest.mark.parametrize("signature", [np.ones(7), np.zeros(8), np.where(SIGNS > 0, 1.0, np.nan)])
def test_a_signature_is_a_sign_for_every_feature(signature):
    with pytest.raises(ValueError, match="signature must hold a sign, 1 or -1, for each of 8"):
        fit_krein(SUMS, signature, 0.7)


def planted(eigenvalues):
    """A spectrum with these eigenvalues: orthogonal features of these squared norms."""
    eigenvalues = np.asarray(eigenvalues)
    rows = np.diag(np.sqrt(np.abs(eigenvalues)))
    sums = FeatureSums.from_rows(rows, np.ones((len(rows), 1)))
    return sums, np.where(eigenvalues < 0.0, -1.0, 1.0)


@pytest.mark.parametrize(
    ("eigenvalues", "alpha", "clear"),
    [
        ([-1.0, 5.0], 1.0 - 1e-7, 1.0 / 1.1),
        ([-1.0, 5.0], 1.0 + 1e-7, 1.1),
        # Midway between two poles that are nearer to each other than a tenth twice over.
        ([-1.0, -1.1, 5.0], 1.0 + 1e-7, np.sqrt(1.1)),
        # No room between poles within two per cent of each other.
        ([-1.0, -1.01, 5.0], 1.01 - 1e-7, 1.01 * 1.1),
        ([-1.0, -1.01, 5.0], 1.0 + 1e-7, 1.0 / 1.1),
    ],
)
def test_alpha_moves_to_the_nearest_clear_value(eigenvalues, alpha, clear):
    sums, signs = planted(eigenvalues)
    with pytest.warns(RuntimeWarning, match="is a pole"):
        moved = fit_krein(sums, signs, alpha).alpha
    assert_allclose(moved, clear, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-12, 0.5, 1.0 - 2e-6, 1.0 + 2e-6, 3.0, 1e9])
def test_alpha_stays_where_it_is_no_pole(alpha):
    sums, signs = planted([-1.0, 5.0])
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", "alpha = .* is within")
        solution = fit_krein(sums, signs, alpha)
    assert solution.alpha == alpha
    assert_allclose(solution.poles, [1.0])
    root = np.sqrt([1.0, 5.0])
    assert_allclose(solution.coef[:, 0], root / (root**2 + alpha * signs), rtol=1e-9)


def test_alpha_close_to_a_pole_is_used_with_a_warning():
    sums, signs = planted([-2.0, 5.0])
    for ratio, is_close in [(0.87, False), (0.94, True), (1.06, True), (1.15, False)]:
        with warnings.catch_warnings(record=True, action="always") as caught:
            assert fit_krein(sums, signs, 2.0 * ratio).alpha == 2.0 * ratio
        assert len(caught) == is_close
    with pytest.warns(RuntimeWarning, match=r"within 0\.01 of a pole.* poles is 2\.2\."):
        fit_krein(sums, signs, 2.025)


@pytest.mark.parametrize("seed", range(10))
def test_clear_values_are_clear_and_none_is_nearer(seed):
    rng = np.random.default_rng(seed)
    poles = np.exp(rng.normal(scale=rng.choice([0.05, 0.3, 2.0]), size=12))
    sums, signs = planted(np.concatenate([-poles, [2.0, 3.0]]))
    spectrum = KreinSpectrum.of(sums, signs, 14.0)
    assert_allclose(spectrum.poles, np.sort(poles), rtol=1e-12)

    def is_clear(alpha):
        below, above = poles[poles < alpha], poles[poles >= alpha]
        low = max(below, default=0.0)
        high = min(above, default=np.inf)
        asked = min(1.1, np.sqrt(high / low)) if low else 1.1
        slack = 1.0 - 1e-9
        return asked >= 1.01 and alpha >= slack * asked * low and alpha <= high / asked / slack

    for alpha in np.exp(rng.uniform(-3.0, 3.0, size=40)):
        clear = spectrum.clear_alpha(alpha)
        assert is_clear(clear)
        assert not spectrum.is_pole(clear)
        assert_allclose(spectrum.clear_alpha(clear), clear, rtol=1e-12)
        gap = abs(np.log(clear / alpha))
        nearer = alpha * np.exp(np.linspace(-gap, gap, 201)[1:-1] * (1 - 1e-6))
        assert gap < 1e-9 or not any(is_clear(other) for other in nearer)


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_of_alpha_keeps_clear_of_the_poles(seed):
    data = krein_problem(m=15, seed=seed)
    spectrum = krein_spectrum(data)
    with warnings.catch_warnings(action="error"):
        alpha = krein_solution(data, None, False).alpha
    assert np.abs(spectrum.poles / alpha - 1.0).min() > 0.009


@pytest.mark.parametrize("rank", [0, 1, 4, 9])
def test_the_pivoted_factor_has_the_rank_of_the_matrix(rank):
    root = RNG.normal(size=(9, rank)) * 10.0 ** -np.arange(rank)[::-1].clip(max=3)
    matrix = root @ root.T
    before = matrix.copy()
    lower, pivots = pivoted_cholesky(matrix)
    assert lower.shape == (9, rank)
    assert_allclose(lower @ lower.T, matrix, atol=1e-14 * max(np.trace(matrix), 1e-300))
    triangle = lower[pivots]
    assert_array_equal(triangle, np.tril(triangle))
    assert (np.diagonal(triangle) > 0.0).all()
    assert_array_equal(matrix, before)
