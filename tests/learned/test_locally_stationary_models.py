"""Models that learn a locally stationary kernel: against BaNK, brute force and known envelopes."""

import numpy as np
import pytest
from laws.amplitude_laws import features
from laws.noise_field_laws import heights
from learned.grouped_parameters import grouped
from learned.learned_fits import NEW, SMALL, X, Y, modulated, modulated_classifier
from numpy.testing import assert_allclose, assert_array_equal

from bochner import LearnedKernelRegressor, LocallyStationaryRegressor
from bochner.kernels import Harmonizable, SpectralMixture
from bochner.learned import Chains, chain_models
from bochner.learned.basis import Grid
from bochner.papers import gabasr

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
WEIGHT = np.random.default_rng(4).integers(1, 4, size=len(X)).astype(float)
SHORT = {**SMALL, "n_burn_in": 4, "n_samples": 5}
UNITS, PLACE = np.array([1.0, 50.0, 0.02]), np.array([0.0, 700.0, -3.0])


def assert_same_chain(model, bank):
    """The same frequencies, weights, precisions, noise and evidence, bit for bit."""
    for one, other in zip(model.learned_, bank.learned_, strict=True):
        assert one.structure == other.structure
        d = other.draws.omega.shape[2]
        assert_array_equal(one.draws.omega[:, :, :d], other.draws.omega)
        assert not one.draws.omega[:, :, d : 2 * d].any()
        for name in ("coef", "precision", "noise_variance", "log_density", "whitener"):
            assert_array_equal(getattr(one.draws, name), getattr(other.draws, name), name)
        for name in other.trace.records.keys() - {"seconds"}:
            assert_array_equal(one.trace.records[name], other.trace.records[name], name)
    assert model.kernel_ == bank.kernel_


@pytest.mark.parametrize(
    "parameters",
    [
        {"structure": "sparse"},
        {"structure": "dense"},
        {"structure": "auto", "trend": 1},
        {"structure": "sparse", "dtype": "float32"},
        {"structure": "dense", "n_chains": 2, "trend": 1},
    ],
    ids=str,
)
def test_with_a_constant_envelope_it_is_bank(parameters):
    parameters = {**SHORT, **parameters}
    model = modulated(**parameters, envelope="constant").fit(X, Y, WEIGHT)
    bank = LearnedKernelRegressor(**grouped(**parameters)).fit(X, Y, WEIGHT)
    assert_same_chain(model, bank)
    for found, expected in zip(
        model.predict(NEW, return_std=True), bank.predict(NEW, return_std=True), strict=True
    ):
        assert_array_equal(found, expected)
    assert_array_equal(model.sample_y(NEW, 3), bank.sample_y(NEW, 3))
    assert_array_equal(model.features().transform(NEW), bank.features().transform(NEW))
    assert_array_equal(model.relevance_.importance, bank.relevance_.importance)
    assert_array_equal(model.interactions_, bank.interactions_)


def place(model, inputs):
    return (inputs - model._scaling.centre) / model._scaling.scale


def some_model(**parameters):
    settings = {"structure": "dense", "n_samples": 12, **parameters}
    with pytest.MonkeyPatch.context() as patch:
        # By default so few amplitudes vary that short chains may have none.
        patch.setattr(chain_models, "_SCARCITY", 1.0)
        return modulated(**settings).fit(UNITS * X + PLACE, 5.0 + 3.0 * Y, WEIGHT)


@pytest.fixture(
    scope="module",
    params=[{}, {"structure": "sparse", "trend": 1}, {"envelope": "windows"}],
    ids=["matched", "sparse with a trend", "windows"],
)
def model(request):
    with pytest.warns():  # so few draws have not converged
        return some_model(**request.param)


def mean_gram(draws, inputs):
    Z = [features(draws.basis, inputs, omega) for omega in draws.omega]
    return np.mean([each @ each.T for each in Z], axis=0)


def own_noise(draws, index, inputs):
    field = heights(inputs, draws.field_omega[index], draws.field_weights[index])
    return draws.noise_variance[index] * np.exp(field)


