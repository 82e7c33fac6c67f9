"""What every chain over frequencies must do: keep the joint law of parameters and data.

A chain that alternates one of the sampler's rounds given the data with a redraw of the data given
its state has the generative model's joint law, if both are right (J. Geweke, "Getting it right:
joint distribution tests of posterior simulators", 2004). Chains start from exact draws of the
joint law, so that each is stationary from its first round on, and independent of the others: the
standard errors of means over the chains need no model of their memory.

The generative model here shares no code with the samplers, but for the laws of hyperparameters.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from laws.amplitude_laws import window
from scipy import stats
from scipy.special import expit

from bochner.learned.basis import PLAIN, Grid, Matched, TwoSpectraPrior, Windows
from bochner.learned.chain_run import CollapsedChain
from bochner.learned.chain_state import ConstantNoise, InverseGammaNoise, StepSizes
from bochner.learned.dirichlet_mixture import (
    GammaPrior,
    MixturePrior,
    NormalInverseWishart,
    sample_prior,
)
from bochner.learned.frequency_priors import DensePrior, SparseHyper, SparsePrior
from bochner.learned.moves import (
    Hamiltonian,
    LogNormalPrecision,
    Move,
    PrecisionWalk,
    PriorParameters,
    ReplacementSweep,
)
from bochner.learned.polya_gamma import LogisticLabels
from bochner.learned.training_data import TrainingData
from bochner.papers.bank import JointPairChain

PRECISION = LogNormalPrecision(mean=-2.0, std=0.7)
NOISE = InverseGammaNoise(4.0, 3.0)
HAMILTONIAN = Hamiltonian(n_steps=3)
N_SAMPLES, N_FREQUENCIES = 9, 3
INPUTS = 1.5 * np.random.default_rng(7).normal(size=(N_SAMPLES, 2))
Generator = np.random.Generator


def features(X, omega):
    """Cosine and sine of every frequency in turn, scaled, (n, 2m)."""
    angle = X @ omega.T
    pairs = np.stack((np.cos(angle), np.sin(angle)), axis=2)
    return pairs.reshape(len(X), -1) / np.sqrt(len(omega))


@dataclass(frozen=True)
class PlainWaves:
    """Frequencies are waves of constant amplitude."""

    @property
    def basis(self):
        return PLAIN

    def features(self, X, omega):
        return features(X, omega)


@dataclass(frozen=True)
class Dense(PlainWaves):
    """The Dirichlet-process mixture, with light tails."""

    # Settings of proposals: the law is the same whatever they are.
    correlations: tuple[float, ...] = field(default=(0.0, 0.7, 0.95), compare=False)
    jumps: float = field(default=0.25, compare=False)
    dim: int = 2

    def draw(self, rng: Generator, size: int = N_FREQUENCIES):
        base = NormalInverseWishart(
            np.full(self.dim, 0.4), 0.5, 2.0 * np.eye(self.dim), self.dim + 4.0
        )
        hyper = MixturePrior(base, GammaPrior(2.0, 3.0))
        mixture, omega = sample_prior(rng, hyper, size)
        return DensePrior(hyper, mixture, self.correlations, self.jumps), omega

    def functions(self, prior, omega):
        mixture = prior.mixture
        own = mixture.labels[0]
        return {
            "components": mixture.n_components,
            "log det": np.log(np.linalg.det(mixture.covariances[own])),
            "mean": np.tanh(mixture.means[own, 0] - 0.4),
            "concentration": np.log(mixture.concentration),
            "moment": np.tanh(omega[0, 0] * omega[1, 0]),
        }


@dataclass(frozen=True)
class Sparse(PlainWaves):
    """Spike and slab, with light tails."""

    dim: int = 2

    def draw(self, rng: Generator, size: int = N_FREQUENCIES):
        hyper = SparseHyper(
            np.array([1.0, 2.0])[: self.dim],
            inclusion=(1.5, 3.0),
            n_slabs=2,
            concentration=2.0,
            mean_strength=0.5,
            shape=4.0,
        )
        prior = SparsePrior.start(hyper).refresh(rng, np.zeros((0, self.dim)))
        active = rng.random((size, self.dim)) < prior.inclusion
        omega = np.zeros(active.shape)
        for j, i in np.argwhere(active):
            k = rng.choice(hyper.n_slabs, p=prior.weights[i])
            sign = rng.choice([-1.0, 1.0])
            omega[j, i] = sign * prior.means[i, k] + prior.scales[i, k] * rng.normal()
        return prior, omega

    def functions(self, prior, omega):
        active = omega != 0.0
        return {
            "active": active.sum(),
            "together": active.all(axis=1).sum(),
            "inclusion": prior.inclusion[0],
            "order": (prior.inclusion * active.sum(axis=0)).sum(),
            "scale": np.log(prior.scales[1]).sum(),
            "centre": np.log1p(prior.means[0] ** 2).sum(),
            "weight": (prior.weights**2).sum(),
        }


@dataclass(frozen=True)
class Amplitudes:
    """Frequencies of one law and amplitudes of another, matched or all combined."""

    stationary: Any
    envelope: Any
    n_envelope: int = 0
    dim: int = 2
    windows: bool = False

    @property
    def basis(self):
        own = Windows() if self.windows else Matched()
        return Grid(2, self.n_envelope) if self.n_envelope else own

    @property
    def amplitudes(self):
        return window if self.windows else amplitudes

    def draw(self, rng: Generator):
        n_envelope = self.n_envelope or N_FREQUENCIES
        stationary, s = self.stationary.draw(rng, 2 if self.n_envelope else N_FREQUENCIES)
        envelope, v = self.envelope.draw(rng, n_envelope)
        phase = 0.5 * np.pi * rng.normal(size=(n_envelope, 1))
        if self.n_envelope:
            omega = np.block([[s, np.zeros((len(s), 1))], [v, phase]])
        else:
            omega = np.hstack([s, v, phase])
        return TwoSpectraPrior(self.basis, stationary, envelope), omega

    def parts(self, omega):
        """Return frequencies, amplitudes and phases of all units."""
        if self.n_envelope:
            return omega[:2, :-1], omega[2:, :-1], omega[2:, -1]
        return omega[:, : self.dim], omega[:, self.dim : -1], omega[:, -1]

    def features(self, X, omega):
        """Features of one wave after another, those of a combination with an amplitude together."""
        s, v, phase = self.parts(omega)
        pairs = [(n, n) for n in range(len(s))]
        if self.n_envelope:
            pairs = [(n, k) for k in range(len(v)) for n in range(len(s))]
        columns = []
        for n, k in pairs:
            angle, amplitude = X @ s[n], self.amplitudes(X, v[k], phase[k])
            columns += [amplitude * np.cos(angle), amplitude * np.sin(angle)]
        return np.column_stack(columns) / np.sqrt(len(pairs))

    def functions(self, prior, omega):
        s, v, phase = self.parts(omega)
        first = INPUTS[:1, : self.dim]
        at = [self.amplitudes(first, *each)[0] for each in zip(v, phase, strict=True)]
        own = self.stationary.functions(prior.stationary, s)
        other = self.envelope.functions(prior.envelope, v)
        return {
            **own,
            **{f"envelope's {name}": value for name, value in other.items()},
            "phase": phase[0] ** 2 / (1.0 + phase[0] ** 2),
            "phases": np.mean(np.cos(2.0 * phase)),
            "amplitude": np.mean(np.abs(at)),
            "amplitude and phase": np.tanh(at[0] * phase[0]),
            "both": np.mean(np.cos(v[0] @ s[0])),
        }


def amplitudes(X, v, phase):
    return np.sqrt(2.0) * np.cos(0.5 * X @ v + phase) if np.any(v) else np.ones(len(X))


@dataclass(frozen=True)
class Regression:
    """Gaussian noise; weights and variance are integrated out of the chain."""

    @property
    def model(self):
        return self

    def draw(self, rng: Generator, Z, precision):
        variance = NOISE.rate / rng.gamma(NOISE.shape)
        beta = rng.normal(size=Z.shape[1]) * np.sqrt(variance / precision)
        return Z @ beta + np.sqrt(variance) * rng.normal(size=len(Z)), beta

    def start(self, rng, model, y, omega, prior, precision, beta):
        return self.chain(model, y).init(rng, omega, prior, precision)

    def chain(self, model, y):
        return CollapsedChain(model.rows(y), ConstantNoise(NOISE), model.moves)

    def redraw(self, rng, model, y, state, round_number):
        """Draw new data, by turns given the old through the weights, and given nothing."""
        omega, precision = state.evidence.omega, state.evidence.precision
        Z = model.features(omega)
        if round_number % 2:
            return *self.draw(rng, Z, precision), omega, precision
        variance, beta = self._posterior(rng, Z, y, precision)
        return Z @ beta + np.sqrt(variance) * rng.normal(size=len(y)), beta, omega, precision

    def complete(self, rng, model, y, state):
        """Draw the weights given the data; return them, frequencies and precision."""
        omega, precision = state.evidence.omega, state.evidence.precision
        return self._posterior(rng, model.features(omega), y, precision)[1], omega, precision

    def fit(self, Z, y, precision, beta):
        """Return the log evidence up to a constant, from the covariance of the data."""
        covariance = np.eye(len(y)) + Z @ Z.T / precision
        square = y @ np.linalg.solve(covariance, y)
        tail = (NOISE.shape + 0.5 * len(y)) * np.log(NOISE.rate + 0.5 * square)
        return -0.5 * np.linalg.slogdet(covariance)[1] - tail

    def _posterior(self, rng, Z, y, precision):
        A = Z.T @ Z + precision * np.eye(Z.shape[1])
        mean = np.linalg.solve(A, Z.T @ y)
        rate = NOISE.rate + 0.5 * (y @ y - y @ Z @ mean)
        variance = rate / rng.gamma(NOISE.shape + 0.5 * len(y))
        return variance, gaussian(rng, mean, A / variance)

    def functions(self, Z, y):
        return {"square": np.log1p(y @ y)}


@dataclass(frozen=True)
class PolyaGamma:
    """Binary data; the weights of the rows are in the chain's state."""

    @property
    def model(self):
        return PolyaGamma()

    def draw(self, rng: Generator, Z, precision):
        beta = rng.normal(size=Z.shape[1]) / np.sqrt(precision)
        return self.outcomes(rng, Z @ beta), beta

    def outcomes(self, rng, activation):
        return (rng.random(len(activation)) < expit(activation)) - 0.5

    def start(self, rng, model, y, omega, prior, precision, beta):
        chain = self.chain(model, y)
        weight = polya_gamma(rng, model.features(omega) @ beta)
        return rebuilt(chain, chain.init(rng, omega, prior, precision), latent=weight)

    def chain(self, model, y):
        return CollapsedChain(model.rows(y), LogisticLabels(), model.moves)

    def redraw(self, rng, model, y, state, round_number):
        """Draw the data given the weights, which ask nothing of the weights of the rows."""
        beta, omega, precision = self.complete(rng, model, y, state)
        return self.outcomes(rng, model.features(omega) @ beta), beta, omega, precision

    def complete(self, rng, model, y, state):
        omega, precision = state.evidence.omega, state.evidence.precision
        Z = model.features(omega)
        A = (Z.T * state.latent) @ Z + precision * np.eye(Z.shape[1])
        return gaussian(rng, np.linalg.solve(A, Z.T @ y), A), omega, precision

    def fit(self, Z, y, precision, beta):
        """Return the log likelihood."""
        return -np.sum(np.logaddexp(0.0, -2.0 * y * (Z @ beta)))

    def functions(self, Z, y):
        return {"outcomes": np.sum(y) ** 2}


