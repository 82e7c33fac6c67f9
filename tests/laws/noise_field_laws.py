"""What the noise's field and the chain around it must do: keep their joint law with the data.

As in :mod:`laws.chains`; generative models share no code with the moves, but for the laws of
hyperparameters.
"""

import numpy as np
from laws import chains

from bochner.learned.chain_run import CollapsedChain
from bochner.learned.noise_field import NoiseField, VaryingNoise
from bochner.learned.training_data import TrainingData

N_WAVES = 3
WEIGHT = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0])
_MOST = 30.0


def heights(X, omega, weights):
    """The field, wave by wave; far beyond what noise can be, it is cut."""
    total = np.zeros(len(X))
    for k, frequency in enumerate(omega):
        angle = X @ frequency
        total += weights[2 * k] * np.cos(angle) + weights[2 * k + 1] * np.sin(angle)
    return np.clip(total / np.sqrt(len(omega)), -_MOST, _MOST)


def drawn(rng):
    """A field from its law: an inverse gamma spread, normal weights, sparse frequencies."""
    prior, omega = chains.Sparse().draw(rng, N_WAVES)
    spread = np.sqrt(0.5 / rng.exponential())
    return NoiseField(omega, spread * rng.normal(size=2 * N_WAVES), float(spread), prior)


def functions(field, squares, X):
    h = heights(X, field.omega, field.weights)
    level = np.log(field.spread)
    return {
        "spread": np.tanh(level),
        "wide": field.spread > 1.0,
        "weights": np.tanh(np.log(field.weights @ field.weights)),
        "first": np.tanh(field.weights[0]),
        "height": np.tanh(h.mean()),
        "contrast": np.tanh(h[0] - h[1]),
        "roughness": np.log1p(np.var(h)),
        "squares": np.mean(np.tanh(0.2 * np.log(squares))),
        "height and squares": np.mean(np.tanh(h) * np.tanh(np.log(squares))),
        **chains.Sparse().functions(field.prior, field.omega),
    }


def check_joint(successive, forward, n_chains, n_rounds, n_draws, alpha, seed=2):
    """Check means along chains against those of the model; see :func:`laws.chains.z_scores`."""
    rng = np.random.default_rng(seed)
    draws = [forward(rng) for _ in range(n_draws)]
    table = np.array([list(values.values()) for values in draws], dtype=float)
    runs = np.array([list(successive(rng, n_rounds)) for _ in range(n_chains)], dtype=float)
    z = chains.standardised(runs, table.mean(axis=0), table.var(axis=0) / n_draws)
    chains.check_scores(dict(zip(draws[0], z, strict=True)), n_chains, alpha)


def check_field(weight=None, n_chains=30, n_rounds=40, n_draws=3000, alpha=1e-3):
    """Squares of residuals are chi-squared times the field's exponential, with as many degrees."""
    X = chains.INPUTS
    rows = TrainingData.of(X, np.zeros(len(X)), weight=weight)
    degrees = np.ones(len(X)) if weight is None else weight

    def squares_of(rng, field):
        return np.exp(heights(X, field.omega, field.weights)) * rng.chisquare(degrees)

    def forward(rng):
        field = drawn(rng)
        return functions(field, squares_of(rng, field), X)

    def successive(rng, n_rounds):
        field = drawn(rng)
        squares = squares_of(rng, field)
        yield list(functions(field, squares, X).values())
        for _ in range(n_rounds):
            field = field.moved(rng, rows, squares)
            squares = squares_of(rng, field)
            yield list(functions(field, squares, X).values())

    check_joint(successive, forward, n_chains, n_rounds, n_draws, alpha)


def check_chain(n_chains=24, n_rounds=40, n_draws=3000, alpha=1e-3):
    """The whole chain: amplitudes, precision and the field, given data that it is to explain."""
    X = chains.INPUTS
    frequencies = chains.Amplitudes(chains.Sparse(), chains.Sparse())

    def data(rng, omega, precision, field):
        Z = frequencies.features(X, omega)
        variance = chains.NOISE.rate / rng.gamma(chains.NOISE.shape)
        beta = rng.normal(size=Z.shape[1]) * np.sqrt(variance / precision)
        scale = np.sqrt(variance * np.exp(heights(X, field.omega, field.weights)))
        return Z @ beta + scale * rng.normal(size=len(X))

    def again(rng, y, omega, precision, field):
        """New data given the old ones through weights and variance, drawn given them."""
        Z = frequencies.features(X, omega)
        spread = np.exp(heights(X, field.omega, field.weights))
        A = (Z.T / spread) @ Z + precision * np.eye(Z.shape[1])
        b = Z.T @ (y / spread)
        mean = np.linalg.solve(A, b)
        rate = chains.NOISE.rate + 0.5 * (y @ (y / spread) - b @ mean)
        variance = rate / rng.gamma(chains.NOISE.shape + 0.5 * len(y))
        beta = chains.gaussian(rng, mean, A / variance)
        return Z @ beta + np.sqrt(variance * spread) * rng.normal(size=len(y))

    def values(prior, omega, precision, y, field):
        level = np.log(precision) - chains.PRECISION.mean
        own = functions(field, y**2, X)
        found = {f"field's {name}": value for name, value in own.items()}
        found |= frequencies.functions(prior, omega)
        share = np.tanh(np.log(y @ y)) * np.tanh(own["height"])
        return found | {"level": level, "level and height": level * own["height"], "all": share}

    def start(rng):
        prior, omega = frequencies.draw(rng)
        precision = float(np.exp(rng.normal(chains.PRECISION.mean, chains.PRECISION.std)))
        field = drawn(rng)
        return prior, omega, precision, data(rng, omega, precision, field), field

    def chain(y, field):
        rows = TrainingData.of(X, y, basis=frequencies.basis)
        return CollapsedChain(rows, VaryingNoise(chains.NOISE, field.prior), chains.ONE_BY_ONE)

    def successive(rng, n_rounds):
        prior, omega, precision, y, field = start(rng)
        yield list(values(prior, omega, precision, y, field).values())
        given = chain(y, field)
        state = given.init(rng, omega, prior, precision)
        state = chains.rebuilt(given, state, latent=field)
        state.steps = chains.sizes()
        for number in range(n_rounds):
            chain(y, field).step(rng, state)
            omega, precision, field = state.omega, state.evidence.precision, state.latent
            given = (omega, precision, field)
            y = data(rng, *given) if number % 2 else again(rng, y, *given)
            state = chains.rebuilt(chain(y, field), state)
            yield list(values(state.prior, omega, precision, y, field).values())

    check_joint(successive, lambda rng: values(*start(rng)), n_chains, n_rounds, n_draws, alpha)
