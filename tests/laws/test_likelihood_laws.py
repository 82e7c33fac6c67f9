"""Every likelihood has its laws."""

import numpy as np
import pytest
from laws import likelihood_laws as laws
from scipy import integrate, stats

from bochner import gaussian_process as likelihoods
from bochner.gaussian_process import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    PoissonLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.gaussian_process import likelihood_predictions as quantiles
from bochner.gaussian_process.likelihood_predictions import LikelihoodMixture

every = pytest.mark.parametrize("name", laws.INSTANCES)
numbers = pytest.mark.parametrize("name", laws.NUMBERS)
ONES = np.ones(50)


def test_every_public_likelihood_has_the_laws():
    known = {type(one.law).__name__ for one in laws.INSTANCES.values()}
    abstract = {"Likelihood", "LabelLikelihood", "NumberLikelihood"}
    assert known == set(likelihoods.__all__) - abstract


@every
def test_densities_are_those_of_scipy(name):
    laws.densities_are_those_of_scipy(name)


@every
def test_derivatives_are_differences(name):
    laws.derivatives_are_differences(name)


@every
def test_samples_follow_the_law(name):
    laws.samples_follow_the_law(name, np.random.default_rng(1))


@numbers
def test_predictions_are_integrals(name):
    laws.predictions_are_integrals(name)


@numbers
def test_quantiles_invert_the_distribution(name):
    laws.quantiles_invert_the_distribution(name)


@pytest.mark.parametrize("name", ["bernoulli", "ordinal", "softmax"])
def test_probabilities_are_integrals(name):
    laws.probabilities_are_integrals(name, np.random.default_rng(2))


@pytest.mark.parametrize("f", laws.LATENT)
def test_censored_masses_and_densities_have_sum_one(f):
    law, latent = laws.CENSORED, np.array([f])
    ends = [np.exp(law.log_density(np.array([y]), latent))[0] for y in (-0.5, 1.5)]
    inside = integrate.quad(lambda y: np.exp(law.log_density(np.array([y]), latent))[0], -0.5, 1.5)
    assert sum(ends) + inside[0] == pytest.approx(1.0, abs=1e-9)
    expected = stats.norm(f, 0.8)
    np.testing.assert_allclose(ends, [expected.cdf(-0.5), expected.sf(1.5)], rtol=1e-12)


@pytest.mark.parametrize("df", [0.7, 2.0, 5.0, 30.0, 1e4])
def test_noise_of_any_degrees_of_freedom_is_a_mixture(df):
    law = StudentTLikelihood(df, 1.3)
    y, zero = np.array([-40.0, -2.0, 0.1, 6.0]), np.zeros(4)
    np.testing.assert_allclose(
        law.log_predictive(y, zero, zero), law.log_density(y, zero), atol=1e-6
    )
    np.testing.assert_allclose(
        law.distribution(y, zero, zero), stats.t(df, 0, 1.3).cdf(y), atol=1e-8
    )


def test_densities_far_out_are_finite():
    far = np.array([-1e4, 1e4])
    for law in (CensoredGaussianLikelihood(left=0.0, scale=1.0), StudentTLikelihood(4.0, 1.0)):
        for function in (law.log_density, law.slope, law.curvature):
            assert np.isfinite(function(np.zeros(2), far)).all()
    law = OrdinalLikelihood((0.0, 1.0))
    assert np.isfinite(law.log_density(np.array([0.0, 2.0]), np.array([700.0, -700.0]))).all()


@pytest.mark.parametrize("t", [6.0, 40.0, 999.0, 1001.0, 1e5, 1e9])
def test_slopes_far_beyond_a_limit_are_mills_ratios(t):
    """The oracle is Laplace's continued fraction, t + 1 / (t + 2 / (t + ...))."""
    excess = 0.0
    for k in range(100, 0, -1):
        excess = k / (t + excess)
    law = CensoredGaussianLikelihood(left=-t, scale=1.0)
    y, f = np.array([-t]), np.array([0.0])
    np.testing.assert_allclose(-law.slope(y, f), t + excess, rtol=1e-12)
    np.testing.assert_allclose(law.curvature(y, f), (t + excess) * excess, rtol=1e-9)
    inside = law.slope(np.array([0.5]), f), law.curvature(np.array([0.5]), f)
    np.testing.assert_array_equal(inside, [[0.5], [1.0]])


def test_narrow_classes_keep_their_probability():
    width = 1e-9
    law = OrdinalLikelihood((0.0, width))
    f = np.array([0.0, 3.0, -30.0])
    expected = np.log(width) + stats.logistic(f).logpdf(0.0)
    np.testing.assert_allclose(law.log_density(np.ones(3), f), expected, atol=1e-8)


def test_counts_of_unlimited_means_have_finite_densities():
    f, y = np.array([800.0, 1e4]), np.array([0.0, 3.0])
    with np.errstate(all="raise"):
        for name in ("log_density", "slope", "curvature"):
            assert np.isfinite(getattr(PoissonLikelihood(), name)(y, f)).all()


