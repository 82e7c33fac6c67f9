r"""State-space model of a series: a sum of processes and noise, its evidence and forecasts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index, Mask, as_array, rounded, spreads
from bochner._base.registry import register
from bochner.series.components import RealOrComplex, Remainder, SeriesProcess, StateTransition
from bochner.series.priors import OWN_PRIORS, NormalPrior, PriorTable
from bochner.series.regular import regular_series
from bochner.series.state_loops import (
    Filtered,
    Steps,
    component_moments,
    filtered,
    moments_ahead,
    slopes,
)
from bochner.series.trends import LevelProcess

_IMAGINARY = 1e-100
"""Imaginary increment of a parameter: complex-step derivatives have no cancellation error."""

_DIGITS = 9  # Number of decimals to which time steps, in ranges of the training rows, are rounded


@dataclass(frozen=True, slots=True, eq=False)
class ScaledSeries:
    """A scaled series: times (n,) in units of the range, values (n,) with NaN, inputs (n, d).

    ``clock`` (n,) is local time minus time, in ranges; None without a time zone.
    """

    times: Array
    values: Array
    inputs: Array
    clock: Array | None = None

    def __len__(self) -> int:
        return len(self.times)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask (n,) of the known values."""
        return np.isfinite(self.values)

    def joined(self, other: "ScaledSeries") -> "ScaledSeries":
        """Return the concatenation of these rows and the rows of ``other``."""
        clocks = [
            np.zeros(len(rows)) if rows.clock is None else rows.clock for rows in (self, other)
        ]
        return ScaledSeries(
            np.concatenate((self.times, other.times)),
            np.concatenate((self.values, other.values)),
            np.concatenate((self.inputs, other.inputs)),
            None if self.clock is other.clock is None else np.concatenate(clocks),
        )

    def with_input(self, column: Array) -> "ScaledSeries":
        """Return the rows with one more input (n,), which is standardised."""
        mean, scale = input_units(column[:, None])
        inputs = np.hstack((self.inputs, rounded((column[:, None] - mean) / scale)))
        return ScaledSeries(self.times, self.values, inputs, self.clock)

    def part(self, which: Index | Mask | slice) -> "ScaledSeries":
        """Return the rows selected by a slice, mask or index array."""
        clock = None if self.clock is None else self.clock[which]
        return ScaledSeries(self.times[which], self.values[which], self.inputs[which], clock)


