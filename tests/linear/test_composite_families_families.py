"""Parameters of sums, products and kernels on columns, learned by the evidence of features."""

import numpy as np
import pytest
from linear.test_feature_evidence import dense_log_evidence
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import norm, t

from bochner import KreinRidge, load, save, spectral_measure
from bochner.features.chunks import ArrayChunks, Chunk, Numbers
from bochner.kernels import (
    NTK,
    Anova,
    Bilinear,
    Categorical,
    Cauchy,
    Constant,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Linear,
    LocallyStationary,
    Matern,
    Ordinal,
    Periodic,
    Product,
    RationalQuadratic,
    SpectralMixture,
    Sum,
    White,
)
from bochner.linear.feature_evidence import evidence_gradient
from bochner.linear.kernel_families import parameterised
from bochner.linear.kernel_selection import select_kernel

RNG = np.random.default_rng(0)
N = 30
X = np.column_stack((RNG.normal(size=(N, 3)), RNG.integers(0, 3, size=N)))
Y = np.stack([np.sin(X[:, 0]) + X[:, 3], X[:, 1] * X[:, 2]], axis=1) + 0.2 * RNG.normal(size=(N, 2))
TARGETS = Numbers(np.zeros(2))
LINE = Linear(0.7, centre=0.2, reach=3.0)
MIXTURE = SpectralMixture([0.7, 0.4], [[0.0, 1.0], [2.0, 0.3]], [[0.3, 0.2], [0.1, 0.6]])
KERNELS = {
    "sum": Gaussian(1.3) + 2.0 * Matern((0.7, 1.5, 3.0, 2.0)),
    "multiple": 2.0 * Gaussian(1.3),
    "columns": Gaussian((1.3, 0.8)).on([2, 0]) + Matern(1.5, nu=2.5).on(-3),
    "product": Gaussian(1.3).on(0) * Matern(0.9).on([1, 2]),
    "product of a sum": (Gaussian().on(0) + 2.0 * Laplacian(0.8).on(1)) * Matern(2.0).on(2),
    "sum of products": 0.5 * (Cauchy(1.2) * Gaussian(2.0)) + Anova(Gaussian(1.5), 0.5),
    "sum in a multiple": 2.0 * (Gaussian().on(0) + Cauchy().on(1)) + Matern().on(2),
    "mixture": MIXTURE.on([0, 1]) + Gaussian(1.4),
    "mixture in a product": MIXTURE.on([0, 1]) * Gaussian(1.4).on([0, 2]),
    "periodic": Periodic((2.0, 3.0), (1.0, 0.7)).on([0, 1]),
    "periodic that fades": Matern(1.5).on(0) * Periodic(2.0, 0.8).on(0),
    "periodic by category": Periodic(2.0, 1.1).on(0) * Categorical(n_levels=3).on(3),
    "categories": Gaussian(1.3).on(0) * Ordinal(2.0, n_levels=3).on(3) + Constant(0.5),
    "line": LINE.on(0) + Gaussian((1.3, 0.6)).on([1, 0]),
    "category": Categorical((0.3,), n_levels=3).on(3),
    "ordered": Ordinal(5.0, n_levels=3).on(3) * Gaussian(1.5).on(1),
    "quadratic": RationalQuadratic((1.2, 0.7, 2.0, 1.5), 0.8),
    "rotated": Bilinear(RationalQuadratic(1.2, 2.0), np.linspace(-1.0, 1.0, 8).reshape(4, 2)),
    "growing": (LINE + Constant(2.0)).on(0) * Gaussian(1.2).on([0, 1]),
}
EXACT = {"periodic", "periodic by category"}


def family_of(kernel, rows=X):
    family = parameterised(kernel, Chunk(rows, Y), np.ones(rows.shape[1]), np.random.default_rng(0))
    assert family is not None
    return family


