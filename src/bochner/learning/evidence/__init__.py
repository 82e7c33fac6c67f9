"""The evidence of kernel parameters and its gradient, with the searches that maximise it."""