@dataclass(frozen=True)
class JointPairs(PolyaGamma):
    """Binary data; the weights of the features are in the chain's state."""

    def start(self, rng, model, y, omega, prior, precision, beta):
        chain = self.chain(model, y)
        return rebuilt(chain, chain.init(rng, omega, prior, precision), beta=beta.copy())

    def chain(self, model, y):
        return JointPairChain(model.rows(y), PRECISION)

    def complete(self, rng, model, y, state):
        return state.beta.copy(), state.omega, state.precision


def rebuilt(chain, state, **changes):
    """The state with some changes, and its sums over the chain's rows computed afresh."""
    for name, value in changes.items():
        setattr(state, name, value)
    chain.rebuild(state)
    return state


def gaussian(rng, mean, precision):
    lower = np.linalg.cholesky(precision)
    return mean + np.linalg.solve(lower.T, rng.normal(size=len(mean)))


def polya_gamma(rng, activation, n_terms=200):
    """PG(1, activation) as a sum of exponentials, its tail at its mean (Polson et al., 2013)."""
    k = np.arange(1, n_terms + 1) - 0.5
    rate = k[:, None] ** 2 + (activation / (2.0 * np.pi)) ** 2
    drawn = np.sum(rng.exponential(size=rate.shape) / rate, axis=0)
    size = np.maximum(np.abs(activation), 1e-6)
    mean = 2.0 * np.pi**2 * np.tanh(0.5 * size) / (2.0 * size)
    return (drawn + mean - np.sum(1.0 / rate, axis=0)) / (2.0 * np.pi**2)


