"""What the library computes on small seeded data, written to files and compared with another run.

Run as a script:

    pin.py write FOLDER [--only PATTERN]   arrays.npz and one model file for each estimator
    pin.py compare FOLDER_A FOLDER_B [--only PATTERN]
    pin.py models FOLDER [--only PATTERN]  loads the model files of FOLDER and repeats their answers

It uses public names only, so one script runs on two versions of the library: what must not change
is written with one version and compared with the other. ``PATTERN`` is a regular expression.
"""

import argparse
import contextlib
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from scipy import sparse  # noqa: E402

import bochner  # noqa: E402
import bochner.features  # noqa: E402
from bochner import kernels, papers  # noqa: E402
from bochner.kernels import kernel_names as names  # noqa: E402
from bochner.learned import Chains, ExactInference, LearnedEnvelope  # noqa: E402

TOLERANCE = 1e-10
"""Greatest difference, absolute or relative to the array's largest entry, that passes."""

PAIR_RIDGE = getattr(bochner, "AsymmetricPairRidge", bochner.AsymmetricKernelRidge)
"""The regression on pairs of rows, by the first of its names that the library has."""

RNG = np.random.default_rng(0)
# Few rows, so that all estimators take seconds.
X = RNG.normal(size=(70, 3))
NEW = RNG.normal(size=(11, 3))
RIGHT, NEW_RIGHT = RNG.normal(size=(50, 3)), RNG.normal(size=(9, 3))
# A smooth target with a tenth of noise.
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=70)
# A second target, of another input.
TWO = np.column_stack((Y, np.cos(X[:, 1]) + 0.1 * RNG.normal(size=70)))
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.5, 0.5])]
WEIGHT = RNG.integers(0, 4, size=70).astype(float)
SHORT = {
    "n_frequencies": 8,
    "chains": Chains(n_burn_in=8, n_samples=8, n_chains=1, thin=1),
    "random_state": 3,
}
SCHEMES = ("auto", "orthogonal", "iid", "structured")


@dataclass(frozen=True)
class Case:
    """What makes a fitted estimator or a dictionary of numbers, and the rows it answers for."""

    make: Callable[[], Any]
    rows: Any = None
    right: Any = None


Unit = tuple[str, Case]
Place = Callable[[Any], Any]


def same(rows: Any) -> Any:
    return rows


