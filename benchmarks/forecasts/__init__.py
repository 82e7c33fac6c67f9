"""Forecasts of series from rolling origins, next to other methods at their defaults."""
