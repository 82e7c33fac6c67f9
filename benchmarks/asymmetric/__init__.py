"""Features of asymmetric kernels, next to other methods."""