def sphere(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def bump(z: Any) -> Any:
    return np.where(z < 2.0, (1.0 - z**2 / 4.0) ** 2, 0.0)


def odd(u: Any) -> Any:
    return np.sin(u) + 0.25


def drift(delta: Any) -> Any:
    return np.exp(-np.sum(delta**2, axis=-1)) * (1.0 + 0.5 * np.tanh(np.sum(delta, axis=-1)))


def all_kernels() -> dict[str, tuple[Any, Place]]:
    """Every public kernel in three inputs, and what moves rows to where it is defined."""
    k = kernels
    scale = (0.7, 1.0, 1.6)
    maps = np.random.default_rng(5).normal(size=(2, 3, 2)).round(2).tolist()
    means = [[0.3, -1.0, 0.5], [1.0, 0.2, -0.4]]
    root = np.random.default_rng(6).normal(size=(2, 3, 3))
    full = (root @ root.swapaxes(1, 2) / 3.0 + 0.1 * np.eye(3)).tolist()
    mixture = k.SpectralMixture([0.5, 1.5], means, full)
    anywhere = {
        "gaussian": k.Gaussian(scale),
        "laplacian": k.Laplacian(0.8),
        "laplacian scales": k.Laplacian(scale),
        "exponential": k.Exponential(1.3),
        "matern": k.Matern(scale, nu=1.5),
        "matern 0.8": k.Matern(0.8, nu=0.8),
        "cauchy": k.Cauchy(scale),
        "rational quadratic": k.RationalQuadratic(0.8, alpha=0.7),
        "anova": k.Anova(k.Gaussian(0.8), (0.3, 0.6, 1.0)),
        "anova matern": k.Anova(k.Matern(scale), 0.6),
        "anova without constant": k.Anova(k.Gaussian(0.8), (0.3, 0.4, 0.5), constant=False),
        "mixture": mixture,
        "mixture spherical": k.SpectralMixture([0.5, 1.5], means, [0.4, 1.2]),
        "delta gaussian": k.DeltaGaussian(1.0, 3.0),
        "polynomial": k.Polynomial(3, 0.5),
        "polynomial negative": k.Polynomial(2, -1.0),
        "tanh": k.Tanh(0.4, -0.5),
        "tl1": k.TL1(2.4),
        "radial": k.Radial(bump),
        "dot product": k.DotProduct(odd),
        "shift gaussian": k.ShiftGaussian(scale, (0.3, -0.2, 0.1)),
        "sinh gaussian": k.SinhGaussian(1.2, 0.5),
        "cosh gaussian": k.CoshGaussian(1.2, 0.4),
        "transposed": k.SinhGaussian(1.2, 0.5).T,
        "stationary": k.Stationary(drift),
        "stationary transposed": k.Stationary(drift).T,
        "bilinear": k.Bilinear(k.CoshGaussian(1.5, 0.4), *maps),
        "bilinear one": k.Bilinear(k.Gaussian(), maps[0]),
        "attention": k.Bilinear(k.DotProduct(np.exp), *(0.3 * np.array(maps))),
        "local": k.LocallyStationary(k.Gaussian(2.0), k.Gaussian(scale), (0.3, -0.3, 0.3)),
        "local mixture": k.LocallyStationary(mixture, k.Exponential(3.0), 0.2),
        "sum": k.Gaussian(scale) + 2.0 * k.Exponential(1.5),
        "product": k.Laplacian(2.0) * k.Matern(scale, nu=1.5),
        "signed sum": k.Gaussian(1.0) - 0.6 * k.Gaussian(0.5),
        "signed product": k.Radial(bump) * k.Gaussian(0.8) - k.Polynomial(1),
        "sum with skew": 0.5 * k.ShiftGaussian(0.8, 0.3) + k.SinhGaussian(1.1, 0.3).T,
        "local sum": 0.5 * k.LocallyStationary(k.Gaussian(2.0), k.Gaussian(0.8)) + k.Matern(2.0),
        "scaled": 3.0 * k.Gaussian(0.9),
    }
    on_sphere = {
        "spherical polynomial": k.SphericalPolynomial(2),
        "arc-cosine 0": k.ArcCosine(0),
        "arc-cosine 1": k.ArcCosine(1),
        "ntk": k.NTK(),
        "sphere sum": 0.5 * k.NTK() + k.ArcCosine(1) * k.SphericalPolynomial(2),
    }
    placed_kernels = {name: (kernel, same) for name, kernel in anywhere.items()}
    placed_kernels |= {name: (kernel, sphere) for name, kernel in on_sphere.items()}
    placed_kernels["hellinger"] = k.Hellinger(), np.abs
    return placed_kernels


def frequencies(sampled: Any) -> dict[str, Any]:
    return {
        "omega": np.asarray(sampled.omega),
        "weight": sampled.weight,
        "phase": sampled.phase,
        "nu": np.asarray(sampled.nu),
        "signature": sampled.signature,
        "left": sampled.features(NEW)
        if sampled.dim == 3
        else sampled.features(NEW[:, : sampled.dim]),
        "right": sampled.features_right(NEW_RIGHT[:, : sampled.dim_right]),
    }


def answers(model: Any, rows: Any, right: Any) -> dict[str, Any]:
    """Return everything that a fitted estimator says about given rows."""
    if isinstance(model, kernels.Kernel):
        return values_of(model, rows, right)
    if not hasattr(model, "get_params"):
        return draws_of(model)
    outputs: dict[str, Any] = {}
    if hasattr(model, "predict"):
        outputs["predict"] = model.predict(rows, **({} if right is None else {"right": right}))
        if right is None:
            with contextlib.suppress(TypeError, ValueError, AttributeError):
                outputs["std"] = model.predict(rows, return_std=True)[1]
    for name in ("predict_proba", "decision_function", "transform", "signal_std", "noise_std"):
        if hasattr(model, name):
            outputs[name] = getattr(model, name)(rows)
    if hasattr(model, "transform_right"):
        outputs["transform_right"] = model.transform_right(rows if right is None else right)
    if hasattr(model, "gram"):
        outputs["gram"] = model.gram(rows)
    if hasattr(model, "sample_y") and "std" in outputs:  # A model without a process has no draws
        outputs["sample_y"] = model.sample_y(rows, 3, random_state=1)
        outputs["sample_y without noise"] = model.sample_y(rows, 2, random_state=2, noise=False)
    if hasattr(model, "features") and hasattr(model, "learned_"):
        for draw in ("best", "last"):
            outputs[f"features {draw}"] = model.features(draw).transform(rows)
    return outputs | attributes(model)


def values_of(kernel: Any, rows: Any, right: Any) -> dict[str, Any]:
    return {
        "gram": kernel(rows),
        "cross": kernel(rows, right),
        "diag": kernel.diag(rows),
        "transposed": kernel.T(rows, right),
        "symmetric": np.array(kernel.is_symmetric),
    }


def draws_of(mu: Any) -> dict[str, Any]:
    outputs = {"mass": np.array([mu.mass, mu.total_variation, mu.max_error])}
    for scheme in SCHEMES[1:]:
        try:
            drawn = mu.sample(16, np.random.default_rng(7), scheme)
        except ValueError:  # Laws of independent coordinates have no structured directions.
            continue
        outputs |= {f"{scheme} {key}": value for key, value in frequencies(drawn).items()}
    return outputs


def attributes(model: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in (
        *("alpha_", "coef_", "intercept_", "noise_variance_", "log_evidence_", "n_iter_"),
        *("signature_", "max_error_", "predicted_error_", "fit_error_"),
        *("interactions_", "classes_", "noise_", "sketch_indices_", "n_used_"),
    ):
        try:
            value = getattr(model, name)
        except AttributeError:
            continue
        if value is not None:
            values[name] = np.asarray(value)
    kernel = getattr(model, "kernel_", None)
    dim = getattr(model, "n_features_in_", None)
    if isinstance(kernel, kernels.Kernel) and dim in (1, 2, 3):
        try:
            values["kernel_"] = kernel(NEW[:, :dim])
        except ValueError:  # The rows are not in the kernel's domain.
            values["kernel_"] = kernel(sphere(np.abs(NEW[:, :dim])))
    relevance = getattr(model, "relevance_", None)
    if relevance is not None:
        values["inclusion"], values["importance"] = relevance.inclusion, relevance.importance
    if hasattr(model, "learned_") and hasattr(model, "trace_"):
        traces = model.trace_ if isinstance(model.trace_, list) else [model.trace_]
        for index, trace in enumerate(traces):
            for name in sorted(trace.records.keys() - {"seconds"}):
                values[f"trace {index} {name}"] = trace.records[name]
        values["convergence"] = np.array(
            [[c.rhat_predictions, c.ess_predictions] for c in model.convergence_]
        )
    return values


def measure(kernel: Any, place: Place, decomposition: str) -> Any:
    rows = place(X[:20])
    distances = np.linalg.norm(rows[:, None] - rows, axis=-1).ravel()
    try:
        return bochner.spectral_measure(kernel, 3, decomposition=decomposition)
    except (TypeError, ValueError, NotImplementedError):
        return bochner.spectral_measure(kernel, 3, distances, 32, decomposition=decomposition)


def kernel_units() -> Iterator[Unit]:
    for name, (kernel, place) in all_kernels().items():
        yield f"kernel/{name}", Case(lambda k=kernel: k, place(X), place(NEW_RIGHT))
        for way in ("auto", "jordan"):
            yield f"measure/{name}/{way}", Case(partial(measure, kernel, place, way))


def features(
    kernel: Any, place: Place = same, rows: Any = (X, NEW), right: Any = None, **parameters: Any
) -> Case:
    model = bochner.FourierFeatures(kernel, 32, **{"random_state": 1} | parameters)
    fit_options = {} if right is None else {"right": right}
    return Case(lambda: model.fit(place(rows[0]), **fit_options), place(rows[1]))


def feature_units() -> Iterator[Unit]:
    signed = kernels.Gaussian(1.0) - 0.6 * kernels.Gaussian(0.5)
    skew = kernels.SinhGaussian(1.2, 0.5)
    for name, (kernel, place) in all_kernels().items():
        yield f"features/{name}", features(kernel, place)
        yield f"features/{name}/least squares", features(kernel, place, weights="least_squares")
        if not kernel.is_symmetric:
            yield f"features/{name}/concatenated", features(kernel, place, output="concatenated")
    for name in names.NAMED_KERNELS:
        yield f"features/name {name}", features(name)
    for name in names.KERNELS_BY_DIMENSION:
        by_name = sphere if name in ("ntk", "spherical_polynomial") or "arccos" in name else np.abs
        yield f"features/name {name}", features(name, by_name)
    for scheme in SCHEMES:
        for name, kernel in (("", "matern52"), (" signed", signed), (" skew", skew)):
            yield f"features/scheme {scheme}{name}", features(kernel, scheme=scheme)
    for way, masses in product(("auto", "designed", "polar", "jordan"), ("exact", "least_squares")):
        for name, kernel in (("signed", signed), ("skew", skew)):
            case = features(kernel, decomposition=way, masses=masses)
            yield f"features/{name} {way} {masses}", case
    local = kernels.LocallyStationary(kernels.Gaussian(2.0), kernels.Gaussian(0.9))
    yield "features/pairs", features(local)
    single = (X.astype(np.float32), NEW.astype(np.float32))
    thin = tuple(sparse.random(n, 3, 0.5, "csr", rng=np.random.default_rng(n)) for n in (60, 9))
    wide = tuple(np.random.default_rng(n).normal(size=(n, 300)) for n in (40, 7))
    further_cases = {
        "float32": features("gaussian", rows=single),
        "dtype": features("gaussian", dtype="float32"),
        "sparse": features("gaussian", rows=thin),
        "sparse skew": features(skew, rows=thin),
        "sparse polynomial": features("polynomial", rows=thin),
        "function": features(lambda A, B: np.exp(-np.abs(A @ B.T)), weights="least_squares"),
        "wide": features("gaussian", rows=wide),
        "wide structured": features("gaussian", rows=wide, scheme="structured"),
        "length scales": features("cauchy", length_scale=(0.5, 1.0, 2.0)),
        "right rows": replace(features(skew, right=RIGHT), right=NEW_RIGHT),
        "narrow right rows": Case(narrow_answers),
    }
    for name, case in further_cases.items():
        yield f"features/{name}", case


def narrow_answers() -> dict[str, Any]:
    maps = (np.random.default_rng(seed).normal(size=(8 - seed, 2)) for seed in (5, 6))
    kernel = kernels.Bilinear(kernels.Gaussian(2.0), *maps)
    model = bochner.FourierFeatures(kernel, 32, random_state=1).fit(X, right=RIGHT[:, :2])
    right = NEW_RIGHT[:, :2]
    outputs = {"left": model.transform(NEW), "right": model.transform_right(right)}
    return outputs | {"gram": model.gram(NEW, right)}


RIDGES: dict[str, dict[str, Any]] = {
    "plain": {},
    "intercept": {"fit_intercept": True},
    "evidence": {"alpha": "evidence"},
    "evidence of scales": {"alpha": "evidence", "length_scale": "evidence"},
    "signed": {"kernel": kernels.DeltaGaussian(1.0, 3.0)},
    "signed evidence": {"kernel": kernels.DeltaGaussian(1.0, 3.0), "alpha": "evidence"},
    "signed associated": {"kernel": kernels.DeltaGaussian(1.0, 3.0), "associated": True},
    "skew associated": {"kernel": kernels.SinhGaussian(1.2, 0.5), "associated": True},
    "jordan": {"kernel": kernels.DeltaGaussian(1.0, 3.0), "decomposition": "jordan"},
    "designed": {"kernel": kernels.TL1(2.4)},
    "gradients": {"solver": "cg", "tol": 1e-10, "alpha": 1e-3},
    "signed gradients": {"solver": "cg", "kernel": kernels.DeltaGaussian(1.0, 3.0), "tol": 1e-10},
    "least squares": {"weights": "least_squares"},
    "local": {
        "kernel": kernels.LocallyStationary(kernels.Gaussian(2.0), kernels.Gaussian(0.9)),
        "pairs": "grid",
    },
    "memory": {"memory_limit": "60MiB"},
    "many columns": {"n_components": 160},
}


def chunked(y: Any, weight: Any = None) -> list[Any]:
    cuts = (slice(0, 30), slice(30, 31), slice(31, 70))
    columns = (X, y) if weight is None else (X, y, weight)
    return [tuple(column[part] for column in columns) for part in cuts]


def dask_rows(*columns: Any) -> list[Any]:
    import dask.array as da

    return [da.from_array(c, chunks=(25,) if c.ndim == 1 else (25, c.shape[1])) for c in columns]


def described(kind: Any, parameters: dict[str, Any]) -> Any:
    """A model with parameters of features and of solvers where this version takes them."""
    own = kind().get_params(deep=False)
    if "features" not in own or not (others := parameters.keys() - own.keys()):
        return kind(**parameters)
    if solver := {name: parameters[name] for name in ("tol", "memory_limit") if name in others}:
        from bochner.linear.solver_plan import RidgeSolver

        parameters |= {"solver": RidgeSolver(parameters.get("solver", "auto"), **solver)}
    if of_features := others - solver.keys():
        names = of_features | {"kernel", "n_components", "length_scale"} & own.keys()
        features = {name: parameters.get(name, own.get(name)) for name in names}
        parameters |= {"features": bochner.FourierFeatures(**features)}
        parameters = {name: value for name, value in parameters.items() if name not in names}
    return kind(**{name: value for name, value in parameters.items() if name in own})


def given(kind: Any, parameters: dict[str, Any], y: Any, weight: Any, how: str) -> Any:
    """Fit a ridge to the rows as they come, in the way that is named."""
    model = described(kind, {"n_components": 48, "random_state": 1} | parameters)
    if how == "chunks":
        return model.fit(chunked(y, weight))
    if how == "dask":
        return model.fit(*dask_rows(*((X, y) if weight is None else (X, y, weight))))
    if how == "partial":
        class_options = {"classes": np.unique(y)} if hasattr(model, "predict_proba") else {}
        for rows, target, *weights in chunked(y, weight):
            weight_options = {"sample_weight": weights[0]} if weights else {}
            model.partial_fit(rows, target, **weight_options, **class_options)
            class_options = {}
        return model
    if how == "float32":
        return model.fit(X.astype(np.float32), y, weight)
    thin = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    return model.fit(thin if how == "sparse" else X, y, weight)


def ridge(kind: Any, parameters: dict[str, Any], y: Any, weight: Any = None, how: str = "") -> Case:
    return Case(partial(given, kind, parameters, y, weight, how), NEW)


def ridge_units() -> Iterator[Unit]:
    regress = partial(ridge, bochner.KreinRidge)
    classify = partial(ridge, bochner.KreinRidgeClassifier)
    for name, parameters in RIDGES.items():
        yield f"ridge/{name}", regress(parameters, Y)
        yield f"ridge/{name} weights", regress(parameters, Y, WEIGHT)
        yield f"ridge/{name} two targets", regress(parameters, TWO)
        yield f"ridge classes/{name}", classify(parameters, LABELS)
        yield f"ridge classes/{name} weights", classify(parameters, LABELS == "low", WEIGHT)
    for how in ("chunks", "dask", "partial", "float32", "sparse"):
        for name in ("plain", "intercept", "evidence", "signed", "gradients"):
            if (how, name) != ("partial", "gradients"):
                yield f"ridge/{name} {how}", regress(RIDGES[name], Y, None, how)
                yield f"ridge/{name} {how} weights", regress(RIDGES[name], TWO, WEIGHT, how)
                yield f"ridge classes/{name} {how}", classify(RIDGES[name], LABELS, WEIGHT, how)
    rows = np.random.default_rng(9).normal(size=(20_000, 3))
    target = np.sin(rows[:, 0]) + 0.1 * np.random.default_rng(10).normal(size=len(rows))
    many = bochner.KreinRidge(n_components=64, random_state=1)
    single = bochner.KreinRidge(n_components=64, alpha=50.0, random_state=1)
    yield "ridge/many rows", Case(lambda: many.fit(rows, target), NEW)
    narrow = rows.astype(np.float32)
    yield "ridge/many rows of float32", Case(lambda: single.fit(narrow, target), NEW)


def asymmetric_units() -> Iterator[Unit]:
    skew = kernels.ShiftGaussian(1.5, shift=(0.7, -0.4, 0.2))

    def rows(y: Any, weight: Any = None, **parameters: Any) -> Case:
        some = {"n_components": 32, "random_state": 1} | parameters
        return Case(
            lambda: described(bochner.AsymmetricKernelRidge, {"kernel": skew} | some).fit(
                X, y, weight
            ),
            NEW,
        )

    t = np.sin(X[:50, 0] - RIGHT[:, 1])

    def pairs(
        weight: Any = None, left: Any = X[:50], right: Any = RIGHT, t: Any = t, **parameters: Any
    ) -> Case:
        some = {"n_components": 16, "random_state": 1} | parameters
        make = lambda: described(PAIR_RIDGE, {"kernel": skew} | some).fit(  # noqa: E731
            left, t, right=right, sample_weight=weight
        )
        return Case(make, NEW[:9], NEW_RIGHT)

    left, right = np.random.default_rng(11).normal(size=(2, 2500, 3))
    yield from {
        "asymmetric ridge/rows": rows(Y),
        "asymmetric ridge/weights": rows(TWO, WEIGHT, fit_intercept=True),
        "asymmetric ridge/evidence": rows(Y, alpha="evidence"),
        "asymmetric ridge/jordan": rows(Y, decomposition="jordan", masses="least_squares"),
        "asymmetric ridge/pairs": pairs(),
        "asymmetric ridge/pairs weights": pairs(WEIGHT[:50]),
        "asymmetric ridge/pairs evidence": pairs(alpha="evidence"),
        "asymmetric ridge/pairs intercept": pairs(fit_intercept=True),
        "asymmetric ridge/many pairs": pairs(None, left, right, np.sin(left[:, 0] - right[:, 1])),
    }.items()


R, C, G, H = (
    "LearnedKernelRegressor",
    "LearnedKernelClassifier",
    "LocallyStationaryRegressor",
    "LocallyStationaryClassifier",
)
LOW = LABELS == "low"
SPARSE, DENSE, MH, HMC = (
    {"structure": "sparse"},
    {"structure": "dense"},
    {"sampler": papers.bank.SAMPLER},
    {"structure": "dense", "sampler": "hmc"},
)
FEW_WAVES = {"envelope": LearnedEnvelope(n_shared=2)}
PRINTED = {"sampler": papers.gabasr.sampler(2)}
CHAINS: dict[str, tuple[str, dict[str, Any], Any, Any]] = {
    "sparse": (R, SPARSE | {"trend": 1}, Y, None),
    "sparse pcn weights": (R, SPARSE | {"sampler": "pcn"}, Y, WEIGHT),
    "dense": (R, DENSE, Y, None),
    "dense trend weights": (R, DENSE | {"trend": 2}, Y, WEIGHT / 7),
    "auto": (R, {}, Y, None),
    "hamiltonian": (R, HMC, Y, None),
    "float32": (R, DENSE | {"dtype": "float32"}, Y, None),
    "sparse hamiltonian": (R, HMC | SPARSE, Y, WEIGHT),
    "independence": (R, MH | {"chains": Chains(8, 8, 1, thin=2)}, Y, None),
    "independence trend": (R, MH | {"trend": 1}, Y, WEIGHT),
    "two chains": (R, SPARSE | {"chains": Chains(8, 8, 2, thin=1)}, Y, None),
    "thinned": (R, DENSE | {"chains": Chains(8, 8, 1)}, Y, None),
    "one input": (R, {"trend": 1}, Y, None),
    "two classes": (C, SPARSE, LOW, None),
    "two classes dense": (C, DENSE, LOW, WEIGHT),
    "classes hamiltonian": (C, HMC, LOW, None),
    "joint pairs": (C, MH, LOW, None),
    "joint pairs trend": (C, MH | {"trend": 1}, LOW, None),
    "three classes": (C, DENSE | {"trend": 1}, LABELS, None),
    "three classes sparse": (C, SPARSE, LABELS, WEIGHT),
    "three classes pairs": (C, MH, LABELS, None),
    "varying noise": (G, SPARSE | {"trend": 1}, Y, None),
    "varying noise dense": (G, DENSE, Y, WEIGHT / 7),
    "grid": (G, DENSE | FEW_WAVES | {"trend": 1}, Y, None),
    "constant envelope": (G, SPARSE | {"envelope": "constant"}, Y, None),
    "modulated hamiltonian": (G, HMC, Y, None),
    "paper's regression": (G, PRINTED, Y, None),
    "modulated classes": (H, DENSE | FEW_WAVES, LOW, None),
    "modulated three classes": (H, SPARSE, LABELS, None),
    "modulated pairs": (H, PRINTED, LABELS, None),
    "paper's classes": (H, PRINTED, LOW, None),
    "paper's classes mh": (H, PRINTED, LABELS, WEIGHT),
}


def chain(name: str) -> Case:
    kind, parameters, y, weight = CHAINS[name]
    rows, new = (X[:, :1], NEW[:, :1]) if name == "one input" else (X, NEW)
    columns = (rows, y) if weight is None else (rows, y, weight)

    def fit() -> Any:
        model = getattr(bochner, kind)(**SHORT | parameters)
        return model.fit(*columns)

    return Case(fit, new)


def forecast() -> Any:
    t = np.linspace(0.0, 8.0, 90)
    y = t + np.sin(2.0 * np.pi * t) + 0.1 * np.random.default_rng(0).normal(size=90)
    return bochner.Forecaster(random_state=0).fit(y, times=t)


def chain_units() -> Iterator[Unit]:
    yield from ((f"chain/{name}", chain(name)) for name in CHAINS)
    yield "forecaster", Case(forecast, np.array([8.25, 9.0, 11.0]))


def table() -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    rng = np.random.default_rng(3)
    n = 110
    frame = pd.DataFrame(
        {
            "area": rng.uniform(20.0, 200.0, n),
            "kind": rng.choice(["flat", "house", "hut"], n),
            "sold": pd.date_range("2001-01-01", periods=n),
            "new": rng.choice([True, False], n),
            "noise": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "same": 1.0,
        }
    )
    price = 1e5 + 3e3 * frame["area"] + 5e4 * (frame["kind"] == "house") + 1e4 * rng.normal(size=n)
    label = pd.Series(np.array(["cheap", "fair", "dear"])[np.digitize(price, [3e5, 5e5])])
    return frame, price, label


def table_units() -> Iterator[Unit]:
    frame, price, label = table()
    new = frame.iloc[::7].reset_index(drop=True)

    def fit(model: Any, *y: Any) -> Case:
        return Case(lambda: model.fit(frame, *y), new)

    for numeric in ("standardize", "normal_quantile"):
        yield f"table/encoder {numeric}", fit(bochner.TableEncoder(numeric=numeric))
    for kind, y in (("Regressor", price), ("Classifier", label)):
        model = getattr(bochner, f"Table{kind}")(effort="quick", random_state=0)
        yield f"table/auto {kind.lower()}", fit(model, y)


def mixture_units() -> Iterator[Unit]:
    signed = kernels.Gaussian(2.0) - 0.6 * kernels.Gaussian(0.5)
    some = {"n_sketch": 12, "random_state": 0}
    named = {"signed": signed, "positive": "gaussian", "tl1": "tl1", "precomputed": "precomputed"}
    exact = ExactInference(max_iter=10, n_starts=2)
    ways = {"exact": exact, "taylor": papers.digmm.Taylor(max_iter=10)}
    for way, (name, kernel) in product(ways, named.items()):
        model = bochner.SimilarityFeatures(kernel, 32, inference=ways[way], **some)
        fit_options = {"similarity": signed(X)} if name == "precomputed" else {}
        fit = lambda model=model, fit_options=fit_options: model.fit(X, **fit_options)  # noqa: E731
        yield f"double mixture/{way} {name}", Case(fit, NEW)


def positive_units() -> Iterator[Unit]:
    for weights in ("sampled", "least_squares"):
        model = bochner.PositiveFeatures(32, weights=weights, random_state=1)
        fit = lambda model=model: model.fit(X, right=NEW)  # noqa: E731
        yield f"positive/{weights}", Case(fit, NEW)


def nystroem_units() -> Iterator[Unit]:
    krein, asymmetric = bochner.features.KreinNystroem, bochner.features.AsymmetricNystroem
    signed, skew = kernels.DeltaGaussian(1.0, 3.0), kernels.ShiftGaussian(1.5, 0.3)
    for name, model in {
        "krein": krein(signed, 16),
        "krein leverage": krein(signed, 16, landmarks="leverage"),
        "asymmetric": asymmetric(skew, 16),
    }.items():
        model.set_params(random_state=1)
        fit = lambda model=model: model.fit(X, Y)  # noqa: E731
        yield f"nystroem/{name}", Case(fit, NEW)


def diagnosis(kernel: Any, rows: Any) -> dict[str, Any]:
    diagnosed = bochner.diagnose(kernel, rows, n_components=(16, 32), random_state=1)
    holds = None if diagnosed.definiteness is None else diagnosed.definiteness.holds
    outputs: dict[str, Any] = {
        "flags": np.array(
            [diagnosed.in_domain, diagnosed.symmetric, diagnosed.n_outside], dtype=float
        ),
        "asymmetry": np.array(diagnosed.asymmetry),
        "definite": np.array([np.nan if holds is None else holds], dtype=float),
    }
    for part in ("spectrum", "singular_values"):
        value = getattr(diagnosed, part)
        for field in getattr(value, "__slots__", ()):
            number = getattr(value, field)
            if isinstance(number, int | float | np.ndarray | np.number):
                outputs[f"{part} {field}"] = np.asarray(number, dtype=float)
    fields = ("total_variation", "max_error", "predicted_error", "sampled_error")
    for row in diagnosed.features.errors if diagnosed.features else ():
        values = [getattr(row, name) for name in (*fields, "least_squares_error")]
        numbers = [np.nan if value is None else value for value in values]
        outputs[f"errors {row.n_components}"] = np.array(numbers)
    return outputs


def other_units() -> Iterator[Unit]:
    for name, (kernel, place) in all_kernels().items():
        yield f"diagnosis/{name}", Case(partial(diagnosis, kernel, place(X)))


SECTIONS = (
    *(kernel_units, feature_units, ridge_units, asymmetric_units, chain_units),
    *(table_units, mixture_units, nystroem_units, other_units),
)


def chosen(only: str) -> Iterator[Unit]:
    for section in SECTIONS:
        yield from (unit for unit in section() if re.search(only, unit[0]))


def file_of(folder: Path, name: str) -> Path:
    return folder / "models" / (re.sub(r"[^\w. -]", "_", name) + ".bochner")


def write(folder: Path, only: str) -> int:
    (folder / "models").mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    refused: list[str] = []
    saved = 0
    for name, case in chosen(only):
        try:
            made = case.make()
            outputs = made if isinstance(made, dict) else answers(made, case.rows, case.right)
        except Exception as error:  # A refusal is behaviour, too.
            arrays[f"{name}/error"] = np.array(type(error).__name__)
            refused.append(f"{name}: {traceback.format_exception_only(error)[-1].strip()[:150]}")
            continue
        arrays |= named(name, outputs)
        if not isinstance(made, dict):
            try:
                bochner.save(made, file_of(folder, name))
                saved += 1
            except (TypeError, ValueError) as error:
                arrays[f"{name}/not saved"] = np.array(type(error).__name__)
    np.savez_compressed(folder / "arrays.npz", **arrays)
    print(*refused, sep="\n")
    print(f"{len(arrays)} arrays, {saved} model files, {len(refused)} refusals, in {folder}")
    return 0


def named(name: str, outputs: dict[str, Any]) -> dict[str, Any]:
    """Return plain arrays by their full names; labels become text."""
    arrays = {f"{name}/{key}": np.asarray(value) for key, value in outputs.items()}
    return {key: a.astype(str) if a.dtype == object else a for key, a in arrays.items()}


def difference(a: Any, b: Any) -> float:
    """Return how far two arrays are apart, relative to the larger of 1 and the largest entry."""
    if a.shape != b.shape:
        return np.inf
    if a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return 0.0 if np.array_equal(a, b) else np.inf
    if a.size == 0 or np.array_equal(a, b, equal_nan=True):
        return 0.0
    a, b = a.astype(float), b.astype(float)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    finite = np.isfinite(a)
    scale = max(1.0, float(np.abs(a[finite]).max(initial=0.0)))
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0)) / scale


