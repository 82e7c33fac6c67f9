"""Sentences on a study: accuracy, comparison with other methods, and calibration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from types import MappingProxyType

import numpy as np
from scipy.stats import norm

from bochner._base.arrays import Array, Mask, as_array
from bochner._base.names import listed
from bochner._base.number_texts import number, percent, percents, with_errors
from bochner.comparison.contenders import CONSTANT
from bochner.comparison.outcomes import (
    METRICS,
    SHARES,
    Outcome,
    Score,
    mean_score,
    outcome_coverage,
)
from bochner.comparison.study import Leak, Study
from bochner.tables.sensitivity import VarianceShares

FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "rough": "curves with kinks, columns apart",
        "turned": "curves with kinks, columns together",
        "smooth": "smooth curves",
    }
)
"""Description of the functions that a member of a table model fits, by its name."""

LEAST_PAIR = 0.01
"""Smallest share of the variance for which a pair of columns is listed or drawn."""

_LESS_THAN_ALL, _MORE_THAN_ALL = 0.8, 1.05
"""Sums of shares outside this range are explained: independent columns have about one."""

_CERTAIN = 2.0
"""Number of standard errors beyond which a difference is significant at the 5 % level."""

_LITTLE = 0.05
"""Explained share of the variance below which a sentence states that columns explain little."""

_ALIKE = 0.005  # Relative difference of errors that rounds to 0 %
_AREAS = ("auc", "average_precision")  # Metrics between zero and one, which have three decimals
_FEW_RARE = 30
"""Number of test rows of a rare class below which its shares are known to 10 % at most."""

_MANY_SECONDS = 100.0  # Time in seconds from which times of methods are whole seconds
_SCOPES = {
    "random": "new rows",
    "time": "later rows",
    "group": "rows of new groups",
    "file": "the rows of this file",
}
"""Description of the test rows, by the kind of split."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Ratio of the model's error to another method's error on the same rows.

    Its ends are two standard errors of the logarithm away, or more for the best of several.
    """

    other: str
    ratio: float
    lower: float
    upper: float

    @property
    def is_certain(self) -> bool:
        """Whether the difference of the errors is significant."""
        return self.upper < 1.0 or self.lower > 1.0

    @property
    def is_worse(self) -> bool:
        """Whether the model's error is significantly larger than the other error."""
        return self.lower > 1.0

    @property
    def change(self) -> str:
        """Size of the model's error relative to the other error, such as "12 % lower"."""
        return f"{percent(abs(self.ratio - 1.0))} {'lower' if self.ratio < 1.0 else 'higher'}"

    @property
    def conclusion(self) -> str:
        """Text on the significance, such as "the difference is not significant"."""
        return f"the difference is {'' if self.is_certain else 'not '}significant"


def metric_texts(name: str, scores: Sequence[Score | None], *, errors: bool = True) -> list[str]:
    """Return a metric of several methods, with equal decimals and, if known, standard errors.

    Shares are in per cent; unknown metrics are dashes.
    """
    filled = [score or Score(np.nan) for score in scores]
    values, std_errors = ([getattr(s, part) for s in filled] for part in ("value", "std_error"))
    if name in SHARES and errors and np.isfinite(std_errors).any():
        return [percent(*pair) for pair in zip(values, std_errors, strict=True)]
    if name in SHARES:
        return [percent(value, digits=1) for value in values]
    if name in _AREAS:
        texts = [f"{v:.3f} ± {e:.3f}" for v, e in zip(values, std_errors, strict=True)]
        return [text.replace(" ± nan", "").replace("nan", "–") for text in texts]
    texts = with_errors(values, std_errors)
    if errors:
        return texts
    pairs = zip(texts, values, strict=True)
    return [number(value, 3) if "e" in text else text.partition(" ±")[0] for text, value in pairs]


def metric_text(name: str, score: Score) -> str:
    """Return a metric with its standard error, if known; shares of rows in per cent."""
    return metric_texts(name, [score])[0]


def seconds_texts(seconds: Sequence[float]) -> list[str]:
    """Return times in seconds with equal decimals; ten thousandths of a second are of no use.

    >>> seconds_texts([0.0079, 8.17, 35.0]), seconds_texts([0.3, 539.0])
    (['< 0.1', '8.2', '35.0'], ['< 1', '539'])
    """
    decimals = int(max((s for s in seconds if np.isfinite(s)), default=0.0) < _MANY_SECONDS)
    least = 10.0**-decimals
    texts = [f"{s:,.{decimals}f}" if s >= least else f"< {least:g}" for s in seconds]
    return [text if np.isfinite(s) else "–" for text, s in zip(texts, seconds, strict=True)]


def scope(study: Study) -> str:
    """Return a description of the test rows, such as "later rows"."""
    return _SCOPES[study.split.kind]


