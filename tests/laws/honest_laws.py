"""Laws of expected errors: on new rows of the same law they are the errors that occur."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from laws import honest_labels, honest_numbers, honest_units
from laws.honest_models import Model
from laws.honest_tables import KINDS, Array, Drawn, Kind
from numpy.random import Generator

from bochner import TableClassifier, TableRegressor

assert {honest_labels, honest_numbers, honest_units}  # Imported for their kinds

N_FRESH = 2000
"""New rows of a trial: the error of their coverage is one per cent, less than seeds differ."""

STANDARD_ERRORS = 2.0
"""Standard errors over seeds that a bias must exceed."""

RELATIVE = 0.05
"""Share of the log loss, or of the root mean square error, on new rows that a bias must exceed."""

COVERAGE = 0.02
"""Difference of coverages that a bias must exceed."""

FLOOR = 0.1
"""Least share of the constant's loss that relative biases refer to: near zero no ratio counts."""

FEW_ROWS = 50
"""Fewest rows whose intervals may not cover too much: quantiles of fewer errors are coarse, and a
coverage may miss two rows of those that it was set by."""

STATED_ROWS = 40
"""Fewest rows whose probabilities must be calibrated where no left-out row has calibrated them."""

CONTROLLED_SEEDS = 8
"""Fewest seeds for which the luck of the labels is subtracted: it costs a degree of freedom."""


@dataclass(frozen=True)
class Trial:
    """What a model stated after a fit, and what happened at new rows."""

    score: float  # Squared error or log loss that was expected
    fresh: float  # That of new rows
    constant: float  # That of the best constant at the new rows
    stated: float  # Log loss by the model's own probabilities; NaN for numbers
    coverage: dict[float, float]
    width: float  # Mean width of the widest interval
    seconds: float
    luck: float = 0.0  # By how much a constant expects more than it has, of mean zero


def trial(kind: Kind, model: Model, seed: int, n: int | None = None) -> Trial:
    """Return a trial of a model on a table of ``n`` rows, by default the kind's."""
    n = min(kind.n if n is None else n, model.most_rows)
    return trial_on(kind, model, seed, *kind.drawn(n, seed))


def trial_on(kind: Kind, model: Model, seed: int, drawn: Drawn, rng: Generator) -> Trial:
    """Return a trial of a model on a table."""
    X, y = drawn.fresh(N_FRESH, rng)
    began = perf_counter()
    fitted = refit(model, seed, drawn.X, drawn.y, are_counts=drawn.are_counts, **drawn.fit)
    seconds = perf_counter() - began
    score = float(fitted.score_) if model.has_score else np.nan
    if kind.task == "classes":
        p = fitted.predict_proba(X)
        luck = 0.0 if kind.has_units else _luck_of_labels(drawn.y, y)
        return Trial(score, *_log_losses(fitted.classes_, p, y), {}, np.nan, seconds, luck)
    fresh = float(np.mean((y - fitted.predict(X)) ** 2))
    coverage, width = {}, np.nan
    for level in kind.levels if model.has_intervals else ():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lower, upper = fitted.predict_interval(X, level)
        coverage[level] = float(np.mean((lower <= y) & (y <= upper)))
        width = float(np.mean(upper - lower))
    return Trial(score**2, fresh, float(np.var(y)), np.nan, coverage, width, seconds)


def refit(model: Model, seed: int, X: Any, y: Any, *, are_counts: bool = False, **fit: Any) -> Any:
    """Return a fitted model, without warnings of small or copied tables."""
    estimator = model.build(seed)
    if are_counts and isinstance(estimator, TableRegressor | TableClassifier):
        estimator.set_params(weights="counts")  # Other models take whole numbers for counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **fit)


def _log_losses(classes: Array, p: Array, y: Array) -> tuple[float, float, float]:
    """Return the log losses at labels of the model and of a constant, and the one it states.

    Labels that the training rows do not have are passed over: no model knows of them.
    """
    known = np.isin(y, classes)
    p, label = p[known], np.searchsorted(classes, y[known])
    share = np.bincount(label, minlength=len(classes)) / len(label)
    share = share[share > 0.0]
    own = p[np.arange(len(label)), label]
    stated = -np.sum(p * np.log(np.clip(p, 1e-300, 1.0)), axis=1)
    return (
        float(-np.mean(np.log(np.clip(own, 1e-300, 1.0)))),
        float(-np.sum(share * np.log(share))),
        float(np.mean(stated)),
    )


def _luck_of_labels(y: Array, fresh: Array) -> float:
    """Return the leave-one-out log loss of shares of classes, less their loss on new rows.

    Its mean is zero but for the one row that is missing. Where classes are rare, their number among
    the training rows decides most of what a model states: 16 of 800 have an error of a quarter.
    """
    classes, label, counts = np.unique(y, return_inverse=True, return_counts=True)
    new = np.searchsorted(classes, fresh[np.isin(fresh, classes)])
    left_out = (counts[label] - 0.5) / (len(y) - 1.0 + 0.5 * len(classes))
    shares = (counts + 0.5) / (len(y) + 0.5 * len(classes))
    return float(np.mean(np.log(shares[new])) - np.mean(np.log(left_out)))


