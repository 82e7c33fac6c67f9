"""Warnings that point at the user's own line."""

import sys
import warnings

_PASSED_OVER = ("bochner", "sklearn")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Emit a warning that points at the innermost frame outside bochner and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while (
        frame.f_back is not None
        and str(frame.f_globals.get("__name__", "")).partition(".")[0] in _PASSED_OVER
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
