"""Progress of a fit: records of its steps, for a function that may stop it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class FitProgress:
    """Progress of a fit, passed to the ``callback`` of ``fit``.

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

    Examples
    --------
    >>> from bochner import FitProgress
    >>> print(FitProgress("sampling", 3, 10, 1.5, {"log evidence": -12.25, "components": 4.0}))
    sampling 3/10: log evidence -12.25, components 4
    """

    stage: str
    step: int | None = None
    total: int | None = None
    seconds: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a line of text."""
        count = "" if self.step is None else f" {self.step}/{self.total}"
        figures = ", ".join(f"{name} {value:.6g}" for name, value in self.figures.items())
        return f"{self.stage}{count}{': ' if figures else ''}{figures}"


Callback = Callable[[FitProgress], Any]
"""A function of the progress, which returns ``False`` to stop the fit."""


class Progress:
    """Reports the steps of one fit to a callback, and remembers whether it is to stop."""

    def __init__(self, callback: Callback | None = None) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(
                f"callback must be a function of a bochner.FitProgress, or None, got {callback!r}."
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
        """Report a step."""
        if self._callback is None:
            return
        seconds = perf_counter() - self._began
        answer = self._callback(FitProgress(stage, step, total, seconds, dict(figures or {})))
        # Many functions return what they do not mean: None, a number, an empty list.
        self.is_stopped |= isinstance(answer, bool | np.bool_) and not answer

    def relay(self, inner: FitProgress) -> bool:
        """Report a step of a fit inside this one: the callback of that fit."""
        self(inner.stage, inner.step, inner.total, inner.figures)
        return not self.is_stopped


silent = Progress()
"""Progress that is reported to nobody."""
