"""Gibbs draws of the parameters of the frequencies' law."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from bochner.learning.inference.state import ChainState, Info
from bochner.learning.moves.base import Move
from bochner.registry import register


@register
@dataclass(frozen=True, slots=True)
class PriorParameters(Move):
    """Draw the parameters of the prior given the frequencies; always accepted."""

    name: ClassVar[str] = "prior"

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        state.prior = state.prior.refresh(rng, state.omega)
        return {}
