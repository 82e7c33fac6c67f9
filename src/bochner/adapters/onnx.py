"""Exports fitted models as ONNX graphs, which other runtimes evaluate without Python."""

import os
from functools import singledispatch
from importlib.metadata import version
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, ArrayLike, DTypeLike, as_array, as_flag
from bochner._base.checks import check_dtype
from bochner._base.file_writing import as_path, replacing
from bochner.features.transformer import FourierFeatures
from bochner.learned.learned_kernel_regressor import LearnedRegression
from bochner.learned.similarity_features import SimilarityFeatures
from bochner.linear.krein_ridge import KreinRidge
from bochner.linear.krein_ridge_classifier import KreinRidgeClassifier
from bochner.linear.ridge_head import frequencies_alone
from bochner.linear.ridge_posterior import RidgePosterior
from bochner.linear.softmax_weights import UNIFORM, SoftmaxWeights
from bochner.spectral.feature_factors import Amplitudes, CosineFactors, Envelope, separated
from bochner.spectral.frequencies import Frequencies


def export_onnx(
    model: BaseEstimator,
    path: str | os.PathLike[str] | None = None,
    *,
    return_std: bool = False,
    dtype: DTypeLike | None = "float64",
) -> Any:
    """Return a fitted model as an ONNX graph, and write it to a file.

    The graph has one input ``X`` (n, d), of any number of rows, and computes the predictions of the
    model with standard operators (opset 17): matrix products, cosines and sines.

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

    Parameters
    ----------
    model : estimator, Pipeline or Frequencies
        Fitted model of one of the classes above.
    path : str or path-like, default=None
        File to write atomically, usually with the ending ``.onnx``; ``None`` writes no file.
    return_std : bool, default=False
        Whether to add the standard deviations of new observations, noise included. The covariance
        of the weights, p² numbers, is then in the file.
    dtype : {"float64", "float32"}, default="float64"
        Type of the input, the outputs and all computations. With ``"float32"`` the file is half as
        large, and the angle ω·x, hence a feature of amplitude one, has an error of about 1e-7 times
        the sum of the ``|ωᵢ xᵢ|``: standardise inputs that are far from zero. Predictions multiply
        this error by their weights.

    Returns
    -------
    graph : onnx.ModelProto

    Notes
    -----
    The outputs of the graph are

    - ``features`` (n, p) for :class:`bochner.FourierFeatures`, :class:`bochner.SimilarityFeatures`
      and :class:`bochner.Frequencies`,
    - ``mean`` and, with ``return_std``, ``std``, of shape (n,) or (n, t), for
      :class:`bochner.KreinRidge`,
    - ``label`` (n,) and ``probabilities`` (n, n_classes) for :class:`bochner.KreinRidgeClassifier`,
    - ``mean`` (n,) for :class:`bochner.LearnedKernelRegressor` and
      :class:`bochner.LocallyStationaryRegressor`,

    and, for a scikit-learn ``Pipeline`` whose earlier steps are ``StandardScaler`` or
    ``FourierFeatures``, the outputs of its last step.

    A graph checks only the number of columns of its input: rows outside the domain of a kernel get
    predictions, while the model raises an error.
    """
    check_dtype(dtype, is_optional=False)
    check_exported(model)
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    first = steps_of(model)[0]
    width = first.dim if isinstance(first, Frequencies) else first.n_features_in_
    graph = Graph(width, np.dtype(dtype))
    add_outputs(model, graph, graph.rows, as_flag("return_std", return_std))
    exported = graph.model(type(model).__name__)
    if path is not None:
        with replacing(as_path(path)) as partial:
            partial.write_bytes(exported.SerializeToString())
    return exported


OPSET, _IR = 17, 8
"""Versions of the ONNX operator set and file format, which onnxruntime 1.12 and later support."""

_LARGEST_FILE = 2**31 - 2**20
"""Largest size of all arrays in bytes: a protobuf message is limited to 2 GiB, nodes included."""


