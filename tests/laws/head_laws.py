"""What features, sums and linear heads obey, against dense algebra."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.stats import multivariate_normal, norm, t

from bochner import Frequencies, KreinRidge, KreinRidgeClassifier, kernels
from bochner.features import FeatureSums, feature_sums
from bochner.linear import ridge_head
from bochner.linear.krein import KreinSpectrum, fit_krein
from bochner.linear.ridge_posterior import best_alpha, centred_sums, fit_ridge
from bochner.linear.softmax_weights import fit_softmax


@dataclass(frozen=True)
class Problem:
    """A small regression: features, targets and new features."""

    X: np.ndarray
    Y: np.ndarray
    new: np.ndarray
    frequencies: Frequencies

    @property
    def Z(self):
        return self.frequencies.features(self.X)

    @property
    def sums(self):
        return feature_sums(self.frequencies, self.X, self.Y)


def problem(n=40, m=10, targets=2, seed=0):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, 3)), rng.normal(size=(7, 3))
    Y = np.sin(X[:, [0]] + np.arange(targets)) + 3.0 + 0.3 * rng.normal(size=(n, targets))
    weight = rng.uniform(0.5, 1.5, size=m) / m
    return Problem(X, Y, new, Frequencies(rng.normal(size=(m, 3)), weight))


def dense_posterior(problem, alpha, fit_intercept):
    """Mean, deviation and log evidence of the Gaussian process with covariance ZZ'/alpha + I."""
    Z, Zs = problem.Z, problem.frequencies.features(problem.new)
    n = len(Z)
    C = Z @ Z.T / alpha + np.eye(n)
    inverse = np.linalg.inv(C)
    cross = Zs @ Z.T / alpha
    spread = np.sum(Zs**2, axis=1) / alpha - np.sum(cross @ inverse * cross, axis=1)
    if fit_intercept:
        # A constant with a flat prior: universal kriging, and the likelihood of contrasts.
        basis = null_space(np.ones((1, n)))
        precision = inverse.sum()
        constant = inverse.sum(axis=0) @ problem.Y / precision
        spread = spread + (1.0 - cross @ inverse.sum(axis=0)) ** 2 / precision
    else:
        basis, constant = np.eye(n), np.zeros(problem.Y.shape[1])
    residual = problem.Y - constant
    noise = np.sum(residual * (inverse @ residual), axis=0) / basis.shape[1]
    log_evidence = sum(
        multivariate_normal(cov=variance * basis.T @ C @ basis).logpdf(basis.T @ y)
        for variance, y in zip(noise, problem.Y.T, strict=True)
    )
    mean = constant + cross @ inverse @ residual
    return mean, np.sqrt(np.outer(1.0 + spread, noise)), log_evidence, noise


def check_posterior(fit_intercept=False, m=10, alpha=0.3):
    """Means, deviations, noise and evidence are those of the dense Gaussian process."""
    data = problem(m=m)
    mean, std, log_evidence, noise = dense_posterior(data, alpha, fit_intercept)
    posterior = fit_ridge(data.sums, alpha, fit_intercept=fit_intercept)
    new = data.frequencies.features(data.new)
    assert_allclose(posterior.mean(new), mean, rtol=1e-8, atol=1e-9)
    assert_allclose(posterior.noise_variance, noise, rtol=1e-8)
    assert_allclose(posterior.law.std(new), std, rtol=1e-8)
    assert_allclose(posterior.log_evidence, log_evidence, rtol=1e-9)


def check_draws(n=20_000, m=3, alpha=0.3):
    """Drawn functions have the posterior's means and covariances, without the noise."""
    data = problem(m=m)
    posterior = fit_ridge(data.sums, alpha, fit_intercept=True)
    Z = data.frequencies.features(data.new[:4])
    coef, intercept = posterior.law.sample(n, np.random.default_rng(0))
    values = np.einsum("ip,ptn->nit", Z, coef) + intercept.T[:, None]
    cov = posterior.law.cov(Z) - np.eye(len(Z))[:, :, None] * posterior.noise_variance
    for number in range(values.shape[2]):
        root = np.linalg.cholesky(cov[:, :, number] + 1e-12 * np.eye(len(Z)))
        mean = posterior.mean(Z)[:, number]
        z = np.linalg.solve(root, (values[:, :, number] - mean).T)
        # Four standard errors of means and of second moments
        assert_allclose(z.mean(axis=1), 0.0, atol=4.0 / np.sqrt(n))
        assert_allclose(z @ z.T / n, np.eye(len(Z)), atol=4.0 * np.sqrt(2.0 / n))


