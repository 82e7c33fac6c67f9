"""Likelihoods with latent variables of the rows: joint laws, posteriors by integration, draws."""

import numpy as np
import pytest
from laws import augmentation_laws as laws
from scipy import stats

from bochner.gaussian_process import (
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    PoissonLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.learned.chain_evidence import InverseGammaNoise, KnownNoise
from bochner.learned.chain_targets import outcomes_of
from bochner.learned.moves.augmentations import augmented
from bochner.learned.moves.censored import normal_below
from bochner.learned.moves.count_labels import NegativeBinomialCounts
from bochner.learned.moves.slices import slice_sampled
from bochner.learned.moves.student_t import StudentTNoise
from bochner.learned.training_data import TrainingData

FAMILY_ALPHA = 1e-3
ONE_EACH = pytest.mark.parametrize("name", laws.LAWS)


@ONE_EACH
def test_rounds_and_redraws_have_the_models_joint_law(name):
    laws.check_chain(name, n_rounds=25, n_draws=2000, alpha=FAMILY_ALPHA / len(laws.LAWS))


@pytest.mark.slow
@ONE_EACH
def test_they_have_it_in_long_chains(name):
    laws.check_chain(name, 40, 300, 20_000, alpha=FAMILY_ALPHA / len(laws.LAWS))


@pytest.mark.parametrize("name", laws.TINY)
def test_at_fixed_frequencies_they_have_the_exact_posterior(name):
    laws.check_posterior(laws.TINY[name], 2000, FAMILY_ALPHA / len(laws.TINY))


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.TINY)
def test_they_have_it_to_three_digits(name):
    laws.check_posterior(laws.TINY[name], 40_000, FAMILY_ALPHA / len(laws.TINY))


@pytest.mark.parametrize("limit", [9.0, 1.0, -2.0, -8.0, -60.0, -1e6])
def test_normal_variates_below_a_limit_have_its_law(limit):
    rng = np.random.default_rng(0)
    drawn = normal_below(rng, np.full(2000, limit))
    assert (drawn <= limit).all()
    # In the far tail the distance from the limit is exponential, up to a share of 1/limit^2.
    law = stats.truncnorm(-np.inf, limit).cdf
    values = drawn
    if limit < -50.0:
        values, law = -limit * (limit - drawn), stats.expon().cdf
    assert stats.kstest(values, law).pvalue > FAMILY_ALPHA / 6


def test_slices_leave_a_law_invariant():
    rng, law = np.random.default_rng(2), stats.gamma(1.7)
    found = np.log(law.rvs(3000, random_state=3))
    for _ in range(3):
        found = np.array([slice_sampled(rng, x, lambda x: 1.7 * x - np.exp(x)) for x in found])
    assert stats.kstest(np.exp(found), law.cdf).pvalue > FAMILY_ALPHA


def test_slices_move_as_far_as_the_law():
    rng, values = np.random.default_rng(4), [6.0]
    for _ in range(400):
        values.append(slice_sampled(rng, values[-1], lambda x: -0.5 * (x / 3.0) ** 2))
    assert abs(np.mean(values[20:])) < 1.0
    assert 2.0 < np.std(values[20:]) < 4.0


@pytest.mark.parametrize("name", ["counts", "ordinal"])
def test_rows_of_weight_are_equal_rows(name):
    """Polya-Gamma variables, precisions and pseudo-targets of equal rows add up."""
    rng, law = np.random.default_rng(5), laws.LAWS[name].likelihood()
    repeat = np.array([1, 3, 2, 4, 1, 2])
    start, rows = np.cumsum(repeat) - repeat, np.repeat(np.arange(6), repeat)
    observed = np.stack([rng.integers(0, 3, 6).astype(float), rng.normal(size=6)])
    observed[1] *= name == "counts"
    weighted, repeated = (
        TrainingData.of(np.zeros((each.shape[1], 1)), each[0], None, weight, observed=each)
        for each, weight in ((observed, repeat.astype(float)), (observed[:, rows], None))
    )
    shape = (2, len(rows)) if name == "ordinal" else len(rows)
    values = rng.gamma(2.0, size=shape)
    if name == "ordinal":  # A cutpoint that a class lacks has no variable
        values *= np.stack([observed[0, rows] > 0.0, observed[0, rows] < 2.0])
    sums = np.add.reduceat(values, start, axis=-1)
    found = law.pseudo(law.guess, weighted, sums)
    expected = law.pseudo(law.guess, repeated, values)
    for one, each in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.add.reduceat(each, start), rtol=1e-12)


Y = np.array([0.1, 0.5, 0.4, 30.0, 0.2, 0.7])


def test_outcomes_have_units_that_outliers_do_not_move():
    found = outcomes_of(StudentTLikelihood(scale=0.3), Y, None, None)
    assert isinstance(found.likelihood, StudentTNoise)
    assert found.unit < 1.0
    np.testing.assert_allclose(found.centre + found.unit * found.observed[0], Y, rtol=1e-14)
    assert found.likelihood.noise == KnownNoise((0.3 / found.unit) ** 2)
    assert found.likelihood.law == StudentTLikelihood(None, 0.3 / found.unit)
    assert np.abs(found.stand_in).max() == 5.0
    assert isinstance(
        outcomes_of(StudentTLikelihood(), Y, None, None).likelihood.noise, InverseGammaNoise
    )


def test_limits_move_with_the_targets():
    y = np.maximum(Y, 0.3)
    found = outcomes_of(CensoredGaussianLikelihood(left=0.3), y, None, None)
    left, right = found.likelihood.law.limits
    np.testing.assert_array_equal(found.observed[0] <= left, y <= 0.3)
    assert right == np.inf


def test_counts_have_offsets_and_known_noise():
    y, times = np.array([0.0, 3.0, 5.0]), np.array([1.0, 2.0, 4.0])
    found = outcomes_of(NegativeBinomialLikelihood(), y, times, None)
    assert isinstance(found.likelihood, NegativeBinomialCounts)
    assert (found.centre, found.unit, found.likelihood.noise) == (0.0, 1.0, KnownNoise())
    np.testing.assert_array_equal(found.observed, [y, np.log(times)])
    assert np.isclose(found.likelihood.origin, np.log(8.5 / 7.0))


def test_constant_targets_have_a_unit():
    found = outcomes_of(StudentTLikelihood(), np.full(5, 7.0), None, None)
    assert (found.centre, found.unit) == (7.0, 1.0)


@pytest.mark.parametrize(
    ("law", "y", "message"),
    [
        (PoissonLikelihood(), np.arange(3.0), "Use one of GaussianLikelihood, StudentTLikelihood"),
        (SoftmaxLikelihood(3), np.arange(3.0), "and KernelGLMClassifier take every"),
        (NegativeBinomialLikelihood(), np.zeros(3), "All counts are zero"),
        (CensoredGaussianLikelihood(left=9.0), np.full(3, 9.0), "All targets are censored"),
    ],
    ids=["poisson", "softmax", "zeros", "censored"],
)
def test_what_chains_cannot_learn_from_is_refused(law, y, message):
    with pytest.raises(ValueError, match=message):
        outcomes_of(law, y, None, None)


def test_a_known_scale_of_normal_noise_is_kept():
    found = augmented(GaussianLikelihood(2.0), GaussianLikelihood(2.0), 0.0, KnownNoise(4.0))
    assert found.noise.variance(100.0, 5.0) == 4.0
