"""Every parameter of a kernel or likelihood is learned by the evidence, or said to be given."""

import inspect
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from linear.test_feature_evidence import assert_slopes
from numpy.testing import assert_allclose
from scipy.stats import chi2

from bochner import KernelGLMClassifier, KernelGLMRegressor, kernels
from bochner import gaussian_process as likelihoods
from bochner.features.chunks import Chunk
from bochner.gaussian_process import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    StudentTLikelihood,
)
from bochner.kernels import (
    NTK,
    TL1,
    Anova,
    ArcCosine,
    Bilinear,
    Categorical,
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    DotProduct,
    Exponential,
    Gaussian,
    Harmonizable,
    Hellinger,
    Kernel,
    KernelAdapter,
    Laplacian,
    Linear,
    LocallyStationary,
    Matern,
    Ordinal,
    Periodic,
    Polynomial,
    Radial,
    RationalQuadratic,
    ShiftGaussian,
    SinhGaussian,
    SpectralMixture,
    SphericalPolynomial,
    Stationary,
    Tanh,
)
from bochner.linear.kernel_families import parameterised
from bochner.linear.ridge_search import GramSearch

MAP = np.array([[1.0, 0.5], [-0.5, 2.0]])
KERNELS = {
    "Anova": Anova(Gaussian((0.7, 1.5)), 0.6), "ArcCosine": ArcCosine(1),
    "Bilinear": Bilinear(Gaussian(0.8), MAP),
    "Categorical": Gaussian(2.0).on(0) + Categorical(0.2, n_levels=4).on(1), "Cauchy": Cauchy(0.8),
    "Constant": Gaussian(0.7) + Constant(0.5), "CoshGaussian": CoshGaussian(1.0, 0.3),
    "DeltaGaussian": DeltaGaussian(), "DotProduct": DotProduct(np.exp),
    "Exponential": Exponential(0.8), "Gaussian": Gaussian(0.8),
    "Harmonizable": Harmonizable([1.0], [[[1.0, 0.5]]], [[0.1, 0.2]], [[0.5, 0.7]], [[1.0, 0.8]]),
    "Hellinger": Hellinger(), "Laplacian": Laplacian(0.8),
    "Linear": Gaussian(0.7) + Linear(0.5, 0.1, 3.0).on(0),
    "LocallyStationary": LocallyStationary(Gaussian(3.0), Gaussian(), 0.1),
    "Matern": Matern(0.8, 2.5), "NTK": NTK(), "OnColumns": Gaussian(0.8).on(1),
    "Ordinal": Gaussian(2.0).on(0) * Ordinal(1.5, n_levels=4).on(1),
    "Periodic": Periodic((3.0, 2.0), 0.9), "Polynomial": Polynomial(2, 1.0),
    "Product": Gaussian(0.8) * Matern(2.0).on(0), "Radial": Radial(np.exp),
    "RationalQuadratic": RationalQuadratic(0.8, 1.5),
    "Scaled": Gaussian(0.7).on(0) + 2.0 * Matern(1.5).on(1),
    "ShiftGaussian": ShiftGaussian(1.0, 0.3), "SinhGaussian": SinhGaussian(1.0, 0.3),
    "SpectralMixture": SpectralMixture(
        [0.7, 0.4], [[0.0, 1.0], [2.0, 0.3]], [[0.3, 0.2], [0.1, 0.6]]
    ),
    "SphericalPolynomial": SphericalPolynomial(2, 2.0), "Stationary": Stationary(np.exp),
    "Sum": Gaussian(0.7).on(0) + Matern(1.5).on(1), "TL1": TL1(2.0), "Tanh": Tanh(1.0, 0.5),
    "Transposed": kernels.Transposed(SinhGaussian(1.0, 0.3)),
}  # fmt: skip
"""An expression of two inputs with each class of kernels. The second input may be a code."""

BY_ALPHA = {"White"}
"""Kernels that features refuse: their variance is the noise, which models learn as alpha."""


def family_of(kernel, rows):
    try:
        return parameterised(kernel, rows, np.ones(2), np.random.default_rng(0))
    except TypeError:  # There are no features in closed form
        return None


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.uniform(-3.0, 3.0, n), rng.integers(0, 4, n)))
    return Chunk(X, rng.normal(size=(n, 1)))


def has_family(kernel):
    family = family_of(kernel, rows_of(10))
    return family is not None and not family.is_exact


WITH_FAMILY = [name for name, kernel in KERNELS.items() if has_family(kernel)]


def leaves(kernel):
    """Return the kernels that an expression is made of, without its sums, products and factors."""
    nested = [leaf for part in kernel.nested().values() for leaf in leaves(part)]
    return nested if isinstance(kernel, kernels.Sum | kernels.Product) else [kernel, *nested]


def numbers(value):
    """Return the numbers of a parameter, or ``None`` if it has none to learn."""
    if isinstance(value, bool | Kernel | str) or value is None or callable(value):
        return None
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None


