"""Restoration of estimators after failed fits."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

_Method = TypeVar("_Method", bound=Callable[..., Any])


def all_or_nothing(method: _Method) -> _Method:
    """Return a method that gives its object the attributes back if it fails or is interrupted.

    An earlier fit remains usable then: its number of features, which the first check of new rows
    sets, belongs to its coefficients.
    """

    @wraps(method)
    def whole(self: object, /, *args: object, **kwargs: object) -> object:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(_Method, whole)