class Graph:
    """Builder of an ONNX graph; methods add nodes and return the names of their outputs."""

    rows = "X"

    def __init__(self, n_inputs: int, dtype: DTypeLike) -> None:
        try:
            import onnx
            import onnx.numpy_helper
        except ImportError as error:
            raise ImportError(
                "export_onnx needs the package onnx: pip install 'bochner[onnx]'."
            ) from error
        self._onnx: Any = onnx
        self.dtype = np.dtype(dtype)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._bytes = 0
        self._outputs: list[Any] = []
        self._inputs = [self._described(self.rows, self.dtype, (n_inputs,))]

    def __call__(self, operator: str, *inputs: ArrayLike, **attributes: object) -> str:
        """Add a node, and return the name of its output; arrays among inputs become constants."""
        output = f"{operator.lower()}_{len(self._nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self._nodes.append(self._onnx.helper.make_node(operator, names, [output], **attributes))
        return output

    def output(
        self, name: str, value: str, shape: tuple[int, ...], dtype: DTypeLike | None = None
    ) -> None:
        """Declare a value of shape (n, *shape) as the graph's output ``name``."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._described(name, dtype or self.dtype, shape))

    def model(self, title: str) -> Any:
        """Return the graph as an ``onnx.ModelProto``."""
        if self._bytes > _LARGEST_FILE:
            raise ValueError(
                f"The model has {self._bytes / 2**30:.1f} GiB of numbers, and an ONNX file holds "
                f"less than 2. Use dtype='float32', return_std=False, which leaves out the "
                f"weights' covariance, or fewer n_components."
            )
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, title, self._inputs, self._outputs, initializer=self._constants
        )
        return helper.make_model(
            graph,
            producer_name="bochner",
            producer_version=version("bochner"),
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=_IR,
        )

    def features(self, X: str, frequencies: Frequencies) -> str:
        """Return the left features (n, 2m) of rows ``X`` (n, d), with dense frequency matrices."""
        angle = self("Add", self("MatMul", X, frequencies.omega.T), frequencies.phase)
        waves = self("Concat", self._cosines(angle), self("Sin", angle), axis=1)
        amplitude = np.sqrt(np.abs(frequencies.weight))
        features = self("Mul", waves, np.tile(amplitude, 2))
        for factor in self._factors(X, frequencies):
            features = self("Mul", features, self("Concat", factor, factor, axis=1))
        return features

    def first_columns(self, values: str, count: int) -> str:
        """Return the first ``count`` columns of the value named ``values``."""
        return self("Slice", values, *(np.array([number]) for number in (0, count, 1)))

    def _cosines(self, angle: str) -> str:
        r"""Return the cosines of angles, in float64 as :math:`1 - 2 \sin^2(\theta / 2)`.

        onnxruntime 1.20 supports float64 sines but no float64 cosines.
        """
        if self.dtype == np.float32:
            return self("Cos", angle)
        sine = self("Sin", self("Mul", angle, np.asarray(0.5)))
        return self("Sub", np.asarray(1.0), self("Mul", self("Mul", sine, sine), np.asarray(2.0)))

    def _shifted_cosines(self, angle: str, phase: Array) -> str:
        """Return the cosines of angles (n, m) plus phases (m,), computed as sines in float32.

        For linear kernels the total angle is within 1e-5 of a quarter turn, where a float32 cosine
        has two correct digits, but the sine of the small angle is accurate.
        """
        if self.dtype == np.float64:
            return self._cosines(self("Add", angle, phase))
        turned = np.remainder(phase + 1.5 * np.pi, 2.0 * np.pi) - np.pi
        return self("Sin", self("Add", angle, turned))

    def _factors(self, X: str, frequencies: Frequencies) -> list[str]:
        """Return the factors (n, m) that multiply the cosine and sine features of m frequencies."""
        factors = []
        envelope, waves = separated(frequencies.factor)
        if envelope is not None:
            groups = [self._envelope(X, group) for group in envelope.groups]
            factors.append(groups[0] if len(groups) == 1 else self("Concat", *groups, axis=1))
        if waves is not None:
            factors.append(self._modulation(X, waves))
        return factors

    def _modulation(self, X: str, modulation: CosineFactors | Amplitudes) -> str:
        if isinstance(modulation, CosineFactors):
            return self._shifted_cosines(self("MatMul", X, 0.5 * modulation.v.T), modulation.phase)
        window, centre, decay, mu, phase, sums = modulation.matrices()
        lag = self("Sub", self("MatMul", X, window), centre)
        waves = self._cosines(self("Add", self("MatMul", X, mu), phase))
        inside = self("Exp", self("MatMul", self("Mul", lag, lag), decay))
        return self("Mul", inside, self("MatMul", waves, sums))

    def _envelope(self, X: str, envelope: Envelope) -> str:
        X = X if envelope.left is None else self("MatMul", X, envelope.left)
        norms = self("ReduceSumSquare", X, axes=[1], keepdims=1)
        depth = self("Sub", envelope.radius**2, norms)
        # The minimum selects the formula for rows inside or outside the sphere.
        inside, outside = (self("Mul", depth, rate) for rate in (-envelope.rate, envelope.decay))
        return self("Exp", self("Min", inside, outside))

    def _constant(self, values: object) -> str:
        array = np.asarray(values)
        if array.dtype.kind == "f":
            exact = as_array(array)
            with np.errstate(over="ignore"):
                array = exact.astype(self.dtype)
            if np.isinf(array).any() and not np.isinf(exact).any():
                raise ValueError(
                    f"The model has numbers of size {np.abs(exact).max():.3g}, which overflow "
                    f"{self.dtype}: export it with dtype='float64', or change the unit of y."
                )
            self._bytes += array.nbytes
        name = f"c{len(self._constants)}"
        # C order, because from_array would write a transposed view in memory order.
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(tensor)
        return name

    def _described(self, name: str, dtype: DTypeLike | None, shape: tuple[int, ...]) -> Any:
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, kind, ["n", *shape])


@singledispatch
def add_outputs(model: BaseEstimator, graph: Graph, X: str, return_std: bool) -> None:
    """Add the outputs of a fitted model, for rows named ``X``, to a graph."""
    check_exported(model)


def check_exported(model: BaseEstimator) -> None:
    """Raise ``TypeError`` for a model, or a step of a pipeline, that cannot be exported."""
    if add_outputs.dispatch(type(model)) is add_outputs.dispatch(object):
        raise TypeError(
            f"{type(model).__name__} cannot be exported to ONNX. Exported are: FourierFeatures, "
            "SimilarityFeatures, Frequencies, KreinRidge, KreinRidgeClassifier, the mean of "
            "LearnedKernelRegressor and LocallyStationaryRegressor, and a Pipeline of these after "
            "StandardScaler."
        )
    *steps, last = steps_of(model)
    for step in steps:
        if transformed.dispatch(type(step)) is transformed.dispatch(object):
            _refuse_step(step)
    if last is not model:
        check_exported(last)


@singledispatch
def transformed(step: object, graph: Graph, X: str) -> tuple[str, int]:
    """Return the name of a pipeline step's output, and its number of columns."""
    _refuse_step(step)


