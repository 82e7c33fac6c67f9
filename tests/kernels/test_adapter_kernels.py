"""Kernels of scikit-learn's Gaussian processes, converted and back."""

import operator

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import bochner
from bochner import kernels
from bochner.gaussian_process.process_base import as_process_kernel
from bochner.kernels import KernelAdapter
from bochner.kernels.adapter import from_sklearn

X = np.random.default_rng(0).normal(size=(12, 3))
Y = np.random.default_rng(1).normal(size=(7, 3))

CONVERTED = [
    sk.RBF(0.7), sk.RBF([0.5, 1.0, 2.0]), sk.Matern(0.7, nu=0.5),
    sk.Matern([0.5, 1.0, 2.0], nu=1.5), sk.Matern(0.7, nu=2.5), sk.Matern(0.7, nu=np.inf),
    sk.Matern(0.7, nu=1.2), sk.RationalQuadratic(0.7, 2.0), sk.DotProduct(1.5), sk.DotProduct(0.0),
    sk.ConstantKernel(3.0), sk.WhiteKernel(0.3), 4.0 * sk.RBF(0.7), 3.0 * sk.ConstantKernel(2.5),
    2.0 * sk.RBF(0.7) + sk.WhiteKernel(0.3) * 2.0 + 1.5, 2.0 * (sk.RBF(0.7) + sk.Matern(2.0)),
    sk.RBF(0.7) * sk.DotProduct(1.0) + sk.RationalQuadratic(), sk.RBF(0.7) * sk.WhiteKernel(0.3),
    sk.RBF(0.7) ** 3, sk.DotProduct(1.0) ** 2, (2.0 * sk.Matern(0.7)) ** 2, (sk.RBF(0.7) ** 2) ** 2,
]  # fmt: skip


