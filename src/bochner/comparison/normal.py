"""Intervals of normal laws."""

from scipy.special import ndtri


def normal_half_width(level: float) -> float:
    """Return half the width of the central interval of a standard normal law.

    Examples
    --------
    >>> round(normal_half_width(0.95), 3)
    1.96
    """
    return float(ndtri(0.5 + 0.5 * level))
