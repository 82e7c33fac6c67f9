"""Gaussian processes at scale: exact and sparse ones on draws and tables, and minima by draws."""
