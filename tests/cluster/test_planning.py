"""Plans of whole fits against counts of what an instrumented engine moves, reads and adds."""

from dataclasses import replace

import numpy as np
import pytest
from dask.sizeof import sizeof

from bochner import KreinRidge
from bochner.distributed import FitCost, Machine, PartitionedRows, passes, plan
from bochner.distributed.cost import PassCost
from bochner.distributed.planning import count_steps
from bochner.features.chunks import RowSample
from bochner.learning.ensemble import learner
from bochner.learning.ensemble.observations import Observations

MACHINE = Machine(4e-11, 5e-9)
FAST = replace(MACHINE, bytes_per_second=1e30)
W, B, N, D, P = 3, 16, 4096, 20, 128


def size(value):
    if isinstance(value, RowSample):
        return value.keys.nbytes + sizeof(value.rows)
    return value.nbytes if isinstance(value, np.ndarray) else sizeof(value)


class CountingEngine:
    """Runs here; every result is on one of several workers, and what moves between them counts."""

    def __init__(self, n_workers, seed):
        self.rng, self.n_workers = np.random.default_rng(seed), n_workers
        self.moved, self.n_passes, self.n_additions = 0.0, 0, 0

    def map(self, function, parts):
        self.n_passes += 1
        places = self.rng.permutation(np.arange(len(parts)) % self.n_workers)
        return [
            (function(i, part), place)
            for (i, part), place in zip(enumerate(parts), places, strict=True)
        ]

    def tree_reduce(self, plus, handles):
        while len(handles) > 1:
            handles = [self._added(plus, handles[i : i + 4]) for i in range(0, len(handles), 4)]
        ((total, _),) = handles
        self.moved += size(total)
        return total

    def _added(self, plus, terms):
        (total, place), *rest = terms
        for term, other in rest:
            self.moved += size(term) * (other != place)
            self.n_additions += 1
            total = plus(total, term)
        return total, place


def rows(n=N):
    X = np.random.default_rng(0).normal(size=(n, D))
    return X, np.sin(X[:, 0])


def counted(solver, n_workers, seed=0):
    X, y = rows()
    engine = CountingEngine(n_workers, seed)
    parts = list(zip(np.split(X, B), np.split(y, B), strict=True))
    model = KreinRidge(n_components=P, solver=solver, random_state=0)
    return engine, model.fit(PartitionedRows(engine, parts))


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_bytes_moved_are_those_of_an_engine(solver):
    assert passes.sizeof is sizeof
    found = [counted(solver, W, seed) for seed in range(4)]
    engine, model = found[0]
    steps = model.n_iter_ or 1
    cost = plan(N, D, n_components=P, solver=solver, n_workers=W, n_partitions=B, n_steps=steps,
                machine=MACHINE)  # fmt: skip
    assert cost.passes == engine.n_passes
    assert engine.n_additions == (B - 1) * engine.n_passes
    one = PassCost(N, D, P, W, B, MACHINE, solver=solver)
    n_sums = 1 + steps if solver == "cg" else 1
    predicted = cost.bytes_moved - n_sums * W * one.sent_bytes
    assert predicted == pytest.approx(np.mean([e.moved for e, _ in found]), rel=0.1)


def test_one_worker_of_an_engine_sends_what_is_predicted():
    engine, _ = counted("cholesky", 1)
    one = PassCost(N, D, P, 1, B, MACHINE)
    sample = 8 * N * (D + 1)
    assert engine.moved == pytest.approx(one.bytes_moved + sample, rel=0.01)


def test_busiest_worker():
    for b, workers in ((16, 3), (7, 7), (5, 8), (1, 4)):
        share = np.bincount(np.arange(b) % workers).max()
        assert PassCost(700, D, P, workers, b, MACHINE).rows_per_worker == share * 700 / b


def test_one_worker_moves_its_last_sum_only():
    for solver in ("cholesky", "cg"):
        one = PassCost(N, D, P, 1, B, MACHINE, solver=solver)
        assert one.bytes_moved == one.sum_bytes
        assert one.bytes_per_worker == one.sent_bytes
    assert plan(N, D, machine=MACHINE).bytes_moved == 0.0


def test_without_a_network_to_wait_for_work_is_shared():
    one, many = (PassCost(10**6, D, P, w, 64, FAST) for w in (1, 64))
    waiting = FAST.seconds_per_pass + 2 * 64 * FAST.seconds_per_task
    assert many.seconds - waiting == pytest.approx((one.seconds - waiting) / 64)
    assert one.compute_seconds == pytest.approx(10**6 * P * (5e-9 + P * 4e-11))
    assert replace(one, is_single=True).compute_seconds == 0.5 * one.compute_seconds
    read = replace(one, reads=True)
    assert read.seconds - one.seconds == pytest.approx(10**6 * 8 * (D + 1) / 5e8)


def test_conjugate_gradients_make_and_visit_features():
    one = PassCost(10**6, D, P, 1, 1, MACHINE, t=2, solver="cg")
    assert one.compute_seconds == pytest.approx(10**6 * P * 5e-9 * (1 + 0.5 * 2))
    few, more = (plan(10**7, D, solver="cg", n_steps=k, machine=MACHINE) for k in (10, 20))
    p = 1024
    per_step = 10**7 * p * 5e-9 * 1.5 * 0.5  # float32
    landmarks = p * (p + p) * 5e-9 * 0.5 * 0.5
    assert more.seconds - few.seconds == pytest.approx(10 * (per_step + landmarks))
    assert (few.passes, more.passes) == (12, 22)
    kept = [plan(10**4, D, solver="cg", n_steps=k, machine=MACHINE).seconds for k in (10, 20)]
    again = 10**4 * p * 5e-9 * 0.5 * 0.5
    assert kept[1] - kept[0] == pytest.approx(10 * (again + landmarks))


