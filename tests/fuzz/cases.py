"""Cases: an estimator and what it is given, most of it plain and one or two parts hostile."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from fuzz.hostile import LABELS, NUMBERS, ROWS, SETTINGS, WEIGHTS, WRONG
from fuzz.oracle import bounded, finite
from fuzz.subjects import SUBJECTS
from hypothesis import strategies as st

TARGETS = {
    "numbers": {**WRONG, **LABELS, **NUMBERS},
    "labels": {**NUMBERS, **WRONG, **LABELS},
    None: {},
}
"""Targets by what an estimator expects: those of the other kind are hostile."""

MENTIONS = {
    "rows": (
        "X ", "X.", "row", "column", "feature", "sample", "array", "entries", "Entries", "number",
        "dtype", "data", "Data", "type", "length_scale", "finite", "name",
    ),
    "target": (
        "y ", "y,", "target", "label", "class", "1d array", "numbers of samples", "Complex data",
    ),
    "weight": ("weight",),
}  # fmt: skip
"""Words of which a refusal has one: what it says of the argument that is at fault."""

REFUSED = (ValueError, TypeError)


@dataclass(frozen=True)
class Case:
    """Names of what ``fit`` is given."""

    subject: str
    rows: str = "float64"
    target: str = ""
    weight: str = "none"
    setting: tuple[str, str] | None = None
    n: int = 30
    d: int = 3
    later: str = ""  # Rows to predict; "" for those of the fit
    seed: int = 0

    @property
    def suspects(self) -> list[str]:
        """Return the words of which a refusal must have one."""
        words: list[str] = []
        if self.rows != "float64" or self.n < 30 or self.d != 3:
            words += MENTIONS["rows"]
        plain = {"numbers": "numbers", "labels": "two", None: ""}[SUBJECTS[self.subject].target]
        if self.target != plain or self.n < 30:
            words += MENTIONS["target"]
        if self.weight != "none":
            words += MENTIONS["weight"] + MENTIONS["target"]
        if self.setting is not None:
            words += [self.setting[0], "alpha", "kernel", "component", "frequenc"]
        return words

    def run(self) -> str:
        """Fit and predict; return what came of it, or raise AssertionError."""
        subject = SUBJECTS[self.subject]
        rng = np.random.default_rng(self.seed)
        X = ROWS[self.rows](rng, self.n, self.d)
        changed = {} if self.setting is None else {self.setting[0]: SETTINGS[self.setting[1]]}
        given: dict[str, Any] = {}
        if subject.target is not None:
            given["y"] = TARGETS[subject.target][self.target](rng, self.n)
        if subject.weighted:
            given["sample_weight"] = WEIGHTS[self.weight](rng, self.n)
        if subject.right:
            given["right"] = X
        try:
            with bounded():
                model = subject.build(**changed).fit(X, **given)
        except REFUSED as error:
            found = " ".join(str(error).split())
            assert any(word in found for word in self.suspects), f"said nothing of it: {found}"
            return f"refused: {found}"
        new = ROWS[self.later](rng, 7, self.d) if self.later else X
        try:
            with bounded():
                answers = self.answers(model, new, {"right": new} if subject.right else {})
        except REFUSED as error:
            found = " ".join(str(error).split())
            assert self.later or "overflow" in found, f"refused its own rows: {found}"
            assert any(word in found for word in MENTIONS["rows"]), f"said nothing of it: {found}"
            return f"refused later: {found}"
        n = 7 if self.later else self.n
        for name, values in answers.items():
            assert finite(values), f"{name} is not finite"
            assert values.shape[0] == n, f"{name} has the shape {values.shape}"
        if "std" in answers:
            assert (answers["std"] >= 0.0).all(), "std is negative"
        if "predict_proba" in answers:
            np.testing.assert_allclose(answers["predict_proba"].sum(axis=1), 1.0, rtol=1e-6)
        return "finite"

    def answers(self, model: Any, X: Any, others: dict[str, Any]) -> dict[str, Any]:
        """Return what the model says of rows."""
        if hasattr(model, "transform"):
            return {"transform": model.transform(X)}
        if hasattr(model, "classes_"):
            answers = {"predict": model.predict(X)}
            if hasattr(model, "predict_proba"):
                answers["predict_proba"] = model.predict_proba(X)
            return answers
        try:
            mean, std = model.predict(X, return_std=True, **others)
        except (TypeError, ValueError) as error:
            if "return_std" not in str(error) and "standard deviation" not in str(error):
                raise
            return {"predict": model.predict(X, **others)}
        return {"predict": mean, "std": std}


@st.composite
def cases(draw: Any) -> Case:
    """Return a case with one or two hostile parts."""
    names = [name for name, subject in SUBJECTS.items() for _ in range(subject.weight)]
    name = draw(st.sampled_from(names))
    subject = SUBJECTS[name]
    case = Case(name, target={"numbers": "numbers", "labels": "two", None: ""}[subject.target])
    parts = ["rows", "later", "shape", "setting"]
    parts += ["target"] * 2 * (subject.target is not None) + ["weight"] * subject.weighted
    case = replace(case, seed=draw(st.integers(0, 99)))
    for part in draw(st.lists(st.sampled_from(parts), min_size=1, max_size=2, unique=True)):
        if part == "rows":
            case = replace(case, rows=draw(st.sampled_from(list(ROWS))))
        elif part == "later":
            case = replace(case, later=draw(st.sampled_from(list(ROWS))))
        elif part == "shape":
            n, d = draw(st.sampled_from([1, 2, 3, 5, 60])), draw(st.sampled_from([1, 2, 20, 300]))
            case = replace(case, n=n, d=d)
        elif part == "setting":
            chosen = (
                draw(st.sampled_from(subject.parameters)),
                draw(st.sampled_from(list(SETTINGS))),
            )
            case = replace(case, setting=chosen)
        elif part == "target":
            case = replace(case, target=draw(st.sampled_from(list(TARGETS[subject.target]))))
        else:
            case = replace(case, weight=draw(st.sampled_from(list(WEIGHTS))))
    return case
