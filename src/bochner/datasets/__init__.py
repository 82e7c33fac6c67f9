"""Bundled tables and series with free licences, which the examples use."""

from bochner.datasets.bundled import available, load, table_file

__all__ = ["available", "load", "table_file"]