@dataclass(frozen=True)
class Bias:
    """A mean difference over seeds, with its standard error, and the unit of what matters."""

    law: str
    mean: float
    error: float
    unit: float  # Least difference that matters

    @property
    def z(self) -> float:
        """Return the difference in standard errors."""
        return self.mean / max(self.error, 1e-12)

    @property
    def is_large(self) -> bool:
        """Return whether neither chance nor smallness explains the difference."""
        return abs(self.mean) > STANDARD_ERRORS * self.error and abs(self.mean) > self.unit

    def __str__(self) -> str:
        return f"{self.law}: {self.mean:+.4g} +- {self.error:.2g} (limit {self.unit:.2g})"


def bias(law: str, differences: Iterable[float], unit: float, luck: Iterable[float] = ()) -> Bias:
    """Return the mean of differences over seeds, where the ``luck`` of each seed would be zero."""
    d, x = np.array(list(differences)), np.array(list(luck))
    if len(x) < CONTROLLED_SEEDS or not x.any():
        return Bias(law, float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d))), unit)
    centred = x - x.mean()
    slope = float(centred @ d / (centred @ centred))
    rest = d - d.mean() - slope * centred
    variance = rest @ rest / (len(d) - 2.0)
    error = np.sqrt(variance * (1.0 / len(d) + x.mean() ** 2 / (centred @ centred)))
    return Bias(law, float(d.mean() - slope * x.mean()), float(error), unit)


def biases(kind: Kind, model: Model, trials: list[Trial], n: int) -> list[Bias]:
    """Return how far the statements of a model are from what happened, over seeds."""
    fresh = np.mean([t.fresh for t in trials])
    # Squared errors differ by twice the share by which their roots do.
    share = 2.0 * RELATIVE if kind.task == "numbers" else RELATIVE
    unit = share * max(fresh, FLOOR * np.mean([t.constant for t in trials]))
    every, luck = [], [t.luck for t in trials]
    if model.has_score:
        every.append(bias("score", (t.score - t.fresh for t in trials), unit, luck))
    is_judged = model.has_score or kind.has_units or n < STATED_ROWS
    if kind.task == "classes" and not is_judged:
        stated = bias("stated", (t.stated - t.fresh for t in trials), 2.0 * unit, luck)
        # Labels without errors are in the tail of any prior of log odds.
        if stated.mean < 0.0 or "exact" not in kind.tags:
            every.append(stated)
    limit = COVERAGE + (2.0 / n if n < FEW_ROWS else 0.0)
    for level in trials[0].coverage:
        covered = bias(f"coverage {level:.0%}", (t.coverage[level] - level for t in trials), limit)
        may_exceed = kind.has_atoms or n < FEW_ROWS
        if covered.mean < 0.0 or not may_exceed:
            every.append(covered)
    return every


def failures(
    kind: Kind,
    model: Model,
    n_seeds: int,
    n: int | None = None,
    run: Callable[..., Trial] = trial,
    first: int = 0,
) -> list[Bias]:
    """Return the biases that seeds show and twice as many new seeds confirm."""
    n = kind.n if n is None else n
    trials = [run(kind, model, seed, n) for seed in range(first, first + n_seeds)]
    suspects = {bias.law for bias in biases(kind, model, trials, n) if bias.is_large}
    if not suspects:
        return []
    more = range(first + n_seeds, first + 3 * n_seeds)
    confirmed = biases(kind, model, [run(kind, model, seed, n) for seed in more], n)
    return [bias for bias in confirmed if bias.is_large and bias.law in suspects]


def agrees(kind: Kind, model: Model, n_seeds: int, n: int | None = None) -> None:
    """Assert that expected errors and coverages are those on new rows."""
    found = failures(kind, model, n_seeds, n)
    assert not found, f"{kind.name} x {model.name}: " + "; ".join(map(str, found))


def names_of_many_groups_do_not_leak(model: Model, seed: int) -> None:
    """Assert that means of the levels of a column do not know the targets of left-out groups.

    The 450 groups of four rows are more than are encoded by a column each.
    """
    one = trial(KINDS["groups with their names"], model, seed, 1800)
    assert abs(np.sqrt(one.score / one.fresh) - 1.0) < 2.0 * RELATIVE, (one.score, one.fresh)
    assert abs(one.coverage[0.9] - 0.9) < 2.0 * COVERAGE, one.coverage


def no_label_beats_its_entropy(kind: Kind, model: Model, n_seeds: int, n: int) -> None:
    """Assert that labels that nothing predicts have an expected log loss of their entropy."""
    scores = np.array([trial(kind, model, seed, n).score for seed in range(n_seeds)])
    error = scores.std(ddof=1) / np.sqrt(n_seeds)
    best = kind.drawn(n, 0)[0].best
    assert scores.mean() >= best - STANDARD_ERRORS * error, (
        f"{kind.name} x {model.name}: {scores.mean():.4f} +- {error:.4f} < {best:.4f}"
    )


def chosen_kinds(model: Model) -> list[Kind]:
    """Return the kinds of a model."""
    return [k for k in KINDS.values() if k.task == model.task and model.takes(k)]


def slow_kinds(model: Model) -> list[Kind]:
    """Return the kinds of a model's slow tests: those that do not repeat what others tell."""
    return [k for k in chosen_kinds(model) if model.kinds is None or k.name in model.kinds]
