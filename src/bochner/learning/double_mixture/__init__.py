"""From similarities of few rows to two mixtures of Gaussians over frequencies (DIGMM)."""
