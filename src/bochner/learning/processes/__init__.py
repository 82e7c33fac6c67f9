"""Gaussian processes with given kernels: exact for thousands of rows, and close to it beyond."""
