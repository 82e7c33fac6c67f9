"""Messages on wrong usage: columns for a missing target, usual names of options, plain words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_USUAL_NAMES = {
    "--picture": ("plot", "plots", "image", "figure", "png"),
    "--effort quick": ("quick", "fast"),
    "--effort thorough": ("thorough", "best", "accurate", "slow"),
    "--horizon": ("steps", "periods", "ahead", "n-steps", "h"),
    "--target": ("y", "label", "column", "value", "response"),
    "--time": ("date", "dates", "time-column", "index", "ds"),
    "--series": ("by", "key", "unique-id"),
    "--out": ("output", "save"),
    "--interval": ("level", "levels", "confidence", "coverage", "quantile"),
    "--drop": ("exclude", "ignore", "without"),
    "--weight": ("sample-weight",),
    "--group": ("groups", "cluster"),
    "--seed": ("random-state", "random-seed"),
    "--n-jobs": ("jobs", "threads", "cores", "workers"),
    "--time-limit": ("timeout", "max-time", "limit"),
    "--memory-limit": ("max-memory", "memory", "ram"),
    "--no-compare": ("skip-comparison", "no-baselines", "no-cv"),
    "--known": ("exog", "regressors", "covariates", "features", "inputs"),
    "--report": ("html",),
    "--json": ("as-json",),
}
"""Options of the commands, and names that other programs have for them."""

_AUTOMATIC = {
    "frequency": ("freq", "frequency"),
    "delimiter": ("sep", "delimiter", "separator"),
    "encoding": ("encoding",),
    "season": ("season", "seasonality", "season-length", "period"),
}
"""Facts that commands find in the file, and names that other programs have for an option."""

_VALUES = {
    "horizon": "the number of rows to forecast, for example 24",
    "interval": "one level, for example 0.9 or 90",
    "n_jobs": "the number of threads, or -1 for all cores",
    "time_limit": "a number of seconds, for example 60",
    "test_size": "a share of the rows, for example 0.2",
    "seed": "a whole number, for example 0",
    "row": "the number of a row, for example 1",
}
"""Descriptions of values, by the names of options."""

_WRONG_TYPE = ("valid integer", "valid number", "valid float", "valid int")
"""Parts of the parser's messages on a value that is no number."""

_MOST_NAMED, _MOST_BYTES = 20, 20_000_000
"""Most columns that a message names, and size of files whose columns are looked up in a second."""


@contextmanager
def plain_usage_errors() -> Iterator[None]:
    """Reword the parser's errors in words of the user."""
    try:
        yield
    except Exception as error:
        if text := _explained(error):
            error.format_message = lambda: text  # type: ignore[attr-defined]
        raise


def _explained(error: Any) -> str:
    """Return a better message, or an empty text."""
    # By name, because the classes are those of click or of typer, depending on the version.
    kind, param = type(error).__name__, getattr(error, "param", None)
    if kind == "NoSuchOption":
        return _unknown_option(error)
    if kind == "MissingParameter" and getattr(param, "name", None) == "target":
        names = _columns((error.ctx.params if error.ctx else {}).get("file"))
        shown = ", ".join(names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"Missing option '--target': one of the columns {shown}{more}." if names else ""
    if kind == "BadParameter" and any(part in error.message for part in _WRONG_TYPE):
        expected = _VALUES.get(getattr(param, "name", ""), "a number")
        hint = param.opts[0] if param is not None else "the option"
        return f"Invalid value for '{hint}': expected {expected}."
    return ""


def _unknown_option(error: Any) -> str:
    """Return what an option with a usual name is called here."""
    wanted = str(error.option_name).lstrip("-").replace("_", "-").lower()
    command = error.ctx.command if error.ctx else None
    options = {each for param in getattr(command, "params", ()) for each in _opts(param)}
    for name, usual in _USUAL_NAMES.items():
        if wanted in usual and name.split()[0] in options:
            return f"No such option: --{wanted}. Use {name}."
    for fact, usual in _AUTOMATIC.items():
        if wanted in usual:
            return f"No such option: --{wanted}. The {fact} is found in the file."
    return ""


def _opts(param: Any) -> Sequence[str]:
    return [*param.opts, *getattr(param, "secondary_opts", ())]


def _columns(file: object) -> list[str]:
    """Return the names of the columns of a small file, or nothing if it cannot be read."""
    path = Path(str(file))
    if file is None or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return []
    from bochner.files.reading import read

    try:
        return [str(name) for name in read(path).frame.columns]
    except (ValueError, TypeError, OSError, ImportError):
        return []