def check_best_alpha(fit_intercept=False, m=10):
    """No alpha has more evidence, and the evidence is that of the dense Gaussian process."""
    data = problem(m=m)
    alpha, log_evidence = best_alpha(data.sums, fit_intercept=fit_intercept)
    assert_allclose(log_evidence, dense_posterior(data, alpha, fit_intercept)[2], rtol=1e-9)
    others = alpha * np.geomspace(1e-3, 1e3, 61)
    brute = [dense_posterior(data, other, fit_intercept)[2] for other in others]
    assert max(brute) <= log_evidence + 1e-9 * abs(log_evidence)
    close = [dense_posterior(data, alpha * c, fit_intercept)[2] for c in (1 - 1e-3, 1 + 1e-3)]
    assert max(close) < log_evidence, "the maximum is not here"


def check_sums(weighted=True):
    """The sums are the formulas, add in any order, and weights are repetitions."""
    rng = np.random.default_rng(2)
    Z, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2)) + 1.0
    weight = rng.integers(0, 4, size=30).astype(float) if weighted else np.ones(30)
    whole = FeatureSums.from_rows(Z, Y, weight if weighted else None)
    repeat = weight.astype(int)
    Zr, Yr = np.repeat(Z, repeat, axis=0), np.repeat(Y, repeat, axis=0)
    repeated = FeatureSums.from_rows(Zr, Yr)
    parts = [FeatureSums.from_rows(Z[r], Y[r], weight[r]) for r in np.split(np.arange(30), 3)]
    a, b, c = parts
    for sums in (whole, a + b + c, c + a + b, a + (b + c)):
        assert_allclose(sums.gram, Zr.T @ Zr, atol=1e-10)
        assert_allclose(sums.cross, Zr.T @ Yr, atol=1e-10)
        assert_allclose(sums.square, np.sum(Yr**2, axis=0), atol=1e-10)
        assert_allclose(sums.features, Zr.sum(axis=0), atol=1e-10)
        assert_allclose(sums.targets, Yr.sum(axis=0), atol=1e-10)
        assert sums.weight == len(Zr)
        assert sums.n_samples == np.count_nonzero(weight)
        _check_centred(sums.centred(), Zr, Yr)
    _check_centred(repeated.centred(), Zr, Yr)


def _check_centred(sums, Z, Y):
    Z, Y = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    assert_allclose(sums.gram, Z.T @ Z, atol=1e-10)
    assert_allclose(sums.cross, Z.T @ Y, atol=1e-10)
    assert_allclose(sums.square, np.sum(Y**2, axis=0), atol=1e-10)
    assert not sums.features.any()
    assert not sums.targets.any()


def check_ridge(fit_intercept=False, n_components=20):
    """The regressor is kernel ridge regression with the approximate Gram matrix."""
    data = problem()
    model = KreinRidge(
        kernels.Matern(1.2),
        n_components=n_components,
        alpha=0.4,
        fit_intercept=fit_intercept,
        random_state=0,
    ).fit(data.X, data.Y)
    gram, cross = model.frequencies_.gram(data.X), model.frequencies_.gram(data.new, data.X)
    centre = np.eye(len(gram)) - (1.0 / len(gram) if fit_intercept else 0.0)
    constant = data.Y.mean(axis=0) if fit_intercept else 0.0
    dual = np.linalg.solve(centre @ gram @ centre + 0.4 * np.eye(len(gram)), data.Y - constant)
    average = gram.mean(axis=0) if fit_intercept else 0.0
    expected = (cross - average) @ centre @ dual + constant
    assert_allclose(model.predict(data.new), expected, rtol=1e-8, atol=1e-8)