def compared(study: Study) -> dict[str, Outcome]:
    """Return the outcomes of the other methods that have the first metric of the model."""
    metric = study.own.metrics[0]
    return {name: other for name, other in study.others.items() if metric in other.scores()}


def without_probabilities(study: Study) -> str:
    """Return a sentence on methods that have no probabilities, or an empty text."""
    names = [name for name in study.others if name not in compared(study)]
    if not names:
        return ""
    verb = "predicts" if len(names) == 1 else "predict"
    return f"{listed(names)} {verb} classes without probabilities, so that there is no log loss."


def best_other(study: Study) -> Difference | None:
    """Return the ratio of the model's error to the best other method's; ``None`` without one."""
    others = compared(study)
    if not others:
        return None
    best = min(others, key=lambda name: float(np.mean(others[name].losses())))
    return difference(study.own, best, others[best], len(others))


def difference(
    our_outcome: Outcome, name: str, other_outcome: Outcome, n_compared: int = 1
) -> Difference:
    """Return the ratio of two outcomes' errors, with Bonferroni's correction for the best."""
    width = norm.isf(norm.sf(_CERTAIN) / n_compared)
    ours, others = our_outcome.losses(), other_outcome.losses()
    means = np.maximum([ours.mean(), others.mean()], np.finfo(np.float64).tiny)
    # Standard error of a ratio of means by the delta method, from paired row losses.
    gaps = ours / means[0] - others / means[1]
    spread = width * mean_score(gaps, our_outcome.clusters).std_error
    power = 0.5 if our_outcome.classes is None else 1.0  # A root mean square error
    centre = np.log(means[0] / means[1])
    low, middle, high = np.exp(power * (centre + np.array([-spread, 0.0, spread]))).tolist()
    return Difference(name, middle, low, high)


def verdict(study: Study) -> str:
    """Return sentences on the accuracy, its columns, and the best other method."""
    our_outcome, gap = study.own, best_other(study)
    text = _classes_verdict(study) if our_outcome.classes is not None else _numbers_verdict(study)
    text += "".join(f" {suspicion(leak)}" for leak in study.leaks)
    if gap is None:
        return text
    n_others, metric = len(compared(study)), METRICS[our_outcome.metrics[0]]
    other = gap.other if n_others == 1 else f"the best of {n_others} other methods ({gap.other})"
    text = f"{_warning(study, gap, metric)}{text}"
    if gap.is_worse:
        return text
    if abs(gap.ratio - 1.0) < _ALIKE:
        return f"{text} The {metric} equals that of {other}."
    return f"{text} The {metric} is {gap.change} than that of {other}; {gap.conclusion}."


def _warning(study: Study, gap: Difference, metric: str) -> str:
    """Return sentences on a significantly better method, or on a constant that is as good."""
    text = ""
    if gap.is_worse:
        text = (
            f"This model is worse here than {_method(gap.other)}: its {metric} is {gap.change}, "
            f"and {gap.conclusion}. Use the predictions of {_method(gap.other)}. "
        )
    constant = study.others.get(CONSTANT)
    is_told = gap.is_worse and gap.other == CONSTANT
    if constant and not is_told and difference(study.own, "", constant).upper >= 1.0:
        text += (
            f"The {metric} of this model is not significantly lower than that of a constant "
            "probability. "
        )
    return text


def _method(name: str) -> str:
    """Return the name of a method with an article: those in lower case are no proper names."""
    return f"the {name}" if name[0].islower() else name


def suspicion(leak: Leak) -> str:
    """Return a sentence on a column that nearly determines the target alone."""
    share = percent(leak.share, digits=1)
    return f"{leak.column!r} alone explains {share}: is it known when you predict?"


def _numbers_verdict(study: Study) -> str:
    outcome = study.own
    typical = float(np.median(np.abs(outcome.prediction - outcome.y)))
    explained = outcome.scores().get("r2", Score(np.nan)).value
    if explained < _LITTLE:
        return (
            f"The columns explain little of {study.target!r}: predictions for {scope(study)} "
            f"explain {percent(max(explained, 0.0))} of its variance."
        )
    text = (
        f"Half of the predictions of {study.target!r} for {scope(study)} are off by less than "
        f"{number(typical, 2)}."
    )
    share = f" They explain {percent(explained)} of its variance."
    return text if np.isnan(explained) else f"{text}{share}"


