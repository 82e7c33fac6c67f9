"""Laws of every likelihood: densities, derivatives, samples and predictions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, softmax

from bochner.gaussian_process import (
    BernoulliLikelihood,
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    LabelLikelihood,
    Likelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    PoissonLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.gaussian_process.likelihood_predictions import LikelihoodMixture
from bochner.gaussian_process.number_likelihoods import LocationLikelihood

ALPHA = 1e-4
"""Probability that a test of samples fails by chance."""

CENSORED = CensoredGaussianLikelihood(left=-0.5, right=1.5, scale=0.8)
LATENT = (-2.0, -0.3, 0.0, 1.0, 2.5)


@dataclass(frozen=True)
class Instance:
    """A likelihood, targets that it may have, and its law by SciPy, given a latent value."""

    law: Likelihood
    targets: tuple[float, ...]
    reference: Callable[[Any], Any]  # A frozen distribution


@dataclass(frozen=True)
class Classes:
    """A law of classes of given probabilities, of shape (classes, ...)."""

    probabilities: Any

    def pmf(self, y):
        return self.probabilities[np.asarray(y, dtype=int)]

    def logpmf(self, y):
        return np.log(self.pmf(y))


def _ordinal(f, cuts=(-1.0, 0.5, 2.0)):
    below = [np.zeros_like(f), *(expit(cut - f) for cut in cuts), np.ones_like(f)]
    return Classes(np.diff(below, axis=0))


def _softmax(f):
    return Classes(softmax(f))


def _negative_binomial(f, a=0.4):
    return stats.nbinom(1.0 / a, 1.0 / (1.0 + a * np.exp(f)))


INSTANCES = {
    "gaussian": Instance(GaussianLikelihood(0.7), (-3.0, 0.2, 4.0), lambda f: stats.norm(f, 0.7)),
    "student": Instance(
        StudentTLikelihood(3.5, 0.7), (-9.0, 0.2, 4.0), lambda f: stats.t(3.5, f, 0.7)
    ),
    "censored": Instance(CENSORED, (0.0, 0.7, 1.4), lambda f: stats.norm(f, 0.8)),
    "poisson": Instance(
        PoissonLikelihood(), (0.0, 1.0, 3.0, 25.0), lambda f: stats.poisson(np.exp(f))
    ),
    "negative binomial": Instance(
        NegativeBinomialLikelihood(0.4), (0.0, 1.0, 3.0, 25.0), _negative_binomial
    ),
    "bernoulli": Instance(BernoulliLikelihood(), (0.0, 1.0), lambda f: stats.bernoulli(expit(f))),
    "ordinal": Instance(OrdinalLikelihood((-1.0, 0.5, 2.0)), (0.0, 1.0, 2.0, 3.0), _ordinal),
    "softmax": Instance(SoftmaxLikelihood(3), (0.0, 1.0, 2.0), _softmax),
}
NUMBERS = [name for name, one in INSTANCES.items() if not isinstance(one.law, LabelLikelihood)]
VECTORS = np.array([[0.0, 0.0, 0.0], [1.0, -2.0, 0.5], [-3.0, 4.0, 1.0]])
"""Latent values of three classes."""


def latent_values(name):
    return VECTORS if name == "softmax" else np.array(LATENT)


def densities_are_those_of_scipy(name):
    one = INSTANCES[name]
    for f in latent_values(name):
        law = one.reference(f)
        logarithm = law.logpdf if isinstance(one.law, LocationLikelihood) else law.logpmf
        for y in one.targets:
            found = one.law.log_density(np.array([y]), f[None] if np.ndim(f) else np.array([f]))
            np.testing.assert_allclose(found[0], logarithm(y), rtol=1e-9, atol=1e-12)


def derivatives_are_differences(name, step=1e-5):
    """Slopes and curvatures are central differences, off by the square of the step."""
    one = INSTANCES[name]
    latent = latent_values(name)
    size = latent.shape[-1] if latent.ndim > 1 else 1
    for y in (*one.targets, *((-0.5, 1.5) if one.law is CENSORED else ())):
        targets = np.full(len(latent), y)
        slope, curvature = (f(targets, latent) for f in (one.law.slope, one.law.curvature))
        for c in range(size):
            shift = step * (np.arange(size) == c) if latent.ndim > 1 else step
            up, down = latent + shift, latent - shift
            by_f = one.law.log_density(targets, up) - one.law.log_density(targets, down)
            np.testing.assert_allclose(
                slope[..., c] if latent.ndim > 1 else slope, by_f / (2 * step), atol=1e-6
            )
            by_f = one.law.slope(targets, up) - one.law.slope(targets, down)
            np.testing.assert_allclose(
                curvature[..., c] if latent.ndim > 1 else curvature, -by_f / (2 * step), atol=1e-6
            )


def samples_follow_the_law(name, rng, n=4000):
    one = INSTANCES[name]
    for f in latent_values(name)[1:4]:
        latent = np.broadcast_to(f, (n, *np.shape(f)))
        drawn, law = one.law.sample(rng, np.array(latent)), one.reference(f)
        if isinstance(one.law, LocationLikelihood):
            assert stats.kstest(drawn, law.cdf).pvalue > ALPHA
            continue
        values = np.arange(int(drawn.max()) + 1)
        observed = np.bincount(drawn.astype(int), minlength=len(values))
        expected = n * law.pmf(values)
        is_common = expected >= 5.0
        both = [
            np.append(counts[is_common], n - counts[is_common].sum())
            for counts in (observed, expected)
        ]
        kept = both[1] > 1e-9
        assert stats.chisquare(both[0][kept], both[1][kept]).pvalue > ALPHA


def over_the_latent_value(function, mean, variance):
    """Return the mean of a function of a normal variable, by Gauss-Legendre rules on 200 pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    ends = np.linspace(-12.0, 12.0, 201)
    half = 0.5 * np.diff(ends)[:, None]
    z = (0.5 * (ends[1:] + ends[:-1])[:, None] + half * nodes).ravel()
    masses = (half * weights).ravel() * stats.norm.pdf(z)
    return float(masses @ function(mean + np.sqrt(variance) * z))