def report(first: dict[str, Any], second: dict[str, Any], only: str) -> int:
    names = [name for name in first if re.search(only, name)]
    bad = 0
    for name in names:
        if name not in second:
            print(f"missing  {name}")
            bad += 1
            continue
        gap = difference(first[name], second[name])
        if gap > TOLERANCE:
            print(f"{gap:8.1e} {name}")
            bad += 1
    for name in second.keys() - first.keys():
        if re.search(only, name):
            print(f"new      {name}")
    print(f"{len(names)} arrays compared, {bad} differ by more than {TOLERANCE:g} or are missing")
    return int(bad > 0)


def loaded(folder: Path) -> dict[str, Any]:
    with np.load(folder / "arrays.npz") as file:
        return dict(file)


def models(folder: Path, only: str) -> int:
    """Load every model file of the folder and compare its answers with those written there."""
    expected = loaded(folder)
    first: dict[str, Any] = {}
    second: dict[str, Any] = {}
    refused = 0
    for name, case in chosen(only):
        path = file_of(folder, name)
        if not path.exists():
            continue
        try:
            outputs = answers(bochner.load(path), case.rows, case.right)
        except Exception as error:
            print(f"refused  {name}: {type(error).__name__}: {error}")
            refused += 1
            continue
        mine = named(name, outputs)
        first |= {key: value for key, value in expected.items() if key in mine}
        second |= mine
    print(f"{refused} model files were refused")
    return report(first, second, "") or int(refused > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("write", "compare", "models"))
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="regular expression of names")
    arguments = parser.parse_args()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if arguments.action == "compare":
            a, b = map(loaded, arguments.folders)
            code = report(a, b, arguments.only)
        elif arguments.action == "models":
            code = models(arguments.folders[0], arguments.only)
        else:
            code = write(arguments.folders[0], arguments.only)
    print(f"bochner of {Path(bochner.__file__).parent}; {time.perf_counter() - began:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
