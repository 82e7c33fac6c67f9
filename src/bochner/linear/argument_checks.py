"""Validation of rows, weights, alpha and kernels that users pass to estimators."""

import os
from collections.abc import Callable, Iterable, Sized
from inspect import signature
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import _check_sample_weight

from bochner._base.arrays import FLOATS, Array, ArrayLike, MatrixLike, as_finite_scalar, as_scale
from bochner._base.checks import check_rows_given, check_weights, labels, not_numbers, refuse_masked
from bochner.engines.collected import Collected
from bochner.engines.partition_rows import Check as CheckedPart
from bochner.engines.partition_rows import PartitionedRows
from bochner.features.chunks import NO_ROWS, ArrayChunks, Chunk, RowChunks, StreamChunks
from bochner.features.parameters import (
    KERNEL_CHECKS,
    AnyKernel,
    check_each,
    length_scale_check,
    one_of,
)
from bochner.features.parameters import Check as ParameterCheck
from bochner.features.transformer import OUTPUTS, FourierFeatures
from bochner.kernels import Kernel
from bochner.spectral.frequencies import Frequencies

Check = Callable[[Any, Any, Any, bool], Chunk]
"""Function that validates rows, targets and weights, and is told whether they are the first."""

_WHY = (
    "This model uses the features of one argument only. Phases cancel in their products, and it "
    "would learn with another kernel"
)
_ASSOCIATED = "; or associated=True, which learns with Z Z' as it is"


def check_one_spread(return_std: object, return_cov: object) -> None:
    """Raise ``ValueError`` if both standard deviations and covariances are requested."""
    if return_std and return_cov:
        raise ValueError(
            "return_std and return_cov are both true; ask for one of them. The standard deviations "
            "are the roots of the covariances' diagonal."
        )


def _is_stream(X: object, y: ArrayLike | None) -> bool:
    """Return whether ``X`` is an iterable of chunks instead of an array, and ``y`` is ``None``."""
    array_like = any(hasattr(X, name) for name in ("shape", "__array__", "__dataframe__"))
    if y is not None or array_like or not isinstance(X, Iterable):
        return False
    return not isinstance(X, list | tuple) or bool(X and isinstance(X[0], tuple))


def row_chunks(
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    check: Check,
    *,
    numeric: bool = True,
) -> RowChunks:
    """Return the rows passed to ``fit`` as chunks, which are validated when they are read."""
    _refuse_unread(X)
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        from bochner.engines.dask import collect

        return collect(X, y, sample_weight, numeric=numeric).validated(check)
    if isinstance(X, PartitionedRows):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "Targets and weights of PartitionedRows are in the partitions: pass fit(rows), "
                "without y and sample_weight."
            )
        read = CheckedPart(X.split, numeric)
        return Collected.of(X.executor, X.parts, read).validated(check)
    if not _is_stream(X, y):
        return ArrayChunks(check(X, y, sample_weight, True))
    if sample_weight is not None:
        raise ValueError("Pass the weights of chunks in each chunk: (X, y, sample_weight).")
    is_first = True

    def checked(raw_chunk: object) -> Chunk | None:
        nonlocal is_first
        parts = _unpacked(raw_chunk)
        if _is_empty(parts):
            return None
        chunk = check(*parts, is_first)
        is_first = False
        return chunk

    return StreamChunks(X, checked)


def first_rows(
    X: object,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    check: Check,
    forgetting: float,
    *,
    numeric: bool = True,
) -> RowChunks:
    """Return the rows of a first batch; if ``forgetting`` is below one, older rows weigh less."""
    if forgetting < 1.0:
        return ArrayChunks(check(X, y, sample_weight, True).aged(forgetting))
    return row_chunks(X, y, sample_weight, check, numeric=numeric)


