"""Sentences on a study: accuracy, comparison with other methods, and calibration."""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array
from bochner.comparison.outcomes import Outcome, mean_score
from bochner.comparison.shown import number
from bochner.comparison.study import Study

_CERTAIN = 2.0
"""Standard errors beyond which a difference is not put down to chance: 95 % of normal errors."""

_LITTLE = 0.05
"""Explained share of the variance below which columns hardly determine a target."""

_ALIKE = 0.005
"""Relative difference of errors that rounds to no per cent."""

_SCOPES = {
    "random": "new rows",
    "time": "later rows",
    "group": "rows of new groups",
    "file": "the rows of this file",
}
"""Description of the test rows, by the kind of their choice."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Error of the model relative to that of another method on the same rows.

    ``ratio`` is the ratio of the root mean square errors, log losses or error rates; ``lower`` and
    ``upper`` are two standard errors of its logarithm away.
    """

    other: str
    ratio: float
    lower: float
    upper: float

    @property
    def is_certain(self) -> bool:
        """Whether chance in the choice of the test rows hardly explains the difference."""
        return self.upper < 1.0 or self.lower > 1.0


def scope(study: Study) -> str:
    """Return the kind of rows that the errors refer to, such as "later rows"."""
    return _SCOPES[study.kind]


def best_other(study: Study) -> Difference | None:
    """Return the difference from the best other method, or ``None`` without other methods."""
    own = study.own
    others = {
        name: found
        for name, found in study.others.items()
        if own.probability is None or found.probability is not None
    }
    if not others:
        return None
    best = min(others, key=lambda name: float(np.mean(others[name].losses())))
    return difference(own, best, others[best])


def difference(own: Outcome, name: str, other: Outcome) -> Difference:
    """Return the ratio of two outcomes' errors on the same rows."""
    one, two = (_relative(found.losses()) for found in (own, other))
    # The error of a ratio of means, by the delta method, from differences row by row.
    spread = _CERTAIN * mean_score(one[1] - two[1], own.clusters).std_error
    power = 0.5 if own.classes is None else 1.0  # Root of the mean square
    centre = np.log(one[0] / two[0])
    low, middle, high = (
        float(np.exp(power * (centre + shift))) for shift in (-spread, 0.0, spread)
    )
    return Difference(name, middle, low, high)


def _relative(losses: Array) -> tuple[float, Array]:
    mean = max(float(np.mean(losses)), float(np.finfo(np.float64).tiny))
    return mean, losses / mean


def verdict(study: Study) -> str:
    """Describe the accuracy of predictions, and compare it with the best other method."""
    own = study.own
    text = _classes_verdict(study) if own.classes is not None else _numbers_verdict(study)
    found = best_other(study)
    if found is None:
        return text
    n_others = len(study.others)
    other = (
        found.other if n_others == 1 else f"the best of {n_others} other methods ({found.other})"
    )
    metric = "RMSE" if own.classes is None else "log loss"
    change = abs(found.ratio - 1.0)
    if change < _ALIKE:
        return f"{text} The {metric} equals that of {other}."
    direction = "lower" if found.ratio < 1.0 else "higher"
    chance = "" if found.is_certain else ", a difference within chance"
    return (
        f"{text} The {metric} is {100.0 * change:.0f} % {direction} than that of {other}{chance}."
    )


def _numbers_verdict(study: Study) -> str:
    own = study.own
    typical = float(np.median(np.abs(own.prediction - own.y)))
    explained = own.scores()["r2"].value if "r2" in own.scores() else float("nan")
    if explained < _LITTLE:
        return (
            f"The columns tell little about {study.target!r}: predictions for {scope(study)} "
            f"explain {_percent(max(explained, 0.0))} of its variance."
        )
    share = "" if np.isnan(explained) else f" and explain {_percent(explained)} of its variance"
    return (
        f"Predictions of {study.target!r} for {scope(study)} are typically off by "
        f"{number(typical, 3)} (median){share}."
    )


def _classes_verdict(study: Study) -> str:
    own = study.own
    right = 1.0 - own.scores()["error"].value
    classes, counts = np.unique(own.y, return_counts=True)
    most = counts.max() / len(own.y)
    return (
        f"The predicted {study.target!r} is right for {_percent(right)} of {scope(study)} (always "
        f"predicting {str(classes[np.argmax(counts)])!r}: {_percent(float(most))})."
    )


def _percent(share: float) -> str:
    """Return a share in per cent, with decimals where it is near 0 or 1."""
    digits = 0 if 0.1 <= share < 0.985 else 1 if share < 0.9985 else 2
    return f"{100.0 * share:.0f} %" if share in (0.0, 1.0) else f"{100.0 * share:.{digits}f} %"


def calibration(study: Study) -> str:
    """Return whether intervals, or probabilities of classes, hold on the test rows."""
    own = study.own
    n = len(own.y)
    if own.classes is None:
        found = own.scores()
        covered = found["coverage"]
        chance = max(np.sqrt(own.level * (1.0 - own.level) / n), _finite(covered.std_error))
        gap = covered.value - own.level
        judged = _judged(gap, chance, "wider than they need be", "too narrow for these rows")
        return (
            f"{100.0 * own.level:g} % prediction intervals contain {100.0 * covered.value:.1f} % "
            f"of the {n} test values, {judged} (mean width {number(found['width'].value, 3)})."
        )
    if own.probability is None:
        return "The model has no probabilities."
    highest = own.probability.max(axis=1)
    right = (own.prediction == own.y).astype(np.float64)
    excess = mean_score(right - highest, own.clusters)
    chance = max(np.sqrt(np.mean(highest * (1.0 - highest)) / n), _finite(excess.std_error))
    judged = _judged(excess.value, chance, "more often than predicted", "less often than predicted")
    return (
        f"Predicted classes have a mean probability of {100.0 * np.mean(highest):.1f} % and are "
        f"right for {100.0 * np.mean(right):.1f} % of the {n} test rows, {judged}."
    )


def _finite(value: float) -> float:
    return value if np.isfinite(value) else 0.0


def _judged(gap: float, chance: float, above: str, below: str) -> str:
    if abs(gap) <= _CERTAIN * chance:
        return "as expected"
    return above if gap > 0.0 else below
