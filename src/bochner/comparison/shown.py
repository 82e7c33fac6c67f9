"""Names of metrics, and numbers as texts with few digits."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "rmse": "RMSE",
        "mae": "MAE",
        "r2": "explained variance",
        "coverage": "coverage",
        "log_loss": "log loss",
        "error": "error rate",
        "auc": "AUC",
    }
)
"""Headings of columns of metrics, by the metrics' names."""

OF_NUMBERS = ("rmse", "mae", "r2", "coverage")
"""Metrics of a regression that tables show."""

OF_CLASSES = ("log_loss", "error", "auc")
"""Metrics of a classification that tables show."""

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


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
