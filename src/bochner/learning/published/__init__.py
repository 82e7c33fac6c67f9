"""Algorithms of the papers as printed, to be compared with."""
