"""Ridge regressions as models of BoTorch: the extra ``botorch`` installs what this module needs.

>>> from bochner.botorch import FeatureModel  # doctest: +SKIP
"""

# Annotations stay text: the documentation is built with a stand-in for torch.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultitaskMultivariateNormal, MultivariateNormal
from linear_operator import to_linear_operator
from sklearn.utils.validation import check_is_fitted

from bochner.estimators.krein_ridge import KreinRidge
from bochner.learning.ridge.posterior import RidgePosterior
from bochner.torch import FourierLayer

__all__ = ["FeatureModel"]


class FeatureModel(Model):
    r"""The Gaussian process of a fitted :class:`bochner.KreinRidge`, for acquisition functions.

    With features :math:`\phi(x) = (z(x), 1)`, functions are :math:`f_t = \phi^\top \beta_t`,
    :math:`\beta_t \sim N(M_t, \sigma_t^2 R R^\top)`, independent between targets. Posteriors are
    joint over the points of a batch, cost :math:`O(p^2)` a point however many rows the model was
    fitted to, and have gradients. More observations change ``M`` and ``R`` exactly, with the noise
    variances :math:`\sigma_t^2` as they are.

    Parameters
    ----------
    model : KreinRidge
        Fitted, with a predictive standard deviation: a positive definite kernel or
        ``associated=True``, and ``solver="cholesky"``.
    dtype, device : default=torch.float64 and None
        BoTorch recommends float64.

    Raises
    ------
    TypeError
        If the model is not a ``KreinRidge``.
    ValueError
        If the model has no predictive standard deviation.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from botorch.acquisition import UpperConfidenceBound
    >>> from botorch.optim import optimize_acqf
    >>> from bochner import KreinRidge
    >>> from bochner.botorch import FeatureModel
    >>> X = np.linspace(0.0, 1.0, 8)[:, None]
    >>> model = KreinRidge(alpha=1e-4, length_scale=0.2, random_state=0)
    >>> model = model.fit(X, np.sin(6.0 * X[:, 0]))
    >>> bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    >>> acquisition = UpperConfidenceBound(FeatureModel(model), beta=1.0)
    >>> x, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=4, raw_samples=16)
    >>> bool(abs(x.item() - np.pi / 12.0) < 0.05)
    True
    """

    def __init__(
        self,
        model: KreinRidge,
        *,
        dtype: torch.dtype = torch.float64,
        device: torch.device | str | None = None,
    ) -> None:
        if not isinstance(model, KreinRidge):
            raise TypeError(f"model must be a fitted KreinRidge, got {model!r}.")
        check_is_fitted(model, "posterior_")
        posterior = model.posterior_
        if not isinstance(posterior, RidgePosterior):
            raise ValueError(
                f"The model has no predictive standard deviation. {posterior.limitation}"
            )
        whitener, centre, coef, noise, intercept = (
            torch.tensor(values, dtype=dtype, device=device)
            for values in (
                posterior.whitener,
                posterior.centre,
                model.coef_.reshape(-1, posterior.coef.shape[0]),
                posterior.noise_variance,
                model.intercept_,
            )
        )
        # (z - c)' W W' (z - c) + v = |R' (z, 1)|^2, with v the variance of the intercept.
        root = torch.zeros(len(centre) + 1, len(centre) + 1, dtype=dtype, device=device)
        root[:-1, :-1], root[-1, :-1] = whitener, -centre @ whitener
        root[-1, -1] = posterior.intercept_variance**0.5
        layer = FourierLayer.from_model(model, dtype=dtype, device=device)
        self._store(layer, torch.cat((coef.mT, intercept.reshape(1, -1))), root, noise)

    def _store(
        self, layer: FourierLayer, mean: torch.Tensor, root: torch.Tensor, noise: torch.Tensor
    ) -> None:
        super().__init__()
        self.layer = layer
        self.register_buffer("mean", mean)  # (..., p + 1, t)
        self.register_buffer("root", root)  # (..., p + 1, p + 1)
        self.register_buffer("noise_variance", noise)  # (t,)

    @property
    def num_outputs(self) -> int:
        """Number of targets."""
        return int(self.noise_variance.shape[0])

    @property
    def batch_shape(self) -> torch.Size:
        """Shape of a batch of models, which observations of several batches make."""
        return self.mean.shape[:-2]

    def posterior(
        self,
        X: torch.Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | torch.Tensor = False,
        posterior_transform: Any = None,
    ) -> Any:
        """Return the joint posterior at points ``X`` (..., q, d).

        Parameters
        ----------
        X : Tensor of shape (..., q, d)
        output_indices : list of int, default=None
            Targets; ``None`` means all.
        observation_noise : bool or Tensor of shape (..., q, n_targets), default=False
            Whether to add the noise variance, or an array of variances to add.
        posterior_transform : callable, default=None
            Applied to the posterior.
        """
        features = self._features(X)
        means, half = features @ self.mean, features @ self.root
        relative = half @ half.mT
        targets = range(self.num_outputs) if output_indices is None else output_indices
        each = []
        for target in targets:
            variance = self.noise_variance[target]
            covariance = variance * relative
            if isinstance(observation_noise, torch.Tensor):
                covariance = covariance + torch.diag_embed(observation_noise[..., target])
            elif observation_noise:
                covariance = covariance + variance * torch.eye(X.shape[-2]).to(covariance)
            # As an operator, whose root is computed when needed, with jitter where points repeat.
            covariance = to_linear_operator(covariance)
            each.append(MultivariateNormal(means[..., target], covariance))
        joint = each[0]
        if len(each) > 1:
            joint = MultitaskMultivariateNormal.from_independent_mvns(each)
        posterior = GPyTorchPosterior(joint)
        return posterior if posterior_transform is None else posterior_transform(posterior)

    def condition_on_observations(
        self, X: torch.Tensor, Y: torch.Tensor, **kwargs: object
    ) -> FeatureModel:
        r"""Return the model with more observations.

        With :math:`H = \Phi R` and :math:`L L^\top = I + H H^\top`, the mean moves by
        :math:`R H^\top (L L^\top)^{-1} (Y - \Phi M)`, and the root becomes
        :math:`R (I - H^\top L^{-\top} (L + I)^{-1} H)` (Andrews, "A square root formulation of
        the Kalman covariance equations", 1968).

        Parameters
        ----------
        X, Y : Tensors of shapes (..., q, d) and (..., q, n_targets)
            Points and noisy values at them; leading dimensions become those of the model.
        **kwargs
            Ignored, because the noise of the model is used.
        """
        features = self._features(X)
        H = features @ self.root
        eye = torch.eye(H.shape[-2]).to(H)
        lower = torch.linalg.cholesky(eye + H @ H.mT)
        change = torch.cholesky_solve(Y - features @ self.mean, lower)
        shrunk = torch.linalg.solve_triangular(lower + eye, H, upper=False)
        shrunk = torch.linalg.solve_triangular(lower.mT, shrunk, upper=True)
        gain = self.root @ H.mT
        updated = FeatureModel.__new__(FeatureModel)
        root = self.root - gain @ shrunk
        updated._store(self.layer, self.mean + gain @ change, root, self.noise_variance)
        return updated

    def fantasize(
        self,
        X: torch.Tensor,
        sampler: Callable[[GPyTorchPosterior], torch.Tensor],
        observation_noise: torch.Tensor | None = None,
        **kwargs: object,
    ) -> FeatureModel:
        """Return the model with observations at ``X`` (..., q, d) drawn from their posterior.

        ``sampler`` is one of BoTorch's; its sample shape comes first in the model's batch shape.
        ``observation_noise`` are variances of the noise, ``None`` means the model's.
        """
        noise = True if observation_noise is None else observation_noise
        return self.condition_on_observations(
            X, sampler(self.posterior(X, observation_noise=noise)), **kwargs
        )

    def _features(self, X: torch.Tensor) -> torch.Tensor:
        features = self.layer(X)
        return torch.cat((features, torch.ones_like(features[..., :1])), dim=-1)
