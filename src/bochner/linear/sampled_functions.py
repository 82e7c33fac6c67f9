"""Draws of functions and of observations from the posterior of a ridge regression."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bochner._base.arrays import Array, MatrixLike, RandomState, as_count, as_flag
from bochner.features.parameters import generators
from bochner.linear.functions import SampledFunctions


class FunctionDraws(ABC):
    """Sampling methods of models with a posterior over functions and normal noise."""

    noise_variance_: Any

    @abstractmethod
    def _drawn(self, count: int, rng: np.random.Generator) -> SampledFunctions:
        """Return functions drawn from the posterior; ``NotFittedError`` before a fit."""

    def sample_functions(
        self, n_functions: int = 1, random_state: RandomState = None
    ) -> SampledFunctions:
        """Return functions drawn from the posterior, without noise.

        A function is a draw of the weights of the features and of check features. Its value and
        gradient can be computed at every point, in O(p) operations per point. Its values at several
        rows have the covariance of :meth:`predict` without the noise. With ``residual`` the
        function is a draw of the prior plus the exact posterior update at the landmarks (Matheron's
        rule).

        Parameters
        ----------
        n_functions : int, default=1
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        functions : SampledFunctions
            ``functions(X)`` has the shape (n, n_functions) or (n, n_targets, n_functions), and
            ``functions.gradient(X)`` the number of inputs as second axis.

        Raises
        ------
        ValueError
            If the model is in a Krein space or was fitted by conjugate gradients.
        """
        (rng,) = generators(random_state, 1)
        return self._drawn(as_count("n_functions", n_functions), rng)

    def sample_y(
        self,
        X: MatrixLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        *,
        noise: bool = True,
    ) -> Array:
        """Return draws of new observations, jointly at all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0
        noise : bool, default=True
            Whether to draw observations, or the function without noise.

        Returns
        -------
        samples : ndarray of shape (n, n_samples) or (n, n_targets, n_samples)
        """
        function_rng, noise_rng = generators(random_state, 2)
        samples = self._drawn(as_count("n_samples", n_samples), function_rng)(X)
        if as_flag("noise", noise):
            deviation = np.expand_dims(np.sqrt(self.noise_variance_), -1)
            samples += deviation * noise_rng.normal(size=samples.shape)
        return samples
