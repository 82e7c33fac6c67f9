"""A diagnosis as text: facts, a table of errors, and both on one page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bochner.diagnosis.values import kernel_name

if TYPE_CHECKING:
    from bochner.diagnosis.diagnosis import Diagnosis
    from bochner.diagnosis.errors import Features
    from bochner.diagnosis.spectrum import SingularValues, Spectrum
    from bochner.kernels import Definiteness

HEADINGS = ("features", "total variation", "max error", "predicted", "sampled", "least squares")
_FIELDS = (
    "total_variation",
    "max_error",
    "predicted_error",
    "sampled_error",
    "least_squares_error",
)
_PREDICTED = {
    "designed": "predicted for orthogonal frequencies",
    "closed form": "predicted for independent frequencies",
}
_WIDTH = 88
_SHOWN = 3


def facts(diagnosis: Diagnosis) -> Mapping[str, str]:
    """Return names and values of what is known, the advice apart."""
    found = {
        "kernel": kernel_name(diagnosis.kernel),
        "rows": f"{diagnosis.n_rows} of {diagnosis.n_samples}, with {diagnosis.dim} inputs",
        "domain": "all rows are in it" if diagnosis.in_domain else _outside(diagnosis),
    }
    if diagnosis.spectrum is not None:
        found["symmetric"] = "yes" if diagnosis.symmetric else _asymmetric(diagnosis)
        found |= _spectrum(diagnosis.spectrum)
    if diagnosis.definiteness is not None:
        found["on all inputs"] = _definiteness(diagnosis.definiteness)
    if diagnosis.singular_values is not None:
        ranks = diagnosis.singular_values
        found["effective rank"] = _effective_rank(ranks, "singular values make 99 % of their sum")
    if diagnosis.features is not None:
        found["measure"] = _measure(diagnosis.features)
    return found


def error_rows(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """Return the cells of the table of errors, under ``HEADINGS``; without rows if none."""
    errors = () if diagnosis.features is None else diagnosis.features.errors
    return [
        (str(error.n_components), *(_cell(getattr(error, field)) for field in _FIELDS))
        for error in errors
    ]


def legend(diagnosis: Diagnosis) -> str:
    """Return what the errors in the table are."""
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
    """Return all of a diagnosis as lines of text."""
    return "\n".join(_lines(diagnosis))


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    known = facts(diagnosis)
    indent = max(map(len, known)) + 2
    for name, value in known.items():
        yield from _wrapped(value, name.ljust(indent), indent)
    table = [HEADINGS, *error_rows(diagnosis)]
    if len(table) > 1:
        yield ""
        for cells in table:
            yield "  ".join(
                cell.rjust(len(head)) for cell, head in zip(cells, HEADINGS, strict=True)
            )
        yield from _wrapped(legend(diagnosis))
    yield ""
    yield from _wrapped(diagnosis.advice)


def _wrapped(text: str, start: str = "", indent: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _outside(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.n_outside} of the {diagnosis.n_rows} rows looked at are outside it"


def _asymmetric(diagnosis: Diagnosis) -> str:
    return (
        f"no, the asymmetric part is {diagnosis.asymmetry:.3g} of the whole; the eigenvalues are "
        f"those of the symmetric part"
    )


def _spectrum(spectrum: Spectrum) -> dict[str, str]:
    found = {
        "definiteness": f"{spectrum.definiteness} on these rows",
        "eigenvalues": (
            f"{spectrum.n_positive} positive, {spectrum.n_negative} negative, {spectrum.n_zero} "
            f"zero (at most {spectrum.tolerance:.1g} of the greatest size)"
        ),
    }
    if spectrum.n_negative:
        found["negative part"] = (
            f"{spectrum.negative_share:.3g} of the sum of all sizes; the most negative "
            f"eigenvalue is {spectrum.most_negative:.3g} of the greatest size"
        )
    found["effective rank"] = _effective_rank(spectrum, "eigenvalues make 99 % of the sum of sizes")
    return found


def _definiteness(verdict: Definiteness) -> str:
    answer = {
        True: "positive definite",
        False: "not positive definite",
        None: "not known whether positive definite",
    }[verdict.holds]
    shown = "" if verdict.witness is None else f", at {_points(verdict.witness)}"
    return f"{answer}: {verdict.reason}{shown}"


def _points(points: tuple[tuple[float, ...], ...]) -> str:
    named = dict.fromkeys(
        "("
        + ", ".join(f"{entry:.3g}" for entry in point[:_SHOWN])
        + (", ...)" if len(point) > _SHOWN else ")")
        for point in points
    )
    return " and ".join(named)


def _effective_rank(ranks: Spectrum | SingularValues, what: str) -> str:
    return f"{ranks.effective_rank:.3g}; {ranks.rank_99} {what}"


def _measure(features: Features) -> str:
    if features.measure == "none":
        return "not known"
    return f"{features.sign}, {features.measure}"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
