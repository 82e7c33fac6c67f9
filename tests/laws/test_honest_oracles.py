"""The laws of expected errors pass predictors that obey them, and fail those that do not."""

import numpy as np
import pytest
from laws import honest_laws as laws
from laws.honest_models import FALSE, ORACLES
from laws.honest_tables import KINDS

CASES = [
    pytest.param(kind, oracle, id=kind.name)
    for oracle in ORACLES.values()
    for kind in laws.chosen_kinds(oracle)
]


@pytest.mark.parametrize(("kind", "oracle"), CASES)
def test_means_of_cells_pass(kind, oracle):
    laws.agrees(kind, oracle, 6)


@pytest.mark.parametrize("name", FALSE)
def test_predictors_that_leave_the_wrong_rows_out_fail(name):
    oracle, kind = FALSE[name]
    with pytest.raises(AssertionError, match=kind):
        laws.agrees(KINDS[kind], oracle, 20)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_no_predictor_is_better_than_the_one_that_knows_the_law(kind):
    oracle = ORACLES[f"cells of {kind.task}"]
    drawn = kind.drawn(kind.n, 0)[0]
    fresh = [laws.trial(kind, oracle, seed).fresh for seed in range(3)]
    if np.isfinite(drawn.best):  # Groups of labels have no formula
        best = sum(kind.drawn(kind.n, seed)[0].best for seed in range(3)) / 3
        assert min(fresh) > 0.0
        assert sum(fresh) / 3 > 0.85 * best


def test_tables_are_those_of_their_seeds():
    for kind in KINDS.values():
        (first, _), (again, _), (other, _) = (kind.drawn(40, seed) for seed in (0, 0, 1))
        assert first.X.equals(again.X)
        assert (first.y == again.y).all()
        assert len(first.y) != len(other.y) or (first.y != other.y).any()
