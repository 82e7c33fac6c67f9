"""Every estimator under hostile input: a finite answer, or a refusal that names what is wrong."""

import pytest
from fuzz.cases import Case, cases
from fuzz.hostile import HARMLESS
from fuzz.subjects import SUBJECTS
from hypothesis import HealthCheck, Phase, given, seed, settings

CALM = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
CUBES = ("features, polynomial", "Maclaurin", "sketch", "random projection")
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)


def _run(number, count):
    @seed(number)
    @settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=CALM, phases=PHASES
    )
    @given(case=cases())
    def run(case):
        case.run()

    run()


@pytest.mark.thorough_cases(but="-30")
@pytest.mark.parametrize(("number", "count"), [(0, 30), (0, 100), (1, 100), (2, 100)])
def test_hostile_cases(number, count):
    _run(number, count)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(100, 140))
def test_many_hostile_cases(number):
    _run(number, 500)


@pytest.mark.slow
@pytest.mark.parametrize("rows", HARMLESS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_harmless_rows_are_taken(subject, rows):
    plain = {"numbers": "numbers", "labels": "two", None: ""}[SUBJECTS[subject].target]
    if subject == "spherical" or (rows == "float32, 1e30" and subject in CUBES):
        pytest.skip("The kernel is defined on the sphere, or its values overflow float32")
    assert Case(subject, rows, plain).run() == "finite"


@pytest.mark.parametrize("part", ["rows", "target", "weight"])
def test_the_oracle_sees(part, monkeypatch):
    """A model whose answers are NaN, and one that says nothing of the argument, are found."""
    case = Case("ridge", target="numbers")
    monkeypatch.setattr(
        "bochner.KreinRidge.predict",
        lambda self, X, return_std=False: (X[:, 0] * float("nan"),) * 2,
    )
    with pytest.raises(AssertionError, match="not finite"):
        case.run()
    wrong = {"rows": "text", "target": "text", "weight": "negative"}[part]
    monkeypatch.setattr("bochner.KreinRidge.fit", lambda *_, **__: float("what"))
    with pytest.raises(AssertionError, match="said nothing of it"):
        Case("ridge", **{"target": "numbers", part: wrong}).run()
