"""What was asked of double mixtures, and what was reached."""

from collections.abc import Sequence

import numpy as np

from benchmarks.asked import Line, asked_table, count
from benchmarks.digmm.design import ERROR, EXACT, LARGER, SPEED, SPHERICAL, TAYLOR
from benchmarks.digmm.paper import ASKED_POINTS, ASKED_SECONDS, ASKED_SHARE
from benchmarks.digmm.rows import beside_paper, best_beside_paper, gathered
from benchmarks.results import Row


def asked_parts(rows: Sequence[Row]) -> list[str]:
    """Return a table of what was asked beside what was reached, and the cells that miss it."""
    lines = [*_accuracy(rows), *_best(rows), *_errors(rows), *_seconds(rows)]
    if not lines:
        return []
    return [
        f"**Asked and reached**: {count(lines)}.",
        asked_table(lines),
        *_misses(rows),
    ]


def _accuracy(rows: Sequence[Row]) -> list[Line]:
    found = beside_paper(rows)
    if not found:
        return []
    near = sum(ours >= paper - ASKED_POINTS for ours, paper in found.values())
    share = near / len(found)
    what = f"the better of both expectations within {ASKED_POINTS:g} point of the paper's, or above"
    asked, reached = f"≥ {ASKED_SHARE:.0%} of cells", f"{near} of {len(found)}, {share:.0%}"
    return [(what, asked, reached, share >= ASKED_SHARE)]


def _best(rows: Sequence[Row]) -> list[Line]:
    found = best_beside_paper(rows)
    if not found:
        return []
    above = sum(ours >= paper for ours, paper in found.values())
    what = "the best of the library at or above the best of the paper"
    return [(what, "in all cells", f"in {above} of {len(found)}", above == len(found))]


def _errors(rows: Sequence[Row]) -> list[Line]:
    cells = gathered(rows, ERROR, "rmse")
    lines = []
    for ours in (EXACT, LARGER):
        for theirs in (TAYLOR, SPHERICAL):
            pairs = [
                (np.mean(cell[ours]), np.mean(cell[theirs]))
                for cell in cells.values()
                if ours in cell and theirs in cell
            ]
            if pairs:
                below = sum(a < b for a, b in pairs)
                what = f"error of “{ours}” below that of “{theirs}”"
                reached = f"in {below} of {len(pairs)}"
                lines.append((what, "in all cells", reached, below == len(pairs)))
    return lines


def _seconds(rows: Sequence[Row]) -> list[Line]:
    medians = [
        float(np.median(values))
        for cell in gathered(rows, SPEED, "fit_seconds").values()
        for values in cell.values()
    ]
    if not medians:
        return []
    most = max(medians)
    what = "seconds of the slowest fit with the paper's sketch and the most frequencies"
    return [(what, f"≤ {ASKED_SECONDS:g}", f"{most:.2g}", most <= ASKED_SECONDS)]


def _misses(rows: Sequence[Row]) -> list[str]:
    """Return sentences that name the cells below what was asked."""
    far = [
        f"{kernel}, {name}, M = {size} d ({ours:.1f}, paper {paper:.1f})"
        for (kernel, name, size), (ours, paper) in beside_paper(rows).items()
        if ours < paper - ASKED_POINTS
    ]
    below = [
        f"{name}, M = {size} d ({ours:.1f}, paper {paper:.1f})"
        for (name, size), (ours, paper) in best_beside_paper(rows).items()
        if ours < paper
    ]
    sentences = []
    if far:
        points = f"more than {ASKED_POINTS:g} point below the paper's"
        sentences.append(f"Double mixtures are {points} in: {'; '.join(far)}.")
    if below:
        sentences.append(
            f"The best of the library is below the best of the paper in: {'; '.join(below)}."
        )
    return sentences
