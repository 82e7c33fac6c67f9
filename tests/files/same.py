"""Values saved and loaded, and compared with all that they contain."""

import dataclasses

import numpy as np
from sklearn.base import BaseEstimator

import bochner


def round_trip(value, folder):
    path = folder / "model.bochner"
    bochner.save(value, path)
    return bochner.load(path)


def assert_same(a, b, at="model"):
    """Compare two values with all that they contain: types, bits and layouts."""
    assert type(a) is type(b), at
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), at
        assert a.flags.fnc == b.flags.fnc, at
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes(), at
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), at
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{at}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), at
        for key in a:
            assert_same(a[key], b[key], f"{at}[{key!r}]")
    elif isinstance(a, BaseEstimator):
        assert set(vars(a)) == set(vars(b)), at
        for name in vars(a):
            assert_same(vars(a)[name], vars(b)[name], f"{at}.{name}")
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name), f"{at}.{field.name}")
    else:
        assert repr(a) == repr(b), at
