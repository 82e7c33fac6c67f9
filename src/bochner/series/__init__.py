"""Forecasts of series: sums of processes in time."""
