"""A diagnosis as text: facts, a table of errors, and both on one page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING

from bochner.features.length_scales import kernel_name

if TYPE_CHECKING:
    from bochner.diagnosis.diagnosis import Diagnosis
    from bochner.diagnosis.spectrum import SingularValues, Spectrum
    from bochner.kernels import Definiteness

# Names of the fields of FeatureErrors, in their order.
HEADINGS = ("features", "total variation", "max error", "predicted", "sampled", "least squares")
_PREDICTED = {
    "designed": "predicted for orthogonal frequencies",
    "closed form": "predicted for independent frequencies",
}
_VERDICTS = {
    True: "positive definite",
    False: "not positive definite",
    None: "not known whether positive definite",
}

# Characters in a line: a page fits into a terminal of 90 columns and a docstring.
_WIDTH = 88

# Coordinates shown of a point.
_N_SHOWN = 3


def facts(diagnosis: Diagnosis) -> Mapping[str, str]:
    """Return names and values of all facts except the advice."""
    outside = f"{diagnosis.n_outside} of the {diagnosis.n_rows} examined rows are outside"
    found = {
        "kernel": kernel_name(diagnosis.kernel),
        "rows": f"{diagnosis.n_rows} of {diagnosis.n_samples}, with {diagnosis.dim} inputs",
        "domain": "contains all rows" if diagnosis.in_domain else outside,
    }
    if diagnosis.spectrum is not None:
        found["symmetric"] = (
            "yes"
            if diagnosis.symmetric
            else f"no; the asymmetric part has {diagnosis.asymmetry:.3g} of the Frobenius norm; "
            f"the eigenvalues are those of the symmetric part"
        )
        found |= _spectrum(diagnosis.spectrum)
    if diagnosis.definiteness is not None:
        found["on all inputs"] = _definiteness(diagnosis.definiteness)
    if diagnosis.singular_values is not None:
        found["effective rank"] = _rank(diagnosis.singular_values, "singular values", "sum")
    features = diagnosis.features
    if features is not None:
        known = features.measure != "none"
        found["measure"] = f"{features.sign}, {features.measure}" if known else "not known"
    return found


def error_rows(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """Return the cells of the table of errors, under ``HEADINGS``."""
    rows = []
    for errors in () if diagnosis.features is None else diagnosis.features.errors:
        n_components, *values = astuple(errors)
        rows.append((str(n_components), *("" if v is None else f"{v:.3g}" for v in values)))
    return rows


def legend(diagnosis: Diagnosis) -> str:
    """Return an explanation of the table of errors."""
    features = diagnosis.features
    if features is None:
        return ""
    ordered = "" if diagnosis.symmetric else " in either order"
    words = [f"Errors are relative, over pairs of distinct rows{ordered}"]
    if features.errors[0].predicted_error is not None:
        words.append(_PREDICTED.get(features.measure, "predicted"))
    if features.fitted is not None:
        words.append("the last two columns are measured on held-out rows")
    if features.measure == "numerical":
        words.append("max error is aliasing and truncation of the transform")
    return "; ".join(words) + "."


def page(diagnosis: Diagnosis) -> str:
    """Return the whole diagnosis as lines of text."""
    known = facts(diagnosis)
    indent = max(map(len, known)) + 2
    lines = [_wrapped(value, name.ljust(indent), indent) for name, value in known.items()]
    table = [HEADINGS, *error_rows(diagnosis)]
    if len(table) > 1:
        widths = [len(head) for head in HEADINGS]
        lines += ["", *("  ".join(map(str.rjust, cells, widths)) for cells in table)]
        lines.append(_wrapped(legend(diagnosis)))
    return "\n".join([*lines, "", _wrapped(diagnosis.advice)])


def _wrapped(text: str, start: str = "", indent: int = 0) -> str:
    wrap = partial(textwrap.fill, break_long_words=False, break_on_hyphens=False)
    return wrap(text, _WIDTH, initial_indent=start, subsequent_indent=" " * indent)


def _spectrum(spectrum: Spectrum) -> dict[str, str]:
    found = {
        "definiteness": f"{spectrum.definiteness} on these rows",
        "eigenvalues": f"{spectrum.n_positive} positive, {spectrum.n_negative} negative, "
        f"{spectrum.n_zero} zero (at most {spectrum.tolerance:.1g} of the largest absolute value)",
    }
    if spectrum.n_negative:
        found["negative part"] = (
            f"{spectrum.negative_share:.3g} of the sum of absolute values; the most negative "
            f"eigenvalue is {spectrum.most_negative:.3g} of the largest absolute value"
        )
    found["effective rank"] = _rank(spectrum, "eigenvalues", "sum of absolute values")
    return found


def _definiteness(verdict: Definiteness) -> str:
    shown = "" if verdict.witness is None else f", at {_points(verdict.witness)}"
    return f"{_VERDICTS[verdict.holds]}: {verdict.reason}{shown}"


def _points(points: tuple[tuple[float, ...], ...]) -> str:
    named = dict.fromkeys(
        "("
        + ", ".join(f"{entry:.3g}" for entry in point[:_N_SHOWN])
        + (", ...)" if len(point) > _N_SHOWN else ")")
        for point in points
    )
    return " and ".join(named)


def _rank(ranks: Spectrum | SingularValues, values: str, total: str) -> str:
    return f"{ranks.effective_rank:.3g}; {ranks.rank_99} {values} make up 99 % of their {total}"