def described(cls, name):
    """Return the descriptions of a parameter in the docstrings of a class and its bases."""
    texts = []
    for base in cls.__mro__:
        entries = re.findall(
            r"^    ([\w, ]+) : [^\n]*\n((?:        [^\n]*\n|\n)*)", f"{base.__doc__}\n", re.M
        )
        for names, text in entries:
            if name in names.split(", "):
                texts.append(text.lower())
    return "".join(texts)


def learned_parameters(name):
    """Return the parameters of the class that the search on features changes, and all of them."""
    kernel, rows = KERNELS[name], rows_of(10)
    parameters = {}
    family = family_of(kernel, rows)
    moved = kernel
    if family is not None:
        moves = np.random.default_rng(1).normal(size=family.origin.size)
        moved = family.kernel(family.origin + moves)
    pairs = [leaves(each) for each in (kernel, moved)]
    # Terms of a sum have factors after the search, whether they had one before it or not.
    is_free = [
        [leaf for leaf in each if name == "Scaled" or not isinstance(leaf, kernels.Scaled)]
        for each in pairs
    ]
    firsts = [next(leaf for leaf in each if type(leaf).__name__ == name) for each in is_free]
    for key, value in firsts[0].get_params(deep=False).items():
        before, after = numbers(value), numbers(firsts[1].get_params(deep=False)[key])
        if before is not None:
            parameters[key] = not np.allclose(before, np.resize(after, before.shape))
    return type(firsts[0]), parameters


def test_every_class_of_kernels_is_here():
    classes = {
        name
        for name in kernels.__all__
        if inspect.isclass(cls := getattr(kernels, name))
        and issubclass(cls, Kernel)
        and not inspect.isabstract(cls)
    }
    assert classes == set(KERNELS) | BY_ALPHA


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in ("Sum", "Product")])
def test_parameters_of_kernels_are_learned_or_given(name):
    cls, parameters = learned_parameters(name)
    for key, is_learned in parameters.items():
        assert is_learned or "given" in described(cls, key), f"{key} of {name} stays at its start"


@pytest.mark.parametrize("name", KERNELS)
def test_parameters_with_a_domain_are_learned_by_processes(name):
    kernel = KERNELS[name]
    if not kernel.is_symmetric:
        kernel = kernel.symmetrised
    adapter = KernelAdapter(kernel)
    names = [each.name for each in adapter.hyperparameters]
    assert names == list(kernel.learnable())
    moved = adapter.clone_with_theta(adapter.theta + 0.1)
    assert_allclose(moved.theta, adapter.theta + 0.1)
    params, changed = kernel.get_params(), moved.kernel.get_params()
    for key in names:
        assert (numbers(params[key]) != numbers(changed[key])).all()
    for leaf in leaves(kernel) if kernel is KERNELS[name] and name != "Harmonizable" else ():
        for key, value in leaf.get_params(deep=False).items():
            is_number = numbers(value) is not None
            if is_number and key not in leaf.learnable():
                assert "given" in described(type(leaf), key), key


@pytest.mark.parametrize("name", WITH_FAMILY)
def test_slopes_are_differences_of_the_dense_evidence(name):
    rows = rows_of(30)
    assert_slopes(family_of(KERNELS[name], rows), rows, False)


TRUE = {
    "correlation": (
        Gaussian(1.0).on(0) * Categorical(0.0, n_levels=4).on(1),
        Gaussian(1.0).on(0) * Categorical(0.9, n_levels=4).on(1),
    ),
    "ordered levels": (
        Gaussian(1.0).on(0) * Ordinal(0.3, n_levels=4).on(1),
        Gaussian(1.0).on(0) * Ordinal(8.0, n_levels=4).on(1),
    ),
    "tails": (RationalQuadratic((1.0, 1.0), 20.0), RationalQuadratic((0.3, 1.0), 0.15)),
    "curve of a period": (Periodic(4.0, 3.0).on(0), Periodic(4.0, 0.4).on(0)),
    "period by category": (
        Gaussian(1.0).on(0) + Periodic(1.0, 1.0).on(0) * Categorical(0.0, n_levels=4).on(1),
        Gaussian(2.0).on(0) + Periodic(1.0, 1.0).on(0) * Categorical(0.93, n_levels=4).on(1),
    ),
    "mapped": (
        Bilinear(RationalQuadratic(1.0, 20.0), MAP),
        Bilinear(RationalQuadratic(0.4, 0.2), MAP),
    ),
}
"""Kernels at which a search starts, and kernels of which the targets are draws."""


def drawn(kernel, n, seed, noise=0.1):
    """Return rows, with a draw of a process and noise."""
    rows = rows_of(n, seed)
    f = np.linalg.cholesky(kernel(rows.X) + 1e-8 * np.eye(n))
    rng = np.random.default_rng([seed, 1])
    return Chunk(rows.X, (f @ rng.normal(size=n) + noise * rng.normal(size=n))[:, None])


