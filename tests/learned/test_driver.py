"""The driver on a chain whose every step is known: stages, thinning, draws, time limits."""

from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest

from bochner._base import progress as reports
from bochner.learned import chain_run
from bochner.learned.chain_run import PreparedChain, Stage, run
from bochner.learned.chain_state import StepSizes
from bochner.learned.draws import ChainDraw


@dataclass(frozen=True)
class Prior:
    n_components: int = 2


@dataclass
class State:
    """A number that grows by uniform variates, and a rounding error that rebuilding removes."""

    total: float
    error: float
    prior: Prior
    steps: StepSizes
    precision: float = 0.1

    @property
    def omega(self):
        return np.array([[self.total]])


@dataclass(frozen=True)
class Counter:
    """``log`` is told of all that happens."""

    log: list
    name: str = "all"

    def init(self, rng, omega, prior, precision):
        self.log.append(("init", self.name, float(omega[0, 0])))
        return State(float(omega[0, 0]), 0.0, prior, StepSizes({"x": 0.1}))

    def step(self, rng, state, *, adapting):
        self.log.append(("step", self.name, adapting))
        state.steps.n_adapted += adapting
        state.total += rng.random()
        state.error += 1.0
        return {"log_evidence": state.total, "acceptance_x": state.error % 2.0}

    def draw(self, state, info, *, in_full):
        whitener = np.ones((1, 1), np.float32) if in_full else None
        omega = np.array([[state.total]])
        return ChainDraw(
            omega, np.array([state.error]), 0.5, 1.0, info["log_evidence"], whitener, None
        )

    def rebuild(self, state):
        self.log.append(("rebuild", self.name, state.error))
        state.error = 0.0


def stages(log, n=(4, 6, 8), thin=1):
    some, whole = Counter(log, "some"), Counter(log, "all")
    return [
        Stage(some, n[0], thin, adapting=True, until=0.25),
        Stage(whole, n[1], thin, adapting=True, until=0.5),
        Stage(whole, n[2], thin, adapting=False, until=1.0),
    ]


def ready(plan, seed=0):
    return PreparedChain(np.random.default_rng(seed), plan, np.zeros((1, 1)), Prior(), 0.1)


def go(log=None, seed=0, **options):
    plan = stages([] if log is None else log, options.pop("n", (4, 6, 8)), options.pop("thin", 1))
    return run(ready(plan, seed), **options)


def totals(progress):
    return [float(draw.omega[0, 0]) for draw in progress.draws]


@pytest.mark.parametrize("thin", [1, 3])
def test_stages_follow_one_another_and_only_the_last_keeps_draws(thin):
    log = []
    progress = go(log, thin=thin)
    steps = [(name, adapting) for what, name, adapting in log if what == "step"]
    assert (
        steps
        == [("some", True)] * 4 * thin + [("all", True)] * 6 * thin + [("all", False)] * 8 * thin
    )
    assert (len(progress.records), progress.n_burn_in, len(progress.draws)) == (18, 10, 8)
    # The chain on all rows goes on where the one on some of them stopped.
    expected = np.cumsum(np.random.default_rng(0).random(18 * thin))[thin - 1 :: thin]
    assert [what[1:] for what in log if what[0] == "init"] == [("some", 0.0), ("all", expected[3])]
    np.testing.assert_allclose(totals(progress), expected[10:])


def test_states_are_rebuilt_every_ten_iterations_of_a_stage():
    log = []
    go(log, n=(12, 20, 25))
    assert [error for what, _, error in log if what == "rebuild"] == [10.0] * 5


@pytest.mark.parametrize(("n_full", "expected"), [(1, 1), (4, 4), (16, 8)])
def test_draws_in_full_are_spread_evenly(monkeypatch, n_full, expected):
    monkeypatch.setattr(chain_run, "FULL_DRAWS", n_full)
    full = [draw.whitener is not None for draw in go().draws]
    assert sum(full) == expected
    assert full[0]


def clock(patch, seconds=1.0):
    """Every look at the clock takes a time."""
    times = (seconds * tick for tick in count())
    patch.setattr(chain_run, "perf_counter", lambda: next(times))


@pytest.mark.parametrize("limit", [1e-9, 30.0, 120.0])
def test_the_time_limit_ends_every_stage_at_its_share(limit, monkeypatch):
    clock(monkeypatch)
    log = []
    progress = go(log, n=(1000, 1000, 1000), seconds=limit)
    # An iteration of one round looks at the clock three times, so it takes three seconds.
    assert sum(record["seconds"] for record in progress.records) <= limit + 4.0 * 4.0 + 1.0
    assert len(progress.draws) >= 1
    assert progress.n_burn_in >= 2
    if limit > 100.0:
        assert len(progress.draws) == pytest.approx(0.5 * limit / 3.0, rel=0.2)
        assert progress.n_burn_in == pytest.approx(0.5 * limit / 3.0, rel=0.2)


def test_no_round_begins_after_the_end(monkeypatch):
    clock(monkeypatch)
    log = []
    long = [replace(stage, n_iterations=1, thin=1000) for stage in stages(log)]
    run(ready(long), seconds=60.0)
    n_steps = sum(each[0] == "step" for each in log)
    assert 3 <= n_steps <= 60


def test_progress_is_reported_step_by_step():
    steps = []
    progress = go(report=reports.Progress(steps.append))
    assert len(steps) == 18
    assert str(steps[0]).startswith("burn-in 1/4: log evidence ")
    figures = {"log evidence": progress.records[-1]["log_evidence"], "components": 2.0}
    last = steps[-1]
    assert (last.stage, last.step, last.total, last.figures) == ("sampling", 8, 8, figures)


def test_a_stopped_run_has_one_iteration_of_every_stage_that_is_left():
    steps = []

    def stop(step):
        steps.append((step.stage, step.step))
        return len(steps) < 2

    go(report=reports.Progress(stop))
    assert steps == [("burn-in", 1), ("burn-in", 2), ("burn-in", 1), ("sampling", 1)]