@pytest.mark.parametrize("kernel", CONVERTED, ids=repr)
def test_a_converted_kernel_has_the_values_of_the_original(kernel):
    converted = from_sklearn(kernel, 3)
    np.testing.assert_allclose(converted(X), kernel(X), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(converted(X, Y), kernel(X, Y), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(converted.diag(X), kernel.diag(X), rtol=1e-7)


def test_a_periodic_kernel_is_converted_for_one_input():
    kernel = sk.ExpSineSquared(0.7, 2.0)
    np.testing.assert_allclose(from_sklearn(kernel, 1)(X[:, :1]), kernel(X[:, :1]), atol=1e-12)
    with pytest.raises(ValueError, match=r"of one input: see Periodic"):
        from_sklearn(kernel, 3)


@pytest.mark.parametrize(
    "kernel",
    [
        sk.CompoundKernel([sk.RBF()]),
        sk.PairwiseKernel(metric="sigmoid"),
        sk.Matern(1.0, nu=1.5) ** 0.5,
        sk.RBF(1.0) ** -1.0,
        type("Own", (sk.RBF,), {})(),
    ],
    ids=["compound", "sigmoid", "root", "inverse", "own"],
)
def test_a_kernel_without_counterpart_is_refused(kernel):
    with pytest.raises(ValueError, match=r"counterpart"):
        from_sklearn(kernel, 3)


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match=r"from_sklearn takes a kernel of sklearn"):
        from_sklearn(kernels.Gaussian(), 3)


OWN = [
    kernels.Gaussian(0.7),
    kernels.Matern((0.5, 1.0, 2.0), nu=2.5),
    kernels.Exponential(0.7),
    2.0 * kernels.RationalQuadratic(0.7, 2.0) + kernels.White(0.3),
    kernels.Laplacian((0.5, 1.0, 2.0)),
    2.0 * kernels.Cauchy(0.7) * kernels.Gaussian(1.0) + kernels.Constant(0.5),
    kernels.Gaussian(0.7).on(0) + kernels.Periodic(2.0, 0.7).on(1),
    kernels.Anova(kernels.Gaussian((0.5, 1.0, 2.0)), 0.5),
    kernels.Anova(kernels.RationalQuadratic(0.7, 2.0), (0.3, 0.5, 0.9)),
    kernels.SpectralMixture([0.5, 1.0], [[0.5, 1.0, 2.0]] * 2, [[0.3] * 3, [0.1] * 3]),
    kernels.SpectralMixture([0.5, 1.0], [[0.5, 1.0, 2.0], [0.0] * 3], [np.eye(3) + 0.1] * 2),
    kernels.Linear(2.0, centre=0.5) + kernels.White(0.1),
]


def test_asymmetric_kernels_are_no_covariances():
    with pytest.raises(ValueError, match=r"not symmetric"):
        as_process_kernel(kernels.ShiftGaussian(1.0, shift=0.5))


@pytest.mark.parametrize("kernel", OWN, ids=repr)
def test_kernels_become_kernel_objects_of_scikit_learn(kernel):
    made = as_process_kernel(kernel)
    np.testing.assert_allclose(made(X), kernel(X), atol=1e-12)
    np.testing.assert_allclose(made(X, Y), kernel(X, Y), atol=1e-12)
    np.testing.assert_allclose(made.diag(X), kernel.diag(X), atol=1e-12)
    assert clone(made) == made
    moved = made.clone_with_theta(made.theta + 0.1)
    np.testing.assert_allclose(moved.theta, made.theta + 0.1)
    assert made.bounds.shape == (made.n_dims, 2)
    np.testing.assert_allclose(from_sklearn(made, 3)(X), kernel(X), atol=1e-12)


@pytest.mark.parametrize("kernel", OWN, ids=repr)
def test_derivatives_by_hyper_parameters_are_those_of_the_values(kernel):
    made = as_process_kernel(kernel)
    values, slopes = made(X, eval_gradient=True)
    np.testing.assert_allclose(values, kernel(X), atol=1e-12)
    assert slopes.shape == (12, 12, made.n_dims)
    for index, step in enumerate(1e-4 * np.eye(made.n_dims)):
        above = made.clone_with_theta(made.theta + step)(X)
        below = made.clone_with_theta(made.theta - step)(X)
        np.testing.assert_allclose(slopes[:, :, index], (above - below) / 2e-4, atol=1e-6)


def test_the_adapter_has_the_derivatives_of_scikit_learns_kernel():
    kernel = 2.0 * kernels.Gaussian((0.5, 1.0, 2.0))
    exact = sk.ConstantKernel(2.0) * sk.RBF([0.5, 1.0, 2.0])
    slopes = KernelAdapter(kernel)(X, eval_gradient=True)[1]
    np.testing.assert_allclose(slopes, exact(X, eval_gradient=True)[1], atol=1e-9)


def test_scikit_learns_own_process_takes_an_adapter():
    y = np.sin(X[:, 0])
    model = GaussianProcessRegressor(KernelAdapter(kernels.Laplacian(1.0)), alpha=0.01).fit(X, y)
    K = model.kernel_.kernel(X) + 0.01 * np.eye(12)
    assert model.kernel_.theta[0] != 0.0
    np.testing.assert_allclose(
        model.predict(Y), model.kernel_.kernel(Y, X) @ np.linalg.solve(K, y), atol=1e-10
    )


def test_estimators_take_kernels_of_scikit_learn():
    y = np.sin(X[:, 0])
    kernel, own = 2.0 * sk.RBF([1.0, 1.0, 1.0]), 2.0 * kernels.Gaussian((1.0, 1.0, 1.0))
    pairs = [
        (bochner.KreinRidge(k, 64, random_state=0).fit(X, y).predict(Y) for k in (kernel, own)),
        (bochner.FourierFeatures(k, 64, random_state=0).fit_transform(X) for k in (kernel, own)),
        (
            bochner.KernelGLMRegressor(kernel=k, n_components=64, random_state=0)
            .fit(X, y)
            .predict(Y)
            for k in (kernel, own)
        ),
        (
            bochner.features.KreinNystroem(k, n_components=4, random_state=0).fit_transform(X)
            for k in (kernel, own)
        ),
    ]
    for first, second in pairs:
        np.testing.assert_array_equal(first, second)
    learned = bochner.KreinRidge(kernel, 64, length_scale="evidence", random_state=0).fit(X, y)
    assert isinstance(learned.kernel_, kernels.Scaled)
    assert bochner.diagnose(kernel, X).kernel == own


@pytest.mark.parametrize("name", ["RBF", "Matern32", "Matern52", "WhiteKernel", "ExpSineSquared"])
def test_names_of_other_libraries_lead_to_the_kernel(name):
    with pytest.raises(AttributeError, match=rf"no {name}: write [A-Z]\w+\("):
        getattr(kernels, name)


@pytest.mark.parametrize("combine", [operator.add, operator.sub, operator.mul])
def test_kernels_of_both_libraries_are_not_combined(combine):
    """The sum of a kernel of each failed in NumPy, with words on loops of ufuncs."""
    with pytest.raises(TypeError, match=r"WhiteKernel is a kernel of scikit-learn.*KernelAdapter"):
        combine(2.0 * kernels.Gaussian(1.0), sk.WhiteKernel(0.1))
    mixed = KernelAdapter(2.0 * kernels.Gaussian(1.0)) + sk.WhiteKernel(0.1)
    assert mixed(np.zeros((1, 1)))[0, 0] == pytest.approx(2.1)


def check_mixed(combine=operator.mul, model=bochner.KreinRidge):
    """Estimators name both libraries, and how a kernel is converted."""
    message = ""
    try:
        model(2.0 * combine(sk.RBF(), kernels.Gaussian(1.0))).fit(X, X[:, 0])
    except TypeError as error:
        message = str(error)
    assert "Product is a kernel of scikit-learn" in message
    assert "kernels.KernelAdapter" in message


@pytest.mark.parametrize("combine", [operator.add, operator.mul])
@pytest.mark.parametrize(
    "model", [bochner.GaussianProcessRegressor, bochner.KreinRidge, bochner.FourierFeatures]
)
def test_kernels_that_scikit_learn_takes_for_numbers_are_refused(combine, model):
    """Its operators make a constant of their right operand."""
    check_mixed(combine, model)
