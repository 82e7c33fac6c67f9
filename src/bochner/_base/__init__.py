"""Helpers that several subpackages share."""
