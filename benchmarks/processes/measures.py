"""A fit in a process of its own: errors, densities, intervals, seconds and memory."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numba
import numpy as np
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from benchmarks.predictions import log_density
from benchmarks.processes import design
from benchmarks.processes.methods import Method, method_of
from benchmarks.processes.rows import Posterior, Problem
from benchmarks.speed.part import seconds_and_peak

_WARM_ROWS = 150  # Of a fit before the measured one, in which loops are loaded or compiled

_Place = tuple[Method, Problem, Path]


def measured(name: str, problem: Problem, seed: int) -> dict[str, float]:
    """Return the metrics of a method; seconds are those of one core, and memory is in megabytes."""
    if name == design.EXACT and problem.exact is not None:
        return errors(problem.exact, problem)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "posterior.npz"
        _, peak = seconds_and_peak(_prepared, _fitted, name, problem, seed, path)
        with np.load(path) as file:
            posterior = Posterior(file["mean"], file["std"], float(file["evidence"]))
            fit_seconds, predict_seconds = file["seconds"]
    if not name.startswith(design.GIVEN):
        posterior = Posterior(posterior.mean, posterior.std)
    metrics = errors(posterior, problem)
    metrics |= {"fit_seconds": float(fit_seconds), "predict_seconds": float(predict_seconds)}
    return metrics | {"peak_megabytes": peak}


def errors(posterior: Posterior, problem: Problem) -> dict[str, float]:
    """Return errors of means, densities and coverage of observations, and the log evidence a row.

    The evidence of the kernel of a draw is left out where there is none.
    """
    mean, std = posterior.mean, posterior.std
    half_width = ndtri(0.5 + design.LEVEL / 2.0) * std
    metrics = {
        "rmse": float(np.sqrt(np.mean((mean - problem.f_test) ** 2))),
        "nlpd": -float(np.mean(log_density(problem.y_test - mean, std))),
        "coverage": float(np.mean(np.abs(problem.y_test - mean) <= half_width)),
    }
    if np.isfinite(posterior.evidence):
        metrics["evidence"] = posterior.evidence / len(problem.y)
    return metrics


def _prepared(name: str, problem: Problem, seed: int, path: Path) -> _Place:
    threadpool_limits(1)
    numba.set_num_threads(1)
    if name.startswith(design.OURS):
        for warm in (name, design.APPROXIMATE):
            method = _method(warm, problem, seed)
            method.fit(problem.X[:_WARM_ROWS], problem.y[:_WARM_ROWS])
            method.predict(problem.X_test[:_WARM_ROWS])
    return _method(name, problem, seed), problem, path


def _method(name: str, problem: Problem, seed: int) -> Method:
    return method_of(name, problem.draw, problem.X.shape[1], seed)


def _fitted(place: _Place) -> None:
    method, problem, path = place
    times = [process_time()]
    method.fit(problem.X, problem.y)
    times.append(process_time())
    posterior = method.predict(problem.X_test)
    times.append(process_time())
    mean, std, evidence = posterior.mean, posterior.std, posterior.evidence
    np.savez(path, mean=mean, std=std, evidence=evidence, seconds=np.diff(times))