def check_coverage(repetitions=60, n=150, p=64, level=0.9, slack=0.02):
    """Intervals of 90 % cover 90 % +- 2 % of new targets drawn from the model.

    Weights, inputs and noise are drawn anew each time; a one-sample t-interval over
    repetitions must meet the claim's.
    """
    rng = np.random.default_rng(4)
    rates = []
    for repetition in range(repetitions):
        X = rng.uniform(-2.0, 2.0, size=(2 * n, 2))
        model = KreinRidge(kernels.Gaussian(1.0), p, alpha=0.05, random_state=repetition)
        frequencies = model.fit(X[:n], np.zeros(n)).frequencies_
        Z = frequencies.features(X)
        noise = rng.uniform(0.5, 2.0)
        y = noise * (Z @ rng.normal(size=p) / np.sqrt(0.05) + rng.normal(size=2 * n))
        mean, std = model.fit(X[:n], y[:n]).predict(X[n:], return_std=True)
        rates.append(np.mean(np.abs(y[n:] - mean) < norm.isf((1.0 - level) / 2.0) * std))
    error = np.std(rates, ddof=1) / np.sqrt(repetitions)
    gap = abs(np.mean(rates) - level)
    assert error < slack / 2.0, f"too few repetitions to tell: {error:.3f}"
    assert gap < slack + t.isf(5e-4, repetitions - 1) * error, f"coverage {np.mean(rates):.3f}"


