"""Learning from data: posteriors, evidence and the choice of kernels."""
