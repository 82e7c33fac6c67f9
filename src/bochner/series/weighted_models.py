"""Models of a series with draws of their parameters."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.series.components import SeriesProcess
from bochner.series.series_model import SeriesModel
from bochner.series.trends import LevelProcess

TINY = 1e-12
"""Lower bound of variances, relative to the variance of the values: rounding may make them
negative."""

_COUNTS = ("n_harmonics", "n_inputs")
"""Attributes of parts that are numbers of states or of pairs of states."""


@register(shapes={"theta": "Sk", "weights": "S", "mean": "Ss", "cov": "Sss"})
@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """Parameter draws of one model, with moments of its states at the final training row."""

    parts: list[SeriesProcess]
    theta: Array  # (S, k)
    weights: Array  # (S,): Sum to one over all members
    mean: Array  # (S, s)
    cov: Array  # (S, s, s)

    def __post_init__(self) -> None:
        """Raise ValueError if the numbers of parameters or states do not match the parts."""
        counts = [getattr(part, name, 0) for part in self.parts for name in _COUNTS]
        # Checked before arrays of these sizes are made: a damaged file may hold huge numbers.
        if max(counts, default=0) > self.mean.shape[1]:
            raise ValueError(f"{max(counts)} harmonics or inputs of {self.mean.shape[1]} states")
        n_parameters = sum(len(part.priors) for part in self.parts)
        n_states = sum(len(part.partners) for part in self.parts)
        if not self.parts or not isinstance(self.parts[0], LevelProcess):
            raise ValueError("the first part of a model must be a trend")
        if self.theta.shape[1] != n_parameters or self.mean.shape[1] != n_states:
            raise ValueError(
                f"draws of {self.theta.shape[1]} parameters and {self.mean.shape[1]} states do not "
                f"fit parts with {n_parameters} and {n_states}"
            )
        if np.diagonal(self.cov, axis1=1, axis2=2).min(initial=0.0) < -TINY * np.abs(self.cov).max(
            initial=1.0
        ):
            raise ValueError("states have negative variances")

    @property
    def model(self) -> SeriesModel:
        """The model."""
        return SeriesModel(tuple(self.parts))

    @property
    def trend(self) -> LevelProcess:
        """The first part."""
        return cast(LevelProcess, self.parts[0])
