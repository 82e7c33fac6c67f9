"""Features as torch modules; install torch with the extra ``torch``.

>>> from bochner.adapters.torch import FourierLayer, PositiveAttention  # doctest: +SKIP
"""

# Annotations are not evaluated, because the documentation mocks torch.
from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import nn

from bochner._base.arrays import Array, LengthScale, RandomState, as_count, as_positive
from bochner.features.parameters import AnyKernel
from bochner.features.positive_features import PositiveFeatures
from bochner.features.transformer import FourierFeatures
from bochner.linear.ridge_head import RidgeHead, frequencies_alone
from bochner.spectral.feature_factors import Amplitudes, CosineFactors, separated
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.positive_measure import PositiveFrequencies
from bochner.spectral.schemes import Scheme


def check_inputs(x: torch.Tensor, omega: torch.Tensor, name: str = "inputs") -> None:
    """Raise TypeError or ValueError unless inputs match omega's dtype and number of columns."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(x).__name__}; use torch.as_tensor.")
    if x.dtype != omega.dtype:
        raise TypeError(
            f"{name} are {x.dtype}, but the layer is {omega.dtype}: convert either with .to(...)."
        )
    if x.ndim == 0 or x.shape[-1] != omega.shape[-1]:
        raise ValueError(f"{name} must have shape (..., {omega.shape[-1]}), got {tuple(x.shape)}.")


__all__ = ["TRAINABLE", "FourierLayer", "PositiveAttention"]

TRAINABLE = {
    "frequencies": ("omega", "nu"),
    "length_scale": ("log_scale",),
    "amplitudes": ("amplitude",),
}
"""Names of the torch parameters, by the names that ``trainable`` accepts."""


class FourierLayer(nn.Module):
    r"""Random Fourier features :math:`z(x)` of a kernel, with fixed or trainable frequencies.

    The feature map of :class:`bochner.Frequencies`, with inputs divided by a length scale:

    .. math:: z(x) = [r_j \cos(\omega_j \cdot (x / \ell) + \theta_j)]_j \,\|\,
                     [r_j \sin(\omega_j \cdot (x / \ell) + \theta_j)]_j,
              \qquad z(x)^\top J\, z(y) \approx k(x / \ell, y / \ell),

    with the diagonal ``signature`` of ``J``. The length scales :math:`\ell`, one per input, are
    relative to the length scales of the kernel, and are initialised to one. In float64 the features
    equal the features of :class:`bochner.FourierFeatures` with the same parameters and integer
    seed.

    Parameters
    ----------
    kernel : Kernel or str
        Kernel whose frequencies do not depend on data. For other kernels, make the layer from a
        fitted model by :meth:`from_model`.
    in_features : int
        Number of inputs, ``d``.
    n_components : int, default=512
        Number of features, even.
    length_scale : float or sequence of d floats, default=1.0
        Length scale of a kernel given by name.
    scheme : str or Scheme, default="auto"
        As in :class:`bochner.FourierFeatures`.
    trainable : str or collection of str, default=()
        Arrays that are parameters instead of buffers: ``"frequencies"`` (``omega``, and ``nu`` of
        the right argument if it differs), ``"length_scale"`` (``log_scale``, :math:`\log \ell`) and
        ``"amplitudes"`` (``amplitude``, r).
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies; ``None`` draws one from torch's generator, so that
        ``torch.manual_seed`` makes layers reproducible.
    dtype, device : default=None
        Type and place of parameters and buffers; ``None`` means torch's default. In float32 an
        angle has an error of about 1e-7 times its size.

    Attributes
    ----------
    signature : Tensor of shape (n_components,)
        Signs of the features, all ones for a positive definite kernel.

    Raises
    ------
    TypeError, ValueError
        If a parameter is out of range, or the kernel's frequencies depend on data.

    Examples
    --------
    >>> import torch
    >>> from bochner.adapters.torch import FourierLayer
    >>> layer = FourierLayer("matern52", 3, 256, trainable="length_scale", random_state=0)
    >>> model = torch.nn.Sequential(layer, torch.nn.Linear(256, 1))
    >>> model(torch.randn(10, 3)).shape
    torch.Size([10, 1])
    """

    def __init__(
        self,
        kernel: AnyKernel | str,
        in_features: int,
        n_components: int = 512,
        *,
        length_scale: LengthScale = 1.0,
        scheme: str | Scheme = "auto",
        trainable: str | Collection[str] = (),
        random_state: RandomState = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        if random_state is None:
            random_state = int(torch.randint(2**31 - 1, ()))
        features = FourierFeatures(
            kernel,
            n_components,
            scheme=scheme,
            length_scale=as_positive("length_scale", length_scale),
            random_state=random_state,
        )
        # A row that is valid for every kernel; it only determines the number of inputs.
        features.fit(np.eye(1, as_count("in_features", in_features)))
        if features.predicted_error_ is not None or features.max_error_ != 0.0:
            raise ValueError(
                f"The frequencies of {features.kernel_!r} depend on how far the data reach. Use "
                f"FourierLayer.from_model(bochner.FourierFeatures(kernel, n_components).fit(X))."
            )
        self._store(features.frequencies_, trainable, dtype, device)

    @classmethod
    def from_model(
        cls,
        model: BaseEstimator,
        *,
        trainable: str | Collection[str] = (),
        dtype: torch.dtype | None = None,
        device: object = None,
    ) -> Self:
        """Return a layer that computes the left features of a fitted model.

        Parameters
        ----------
        model : Frequencies, or a fitted estimator with ``frequencies_``
            Such as :class:`bochner.FourierFeatures` or :class:`bochner.KreinRidge`.
        trainable, dtype, device
            As for the class.

        Raises
        ------
        TypeError
            If the model has no frequencies.
        ValueError
            If the model also has features of landmarks, which a layer cannot compute.
        """
        is_head = isinstance(model, RidgeHead) and hasattr(model, "frequencies_")
        frequencies = frequencies_alone(model) if is_head else getattr(model, "frequencies_", model)
        if not isinstance(frequencies, Frequencies):
            raise TypeError(
                f"model must be Frequencies, or a fitted model with frequencies_ such as "
                f"FourierFeatures and KreinRidge, got {model!r:.60}."
            )
        layer = cls.__new__(cls)
        layer._store(frequencies, trainable, dtype, device)
        return layer

    def _store(
        self,
        frequencies: Frequencies,
        trainable: str | Collection[str],
        dtype: torch.dtype | None,
        device: torch.device | str | None,
    ) -> None:
        super().__init__()
        self.in_features, self.in_features_right = frequencies.dim, frequencies.dim_right
        self.n_components = 2 * frequencies.n_frequencies
        self.trainable = _checked_names(trainable)
        learned = {name for group in self.trainable for name in TRAINABLE[group]}
        for name, values in _numbers(frequencies).items():
            tensor = None
            if values is not None:
                tensor = torch.tensor(
                    values, dtype=dtype or torch.get_default_dtype(), device=device
                )
            if name in learned and tensor is not None:
                self.register_parameter(name, nn.Parameter(tensor))
            else:
                self.register_buffer(name, tensor)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the left features (..., n_components) of inputs (..., d).

        Raises ValueError or TypeError if the number or type of the inputs differs from the layer's.
        """
        return self._features(x, self.omega, self.phase, self.envelope_left)

    def right(self, y: torch.Tensor) -> torch.Tensor:
        """Return the right features (..., n_components), equal to ``forward`` if symmetric."""
        omega = self.omega if self.nu is None else self.nu
        return self._features(y, omega, None, self.envelope_right)

    def gram(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        """Return the approximate Gram matrices (..., n, n2); ``y=None`` means ``x``."""
        return (self(x) * self.signature) @ self.right(x if y is None else y).mT

    def extra_repr(self) -> str:
        """Return the arguments shown by ``repr``."""
        return f"{self.in_features}, {self.n_components}, trainable={self.trainable}"

    def _features(
        self, x: torch.Tensor, omega: torch.Tensor, phase: torch.Tensor | None, envelope_map: object
    ) -> torch.Tensor:
        check_inputs(x, omega)
        # Left and right arguments with different numbers of inputs have no common length scale.
        if self.log_scale is not None:
            x = x * torch.exp(-self.log_scale)
        angle = x @ omega.mT
        if phase is not None:
            angle = angle + phase
        radius = self.amplitude
        if self.envelope_rate is not None:
            mapped = x if envelope_map is None else x @ envelope_map
            depth = self.envelope_square - mapped.square().sum(dim=-1, keepdim=True)
            # The minimum selects the formula for inputs inside or outside the sphere.
            exponent = torch.minimum(-self.envelope_rate * depth, self.envelope_decay * depth)
            radius = radius * torch.exp(exponent)
        if self.modulation_half is not None:
            radius = radius * torch.cos(x @ self.modulation_half.mT + self.modulation_phase)
        if self.amplitude_window is not None:
            lag = x @ self.amplitude_window - self.amplitude_centre
            waves = torch.cos(x @ self.amplitude_mu + self.amplitude_phase)
            radius = radius * torch.exp(lag.square() @ self.amplitude_decay)
            radius = radius * (waves @ self.amplitude_sums)
        return torch.cat((radius * torch.cos(angle), radius * torch.sin(angle)), dim=-1)


_AMPLITUDES = tuple(
    f"amplitude_{name}" for name in ("window", "centre", "decay", "mu", "phase", "sums")
)
"""Names of the buffers that hold the results of ``Amplitudes.matrices``."""


def _numbers(frequencies: Frequencies) -> dict[str, Array | None]:
    """Return the arrays of a layer by name; ``None`` for arrays that its features do not use."""
    envelope, modulation = separated(frequencies.factor)
    if envelope is not None and len(envelope.groups) > 1:
        raise NotImplementedError(
            "Sums of kernels of inner products on different columns have no single layer; make one "
            "of each kernel, and concatenate their features."
        )
    waves = modulation if isinstance(modulation, CosineFactors) else None
    matrices = modulation.matrices() if isinstance(modulation, Amplitudes) else 6 * (None,)
    amplitudes = dict(zip(_AMPLITUDES, matrices, strict=True))
    same_inputs = frequencies.dim == frequencies.dim_right
    return {
        "omega": frequencies.omega,
        "nu": None if frequencies.nu_blocks is None else frequencies.nu,
        "phase": frequencies.phase,
        "amplitude": np.sqrt(np.abs(frequencies.weight)),
        "signature": frequencies.signature,
        "log_scale": np.zeros(frequencies.dim) if same_inputs else None,
        "envelope_rate": None if envelope is None else envelope.rate,
        "envelope_decay": None if envelope is None else envelope.decay,
        "envelope_square": None if envelope is None else envelope.radius**2,
        "envelope_left": None if envelope is None else envelope.left,
        "envelope_right": None if envelope is None else envelope.right,
        "modulation_half": None if waves is None else 0.5 * waves.v,
        "modulation_phase": None if waves is None else waves.phase,
        **amplitudes,
    }


def _checked_names(trainable: str | Collection[str]) -> tuple[str, ...]:
    names = (trainable,) if isinstance(trainable, str) else trainable
    if not isinstance(names, Collection) or any(name not in TRAINABLE for name in names):
        raise ValueError(
            f"trainable must be one or more of {', '.join(map(repr, TRAINABLE))}, got "
            f"{trainable!r:.60}."
        )
    return tuple(names)


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
        If the model is not fitted.

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
                f"model must be fitted PositiveFeatures or PositiveFrequencies, got {model!r:.60}."
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
        """Return attention outputs (..., n, t), weighted averages of values (..., n2, t).

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
        """Return the arguments shown by ``repr``."""
        return f"{self.left.shape[0]}, {self.n_components}"

    def _logs(
        self,
        name: str,
        x: torch.Tensor,
        matrix: torch.Tensor,
        shift: torch.Tensor,
        other_shift: torch.Tensor,
    ) -> torch.Tensor:
        """Return the logarithms (..., n, m) of the positive features of rows (..., n, d)."""
        check_inputs(x, matrix.mT, name)
        if x.ndim < 2:
            raise ValueError(
                f"{name} must have shape (..., n, {len(matrix)}), got {len(x)} numbers."
            )
        mapped = x @ matrix
        u = mapped - shift
        of_row = mapped @ other_shift - 0.5 * (shift @ other_shift) - 0.5 * u.square().sum(dim=-1)
        return u @ self.omega.mT + of_row[..., None] + 0.5 * self.log_weight
