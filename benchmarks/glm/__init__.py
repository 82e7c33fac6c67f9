"""Counts, ordered classes, censored numbers, labels and outliers, next to other methods."""
