"""Kernels learned from similarities (DIGMM), next to other methods."""
