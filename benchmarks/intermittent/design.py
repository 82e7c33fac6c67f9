"""The methods, the quantiles and the series that are measured."""

OURS = "bochner"
GAUSSIAN = "bochner, square roots"
HISTORY = "quantiles of the past"
CROSTON, SBA, OPTIMIZED = "CrostonClassic", "CrostonSBA", "CrostonOptimized"
TSB, ADIDA, IMAPA = "TSB", "ADIDA", "IMAPA"
OTHERS = (CROSTON, SBA, OPTIMIZED, TSB, ADIDA, IMAPA)
METHODS = (OURS, GAUSSIAN, *OTHERS, HISTORY)

LEVELS = (0.5, 0.8, 0.95)  # Quantiles whose loss is measured

MOST = 40
"""Largest number of series of a group, evenly among all of its series."""

SIMULATED = "simulated"
"""Name of series that a quick run draws."""
