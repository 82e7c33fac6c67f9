"""The methods, the quantiles and the series that are measured."""

from collections.abc import Mapping

OURS = "bochner"
GAUSSIAN = "bochner, square roots"
HISTORY = "quantiles of the past"
CROSTON, SBA, OPTIMIZED = "CrostonClassic", "CrostonSBA", "CrostonOptimized"
TSB, ADIDA, IMAPA = "TSB", "ADIDA", "IMAPA"
OTHERS = (CROSTON, SBA, OPTIMIZED, TSB, ADIDA, IMAPA)
METHODS = (OURS, GAUSSIAN, *OTHERS, HISTORY)

LEVELS = (0.5, 0.8, 0.95)  # Quantiles whose loss is measured

GROUPS: Mapping[str, int] = {
    "influenza by district, weekly": 40,
    "CDs bought by a customer, weekly": 40,
    "bird strikes by airport, monthly": 15,
    "bird strikes by state, weekly": 10,
    "storms, monthly": 3,
    "cancelled flights by destination, daily": 36,
    "flights to small destinations, daily": 2,
    "attacks by country, yearly": 40,
    "murders by county, yearly": 7,
}
"""Numbers of series by group: at most forty, evenly among all of its series."""

SIMULATED, N_SIMULATED = "simulated", 4
"""Name and number of the series that a quick run draws."""
