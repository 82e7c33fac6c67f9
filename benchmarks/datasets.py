"""Data sets of the benchmarks: bundled with scikit-learn or the library, or ``.npz`` files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from bochner import datasets as bundled
from bochner._base.arrays import Array

Task = Literal["regression", "classification"]

# Integers are labels if they have at most this many different values: years, counts and ids of many
# rows have more. Twice takes ages in years for labels, half takes numbered states for amounts.
_MAX_CLASSES = 50

# Rows that each value must have on average, so that a class has two in each of five folds.
_MIN_MEAN_CLASS_SIZE = 10

_LAYOUTS = (("X", "y"), ("X_train", "y_train"))
_SKLEARN: Mapping[str, Task] = {
    "diabetes": "regression",
    "breast_cancer": "classification",
    "wine": "classification",
    "iris": "classification",
    "digits": "classification",
}


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of inputs and one target."""

    name: str
    X: Array  # (n, d)
    y: NDArray[Any]  # (n,): float64 for a regression; labels, as the source has them, for classes
    task: Task
    feature_names: tuple[str, ...] = ()  # d names; empty means x0, x1, …
    target_name: str = "target"
    X_test: Array | None = None
    y_test: NDArray[Any] | None = None
    categorical: tuple[bool, ...] = ()  # d; empty means that no column has codes

    def __post_init__(self) -> None:
        d = self.X.shape[1]
        names = self.feature_names or tuple(f"x{i}" for i in range(d))
        object.__setattr__(self, "feature_names", names)
        if len(self.X) != len(self.y) or len(names) != d or len(self.categorical) not in (0, d):
            raise ValueError(f"The arrays of the data set {self.name!r} do not fit together.")

    def to_frame(self) -> pd.DataFrame:
        """Return the features, then the target; whole-numbered codes are integers."""
        coded = (*(self.categorical or (False,) * self.X.shape[1]), self.task == "classification")
        names = (*self.feature_names, self.target_name)
        columns = zip(names, (*self.X.T, self.y), coded, strict=True)
        return pd.DataFrame({name: _readable(x, is_code) for name, x, is_code in columns})


def load(name: str, folder: Path | None = None) -> Dataset:
    """Return ``NAME.npz`` of a folder, or else a data set of scikit-learn or of the library."""
    path = folder / f"{name}.npz" if folder is not None else None
    if path is not None and path.is_file():
        return read_npz(path)
    if name in bundled.available():
        table = bundled.load(name)
        return Dataset(name, table.X, table.y, "regression", table.feature_names, table.target_name)
    if name in _SKLEARN:
        options = {"scaled": False} if name == "diabetes" else {}
        bunch = getattr(sklearn_datasets, f"load_{name}")(**options)
        y = bunch.target if _SKLEARN[name] == "classification" else bunch.target.astype(float)
        features = tuple(map(str, bunch.feature_names))
        return Dataset(name, np.asarray(bunch.data, dtype=float), y, _SKLEARN[name], features)
    raise ValueError(
        f"There is no data set {name!r}: put {name}.npz into a folder, and give it with --data."
    )


def read_npz(path: Path) -> Dataset:
    """Return the data set in a file of arrays.

    It has ``X`` (n, d) and ``y`` (n,), or ``X_train``, ``y_train``, ``X_test`` and ``y_test``, and
    may have ``feature_names``, ``is_categorical`` (d,), ``class_names``, ``target_name`` and
    ``task``.
    """
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    layout = next((names for names in _LAYOUTS if set(names) <= set(arrays)), None)
    if layout is None:
        raise ValueError(f"{path} must hold X and y, or X_train and y_train.")
    X, y = (arrays[name] for name in layout)
    task = str(arrays["task"]) if "task" in arrays else infer_task(y)
    task = "classification" if "class_names" in arrays else task
    kind = np.float64 if task == "regression" else None
    return Dataset(
        path.stem,
        X.astype(np.float64),
        y.astype(kind or y.dtype),
        "regression" if task == "regression" else "classification",
        tuple(map(str, arrays.get("feature_names", ()))),
        str(arrays.get("target_name", "target")),
        arrays["X_test"].astype(np.float64) if "X_test" in arrays else None,
        arrays["y_test"].astype(kind or arrays["y_test"].dtype) if "y_test" in arrays else None,
        tuple(map(bool, arrays.get("is_categorical", ()))),
    )


def infer_task(y: NDArray[Any]) -> Task:
    """Return "classification" for text, booleans and integers with few, repeated values."""
    if y.dtype.kind in "USb":
        return "classification"
    most = min(_MAX_CLASSES, len(y) // _MIN_MEAN_CLASS_SIZE)
    is_label = y.dtype.kind in "iu" and len(np.unique(y)) <= most
    return "classification" if is_label else "regression"


@dataclass(frozen=True, slots=True, eq=False)
class SpectralDraw:
    """A function drawn from a process whose spectrum is a Gaussian mixture."""

    dataset: Dataset  # Inputs, and the target with noise
    f: Array  # (n,): the target without noise


def make_spectral_mixture(
    X: Array,
    weights: Array,
    means: Array,
    covariances: Array,
    *,
    noise: float,
    n_frequencies: int,
    random_state: int | np.random.Generator,
) -> SpectralDraw:
    r"""Draw :math:`f(x) = \sqrt{W/m} \sum_j a_j \cos(\omega_j x) + b_j \sin(\omega_j x)`.

    Frequencies are from the mixture with weights (Q,), means (Q, d) and full covariances
    (Q, d, d); :math:`a_j, b_j` are standard normal, and :math:`W` is the sum of the weights.
    """
    _, spectrum_rng, values_rng, noise_rng = np.random.default_rng(random_state).spawn(4)
    total = weights.sum()
    component = spectrum_rng.choice(len(weights), size=n_frequencies, p=weights / total)
    eigenvalues, vectors = np.linalg.eigh(covariances)
    factors = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))[:, np.newaxis, :]
    xi = spectrum_rng.standard_normal((n_frequencies, X.shape[1]))
    angles = X @ (means[component] + np.einsum("jik,jk->ji", factors[component], xi)).T
    a, b = values_rng.standard_normal((2, n_frequencies))
    f: Array = np.sqrt(total / n_frequencies) * (np.cos(angles) @ a + np.sin(angles) @ b)
    y = f + noise * noise_rng.standard_normal(len(f))
    return SpectralDraw(Dataset("spectral_mixture", X, y, "regression"), f)


def make_gp_draw(
    n_samples: int, dim: int, *, length_scale: float, noise: float, random_state: int
) -> SpectralDraw:
    """Draw a function with a Gaussian kernel as covariance at rows of the unit cube."""
    inputs_rng = np.random.default_rng(random_state).spawn(1)[0]
    return make_spectral_mixture(
        inputs_rng.random((n_samples, dim)),
        np.ones(1),
        np.zeros((1, dim)),
        np.eye(dim)[np.newaxis] * length_scale**-2,
        noise=noise,
        n_frequencies=1000,  # The law of f is exact; more only makes single draws more Gaussian
        random_state=random_state,
    )


def _readable(column: NDArray[Any], is_code: bool) -> NDArray[Any]:
    """Return codes as integers, and numbers that float32 represents exactly as such."""
    if is_code and column.dtype.kind == "f" and np.array_equal(column, np.trunc(column)):
        return column.astype(np.int64)
    if column.dtype.kind == "f":
        single = column.astype(np.float32)
        return single if np.array_equal(single, column, equal_nan=True) else column
    return column
