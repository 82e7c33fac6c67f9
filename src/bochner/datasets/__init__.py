"""Bundled tables and series, in the public domain, which the examples use."""

from bochner.datasets.bundled import Dataset, available, load, table_file

__all__ = ["Dataset", "available", "load", "table_file"]
