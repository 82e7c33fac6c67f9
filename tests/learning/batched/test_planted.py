"""Bugs of chains side by side, and the checks that must notice each."""

import pytest
from learning.batched import test_chains, test_exchanges
from mutants.registry import edit

from bochner.learning.batched import chain, evidence, exchanges, likelihoods

pytest.importorskip("torch")


def blocks():
    test_exchanges.assert_blocks(test_exchanges.NOISES["unknown"], weighted=True)


def numbers():
    test_chains.test_numbers(test_chains.DENSE, weight=True)


def labels():
    test_chains.test_labels(weight=True)


BUGS = {
    "determinant of the old pair dropped": (
        edit(exchanges, "_decide", "lost_determinant + gained", "gained"),
        blocks,
    ),
    "old products of features that were replaced": (
        edit(exchanges, "_up_to_date", "current + replaced @ places", "current"),
        blocks,
    ),
    "panels that are not brought up to date": (
        edit(exchanges, "_up_to_date", "left = left + (", "left = left + 0.0 * ("),
        blocks,
    ),
    "sums without what accepted features have with each other": (
        edit(
            exchanges,
            "_carry_over",
            "block.products + (block.within - block.products @ down) @ places",
            "block.products",
        ),
        blocks,
    ),
    "steps that adapt while draws are kept": (
        edit(chain.BatchChain, "step", "if adapting", "if not adapting"),
        numbers,
    ),
    "rows counted without weights": (
        edit(
            evidence,
            "evidence_of",
            "rows.weighted(Z, chosen), namespace(Z)",
            "Z, namespace(Z)",
            test_exchanges,
            likelihoods,
        ),
        blocks,
    ),
    "variables drawn at the mean of the weights": (
        edit(likelihoods.BatchLabels, "redraw", "evidence.mean + deviation", "evidence.mean"),
        labels,
    ),
    "modes that are not sought": (
        edit(likelihoods, "mode_of", "new if up else old", "old"),
        labels,
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_it_is_noticed(name, monkeypatch):
    plant, check = BUGS[name]
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