def check_probabilities():
    """The softmax is fitted to the values of fits without each row."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, size=60)
    model = KreinRidgeClassifier(n_components=40, alpha=0.1, random_state=0).fit(X, y)
    Z, targets = model.frequencies_.features(X), np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    others = [np.delete(np.arange(60), i) for i in range(60)]
    fits = [fit_ridge(FeatureSums.from_rows(Z[rows], targets[rows]), 0.1) for rows in others]
    values = np.array([fit.mean(z) for fit, z in zip(fits, Z, strict=True)])
    softmax = fit_softmax(values[:, None], y, has_biases=False)
    assert_allclose(model.softmax_.weights, softmax.weights, atol=1e-6)
    new = model.decision_function(X + 0.1)
    assert_allclose(model.predict_proba(X + 0.1), softmax.probabilities(new[:, None]), atol=1e-6)


def krein_problem(m=10, negative=None, **sizes):
    """A problem whose kernel has weights of both signs, or of one."""
    data = problem(m=m, **sizes)
    negative = np.arange(m) % 3 == 1 if negative is None else np.full(m, negative)
    weight = np.where(negative, -3.0, 3.0) * data.frequencies.weight
    return replace(data, frequencies=Frequencies(data.frequencies.omega, weight))


def dense_gram(frequencies, X, Y):
    """The finite sum of cosines, pair by pair."""
    f = frequencies
    angles = (X @ f.omega.T)[:, None, :] - (Y @ f.nu.T)[None, :, :] + f.phase
    return np.cos(angles) @ f.weight


def dense_krein(problem, alpha, fit_intercept, weight=None):
    """The stationary point by its conditions on ``n`` dual coefficients and a constant.

    With residuals r = y - K a - b these are W r = alpha a and, for the constant, 1'W r = 0.
    """
    n, targets = problem.Y.shape
    weight = np.ones(n) if weight is None else weight
    K = dense_gram(problem.frequencies, problem.X, problem.X)
    border = np.full((n, 1), float(fit_intercept))
    corner = np.array([[0.0 if fit_intercept else 1.0]])
    system = np.block([[K + alpha * np.diag(1.0 / weight), border], [border.T, corner]])
    dual = np.linalg.solve(system, np.concatenate([problem.Y, np.zeros((1, targets))]))
    return dense_gram(problem.frequencies, problem.new, problem.X) @ dual[:-1] + dual[-1]


def krein_solution(problem, alpha, fit_intercept, weight=None):
    sums = feature_sums(problem.frequencies, problem.X, problem.Y, weight)
    return fit_krein(sums, problem.frequencies.signature, alpha, fit_intercept=fit_intercept)


def krein_spectrum(problem, fit_intercept=False):
    sums, degrees = centred_sums(problem.sums, fit_intercept)
    return KreinSpectrum.of(sums, problem.frequencies.signature, degrees)


def check_krein(fit_intercept=False, m=10, alpha=0.31, negative=None, weighted=False):
    """Predictions are those of K (K + alpha I)^-1 y, in a Krein space or its negative."""
    data = krein_problem(m, negative)
    weight = np.random.default_rng(6).uniform(0.5, 2.0, size=40) if weighted else None
    solution = krein_solution(data, alpha, fit_intercept, weight)
    assert solution.alpha == alpha
    expected = dense_krein(data, alpha, fit_intercept, weight)
    assert_allclose(solution.mean(data.frequencies.features(data.new)), expected, rtol=1e-8)


def dense_eigenvalues(data, fit_intercept):
    centre = np.eye(40) - (1.0 / 40.0 if fit_intercept else 0.0)
    return np.linalg.eigvalsh(centre @ dense_gram(data.frequencies, data.X, data.X) @ centre)


def check_poles(fit_intercept=False, m=10):
    """Alpha is moved at the negative eigenvalues of the Gram matrix, and nowhere else."""
    data = krein_problem(m)
    poles = -dense_eigenvalues(data, fit_intercept)
    poles = np.sort(poles[poles > 1e-3])
    found = krein_spectrum(data, fit_intercept).poles
    assert len(poles) > 2
    assert_allclose(found[found > 1e-3], poles, rtol=1e-9)
    for pole in poles:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            moved = krein_solution(data, pole, fit_intercept)
        assert [warning.category for warning in caught] == [RuntimeWarning], "no warning of a pole"
        assert f"alpha = {moved.alpha:.10g} is used instead" in str(caught[0].message)
        assert np.abs(moved.alpha / poles - 1.0).min() > 0.009
        new = data.frequencies.features(data.new)
        assert_allclose(moved.mean(new), dense_krein(data, moved.alpha, fit_intercept), rtol=1e-8)
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", "alpha = .* is within")
        for alpha in [*np.sqrt(poles[:-1] * poles[1:]), *poles * (1 + 1e-5), 2.0 * poles[-1]]:
            assert krein_solution(data, alpha, fit_intercept).alpha == alpha


def dense_score(data, alpha, fit_intercept):
    """The score of generalised cross-validation from the matrix H that maps y to its fit."""
    n = len(data.X)
    centre = np.eye(n) - (1.0 / n if fit_intercept else 0.0)
    K = centre @ dense_gram(data.frequencies, data.X, data.X) @ centre
    H = K @ np.linalg.inv(K + alpha * np.eye(n))
    residual = (np.eye(n) - H) @ centre @ data.Y
    spent = np.abs(np.linalg.eigvalsh((H + H.T) / 2.0)).sum() + float(fit_intercept)
    scores = n * np.sum(residual**2, axis=0) / (n - spent) ** 2
    return np.mean(np.log(scores)) if spent < n else np.inf


def check_cross_validation(fit_intercept=False, m=10):
    """The score is the dense one on either side of the poles, and its least value is found."""
    data = krein_problem(m)
    spectrum = krein_spectrum(data, fit_intercept)
    clear = [spectrum.clear_alpha(alpha) for alpha in np.geomspace(1e-3, 1e3, 121)]
    dense = np.array([dense_score(data, alpha, fit_intercept) for alpha in clear])
    assert_allclose([spectrum.score(alpha) for alpha in clear], dense, rtol=1e-6, atol=1e-7)
    best = krein_solution(data, None, fit_intercept).alpha
    least = dense_score(data, best, fit_intercept)
    assert least <= dense.min() + 1e-6
    lowest = 1e-6 * np.mean(np.sum(data.Z**2, axis=1))
    for alpha in (spectrum.clear_alpha(best * step) for step in (1.0 - 1e-3, 1.0 + 1e-3)):
        assert alpha < lowest or least <= dense_score(data, alpha, fit_intercept) + 1e-9


def plant_signs(patch):
    """Give a third of the frequencies of every head negative weights."""
    approximate = ridge_head.approximate

    def signed(*args, **options):
        found = approximate(*args, **options)
        f = found.frequencies
        signs = np.where(np.arange(f.n_frequencies) % 3 == 1, -3.0, 3.0)
        return replace(found, frequencies=Frequencies(f.omega, signs * f.weight))

    patch.setattr(ridge_head, "approximate", signed)