def moved(family, seed=1, by=0.3):
    return family.origin + by * np.random.default_rng(seed).normal(size=family.origin.size)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_gradients_are_differences_of_the_dense_density(name, fit_intercept):
    family = family_of(KERNELS[name])
    theta = moved(family)
    draws = family.draw(24, 3, "orthogonal")

    def dense(at):
        return dense_log_evidence(family.frequencies(draws, at), 0.4, fit_intercept, X, Y)

    f = family.frequencies(draws, theta)
    rows = ArrayChunks(Chunk(X, Y))
    found = evidence_gradient(rows, f, TARGETS, 0.4, fit_intercept=fit_intercept)
    assert found.log_evidence == pytest.approx(dense(theta))
    step = 1e-5
    slopes = [(dense(theta + e) - dense(theta - e)) / (2 * step) for e in step * np.eye(len(theta))]
    gradient = family.pulled_back(draws, theta, found.slopes)
    assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.parametrize("name", KERNELS)
def test_families_start_at_their_kernel(name):
    family = family_of(KERNELS[name])
    assert_allclose(family.kernel(family.origin)(X), KERNELS[name](X), rtol=1e-10)


@pytest.mark.parametrize("is_factor", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_draws_are_unbiased_for_the_moved_kernel(name, is_factor):
    """The mean of Gram matrices over seeds, by its standard error, at several pairs of rows."""
    family = family_of(KERNELS[name])
    theta, rows = moved(family, seed=2), X[:7]
    exact = family.kernel(theta)(rows)
    draw = family.draw_factor if is_factor else family.draw
    n_seeds, m = 150, 32
    if name in EXACT and not is_factor:
        m, n_seeds = family.n_atoms, 1
    grams = [family.frequencies(draw(m, seed, "iid"), theta).gram(rows) for seed in range(n_seeds)]
    if n_seeds == 1:
        assert_allclose(grams[0], exact, atol=1e-9)
        return
    pairs = np.triu_indices(7, k=1)
    values = np.array([gram[pairs] for gram in grams])
    # Equal features in every draw, such as those of a constant, have no error but rounding.
    error = values.std(axis=0, ddof=1) / np.sqrt(n_seeds) + 1e-9
    z = (values.mean(axis=0) - exact[pairs]) / error
    # A family-wise error of one in ten thousand, over pairs and kernels.
    assert np.abs(z).max() < t.isf(1e-4 / (2.0 * len(z) * 2 * len(KERNELS)), n_seeds - 1)


def test_all_combinations_are_made_where_there_is_room():
    rows = np.zeros((N, 20))
    family = family_of(Periodic(), rows)
    # More than numbers of 64 bits have, and more than memory.
    assert family.n_atoms > 2**64
    draws = family.draw(64, 0, "orthogonal")
    assert family.frequencies(draws, family.origin).n_frequencies == 64


def test_quasi_random_factors_are_not_in_step():
    family = family_of(Gaussian().on(0) * Gaussian().on(1))
    gram = family.frequencies(family.draw(2**12, 3, "qmc"), family.origin).gram(X)
    exact = family.kernel(family.origin)(X)
    # Error of independent draws: the root of m times one over the root of two, and five of them.
    assert np.abs(gram - exact).max() < 5.0 * np.sqrt(0.5 / 2**12)


@pytest.mark.parametrize("name", KERNELS)
def test_the_total_variation_stays(name):
    family = family_of(KERNELS[name])
    for theta in (family.origin, moved(family)):
        measure = spectral_measure(family.kernel(theta), X.shape[1])
        assert measure.total_variation == pytest.approx(family.total)


def selected(kernel, rows=X, y=Y, m=32, seed=0, alpha=None):
    y = y[:, None] if y.ndim == 1 else y
    return select_kernel(
        kernel, Chunk(rows, y), m, "orthogonal", alpha, np.random.default_rng(seed)
    )


def test_one_summand_one_factor_and_all_columns_are_the_kernel_itself():
    own = np.array(selected(Gaussian(1.3)).length_scale)
    kernel = Gaussian(1.3)
    assert_allclose(selected(Sum((kernel,))).kernel.length_scale, own, rtol=1e-6)
    assert_allclose(selected(Product((kernel,))).factors[0].length_scale, own, rtol=1e-6)
    assert_allclose(selected(kernel.on([0, 1, 2, 3])).kernel.length_scale, own, rtol=1e-6)
    double = selected(2.0 * kernel)
    assert double.factor == 2.0
    # Bounds of alpha move with the factor, and nothing else does.
    assert_allclose(double.kernel.length_scale, own, rtol=1e-6)


def additive(n, seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-3.0, 3.0, size=(n, 2))
    true = 4.0 * Gaussian(2.0).on(0) + Gaussian(0.5).on(1)
    K = true(rows)
    f = np.linalg.cholesky(K + 1e-8 * np.eye(n)) @ rng.normal(size=n)
    return rows, f + 0.3 * rng.normal(size=n), K


def scores(y, mean, std):
    """Return the mean negative log density of values."""
    return -np.mean(norm.logpdf(y, mean, std))


def test_scales_and_masses_of_a_known_sum_are_recovered():
    """The mean of the logarithms over draws, by its standard error, and densities of new rows."""
    logs, excess = [], []
    for seed in range(8):
        rows, y, K = additive(700, seed)
        kernel = Gaussian().on(0) + Gaussian().on(1)
        settings = {"alpha": "evidence", "length_scale": "evidence", "random_state": seed}
        model = KreinRidge(kernel, 512, **settings).fit(rows[:500], y[:500])
        slow, fast = model.kernel_.terms
        scales = [slow.kernel.kernel.length_scale[0], fast.kernel.kernel.length_scale[0]]
        logs.append(np.log([*scales, slow.factor / fast.factor]))
        gain = np.linalg.solve(K[:500, :500] + 0.09 * np.eye(500), K[:500, 500:]).T
        variance = 5.09 - np.einsum("ij,ij->i", gain, K[500:, :500])
        exact = scores(y[500:], gain @ y[:500], np.sqrt(variance))
        excess.append(scores(y[500:], *model.predict(rows[500:], return_std=True)) - exact)
    error = np.std(logs, axis=0, ddof=1) / np.sqrt(len(logs))
    z = (np.mean(logs, axis=0) - np.log([2.0, 0.5, 4.0])) / error
    assert (np.abs(z) < t.isf(5e-4, len(logs) - 1)).all()
    assert error[:2].max() < 0.2
    # Five learned parameters cost about 5 / (2 n) = 0.005. The kernel that rows start from, with
    # its length scales of one, has an excess of 0.14.
    assert np.mean(excess) < 0.02


def test_units_of_columns_do_not_matter():
    rows, y, _ = additive(200, 0)
    units = np.array([1e-3, 1e4])
    own = selected(Gaussian(1.0).on(0) + Matern(1.0).on(1), rows, y)
    kernel = Gaussian(units[0]).on(0) + Matern(units[1]).on(1)
    other = selected(kernel, units * rows, 10.0 * y)
    for unit, one, same in zip(units, own.terms, other.terms, strict=True):
        found = np.array(same.kernel.kernel.length_scale) / unit
        assert_allclose(found, one.kernel.kernel.length_scale, rtol=1e-3)
        assert same.factor == pytest.approx(one.factor, rel=1e-3)


def test_an_irrelevant_summand_loses_its_share():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    y = np.sin(2.0 * rows[:, 0]) + 0.1 * rng.normal(size=300)
    found = selected(Gaussian().on(0) + Gaussian().on(1), rows, y)
    assert found.terms[1].factor < 0.05 * found.terms[0].factor


def test_a_line_and_a_curve_are_told_apart():
    """Masses of lines are large numbers, which bounds of alpha must not follow."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    y = 2.0 * rows[:, 0] + np.sin(2.0 * rows[:, 1]) + 0.1 * rng.normal(size=300)
    kernel = Linear(reach=4.0).on(0) + Gaussian(3.0).on([0, 1])
    _, curve = selected(kernel, rows, y).terms
    scales = curve.kernel.kernel.length_scale
    assert scales[1] < 1.5 < 5.0 * scales[1] < scales[0]
    model = KreinRidge(kernel, 128, alpha="evidence", length_scale="evidence", random_state=0)
    mean, std = model.fit(rows[:200], y[:200]).predict(rows[200:], return_std=True)
    # The expected score of the true function: errors of one standard deviation.
    assert scores(y[200:], mean, std) < scores(y[200:], y[200:] + 0.1, 0.1) + 0.2


def test_a_periodic_length_scale_is_learned():
    rng = np.random.default_rng(0)
    rows = rng.uniform(0.0, 10.0, size=(400, 1))
    smooth = np.sin(2 * np.pi * rows[:, 0])
    rough = np.where(smooth > 0, 1.0, -1.0)
    noise = 0.1 * rng.normal(size=400)
    scales = [selected(Periodic(1.0), rows, f + noise).length_scale[0] for f in (smooth, rough)]
    assert scales[1] < 0.5 < 1.0 < scales[0]


def test_rows_may_be_sparse_and_inputs_of_a_part_many():
    kernel = Gaussian(1.3).on([0, 1]) + Matern(1.3).on(2)
    dense, other = selected(kernel), selected(kernel, sparse.csr_array(X))
    for one, same in zip(dense.terms, other.terms, strict=True):
        assert same.factor == pytest.approx(one.factor, rel=1e-6)
    rows = np.random.default_rng(0).normal(size=(50, 121))
    found = selected(Gaussian(10.0).on(range(120)) + Gaussian().on(120), rows, rows[:, 0], m=8)
    assert len(set(found.terms[0].kernel.kernel.length_scale)) == 1


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian() - 0.5 * Gaussian(2.0),
        Gaussian() + 0.0 * Matern(),
        Gaussian() + DeltaGaussian(),
        Gaussian() * NTK(),
        Gaussian() + Constant(0.0),
        Matern() + LocallyStationary(Gaussian(3.0), Gaussian()),
        LINE.on(0) * LINE.on(1),
        2.0 * LINE.on(0),
        Categorical(1.0, n_levels=3).on(3),
        Anova(Gaussian(), 0.5) - Gaussian(),
    ],
    ids=repr,
)
def test_others_stay(kernel):
    """Signed and designed measures have no evidence, and some kernels nothing to learn."""
    assert selected(kernel) is None


def test_noise_is_refused_in_its_own_words():
    with pytest.raises(ValueError, match="noise is a row's own"):
        selected(Gaussian() + White())


def test_each_term_needs_two_frequencies():
    with pytest.raises(ValueError, match="n_components must be at least 8 to learn a sum of 2"):
        selected(Gaussian() + Matern(), m=3)
    with pytest.raises(ValueError, match="n_components must be at least 20"):
        selected(MIXTURE.on([0, 1]) + Matern(), m=9)


def test_models_are_saved_and_kernels_keep_their_parameters(tmp_path):
    kernel = Gaussian().on([0, 1]) + 2.0 * Matern().on(2)
    settings = {"length_scale": "evidence", "random_state": 0}
    model = KreinRidge(kernel, 32, **settings).fit(X, Y)
    save(model, tmp_path / "model")
    same = load(tmp_path / "model")
    assert same.kernel_ == model.kernel_
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert model.kernel == kernel
    assert model.get_params()["kernel__k2__kernel__kernel__length_scale"] == 1.0
    learned = model.kernel_.get_params()
    assert learned["k2__factor"] + learned["k1__factor"] == pytest.approx(3.0)
    model.set_params(kernel__k1__kernel__length_scale=2.0)
    assert model.kernel == Gaussian(2.0).on([0, 1]) + 2.0 * Matern().on(2)
    # A learned kernel is one to start from, too.
    assert KreinRidge(model.kernel_, 32, random_state=0).fit(X, Y).kernel_ == model.kernel_
