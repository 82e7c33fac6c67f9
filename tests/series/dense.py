"""Dense Gaussian processes along time, by formulas that share nothing with the recursions."""

import numpy as np


def matrix_of(own, other, partner):
    """Return F (s, s) from its diagonal and the entries at the partners."""
    found = np.diag(own).astype(float)
    for i, p in enumerate(partner):
        if p != i:
            found[i, p] = other[i]
    return found


def joint_covariance(steps, initial, count):
    """Return the covariance (n s, n s) of the states at all times."""
    s = len(initial)
    arrays = zip(steps.own, steps.other, steps.variance, steps.covariance, strict=True)
    pairs = [
        (matrix_of(own, other, steps.partner), matrix_of(variance, covariance, steps.partner))
        for own, other, variance, covariance in arrays
    ]
    variances = [initial]
    for t in range(1, count):
        F, Q = pairs[steps.which[t]]
        variances.append(F @ variances[-1] @ F.T + Q)
    joint = np.zeros((count * s, count * s))
    for t in range(count):
        block = variances[t]
        for later in range(t, count):
            if later > t:
                block = pairs[steps.which[later]][0] @ block
            joint[later * s : (later + 1) * s, t * s : (t + 1) * s] = block
            joint[t * s : (t + 1) * s, later * s : (later + 1) * s] = block.T
    return joint


def weight_rows(weights, keep=None):
    """Return the matrix (n, n s) that maps all states to values, of some states alone."""
    n, s = weights.shape
    found = np.zeros((n, n * s))
    for t in range(n):
        found[t, t * s : (t + 1) * s] = weights[t] if keep is None else weights[t] * keep
    return found


def log_normal_density(values, cov):
    """Return the log density of values (n,) with mean zero."""
    _, log_determinant = np.linalg.slogdet(cov)
    quadratic = values @ np.linalg.solve(cov, values)
    return -0.5 * (quadratic + log_determinant + len(values) * np.log(2.0 * np.pi))


def conditioned(cross, prior, known_cov, values):
    """Return mean and covariance given values, from covariances with them."""
    solved = np.linalg.solve(known_cov, np.column_stack((values, cross.T)))
    return cross @ solved[:, 0], prior - cross @ solved[:, 1:]


def clock_at(times):
    """What the clock of a zone shows minus the time: clocks are turned back, and forward again."""
    times = np.asarray(times)
    return 0.03 * ((times < 0.45) | (times > 1.2))


def covariance(model, theta, times, others, inputs=None, other_inputs=None):
    """Return the covariance (n, n') of the noise-free values of a model, by kernels' formulas."""
    from bochner.series import components as parts
    from bochner.series import trends

    a, b = np.asarray(times)[:, None], np.asarray(others)[None]
    gap = np.abs(a - b)
    total = np.zeros_like(gap)
    for part in model.parts:
        p = theta[model.place(part)]
        if isinstance(part, trends.ConstantLevel):
            total += 100.0
        elif isinstance(part, parts.Variation):
            total += np.exp(2.0 * p[0] - gap / np.exp(p[1]))
        elif isinstance(part, parts.Remainder):
            share = 1.0 / (1.0 + np.exp(-p[1]))
            total += share * np.exp(2.0 * p[0] - gap / np.exp(p[2]))
        elif isinstance(part, parts.Waves):
            shown = a + clock_at(a) - b - clock_at(b) if part.by_clock else gap
            total += wave_kernel(part, p, gap, shown)
        elif isinstance(part, trends.WalkWithDrift):
            total += 100.0 + 9.0 * a * b + np.exp(p[0]) * np.minimum(a, b)
        elif isinstance(part, trends.Slope):
            total += 100.0 + slope_kernel(np.exp(p[0]), np.exp(p[1]), a, b, part.has_line)
        elif isinstance(part, parts.LevelShifts):
            for time in part.times:
                total += 9.0 * ((a >= time) & (b >= time))
        else:
            total += np.exp(2.0 * p[0]) * (inputs @ other_inputs.T)
    return total


def wave_kernel(part, p, gap, shown):
    """Return the sum of damped cosines, whose lag is the one that clocks show."""
    period = np.exp(p[-1]) if part.freedom else part.period
    decay = np.exp(p[2]) if part.n_harmonics > 1 else 0.0
    waves = sum(
        h ** (-2.0 * decay) * np.cos(2.0 * np.pi * h * shown / period)
        for h in range(1, part.n_harmonics + 1)
    )
    return np.exp(2.0 * p[0]) * np.exp(-gap / np.exp(p[1])) * waves


def slope_kernel(q, rate, a, b, has_line):
    """Return the covariance of integrals of an Ornstein-Uhlenbeck slope, by quadrature.

    The slope has variance q / (2 rate) from the start or, with a line, zero at time zero.
    """
    nodes, weights = np.polynomial.legendre.leggauss(30)
    found = np.empty(np.broadcast(a, b).shape)
    for place, (s, t) in enumerate(np.broadcast(a, b)):
        # The integral over [0, s] x [0, t] of the slope's covariance, in pieces without a kink.
        s, t = min(s, t), max(s, t)
        x = 0.5 * s * (nodes + 1.0)[:, None]
        total = 0.0
        for low, high in ((0.0, x), (x, t)):
            y = low + 0.5 * (high - low) * (nodes + 1.0)
            kernel = np.exp(-rate * np.abs(x - y))
            if has_line:
                kernel = kernel - np.exp(-rate * (x + y))
            total += np.sum(weights[:, None] * weights * (high - low) * kernel)
        found.flat[place] = q / (2.0 * rate) * 0.25 * s * total
    return found + (9.0 * (a - 0.5) * (b - 0.5) if has_line else 0.0)
