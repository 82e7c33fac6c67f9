"""Rows, targets, weights and parameters that a program might pass by accident, one name each.

An entry takes a generator and sizes, and returns what is passed. `HARMLESS` names those that every
estimator must take: other types, orders of memory and units of the same numbers.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars
import scipy.sparse

FAR = (150, 154, 160, 200, 300, 308)
"""Powers of ten whose squares overflow, or nearly, and underflow with the sign minus."""


def _plain(rng, n, d):
    return rng.normal(size=(n, d))


def _scaled(power):
    return lambda rng, n, d: _plain(rng, n, d) * 10.0**power


def _shifted(power):
    return lambda rng, n, d: _plain(rng, n, d) + 10.0**power


def _with(value, whole=False):
    def entries(rng, n, d):
        X = _plain(rng, n, d)
        X[(slice(None), 0) if whole else (rng.integers(n), rng.integers(d))] = value
        return X

    return entries


def _integers(dtype, low=-100, high=100):
    return lambda rng, n, d: rng.integers(low, high, size=(n, d)).astype(dtype)


def _sparse(kind):
    return lambda rng, n, d: kind(_plain(rng, n, d) * (rng.random((n, d)) < 0.5))


def _frame(rng, n, d):
    return pd.DataFrame(_plain(rng, n, d), columns=[f"x{i}" for i in range(d)])


def _columns(entries):
    """Return a table whose first column is made of ``entries``."""

    def table(rng, n, d):
        frame = _frame(rng, n, d)
        return frame.assign(x0=entries(rng, n))

    return table


def _readonly(rng, n, d):
    X = _plain(rng, n, d)
    X.flags.writeable = False
    return X


def _duplicated(rng, n, d):
    return _plain(rng, n, d)[rng.integers(max(n // 3, 1), size=n)]


def _dates(rng, n):
    return pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")


def _category(rng, n):
    return pd.Categorical(rng.choice(["a", "b", "c"], n))


def _nullable(dtype):
    def entries(rng, n):
        found = pd.array(rng.integers(0, 9, n), dtype=dtype)
        found[0] = pd.NA
        return found

    return entries


HARMLESS = {
    "float64": _plain,
    "float32": lambda rng, n, d: _plain(rng, n, d).astype(np.float32),
    "float16": lambda rng, n, d: _plain(rng, n, d).astype(np.float16),
    "int8": _integers(np.int8),
    "uint64": _integers(np.uint64, 0),
    "bool": _integers(bool, 0, 2),
    "object": lambda rng, n, d: _plain(rng, n, d).astype(object),
    "Fortran": lambda rng, n, d: np.asfortranarray(_plain(rng, n, d)),
    "strided": lambda rng, n, d: np.repeat(_plain(rng, n, d), 2, axis=1)[:, ::2],
    "reversed": lambda rng, n, d: _plain(rng, n, d)[::-1],
    "read-only": _readonly,
    "lists": lambda rng, n, d: _plain(rng, n, d).tolist(),
    "pandas": _frame,
    "polars": lambda rng, n, d: polars.from_pandas(_frame(rng, n, d)),
    "duplicated": _duplicated,
    "constant column": _with(1.0, whole=True),
    "1e-12": _scaled(-12),
    "1e12": _scaled(12),
    "float32, 1e30": lambda rng, n, d: _plain(rng, n, d).astype(np.float32) * np.float32(1e30),
    "huge integers": _integers(object, 2**40, 2**41),
}
"""Rows that every estimator takes."""

ROWS = HARMLESS | {
    **{f"1e{sign}{power}": _scaled(int(f"{sign}{power}")) for sign in "+-" for power in FAR},
    **{f"+1e{power}": _shifted(power) for power in (8, 15, 150, 300)},
    **{f"one {value:g}": _with(value) for value in (np.nan, np.inf, -np.inf, 1.7e308, 1e200)},
    "one tiny": _with(5e-324), "all NaN": _with(np.nan, whole=True),
    "constant": lambda rng, n, d: np.full((n, d), 3.0), "zeros": lambda rng, n, d: np.zeros((n, d)),
    "denormal": lambda rng, n, d: _plain(rng, n, d) * 1e-310,
    "beyond int64": lambda rng, n, d: np.full((n, d), 2**64) + _integers(object, 0, 9)(rng, n, d),
    "complex": lambda rng, n, d: _plain(rng, n, d) + 1j,
    "text": lambda rng, n, d: rng.choice(["red", "blue"], size=(n, d)),
    "bytes": lambda rng, n, d: rng.choice([b"red", b"blue"], size=(n, d)),
    "None": lambda rng, n, d: np.full((n, d), None),
    "objects": lambda rng, n, d: np.full((n, d), object()),
    "dates": lambda rng, n, d: np.full((n, d), np.datetime64("2024-01-01")),
    "one-dimensional": lambda rng, n, d: _plain(rng, n, d)[:, 0],
    "three-dimensional": lambda rng, n, d: _plain(rng, n, d)[:, :, None],
    "a number": lambda rng, n, d: 3.0, "a word": lambda rng, n, d: "rows.csv",
    "nothing": lambda rng, n, d: None,
    "ragged": lambda rng, n, d: [[0.0] * (1 + i % 2) for i in range(n)],
    "no rows": lambda rng, n, d: np.empty((0, d)), "no columns": lambda rng, n, d: np.empty((n, 0)),
    "masked": lambda rng, n, d: np.ma.masked_less(_plain(rng, n, d), -1.0),
    "matrix": lambda rng, n, d: np.asmatrix(_plain(rng, n, d)),
    "structured": lambda rng, n, d: np.zeros(n, dtype=[("a", float), ("b", float)]),
    "csr": _sparse(scipy.sparse.csr_array), "csc": _sparse(scipy.sparse.csc_matrix),
    "coo": _sparse(scipy.sparse.coo_array), "lil": _sparse(scipy.sparse.lil_array),
    "dok": _sparse(scipy.sparse.dok_array), "category": _columns(_category),
    "dates in a table": _columns(_dates), "Int64 with NA": _columns(_nullable("Int64")),
    "boolean with NA": _columns(lambda rng, n: pd.array([None, *[True] * (n - 1)], "boolean")),
    "text in a table": _columns(lambda rng, n: rng.choice(["1,5", "2,5"], n)),
    "mixed in a table": _columns(lambda rng, n: np.array([1.0, "a", None, b"b"] * n)[:n]),
    "same names": lambda rng, n, d: _frame(rng, n, d).set_axis(["x"] * d, axis=1),
    "names of numbers": lambda rng, n, d: _frame(rng, n, d).set_axis(range(d), axis=1),
    "names of both": lambda rng, n, d: _frame(rng, n, d).rename(columns={"x0": 0}),
}  # fmt: skip
"""Rows of any kind."""


def _numbers(rng, n):
    return rng.normal(size=n)


def _times(factor, shift=0.0):
    return lambda rng, n: _numbers(rng, n) * factor + shift


def _all(value):
    return lambda rng, n: np.full(n, value)


def _codes(labels):
    return lambda rng, n: np.array(list(labels) * n, dtype=object)[:n]


NUMBERS = {
    "numbers": _numbers,
    "integers": lambda rng, n: rng.integers(-9, 9, n),
    "booleans": lambda rng, n: rng.random(n) < 0.5,
    "column": lambda rng, n: _numbers(rng, n)[:, None],
    "two columns": lambda rng, n: rng.normal(size=(n, 2)),
    "no columns": lambda rng, n: np.empty((n, 0)),
    "constant": lambda rng, n: np.full(n, 7.0),
    "zeros": lambda rng, n: np.zeros(n),
    "series": lambda rng, n: pd.Series(_numbers(rng, n), index=range(5, n + 5)),
    "Float64": lambda rng, n: pd.Series(_numbers(rng, n), dtype="Float64"),
    "Fractions": lambda rng, n: [Fraction(i, 3) for i in range(n)],
    **{f"1e{sign}{p}": _times(float(f"1e{sign}{p}")) for sign in "+-" for p in (12, *FAR)},
    **{f"+1e{power}": _times(1.0, 10.0**power) for power in (8, 15, 150)},
    "one huge": lambda rng, n: np.r_[1e300, _numbers(rng, n)[1:]],
    "one far": lambda rng, n: np.r_[1e20, _numbers(rng, n)[1:]],
    "denormal": lambda rng, n: _numbers(rng, n) * 1e-315,
}
"""Targets of regressions that are numbers; some are too large or too small."""

LABELS = {
    "two": lambda rng, n: np.arange(n) % 2,
    "three": lambda rng, n: np.arange(n) % 3,
    "all different": lambda rng, n: np.arange(n),
    "fifty": lambda rng, n: np.arange(n) % 50,
    "rare": lambda rng, n: np.r_[1, np.zeros(n - 1, int)],
    "one": lambda rng, n: np.ones(n),
    "names": _codes(("red", "blue")),
    "halves": lambda rng, n: (np.arange(n) % 2) / 2.0,
    "booleans": lambda rng, n: np.arange(n) % 2 == 0,
    "signs": lambda rng, n: np.where(np.arange(n) % 2, 1.0, -1.0),
    "p and None": _codes(("p", None)),
    "text and numbers": _codes(("p", 1)),
    "dates": lambda rng, n: np.array(["2024-01-01", "2024-01-02"] * n, "datetime64[D]")[:n],
    "category": lambda rng, n: pd.Series(pd.Categorical(["a", "b"] * n)[:n]),
    "bytes": lambda rng, n: np.array([b"a", b"b"] * n)[:n],
    "column": lambda rng, n: (np.arange(n) % 2)[:, None],
    "two columns": lambda rng, n: np.eye(2)[np.arange(n) % 2],
    "huge": lambda rng, n: np.array([2**70, 1] * n, dtype=object)[:n],
}
"""Targets of classifiers."""

WRONG = {
    "one NaN": lambda rng, n: np.r_[np.nan, _numbers(rng, n)[1:]],
    "one infinity": lambda rng, n: np.r_[np.inf, _numbers(rng, n)[1:]],
    "text": _codes(("red", "1.5")),
    "text of numbers": lambda rng, n: np.array(["1.5"] * n),
    "None among them": _codes((1.0, None)),
    "complex": lambda rng, n: _numbers(rng, n) + 1j,
    "too many": lambda rng, n: _numbers(rng, n + 1),
    "none": lambda rng, n: [],
    "nothing": lambda rng, n: None,
    "a number": lambda rng, n: 3.0,
    "a word": lambda rng, n: "target",
    "three-dimensional": lambda rng, n: rng.normal(size=(n, 2, 2)),
    "objects": lambda rng, n: np.full(n, object()),
    "dates": lambda rng, n: np.full(n, np.datetime64("2024-01-01")),
    "sparse": lambda rng, n: scipy.sparse.csr_array(_numbers(rng, n)[:, None]),
}
"""Targets that suit no regression."""

WEIGHTS = {
    "none": lambda rng, n: None,
    "ones": lambda rng, n: np.ones(n),
    "random": lambda rng, n: rng.uniform(0.5, 2.0, n),
    "integers": lambda rng, n: rng.integers(0, 3, n),
    "zeros": lambda rng, n: np.zeros(n),
    "one row": lambda rng, n: np.r_[1.0, np.zeros(n - 1)],
    **{f"1e{p}": _all(10.0**p) for p in (-310, -300, -160, -100, -10, 10, 100, 160, 300)},
    "far apart": lambda rng, n: 10.0 ** rng.uniform(-30.0, 30.0, n),
    "further apart": lambda rng, n: 10.0 ** rng.uniform(-300.0, 300.0, n),
    "one tiny": lambda rng, n: np.r_[1e-12, np.ones(n - 1)],
    "one huge": lambda rng, n: np.r_[1e12, np.ones(n - 1)],
    "negative": lambda rng, n: np.r_[-1.0, np.ones(n - 1)],
    "one NaN": lambda rng, n: np.r_[np.nan, np.ones(n - 1)],
    "one infinity": lambda rng, n: np.r_[np.inf, np.ones(n - 1)],
    "text": lambda rng, n: np.array(["1"] * n),
    "too many": lambda rng, n: np.ones(n + 1),
    "a number": lambda rng, n: 2.0,
    "a column": lambda rng, n: np.ones((n, 1)),
    "complex": lambda rng, n: np.ones(n) + 1j,
}
"""Sample weights."""

SETTINGS = {
    "None": None, "zero": 0, "minus one": -1, "one": 1, "two": 2, "a half": 0.5, "tiny": 1e-300,
    "huge": 1e300, "denormal": 5e-324, "NaN": np.nan, "infinity": np.inf, "a word": "nonsense",
    "no word": "", "a list": [], "a class": dict, "an array": np.ones(3), "np.int64": np.int64(3),
    "np.float32": np.float32(2.0), "np.bool": np.bool_(True), "a huge integer": 2**70,
    "complex": 1j, "an object": object(), "NaN in an array": np.array([np.nan, 1.0]),
}  # fmt: skip
"""Values of any parameter."""
