"""Inputs of torch modules, checked."""

# Annotations stay text: the documentation is built with a stand-in for torch.
from __future__ import annotations

import torch


def check_inputs(x: torch.Tensor, omega: torch.Tensor, name: str = "inputs") -> None:
    """Raise TypeError or ValueError unless inputs are a tensor of the type and width of omega."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(x).__name__}; use torch.as_tensor.")
    if x.dtype != omega.dtype:
        raise TypeError(
            f"{name} are {x.dtype}, but the layer is {omega.dtype}: convert either with .to(...)."
        )
    if x.ndim == 0 or x.shape[-1] != omega.shape[-1]:
        raise ValueError(f"{name} must have shape (..., {omega.shape[-1]}), got {tuple(x.shape)}.")
