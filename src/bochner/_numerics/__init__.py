"""Numerical helpers without dependence on kernels or features."""
