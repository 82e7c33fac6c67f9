"""What chains with latent variables of the rows must do: keep their joint law with the data.

As in :mod:`laws.chains`; generative models share no code with the moves, but for the laws of
hyperparameters.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from laws import chains
from laws.noise_field_laws import check_joint
from scipy import stats

from bochner.gaussian_process import (
    CensoredGaussianLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    StudentTLikelihood,
)
from bochner.learned.chain import CollapsedChain
from bochner.learned.chain_evidence import KnownNoise
from bochner.learned.moves.censored import CensoredNumbers
from bochner.learned.moves.count_labels import NegativeBinomialCounts
from bochner.learned.moves.ordinal import OrdinalLabels
from bochner.learned.moves.student_t import StudentTNoise
from bochner.learned.training_data import TrainingData

X = chains.INPUTS
OFFSET = np.linspace(-2.0, 0.5, len(X))
FREQUENCIES = chains.Dense()


@dataclass(frozen=True)
class World:
    """A draw of everything but frequencies: data, latent variables and the parameter, if any."""

    y: np.ndarray
    values: np.ndarray
    parameter: float = 1.0


class NormalGivenVariables:
    """Laws with a noise variance, of a scale mixture or of imputed targets."""

    offset = np.zeros(len(X))

    def parameter(self, rng):
        return 1.0

    def fresh(self, rng, Z, precision, parameter):
        """Draw weights, noise, variables and data from their prior."""
        variance = chains.NOISE.rate / rng.gamma(chains.NOISE.shape)
        beta = rng.normal(size=Z.shape[1]) * np.sqrt(variance / precision)
        return self.data(rng, Z @ beta, variance, self.weights(rng, parameter), parameter)

    def again(self, rng, Z, precision, world):
        """New data given the old ones through weights and variance, drawn given them."""
        weight, target = self.given(world)
        A = (Z.T * weight) @ Z + precision * np.eye(Z.shape[1])
        mean = np.linalg.solve(A, Z.T @ (weight * target))
        rate = chains.NOISE.rate + 0.5 * (weight @ target**2 - mean @ A @ mean)
        variance = rate / rng.gamma(chains.NOISE.shape + 0.5 * len(target))
        beta = chains.gaussian(rng, mean, A / variance)
        return self.data(rng, Z @ beta, variance, weight, world.parameter)


class Outliers(NormalGivenVariables):
    """Student-t noise with unknown degrees of freedom."""

    def likelihood(self):
        law = StudentTLikelihood(df=None)
        return StudentTNoise(law, StudentTLikelihood(4.0, 1.0), 0.0, chains.NOISE)

    def parameter(self, rng):
        return rng.gamma(2.0) / 0.1

    def weights(self, rng, df):
        return rng.gamma(0.5 * df, 2.0 / df, size=len(X))

    def data(self, rng, f, variance, weight, df):
        return World(f + np.sqrt(variance / weight) * rng.normal(size=len(f)), weight, df)

    def given(self, world):
        return world.values, world.y

    def functions(self, world):
        return {
            "df": np.tanh(np.log(world.parameter / 15.0)),
            "variables": np.tanh(np.mean(np.log(world.values))),
            "least": np.min(world.values) < 0.5,
            "outlier": np.tanh(np.log(world.values[0])) * np.tanh(0.5 * np.log(world.y[0] ** 2)),
            "square": np.log1p(world.y @ world.y),
        }


class Limits(NormalGivenVariables):
    """Targets censored on either side; the latent variables are the true ones."""

    left, right = -0.4, 1.0

    def likelihood(self):
        law = CensoredGaussianLikelihood(self.left, self.right)
        return CensoredNumbers(law, replace(law, scale=1.0), 0.0, chains.NOISE)

    def weights(self, rng, parameter):
        return np.ones(len(X))

    def data(self, rng, f, variance, weight, parameter):
        true = f + np.sqrt(variance) * rng.normal(size=len(f))
        return World(np.clip(true, self.left, self.right), true)

    def given(self, world):
        return np.ones(len(X)), world.values

    def functions(self, world):
        inside = (world.y > self.left) & (world.y < self.right)
        return {
            "inside": inside.sum(),
            "above": (world.y >= self.right).sum(),
            "true": np.tanh(world.values).mean(),
            "far": np.tanh(np.abs(world.values)).mean(),
            "square": np.log1p(world.values @ world.values),
        }


class Counts:
    """Negative binomial counts with offsets and an unknown dispersion."""

    offset = OFFSET

    def likelihood(self):
        law, guess = NegativeBinomialLikelihood(), NegativeBinomialLikelihood(0.5)
        return NegativeBinomialCounts(law, guess, 0.0, KnownNoise())

    def parameter(self, rng):
        return rng.exponential()

    def fresh(self, rng, Z, precision, dispersion):
        beta = rng.normal(size=Z.shape[1]) / np.sqrt(precision)
        return self._data(rng, Z @ beta, dispersion)

    def again(self, rng, Z, precision, world):
        r = 1.0 / world.parameter
        A = (Z.T * world.values) @ Z + precision * np.eye(Z.shape[1])
        slope = 0.5 * (world.y - r) - world.values * (OFFSET - np.log(r))
        beta = chains.gaussian(rng, np.linalg.solve(A, Z.T @ slope), A)
        return self._data(rng, Z @ beta, world.parameter)

    def _data(self, rng, f, dispersion):
        r, rate = 1.0 / dispersion, np.exp(f + OFFSET)
        y = rng.poisson(np.minimum(rate * rng.gamma(r, dispersion, size=len(f)), 1e15))
        log_odds = f + OFFSET + np.log(dispersion)
        return World(y.astype(float), polya_gamma(rng, y + r, log_odds), dispersion)

    def functions(self, world):
        return {
            "dispersion": np.tanh(np.log(world.parameter)),
            "zeros": np.sum(world.y == 0.0),
            "counts": np.mean(np.log1p(world.y)),
            "variables": np.tanh(np.mean(np.log(world.values))),
            "variables and counts": np.mean(
                np.tanh(np.log(world.values)) * np.tanh(np.log1p(world.y) - 1.0)
            ),
        }


class Grades:
    """Three classes in order; the parameter is the distance of the two cutpoints."""

    offset = np.zeros(len(X))
    first = -0.8

    def likelihood(self):
        law, guess = OrdinalLikelihood(), OrdinalLikelihood((self.first, 0.5))
        return OrdinalLabels(law, guess, 0.0, KnownNoise())

    def parameter(self, rng):
        return 2.0 * rng.exponential()

    def fresh(self, rng, Z, precision, distance):
        return self._data(rng, Z @ rng.normal(size=Z.shape[1]) / np.sqrt(precision), distance)

    def again(self, rng, Z, precision, world):
        lower, upper = world.values
        A = (Z.T * (lower + upper)) @ Z + precision * np.eye(Z.shape[1])
        beta = chains.gaussian(rng, np.linalg.solve(A, Z.T @ self._slope(world)), A)
        return self._data(rng, Z @ beta, world.parameter)

    def _slope(self, world):
        """Sum of precisions times cutpoints, and of half a label of each cutpoint."""
        ends = {0.0: (None, self.first), 2.0: (self.first + world.parameter, None)}
        between = self.first, self.first + world.parameter
        found = np.zeros(len(world.y))
        for i, y in enumerate(world.y):
            low, high = ends.get(y, between)
            found[i] += 0.0 if low is None else 0.5 + world.values[0, i] * low
            found[i] += 0.0 if high is None else -0.5 + world.values[1, i] * high
        return found

    def _data(self, rng, f, distance):
        cuts = np.array([self.first, self.first + distance])
        y = np.sum(f + rng.logistic(size=len(f)) > cuts[:, None], axis=0).astype(float)
        values = np.zeros((2, len(f)))
        lower, upper = y > 0.0, y < 2.0
        values[0, lower] = chains.polya_gamma(
            rng, (f - cuts[np.maximum(y, 1).astype(int) - 1])[lower]
        )
        values[1, upper] = chains.polya_gamma(rng, (f - cuts[np.minimum(y, 1).astype(int)])[upper])
        return World(y, values, distance)

    def functions(self, world):
        return {
            "distance": np.tanh(np.log(world.parameter)),
            "middle": np.sum(world.y == 1.0),
            "squares": np.sum(world.y - 1.0) ** 2,
            "variables": np.tanh(np.log(world.values.sum(axis=0))).mean(),
            "both": np.mean(np.tanh(np.log(world.values.sum(axis=0))) * (world.y == 1.0)),
        }


def vector_of(law, parameter):
    """What the chain keeps of a parameter: its logarithm, after the first cutpoint."""
    if isinstance(law, Limits):
        return np.empty(0)
    return np.append([law.first] if isinstance(law, Grades) else [], np.log(parameter))


def polya_gamma(rng, count, activation, n_terms=200):
    """PG(count, activation) as a sum of gamma variables, its tail at its mean."""
    k = np.arange(1, n_terms + 1) - 0.5
    rate = k[:, None] ** 2 + (activation / (2.0 * np.pi)) ** 2
    drawn = np.sum(rng.gamma(count, size=rate.shape) / rate, axis=0)
    size = np.maximum(np.abs(activation), 1e-6)
    mean = 2.0 * np.pi**2 * np.tanh(0.5 * size) / (2.0 * size)
    return (drawn + count * (mean - np.sum(1.0 / rate, axis=0))) / (2.0 * np.pi**2)


LAWS: dict[str, Any] = {
    "student-t": Outliers(),
    "censored": Limits(),
    "counts": Counts(),
    "ordinal": Grades(),
}


def check_chain(name, n_chains=24, n_rounds=40, n_draws=3000, alpha=1e-3):
    """Frequencies, their law, precision and parameter, given data that they are to explain."""
    law = LAWS[name]

    def values(prior, omega, precision, world):
        level = np.log(precision) - chains.PRECISION.mean
        own, Z = law.functions(world), FREQUENCIES.features(X, omega)
        size = np.log1p(np.abs(world.y))
        shares = (Z.T @ size) ** 2 / (np.sum(Z**2, axis=0) * (size @ size) + 1e-12)
        first = next(iter(own.values()))
        more = {"level": level, "share": np.mean(shares), "both": level * first}
        return own | more | FREQUENCIES.functions(prior, omega)

    def start(rng):
        prior, omega = FREQUENCIES.draw(rng)
        precision = float(np.exp(rng.normal(chains.PRECISION.mean, chains.PRECISION.std)))
        world = law.fresh(rng, FREQUENCIES.features(X, omega), precision, law.parameter(rng))
        return prior, omega, precision, world

    def chain(world):
        observed = np.stack([world.y, law.offset])
        rows = TrainingData.of(X, world.y, observed=observed)
        return CollapsedChain(rows, law.likelihood(), chains.ONE_BY_ONE)

    def state_of(world, prior, omega, precision):
        latent = {"values": world.values, "vector": vector_of(law, world.parameter)}
        saved = {"omega": omega, "precision": precision, "prior": prior.state(), "latent": latent}
        sizes = {"step_sizes": dict(chains.sizes().values), "n_adapted": 0}
        return chain(world).restored(saved | sizes, prior)

    def successive(rng, n_rounds):
        prior, omega, precision, world = start(rng)
        yield list(values(prior, omega, precision, world).values())
        for number in range(n_rounds):
            state = state_of(world, prior, omega, precision)
            own = chain(world)
            own.step(rng, state)
            prior, omega, precision = state.prior, state.omega, state.evidence.precision
            latent = own.likelihood.saved(state.latent)
            parameter = float(np.exp(latent["vector"][-1:].sum()))
            world = replace(world, values=latent["values"], parameter=parameter)
            Z = FREQUENCIES.features(X, omega)
            if number % 2:
                world = law.fresh(rng, Z, precision, world.parameter)
            else:
                world = law.again(rng, Z, precision, world)
            yield list(values(prior, omega, precision, world).values())

    check_joint(successive, lambda rng: values(*start(rng)), n_chains, n_rounds, n_draws, alpha)


@dataclass(frozen=True)
class Tiny:
    """Few rows on the waves of one frequency, whose posterior is an integral over three or four."""

    likelihood: Any
    y: np.ndarray
    log_density: Any  # Targets given the function, scale and parameter
    weight: np.ndarray | None = None
    offset: float = 0.0
    log_prior: Any = None  # Log density of the logarithm of the parameter

    precision = 0.5
    x = np.array([-1.3, -0.7, -0.2, 0.3, 0.9, 1.6])
    omega = np.array([[1.7]])

    @property
    def features(self):
        return np.column_stack((np.cos(1.7 * self.x), np.sin(1.7 * self.x)))

    def expected(self):
        """Return posterior means of weights, their squares and the logarithm of the parameter."""
        has_scale, has_parameter = self.has_scale, self.log_prior is not None
        weights = np.linspace(-7.0, 7.0, 41)
        scales = np.linspace(-2.2, 1.8, 21) if has_scale else np.zeros(1)
        parameters = np.linspace(-6.0, 5.0, 28) if has_parameter else np.zeros(1)
        a, b, s, q = np.meshgrid(weights, weights, scales, parameters, indexing="ij", sparse=True)
        precision = self.precision / (1.0 if has_scale else self.likelihood.noise.value)
        log_p = -0.5 * precision * (a**2 + b**2) * np.exp(-2.0 * s) - 2.0 * s
        if has_scale:  # An inverse gamma law of the variance
            log_p = log_p - 2.0 * chains.NOISE.shape * s - chains.NOISE.rate * np.exp(-2.0 * s)
        if has_parameter:
            log_p = log_p + self.log_prior(q)
        times = np.ones(len(self.y)) if self.weight is None else self.weight
        for row, y, w in zip(self.features, self.y, times, strict=True):
            f = row[0] * a + row[1] * b + self.offset
            log_p = log_p + w * self.log_density(y, f, np.exp(s), np.exp(q))
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        return np.array([np.sum(p * value) for value in (a, b, a**2, b**2, q)])

    @property
    def has_scale(self):
        return not isinstance(self.likelihood.noise, KnownNoise)

    def sampled(self, rng, n_rounds):
        """Return the same along a chain at fixed frequencies, from what it knows of the weights."""
        observed = np.stack([self.y, np.full(len(self.y), self.offset)])
        rows = TrainingData.of(self.x[:, None], self.y, None, self.weight, observed=observed)
        chain = CollapsedChain(rows, self.likelihood, moves=())
        state = chain.init(rng, self.omega, chains.Dense(dim=1).draw(rng)[0], self.precision)
        found = np.empty((n_rounds, 5))
        for values in found:
            chain.step(rng, state)
            evidence, saved = state.evidence, self.likelihood.saved(state.latent)
            variance = self.likelihood.noise.variance(evidence.residual, evidence.degrees)
            spread = np.diag(evidence.covariance) * variance
            values[:2], values[2:4] = evidence.mean, evidence.mean**2 + spread
            values[4] = saved["vector"][-1] if self.log_prior else 0.0
        return found


def check_posterior(tiny, n_rounds=4000, alpha=1e-3, n_batches=20):
    """Check means along a chain against integrals, with errors from means of batches."""
    found = tiny.sampled(np.random.default_rng(1), n_rounds)
    batches = found.reshape(n_batches, -1, found.shape[1]).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(n_batches) + 1e-9
    z = (batches.mean(axis=0) - tiny.expected()) / error
    bound = stats.t(n_batches - 1).isf(alpha / (2.0 * len(z)))
    assert (np.abs(z) < bound).all(), f"beyond {bound:.1f} standard errors: {z.round(1)}"


def log_t(y, f, scale, df):
    return stats.t.logpdf((y - f) / scale, df) - np.log(scale)


def log_tobit(y, f, scale, _):
    if y <= Limits.left:
        return stats.norm.logcdf((Limits.left - f) / scale)
    if y >= Limits.right:
        return stats.norm.logsf((Limits.right - f) / scale)
    return stats.norm.logpdf((y - f) / scale) - np.log(scale)


def log_counts(y, f, _, dispersion):
    return stats.nbinom.logpmf(y, 1.0 / dispersion, 1.0 / (1.0 + dispersion * np.exp(f)))


_NUMBERS = np.array([0.4, -0.3, 4.0, 1.1, 0.7, -0.9])
_WEIGHT = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.5])
_KNOWN = KnownNoise(0.49)


def log_grades(y, f, _, distance):
    low, high = Grades.first, Grades.first + distance
    if y == 0.0:
        return stats.logistic.logcdf(low - f)
    if y == 2.0:
        return stats.logistic.logsf(high - f)
    return np.log(stats.logistic.cdf(high - f) - stats.logistic.cdf(low - f) + 1e-300)


def log_gamma_prior(shape, rate):
    return lambda log_value: shape * log_value - rate * np.exp(log_value)


TINY = {
    "student-t": Tiny(
        Outliers().likelihood(), _NUMBERS, log_t, log_prior=log_gamma_prior(2.0, 0.1)
    ),
    "student-t of weights": Tiny(
        Outliers().likelihood(), _NUMBERS, log_t, _WEIGHT, log_prior=log_gamma_prior(2.0, 0.1)
    ),
    "student-t of known parameters": Tiny(
        StudentTNoise(StudentTLikelihood(3.0, 0.7), StudentTLikelihood(3.0, 0.7), 0.0, _KNOWN),
        _NUMBERS,
        lambda y, f, scale, df: log_t(y, f, 0.7, 3.0),
    ),
    "censored": Tiny(Limits().likelihood(), np.clip(_NUMBERS, -0.4, 1.0), log_tobit),
    "counts": Tiny(
        Counts().likelihood(),
        np.array([5.0, 2.0, 16.0, 6.0, 3.0, 9.0]),
        log_counts,
        _WEIGHT,
        2.0,
        log_gamma_prior(1.0, 1.0),
    ),
    "ordinal": Tiny(
        Grades().likelihood(),
        np.array([0.0, 2.0, 1.0, 1.0, 2.0, 0.0]),
        log_grades,
        _WEIGHT,
        log_prior=log_gamma_prior(1.0, 0.5),
    ),
}
