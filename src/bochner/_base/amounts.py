"""Parsing and formatting of amounts of memory and of time."""

import re
from numbers import Integral

# Bytes per decimal and binary unit.
_UNITS = {"": 1} | {
    f"{p}{b}": n**k for b, n in (("", 1000), ("I", 1024)) for k, p in enumerate("KMGT", 1)
}


def as_bytes(limit: object) -> int | None:
    """Convert a positive integer, ``"1GB"`` or ``"512MiB"`` to bytes; ``None`` stays ``None``."""
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]I?)?B?\s*", limit.upper())
        if match is not None and match[1].count(".") <= 1 and match[1] != ".":
            limit = int(float(match[1]) * _UNITS[match[2] or ""])
    if isinstance(limit, Integral) and not isinstance(limit, bool) and int(limit) > 0:
        return int(limit)
    raise ValueError(
        f"memory_limit must be a number of bytes such as 10**9, a text such as '1GB' or '512MiB', "
        f"or None; got {limit!r}."
    )


def in_words(n_bytes: float) -> str:
    """Return the amount with a unit, such as ``2.5 MB``."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


def duration(seconds: float) -> str:
    """Return a time in words, such as "40 s", "3 min" or "7 h"."""
    if seconds < 100.0:
        return f"{seconds:.0f} s" if seconds >= 10.0 else f"{seconds:.2g} s"
    for unit, factor in (("min", 60.0), ("h", 3600.0)):
        if seconds < 100.0 * factor:
            return f"{seconds / factor:.0f} {unit}"
    return f"{seconds / 86400.0:.0f} days"
