"""Chains side by side on a device, next to the same chains alone on the host."""

from dataclasses import replace

import numpy as np
import pytest
from learning.chains.test_plan import DENSE, SETTINGS, SPARSE, some_data
from numpy.testing import assert_allclose, assert_array_equal

from bochner._numerics.progress import Progress
from bochner.learning.batched import driver
from bochner.learning.batched.runner import DeviceRunner
from bochner.learning.chains import sizes
from bochner.learning.chains.basis import Matched
from bochner.learning.chains.draws import stacked
from bochner.learning.chains.evidence import InverseGammaNoise
from bochner.learning.chains.models import StationaryModel
from bochner.learning.chains.moves import Hamiltonian, PrecisionWalk
from bochner.learning.chains.moves.noise_field import VaryingNoise
from bochner.learning.chains.plan import Sampler, learn
from bochner.learning.chains.pooling import pooled
from bochner.learning.published.models import PublishedBaNK

torch = pytest.importorskip("torch")
HOME = torch.zeros((0,), dtype=torch.float64)
THREE = replace(SETTINGS, n_chains=3, n_burn_in=3, n_samples=3, thin=2)


def both(data, settings=THREE, parts=None):
    """Return chains of the host, and those of a device."""
    seeds = [np.random.SeedSequence(3) for _ in range(2)]
    runners = None, DeviceRunner(HOME)
    if parts is not None:
        weight = data.weight
        parts = [(rows, None if weight is None else weight[rows], None) for rows in parts]
    made = [
        learn(seed, data, replace(settings, runner=runner), parts=parts)[1]
        for seed, runner in zip(seeds, runners, strict=True)
    ]
    return tuple(made)


def assert_same(host, device, tolerance=1e-8):
    for one, other in zip(host, device, strict=True):
        assert (one.n_burn_in, one.stage) == (other.n_burn_in, other.stage)
        assert len(one.draws) == len(other.draws)
        for known, made in zip(one.draws, other.draws, strict=True):
            assert_array_equal(made.omega, known.omega)
            for name in ("coef", "precision", "noise_variance", "log_density"):
                found = getattr(made, name)
                assert_allclose(found, getattr(known, name), rtol=tolerance, atol=tolerance)
            if known.whitener is not None:
                assert_allclose(made.whitener, known.whitener, rtol=1e-4, atol=1e-5)
        for known, made in zip(one.records, other.records, strict=True):
            assert made.keys() == known.keys()
            for name in known.keys() - {"seconds"}:
                assert made[name] == pytest.approx(known[name], rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("structure", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("weight", [False, True])
def test_numbers(structure, weight):
    data = some_data(weight=weight)
    parts = [np.arange(60)[np.arange(60) % 3 != chain] for chain in range(3)]
    parts[1] = parts[1][:-3]  # a chain of fewer rows
    assert_same(*both(data, replace(THREE, structures=(structure,)), parts))


@pytest.mark.parametrize("weight", [False, True])
def test_labels(weight):
    assert_same(*both(some_data(binary=True, weight=weight)))


def test_structures_are_chosen_as_on_the_host():
    assert_same(*both(some_data(), replace(THREE, structures=(SPARSE, DENSE))))


@pytest.mark.parametrize("binary", [False, True])
def test_warm_up_on_some_of_the_rows(monkeypatch, binary):
    monkeypatch.setattr(sizes, "_LADDER", ((20, False, 0.25), (30, True, 0.45)))
    settings = replace(THREE, n_burn_in=8, n_chains=2)
    # Chains of other numbers of rows have other stages, and run apart.
    parts = [np.arange(60), np.arange(45), np.arange(60)[::-1]]
    assert_same(*both(some_data(binary=binary), replace(settings, n_chains=3), parts))


def test_states_are_computed_afresh_now_and_then(monkeypatch):
    monkeypatch.setattr(driver, "REBUILD_EVERY", 2)
    rebuilt = []
    kept = driver.BatchChain.rebuilt
    monkeypatch.setattr(
        driver.BatchChain, "rebuilt", lambda *given: rebuilt.append(1) or kept(*given)
    )
    assert_same(*both(some_data(), replace(THREE, n_burn_in=0, n_samples=5)))
    assert len(rebuilt) == 2


def test_float32_is_close():
    data = some_data()
    home = HOME.to(torch.float32)
    settings = replace(THREE, n_burn_in=1, n_samples=1, thin=1)
    (known, *_), (made, *_) = (
        learn(np.random.SeedSequence(3), data, replace(settings, runner=DeviceRunner(where)))[1]
        for where in (HOME, home)
    )
    assert_array_equal(made.draws[-1].omega, known.draws[-1].omega)
    assert_allclose(made.draws[-1].coef, known.draws[-1].coef, atol=1e-3)


@pytest.mark.parametrize("binary", [False, True])
def test_pooled_draws(binary):
    data = some_data(n=400, binary=binary)
    settings = replace(THREE, n_frequencies=4, n_samples=2)
    draws = stacked(
        [d for c in learn(np.random.SeedSequence(0), data, settings)[1] for d in c.draws]
    )
    known, made = (
        pooled(np.random.default_rng(0), draws, data, 3, 1, runner)
        for runner in (None, DeviceRunner(HOME))
    )
    assert known.n_draws == made.n_draws == 1
    for name in ("omega", "coef", "precision", "noise_variance", "log_density"):
        assert_allclose(getattr(made, name), getattr(known, name), rtol=1e-7, atol=1e-9)
    assert_allclose(made.whitener, known.whitener, rtol=1e-3, atol=1e-4)


def test_the_time_limit_is_that_of_all_chains(monkeypatch):
    seconds = iter(range(10_000))
    monkeypatch.setattr(driver, "perf_counter", lambda: float(next(seconds)))
    settings = replace(THREE, n_samples=50, time_limit=30.0, thin=1, runner=DeviceRunner(HOME))
    _, chains = learn(np.random.SeedSequence(0), some_data(), settings)
    assert {len(chain.draws) for chain in chains} == {len(chains[0].draws)}
    assert 1 <= len(chains[0].draws) < 15


def test_a_callback_ends_stages():
    calls = []
    report = Progress(lambda progress: bool(calls.append(progress)))
    settings = replace(THREE, n_burn_in=5, n_samples=5, runner=DeviceRunner(HOME))
    _, chains = learn(np.random.SeedSequence(0), some_data(), settings, report=report)
    assert [len(chain.draws) for chain in chains] == [1, 1, 1]
    assert [chain.n_burn_in for chain in chains] == [1, 1, 1]
    assert [progress.stage for progress in calls] == ["burn-in", "sampling"]


NOISE = InverseGammaNoise(0.5, 1e-6)
HMC = Sampler((Hamiltonian(),))
REFUSED = {
    "moves": (some_data(), {"sampler": HMC}, "moves of sampler='pcn'"),
    "model": (
        some_data(binary=True),
        {"model": PublishedBaNK()},
        "model of LearnedKernelRegressor",
    ),
    "amplitudes": (replace(some_data(), basis=Matched()), {}, "model of LearnedKernelRegressor"),
    "law": (
        some_data(),
        {"model": StationaryModel(VaryingNoise(NOISE, None))},
        "likelihood='gaussian'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_chains_are_refused(name):
    data, changes, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        learn(np.random.SeedSequence(0), data, replace(THREE, runner=DeviceRunner(HOME), **changes))


def test_steps_of_the_precision_are_those_of_the_move():
    settings = replace(THREE, sampler=Sampler((PrecisionWalk(n_steps=5),)))
    assert_same(*both(some_data(), settings))
