"""Check of the facts about a fit that a model file holds and commands read."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NoReturn

from bochner.files.errors import InputError
from bochner.files.stored_classes import conforms

_Scores = float | list[float]

_FACTS: Mapping[str, Any] = {
    "n_samples": int,
    "target": str | list[str],
    "dropped": list[str],
    **dict.fromkeys(("weight", "group", "time", "id", "task", "source"), str),
    "layout": dict[str, Any],
    "fingerprint": dict[str, Any],
    "interval": float,
    "n_columns": int,
    "n_test_samples": int,
}
"""Types of the facts, which may be missing in older files."""

_LAYOUT: Mapping[str, Any] = {
    **dict.fromkeys(("decimal", "dates"), str),
    "types": dict[str, str],
    **dict.fromkeys(("table", "delimiter"), str | None),
    "missing": list[str],
    **dict.fromkeys(("skip", "header"), int | None),
    "units": dict[str, str],
    "words": dict[str, list[str]],
}

_FINGERPRINT: Mapping[str, Any] = {"step": int, "keys": str, "chance": float}

_SHOWN = 60
"""Most characters of a fact in a message."""

_KEY_SIZE = 4
"""Bytes of a hash of a row."""


def check_record(record: Mapping[str, Any], n_targets: int) -> None:
    """Raise InputError unless the record of a model has facts of the right types."""
    _check_types("", record, _FACTS)
    scores = {name: _Scores for name in record if name.startswith("test_")}
    _check_types("", record, scores)
    named = record.get("target")
    if named is not None and n_targets != (1 if isinstance(named, str) else len(named)):
        _refuse("target", named)
    if not 0.0 < record.get("interval", 0.5) < 1.0:
        _refuse("interval", record["interval"])
    if "layout" in record:
        layout = record["layout"]
        _check_types("layout.", layout, _LAYOUT)
        _require("layout", layout, ("decimal", "dates", "types", "table"))
    if "fingerprint" in record:
        facts = record["fingerprint"]
        _check_types("fingerprint.", facts, _FINGERPRINT)
        _require("fingerprint", facts, _FINGERPRINT)
        if facts["step"] < 1 or not _are_keys(facts["keys"]):
            _refuse("fingerprint", facts)


def _check_types(place: str, facts: Mapping[str, object], hints: Mapping[str, object]) -> None:
    for name, hint in hints.items():
        if name in facts and not conforms(facts[name], hint):
            _refuse(place + name, facts[name])


def _require(place: str, facts: Mapping[str, object], names: Any) -> None:
    for name in names:
        if name not in facts:
            _refuse(f"{place}.{name}", None)


def _are_keys(text: str) -> bool:
    try:
        return len(b64decode(text, validate=True)) % _KEY_SIZE == 0
    except ValueError:
        return False


def _refuse(name: str, value: object) -> NoReturn:
    raise InputError(
        f"The model file has {repr(value)[:_SHOWN]} for the fact {name!r} about the fit, which is "
        "not of its type: the file was changed. Fit the model again."
    )
