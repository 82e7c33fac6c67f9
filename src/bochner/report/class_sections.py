"""Report sections on class predictions: discrimination between classes, and calibration."""

import numpy as np

from bochner._base.number_texts import counted, percent
from bochner.comparison.outcomes import Outcome
from bochner.comparison.verdict import calibration
from bochner.plot.class_errors import CalibrationDisplay, ConfusionDisplay, RocDisplay
from bochner.report.html_blocks import (
    Block,
    Cell,
    Figure,
    Section,
    Table,
    count_cell,
    drawn,
    share_cell,
)
from bochner.report.name_texts import cut, quoted
from bochner.report.subject import Subject

_SIDE_BY_SIDE = 10
"""Largest number of classes whose names are readable in half of the page's width."""


def recognition_section(subject: Subject) -> Section:
    """Return the section with ROC curves, confusion matrix, and recall and precision by class."""
    outcome = subject.study.own
    figures = [_confusion(subject, outcome)]
    if outcome.probability is not None and len(np.unique(outcome.y)) > 1:
        figures.insert(0, _roc(subject, outcome))
    few = outcome.classes is not None and len(outcome.classes) <= _SIDE_BY_SIDE
    blocks: list[Block] = [figures] if few else [*figures]
    return Section("classes", "Discrimination of the classes", [*blocks, _class_table(outcome)])


def _roc(subject: Subject, outcome: Outcome) -> Figure:
    assert outcome.classes is not None
    assert outcome.probability is not None
    display = RocDisplay.from_probabilities(outcome.y, outcome.probability, outcome.classes)
    best, worst = (pick(display.areas, key=display.areas.__getitem__) for pick in (max, min))
    largest, least = display.areas[best], display.areas[worst]
    if len(outcome.classes) == 2:
        text = (
            f"In {percent(largest)} of all pairs of a row of class {quoted(best)} and "
            "a row of the other class, the first has the higher probability of that class: the "
            "area under the curve."
        )
    elif largest - least < 0.0005:  # Equal to three decimals
        text = f"Each class against all others: all areas are {largest:.3f}."
    else:
        few = "" if len(display.areas) == len(outcome.classes) else " of the most frequent classes"
        text = (
            "Each class against all others: the area under the curve is largest for "
            f"{quoted(best)} ({largest:.3f}) and least for {quoted(worst)} ({least:.3f}){few}."
        )
    return drawn(display, subject.titled("ROC curves"), text)


def _confusion(subject: Subject, outcome: Outcome) -> Figure:
    display = ConfusionDisplay.from_predictions(outcome.y, outcome.prediction)
    wrong = display.counts - np.diag(np.diag(display.counts))
    if not wrong.any():
        text = "All test rows are predicted correctly."
    else:
        i, j = (int(place) for place in np.unravel_index(np.argmax(wrong), wrong.shape))
        text = (
            f"The most frequent confusion: {counted(int(wrong[i, j]), 'row')} of class "
            f"{quoted(display.classes[i])} predicted as {quoted(display.classes[j])}, "
            f"{percent(wrong[i, j] / wrong.sum())} of all {counted(int(wrong.sum()), 'wrong row')}."
        )
    text += " The stronger the colour of a cell, the larger its share of the observed class."
    return drawn(display, subject.titled("Observed against predicted classes"), text)


def _class_table(outcome: Outcome) -> Table:
    """Return the table of counts, recall and precision of each class."""
    assert outcome.classes is not None
    counts = outcome.confusion()
    right, observed, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(invalid="ignore"):  # NaN without rows
        shares = [right / observed, right / predicted]
    if outcome.probability is not None:
        shares.append(outcome.probability.mean(axis=0))
    rows = [
        [Cell(cut(name)), count_cell(observed[k]), count_cell(predicted[k])]
        + [share_cell(part[k]) for part in shares]
        for k, name in enumerate(outcome.classes)
    ]
    heads = ["class", "test rows", "predicted rows", "recall", "precision", "mean probability"]
    return Table("Classes", heads[: 3 + len(shares)], rows)


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
