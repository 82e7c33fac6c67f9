"""Families of kernels whose parameters the evidence chooses."""
