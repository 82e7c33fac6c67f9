"""Ridge regression on features: posteriors, solvers and predictions of left-out rows."""