@dataclass(frozen=True)
class Sampler:
    """A law of frequencies, a likelihood and the moves of a chain."""

    name: str
    frequencies: Any
    likelihood: Any
    moves: tuple[Move, ...]

    def __str__(self) -> str:
        return self.name

    @property
    def X(self):
        return INPUTS[:, : self.frequencies.dim]

    def features(self, omega, X=None):
        return self.frequencies.features(self.X if X is None else X, omega)

    def rows(self, y):
        return TrainingData.of(self.X, y, basis=self.frequencies.basis)

    def draw(self, rng: Generator):
        """Return one draw of the joint law: prior, frequencies, precision, data, weights."""
        prior, omega = self.frequencies.draw(rng)
        precision = float(np.exp(rng.normal(PRECISION.mean, PRECISION.std)))
        y, beta = self.likelihood.draw(rng, self.features(omega), precision)
        return prior, omega, precision, y, beta

    def functions(self, prior, omega, precision, y, beta) -> dict[str, float]:
        """What is compared: bounded functions, counts and logarithms."""
        Z = self.features(omega)
        shares = (Z.T @ y) ** 2 / (np.sum(Z**2, axis=0) * (y @ y) + 1e-12)
        share, level = float(np.mean(shares)), np.log(precision) - PRECISION.mean
        squares = np.sum(omega**2, axis=1)
        size = float(np.mean(squares / (2.0 + squares)))
        return {
            "level": level, "spread of level": level**2 / (PRECISION.std**2 + level**2),
            "cosine": float(np.mean(np.cos(omega))), "size": size, "share": share,
            "share and level": share * level, "share and size": share * size,
            "weights": np.log(beta @ beta), **self.likelihood.functions(Z, y),
            **self.frequencies.functions(prior, omega),
        }  # fmt: skip

    def successive(self, rng: Generator, n_rounds: int):
        """Return the functions at the start and along a chain, (n_rounds + 1, functions)."""
        prior, omega, precision, y, beta = self.draw(rng)
        values = [list(self.functions(prior, omega, precision, y, beta).values())]
        likelihood = self.likelihood
        state = likelihood.start(rng, self, y, omega, prior, precision, beta)
        state.steps = sizes()
        for number in range(n_rounds):
            likelihood.chain(self, y).step(rng, state)
            y, beta, omega, precision = likelihood.redraw(rng, self, y, state, number)
            state = rebuilt(likelihood.chain(self, y), state)
            values.append(list(self.functions(state.prior, omega, precision, y, beta).values()))
        return np.array(values)


