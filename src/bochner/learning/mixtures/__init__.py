"""Mixtures of Gaussians over frequencies, and their conjugate laws."""
