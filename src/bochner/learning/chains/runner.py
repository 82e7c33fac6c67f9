"""The interface of what runs the chains of a fit other than one by one on the host."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from bochner._numerics import progress as reports
from bochner._numerics.arrays import Array
from bochner.learning.chains.draws import ChainDraw
from bochner.learning.chains.driver import ChainProgress, PreparedChain
from bochner.learning.chains.evidence import Noise
from bochner.learning.chains.training_data import TrainingData


class Runner(ABC):
    """Runs prepared chains, and fits pooled frequencies to all rows."""

    __slots__ = ()

    @abstractmethod
    def check(self, chain: object) -> None:
        """Raise ValueError unless the chain can run here."""

    @abstractmethod
    def run(
        self,
        chains: Sequence[PreparedChain],
        *,
        seconds: float | None = None,
        report: reports.Progress = reports.silent,
    ) -> list[ChainProgress]:
        """Run chains through their stages; ``seconds`` limit all of them together."""

    @abstractmethod
    def draw_of_labels(self, rows: TrainingData, omega: Array, precision: float) -> ChainDraw:
        """Return the draw of frequencies (m, d) at the mode of the weights given all labels."""

    @abstractmethod
    def draw_of_numbers(
        self, rows: TrainingData, omega: Array, precision: float, noise: Noise
    ) -> ChainDraw:
        """Return the draw of frequencies (m, d) for all rows, at the best precision."""