def exact_evidence(kernel, rows, alpha):
    """Return the greatest log density over the scale of kernel and noise, by the formula."""
    n, y = len(rows.y), rows.y[:, 0]
    covariance = kernel(rows.X) + alpha * np.eye(n)
    variance = y @ np.linalg.solve(covariance, y) / n
    return -0.5 * (n * np.log(2 * np.pi * np.e * variance) + np.linalg.slogdet(covariance)[1])


def check_recovery(name, n, seed):
    """The end of the search is about as likely as the truth, and the start is not.

    Twice the difference of log likelihoods has a chi-squared law (Wilks).
    """
    start, truth = TRUE[name]
    rows = drawn(truth, n, seed)
    family = family_of(start, rows)
    problem = GramSearch(family.in_units, rows, None, False)
    point, _ = problem.climbed(problem.started(family.origin), 60)
    theta, alpha = point[:-1], float(np.exp(point[-1]))
    found = exact_evidence(family.kernel(theta), rows, alpha)
    gain = found - exact_evidence(truth, rows, 0.01)
    # The weak prior of the parameters costs up to two nats here.
    assert -2.0 < gain < 0.5 * chi2.isf(1e-3, len(point))
    alphas = np.exp(np.linspace(-8.0, 2.0, 30))
    kept = max(exact_evidence(start, rows, each) for each in alphas)
    assert found - kept > 0.5 * chi2.isf(1e-6, len(point))


@pytest.mark.parametrize("name", ["correlation", "tails"])
def test_parameters_of_a_draw_are_recovered(name):
    check_recovery(name, 120, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TRUE)
def test_all_parameters_of_draws_are_recovered(name, seed):
    check_recovery(name, 250, seed)


def outliers(df, n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    noise = rng.normal(size=n) if np.isinf(df) else rng.standard_t(df, n)
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * noise


def counts(dispersion, n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    rate = np.exp(1.5 + np.sin(2.0 * X[:, 0])) * rng.gamma(1.0 / dispersion, dispersion, n)
    return X, rng.poisson(rate).astype(float)


def grades(cuts, n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    return X, np.searchsorted(cuts, 2.0 * np.sin(2.0 * X[:, 0]) + rng.logistic(size=n))


LIKELIHOODS = {
    "few degrees of freedom": (StudentTLikelihood(), StudentTLikelihood(1.7, 0.3), outliers(1.7)),
    "more degrees of freedom": (StudentTLikelihood(), StudentTLikelihood(6.0, 0.3), outliers(6.0)),
    "normal noise": (GaussianLikelihood(), GaussianLikelihood(0.3), outliers(np.inf)),
    "censored noise": (
        CensoredGaussianLikelihood(-0.5, 0.8),
        CensoredGaussianLikelihood(-0.5, 0.8, 0.3),
        outliers(np.inf),
    ),
    "counts": (NegativeBinomialLikelihood(), NegativeBinomialLikelihood(0.4), counts(0.4)),
    "grades": (OrdinalLikelihood(), OrdinalLikelihood((-1.0, 1.5)), grades((-1.0, 1.5))),
}
"""Likelihoods with parameters to learn, the true likelihoods, and rows drawn from them."""


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_parameters_of_likelihoods_are_recovered(name):
    """The learned likelihood is about as likely as the true one; all its parameters are learned.

    The two fits may find different maxima of the posterior, which differ by a nat or two.
    """
    learned, truth, (X, y) = LIKELIHOODS[name]
    assert learned.unknown == type(learned).learnable
    kind = KernelGLMClassifier if name == "grades" else KernelGLMRegressor
    settings = {"n_components": 32, "random_state": 0, "fit_intercept": name != "grades"}
    found, given = (kind(each, **settings).fit(X, y) for each in (learned, truth))
    n_parameters = len(found.likelihood_.vector(learned.unknown))
    gain = found.log_evidence_ - given.log_evidence_
    assert -2.0 < gain < 0.5 * chi2.isf(1e-3, n_parameters)


def test_degrees_of_freedom_of_normal_noise_are_many_and_bounded():
    X, y = outliers(np.inf, seed=3)
    law = KernelGLMRegressor("student_t", n_components=32, random_state=0).fit(X, y).likelihood_
    assert law.df == pytest.approx(100.0)
    assert law.noise_variance**0.5 == pytest.approx(0.3, rel=0.1)


@pytest.mark.parametrize("name", [n for n in dir(likelihoods) if n.endswith("Likelihood")])
def test_parameters_of_likelihoods_are_learned_or_given(name):
    cls = getattr(likelihoods, name)
    for field in fields(cls) if is_dataclass(cls) else ():
        text = described(cls, field.name)
        assert ("learned" if field.name in cls.learnable else "given") in text, field.name