@dataclass(frozen=True)
class SeriesModel:
    """A sum of processes and noise; ``theta`` (k,) concatenates the parameters of the processes."""

    parts: tuple[SeriesProcess, ...]
    table: PriorTable = OWN_PRIORS

    @cached_property
    def prior(self) -> NormalPrior:
        """The joint normal prior of the parameters."""
        return self.table.prior([prior for part in self.parts for prior in part.priors])

    @cached_property
    def places(self) -> list[tuple[slice, slice]]:
        """Slices of the parameters and of the states of each part."""
        ends = np.cumsum([[len(part.priors), len(part.partners)] for part in self.parts], axis=0)
        starts = np.vstack([[0, 0], ends[:-1]])
        return [
            (slice(*parameters), slice(*states))
            for parameters, states in np.stack([starts, ends], axis=-1).tolist()
        ]

    @cached_property
    def partners(self) -> NDArray[np.int64]:
        """Index (s,) of the other state on which each state depends, or else the state's index."""
        sizes = [len(part.partners) for part in self.parts]
        starts = np.cumsum([0, *sizes[:-1]])
        return np.concatenate(
            [start + part.partners for start, part in zip(starts, self.parts, strict=True)]
        )

    @cached_property
    def mean(self) -> Array:
        """Prior means (s,) of the states."""
        return np.concatenate([part.mean for part in self.parts])

    @property
    def components(self) -> list[str]:
        """Names of the components, in the order in which parts first use them."""
        return list(dict.fromkeys(part.name for part in self.parts))

    @property
    def groups(self) -> NDArray[np.int64]:
        """The component index (s,) of each state."""
        names = self.components
        return np.concatenate(
            [np.full(len(part.partners), names.index(part.name)) for part in self.parts]
        )

    def place(self, part: SeriesProcess) -> slice:
        """Return the slice of a part's parameters in ``theta``."""
        for other, (parameters, _) in zip(self.parts, self.places, strict=True):
            if other is part:
                return parameters
        raise ValueError(f"The model has no part {part!r:.60}.")

    def weights(self, rows: ScaledSeries) -> Array:
        """Return the weights (n, s) of the states in the values."""
        weights = [part.weights(rows.times, rows.inputs, rows.clock) for part in self.parts]
        return np.ascontiguousarray(np.concatenate(weights, axis=1))

    def steps(self, theta: Array, times: Array) -> Steps:
        """Return the state transitions from each time to the next of the times (n,)."""
        lengths, which = _lengths(times)
        moved = map(as_array, self._moved(theta, lengths))
        from_self, from_partner, variance, covariance = moved
        return Steps(which, from_self, from_partner, variance, covariance, self.partners)

    def initial(self, theta: Array) -> Array:
        """Return the covariance (s, s) of the states at time zero."""
        return as_array(np.diag(self._initial(theta)))

    def noise(self, theta: Array) -> float:
        """Return the variance of the noise."""
        return float(self._noise(theta))

    def filtered(self, theta: Array, rows: ScaledSeries) -> tuple[float, Filtered]:
        """Return the log evidence and the filtered states (given values up to each time)."""
        steps, initial = self.steps(theta, rows.times), self.initial(theta)
        weights, noise = self.weights(rows), self.noise(theta)
        return filtered(rows.values, weights, steps, self.mean, initial, noise)

    def evidence(self, theta: Array, rows: ScaledSeries) -> tuple[float, Array]:
        """Return the log evidence of the values and its gradient (k,)."""
        return SeriesEvidence(self, rows)(theta)

    def components_of(self, theta: Array, rows: ScaledSeries) -> tuple[Array, Array]:
        """Return means and variances (n, J + 1) of the components and, last, of their sum."""
        weights, steps = self.weights(rows), self.steps(theta, rows.times)
        _, states = self.filtered(theta, rows)
        groups = self.groups
        return component_moments(weights, steps, states, groups, int(groups.max()) + 1)

    def ahead(
        self, theta: Array, rows: ScaledSeries, mean: Array, cov: Array
    ) -> tuple[Array, Array]:
        """Return component moments (n, J + 1) like `components_of`, at times after all values.

        ``mean`` (s,) and ``cov`` (s, s) are the moments of the states at the first of the times.
        """
        ((means, variances),) = self.each_ahead(theta[None], rows, mean[None], cov[None])
        return means, variances

    def each_ahead(
        self, thetas: Array, rows: ScaledSeries, means: Array, covs: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the moments of `ahead` for each of m parameter vectors (m, k) and state moments."""
        weights, groups = self.weights(rows), self.groups
        n_groups = int(groups.max()) + 1
        lengths, which = _lengths(rows.times)
        moves = self._moved(thetas, lengths)
        for place, (mean, cov) in enumerate(zip(means, covs, strict=True)):
            own, other, variance, covariance = (as_array(move[place]) for move in moves)
            steps = Steps(which, own, other, variance, covariance, self.partners)
            yield moments_ahead(weights, steps, mean, cov, groups, n_groups)

    def carried(
        self, theta: Array, means: Array, covs: Array, length: float, rows: ScaledSeries
    ) -> tuple[Array, Array]:
        """Return means and variances (n,) of values at rows, from states earlier by ``length``.

        ``means`` (n, s) and ``covs`` (n, s, s) are the states' moments, one before each row.
        """
        from_self, from_partner, variance, covariance = (
            part[0] for part in self._moved(theta, np.array([length]))
        )
        weights, partners = self.weights(rows), self.partners
        # The weights of the states before the step: F.T h.
        earlier = weights * from_self + (weights * from_partner)[:, partners]
        mean: Array = np.sum(earlier * means, axis=1)
        spread: Array = np.einsum("ni,nij,nj->n", earlier, covs, earlier)
        spread += np.sum(weights * (weights * variance + weights[:, partners] * covariance), axis=1)
        return mean, spread + self.noise(theta)

    def _moved(self, theta: RealOrComplex, lengths: Array) -> list[RealOrComplex]:
        shape = (*np.shape(theta)[:-1], len(lengths), self.places[-1][1].stop)
        joined = [np.empty(shape, dtype=theta.dtype) for _ in StateTransition._fields]
        for part, (parameters, states) in zip(self.parts, self.places, strict=True):
            moves = part.move(theta[..., parameters], lengths)
            for array, move in zip(joined, moves, strict=True):
                array[..., states] = move
        return joined

    def _initial(self, theta: RealOrComplex) -> RealOrComplex:
        shape = (*np.shape(theta)[:-1], self.places[-1][1].stop)
        initial = np.empty(shape, dtype=theta.dtype)
        for part, (parameters, states) in zip(self.parts, self.places, strict=True):
            initial[..., states] = part.initial(theta[..., parameters])
        return initial

    def _noise(self, theta: RealOrComplex) -> Any:
        return sum(
            part.noise(theta[..., parameters])
            for part, (parameters, _) in zip(self.parts, self.places, strict=True)
            if isinstance(part, Remainder)
        )


def _lengths(times: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return the distinct step lengths (u,), and the index (n,) of the step before each time."""
    if len(times) == 1:
        return np.ones(1), np.zeros(1, dtype=np.int64)
    lengths, which = np.unique(np.round(np.diff(times), _DIGITS), return_inverse=True)
    return lengths, np.concatenate(([0], which)).astype(np.int64)


class SeriesEvidence:
    r"""The log evidence of rows as a function of ``theta``, with its gradient.

    Reverse-mode differentiation of the filter gives derivatives by the entries of the transitions
    and the initial variances. Derivatives of these entries by ``theta`` are complex-step
    derivatives, :math:`\partial f = \operatorname{Im} f(\theta + i \epsilon) / \epsilon`.
    """

    def __init__(self, model: SeriesModel, rows: ScaledSeries) -> None:
        self.model, self.rows = model, rows
        self._weights = model.weights(rows)
        self._lengths, self._which = _lengths(rows.times)
        # The fast loops are for states with zero means.
        values = rows.values - self._weights @ model.mean
        self.regular = regular_series(
            model.parts, model.partners, self._weights, values, (self._lengths, self._which)
        )

    def values(self, thetas: Array) -> Array:
        """Return the log evidences (m,) at parameters (m, k)."""
        if self.regular is None:
            return np.array([self._value(theta) for theta in thetas])
        values = self.regular.log_evidence(thetas)
        for place in np.flatnonzero(np.isnan(values)):  # Rounding errors were too large
            values[place] = self._value(thetas[place])
        return values

    def values_and_slopes(self, thetas: Array) -> tuple[Array, Array]:
        """Return the log evidences (m,) at parameters (m, k), and their gradients (m, k)."""
        if self.regular is None:
            pairs = [self._value_and_slope(theta) for theta in thetas]
            return np.array([value for value, _ in pairs]), np.array([slope for _, slope in pairs])
        values, slopes = self.regular.log_evidence_and_slopes(thetas)
        for place in np.flatnonzero(np.isnan(values)):
            values[place], slopes[place] = self._value_and_slope(thetas[place])
        return values, slopes

    def last_states(self, thetas: Array) -> tuple[Array, Array]:
        """Return means (m, s) and covariances (m, s, s) of the states at the last row."""
        states = None if self.regular is None else self.regular.last_states(thetas)
        if states is not None:
            return states[0] + self.model.mean, states[1]
        # One parameter draw at a time, because the states at all times need much memory.
        filtered_states = (self.model.filtered(theta, self.rows)[1] for theta in thetas)
        pairs = [(states.mean[-1].copy(), states.cov[-1].copy()) for states in filtered_states]
        mean, cov = (np.array(moments) for moments in zip(*pairs, strict=True))
        return mean, cov

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return the log evidence and its gradient (k,); minus infinity if it overflows."""
        values, slopes = self.values_and_slopes(theta[None])
        return float(values[0]), slopes[0]

    def _value(self, theta: Array) -> float:
        model = self.model
        own, other, variance, covariance = map(as_array, model._moved(theta, self._lengths))
        steps = Steps(self._which, own, other, variance, covariance, model.partners)
        initial, noise = model.initial(theta), model.noise(theta)
        return filtered(self.rows.values, self._weights, steps, model.mean, initial, noise)[0]

    def _value_and_slope(self, theta: Array) -> tuple[float, Array]:
        model = self.model
        k = len(theta)
        increments = np.concatenate((np.zeros((1, k)), np.eye(k))) * (1j * _IMAGINARY)
        moved = model._moved(theta + increments, self._lengths)
        variances, noises = model._initial(theta + increments), model._noise(theta + increments)
        from_self, from_partner, variance, covariance = (part[0].real.copy() for part in moved)
        steps = Steps(self._which, from_self, from_partner, variance, covariance, model.partners)
        initial, noise = np.diag(variances[0].real), float(noises[0].real)
        evidence, states = filtered(
            self.rows.values, self._weights, steps, model.mean, initial, noise
        )
        if not np.isfinite(evidence):
            return -np.inf, np.zeros(k)
        derivatives = slopes(self._weights, steps, states)
        gradient = (
            variances[1:].imag @ np.diagonal(derivatives.initial)
            + noises[1:].imag * derivatives.noise
        )
        by_entry = (
            derivatives.own,
            derivatives.other,
            derivatives.variance,
            derivatives.covariance,
        )
        for slope, part in zip(by_entry, moved, strict=True):
            gradient += part[1:].imag.reshape(k, -1) @ slope.ravel()
        return evidence, gradient / _IMAGINARY


TINY = 1e-12
"""Lower bound of variances, relative to the variance of the values, against rounding."""

_COUNTS = ("n_harmonics", "n_inputs")
"""Attributes of processes that count states or pairs of states."""


@register(shapes={"theta": "Sk", "weights": "S", "mean": "Ss", "cov": "Sss"})
@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """Parameter draws of one model, with moments of its states at the final training row."""

    parts: list[SeriesProcess]
    theta: Array  # (S, k)
    weights: Array  # (S,): Sum to one over all members
    mean: Array  # (S, s)
    cov: Array  # (S, s, s)

    def __post_init__(self) -> None:
        """Raise ValueError if the numbers of parameters or states do not match the parts."""
        counts = [getattr(part, name, 0) for part in self.parts for name in _COUNTS]
        # Checked before arrays of these sizes are made: a damaged file may hold huge numbers.
        if max(counts, default=0) > self.mean.shape[1]:
            raise ValueError(f"{max(counts)} harmonics or inputs of {self.mean.shape[1]} states")
        n_parameters = sum(len(part.priors) for part in self.parts)
        n_states = sum(len(part.partners) for part in self.parts)
        if not self.parts or not isinstance(self.parts[0], LevelProcess):
            raise ValueError("the first part of a model must be a trend")
        if self.theta.shape[1] != n_parameters or self.mean.shape[1] != n_states:
            raise ValueError(
                f"draws of {self.theta.shape[1]} parameters and {self.mean.shape[1]} states do not "
                f"fit parts with {n_parameters} and {n_states}"
            )
        if np.diagonal(self.cov, axis1=1, axis2=2).min(initial=0.0) < -TINY * np.abs(self.cov).max(
            initial=1.0
        ):
            raise ValueError("states have negative variances")

    @property
    def model(self) -> SeriesModel:
        """The sum of the processes as a model."""
        return SeriesModel(tuple(self.parts))

    @property
    def trend(self) -> LevelProcess:
        """The trend, which is the first process."""
        return cast(LevelProcess, self.parts[0])


_CONSTANT = 0.5
"""Scale of a constant input: the standard deviation of an indicator of half of the rows."""


@register(shapes={"mean": "d", "scale": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class SeriesUnits:
    """Offsets and scales that standardise times, transformed values and inputs of a series."""

    start: float
    span: float
    step: float
    centre: float
    deviation: float
    mean: Array  # (d,)
    scale: Array  # (d,)

    def __post_init__(self) -> None:
        """Raise ValueError for units that are not positive, or different numbers of inputs."""
        units = (self.span, self.step, self.deviation, *self.scale)
        if len(self.mean) != len(self.scale) or not all(unit > 0.0 for unit in units):
            raise ValueError("units of times, values and inputs must be positive")

    def rows(
        self, times: Array, transformed: Array, inputs: Array, clock: Array | None = None
    ) -> ScaledSeries:
        """Return the rows scaled as `bochner.series.components` expects."""
        return ScaledSeries(
            self.ranges(times - self.start),
            rounded((transformed - self.centre) / self.deviation),
            rounded((inputs - self.mean) / self.scale),
            None if clock is None else self.ranges(clock),
        )

    def ranges(self, durations: Array | float) -> Array:
        """Convert durations from units of the times to ranges of the rows."""
        # Round in steps rather than ranges, because rows may be many steps apart.
        n_steps = rounded(np.asarray(durations / self.step))
        return as_array(n_steps / rounded(np.asarray(self.span / self.step)))

    @classmethod
    def of(cls, times: Array, transformed: Array, inputs: Array) -> "SeriesUnits":
        """Return scales that give times from zero to one and unit standard deviations."""
        return cls(
            float(times[0]),
            float(times[-1] - times[0]),
            float(np.median(np.diff(times))),
            float(np.nanmean(transformed)),
            float(np.nanstd(transformed)),
            *input_units(inputs),
        )


def input_units(inputs: Array) -> tuple[Array, Array]:
    """Return offsets and scales (d,) that standardise inputs (n, d)."""
    return inputs.mean(axis=0), spreads(inputs, np.ones(len(inputs)), _CONSTANT)
