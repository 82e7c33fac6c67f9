"""Adapters that make models and features usable in other libraries."""
