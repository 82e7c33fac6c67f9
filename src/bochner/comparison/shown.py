"""Numbers as texts, with few digits."""

import numpy as np

PLAIN = (1e-4, 1e6)
"""Sizes of numbers that are written without a power of ten: at most eight characters."""


def number(value: float, digits: int = 4, plain: tuple[float, float] = PLAIN) -> str:
    """Format a number with ``digits`` significant digits and commas between thousands.

    Absolute values outside of ``plain`` are written with a power of ten. All digits of the integer
    part are shown.

    Examples
    --------
    >>> number(1234.56), number(-0.01234), number(3.0), number(2.5e9), number(2.864e-08)
    ('1,235', '-0.01234', '3', '2.5e9', '2.864e-8')
    """
    if not np.isfinite(value):
        return "–"
    size = abs(value)
    if size and not plain[0] <= size < plain[1]:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(power)}"
    decimals = max(0, digits - 1 - (int(np.floor(np.log10(size))) if size else 0))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
