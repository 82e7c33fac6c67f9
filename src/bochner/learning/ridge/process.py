"""Random features of a positive definite kernel, with its values at landmarks."""

from bochner._numerics.arrays import InputRows
from bochner.features.approximation import Recipe, approximate
from bochner.features.parameters import count_frequencies, generators
from bochner.features.residual import FeatureMap, ResidualFeatures
from bochner.kernels import Kernel


def process_features(
    kernel: Kernel, X: InputRows, n_components: int, n_landmarks: int, seed: int
) -> FeatureMap:
    """Return random features of a kernel without noise, and its values at landmarks among rows.

    Raises ``ValueError`` if the kernel is not positive definite or has no measure.
    """
    draw_rng, data_rng, landmark_rng = generators(seed, 3)
    recipe = Recipe(count_frequencies(n_components))
    frequencies = approximate(kernel, X, recipe, draw_rng, data_rng).frequencies
    if not frequencies.is_symmetric or (frequencies.weight < 0.0).any():
        raise ValueError(
            f"{kernel!r} is not the covariance of a Gaussian process: use a positive definite "
            f"kernel, or bochner.KreinRidge."
        )
    if not n_landmarks:
        return frequencies
    return ResidualFeatures.of(frequencies, kernel, X, n_landmarks, landmark_rng)
