"""Length scales by the gradient of the evidence of features, next to other Gaussian processes."""
