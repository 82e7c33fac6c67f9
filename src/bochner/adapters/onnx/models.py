"""The graphs of fitted models: a function for each class, found by the class."""

from functools import singledispatch
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from bochner._base.arrays import Array
from bochner.adapters.onnx.graph import Graph
from bochner.features.transformer import FourierFeatures
from bochner.gaussian_process.number_likelihoods import LocationLikelihood
from bochner.learned.learned_kernel_regressor import LearnedRegression
from bochner.learned.similarity_features import SimilarityFeatures
from bochner.linear.krein_ridge import KreinRidge
from bochner.linear.krein_ridge_classifier import KreinRidgeClassifier
from bochner.linear.ridge_head import frequencies_alone
from bochner.linear.ridge_posterior import RidgePosterior
from bochner.linear.softmax_weights import UNIFORM, SoftmaxWeights
from bochner.spectral.frequencies import Frequencies

EXPORTED = (
    "FourierFeatures, SimilarityFeatures, Frequencies, KreinRidge, KreinRidgeClassifier, the mean "
    "of LearnedKernelRegressor and LocallyStationaryRegressor, and a Pipeline of these after "
    "StandardScaler"
)


@singledispatch
def add_outputs(model: BaseEstimator, graph: Graph, X: str, return_std: bool) -> None:
    """Add the outputs of a fitted model for the rows ``X`` to a graph."""
    check_exported(model)


def check_exported(model: BaseEstimator) -> None:
    """Raise ``TypeError`` for a model without outputs, or a pipeline with another step."""
    if add_outputs.dispatch(type(model)) is add_outputs.dispatch(object):
        raise TypeError(
            f"{type(model).__name__} cannot be exported to ONNX. Exported are: {EXPORTED}."
        )
    *steps, last = steps_of(model)
    for step in steps:
        if transformed.dispatch(type(step)) is transformed.dispatch(object):
            _refuse_step(step)
    if last is not model:
        check_exported(last)


@singledispatch
def transformed(step: object, graph: Graph, X: str) -> tuple[str, int]:
    """Return the output of a pipeline step for rows, and its number of columns."""
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
    width, right_columns = len(step.signature_), step._others()
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
    """Return the variances (n, t) of new observations."""
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
    # Products with a single number near one are left out by onnxruntime, hence one for each class,
    # and the share of equal probabilities as what it changes.
    weights = np.full(len(labels), softmax.weights[0])
    logits = graph("Add", graph("Mul", values, weights), softmax.biases)
    share = graph("Softmax", logits, axis=1)
    towards = graph("Mul", graph("Sub", np.asarray(1.0 / len(labels)), share), np.asarray(UNIFORM))
    probabilities = graph("Add", share, towards)
    graph.output("probabilities", probabilities, labels.shape)


def _labels(classes: Any, graph: Graph) -> Any:
    """Convert labels to an ONNX type: 64-bit integers, texts, numbers or booleans."""
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
    if not isinstance(draws.law, LocationLikelihood):
        raise ValueError(
            f"The mean of counts is no sum of waves: {type(model).__name__} is exported to ONNX "
            f"with the likelihoods of numbers only."
        )
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
    """Return the steps of a pipeline that do something, or a model as its only step."""
    if not isinstance(model, Pipeline):
        return [model]
    return [step for _, step in model.steps if step not in (None, "passthrough")]


def _without_std(model: BaseEstimator, return_std: bool) -> None:
    if return_std:
        raise ValueError(
            f"return_std=True exports the standard deviation of KreinRidge; that of "
            f"{type(model).__name__} is not exported. Use return_std=False."
        )
