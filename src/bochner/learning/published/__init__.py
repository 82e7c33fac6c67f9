"""Algorithms as their papers print them, for comparison with the library's own."""
