"""Locally stationary learned kernels (GaBaSR), next to other methods."""