@pytest.mark.thorough_cases("grid|windows")
def test_predictions_are_the_mixture_of_the_draws(model):
    """Mean, deviation and noise of every draw, from features written wave by wave."""
    draws, at = model.learned_[0].draws, NEW * UNITS + PLACE
    inputs, trend = place(model, at), model._trend.columns(place(model, at))
    assert len(draws.whitened) == draws.n_draws
    known = place(model, UNITS * X + PLACE)
    fixed = model._trend.columns(known)
    target = (5.0 + 3.0 * Y - model.target_mean_) / model.target_scale_
    means, variances, noises = [], [], []
    for index in range(draws.n_draws):
        omega = draws.omega[index]
        Z = np.hstack([features(draws.basis, inputs, omega), trend])
        design = np.hstack([features(draws.basis, known, omega), fixed])
        h = heights(known, draws.field_omega[index], draws.field_weights[index])
        weighted = design * (WEIGHT * np.exp(-h))[:, None]
        ridge = np.full(design.shape[1], draws.precision[index])
        ridge[-fixed.shape[1] :] = 0.0
        P = np.linalg.inv(weighted.T @ design + np.diag(ridge))
        assert_allclose(draws.coef[index], P @ (weighted.T @ target), rtol=1e-6, atol=1e-8)
        means.append(Z @ draws.coef[index])
        noises.append(own_noise(draws, index, inputs))
        variances.append(
            draws.noise_variance[index] * np.einsum("ij,jk,ik->i", Z, P, Z) + noises[-1]
        )
    mean, std = model.predict(at, return_std=True)
    assert_allclose(mean, model.target_mean_ + model.target_scale_ * np.mean(means, axis=0))
    variance = np.mean(variances, axis=0) + np.var(means, axis=0)
    assert_allclose(std, model.target_scale_ * np.sqrt(variance), rtol=1e-4)
    expected = model.target_scale_ * np.mean(np.sqrt(noises), axis=0)
    assert_allclose(model.noise_std(at), expected, rtol=1e-9)


def test_the_kernel_is_the_average_over_draws_in_units_of_the_inputs(model):
    """Products of features: few enough draws for all of them to be in the kernel."""
    kernel, draws, at = model.kernel_, model.learned_[0].draws, NEW * UNITS + PLACE
    assert isinstance(kernel, Harmonizable)
    assert draws.n_draws <= 24
    expected = mean_gram(draws, place(model, at))
    assert_allclose(kernel(at), expected, atol=1e-9)
    assert_allclose(kernel.diag(at), np.diag(expected), atol=1e-9)


def test_signal_std_is_the_priors(model):
    draws, at = model.learned_[0].draws, NEW * UNITS + PLACE
    total = 0.0
    for index, omega in enumerate(draws.omega):
        Z = features(draws.basis, place(model, at), omega)
        level = draws.noise_variance[index] / draws.precision[index]
        total = total + np.sqrt(level * np.sum(Z**2, axis=1)) / draws.n_draws
    assert_allclose(model.signal_std(at), model.target_scale_ * total, rtol=1e-9)


@pytest.mark.thorough
def test_noise_alone_varies_where_asked():
    model = modulated(structure="sparse", envelope="noise").fit(X, Y)
    assert isinstance(model.kernel_, SpectralMixture)
    assert not model.learned_[0].draws.omega[:, :, 3:6].any()
    assert np.ptp(model.noise_std(NEW)) > 0
    assert_allclose(model.signal_std(NEW), model.signal_std(NEW)[0], rtol=1e-12)
    plain = modulated(structure="sparse", envelope="signal").fit(X, Y)
    assert plain.learned_[0].draws.field_omega is None
    assert np.ptp(plain.noise_std(NEW)) == 0.0


