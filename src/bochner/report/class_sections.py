"""Report sections on class predictions: discrimination between classes, and calibration."""

import numpy as np

from bochner._base.number_texts import counted, percent
from bochner.comparison.outcomes import Outcome, RareClass
from bochner.comparison.verdict import calibration
from bochner.plot.class_errors import CalibrationDisplay, ConfusionDisplay, RocDisplay
from bochner.report.html_blocks import (
    Block,
    Figure,
    Section,
    Table,
    cells,
    counts,
    cut,
    drawn,
    numbers,
    quoted,
    shares,
    short,
)
from bochner.report.subject import Subject

_SIDE_BY_SIDE, _MOST_CLASSES = 10, 30
"""Largest number of classes whose names are readable in half a page's width, and in a picture."""

_RISKIEST = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Shares of the rows, the riskiest first, whose hits are listed: what a team may have time for."""

_COST, _GAIN = 5, 250
"""Cost of an action and gain of a hit in the example of a threshold: a call to a customer."""

_FEWEST_BINS = 3
"""Number of bins below which a caption says how few they are."""

_MOST_CONFUSIONS = 10
"""Largest number of listed confusions."""


def recognition_section(subject: Subject) -> Section:
    """Return the section with curves, confusion matrix, and recall and precision."""
    outcome = subject.study.own
    tables, n_classes = [_class_table(outcome)], len(outcome.confusion())
    is_drawn = n_classes <= _MOST_CLASSES and len(np.unique(outcome.prediction)) > 1
    figures = [_confusion(subject, outcome)] if is_drawn else []
    is_known = outcome.probability is not None and len(np.unique(outcome.y)) > 1
    if is_known and (rare := outcome.rare) is not None:
        figures.insert(0, _gains(subject, rare))
        tables.insert(0, _thresholds_table(rare))
    elif is_known:
        figures.insert(0, _roc(subject, outcome))
    if n_classes > 2 and (outcome.prediction != outcome.y).any():
        tables.append(_confusions_table(outcome))
    blocks: list[Block] = [figures] if n_classes <= _SIDE_BY_SIDE else [*figures]
    return Section("classes", "Discrimination of the classes", [*blocks, *tables])


def _gains(subject: Subject, rare: RareClass) -> Figure:
    display = RocDisplay.gains(rare.is_observed, rare.stated, rare.name)
    tenth, half = (percent(rare.hits(share)[1] / rare.n) for share in (0.1, 0.5))
    text = (
        f"Rows are in the order of their probability of {quoted(rare.name)}. The first tenth of "
        f"the rows holds {tenth} of this class, the first half {half}. The diagonal is "
        "a random order."
    )
    return drawn(display, subject.titled("Rows of the rare class found"), text)


def _thresholds_table(rare: RareClass) -> Table:
    """Return the table of hits, precision and recall if the riskiest rows are flagged."""
    found = zip(*(rare.hits(share) for share in _RISKIEST), strict=True)
    flagged, hits, thresholds = map(np.array, found)
    columns = {
        "flagged, the riskiest": cells([percent(s, digits=0) for s in _RISKIEST], _RISKIEST),
        "rows": counts(flagged),
        f"probability of {short(rare.name)} at least": shares(thresholds),
        f"hits: rows with {short(rare.name)}": counts(hits),
        "precision": shares(hits / flagged),
        "recall": shares(hits / rare.n),
        "lift": numbers(hits / flagged / rare.is_observed.mean()),
    }
    n_flagged = int(np.sum(rare.stated > _COST / _GAIN))
    note = (
        "Choose a threshold by the costs: flagging a row pays if its probability exceeds the cost "
        f"of an action divided by the gain of a hit. If an action costs {_COST} and a hit gains "
        f"{_GAIN}, flag rows above {percent(_COST / _GAIN)}: {counted(n_flagged, 'row')} here. The "
        "lift compares with a random order."
    )
    return Table.of("Hits by threshold", columns, note=note)


def _roc(subject: Subject, outcome: Outcome) -> Figure:
    assert outcome.classes is not None
    assert outcome.probability is not None
    display = RocDisplay.from_probabilities(outcome.y, outcome.probability, outcome.classes)
    best, worst = (pick(display.areas, key=display.areas.__getitem__) for pick in (max, min))
    if len(outcome.classes) == 2:
        text = (
            f"The area under the curve is the share of pairs of a row of class {quoted(best)} and "
            "a row of the other class in which the first one has the higher probability of that "
            f"class: {percent(display.areas[best])}."
        )
    elif f"{display.areas[best]:.3f}" == f"{display.areas[worst]:.3f}":
        text = f"Each class against all others: all areas are {display.areas[best]:.3f}."
    else:
        few = "" if len(display.areas) == len(outcome.classes) else " of the most frequent classes"
        text = (
            "Each class against all others: the area under the curve is largest for "
            f"{quoted(best)} ({display.areas[best]:.3f}) and least for {quoted(worst)} "
            f"({display.areas[worst]:.3f}){few}."
        )
    return drawn(display, subject.titled("ROC curves"), text)


def _confusion(subject: Subject, outcome: Outcome) -> Figure:
    display = ConfusionDisplay.from_predictions(outcome.y, outcome.prediction)
    wrong = display.counts - np.diag(np.diag(display.counts))
    text = "All test rows are predicted correctly."
    if wrong.any():
        i, j = (int(place) for place in np.unravel_index(np.argmax(wrong), wrong.shape))
        text = (
            f"The most frequent confusion: {counted(int(wrong[i, j]), 'row')} of class "
            f"{quoted(display.classes[i])} predicted as {quoted(display.classes[j])}, "
            f"{percent(wrong[i, j] / wrong.sum())} of all {counted(int(wrong.sum()), 'wrong row')}."
        )
    text += " The stronger the colour of a cell, the larger its share of the observed class."
    return drawn(display, subject.titled("Observed against predicted classes"), text)


def _confusions_table(outcome: Outcome) -> Table:
    """Return the table of the most frequent confusions of classes."""
    assert outcome.classes is not None
    confusion = outcome.confusion()
    wrong = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_CONFUSIONS]
    i, j = np.unravel_index(order[wrong.ravel()[order] > 0], wrong.shape)
    columns = {
        "observed": cells(map(cut, outcome.classes[i])),
        "predicted": cells(map(cut, outcome.classes[j])),
        "rows": counts(wrong[i, j]),
        "share of the observed class": shares(wrong[i, j] / confusion.sum(axis=1)[i]),
    }
    return Table.of("Most frequent confusions", columns)


def _class_table(outcome: Outcome) -> Table:
    """Return the table of counts, recall and precision of each class."""
    assert outcome.classes is not None
    confusion = outcome.confusion()
    right, observed, predicted = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    with np.errstate(invalid="ignore"):  # NaN without rows
        recall, precision = right / observed, right / predicted
    columns = {
        "class": cells(map(cut, outcome.classes)),
        "test rows": counts(observed),
        "predicted rows": counts(predicted),
        "recall": shares(recall),
        "precision": shares(precision),
    }
    if outcome.probability is not None:
        columns["mean probability"] = shares(outcome.probability.mean(axis=0))
    return Table.of("Classes", columns)


def probabilities_section(subject: Subject) -> Section:
    """Return the section on the calibration of class probabilities."""
    study = subject.named
    blocks: list[Block] = [calibration(study)]
    outcome = study.own
    if outcome.probability is not None and outcome.classes is not None:
        display = CalibrationDisplay.from_probabilities(
            outcome.y, outcome.probability, outcome.classes
        )
        title = subject.titled("Observed shares by predicted probability")
        blocks.append(drawn(display, title, _probabilities_caption(display)))
    return Section("calibration", "Calibration", blocks)


def _probabilities_caption(display: CalibrationDisplay) -> str:
    if not len(display.observed):
        return "There are too few rows for shares."
    where = "the range of calibrated probabilities, the grey bars."
    if not len(display.outside):
        if len(display.observed) < _FEWEST_BINS:
            return (
                f"The observed share of {counted(len(display.observed), 'bin')} is within {where}"
            )
        return f"In all bins the observed share is within {where}"
    predicted, observed = (
        float(part[display.outside[0]]) for part in (display.predicted, display.observed)
    )
    return (
        f"In {len(display.outside)} of {counted(len(display.observed), 'bin')} the observed share "
        f"is outside of {where} The largest difference: probabilities of {percent(predicted)} are "
        f"too {'low' if observed > predicted else 'high'}, the class occurs in {percent(observed)} "
        "of the rows."
    )