def labels_of(rows: RowChunks, X: Any) -> NDArray[np.generic]:
    """Return the sorted labels of all rows, which takes one pass over a stream ``X``."""
    if isinstance(rows, ArrayChunks):
        return np.unique(rows.head.y)
    if isinstance(rows, Collected):
        return rows.labels()
    if not rows.is_repeatable:
        raise ValueError(
            "An iterator of chunks cannot be read a second time for the classes. Pass a list of "
            "chunks, or an object whose __iter__ restarts; or call partial_fit with classes."
        )
    labels_of_chunks = [
        np.unique(labels(parts[1])) for parts in map(_unpacked, X) if not _is_empty(parts)
    ]
    if not labels_of_chunks:
        raise ValueError(NO_ROWS)
    return np.unique(np.concatenate(labels_of_chunks))


def _unpacked(raw_chunk: object) -> tuple[Any, Any, Any]:
    if not (isinstance(raw_chunk, tuple) and len(raw_chunk) in (2, 3)):
        raise ValueError(
            "A chunk must be a tuple (X, y) or (X, y, sample_weight), got an object of type "
            f"{type(raw_chunk).__name__}."
        )
    X, y, *weight = raw_chunk
    return X, y, weight[0] if weight else None


def _is_empty(parts: tuple[Any, Any, Any]) -> bool:
    """Return whether rows, targets and weights all have length zero."""

    def has_none(part: object) -> bool:
        shape = getattr(part, "shape", None)
        if shape is not None:
            return len(shape) > 0 and shape[0] == 0
        return isinstance(part, Sized) and len(part) == 0

    X, y, weight = parts
    return has_none(X) and has_none(y) and (weight is None or has_none(weight))


def _refuse_unread(X: object) -> None:
    """Raise TypeError if ``X`` is a path or a function instead of rows."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(
            f"X is the path {os.fspath(X)!r:.60}, and rows were expected: read the file into an "
            f"array or a table, or pass chunks (X, y), such as those of pandas.read_csv(path, "
            f"chunksize=...)."
        )
    if callable(X) and not isinstance(X, Iterable):
        raise TypeError(
            "X is a function, and rows were expected; call it and pass the array, or the chunks "
            "(X, y), that it returns."
        )


def checked_weight(sample_weight: ArrayLike | None, X: Any) -> Array | None:
    """Return weights of shape (n,), or ``None``; raise ValueError for invalid weights."""
    if sample_weight is None:
        return None
    refuse_masked("sample_weight", sample_weight)
    with np.errstate(over="ignore", invalid="ignore"):
        if foreign_entries := not_numbers(sample_weight):
            raise ValueError(f"sample_weight must hold numbers, got {foreign_entries}. Convert it.")
        _check_number_of_weights(sample_weight, X.shape[0])
        weight: Array = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    check_weights(weight)
    return weight


def _check_number_of_weights(of_rows: Any, n_rows: int) -> None:
    """Raise ValueError unless there are as many sample weights as rows."""
    # Of other objects, which only promise to become arrays, scikit-learn's check reads the shape.
    is_sequence = isinstance(of_rows, list | tuple | np.ndarray) or hasattr(of_rows, "iloc")
    if is_sequence and np.ndim(of_rows) == 1 and len(of_rows) != n_rows:
        raise ValueError(
            f"sample_weight must have an entry for each of the {n_rows} rows, got {len(of_rows)}."
        )


def checked_forgetting(forgetting: object) -> float:
    """Return the validated forgetting factor in (0, 1] for the weights of earlier rows."""
    factor = as_finite_scalar("forgetting", forgetting)
    if not 0.0 < factor <= 1.0:
        raise ValueError(
            f"forgetting must be greater than zero and at most one, such as 0.999, got {factor}."
        )
    return factor


def checked_alpha(alpha: object) -> float | None:
    """Return ``alpha`` as a positive float, or ``None`` for ``"evidence"``."""
    if isinstance(alpha, str) and alpha == "evidence":
        return None
    if not isinstance(alpha, Real) or not 0.0 < alpha < np.inf:  # type: ignore[operator]
        raise ValueError(f"alpha must be a positive number or 'evidence', got {alpha!r:.60}.")
    return as_scale("alpha", alpha)


def features_check(*length_scales: str) -> ParameterCheck:
    """Return the check of a model's ``features``, which may use these names of length scales."""
    checks = {
        **KERNEL_CHECKS,
        "output": one_of(OUTPUTS),
        "length_scale": length_scale_check(*length_scales),
    }

    def check(name: str, features: object) -> None:
        if features is None:
            return
        if not isinstance(features, FourierFeatures):
            raise TypeError(f"{name} must be FourierFeatures(...) or None, got {features!r:.60}.")
        check_each(features, checks)
        if (features.output, features.dtype, features.random_state) != ("left", None, None):
            raise ValueError(
                f"{name} must leave output, dtype and random_state at their defaults: the model "
                f"chooses them, and has a random_state."
            )

    return check


