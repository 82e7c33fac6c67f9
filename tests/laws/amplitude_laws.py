"""Regressions on waves with amplitudes, written wave by wave."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from laws.inference_laws import Problem, problem

from bochner.learned.basis import Grid, Matched, Windows
from bochner.learned.training_data import TrainingData

MATCHED, GRID = Matched(), Grid(4, 3)
SUMMED = replace(GRID, is_summed=True)
WINDOWS = Windows()
BASES = {"matched": MATCHED, "windows": WINDOWS, "grid": GRID, "summed": SUMMED}


def unit_rows(basis, omega):
    """Return (s, v, phase) of every wave, in their order."""
    if not isinstance(basis, Grid):
        d = omega.shape[1] // 2
        return [(row[:d], row[d : 2 * d], row[2 * d]) for row in omega]
    m1 = basis.n_stationary
    rows = []
    for unit in omega[m1:]:
        for other in omega[:m1]:
            rows.append((other[:-1], unit[:-1], unit[-1]))
    return rows


def wave(basis, X, s, v, phase):
    """Return cosine and sine at rows X, with the amplitude or as a plain wave at s + v/2."""
    angle = X @ s
    if getattr(basis, "is_summed", False):
        angle, v = angle + 0.5 * (X @ v), np.zeros(len(v))
    amplitude = 2.0**0.5 * np.cos(0.5 * (X @ v) + phase) if any(v) else 1.0
    if isinstance(basis, Windows):
        amplitude = window(X, v, phase)
    return amplitude * np.cos(angle), amplitude * np.sin(angle)


def window(X, centre, number):
    """Return a window along inputs whose centre is not zero, its mean square at least one."""
    width, height, square = 0.5 * np.exp(0.8 * number), 1.0, np.zeros(len(X))
    for x, c in zip(X.T, centre, strict=True):
        if c:
            square += ((x - c) / width) ** 2
            # Over uniform inputs of deviation one; the integral of the square is width root pi.
            height *= max(12.0**0.5 / (width * np.pi**0.5), 1.0) ** 0.5
    return height * np.exp(-0.5 * square)


def features(basis, X, omega):
    """Return features of all waves, (n, 2m)."""
    rows = unit_rows(basis, omega)
    columns = [column for row in rows for column in wave(basis, X, *row)]
    return np.column_stack(columns) / np.sqrt(len(rows))


@dataclass(frozen=True)
class AmplitudeProblem(Problem):
    """A small regression on waves with amplitudes."""

    basis: Any = MATCHED

    def rows(self, dtype=np.float64):
        return TrainingData.of(
            self.X.astype(dtype), self.y, self.trend, self.weight, basis=self.basis
        )

    def n_waves(self, omega):
        return len(unit_rows(self.basis, omega))

    def design(self, omega):
        return np.hstack((features(self.basis, self.X, omega), self.trend))


def units(basis, rng, d, m=None, zeros=True):
    """Return random units of a basis, some of them with constant amplitudes."""
    if not isinstance(basis, Grid):
        omega = rng.normal(size=(m or 6, 2 * d + 1))
        if zeros:
            omega[1::3, d : 2 * d] = 0.0
        return omega
    omega = rng.normal(size=(basis.n_stationary + basis.n_envelope, d + 1))
    omega[: basis.n_stationary, -1] = 0.0
    if zeros:
        omega[-1, :-1] = 0.0
    return omega


def amplitude_problem(basis, *, m=None, zeros=True, **settings):
    """Return a problem on units of a basis; see :func:`laws.inference_laws.problem`."""
    case = problem(**{"m": 1, **settings})
    rng = np.random.default_rng(5)
    omega, other = (units(basis, rng, case.X.shape[1], m, zeros) for _ in range(2))
    return AmplitudeProblem(case.X, case.y, case.trend, case.weight, omega, other, basis)
