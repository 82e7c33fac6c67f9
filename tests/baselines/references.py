"""What several baselines are compared with."""

import numpy as np


def landmark_weights(absolute, ridge):
    """Return the chances of the first landmark, by rule, from the absolute value of a matrix."""
    eye = np.eye(len(absolute))
    return {
        "uniform": np.ones(len(absolute)),
        "leverage": np.diagonal(absolute @ np.linalg.inv(absolute + ridge * eye)),
        "pivoted": np.diagonal(absolute),
    }


def factor_of(entries, dim, full):
    """Return the factor of a component from its entries: lower triangular, or diagonal."""
    if not full:
        return np.diag(entries)
    M = np.zeros((dim, dim))
    M[np.tril_indices(dim)] = entries
    return M


def slopes(function, theta, step=1e-5):
    """Central differences, with an error of the order of 1e-7 of the largest third derivative."""
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + h) - function(theta - h)) / (2 * step) for h in steps])
