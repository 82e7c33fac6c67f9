"""Exchanges of chains side by side, next to evidences computed afresh from all rows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner._numerics.namespaces import to_numpy
from bochner.learning.batched import rows as batched_rows
from bochner.learning.batched.evidence import evidence_of, log_evidence_at, solved, whiteners
from bochner.learning.batched.exchanges import replace_frequencies
from bochner.learning.batched.rows import BatchRows
from bochner.learning.chains.evidence import InverseGammaNoise, KnownNoise
from bochner.learning.chains.moves.replacement import Proposals
from bochner.learning.chains.training_data import TrainingData

torch = pytest.importorskip("torch")
HOME = torch.zeros((0,), dtype=torch.float64)
M, D, PRECISION = 5, 2, np.array([0.3, 0.05, 1.7])
NOISES = {"unknown": InverseGammaNoise(0.5, 1e-3), "known": KnownNoise(0.4)}


def parts(sizes=(40, 40, 40), weighted=False):
    rng, made = np.random.default_rng(0), []
    for n in sizes:
        X = rng.normal(size=(n, D))
        y = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)
        weight = rng.uniform(0.5, 2.0, size=n) if weighted else None
        made.append(TrainingData.of(X, y, np.ones((n, 1)), weight))
    return made


def features_of(part, omega):
    """Return cosines and sines in turn over the root of their number, then fixed columns."""
    angle = omega @ part.inputs
    pairs = np.empty((2 * len(omega), part.n_samples))
    pairs[0::2], pairs[1::2] = np.cos(angle), np.sin(angle)
    return np.concatenate([pairs / np.sqrt(len(omega)), part.fixed])


def brute_force(part, omega, precision, noise):
    """Return the log evidence of one chain, its sums and the posterior of its weights."""
    Z = features_of(part, omega)
    weight = np.ones(part.n_samples) if part.weight is None else part.weight
    y = part.target / weight
    gram, cross = (Z * weight) @ Z.T, (Z * weight) @ y
    A = gram + precision * np.diag([1.0] * 2 * len(omega) + [0.0] * part.n_fixed)
    mean = np.linalg.solve(A, cross)
    residual = np.sum(weight * y**2) - cross @ mean
    fit = (
        -0.5 * residual / noise.value
        if isinstance(noise, KnownNoise)
        else -(noise.shape + 0.5 * (weight.sum() - part.n_fixed))
        * np.log(noise.rate + 0.5 * residual)
    )
    log_evidence = len(omega) * np.log(precision) - 0.5 * np.linalg.slogdet(A)[1] + fit
    return log_evidence, gram, cross, np.linalg.inv(A), mean


def block(seed, size):
    """Return proposals of a block in every chain, some of them sure to be refused or accepted."""
    rng, made = np.random.default_rng(seed), []
    for _ in PRECISION:
        uniform = np.log(rng.random(size))
        uniform[rng.integers(size)] = -50.0
        made.append(
            Proposals(
                rng.permutation(M)[:size],
                2.0 * rng.normal(size=(size, D)),
                0.3 * rng.normal(size=size),
                uniform,
            )
        )
    return made


def in_turn(part, omega, precision, noise, proposals):
    """Return the decisions and frequencies of one proposal after another."""
    omega, accepted = omega.copy(), []
    each = zip(
        proposals.index,
        proposals.omega,
        proposals.log_ratio,
        proposals.log_uniform,
        strict=True,
    )
    for index, value, log_ratio, log_uniform in each:
        proposed = omega.copy()
        proposed[index] = value
        ratio = brute_force(part, proposed, precision, noise)[0]
        ratio -= brute_force(part, omega, precision, noise)[0]
        accepted.append(log_uniform < ratio + log_ratio)
        omega = proposed if accepted[-1] else omega
    return np.array(accepted), omega


def started(data, noise, keep=True):
    omega = np.random.default_rng(1).normal(size=(3, M, D))
    rows = BatchRows.of(data, HOME)
    return rows, evidence_of(rows, omega, PRECISION, noise, keep=keep)


def assert_evidence(evidence, data, noise, tolerance=1e-9):
    for index, part in enumerate(data):
        known = brute_force(part, evidence.omega[index], PRECISION[index], noise)
        assert_allclose(evidence.log_evidence()[index], known[0], rtol=tolerance)
        for name, values in zip(("gram", "cross", "covariance", "mean"), known[1:], strict=True):
            made = to_numpy(getattr(evidence, name))[index]
            assert_allclose(made, values, rtol=tolerance, atol=tolerance)


def assert_blocks(noise, weighted=False, sizes=(40, 40, 40), keep=True, n_blocks=4):
    data = parts(sizes, weighted)
    rows, evidence = started(data, noise, keep)
    assert_evidence(evidence, data, noise)
    n_accepted = 0
    for seed in range(n_blocks):
        proposals = block(seed, 4)
        known = [
            in_turn(part, omega, precision, noise, own)
            for part, omega, precision, own in zip(
                data, evidence.omega.copy(), PRECISION, proposals, strict=True
            )
        ]
        accepted = replace_frequencies(evidence, rows, proposals)
        for index, (decided, omega) in enumerate(known):
            assert_array_equal(accepted[index], decided)
            assert_array_equal(evidence.omega[index], omega)
        assert_evidence(evidence, data, noise)
        n_accepted += accepted.sum()
    assert 0 < n_accepted < 12 * n_blocks
    return evidence, data


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_are_those_of_one_after_another(noise, weighted):
    assert_blocks(NOISES[noise], weighted)


def test_chains_may_have_other_numbers_of_rows():
    assert_blocks(NOISES["unknown"], sizes=(40, 31, 37))


@pytest.mark.parametrize("limit", ["none is kept", "blocks are small"])
def test_rows_may_be_too_many_for_the_device(monkeypatch, limit):
    if limit == "none is kept":
        monkeypatch.setattr(batched_rows, "KEPT_BYTES", 0)
    monkeypatch.setattr(batched_rows.limits, "DEVICE_BLOCK_BYTES", 5_000)
    rows, evidence = started(parts(), NOISES["unknown"])
    assert (evidence.features is None) is (limit == "none is kept")
    assert len(list(rows.blocks(11))) > 1
    assert_blocks(NOISES["unknown"], weighted=True)


def test_kept_features_follow_the_frequencies():
    evidence, data = assert_blocks(NOISES["unknown"])
    for index, part in enumerate(data):
        known = features_of(part, evidence.omega[index])
        assert_allclose(to_numpy(evidence.features)[index], known, atol=1e-12)


def test_other_precisions():
    noise, data = NOISES["unknown"], parts()
    _, evidence = started(data, noise)
    others = np.array([0.01, 3.0, 20.0])
    known = [
        brute_force(part, omega, precision, noise)
        for part, omega, precision in zip(data, evidence.omega, others, strict=True)
    ]
    assert_allclose(log_evidence_at(evidence, others), [each[0] for each in known], rtol=1e-10)
    there = solved(evidence, others)
    roots = whiteners(there)
    for index, each in enumerate(known):
        assert_allclose(to_numpy(there.covariance)[index], each[3], atol=1e-10)
        assert_allclose(roots[index] @ roots[index].T, each[3], rtol=1e-5, atol=1e-6)
        assert_array_equal(roots[index], np.triu(roots[index]))


def test_a_matrix_that_is_not_positive_definite_is_refused_and_others_are_not():
    _, evidence = started(parts(), NOISES["unknown"])
    gram = evidence.gram.clone()
    gram[1] -= 100.0 * torch.eye(gram.shape[-1], dtype=gram.dtype)
    broken = replace(evidence, gram=gram)
    found = log_evidence_at(broken, PRECISION)
    assert np.isneginf(found[1])
    assert_allclose(found[[0, 2]], log_evidence_at(evidence, PRECISION)[[0, 2]])
    with pytest.raises(np.linalg.LinAlgError, match=r"lambda_0 = 0\.05"):
        solved(broken, PRECISION)


def test_features_in_float32_are_close():
    noise, data = NOISES["unknown"], parts()
    omega = np.random.default_rng(1).normal(size=(3, M, D))
    narrow = BatchRows.of(data, HOME.to(torch.float32))
    made = evidence_of(narrow, omega, PRECISION, noise)
    assert made.features.dtype == torch.float32
    assert made.gram.dtype == torch.float64
    for index, part in enumerate(data):
        known = brute_force(part, omega[index], PRECISION[index], noise)
        # A feature of size 1 / sqrt(M) is off by 1e-7 of it, and sums are of 40 rows.
        assert_allclose(to_numpy(made.gram)[index], known[1], atol=40 * 1e-6)
