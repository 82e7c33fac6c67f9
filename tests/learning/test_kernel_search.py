"""The search over families, length scales and encodings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner._numerics.progress import Progress
from bochner.datasets import make_gp_draw
from bochner.kernels import Anova
from bochner.learning.families import FAMILIES, GAUSSIAN, Interactions, ScaledInputs
from bochner.learning.kernel_search import ExactEvidence, LeaveOneOut, minimise, search_kernel

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.5, 1.5, size=(150, 4))
NOISE = 0.1 * RNG.normal(size=150)
ADDITIVE = np.sum(np.sin(3.0 * X + np.arange(4)), axis=1) + NOISE
ENTANGLED = np.sin(X @ np.array([1.0, -1.0, 1.5, 1.0])) + NOISE


def standardised(y):
    return ((y - y.mean()) / y.std())[:, None]


@pytest.mark.parametrize("criterion", [ExactEvidence, LeaveOneOut])
def test_the_minimum_is_stationary_and_below_the_start(criterion):
    problem = criterion.of(X, standardised(ADDITIVE))
    family = ScaledInputs(GAUSSIAN)
    theta, loss = minimise(problem, family, 200)
    assert loss < minimise(problem, family, 1)[1]
    for step in 0.05 * np.eye(len(theta)):
        for other in (theta + step, theta - step):
            correlation, _ = family.correlation(problem.lags, other[:-1])
            mean, precision = family.prior(4)
            penalty = 0.5 * precision @ (other[:-1] - mean) ** 2
            assert problem.loss(correlation, other[-1])[0] + penalty >= loss - 1e-3


def test_the_length_scales_and_the_noise_of_a_draw_are_recovered():
    scales = np.array([0.3, 1.0])
    ratios = []
    for seed in range(5):
        data = make_gp_draw(250, 2, length_scale=scales, noise=0.2, random_state=seed).dataset
        problem = ExactEvidence.of(data.X, data.y[:, None])
        theta, _ = minimise(problem, ScaledInputs(GAUSSIAN), 100)
        ratios.append(np.exp(theta[:2]) / scales)
    assert (np.abs(np.log2(np.median(ratios, axis=0))) < 0.5).all(), np.round(ratios, 2)


def test_an_irrelevant_input_gets_a_long_scale_or_no_inclusion():
    y = standardised(np.sin(3.0 * X[:, 0]) + NOISE)
    problem = ExactEvidence.of(X, y)
    theta, _ = minimise(problem, ScaledInputs(GAUSSIAN), 100)
    assert theta[1:4].min() > theta[0] + 1.0
    kernel = Interactions(GAUSSIAN, 2).kernel(
        minimise(problem, Interactions(GAUSSIAN, 2), 100)[0][:-1]
    )
    assert kernel.inclusion[0] > max(kernel.inclusion[1:])


def test_sums_of_single_inputs_choose_interactions_and_ridges_do_not():
    (additive, *_) = search_kernel([X], standardised(ADDITIVE), np.random.default_rng(0))
    (entangled, *_) = search_kernel([X], standardised(ENTANGLED), np.random.default_rng(0))
    assert isinstance(additive.kernels[0], Anova)
    assert np.sum(additive.kernels[0].inclusion) < 2.0
    assert not isinstance(entangled.kernels[0], Anova)


def test_the_better_encoding_wins_and_losses_are_in_order():
    warped = np.sign(X) * np.abs(X) ** 0.2
    y = standardised(np.sin(4.0 * warped[:, 0]) + NOISE)
    told = []
    candidates = search_kernel(
        [X, warped],
        y,
        np.random.default_rng(0),
        families=FAMILIES[:2],
        progress=Progress(told.append),
    )
    assert candidates[0].encoding == 1
    losses = [candidate.loss for candidate in candidates]
    assert losses == sorted(losses)
    assert any("Gaussian" in step.stage for step in told)


def test_seeds_repeat():
    y = standardised(ADDITIVE)
    first, second = (
        search_kernel([X], y, np.random.default_rng(3), families=FAMILIES[:1])[0].theta
        for _ in range(2)
    )
    assert_allclose(first, second, rtol=0.0, atol=0.0)
