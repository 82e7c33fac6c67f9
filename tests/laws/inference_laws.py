"""What the evidence of a set of frequencies obeys, against dense algebra on the rows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats
from scipy.linalg import null_space
from scipy.special import gammaln

from bochner.learned.chain_state import (
    InverseGammaNoise,
    KnownNoise,
    evidence_of,
    frequency_gradient,
)
from bochner.learned.training_data import TrainingData


@dataclass(frozen=True)
class Problem:
    """A small regression with a trend and weights of its rows."""

    X: np.ndarray
    y: np.ndarray
    trend: np.ndarray
    weight: np.ndarray | None
    omega: np.ndarray
    other: np.ndarray

    def rows(self, dtype=np.float64):
        return TrainingData.of(self.X.astype(dtype), self.y, self.trend, self.weight)

    def n_waves(self, omega):
        return len(omega)

    def design(self, omega):
        """Features of all rows, of shape (n, p)."""
        angle = self.X @ omega.T
        pairs = np.stack((np.cos(angle), np.sin(angle)), axis=2) / np.sqrt(len(omega))
        return np.hstack((pairs.reshape(len(self.X), -1), self.trend))

    def posterior(self, omega, precision):
        """The precision A of the weights up to the noise, and b."""
        Z = self.design(omega)
        weighted = Z if self.weight is None else Z * self.weight[:, None]
        ridge = np.full(Z.shape[1], precision)
        ridge[2 * self.n_waves(omega) :] = 0.0
        return weighted.T @ Z + np.diag(ridge), weighted.T @ self.y

    def covariance(self, omega, precision, noise):
        """That of targets, features' weights integrated out."""
        Z = self.design(omega)[:, : 2 * self.n_waves(omega)]
        return np.diag(noise) + Z @ Z.T / precision


def problem(n=30, d=3, m=4, q=0, weights=None, seed=0):
    """Return a problem whose rows have "integer" or "real" weights, or none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    trend = np.vander(X[:, 0], q) if q else np.empty((n, 0))
    y = np.sin(X @ np.linspace(1.0, 2.0, d)) + 0.3 * rng.normal(size=n)
    if q:
        y = y + trend @ np.linspace(1.0, -1.0, q)
    weight = None
    if weights == "integer":
        weight = rng.integers(1, 4, size=n).astype(np.float64)
    elif weights == "real":
        weight = rng.gamma(2.0, size=n)
    omega, other = rng.normal(size=(2, m, d))
    return Problem(X, y, trend, weight, omega, other)


def repeated(problem):
    """The same problem with rows of weight w written w times."""
    if problem.weight is None:
        return problem
    times = problem.weight.astype(int)
    X, y, trend = (np.repeat(a, times, axis=0) for a in (problem.X, problem.y, problem.trend))
    return replace(problem, X=X, y=y, trend=trend, weight=None)


def contrasts(problem):
    """The targets free of the trend: an orthonormal basis, and the targets in it."""
    basis = null_space(problem.trend.T) if problem.trend.shape[1] else np.eye(len(problem.y))
    return basis, basis.T @ problem.y


def student_log_density(problem, omega, precision, noise, factors=None):
    """Log density of contrasts of the targets under a multivariate t, all constants in it.

    The noise of a row has the variance times its factor.
    """
    whole = repeated(problem)
    basis, y = contrasts(whole)
    factors = np.ones(len(whole.y)) if factors is None else factors
    C = basis.T @ whole.covariance(omega, precision, factors) @ basis
    shape = noise.rate / noise.shape * C
    return float(stats.multivariate_t(np.zeros(len(y)), shape, 2.0 * noise.shape).logpdf(y))


def normal_log_density(problem, omega, precision):
    """Log density of contrasts of the targets under noise of variance 1/w."""
    basis, y = contrasts(problem)
    noise = np.ones(len(problem.y)) if problem.weight is None else 1.0 / problem.weight
    C = basis.T @ problem.covariance(omega, precision, noise) @ basis
    return float(stats.multivariate_normal(np.zeros(len(y)), C).logpdf(y))


def log_density(problem, omega, precision, noise):
    if isinstance(noise, KnownNoise):
        return normal_log_density(problem, omega, precision)
    return student_log_density(problem, omega, precision, noise)


def check_student(**settings):
    """Equation (14), frequencies, precision and prior of the noise being changed."""
    case = problem(**settings)
    whole = repeated(case)
    degrees = len(whole.y) - case.trend.shape[1]
    # The restricted likelihood of contrasts knows nothing of the trend's volume.
    volume = -0.5 * np.linalg.slogdet(whole.trend.T @ whole.trend)[1]
    for noise in (InverseGammaNoise(0.7, 0.2), InverseGammaNoise(3.0, 5.0)):
        constant = gammaln(noise.shape + degrees / 2.0) - gammaln(noise.shape)
        constant += noise.shape * np.log(noise.rate) - degrees / 2.0 * np.log(2.0 * np.pi)
        for omega in (case.omega, case.other):
            for precision in (0.03, 2.0):
                found = evidence_of(case.rows(), omega, precision, noise).log_evidence()
                expected = student_log_density(case, omega, precision, noise)
                assert_allclose(found + constant, expected + volume, rtol=1e-9, atol=1e-9)


def check_normal(**settings):
    """Known noise: the evidence of another problem less that of the first."""
    case, noise = problem(**settings), KnownNoise()
    found, expected = [], []
    for omega in (case.omega, case.other):
        for precision in (0.03, 2.0):
            found.append(evidence_of(case.rows(), omega, precision, noise).log_evidence())
            expected.append(normal_log_density(case, omega, precision))
    assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9, atol=1e-9)


def central_differences(function, at, step):
    """Derivatives of a number by every entry of an array."""
    found = np.empty_like(at)
    for place in np.ndindex(*at.shape):
        way = np.zeros_like(at)
        way[place] = step
        found[place] = (function(at + way) - function(at - way)) / (2.0 * step)
    return found


def check_gradient(noise, *, keep=True, **settings):
    """The derivative by frequencies, by central differences of the dense log density."""
    check_gradient_of(problem(**settings), noise, keep=keep)


def check_gradient_of(case, noise, *, keep=True, step=1e-5):
    evidence = evidence_of(case.rows(), case.omega, 0.3, noise, keep=keep)
    expected = central_differences(
        lambda omega: log_density(case, omega, 0.3, noise), case.omega, step
    )
    found = frequency_gradient(evidence, case.rows())
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.max(np.abs(expected)) + 1e-8)
