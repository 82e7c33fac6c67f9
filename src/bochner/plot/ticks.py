"""Places and texts of ticks. Imports matplotlib: to be imported where something is drawn."""

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import Formatter, MaxNLocator

from bochner._base.arrays import Array
from bochner.comparison.shown import may_be_years

_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
"""Prefixes of numbers from a hundred thousand on, which have too many digits for a tick."""

_LONG, _SHORT = 1e5, 1e-3
"""Numbers from here on have a prefix, and below here a power of ten."""

_HUGE = 1e13
"""Numbers from here on have a power of ten: the largest prefix would leave them five digits."""

_COMMAS = 1e3
"""Largest number of an axis from which on thousands have commas, unless all may be years."""

_MOST_DECIMALS, _EXACT = 6, 1e-3
"""Most decimals of a tick, and the share of a step by which texts may differ from numbers."""

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_MOST_PLAIN = 3
"""Largest power of ten, of either sign, that is written out on a logarithmic axis."""


class PlainFormatter(Formatter):
    """Format numbers with the fewest digits that distinguish the ticks of an axis."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of one number, such as the place of a cursor."""
        return number_text(x)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return number_texts(np.asarray(values, dtype=np.float64))


class PowersOfTenFormatter(Formatter):
    """Format powers of ten, written out if they are short."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of one number."""
        return power_text(x)


def even_ticks(count: int) -> MaxNLocator:
    """Return a locator of at most ``count`` intervals of round length."""
    return MaxNLocator(count, steps=[1, 2, 2.5, 5, 10], min_n_ticks=2)


def number_texts(values: Array) -> list[str]:
    """Return short texts that distinguish evenly spaced numbers.

    Examples
    --------
    >>> number_texts(np.array([0.0, 0.5, 1.0])), number_texts(np.array([0.0, 2e6, 4e6]))
    (['0', '0.5', '1.0'], ['0', '2M', '4M'])
    """
    if not len(values):
        return []
    largest = float(np.abs(values).max())
    if largest < _SHORT or largest >= _HUGE:
        return [number_text(value) for value in values]
    scale, unit = next(((s, u) for s, u in _UNITS if largest >= max(s, _LONG)), (1.0, ""))
    shown = values / scale
    step = np.abs(np.diff(shown)).min() if len(values) > 1 else np.abs(shown).max()
    exact = (d for d in range(_MOST_DECIMALS) if np.ptp(shown - shown.round(d)) < _EXACT * step)
    decimals = next(exact, _MOST_DECIMALS)
    comma = "" if unit or may_be_years(values) else ","
    texts = [f"{value:{comma}.{decimals}f}{unit}" for value in shown]
    zero = f"{0.0:.{decimals}f}{unit}"
    return ["0" if t.lstrip("-") == zero else t.replace("-", "−") for t in texts]


def number_text(value: float) -> str:
    """Return a number with four digits, or a whole number of five.

    Examples
    --------
    >>> number_text(-0.00002), number_text(1234.56), number_text(13900.0)
    ('−2e−5', '1,235', '13,900')
    """
    text = f"{value:.5g}" if value == round(value) else f"{value:.4g}"
    if _COMMAS <= abs(value) < _LONG:
        text = f"{value:,.0f}"
    if "e" in text:
        digits, _, power = text.partition("e")
        text = f"{digits}e{int(power)}"
    return text.replace("-", "−")


def log_places(low: float, high: float, count: int) -> list[float]:
    """Return at most ``count`` powers of ten, or round numbers if fewer than two powers fit.

    Examples
    --------
    >>> log_places(0.5, 2e4, 3), log_places(3.0, 40.0, 5)
    ([1.0, 100.0, 10000.0], [5.0, 10.0, 20.0])
    """
    slack = 1e-9  # Limits at a tick include it
    first, last = np.ceil(np.log10(low) - slack), np.floor(np.log10(high) + slack)
    powers = np.arange(first, last + 1.0)
    if len(powers) > 2:
        step = -(-len(powers) // count)
        return [float(10.0**power) for power in powers if power % step == 0.0] or [10.0**first]
    for factors in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        decades = 10.0 ** np.arange(np.floor(np.log10(low)), last + 1.0)
        places = np.outer(decades, factors).ravel()
        inside = places[(places >= low * (1.0 - slack)) & (places <= high * (1.0 + slack))]
        if 2 <= len(inside) <= count:
            return [float(place) for place in inside]
    even = even_ticks(count).tick_values(low, high)
    return [float(place) for place in even if low <= place <= high]


def power_text(value: float) -> str:
    """Return a number of a logarithmic axis.

    Examples
    --------
    >>> power_text(0.01), power_text(1e-6), power_text(2000.0)
    ('0.01', '10⁻⁶', '2,000')
    """
    if value <= 0.0:
        return number_text(value)
    power = float(np.log10(value))
    if abs(power) > _MOST_PLAIN and abs(power - round(power)) < 1e-6:  # A whole power, rounded
        return "10" + str(round(power)).translate(_SUPERSCRIPT)
    return number_text(value)
