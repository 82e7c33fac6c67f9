"""Regression with a locally stationary kernel learned from the data."""

from typing import Any, ClassVar

import numpy as np

from bochner._numerics.arrays import Array
from bochner.estimators.bank import BaNKRegression
from bochner.estimators.bank_parameters import documented
from bochner.estimators.gabasr import VARYING, GaBaSR
from bochner.registry import register


@register
@documented
class GaBaSRRegressor(GaBaSR, BaNKRegression):
    r"""Regression with a learned, locally stationary kernel (GaBaSR).

    The frequencies of :class:`bochner.BaNKRegressor` have amplitudes that vary with the inputs,
    and so does the noise:

    .. math:: y = \sum_j a_j(x) [\beta_{2j} \cos(s_j \cdot x) + \beta_{2j+1} \sin(s_j \cdot x)]
              + T \gamma + e^{h(x)/2} \varepsilon, \quad
              a_j(x) = \sqrt 2 \cos(v_j \cdot x / 2 + \psi_j),

    with unknown laws of all ``s`` and of all ``v``. Where :math:`v_j = 0`, which has a high prior
    probability, the amplitude is one: stationary data get the kernel of ``BaNKRegressor``. The
    kernel of a pair is locally stationary, :math:`\cos(v \cdot u + 2 \psi) \cos(s \cdot \delta)`
    with :math:`u = (x + y)/2` and :math:`\delta = x - y`, plus the stationary one that makes it
    positive definite.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of waves; each makes two features.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the unknowns. ``"pcn"``, which ``"auto"`` means: local moves of one frequency, or
        of its amplitude, after another. ``"hmc"``: trajectories of frequencies and amplitudes
        along gradients. ``"mh"``: the paper's model and sampler, with independence proposals,
        Dirichlet-process mixtures of ``s`` and of ``v``, its priors, constant noise, and waves of
        the frequencies :math:`s_n + v_k / 2`. Its weights are independent, so that its kernel is
        stationary after all.
    <iterations>
    <amplitudes>
    envelope : {"learned", "signal", "noise", "constant"}, default="learned"
        What varies with the inputs: amplitudes and noise, one of them, or nothing, which is
        :class:`bochner.BaNKRegressor`.
    <chains>

    Attributes
    ----------
    kernel_ : ModulatedWaves or SpectralMixture
        Posterior mean of the kernel, on inputs in their own units; the latter where no amplitude
        varies.
    <learned>
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training targets.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR). Silverman, "Locally stationary random processes", 1957. Block replacement, the
    amplitudes' phases and varying noise are this library's own.

    Examples
    --------
    Noise that grows along the input, which a stationary model takes to be the same everywhere:

    >>> import numpy as np
    >>> from bochner import GaBaSRRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(300, 1))
    >>> y = np.sin(6 * X[:, 0]) + (0.02 + 0.5 * X[:, 0]) * rng.normal(size=300)
    >>> model = GaBaSRRegressor(30, n_burn_in=50, n_samples=50, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.1], [0.9]], return_std=True)
    >>> bool(std[1] > 3 * std[0])
    True
    """

    _envelopes: ClassVar[tuple[str, ...]] = tuple(VARYING)

    def signal_std(self, X: Any) -> Array:
        r"""Return the prior's standard deviation of the function at rows, of shape (n,).

        In units of the target: the root of :math:`\sigma^2 / \lambda_0 \cdot k(x, x)`, on average
        over draws. This is the envelope.

        Parameters
        ----------
        X : array-like of shape (n, d)
        """
        inputs, _ = self._rows(X)
        return self.target_scale_ * self.learned_[0].draws.signal_std(inputs)

    def noise_std(self, X: Any) -> Array:
        """Return the noise's standard deviation at rows, of shape (n,), on average over draws.

        Parameters
        ----------
        X : array-like of shape (n, d)
        """
        inputs, _ = self._rows(X)
        draws = self.learned_[0].draws
        total = np.zeros(inputs.shape[1])
        for index in range(draws.n_draws):
            total += np.sqrt(draws.noise(index, inputs))
        return self.target_scale_ * total / draws.n_draws