MOMENTS = ((0.3, 0.04), (-1.0, 0.5), (1.5, 2.0))
"""Means and variances of latent values."""


def predictions_are_integrals(name):
    """Densities, distributions and moments of new targets, against quadrature."""
    one = INSTANCES[name]
    for mean, variance in MOMENTS:
        m, v = np.array([mean]), np.array([variance])
        for y in one.targets:

            def density(f, y=y):
                law = one.reference(f)
                return law.pmf(y) if one.law.is_discrete else law.pdf(y)

            found = one.law.log_predictive(np.array([y]), m, v)[0]
            expected = np.log(over_the_latent_value(density, mean, variance))
            np.testing.assert_allclose(found, expected, atol=1e-6)
            found = one.law.distribution(np.array([y]), m, v)[0]
            expected = over_the_latent_value(lambda f, y=y: one.reference(f).cdf(y), mean, variance)
            np.testing.assert_allclose(found, expected, atol=1e-8)
        average = over_the_latent_value(lambda f: one.reference(f).mean(), mean, variance)
        square = over_the_latent_value(
            lambda f: one.reference(f).var() + one.reference(f).mean() ** 2, mean, variance
        )
        found = one.law.moments(m, v)
        np.testing.assert_allclose(found[0][0], average, rtol=1e-8)
        np.testing.assert_allclose(found[1][0], square - average**2, rtol=1e-7)


def quantiles_invert_the_distribution(name):
    one = INSTANCES[name]
    mean, variance = map(np.array, zip(*MOMENTS, strict=True))
    for level in (0.001, 0.05, 0.5, 0.95, 0.999):
        found = LikelihoodMixture((one.law,), mean[None], variance[None]).quantiles(level)
        reached = one.law.distribution(found, mean, variance)
        if one.law.is_discrete:
            before = one.law.distribution(found - 1.0, mean, variance)
            assert (before < level).all()
            assert (reached >= level).all()
        else:
            np.testing.assert_allclose(reached, level, atol=1e-12)


def probabilities_are_integrals(name, rng, n=200_000):
    """Probabilities of classes, against quadrature or, for several latent values, draws."""
    one = INSTANCES[name]
    if name == "softmax":
        mean = np.array([0.5, -1.0, 0.0])
        root = np.array([[0.9, 0.0, 0.0], [0.5, 0.6, 0.0], [-0.2, 0.1, 0.7]])
        draws = softmax(mean + rng.normal(size=(n, 3)) @ root.T, axis=1)
        found = one.law.probabilities(mean[None], (root @ root.T)[None])[0]
        # Draws have a standard error of 5e-4, the quasi-random rule one of some 2e-3.
        np.testing.assert_allclose(found, draws.mean(axis=0), atol=6e-3)
        return
    for mean, variance in MOMENTS:
        found = one.law.probabilities(np.array([[mean]]), np.array([[[variance]]]))[0]
        assert abs(found.sum() - 1.0) < 1e-12
        for y in one.targets:
            expected = over_the_latent_value(lambda f, y=y: one.reference(f).pmf(y), mean, variance)
            np.testing.assert_allclose(found[int(y)], expected, atol=1e-8)
