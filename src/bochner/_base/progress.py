"""Progress of a fit, which is passed to a callback that may stop it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class FitProgress:
    """Progress of a fit, passed to the ``callback`` of ``fit``.

    Examples
    --------
    >>> from bochner import FitProgress
    >>> print(FitProgress("sampling", 3, 10, 1.5, {"log evidence": -12.25, "components": 4.0}))
    sampling 3/10: log evidence -12.25, components 4

    Parameters
    ----------
    stage : str
        Stage of the fit, such as ``"sampling"``.
    step : int or None, default=None
        Number of completed steps of the stage, if steps are counted.
    total : int or None, default=None
        Number of all steps of the stage.
    seconds : float, default=0.0
        Time since the fit began.
    figures : mapping of str to float, default={}
        Figures of the step, such as ``"log evidence"``.
    """

    stage: str
    step: int | None = None
    total: int | None = None
    seconds: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the progress as one line of text."""
        count = "" if self.step is None else f" {self.step}/{self.total}"
        figures = ", ".join(f"{name} {value:.6g}" for name, value in self.figures.items())
        return f"{self.stage}{count}{': ' if figures else ''}{figures}"


Callback = Callable[[FitProgress], Any]
"""A function of the progress, which returns ``False`` to stop the fit."""


class Progress:
    """Reports the steps of a fit to a callback, and records whether the callback stopped it."""

    def __init__(self, callback: Callback | None = None) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback must be a function of a bochner.FitProgress, got {callback!r:.60}."
            )
        self._callback = callback
        self._began = perf_counter()
        self.is_stopped = False

    def __call__(
        self,
        stage: str,
        step: int | None = None,
        total: int | None = None,
        figures: Mapping[str, float] | None = None,
    ) -> None:
        """Report one step of the fit to the callback."""
        if self._callback is None:
            return
        seconds = perf_counter() - self._began
        answer = self._callback(FitProgress(stage, step, total, seconds, dict(figures or {})))
        # Only False stops the fit: callbacks may return None, a number or a list by accident.
        self.is_stopped |= isinstance(answer, bool | np.bool_) and not answer

    def relay(self, inner: FitProgress) -> bool:
        """Report a step of an inner fit; this method serves as the inner fit's callback."""
        self(inner.stage, inner.step, inner.total, inner.figures)
        return not self.is_stopped


silent = Progress()
"""Progress without a callback."""
