"""The export of fitted models."""

import os
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import as_flag
from bochner._base.file_writing import as_path, replacing
from bochner.adapters.onnx.graph import Graph
from bochner.adapters.onnx.models import add_outputs, check_exported, steps_of
from bochner.features.parameters import check_dtype
from bochner.spectral.frequencies import Frequencies


def export_onnx(
    model: BaseEstimator,
    path: str | os.PathLike[str] | None = None,
    *,
    return_std: bool = False,
    dtype: DTypeLike | None = "float64",
) -> Any:
    r"""Return a fitted model as an ONNX graph, and write it to a file.

    The graph has one input ``X`` (n, d), of any number of rows, and computes the predictions of the
    model with standard operators (opset 17): matrix products, cosines and sines. Its outputs are
    named

    - ``features`` (n, p) for :class:`bochner.FourierFeatures`, :class:`bochner.SimilarityFeatures`
      and :class:`bochner.Frequencies`,
    - ``mean`` and, with ``return_std``, ``std``, of shape (n,) or (n, t), for
      :class:`bochner.KreinRidge`,
    - ``label`` (n,) and ``probabilities`` (n, n_classes) for :class:`bochner.KreinRidgeClassifier`,
    - ``mean`` (n,) for :class:`bochner.LearnedKernelRegressor` and
      :class:`bochner.LocallyStationaryRegressor`,

    and, for a scikit-learn ``Pipeline`` whose earlier steps are ``StandardScaler`` or
    ``FourierFeatures``, the outputs of its last step.

    Parameters
    ----------
    model : estimator, Pipeline or Frequencies
        Fitted.
    path : str or path-like, default=None
        File to write atomically, usually with the ending ``.onnx``; ``None`` writes no file.
    return_std : bool, default=False
        Whether to add the standard deviations of new observations, noise included. The covariance
        of the weights, :math:`p^2` numbers, is then in the file.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input, the outputs and all computations. With ``"float32"`` the file is half as
        large, and the angle :math:`\omega \cdot x`, hence a feature of amplitude one, has an error
        of about 1e-7 times the sum of the :math:`|\omega_i x_i|`: standardise inputs that are far
        from zero. Predictions multiply this error by their weights.

    Returns
    -------
    graph : onnx.ModelProto

    Raises
    ------
    ImportError
        If the extra ``onnx`` is not installed.
    TypeError
        If the model, a step of a pipeline or the type of the labels cannot be exported.
    ValueError
        If ``return_std`` is true for a model without standard deviations, ``dtype`` is another
        one, or the file would be larger than 2 GiB.
    NotFittedError
        If the model is not fitted.

    Notes
    -----
    A graph does not check its input but for the number of columns: rows outside the domain of a
    kernel, which the model would refuse, get numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import bochner
    >>> X = np.random.default_rng(0).uniform(-3.0, 3.0, size=(200, 2))
    >>> y = np.sin(X[:, 0]) * X[:, 1]
    >>> model = bochner.KreinRidge(alpha=0.01, random_state=0).fit(X, y)
    >>> graph = bochner.export_onnx(model, return_std=True)
    >>> [output.name for output in graph.graph.output]
    ['mean', 'std']
    """
    check_dtype(dtype, is_optional=False)
    check_exported(model)
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    first = steps_of(model)[0]
    width = first.dim if isinstance(first, Frequencies) else first.n_features_in_
    graph = Graph(width, np.dtype(dtype))
    add_outputs(model, graph, graph.rows, as_flag("return_std", return_std))
    exported = graph.model(type(model).__name__, version("bochner"))
    if path is not None:
        with replacing(as_path(path)) as partial:
            partial.write_bytes(exported.SerializeToString())
    return exported