_DRAWING = ("scheme", "weights", "decomposition", "masses")
"""Names of the parameters of features that control how frequencies are drawn."""

_DEFAULTS = {name: p.default for name, p in signature(FourierFeatures).parameters.items()}
"""Default values of the parameters of features, by name."""


def described_features(model: Any) -> SimpleNamespace:
    """Return a model's parameters of features, from ``features`` or from their short form."""
    names = [name for name in ("kernel", "n_components", "length_scale") if hasattr(model, name)]
    values = {name: getattr(model, name) for name in names}
    if model.features is None:
        return SimpleNamespace(**_DEFAULTS | values)
    for name, value in values.items():
        if not isinstance(value, str | Integral) or value != getattr(type(model), name):
            raise ValueError(
                f"features={model.features!r:.60} and {name}={value!r:.60} are both given: move "
                f"{name} into FourierFeatures({name}=...)."
            )
    return SimpleNamespace(**model.features.get_params(deep=False))


def drawing_options(features: SimpleNamespace) -> dict[str, Any]:
    """Return the parameters of features that control how frequencies are drawn."""
    return {name: getattr(features, name) for name in _DRAWING}


def checked_right(right: object, name: str = "right", *, dim: int | None = None) -> Any:
    """Return the rows of the right argument as a finite float array or CSR matrix (n, ``dim``)."""
    rows = check_rows_given(right, name, accept_sparse="csr", dtype=FLOATS)
    if dim is not None and rows.shape[1] != dim:
        raise ValueError(
            f"{name} has {rows.shape[1]} columns; the rows of the right argument had {dim} in fit."
        )
    return rows


def refuse_asymmetric(kernel: AnyKernel, *, associated: bool = True) -> None:
    """Raise ``ValueError`` for an asymmetric kernel object; functions are not checked."""
    if not isinstance(kernel, Kernel) or kernel.is_symmetric:
        return
    raise ValueError(
        f"{kernel!r:.60} is asymmetric: k(x, y) and k(y, x) may differ. {_WHY}. Use "
        f"AsymmetricKernelRidge(kernel); or kernel.symmetrised, if the order of the arguments does "
        f"not matter; for a Stationary whose function is even, set symmetric=True"
        f"{_ASSOCIATED if associated else ''}."
    )


def refuse_two_sided(kernel: AnyKernel, frequencies: Frequencies) -> None:
    """Raise ``ValueError`` if the left and right features of the kernel differ."""
    if frequencies.is_symmetric:
        return
    if isinstance(kernel, Kernel):
        raise ValueError(
            f"{kernel!r:.60} has different features for its two arguments. {_WHY}. Use "
            f"AsymmetricKernelRidge(kernel), or fit weights to its values alone: "
            f"FourierFeatures(kernel.__call__, weights='least_squares'){_ASSOCIATED}."
        )
    raise ValueError(
        f"The function {kernel!r:.60} is not symmetric on these data. {_WHY}. Use "
        f"AsymmetricKernelRidge with the same features; or a function that returns "
        f"(kernel(X, Y) + kernel(Y, X).T) / 2, if the order of the arguments does not matter"
        f"{_ASSOCIATED}."
    )


class LabelledClassifier(ClassifierMixin):
    """A classifier for labels of any single type, including booleans in object arrays."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return the accuracy of the predicted labels of rows (n, d) with labels ``y`` (n,).

        Rows are weighted by ``sample_weight`` (n,). Raises ValueError or TypeError for labels that
        ``fit`` would refuse.
        """
        return float(super().score(X, labels(y), sample_weight))