def _classes_verdict(study: Study) -> str:
    outcome, scores = study.own, study.own.scores()
    if (rare := outcome.rare) is not None:
        (n, n_hits, _), n_rows = rare.hits(), len(outcome.y)
        gap, hits = best_other(study), f"a random tenth {number(rare.n * n / n_rows, 2)}"
        if gap is not None and (other := study.others[gap.other].rare) and np.ptp(other.stated):
            hits = f"that of {_method(gap.other)} holds {other.hits()[1]:,}, {hits}"
        few = f" With {rare.n} such rows, these figures may be chance." * (rare.n < _FEW_RARE)
        return (
            f"The riskiest tenth of {scope(study)} ({n:,} of {n_rows:,}) holds {n_hits:,} of the "
            f"{rare.n:,} rows with {study.target} {rare.name!r} "
            f"({metric_text('top_tenth', scores['top_tenth'])}); {hits}. "
            f"The area under the ROC curve is {metric_text('auc', scores['auc'])}.{few}"
        )
    classes, counts = np.unique(outcome.y, return_counts=True)
    most = float(counts.max() / len(outcome.y))
    return (
        f"The predicted {study.target!r} is right for {percent(1.0 - scores['error'].value)} of "
        f"{scope(study)}. Always predicting {str(classes[np.argmax(counts)])!r} is right for "
        f"{percent(most)}."
    )


def calibration(study: Study) -> str:
    """Return a sentence on the calibration of intervals or class probabilities on test rows."""
    outcome = study.own
    if outcome.classes is None:
        return _coverage_sentence(outcome)
    if outcome.probability is None:
        return "The model has no probabilities."
    rare = outcome.rare
    stated, observed = (
        _stated_and_observed(outcome) if rare is None else (rare.stated, rare.is_observed)
    )
    gap = _excess(stated, observed, outcome)
    judgement = f"{'more' if gap.value > 0.0 else 'less'} often than predicted"
    if abs(gap.value) <= _CERTAIN * gap.std_error:
        judgement = "as expected"
    shares = percents([float(stated.mean()), float(observed.mean())])
    n_rows = f"the {len(outcome.y):,} test rows"
    if rare is not None:
        return (
            f"The mean probability of {rare.name!r} is {shares[0]}, and {shares[1]} of {n_rows} "
            f"have this class, {judgement}."
        )
    return (
        f"Predicted classes have a mean probability of {shares[0]} and are right for {shares[1]} "
        f"of {n_rows}, {judgement}."
    )


def _stated_and_observed(outcome: Outcome) -> tuple[Array, Mask]:
    assert outcome.probability is not None
    right = np.asarray(outcome.prediction == outcome.y)
    return as_array(outcome.probability.max(axis=1)), right


def excess(outcome: Outcome) -> Score:
    """Return accuracy minus mean probability of the predicted class, with its standard error."""
    return _excess(*_stated_and_observed(outcome), outcome)


def _excess(stated: Array, observed: Mask, outcome: Outcome) -> Score:
    gap = mean_score(observed - stated, outcome.clusters)
    # The empirical standard error would be too small if all of a few rows are right.
    expected_error = float(np.sqrt(np.mean(stated * (1.0 - stated)) / len(stated)))
    return Score(gap.value, max(expected_error, float(np.nan_to_num(gap.std_error))))


def _coverage_sentence(outcome: Outcome) -> str:
    covered = outcome_coverage(outcome)
    if covered is None:
        return "The model has no intervals."
    return (
        f"{100.0 * outcome.level:g} % prediction intervals contain "
        f"{percent(covered.observed, digits=1)} of the {len(outcome.y):,} test values, "
        f"{covered.judgement} (mean width {number(outcome.scores()['width'].value, 3)})."
    )


def of_used_columns(shares: VarianceShares) -> VarianceShares:
    """Return the shares of columns with features: the other columns have a share of exactly 0."""
    used = shares.share > 0.0
    parts = shares.share[used], shares.std_error[used]
    return VarianceShares(tuple(compress(shares.columns, used)), *parts)


def sum_of_shares(total: float) -> str:
    """Return a sentence on shares of columns that do not sum to about 100 %, or an empty text.

    >>> sum_of_shares(0.95), sum_of_shares(0.224)[:20]
    ('', 'Shares sum to 22 %: ')
    """
    if total > _MORE_THAN_ALL:
        return (
            "An interaction counts in the share of each of its columns, so that shares sum to "
            f"{100.0 * total:.0f} %."
        )
    if total >= _LESS_THAN_ALL:
        return ""
    return (
        f"Shares sum to {100.0 * total:.0f} %: a share counts what one column changes alone. The "
        f"other {100.0 - 100.0 * total:.0f} % belong to columns that change together."
    )


def no_pairs(pairs: VarianceShares) -> str:
    """Return a sentence that says that no pair of columns interacts strongly."""
    if not len(pairs.share):
        return "Fewer than two columns are important, so that no pair of columns is examined."
    n_columns = len({name for pair in pairs.columns for name in pair})
    least = f"a share of {100.0 * LEAST_PAIR:.0f} % or more"
    if n_columns == 2:
        return f"The interaction of the two most important columns does not have {least}."
    return f"No pair of the {n_columns} most important columns has an interaction with {least}."