def test_guesses_are_near_moments():
    rng = np.random.default_rng(0)
    y = rng.poisson(4.0 * rng.gamma(2.0, 0.5, size=5000)).astype(float)
    ones = np.ones(5000)
    started = NegativeBinomialLikelihood().started(y, ones, ones)
    assert started.dispersion == pytest.approx(0.5, rel=0.15)
    assert started.origin(y, 2.0 * ones, ones) == pytest.approx(np.log(2.0), abs=0.05)
    cuts = OrdinalLikelihood().started(np.repeat([0.0, 1.0, 2.0], [25, 50, 25]), ONES, np.ones(100))
    np.testing.assert_allclose(cuts.cutpoints, [-np.log(3.0), np.log(3.0)], atol=0.05)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianLikelihood(-1.0), "scale must be positive"),
        (lambda: StudentTLikelihood(df="many"), "df must be a number"),
        (lambda: NegativeBinomialLikelihood(0.0), "dispersion must be positive"),
        (lambda: CensoredGaussianLikelihood(), "Give left or right"),
        (lambda: CensoredGaussianLikelihood(2.0, 1.0), "left must be less than right"),
        (lambda: OrdinalLikelihood((1.0, 0.0)), "cutpoints must be increasing"),
        (lambda: OrdinalLikelihood(()), "cutpoints must be increasing"),
        (lambda: SoftmaxLikelihood(1), "n_classes must be at least 2"),
        (lambda: GaussianLikelihood().unit, "scale is None"),
        (lambda: OrdinalLikelihood().log_density(ONES, ONES), "cutpoints is None"),
        (lambda: SoftmaxLikelihood().n_latent, "n_classes is None"),
        (lambda: PoissonLikelihood().checked(np.array([1.5])), "y must hold counts.*exposure="),
        (lambda: PoissonLikelihood().checked(np.array([-1.0])), "y must hold counts"),
        (lambda: SoftmaxLikelihood(2).checked(np.array([2.0])), "3 classes.*is for 2"),
        (lambda: OrdinalLikelihood().checked(np.array([0.5])), "numbers 0, 1, ..."),
    ],
)
def test_impossible_parameters_and_targets_are_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_a_mixture_averages_its_laws_and_a_factor_scales_distances():
    """Normal laws, whose mixtures SciPy has."""
    mean, variance = np.array([[0.0, 1.0], [2.0, 1.5]]), np.array([[0.5, 1.0], [0.1, 2.0]])
    laws = (GaussianLikelihood(0.5), GaussianLikelihood(1.0))
    scale = np.sqrt(variance + np.array([[0.25], [1.0]]))
    centre = mean.mean(axis=0)
    for factor in (1.0, 1.7):
        found = LikelihoodMixture(laws, mean, variance, factor)
        parts = stats.norm(centre + factor * (mean - centre), factor * scale)
        y = np.array([0.3, 2.6])
        np.testing.assert_allclose(found.distribution(y), parts.cdf(y).mean(axis=0))
        np.testing.assert_allclose(found.log_density(y), np.log(parts.pdf(y).mean(axis=0)))
        np.testing.assert_allclose(found.distribution(found.quantiles(0.2)), 0.2, rtol=1e-8)
        first, second = found.moments()
        square = (parts.var() + parts.mean() ** 2).mean(axis=0)
        np.testing.assert_allclose(first, centre)
        np.testing.assert_allclose(second, square - centre**2)


def test_quantiles_of_counts_reach_their_level():
    """The least count that reaches a level, also if its probability equals the level."""
    cumulative = np.array([0.125, 0.25, 0.5, 0.75, 1.0])  # No rounding errors

    def distribution(y):
        return np.where(y < 0.0, 0.0, cumulative[np.clip(y, 0, 4).astype(int)])

    for level in (0.1, 0.125, 0.2, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9):
        for log_mean in (-1.0, 0.5, 1.5):
            found = quantiles.whole_quantiles(distribution, level, np.array([log_mean]))
            assert found == np.searchsorted(cumulative, level)


def check_origin():
    """Weights of labels are repetitions."""
    y, weight, none = np.array([0.0, 1.0, 1.0]), np.array([3.0, 1.0, 1.0]), np.zeros(0)
    found = likelihoods.BernoulliLikelihood().origin(y, none, weight)
    np.testing.assert_allclose(found, np.log(2.5 / 3.5))


def check_first_cutpoints():
    """Weights of ordinal labels are repetitions."""
    y, weight, none = np.array([0.0, 1.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0, 4.0]), np.zeros(0)
    weighted = likelihoods.OrdinalLikelihood().started(y, none, weight)
    repeated = np.repeat(y, weight.astype(int))
    expected = likelihoods.OrdinalLikelihood().started(repeated, none, np.ones(10))
    np.testing.assert_allclose(weighted.cutpoints, expected.cutpoints)


def test_weights_of_labels_are_repetitions():
    check_origin()
    check_first_cutpoints()


def test_quantiles_of_many_laws_are_those_of_all():
    mean = np.linspace(0.0, 5.0, 300)[:, None]
    many = LikelihoodMixture((GaussianLikelihood(0.7),) * 300, mean, np.full_like(mean, 0.2))
    assert many.distribution(many.quantiles(0.9)) == pytest.approx(0.9, abs=0.01)
