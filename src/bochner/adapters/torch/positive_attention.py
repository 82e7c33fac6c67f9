"""Attention with positive features as a torch module."""

# Annotations stay text: the documentation is built with a stand-in for torch.
from __future__ import annotations

from dataclasses import fields

import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from bochner.adapters.torch.inputs import check_inputs
from bochner.features.positive_features import PositiveFeatures
from bochner.spectral.positive_measure import PositiveFrequencies


class PositiveAttention(nn.Module):
    r"""Attention in time and memory linear in queries and keys, with positive features.

    .. math:: \sum_j \hat k(q_i, k_j)\, v_j \Big/ \sum_j \hat k(q_i, k_j), \qquad
              \hat k(q, k) \approx e^{\langle q, k \rangle / T}

    The layer approximates ``torch.nn.functional.scaled_dot_product_attention`` without a mask if
    the temperature T of the features is the square root of the width of queries. In float64 it
    equals :meth:`bochner.PositiveFeatures.attention`. Gradients are propagated to queries, keys and
    values; the features are fixed.

    Parameters
    ----------
    model : fitted PositiveFeatures, or PositiveFrequencies
        Fitted model of the attention kernel. Fit one model to the queries and keys of each head,
        because features are adapted to them.
    dtype, device : default=None
        Type and place of the buffers; ``None`` means torch's default.

    Raises
    ------
    TypeError
        If the model is of another class.
    NotFittedError
        If it is not fitted.

    References
    ----------
    As for :class:`bochner.PositiveFeatures`.

    Examples
    --------
    >>> import torch
    >>> from bochner import PositiveFeatures
    >>> from bochner.adapters.torch import PositiveAttention
    >>> queries, keys, values = torch.randn(3, 2, 100, 4)  # Two sequences of 100 rows
    >>> features = PositiveFeatures(64, temperature=2.0, random_state=0)
    >>> attention = PositiveAttention(features.fit(queries[0], right=keys[0]))
    >>> attention(queries, keys, values).shape
    torch.Size([2, 100, 4])
    """

    def __init__(
        self,
        model: PositiveFeatures | PositiveFrequencies,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(model, PositiveFeatures):
            check_is_fitted(model)
            model = model.frequencies_
        if not isinstance(model, PositiveFrequencies):
            raise TypeError(
                f"model must be a fitted PositiveFeatures or PositiveFrequencies, got {model!r}."
            )
        self.n_components = model.n_features
        for field in fields(model):
            values = torch.tensor(
                getattr(model, field.name), dtype=dtype or torch.get_default_dtype(), device=device
            )
            self.register_buffer(field.name, values)

    def forward(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """Return the averages (..., n, t) of values (..., n2, t).

        Queries have shape (..., n, d) and keys (..., n2, d2). Raises ValueError or TypeError if
        shapes or types do not match.
        """
        left = self._logs("queries", queries, self.left, self.centre_left, self.centre_right)
        right = self._logs("keys", keys, self.right, self.centre_right, self.centre_left)
        if values.ndim < 2 or values.shape[-2] != keys.shape[-2]:
            raise ValueError(
                f"values must have one row for each of {keys.shape[-2]} keys, got shape "
                f"{tuple(values.shape)}."
            )
        of_features = right.softmax(dim=-2).mT @ values
        return (left + right.logsumexp(dim=-2, keepdim=True)).softmax(dim=-1) @ of_features

    def extra_repr(self) -> str:
        """Return the settings that ``repr`` shows."""
        return f"{self.left.shape[0]}, {self.n_components}"

    def _logs(
        self,
        name: str,
        x: torch.Tensor,
        matrix: torch.Tensor,
        shift: torch.Tensor,
        other_shift: torch.Tensor,
    ) -> torch.Tensor:
        """Return the logarithms (..., n, m) of features of rows (..., n, d)."""
        check_inputs(x, matrix.mT, name)
        if x.ndim < 2:
            raise ValueError(
                f"{name} must have shape (..., n, {len(matrix)}), got {len(x)} numbers."
            )
        mapped = x @ matrix
        u = mapped - shift
        of_row = mapped @ other_shift - 0.5 * (shift @ other_shift) - 0.5 * u.square().sum(dim=-1)
        return u @ self.omega.mT + of_row[..., None] + 0.5 * self.log_weight
