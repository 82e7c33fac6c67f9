"""Hashes of rows by all of their entries: equal rows, and fingerprints of training rows."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import MatrixLike
from bochner.tables.encoder import read_part
from bochner.tables.observations import Keys
from bochner.tables.table_rows import row_keys

_MOST_KEYS = 1 << 14
"""Most rows whose hashes are stored, four bytes each: a fingerprint stays within 100 kB."""

_LEAST_EXCESS = 0.05
"""Share of rows of the fit, beyond the share of test rows that equal one by chance, from which a
file has rows of the fit: errors then change by some per cent."""


def fingerprint(X: MatrixLike, X_test: MatrixLike) -> dict[str, object]:
    """Return the fingerprint of training rows as plain JSON.

    Rows are stored by their hash, so that the same rows of a later file are found; of more than
    16,384 rows, every so many by hash are stored. ``chance`` is the share of test rows that equal a
    training row, as rows of few columns with few levels do.
    """
    keys = _keys(X)
    step = -(-len(keys) // _MOST_KEYS)
    stored = np.unique(keys[keys % np.uint64(step) == 0].astype(np.uint32))
    record = {"step": step, "keys": b64encode(stored.astype("<u4").tobytes()).decode()}
    is_known, is_looked_up = _known(record, _keys(X_test))
    n_looked_up = max(int(is_looked_up.sum()), 1)
    return {**record, "chance": float(is_known.sum()) / n_looked_up}


def training_rows(record: Mapping[str, Any], X: MatrixLike) -> tuple[int, NDArray[np.bool_] | None]:
    """Return how many rows of a table are training rows, and which (n,) if all can be looked up."""
    keys = _keys(X)
    is_known, is_looked_up = _known(record, keys)
    share = float(is_known.sum()) / max(int(is_looked_up.sum()), 1)
    if share <= float(record["chance"]) + _LEAST_EXCESS:
        return 0, None
    return round(share * len(keys)), is_known if record["step"] == 1 else None


def _keys(X: MatrixLike) -> Keys:
    columns = read_part(X)
    return row_keys(columns, np.empty((len(columns[0].raw), 0)))


def _known(record: Mapping[str, Any], keys: Keys) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks (n,) of rows with a stored hash, and of rows whose hash would be stored."""
    stored = np.frombuffer(b64decode(record["keys"]), dtype="<u4")
    is_looked_up = keys % np.uint64(record["step"]) == 0
    return is_looked_up & np.isin(keys.astype(np.uint32), stored), is_looked_up
