"""The runner of chains on a device."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bochner._numerics import progress as reports
from bochner._numerics.arrays import Array
from bochner.learning.batched.chain import check_chain
from bochner.learning.batched.draws import draw_of_labels, draw_of_numbers
from bochner.learning.batched.driver import run_together
from bochner.learning.chains.draws import ChainDraw
from bochner.learning.chains.driver import ChainProgress, PreparedChain
from bochner.learning.chains.evidence import Noise
from bochner.learning.chains.runner import Runner
from bochner.learning.chains.training_data import TrainingData


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRunner(Runner):
    """Runs all chains side by side on the device of an array.

    Parameters
    ----------
    home : array of shape (0,)
        Empty array of the namespace, the device and the type of the features.
    """

    home: Any

    def check(self, chain: object) -> None:
        check_chain(chain)

    def run(
        self,
        chains: Sequence[PreparedChain],
        *,
        seconds: float | None = None,
        report: reports.Progress = reports.silent,
    ) -> list[ChainProgress]:
        return run_together(chains, self.home, seconds=seconds, report=report)

    def draw_of_labels(self, rows: TrainingData, omega: Array, precision: float) -> ChainDraw:
        return draw_of_labels(rows, omega, precision, self.home)

    def draw_of_numbers(
        self, rows: TrainingData, omega: Array, precision: float, noise: Noise
    ) -> ChainDraw:
        return draw_of_numbers(rows, omega, precision, noise, self.home)
