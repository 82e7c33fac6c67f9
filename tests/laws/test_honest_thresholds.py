"""Expected errors and intervals are the same on both sides of every threshold of size."""

import pytest
from laws.honest_models import MODELS
from laws.honest_tables import KINDS
from laws.honest_thresholds import REAL, THRESHOLDS, is_crossed_without_a_step

CASES = [pytest.param(t, kind, id=f"{t.name}-{kind}") for t in THRESHOLDS for kind in t.kinds]
REAL_CASES = [pytest.param(t, kind, id=f"{t.name}-{kind}") for t in REAL for kind in t.kinds]
MODEL = MODELS["table quick"]


def set_constants(patch: pytest.MonkeyPatch, threshold) -> None:
    for name, value in threshold.constants.items():
        patch.setattr(name, value)


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "kind"), CASES)
def test_a_threshold_is_crossed_without_a_step(threshold, kind, monkeypatch):
    set_constants(monkeypatch, threshold)
    is_crossed_without_a_step(KINDS[kind], MODEL, threshold, 12)


@pytest.mark.slow
@pytest.mark.parametrize(("threshold", "kind"), REAL_CASES)
def test_a_threshold_as_it_is_is_crossed_without_a_step(threshold, kind):
    is_crossed_without_a_step(KINDS[kind], MODEL, threshold, 3)


@pytest.mark.thorough
@pytest.mark.parametrize(("threshold", "kind"), [c for c in CASES if "exactly" in c.id])
def test_a_threshold_of_exact_fits_is_crossed_without_a_step(threshold, kind, monkeypatch):
    set_constants(monkeypatch, threshold)
    is_crossed_without_a_step(KINDS[kind], MODEL, threshold, 4)