def _refuse_step(step: object) -> NoReturn:
    raise TypeError(
        f"{type(step).__name__} cannot be exported to ONNX as a step of a pipeline; use "
        f"StandardScaler, FourierFeatures or SimilarityFeatures, or export the last step alone."
    )


@transformed.register
def _(step: StandardScaler, graph: Graph, X: str) -> tuple[str, int]:
    if step.with_mean:
        X = graph("Sub", X, step.mean_)
    if step.with_std:
        X = graph("Div", X, step.scale_)
    return X, step.n_features_in_


@transformed.register
def _(step: Frequencies, graph: Graph, X: str) -> tuple[str, int]:
    return graph.features(X, step), 2 * step.n_frequencies


@transformed.register
def _(step: SimilarityFeatures, graph: Graph, X: str) -> tuple[str, int]:
    width = len(step.signature_)
    return graph.first_columns(graph.features(X, step.frequencies_), width), width


@transformed.register
def _(step: FourierFeatures, graph: Graph, X: str) -> tuple[str, int]:
    width = len(step.signature_)
    right_columns = step._others() if step.output == "concatenated" else np.empty(0, np.intp)
    features = graph.first_columns(graph.features(X, step.frequencies_), width)
    if len(right_columns):
        right = graph("Gather", graph.features(X, step.frequencies_.right), right_columns, axis=1)
        features = graph("Concat", features, right, axis=1)
    return features, width + len(right_columns)


@add_outputs.register(Frequencies)
@add_outputs.register(SimilarityFeatures)
@add_outputs.register(FourierFeatures)
def _(model: object, graph: Graph, X: str, return_std: bool) -> None:
    _without_std(model, return_std)
    features, width = transformed(model, graph, X)
    graph.output("features", features, (width,))


@add_outputs.register
def _(model: Pipeline, graph: Graph, X: str, return_std: bool) -> None:
    *steps, last = steps_of(model)
    for step in steps:
        X, _ = transformed(step, graph, X)
    add_outputs(last, graph, X, return_std)


@add_outputs.register
def _(model: KreinRidge, graph: Graph, X: str, return_std: bool) -> None:
    Z = graph.features(X, frequencies_alone(model))
    shape = model.coef_.shape[:-1]
    mean = graph("Add", graph("MatMul", Z, model.coef_.T), np.asarray(model.intercept_))
    graph.output("mean", mean, shape)
    if return_std:
        std = graph("Sqrt", _variances(model, graph, X))
        graph.output("std", std if shape else graph("Squeeze", std, np.array([1])), shape)


