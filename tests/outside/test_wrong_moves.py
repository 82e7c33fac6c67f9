"""Moves of a user's own file that break a promise are refused with what to write instead."""

from dataclasses import dataclass

import numpy as np
import pytest

from bochner import LearnedKernelRegressor
from bochner.learned import Chains, Sampler
from bochner.learned.moves import LOCAL_MOVES, Move

X = np.random.default_rng(0).normal(size=(30, 2))


def fit(sampler):
    LearnedKernelRegressor(
        4, sampler=sampler, random_state=0, chains=Chains(n_burn_in=2, n_samples=2, n_chains=1)
    ).fit(X, X[:, 0])


@dataclass(frozen=True)
class Reports(Move):
    """A move that changes nothing."""

    name = "reports"
    report: object = None

    def __call__(self, rng, state):
        return self.report


class Nameless(Move):
    """A move without a name."""

    def __call__(self, rng, state):
        return {}


@pytest.mark.parametrize(
    ("report", "got"),
    [(None, "None"), (0.5, "0.5"), ({"a": np.ones(2)}, r"array\(\[1., 1.\]\) for 'a'")],
)
def test_a_move_returns_a_dict_of_numbers(report, got):
    with pytest.raises(TypeError, match=f"Reports must return a dict of numbers, got {got}"):
        fit([Reports(report), *LOCAL_MOVES])


@pytest.mark.parametrize("wrong", [Reports, lambda rng, state: {}])
def test_moves_are_instances(wrong):
    with pytest.raises(TypeError, match=r"sampler must be .*instances, not classes\), got"):
        fit([wrong, *LOCAL_MOVES])
    with pytest.raises(TypeError, match="instances of classes derived from Move, not classes or"):
        Sampler(LOCAL_MOVES, discrete_moves=(wrong,))


def test_moves_have_names():
    with pytest.raises(TypeError, match="Nameless needs a name: write name = "):
        fit([Nameless(), *LOCAL_MOVES])
