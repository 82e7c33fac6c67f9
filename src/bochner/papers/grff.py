"""Generalised random Fourier features."""
