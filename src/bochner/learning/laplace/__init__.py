"""The Laplace approximation for any likelihood, and the choice of its parameters."""
