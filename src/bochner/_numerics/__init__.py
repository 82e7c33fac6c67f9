"""Pure numerical helpers that know nothing of kernels or features."""
