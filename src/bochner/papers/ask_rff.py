"""Random Fourier features of asymmetric kernels (AsK-RFF)."""
