"""Two mixtures of Gaussians over frequencies, learned from the similarities of a few rows."""
