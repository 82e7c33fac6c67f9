"""Features of indefinite kernels, next to other methods."""
