"""Plans: stages, structures and shares of the time, from sizes alone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner._base.progress import Progress
from bochner.learned import chain_plan
from bochner.learned.chain_models import DenseStructure, SparseStructure
from bochner.learned.chain_plan import Sampler, SamplerSettings
from bochner.learned.chain_state import ConstantNoise
from bochner.learned.polya_gamma import LogisticLabels
from bochner.learned.training_data import ScaledData
from bochner.papers.bank import BaNK, IndependentStructure

SPARSE, DENSE = SparseStructure(), DenseStructure()
SETTINGS = SamplerSettings(
    n_frequencies=8,
    structures=(SPARSE,),
    sampler=Sampler(),
    n_burn_in=6,
    n_samples=4,
    thin=1,
    n_chains=1,
    n_jobs=None,
    time_limit=None,
)


def some_data(n=60, d=3, binary=False, weight=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n)
    y = np.sign(y) if binary else y - y.mean()
    return ScaledData(X, y, np.ones((n, 1)), rng.uniform(1, 2, size=n) if weight else None, binary)


@pytest.mark.parametrize("binary", [False, True])
def test_many_rows_are_warmed_up_on_some_of_them(binary, monkeypatch):
    monkeypatch.setattr(
        chain_plan, "_LADDER", ((20, False, 0.25), (30, True, 0.45), (31, True, 0.5))
    )
    rng = np.random.default_rng(0)
    stages = chain_plan.stages_of(rng, some_data(binary=binary), SETTINGS)
    assert [stage.n_iterations for stage in stages] == [3, 1, 2, 4]
    assert [stage.adapting for stage in stages] == [True, True, True, False]
    assert [stage.chain.rows.n_samples for stage in stages] == [20, 30, 60, 60]
    assert [stage.until for stage in stages] == sorted(stage.until for stage in stages)
    assert stages[2].chain is stages[3].chain
    own = LogisticLabels if binary else ConstantNoise
    likelihoods = [type(stage.chain.likelihood) for stage in stages]
    assert likelihoods == [ConstantNoise, own, own, own]
    # Ever more rows: those before are among them.
    few, more = (set(stage.chain.rows.inputs[0]) for stage in stages[:2])
    assert few < more


def test_the_papers_classification_takes_whole_weights():
    settings = replace(SETTINGS, structures=(IndependentStructure(),), model=BaNK())
    data = some_data(binary=True, weight=True)
    with pytest.raises(ValueError, match="needs whole-number weights"):
        chain_plan.chain_of(data, settings)
    data = replace(data, weight=np.resize([1.0, 2.0, 3.0], 60))
    rows = chain_plan.chain_of(data, settings).rows
    times = np.resize([1, 2, 3], 60)
    for name, given in (("inputs", data.X.T), ("fixed", data.fixed.T), ("target", 0.5 * data.y)):
        assert_array_equal(getattr(rows, name), np.repeat(given, times, axis=-1))
    assert (rows.weight, rows.total_square) == (None, 30.0)


@pytest.mark.parametrize("n_frequencies", [1, 2, 3, 5])
@pytest.mark.parametrize("structure", [SPARSE, DENSE])
def test_any_number_of_frequencies_has_a_start(n_frequencies, structure):
    rng = np.random.default_rng(0)
    omega, _ = chain_plan.starting_point(rng, some_data(n=1), structure, n_frequencies)
    assert omega.shape == (n_frequencies, 3)
    assert np.isfinite(omega).all()


def test_one_input_is_dense_without_a_trial(monkeypatch):
    monkeypatch.setattr(chain_plan, "starting_point", None)
    rng = np.random.default_rng(0)
    settings = replace(SETTINGS, structures=(SPARSE, DENSE))
    assert chain_plan.choose_structure(rng, some_data(d=1), settings) == (DENSE, None)


def test_a_wave_along_one_input_is_found_at_once():
    """A period of a fiftieth of the range, which local moves would not find."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1.7, 1.7, size=(400, 3))
    y = np.sin(90.0 * X[:, 1]) + X[:, 0] ** 2 + 0.1 * rng.normal(size=400)
    data = ScaledData(X, y / y.std(), np.ones((400, 1)), None, False)
    omega, _ = chain_plan.starting_point(rng, data, SPARSE, 8)
    near = np.abs(np.abs(omega[:, 1]) - 90.0) < 2.0
    assert (near & (omega[:, 0] == 0.0) & (omega[:, 2] == 0.0)).any()


@pytest.mark.thorough
def test_the_evidence_tells_sums_from_functions_of_all_inputs(monkeypatch):
    monkeypatch.setattr(chain_plan, "_TRIAL_ROUNDS", 40)
    settings = replace(SETTINGS, n_frequencies=20, structures=(SPARSE, DENSE))
    rng = np.random.default_rng(1)
    X = rng.uniform(-2.0, 2.0, size=(250, 6))
    noise = 0.05 * rng.normal(size=250)
    targets = {
        "sparse": np.sin(4.0 * X[:, 0]) + np.cos(5.0 * X[:, 3]) + noise,
        "dense": np.sin(X @ [0.9, -0.8, 0.7, 1.0, 0.6, -0.9]) + noise,
    }
    for structure, y in targets.items():
        data = ScaledData(X, (y - y.mean()) / y.std(), np.ones((250, 1)), None, False)
        found = chain_plan.choose_structure(np.random.default_rng(0), data, settings)
        assert found[0].name == structure


@pytest.mark.parametrize(
    ("n_chains", "n_jobs", "expected"),
    [(1, None, 60.0), (1, 4, 60.0), (4, None, 15.0), (4, 1, 15.0), (4, 2, 30.0), (3, 2, 30.0)],
)
def test_chains_that_take_turns_share_the_time(n_chains, n_jobs, expected):
    settings = replace(SETTINGS, n_chains=n_chains, n_jobs=n_jobs, time_limit=60.0)
    assert settings.seconds_per_chain == expected
    assert replace(settings, time_limit=None).seconds_per_chain is None


def test_chains_are_independent_of_how_many_follow():
    seeds = [np.random.SeedSequence(5) for _ in range(2)]
    two = chain_plan.learn(seeds[0], some_data(), replace(SETTINGS, n_chains=2))[1]
    three = chain_plan.learn(seeds[1], some_data(), replace(SETTINGS, n_chains=3))[1]
    for one, other in zip(two, three[:2], strict=True):
        assert_array_equal(one.draws[-1].omega, other.draws[-1].omega)
    assert (two[0].draws[-1].omega != two[1].draws[-1].omega).any()


def test_the_trial_counts_in_the_time_of_the_chains(monkeypatch):
    seconds, seen = iter(range(100)), []
    monkeypatch.setattr(chain_plan, "perf_counter", lambda: float(next(seconds)))
    monkeypatch.setattr(chain_plan, "choose_structure", lambda *_: (DENSE, None))
    monkeypatch.setattr(chain_plan, "run", lambda chain, seconds, report: seen.append(seconds))
    settings = replace(SETTINGS, structures=(SPARSE, DENSE), time_limit=60.0)
    chain_plan.learn(np.random.SeedSequence(0), some_data(), settings)
    assert seen == [59.0]


@pytest.mark.thorough
def test_chains_in_processes_are_reported_when_they_are_finished():
    said = []
    settings = replace(SETTINGS, n_chains=2, n_jobs=2, n_burn_in=1, n_samples=1)
    chain_plan.learn(np.random.SeedSequence(0), some_data(), settings, report=Progress(said.append))
    assert [str(step) for step in said] == ["finished chain 1/2", "finished chain 2/2"]
