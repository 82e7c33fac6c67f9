"""Learned kernels (BaNK), next to other methods."""
