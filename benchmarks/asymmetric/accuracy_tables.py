"""Tables of accuracies of the benchmark of asymmetric kernels, from its rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.asymmetric.design import (
    ASY_JORDAN,
    ASY_POLAR,
    ASYMMETRIC,
    BY_GAUSSIAN,
    BY_KERNEL,
    CS,
    DIRECTION,
    GAUSSIAN,
    LINEAR,
    PAPER,
    SYM,
    SYM_THRICE,
    TABLE,
)
from benchmarks.asymmetric.direction import MODELS
from benchmarks.results import Row, markdown_table

Accuracies = Mapping[tuple[str, str, str], Sequence[float]]
"""In per cent, over trials, by data set, kernel and method."""


def accuracy_parts(rows: Sequence[Row]) -> list[str]:
    """Return Table 1 of the paper, with its figures beside ours."""
    found = _accuracies(rows, TABLE)
    if not found:
        return []
    n = max(map(len, found.values()))
    chosen = [float(row["value"]) for row in rows if row["part"] == TABLE and row["metric"] == "C"]
    at_end = sum(value >= CS[-1] for value in chosen)
    return [
        "**Test accuracy** of liblinear on the features, in per cent, mean and standard deviation "
        f"over {n} trials, at M = 2 d. The paper's features have three sets of M frequencies for "
        "an asymmetric kernel and one for a symmetric one; ours have the number of frequencies in "
        "the header, left and right features side by side where the kernel is asymmetric. C is "
        "one of 2⁻⁵ to 2⁵ by five folds of at most 2,000 training rows; at most 12,000 rows are "
        f"trained on and at most 20,000 tested. The end of the grid was chosen in {at_end} of "
        f"{len(chosen)} fits.",
        _by_kernel(found),
        "Symmetric kernels and none. “Twice” has every feature twice, which is what left and "
        "right features are to a linear classifier; like “polar”, it has orthogonal directions, "
        "and the others independent ones, as in the paper.",
        _by_gaussian(found),
        " ".join(_counts(found)),
    ]


def direction_parts(rows: Sequence[Row]) -> list[str]:
    """Return the accuracies on the direction of edges."""
    found = _accuracies(rows, DIRECTION)
    if not found:
        return []
    names = list(dict.fromkeys(key[0] for key in found))
    lines = [
        [method, *(_spread(_only(found, name, method)) for name in names)]
        for method in MODELS
        if any(_only(found, name, method) for name in names)
    ]
    n = max(map(len, found.values()))
    return [
        "**Direction of edges**: share of held-out edges, a fifth of all, whose direction is "
        "found, in per cent, mean and standard deviation over "
        f"{n} splits. Pairs are bilinear models of the features of both nodes; "
        "a kernel alone answers by its own two values. Whatever is symmetric scores an edge and "
        "its reversal alike, and is right half of the time by construction.",
        markdown_table(("method", *names), lines),
    ]


def _accuracies(rows: Sequence[Row], part: str) -> Accuracies:
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["part"] == part and row["metric"] == "accuracy":
            key = str(row["dataset"]), str(row["kernel"]), str(row["method"])
            found[key].append(100.0 * float(row["value"]))
    return found


def _only(found: Accuracies, name: str, method: str) -> Sequence[float]:
    return next((found[key] for key in found if (key[0], key[2]) == (name, method)), ())


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}" if values else "–"


def _by_kernel(found: Accuracies) -> str:
    lines = []
    for name in dict.fromkeys(key[0] for key in found):
        for kernel in ASYMMETRIC:
            theirs = PAPER.get(name, {}).get(kernel, ())
            paper = [f"{value:.2f}" for value in theirs] or ["–", "–"]
            ours = (_spread(found.get((name, kernel, method), ())) for method in BY_KERNEL)
            lines.append([f"{name}, {kernel}", *ours, *paper])
    header = ("data set, kernel", *BY_KERNEL, "paper, asymmetric", "paper, symmetrised")
    return markdown_table(header, lines)


def _by_gaussian(found: Accuracies) -> str:
    lines = []
    for name in dict.fromkeys(key[0] for key in found):
        paper = PAPER.get(name, {})
        ours = (_spread(found.get((name, GAUSSIAN, method), ())) for method in BY_GAUSSIAN)
        linear = _spread(found.get((name, LINEAR, LINEAR), ()))
        theirs = [f"{paper[label][0]:.2f}" if paper else "–" for label in (GAUSSIAN, LINEAR)]
        lines.append([name, *ours, theirs[0], linear, theirs[1]])
    header = ("data set", *BY_GAUSSIAN, "paper, RBF", "linear", "paper, linear")
    return markdown_table(header, lines)


def _counts(found: Accuracies) -> list[str]:
    """Say how often features of asymmetric kernels are above what they are compared with."""
    means = {key: float(np.mean(values)) for key, values in found.items()}
    sentences = []
    for ours in (ASY_JORDAN, ASY_POLAR):
        cases = [key for key in means if key[2] == ours]
        against = {
            "“symmetrised, M”": [means.get((*key[:2], SYM)) for key in cases],
            "“symmetrised, 3 M”": [means.get((*key[:2], SYM_THRICE)) for key in cases],
            "the paper's asymmetric figure": [
                PAPER.get(key[0], {}).get(key[1], (None,))[0] for key in cases
            ],
        }
        counts = []
        for what, others in against.items():
            pairs = [
                (means[key], other)
                for key, other in zip(cases, others, strict=True)
                if other is not None
            ]
            if pairs:
                above = sum(mine > other for mine, other in pairs)
                gap = float(np.mean([mine - other for mine, other in pairs]))
                counts.append(f"{what} in {above} of {len(pairs)} cases ({gap:+.2f} on average)")
        if counts:
            sentences.append(f"The mean of “{ours}” is above {', '.join(counts)}.")
    return sentences
