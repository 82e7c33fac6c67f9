"""Report sections on class predictions: discrimination between classes, and calibration."""

import numpy as np

from bochner._base.number_texts import counted, percent
from bochner.comparison.outcomes import Outcome
from bochner.comparison.verdict import calibration
from bochner.plot.class_errors import CalibrationDisplay, ConfusionDisplay, RocDisplay
from bochner.report.html_blocks import Block, Cell, Figure, Section, Table, drawn
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
    if len(outcome.classes) == 2:
        text = (
            f"In {percent(display.areas[best])} of all pairs of a row of class {quoted(best)} and "
            "a row of the other class, the first has the higher probability of that class: the "
            "area under the curve."
        )
    elif display.areas[best] - display.areas[worst] < 0.0005:  # Equal to three decimals
        text = f"Each class against all others: all areas are {display.areas[best]:.3f}."
    else:
        few = "" if len(display.areas) == len(outcome.classes) else " of the most frequent classes"
        text = (
            f"Each class against all others: the area under the curve is largest for "
            f"{quoted(best)} ({display.areas[best]:.3f}) and least for {quoted(worst)} "
            f"({display.areas[worst]:.3f}){few}."
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
    rows = []
    for place, name in enumerate(outcome.classes):
        is_observed, is_predicted = outcome.y == name, outcome.prediction == name
        recall = float(np.mean(is_predicted[is_observed])) if is_observed.any() else float("nan")
        precision = (
            float(np.mean(is_observed[is_predicted])) if is_predicted.any() else float("nan")
        )
        cells = [Cell(cut(name)), Cell(f"{is_observed.sum():,}", int(is_observed.sum()))]
        cells += [Cell(f"{is_predicted.sum():,}", int(is_predicted.sum()))]
        cells += [Cell(percent(recall), recall), Cell(percent(precision), precision)]
        if outcome.probability is not None:
            mean = float(np.mean(outcome.probability[:, place]))
            cells.append(Cell(percent(mean), mean))
        rows.append(cells)
    heads = ["class", "test rows", "predicted rows", "recall", "precision"]
    heads += ["mean probability"] * (outcome.probability is not None)
    return Table("Classes", heads, rows)


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
    outside = np.flatnonzero(
        (display.observed < display.lower) | (display.observed > display.upper)
    )
    if not len(outside):
        return (
            "In all bins the observed share is within the range of calibrated probabilities, the "
            "grey bars."
        )
    worst = outside[np.argmax(np.abs(display.observed - display.predicted)[outside])]
    side = "too low" if display.observed[worst] > display.predicted[worst] else "too high"
    return (
        f"In {len(outside)} of {counted(len(display.observed), 'bin')} the observed share is "
        f"outside of the range of calibrated probabilities, the grey bars. The largest difference: "
        f"probabilities of {percent(float(display.predicted[worst]))} are {side}, the class occurs "
        f"in {percent(float(display.observed[worst]))} of the rows."
    )