def _variances(model: KreinRidge, graph: Graph, X: str) -> str:
    """Return the name of the predictive variances (n, t) of new observations of t targets."""
    posterior, waves = model.posterior_, model.frequencies_
    if not isinstance(posterior, RidgePosterior):
        raise ValueError(f"The model has no predictive standard deviation. {posterior.limitation}")
    law = posterior.law
    joint = waves if model.checks_ is None else waves + model.checks_
    Z = graph("Sub", graph.features(X, joint), law.centre)

    def spread(root: Array) -> str:
        return graph("ReduceSumSquare", graph("MatMul", Z, root), axes=[1], keepdims=1)

    relative = graph("Add", spread(law.noise_root), np.asarray(1.0 + law.intercept_variance))
    variances = graph("MatMul", relative, law.noise_variance[None])
    if not law.prior_root.size:
        return variances
    prior = graph("MatMul", spread(law.prior_root), law.prior_variance[None])
    return graph("Add", variances, prior)


@add_outputs.register
def _(model: KreinRidgeClassifier, graph: Graph, X: str, return_std: bool) -> None:
    _without_std(model, return_std)
    labels = _labels(model.classes_, graph)
    Z = graph.features(X, frequencies_alone(model))
    values = graph("Add", graph("MatMul", Z, model.coef_.T), model.intercept_)
    if model.coef_.shape[0] == 1:
        values = graph("Concat", graph("Neg", values), values, axis=1)
    winner = graph("ArgMax", values, axis=1, keepdims=0)
    graph.output("label", graph("Gather", labels, winner, axis=0), (), labels.dtype)
    softmax = model.softmax_ or SoftmaxWeights.plain(len(labels))
    # onnxruntime drops products with a scalar near one, so weights are repeated for each class, and
    # mixing with equal probabilities is written as a correction.
    weights = np.full(len(labels), softmax.weights[0])
    logits = graph("Add", graph("Mul", values, weights), softmax.biases)
    share = graph("Softmax", logits, axis=1)
    towards = graph("Mul", graph("Sub", np.asarray(1.0 / len(labels)), share), np.asarray(UNIFORM))
    probabilities = graph("Add", share, towards)
    graph.output("probabilities", probabilities, labels.shape)


def _labels(classes: Any, graph: Graph) -> Any:
    """Convert class labels to an ONNX type: 64-bit integers, strings, floats or booleans."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(graph.dtype)
    if classes.dtype.kind == "b":
        return classes
    if all(isinstance(label, str) for label in classes):
        return classes.astype(object)
    raise TypeError(
        f"ONNX has labels that are integers, texts, numbers or booleans; the model's are "
        f"{classes[:5].tolist()}. Fit it to one of these."
    )


@add_outputs.register
def _(model: LearnedRegression, graph: Graph, X: str, return_std: bool) -> None:
    _without_std(model, return_std)
    draws, trend = model.learned_[0].draws, model._trend
    X = graph("Div", graph("Sub", X, model._scaling.centre), model._scaling.scale)
    coef, width = draws.coef, 2 * draws.n_waves
    waves = [
        draws.waves(index).summed(coef[index, :width], draws.n_waves**-0.5)
        for index in range(draws.n_draws)
    ]
    if any(wave.decay is not None for wave in waves):
        raise ValueError(
            f"The mean of waves in windows has no graph: {type(model).__name__} is exported to "
            f"ONNX with amplitudes='cosines' only."
        )
    omega = np.concatenate([wave.omega for wave in waves])
    weight = np.concatenate([wave.weight for wave in waves]) / draws.n_draws
    Z = graph.features(X, Frequencies(omega, np.ones(len(omega))))
    unit = model.target_scale_
    mean = graph("MatMul", Z, unit * np.concatenate([weight.real, -weight.imag]))
    fixed = coef[:, width:].mean(axis=0)
    dim = omega.shape[1]
    constant = trend.columns(np.zeros((1, dim))) @ fixed
    mean = graph("Add", mean, model.target_mean_ + unit * constant)
    for power, slopes in enumerate(trend.polynomial(fixed[None], dim)[0], start=1):
        term = graph("MatMul", graph("Pow", X, np.asarray(float(power))), unit * slopes)
        mean = graph("Add", mean, term)
    graph.output("mean", mean, ())


def steps_of(model: BaseEstimator) -> list[BaseEstimator]:
    """Return the steps of a pipeline without "passthrough" steps, or a model as its only step."""
    if not isinstance(model, Pipeline):
        return [model]
    return [step for _, step in model.steps if step not in (None, "passthrough")]


def _without_std(model: BaseEstimator, return_std: bool) -> None:
    if return_std:
        raise ValueError(
            f"return_std=True exports the standard deviation of KreinRidge; that of "
            f"{type(model).__name__} is not exported. Use return_std=False."
        )