@lru_cache(maxsize=32)
def forward(frequencies, likelihood, n_draws: int):
    """Return names, means and squared errors of the functions over independent draws."""
    model = Sampler("", frequencies, likelihood, ())
    rng = np.random.default_rng(0)
    draws = [model.functions(*model.draw(rng)) for _ in range(n_draws)]
    table = np.array([list(values.values()) for values in draws])
    return tuple(draws[0]), table.mean(axis=0), table.var(axis=0) / n_draws


def z_scores(sampler: Sampler, n_chains: int, n_rounds: int, n_draws: int, seed: int = 1):
    """Return how far means along chains lie from those of the model, in standard errors."""
    names, expected, square = forward(sampler.frequencies, sampler.likelihood.model, n_draws)
    rng = np.random.default_rng(seed)
    runs = np.array([sampler.successive(rng, n_rounds) for _ in range(n_chains)])
    return dict(zip(names, standardised(runs, expected, square), strict=True))


def standardised(runs, expected, square):
    """Return distances of chains' means (chains, 1 + rounds, functions) in standard errors.

    What the mean along a chain owes to its start is taken off, by a regression on it: the start
    has the model's law. That leaves less variance where chains remember, and less skewness.
    """
    starts, means = runs[:, 0] - expected, runs[:, 1:].mean(axis=1) - expected
    centred = starts - starts.mean(axis=0)
    slope = np.sum(centred * means, axis=0) / (np.sum(centred**2, axis=0) + 1e-12)
    rest = means - slope * starts
    error = np.sqrt(rest.var(axis=0, ddof=2) / len(runs) + (1.0 - slope) ** 2 * square)
    return rest.mean(axis=0) / error


