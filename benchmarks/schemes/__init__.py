"""Sampling schemes, and other ways to choose frequencies that are measured next to them."""
