"""Moves of a Markov chain over frequencies; :class:`Move` documents how to add one."""

from bochner.learned.moves.hamiltonian import Hamiltonian
from bochner.learned.moves.move import Move, PriorParameters
from bochner.learned.moves.precision import LogNormalPrecision, PrecisionWalk
from bochner.learned.moves.replacement import ReplacementSweep
from bochner.learned.state import ChainState, Info

LOCAL_MOVES: tuple[Move, ...] = (ReplacementSweep(), PrecisionWalk(), PriorParameters())
"""A round of local moves: a sweep of replacements, then the precision and the prior."""

__all__ = [
    "LOCAL_MOVES",
    "ChainState",
    "Hamiltonian",
    "Info",
    "LogNormalPrecision",
    "Move",
    "PrecisionWalk",
    "PriorParameters",
    "ReplacementSweep",
]