def check_joint(
    sampler: Sampler, n_chains: int = 24, n_rounds: int = 50, n_draws: int = 3000, *, alpha: float
) -> None:
    """Check all functions at the level ``alpha``, shared evenly among them (Bonferroni)."""
    check_scores(z_scores(sampler, n_chains, n_rounds, n_draws), n_chains, alpha)


def check_scores(z: dict[str, float], n_chains: int, alpha: float) -> None:
    bound = stats.t(n_chains - 2).isf(alpha / (2.0 * len(z)))
    far = {name: round(float(value), 1) for name, value in z.items() if not abs(value) < bound}
    assert not far, f"beyond {bound:.1f} standard errors: {far}"


def sizes() -> StepSizes:
    return StepSizes({"precision": 1.2, "hmc": 0.5})


def moves(*first: Move) -> tuple[Move, ...]:
    return (*first, PrecisionWalk(PRECISION), PriorParameters())


SWEEP = ReplacementSweep(block_size=2)
ONE_BY_ONE = moves(SWEEP)
ALL_AT_ONCE = moves(HAMILTONIAN)
BOTH = moves(SWEEP, HAMILTONIAN)
WIDE = moves(ReplacementSweep(block_size=4))  # waves of two units
MH = Dense(correlations=(0.0,), jumps=0.0)

SAMPLERS: dict[str, Sampler] = {
    sampler.name: sampler
    for sampler in (
        Sampler("regression-dense-mh", MH, Regression(), ONE_BY_ONE),
        Sampler("regression-dense-pcn", Dense(), Regression(), ONE_BY_ONE),
        Sampler("regression-dense-hmc", Dense(), Regression(), ALL_AT_ONCE),
        Sampler("regression-sparse", Sparse(), Regression(), ONE_BY_ONE),
        Sampler("regression-sparse-hmc", Sparse(), Regression(), BOTH),
        Sampler("polya-gamma-dense-pcn", Dense(), PolyaGamma(), ONE_BY_ONE),
        Sampler("polya-gamma-sparse", Sparse(), PolyaGamma(), ONE_BY_ONE),
        Sampler("joint-pairs-dense-mh", MH, JointPairs(), ONE_BY_ONE),
        Sampler("joint-pairs-sparse", Sparse(), JointPairs(), ONE_BY_ONE),
        Sampler("matched-sparse", Amplitudes(Sparse(), Sparse()), Regression(), ONE_BY_ONE),
        Sampler("matched-dense", Amplitudes(Dense(), Dense()), Regression(), ONE_BY_ONE),
        Sampler("matched-sparse-hmc", Amplitudes(Sparse(), Sparse()), Regression(), BOTH),
        Sampler("windows", Amplitudes(Sparse(), Sparse(), windows=True), Regression(), ONE_BY_ONE),
        Sampler("windows-hmc", Amplitudes(Dense(), Sparse(), windows=True), Regression(), BOTH),
        Sampler("grid-dense", Amplitudes(Dense(), Dense(), 2), Regression(), WIDE),
        Sampler("grid-sparse", Amplitudes(Sparse(), Sparse(), 2), Regression(), WIDE),
        Sampler("polya-gamma-matched", Amplitudes(Dense(), Sparse()), PolyaGamma(), ONE_BY_ONE),
    )
}
