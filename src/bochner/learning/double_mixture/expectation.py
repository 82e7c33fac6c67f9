"""The interface of an inference of two mixtures, and its settings."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.learned_mixture import LearnedMixture
from bochner.learning.double_mixture.sketch import Sketch


@dataclass(frozen=True, slots=True)
class MixtureSettings:
    """The checked parameters of an inference; :class:`bochner.DIGMMFeatures` documents them."""

    truncation: int = 5
    shift: float = 1.1
    concentration: float = 1.0
    noise: float | None = None
    max_iter: int = 50
    tol: float = 1e-5
    n_starts: int = 3


class Expectation(ABC):
    """A method that infers two mixtures from a sketch, named for its expectation of cosines."""

    __slots__ = ()

    scheme: str
    """Sampling scheme of the frequencies drawn from what it learns."""

    max_iter: int
    """Default number of iterations."""

    learns_noise: bool
    """Whether the noise, unless given, is learned from the similarities."""

    @abstractmethod
    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        """Return the indices of the ``n`` rows of a sketch, or of all rows if there are fewer."""

    @abstractmethod
    def infer(
        self, sketch: Sketch, settings: MixtureSettings, n_frequencies: int, rng: Generator
    ) -> LearnedMixture:
        """Return the mixtures for ``n_frequencies`` frequencies of both signs together."""
