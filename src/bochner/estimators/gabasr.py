"""What models that learn a locally stationary kernel add to those of a stationary one."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from bochner._numerics.arrays import Array, as_count
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_parameters import GABASR_CHOICES, Choice, check_name
from bochner.learning.inference.models import LocallyStationary, Model
from bochner.learning.inference.plan import Sampler
from bochner.learning.inference.preparation import frequency_scales
from bochner.learning.inference.start import Structure
from bochner.learning.moves import Move

PAIRS = ("matched", "grid")

VARYING: Mapping[str, tuple[bool, bool]] = MappingProxyType(
    {
        "learned": (True, True),
        "signal": (True, False),
        "noise": (False, True),
        "constant": (False, False),
    }
)
"""Whether amplitudes and the noise vary, by the name of an envelope."""


class GaBaSR(BaNK):
    """A locally stationary kernel learned from data; joined with a regression or classification."""

    _choices: ClassVar[Mapping[str, Choice]] = GABASR_CHOICES
    _envelopes: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        n_frequencies: int = 200,
        structure: str | Structure = "auto",
        sampler: str | Sampler | Sequence[Move] = "auto",
        n_burn_in: int = 100,
        n_samples: int = 100,
        *,
        pairs: str = "matched",
        n_envelope: int = 8,
        envelope: str = "learned",
        thin: int | str = "auto",
        n_chains: int = 1,
        n_jobs: int | None = None,
        trend: int = 0,
        time_limit: float | None = None,
        dtype: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_frequencies,
            structure,
            sampler,
            n_burn_in,
            n_samples,
            thin=thin,
            n_chains=n_chains,
            n_jobs=n_jobs,
            trend=trend,
            time_limit=time_limit,
            dtype=dtype,
            verbose=verbose,
            random_state=random_state,
        )
        self.pairs = pairs
        self.n_envelope = n_envelope
        self.envelope = envelope

    def _model(self, choice: Choice, scaled: Array) -> Model:
        check_name("pairs", self.pairs, PAIRS)
        check_name("envelope", self.envelope, self._envelopes)
        n_envelope = as_count("n_envelope", self.n_envelope)
        varies: dict[str, bool] = {}
        signal, varies["noise"] = VARYING[self.envelope]
        # The published model has a grid, and constant noise.
        in_grid = self.pairs == "grid"
        if choice.model is not LocallyStationary:
            in_grid, varies = True, {}
        if in_grid and n_envelope > self.n_frequencies:
            raise ValueError(
                f"pairs='grid', and the paper's sampler, combine every frequency with every "
                f"amplitude: n_envelope must be at most n_frequencies={self.n_frequencies}, the "
                f"number of combinations, got {n_envelope}."
            )
        # Constant amplitudes are all one: no frequency needs to be there twice.
        shared = n_envelope if signal and in_grid else 0
        scale = frequency_scales(scaled, np.random.default_rng(0))
        model: Model = choice.model(tuple(scale.tolist()), shared, signal, **varies)
        return model
