r"""Priors of parameters, learned from the series of forecasting competitions.

A few dozen values of a series hardly determine its parameters. The priors of the parameters
were learned from many other series by empirical Bayes: the laws that maximise the product of the
evidences of these series. `tools/series_priors.py` made the tables in ``priors.json``.

A parameter of a process, on the logarithmic scale, is

.. math:: \theta_i = a_i + b_i \log(n / 30) + c_i u + e_i, \qquad e_i \sim N(0, s_i^2),

for n steps in the range of the rows. :math:`u \sim N(0, c^2)` is common to all parameters of a
series, and :math:`c_i` the exponent of the values' unit in the parameter. The common term allows
all deviations to be larger or smaller together.

Evidence is overconfident, because no model is exactly true. A model therefore has the
weight :math:`\pi_j E_j^\tau` in a forecast, where E is its evidence. The odds :math:`\pi_j` and the
power :math:`\tau` maximise the densities of the last values of the same series, forecast from the
values before (coarsened posteriors: Miller and Dunson, "Robust Bayesian inference via coarsening",
Journal of the American Statistical Association, 2019).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.series.components import Prior

_LEAST_DRIFT = 0.01
"""Smallest weight for which a random walk with drift is fitted; less hardly changes forecasts."""

_USUAL_LENGTH = 30.0  # Number of steps n at which the term with log(n / 30) is zero


@dataclass(frozen=True, slots=True, eq=False)
class NormalPrior:
    """A normal distribution of parameters (k,): its mean and a factor (k, k) of its covariance."""

    mean: Array
    factor: Array

    @property
    def std(self) -> Array:
        """Standard deviations (k,)."""
        return as_array(np.sqrt(np.sum(self.factor**2, axis=1)))

    def at(self, z: Array) -> Array:
        """Map independent standard normal numbers (k,) to parameters (k,)."""
        theta: Array = self.mean + self.factor @ z
        return theta

    def standardised(self, theta: Array) -> Array:
        """Return the independent standard normal numbers (k, ...) of parameters (k, ...)."""
        return as_array(np.linalg.solve(self.factor, (theta.T - self.mean).T))


class ParameterPrior(NamedTuple):
    """The normal prior of a parameter: ``a``, ``b`` and ``s`` of the module's formula."""

    level: float
    by_length: float
    std: float


class PanelPrior(NamedTuple):
    """A shift of the mean of a parameter's prior, and its standard deviation, in a panel."""

    shift: float
    std: float


@dataclass(frozen=True, slots=True, eq=False)
class PriorTable:
    """Learned priors by parameter name, evaluated at ``length = log(n / 30)``."""

    parameters: Mapping[str, ParameterPrior]
    common_std: float = 0.0
    length: float = 0.0
    panel: Mapping[str, PanelPrior] = field(default_factory=dict)

    def prior(self, own: Sequence[Prior]) -> NormalPrior:
        """Return the joint prior of parameters; ``own`` priors apply where none is learned."""
        learned = [self.parameters.get(one.name) for one in own]
        mean = [
            one.mean if entry is None else entry.level + entry.by_length * self.length
            for one, entry in zip(own, learned, strict=True)
        ]
        std = [
            one.std if entry is None else entry.std for one, entry in zip(own, learned, strict=True)
        ]
        loadings = self.common_std * np.array([one.power for one in own], dtype=np.float64)
        for place, one in enumerate(own):
            if one.name in self.panel:
                mean[place] += self.panel[one.name].shift
                std[place] = self.panel[one.name].std
        cov = np.diag(np.square(std)) + np.outer(loadings, loadings)
        return NormalPrior(np.array(mean), as_array(np.linalg.cholesky(cov)))


OWN_PRIORS = PriorTable({})
"""Default without learned priors: independent priors defined by the processes."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesPriors:
    """Learned priors of parameters, trends and transformations for series of one frequency."""

    parameters: Mapping[str, ParameterPrior] = field(default_factory=dict)
    common_std: float = 0.0
    power: float = 1.0
    transformation_power: float = 1.0
    trends: Mapping[str, float] = field(
        default_factory=lambda: {"level": 0.0, "slope": 0.0, "line": 0.0}
    )
    transformations: Mapping[str, float] = field(
        default_factory=lambda: {"none": 0.0, "sqrt": 0.0, "log": 0.0}
    )

    drift_weight: float = 0.0
    drift_share: float = 1.0
    drift_steps: float = 0.0
    fewest_for_scale: int = 0
    panel: Mapping[str, PanelPrior] = field(default_factory=dict)

    def scales(self, names: Sequence[str], n_values: int) -> Sequence[str]:
        """Return the transformations to compare for ``n_values`` known values.

        Few values do not tell linear growth from exponential growth: the square root is between.
        """
        return ["sqrt"] if "sqrt" in names and n_values < self.fewest_for_scale else names

    def table(self, step: float) -> PriorTable:
        """Return parameter priors for rows that are ``step`` apart, in ranges of the rows."""
        length = float(-np.log(step * _USUAL_LENGTH))
        return PriorTable(self.parameters, self.common_std, length, self.panel)

    def log_weight(self, log_evidence: float, trend: str) -> float:
        """Return the unnormalised log weight of a model in forecasts."""
        return self.power * log_evidence + self.trends[trend]

    def log_weight_of_scale(self, log_evidence: float, transformation: str) -> float:
        """Return the unnormalised log weight of a transformation in comparisons."""
        # "floor" has the prior odds of "none".
        odds = self.transformations.get(transformation, self.transformations["none"])
        return self.transformation_power * log_evidence + odds

    def weight_of_drift(self, n_steps: float) -> float:
        """Return the weight of a random walk with drift for a series of ``n_steps`` steps."""
        longer = n_steps / self.drift_steps if self.drift_steps else np.inf
        weight = self.drift_weight / max(1.0, longer) ** 2
        return weight if weight > _LEAST_DRIFT else 0.0

    def entry(self) -> dict[str, object]:
        """Return the priors as an entry of ``priors.json``."""
        return {
            "parameters": dict(self.parameters),
            "common_std": self.common_std,
            "power": self.power,
            "transformation_power": self.transformation_power,
            "trends": dict(self.trends),
            "transformations": dict(self.transformations),
            "drift_weight": self.drift_weight,
            "drift_share": self.drift_share,
            "drift_steps": self.drift_steps,
            "fewest_for_scale": self.fewest_for_scale,
        }

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "SeriesPriors":
        """Return the priors from an entry of ``priors.json``."""
        parameters = {name: ParameterPrior(*law) for name, law in entry["parameters"].items()}
        return cls(**{**entry, "parameters": parameters})


def _read() -> Mapping[str, SeriesPriors]:
    text = files("bochner.series").joinpath("priors.json").read_text(encoding="utf-8")
    return MappingProxyType(
        {name: SeriesPriors.of(entry) for name, entry in json.loads(text)["priors"].items()}
    )


PRIORS = _read()
"""Priors by frequency: one value per ``"year"``, ``"quarter"``, ``"month"``, ``"week"`` or
``"hour"``, or ``"other"``. For weekly and hourly series only the drift is learned."""

GENERAL = PRIORS["other"]
