"""Gaussian processes on features: errors next to the exact ones, and drawn functions at work."""
