"""What baselines refuse: wrong parameters, named in the message."""

import numpy as np
import pytest

from bochner import baselines, kernels

X = np.random.default_rng(0).normal(size=(60, 4))
REFUSED = {
    baselines.ALaCarteRegressor: [
        ({"n_components": 7}, ValueError, "n_components must be even"),
        ({"n_mixture": 0}, ValueError, "n_mixture must be at least 1"),
        ({"n_starts": 0}, ValueError, "n_starts must be at least 1"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be a positive integer"),
        ({"tol": -1.0}, ValueError, "tol must be finite and zero or more"),
        ({"tol": "small"}, TypeError, "tol must be a number"),
        ({"covariance": "tied"}, ValueError, "covariance must be one of 'auto'"),
    ],
    baselines.MultipleKernelFeatures: [
        ({"kernels": "gaussian"}, ValueError, "kernels must be a sequence"),
        ({"kernels": ()}, ValueError, "kernels must be a sequence"),
        ({"kernels": ("gausian",)}, ValueError, "Did you mean 'gaussian'"),
        ({"kernels": ("ntk",)}, ValueError, "not made from a length scale"),
        ({"length_scales": (1.0, -1.0)}, ValueError, "length_scales must be positive"),
        ({"weights": "best"}, ValueError, "weights must be one of 'alignment', 'uniform'"),
        ({"n_components": 7}, ValueError, "n_components must be even"),
    ],
    baselines.RandomFrequencyClassifier: [
        ({"alpha": 0.0}, ValueError, "alpha must be positive"),
        ({"alpha": "one"}, TypeError, "alpha must be a number"),
        ({"tol": np.nan}, ValueError, "tol must be finite and zero or more"),
        ({"covariance": 1}, ValueError, "covariance must be one of 'auto'"),
    ],
    baselines.SphericalRandomFeatures: [
        ({"kernel": kernels.TL1(1.0)}, ValueError, "not a function of the distance"),
        (
            {"kernel": kernels.Gaussian((1.0, 2.0, 1.0, 2.0))},
            ValueError,
            "not a function of the dist",
        ),
        ({"kernel": lambda z: z[:-1]}, ValueError, "finite values of the shape"),
        ({"kernel": lambda z: z / 0.0 * 0.0}, ValueError, "finite values of the shape"),
        ({"kernel": 3}, TypeError, "kernel must be a Kernel"),
        ({"kernel": "spherical"}, ValueError, "No kernel is called"),
        ({"density": "jordan"}, ValueError, "density must be one of 'clipped', 'mixture'"),
        ({"n_components": 3}, ValueError, "Use 4"),
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"n_gaussians": 2.0}, TypeError, "n_gaussians must be a positive integer"),
        ({"n_starts": 0}, ValueError, "n_starts must be at least 1"),
        ({"radius": -1.0}, ValueError, "radius must be positive"),
        ({"kernel": kernels.NTK(), "radius": 2.0}, ValueError, "unit sphere"),
    ],
    baselines.TensorizedRandomProjection: [
        ({"kernel": kernels.Polynomial(2, -1.0)}, ValueError, "neg"),
        ({"kernel": kernels.NTK()}, TypeError, "polynomial kernel"),
    ],
    baselines.TensorSketch: [
        ({"kernel": kernels.Polynomial(2, -1.0)}, ValueError, "negative constant"),
        ({"kernel": kernels.Gaussian()}, TypeError, "polynomial kernel"),
        ({"n_components": "8"}, TypeError, "n_components must be a positive int"),
    ],
    baselines.RandomMaclaurin: [
        ({"kernel": kernels.Tanh()}, TypeError, "polynomial kernel"),
        ({"kernel": [0.0, 0.0]}, ValueError, "flat sequence of finite coeff"),
        ({"kernel": [[1.0]]}, ValueError, "flat sequence of finite coeff"),
        ({"kernel": [np.nan]}, ValueError, "flat sequence of finite coeff"),
        ({"base": 1.0}, ValueError, "base must be above 1"),
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
    ],
}
NYSTROEM = [
    ({"kernel": 3}, TypeError, "kernel must be a Kernel, a name or a function"),
    ({"kernel": "gausian"}, ValueError, "Did you mean 'gaussian'"),
    ({"kernel": lambda x, y: x @ y[:3].T}, ValueError, r"array of shape \(60, 60\)"),
    ({"kernel": lambda x, y: np.full((len(x), len(y)), np.nan)}, ValueError, "not finite"),
    ({"landmarks": "kmeans"}, ValueError, "landmarks must be one of 'uniform'"),
    ({"ridge": 0.0}, ValueError, "ridge must be positive"),
    ({"tol": "none"}, ValueError, "tol must be 'auto' or a number"),
    ({"tol": 1.0}, ValueError, "tol must be 'auto' or a number"),
    ({"tol": -0.1}, ValueError, "tol must be 'auto' or a number"),
    ({"n_candidates": 0}, ValueError, "n_candidates must be at least 1"),
    ({"n_components": 2.5}, TypeError, "n_components must be a positive integer"),
]
CASES = [
    *((make, *case) for make, cases in REFUSED.items() for case in cases),
    *((baselines.KreinNystroem, *case) for case in NYSTROEM),
    *((baselines.AsymmetricNystroem, *case) for case in NYSTROEM if "ridge" not in case[0]),
]


@pytest.mark.parametrize(("make", "parameters", "error", "message"), CASES)
def test_wrong_parameters_are_refused(make, parameters, error, message):
    with pytest.raises(error, match=message), np.errstate(all="ignore"):
        make(**parameters).fit(X, (X[:, 0] > 0.0).astype(int))
