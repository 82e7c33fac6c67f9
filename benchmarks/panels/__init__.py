"""Forecasts of short series with the help of the other series of a panel."""
