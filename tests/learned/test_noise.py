"""What is known of the noise, by quadrature and by tests of its draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad

from bochner.learned.chain_state import InverseGammaNoise

pytestmark = pytest.mark.thorough

NOISES = [InverseGammaNoise(0.7, 0.2), InverseGammaNoise(3.0, 5.0)]
FITS = [(4.0, 11.0), (0.3, 6.0)]
BOTH = pytest.mark.parametrize("noise", NOISES, ids=["vague", "narrow"])


def posterior_moment(noise, residual, degrees, power=0.0):
    """The integral over the noise variance of its density, the likelihood and a power."""

    def integrand(log_variance):
        variance = np.exp(log_variance)
        prior = stats.invgamma(noise.shape, scale=noise.rate).pdf(variance)
        likelihood = variance ** (-degrees / 2.0) * np.exp(-residual / (2.0 * variance))
        return prior * likelihood * variance ** (1.0 + power)

    return quad(integrand, -12.0, 30.0, epsabs=0.0, epsrel=1e-11, limit=400)[0]


@BOTH
@pytest.mark.parametrize("degrees", [1.0, 6.0, 11.0])
def test_log_likelihood_is_an_integral_over_the_variance(noise, degrees):
    residuals = np.array([0.01, 0.3, 4.0, 20.0])
    found = [noise.log_likelihood(r, degrees) for r in residuals]
    expected = [np.log(posterior_moment(noise, r, degrees)) for r in residuals]
    assert_allclose(np.diff(found), np.diff(expected), rtol=1e-8)


@BOTH
@pytest.mark.parametrize(("residual", "degrees"), FITS)
def test_moments_are_those_of_the_posterior(noise, residual, degrees):
    mass = posterior_moment(noise, residual, degrees)
    precision = posterior_moment(noise, residual, degrees, -1.0) / mass
    assert_allclose(noise.precision(residual, degrees), precision, rtol=1e-8)
    variance = posterior_moment(noise, residual, degrees, 1.0) / mass
    assert_allclose(noise.variance(residual, degrees), variance, rtol=1e-6)