@pytest.mark.parametrize("method", ["ridge", "table"])
def test_time_grows_linearly_with_many_rows(method):
    seconds = [plan(k * 10**6, 8, method, solver="cholesky", machine=MACHINE).seconds
               for k in (1, 2, 3)]  # fmt: skip
    assert seconds[2] - seconds[1] == pytest.approx(seconds[1] - seconds[0])
    value, p = 4.0 * 5e-9, 1024
    slope = {
        "ridge": p * (5e-9 + p * 4e-11) * 0.5,
        "table": 2 * sum(m * (value + m * 4e-11) for m in (4000, 500)),
    }[method]
    assert (seconds[1] - seconds[0]) / 1e6 == pytest.approx(slope)


def test_a_faster_machine_takes_less():
    twice = Machine(2e-11, 2.5e-9)
    slow, fast = (plan(5000, 8, "table", machine=m).seconds for m in (MACHINE, twice))
    assert fast == pytest.approx(slow / 2)


def test_memory_holds_rows_sums_and_factors():
    n = 10**6
    small, large = (plan(k * n, D, n_components=512, machine=MACHINE, solver="cholesky")
                    for k in (1, 2))  # fmt: skip
    assert large.memory_bytes - small.memory_bytes == 8 * n * (D + 1)
    files = [plan(k * n, D, from_files=True, solver="cholesky", machine=MACHINE).memory_bytes
             for k in (1, 1000)]  # fmt: skip
    assert files[0] == files[1]
    few, many = (plan(2000, D, n_components=p, solver="cholesky", machine=MACHINE).memory_bytes
                 for p in (4096, 8192))  # fmt: skip
    assert many - few == pytest.approx(16 * (8192**2 - 4096**2))


def test_memory_of_kept_features():
    """Up to 256 MiB of float32 features are kept, and more are made again in every pass."""
    options = {"n_components": 1024, "solver": "cg", "machine": MACHINE}
    kept, made = (plan(n, D, **options).memory_bytes - 8 * n * (D + 1) for n in (60_000, 70_000))
    assert kept - made == 4 * 60_000 * 1024 - 2**22


def test_auto_is_the_solver_of_the_fit():
    assert "cholesky" in plan(10**5, D, machine=MACHINE).method
    assert "cg" in plan(10**6, D, n_components=8192, machine=MACHINE).method
    with pytest.raises(ValueError, match="memory_limit is 1 MB"):
        plan(10**5, D, solver="cholesky", memory_limit="1MB", machine=MACHINE)


@pytest.mark.parametrize("n", [600, 1499, 1500, 3999, 4000, 4001, 9000, 20_000])
def test_scored_rows_are_those_of_the_learner(n):
    effort = learner.EFFORTS["default"]
    table = Observations.of(
        np.arange(float(n))[:, None], np.zeros((n, 1)), np.ones(n), None, np.zeros(1, np.intp)
    )
    made = learner._Plan.of(table, effort, None, True, np.random.default_rng(0))
    assert learner.scored_rows(effort, n, effort.landmarks(n))[0] == len(made.scored.units)


def test_steps_are_counted_on_few_rows():
    X, y = rows(20_000)
    model = KreinRidge(n_components=64, solver="cg", random_state=0).fit(X, y)
    few = count_steps(X[:2000], y[:2000], 20_000, 64)
    assert 0.6 < few / model.n_iter_ < 1.2
    assert count_steps(X[:2000], y[:2000], 10**7, 64) > few
    assert count_steps(X[:50], y[:50], 20_000, 64) >= 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": 0}, "n_rows must be a positive whole number such as 1e6, got 0"),
        ({"n_rows": 1.5}, "n_rows must be"),
        ({"n_rows": True}, "n_rows must be"),
        ({"n_rows": float("inf")}, "n_rows must be"),
        ({"n_workers": 0}, "n_workers must be at least 1"),
        ({"n_partitions": 0}, "n_partitions must be at least 1"),
        ({"n_inputs": 0}, "n_inputs must be at least 1"),
        ({"n_components": 3}, "n_components must be even"),
        ({"method": "boosting"}, "method must be one of"),
        ({"effort": "much"}, "effort must be one of"),
        ({"solver": "lu"}, "solver must be one of"),
        ({"alpha": -1.0}, "alpha must be a positive number or 'evidence', got -1.0"),
        ({"method": "table", "n_workers": 4}, "needs all rows in the memory of one machine"),
        ({"method": "table", "from_files": True}, "needs all rows in the memory of one machine"),
    ],
)
def test_refusals(options, message):
    given = {"n_rows": 100, "n_inputs": 2, "machine": MACHINE} | options
    with pytest.raises(ValueError, match=message):
        plan(**given)


def test_rates_are_positive():
    with pytest.raises(ValueError, match="seconds_per_product must be positive, got 0"):
        Machine(0.0, 5e-9)


def test_a_cost_is_shown_with_units():
    cost = FitCost("ridge, cg", 7200.0, 1.5e9, 2.5e8, 1)
    assert repr(cost) == (
        "FitCost(ridge, cg: 2 h, 1 pass, 250 MB of memory per worker, 1.5 GB moved)"
    )
    for seconds, text in ((90.0, "90 s"), (600.0, "10 min"), (1e4, "3 h"), (1e6, "12 days")):
        assert text in repr(replace(cost, seconds=seconds))
