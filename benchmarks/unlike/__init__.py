"""Rows unlike the training rows: gaps, new levels, numbers beyond the range, and later times."""
