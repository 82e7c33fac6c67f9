"""JSON output of the commands, with stable keys."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bochner.comparison.outcomes import Outcome
from bochner.comparison.study import Study
from bochner.comparison.verdict import best_other, calibration, verdict
from bochner.tables.sensitivity import VarianceShares


def fit_record(
    studies: Sequence[Study],
    warned: Sequence[str],
    out: Path,
    report: Path | None,
    left_out: Sequence[str],
) -> dict[str, object]:
    """Return the dictionary that `bochner fit --json` prints."""
    first = studies[0]
    score = first.model.score_
    return {
        "table": asdict(first.table), "warnings": list(warned),
        "task": "classification" if first.is_classification else "regression",
        "split": {"kind": first.split.kind, "reason": first.split.reason,
                  "n_fit": len(first.split.y), "n_test": len(first.own.y)},
        "targets": [_target(study) for study in studies],
        "importance": shares_record(first.importance),
        "interactions": shares_record(first.interactions),
        "model": {"file": str(out), "class": type(first.model).__name__,
                  "score": None if score is None else np.atleast_1d(score).tolist()},
        "report": None if report is None else str(report), "record": dict(first.record),
        "left_out": list(left_out),
    }  # fmt: skip


def evaluation_record(
    studies: Sequence[Study], groups: Sequence[Mapping[str, Outcome]], model: Path
) -> dict[str, object]:
    """Return the dictionary that `bochner evaluate --json` prints."""
    first = studies[0]
    targets = [_target(study) for study in studies]
    for target, study, of_groups in zip(targets, studies, groups, strict=True):
        target["groups"] = _by_name("group", of_groups)
        target["kinds_of_rows"] = _by_name("kind", study.by_kind)
    return {
        "model": str(model),
        "table": asdict(first.table),
        "n": len(first.own.y),
        "targets": targets,
    }


def _target(study: Study) -> dict[str, object]:
    from bochner.report.diagnostics import checks

    gap = best_other(study)
    outcome_of_model = study.own
    confusion = None
    if outcome_of_model.classes is not None:
        confusion = {
            "classes": [str(label) for label in outcome_of_model.classes],
            "counts": outcome_of_model.confusion().tolist(),
        }
    return {
        "name": study.target,
        "verdict": verdict(study),
        "calibration": calibration(study),
        "leaks": [asdict(leak) for leak in study.leaks],
        "level": outcome_of_model.level if outcome_of_model.classes is None else None,
        "methods": [
            {"name": name, "seconds": _finite(outcome.seconds), "scores": _scores(outcome)}
            for name, outcome in study.outcomes.items()
        ],
        "best_other": None if gap is None else asdict(gap) | {"certain": gap.is_certain},
        "confusion": confusion,
        "checks": [asdict(finding) for finding in checks(study)],
    }


def _scores(outcome: Outcome) -> dict[str, dict[str, float | None]]:
    return {
        name: {"value": _finite(score.value), "std_error": _finite(score.std_error)}
        for name, score in outcome.scores().items()
    }


def _by_name(key: str, outcomes: Mapping[str, Outcome]) -> list[dict[str, object]]:
    return [
        {key: name, "n": len(outcome.y), "scores": _scores(outcome)}
        for name, outcome in outcomes.items()
    ]


def _finite(value: float) -> float | None:
    """Return the number if it is finite, else None, because JSON has no NaN or infinity."""
    return float(value) if np.isfinite(value) else None


def shares_record(shares: VarianceShares | None) -> list[dict[str, object]] | None:
    """Return the shares of columns or pairs for JSON."""
    if shares is None:
        return None
    rows = zip(shares.columns, shares.share, shares.std_error, strict=True)
    return [
        {
            "columns": [name] if isinstance(name, str) else list(name),
            "share": _finite(share),
            "std_error": _finite(error),
        }
        for name, share, error in rows
    ]
