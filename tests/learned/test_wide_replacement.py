"""Blocks of replacements of units that several waves share, against fresh factorisations."""

import numpy as np
import pytest
from laws.amplitude_laws import GRID, MATCHED, amplitude_problem
from learned.test_replacement import (
    GAUSSIAN,
    KNOWN,
    assert_chain,
    assert_state,
    literal_log_evidence,
)
from numpy.testing import assert_allclose, assert_array_equal

from bochner.learned.basis import Grid
from bochner.learned.chain_state import evidence_of
from bochner.learned.moves import Proposals, replace_frequencies

WIDE = Grid(7, 5)
CASES = {
    "matched": (MATCHED, GAUSSIAN, {"m": 20}),
    "grid": (WIDE, GAUSSIAN, {}),
    "grid, weights, trend": (WIDE, GAUSSIAN, {"weights": "integer", "q": 2}),
    "grid, known noise": (WIDE, KNOWN, {"weights": "real"}),
    "summed": (Grid(7, 5, is_summed=True), GAUSSIAN, {"q": 1}),
    "one frequency": (Grid(1, 6), GAUSSIAN, {}),
    "one amplitude": (Grid(8, 1), GAUSSIAN, {}),
}


def groups_of(case):
    return case.basis.groups(len(case.omega))


def check(basis, noise, block_size, keep=True, n=120, **settings):
    case = amplitude_problem(basis, n=n, **settings)
    assert_chain(case, 0.1, noise, block_size=block_size, keep=keep, groups=groups_of(case))


@pytest.mark.parametrize("block_size", [1, 3, 64])
@pytest.mark.parametrize(("basis", "noise", "settings"), CASES.values(), ids=CASES.keys())
def test_blocks_are_the_chain_of_one_at_a_time(basis, noise, settings, block_size):
    check(basis, noise, block_size, **settings)


def proposals_of(case, index, omega, log_ratio=0.0):
    size = len(index)
    return Proposals(index, omega, np.full(size, log_ratio), np.full(size, -np.inf))


@pytest.mark.parametrize("group", [0, 1])
@pytest.mark.parametrize("keep", [True, False])
def test_all_of_a_group_may_be_accepted(group, keep):
    """As the shared waves of all units change, none of the others' do."""
    case = amplitude_problem(GRID, n=60, weights="integer")
    index = groups_of(case)[group][::-1].copy()
    evidence = evidence_of(case.rows(), case.omega, 0.1, GAUSSIAN, keep=keep)
    accepted = replace_frequencies(
        evidence, case.rows(), proposals_of(case, index, case.other[index])
    )
    assert accepted.all()
    assert_array_equal(evidence.omega[index], case.other[index])
    assert_state(case, evidence)
    literal = literal_log_evidence(case, evidence.omega, 0.1, GAUSSIAN)
    assert_allclose(evidence.log_evidence(), literal, rtol=0.0, atol=1e-8)
