"""Ridge regressions as BoTorch models; install the dependencies with the extra ``botorch``.

>>> from bochner.adapters.botorch import FeatureModel  # doctest: +SKIP
"""

# Annotations are not evaluated, because the documentation mocks torch.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from botorch.models.model import Model
from botorch.posteriors import GPyTorchPosterior
from gpytorch.distributions import MultitaskMultivariateNormal, MultivariateNormal
from linear_operator import to_linear_operator
from sklearn.utils.validation import check_is_fitted

from bochner.adapters.torch import FourierLayer
from bochner.linear.krein_ridge import KreinRidge
from bochner.linear.ridge_posterior import RidgePosterior

__all__ = ["FeatureModel"]


class FeatureModel(Model):
    r"""The Gaussian process of a fitted :class:`bochner.KreinRidge`, for acquisition functions.

    With features :math:`\phi(x) = (z(x), 1)`, check features included, functions are
    :math:`f_t = \phi^\top \beta_t`, :math:`\beta_t \sim N(M_t, R_t R_t^\top)`, independent between
    targets. Posteriors are joint over the points of a batch, have gradients, and cost
    :math:`O(p^2)` per point for any number of training rows. More observations update ``M`` and
    ``R`` exactly, with unchanged noise variances :math:`\sigma_t^2`.

    Parameters
    ----------
    model : KreinRidge
        Fitted model with predictive standard deviations: its kernel is positive definite or
        ``associated=True``, and its solver ``"cholesky"``.
    dtype, device : default=torch.float64 and None
        Type and place of the buffers; BoTorch recommends float64.

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
    >>> from bochner.adapters.botorch import FeatureModel
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
            raise TypeError(f"model must be a fitted KreinRidge, got {model!r:.60}.")
        check_is_fitted(model, "posterior_")
        posterior = model.posterior_
        if not isinstance(posterior, RidgePosterior):
            raise ValueError(
                f"The model has no predictive standard deviation. {posterior.limitation}"
            )
        law = posterior.law
        # Convert weights of centred features to weights of (z, 1), the intercept last.
        sizes = np.sqrt(law.noise_variance), np.sqrt(law.prior_variance)
        weights = [
            size[:, None, None] * root
            for size, root in zip(sizes, (law.noise_root, law.prior_root), strict=True)
        ]
        slopes = np.concatenate(weights, axis=2)
        constants = -np.einsum("j,tjr->tr", law.centre, slopes)
        n_targets, n_features, n_roots = slopes.shape
        root = np.zeros((n_targets, n_features + 1, n_roots + 1))
        root[:, :-1, :-1], root[:, -1, :-1] = slopes, constants
        root[:, -1, -1] = sizes[0] * law.intercept_variance**0.5
        mean = np.vstack((law.coef, np.reshape(model.intercept_, (1, -1))))
        tensors = (
            torch.tensor(values, dtype=dtype, device=device)
            for values in (mean, root, law.noise_variance)
        )
        waves = FourierLayer.from_model(model, dtype=dtype, device=device)
        if model.checks_ is not None:
            joint = model.frequencies_ + model.checks_
            waves = FourierLayer.from_model(joint, dtype=dtype, device=device)
        self._store(waves, *tensors)

    def _store(
        self, layer: FourierLayer, mean: torch.Tensor, root: torch.Tensor, noise: torch.Tensor
    ) -> None:
        super().__init__()
        self.layer = layer
        self.register_buffer("mean", mean)  # (..., p + 1, t)
        self.register_buffer("root", root)  # (..., t, p + 1, r)
        self.register_buffer("noise_variance", noise)  # (t,)

    @property
    def num_outputs(self) -> int:
        """Number of targets."""
        return int(self.noise_variance.shape[0])

    @property
    def batch_shape(self) -> torch.Size:
        """Batch shape of the model, which ``condition_on_observations`` may extend."""
        return self.mean.shape[:-2]

    def posterior(
        self,
        X: torch.Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | torch.Tensor = False,
        posterior_transform: Any = None,
    ) -> Any:
        """Return the joint posterior of the targets at points ``X`` (..., q, d).

        Parameters
        ----------
        X : Tensor of shape (..., q, d)
        output_indices : list of int, default=None
            Targets; ``None`` means all.
        observation_noise : bool or Tensor of shape (..., q, n_targets), default=False
            Whether to add the noise variance, or the variances to add.
        posterior_transform : callable, default=None
            Function that is applied to the posterior before it is returned.
        """
        features = self._features(X)
        means, half = features @ self.mean, features.unsqueeze(-3) @ self.root
        targets = range(self.num_outputs) if output_indices is None else output_indices
        each = []
        for target in targets:
            variance = self.noise_variance[target]
            covariance = half[..., target, :, :] @ half[..., target, :, :].mT
            if isinstance(observation_noise, torch.Tensor):
                covariance = covariance + torch.diag_embed(observation_noise[..., target])
            elif observation_noise:
                covariance = covariance + variance * torch.eye(X.shape[-2]).to(covariance)
            # A linear operator computes its root only when needed, with jitter for repeated points.
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
        r"""Return a model conditioned on more observations.

        With :math:`H = \Phi R` and :math:`L L^\top = \sigma^2 I + H H^\top`, the mean moves by
        :math:`R H^\top (L L^\top)^{-1} (Y - \Phi M)`, and the root becomes
        :math:`R (I - H^\top L^{-\top} (L + \sigma I)^{-1} H)` (Andrews, "A square root formulation
        of the Kalman covariance equations", 1968).

        Parameters
        ----------
        X, Y : Tensors of shapes (..., q, d) and (..., q, n_targets)
            Points and noisy values at them; leading dimensions become those of the model.
        **kwargs
            Ignored, because the noise of the model is used.
        """
        features = self._features(X)
        H = features.unsqueeze(-3) @ self.root  # (..., t, q, r)
        eye = torch.eye(H.shape[-2]).to(H)
        noise = self.noise_variance[:, None, None] * eye
        lower = torch.linalg.cholesky(noise + H @ H.mT)
        residuals = (Y - features @ self.mean).mT.unsqueeze(-1)
        change = torch.cholesky_solve(residuals, lower)
        shrunk = torch.linalg.solve_triangular(lower + noise.sqrt(), H, upper=False)
        shrunk = torch.linalg.solve_triangular(lower.mT, shrunk, upper=True)
        gain = self.root @ H.mT
        updated = FeatureModel.__new__(FeatureModel)
        mean = self.mean + (gain @ change).squeeze(-1).mT
        updated._store(self.layer, mean, self.root - gain @ shrunk, self.noise_variance)
        return updated

    def fantasize(
        self,
        X: torch.Tensor,
        sampler: Callable[[GPyTorchPosterior], torch.Tensor],
        observation_noise: torch.Tensor | None = None,
        **kwargs: object,
    ) -> FeatureModel:
        """Return a model conditioned on posterior samples of observations at ``X`` (..., q, d).

        ``sampler`` is a sampler of BoTorch; its sample shape is put in front of the batch shape of
        the model. ``observation_noise`` are noise variances; ``None`` means the model's.
        """
        noise = True if observation_noise is None else observation_noise
        return self.condition_on_observations(
            X, sampler(self.posterior(X, observation_noise=noise)), **kwargs
        )

    def _features(self, X: torch.Tensor) -> torch.Tensor:
        features = self.layer(X)
        return torch.cat((features, torch.ones_like(features[..., :1])), dim=-1)
