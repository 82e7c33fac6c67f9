"""Regression with a kernel learned from the data."""

from bochner.estimators.bank import BaNKRegression
from bochner.estimators.bank_parameters import documented
from bochner.registry import register


@register
@documented
class BaNKRegressor(BaNKRegression):
    r"""Regression with a learned kernel (BaNK).

    The frequencies :math:`\omega_j` of the features are unknowns with a nonparametric prior,
    sampled together with its parameters and the ratio of noise to signal, all weights integrated
    out:

    .. math:: y = \Phi_\omega \beta + T \gamma + \varepsilon, \quad
              \beta \sim N(0, (\sigma^2 / \lambda_0) I), \quad \varepsilon \sim N(0, \sigma^2 I).

    Predictions average over posterior draws. Inputs and target are standardised internally.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies, ``m``; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies. ``"pcn"``, which ``"auto"`` means: local moves of one frequency
        after another. ``"hmc"``: trajectories of all frequencies along gradients. ``"mh"``: the
        independence proposals of the paper, which mix slowly. A sequence of moves is a round of
        one's own, see :class:`bochner.learning.moves.Move`.
    <iterations>
    <chains>

    Attributes
    ----------
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, on inputs in their own units.
    <learned>
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training targets.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016, for the dense model and equations (8) to (15). The block algebra, the sparse
    frequencies and the local proposals are this library's own.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import BaNKRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(200, 1))
    >>> y = np.sin(2 * np.pi * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = BaNKRegressor(50, n_burn_in=30, n_samples=30, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[3.25]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 0.1), bool(std[0] < 0.2)
    (True, True)
    """