def test_the_papers_model_has_its_priors():
    """Noise of a law of 0.001 and 0.001, a fixed precision of 1e-6 of features of length one."""
    model = modulated(sampler=gabasr.sampler(3), n_frequencies=10, n_samples=6).fit(X, Y)
    draws = model.learned_[0].draws
    assert draws.basis == Grid(3, 3, is_summed=True)
    assert_allclose(draws.precision, 1e-6 / 9, rtol=1e-12)
    inputs, target = place(model, X), (Y - Y.mean()) / Y.std()
    values, fits = [], []
    for omega in draws.omega:
        # Not scaled by the root of their number, with a flat constant.
        Z = np.hstack([3.0 * features(draws.basis, inputs, omega), np.ones((len(X), 1))])
        ridge = np.full(Z.shape[1], 1e-6)
        ridge[-1] = 0.0
        A = Z.T @ Z + np.diag(ridge)
        w = np.linalg.solve(A, Z.T @ target)
        rest = target @ (target - Z @ w)
        shape, rate = 1e-3 + 0.5 * (len(X) - 1), 1e-3 + 0.5 * rest
        values.append(-0.5 * np.linalg.slogdet(A)[1] - shape * np.log(rate))
        fits.append(rate / (shape - 1.0))
    assert_allclose(draws.noise_variance, fits, rtol=1e-5)
    difference = draws.log_density - values
    assert_allclose(difference, difference.mean(), atol=1e-3)
    assert_allclose(model.noise_std(NEW), model.noise_std(NEW)[0])


def test_the_papers_probabilities_are_those_of_its_weights():
    """Least squares of the labels 0 and 1 in a logistic function, on average over draws."""
    model = modulated_classifier(sampler=gabasr.sampler(2), n_samples=5).fit(X, Y > 0)
    draws = model.learned_[0].draws
    expected = []
    for omega in draws.omega:
        scale = np.sqrt(draws.n_waves)
        Z, at = (
            np.hstack(
                [scale * features(draws.basis, place(model, rows), omega), np.ones((len(rows), 1))]
            )
            for rows in (X, NEW)
        )
        ridge = np.full(Z.shape[1], 1e-6)
        ridge[-1] = 0.0
        w = np.linalg.solve(Z.T @ Z + np.diag(ridge), Z.T @ (Y > 0))
        expected.append(1.0 / (1.0 + np.exp(-(at @ w))))
    assert_allclose(model.predict_proba(NEW)[:, 1], np.mean(expected, axis=0), atol=1e-5)


def simulated(n, seed):
    """A signal of a known amplitude from 0.2 to 1.5, under noise of a known deviation."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 1.0, size=n))
    envelope = 0.85 + 0.65 * np.sin(2.0 * np.pi * x)
    noise = 0.05 + 0.3 * x
    omega = rng.normal(scale=60.0, size=40)
    coef = rng.normal(size=(2, 40)) / np.sqrt(40)
    angle = np.multiply.outer(x, omega)
    signal = envelope * (np.cos(angle) @ coef[0] + np.sin(angle) @ coef[1])
    return x[:, None], signal + noise * rng.normal(size=n), envelope, noise


@pytest.mark.thorough
def test_known_envelopes_of_signal_and_noise_are_found():
    inputs, y, envelope, noise = simulated(300, 0)
    model = LocallyStationaryRegressor(
        40, random_state=0, chains=Chains(n_burn_in=50, n_samples=30, n_chains=1, thin=1)
    ).fit(inputs, y)
    found = model.signal_std(inputs)
    assert np.corrcoef(found, envelope)[0, 1] > 0.7
    assert 0.5 < np.median(found / envelope) < 2.0
    noisy = model.noise_std(inputs)
    assert np.corrcoef(noisy, noise)[0, 1] > 0.7
    assert np.all(np.abs(np.log(noisy / noise)) < np.log(2.5))
    flat = LearnedKernelRegressor(
        40, random_state=0, chains=Chains(n_burn_in=50, n_samples=30, n_chains=1, thin=1)
    ).fit(inputs, y)
    assert model.trace_.records["log_evidence"][0, -30:].mean() > (
        flat.trace_.records["log_evidence"][0, -30:].mean() + 10.0
    )
