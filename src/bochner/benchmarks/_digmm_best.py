"""The best of the library whatever the method: kernels that training rows alone choose among."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from time import perf_counter

import numpy as np

from bochner._numerics.arrays import Array
from bochner.benchmarks._digmm_data import Split, split_of
from bochner.benchmarks._digmm_design import CS, MNIST
from bochner.benchmarks._digmm_learning import features_of, learned_accuracy, n_choice
from bochner.benchmarks._squared_hinge import accuracies, targets_of
from bochner.features.length_scales import median_distance
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Gaussian, Kernel, Laplacian
from bochner.learning.criteria import LeaveOneOut
from bochner.learning.families import GAUSSIAN_FAMILY
from bochner.learning.kernel_search import minimise

_SCALE_ROWS, _SCALE_STEPS, _MOST_INPUTS = 1_000, 40, 100
_ISOTROPIC = (0.25, 0.5, 1.0)
_PER_INPUT = (0.7, 1.0)
_CITY_BLOCK = 0.5
_N_FOLDS = 3
_TIMES_CHOICE = 2

Candidate = tuple[Kernel, bool]
"""A kernel, and whether rows have norm one."""


def best_metrics(name: str, p: int, seed: int, folder: Path | None) -> dict[str, float]:
    """Return the test accuracy of the candidate that three folds of training rows prefer.

    ``candidate`` is its place among :func:`candidates`, ``choice_seconds`` what it took to choose.

    Parameters
    ----------
    name : str
    p : int
        Real features.
    seed : int
    folder : Path or None
    """
    start = perf_counter()
    found = candidates(name, seed, folder)
    choices = [_choice(candidate, name, p, seed, folder) for candidate in found.values()]
    place = max(range(len(choices)), key=lambda index: choices[index].max())
    C = CS[int(np.argmax(choices[place]))]
    seconds = perf_counter() - start
    kernel, on_sphere = list(found.values())[place]
    split = split_of(name, seed, folder, on_sphere=on_sphere, every=True)
    features = _fitted(kernel, split, p, seed)
    Z = features_of(features, split.train)
    metrics = learned_accuracy(features, split, seed, Z, C)
    return {**metrics, "candidate": float(place), "choice_seconds": seconds}


@lru_cache(maxsize=2)
def candidates(name: str, seed: int, folder: Path | None) -> Mapping[str, Candidate]:
    """Return kernels by what they are called, for a data set's training rows.

    Gaussian kernels of some length scales, on the cube and on the sphere; a Laplacian kernel; and,
    of at most 100 inputs and two classes, Gaussian kernels with a length scale for every input,
    of least leave-one-out error on a thousand rows.
    """
    found: dict[str, Candidate] = {}
    for on_sphere in (False, True):
        split = split_of(name, seed, folder, on_sphere=on_sphere)
        median = median_distance(split.train, np.random.default_rng(seed))
        where = "sphere" if on_sphere else "cube"
        for share in _ISOTROPIC:
            found[f"Gaussian, {share:g} of the median, {where}"] = (
                Gaussian(share * median),
                on_sphere,
            )
    if name == MNIST:
        return found
    split = split_of(name, seed, folder, on_sphere=False)
    found["Laplacian"] = (Laplacian(_CITY_BLOCK * _city_block(split.fit, seed)), False)
    if split.train.shape[1] <= _MOST_INPUTS and len(np.unique(split.y)) == 2:
        scales = per_input_scales(split)
        for factor in _PER_INPUT:
            scaled = Gaussian(tuple((factor * scales).tolist()))
            found[f"Gaussian, scales by input times {factor:g}"] = scaled, False
    return found


def per_input_scales(split: Split) -> Array:
    """Return length scales of least leave-one-out error on at most a thousand training rows."""
    deviation = split.train.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    rows = slice(0, _SCALE_ROWS)
    targets = targets_of(split.y[rows])[0]
    criterion = LeaveOneOut.of(split.train[rows] / deviation, targets)
    theta, _ = minimise(criterion, GAUSSIAN_FAMILY, _SCALE_STEPS)
    scales: Array = np.exp(theta[:-1]) * deviation
    return scales


def _city_block(X: Array, seed: int) -> float:
    """Return the median city-block distance of pairs of rows."""
    first, second = np.random.default_rng(seed).integers(len(X), size=(2, 10_000))
    return float(np.median(np.abs(X[first] - X[second]).sum(axis=1))) or 1.0


def _fitted(kernel: Kernel, split: Split, p: int, seed: int) -> FourierFeatures:
    return FourierFeatures(kernel, p, random_state=seed).fit(split.fit)


def _choice(candidate: Candidate, name: str, p: int, seed: int, folder: Path | None) -> Array:
    """Return accuracies of a candidate over folds of some training rows, by C."""
    kernel, on_sphere = candidate
    split = split_of(name, seed, folder, on_sphere=on_sphere)
    rows = slice(0, _TIMES_CHOICE * n_choice(p, split.y))
    Z = features_of(_fitted(kernel, split, p, seed), split.train[rows])
    found: Array = accuracies(Z, split.y[rows], CS, _N_FOLDS, seed)
    return found
