"""Models that learn a locally stationary kernel: regression and classification."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from bochner._base.arrays import Array, MatrixLike, as_count
from bochner._base.registry import register
from bochner.learned.chain_models import LocallyStationaryModel, Model
from bochner.learned.chain_parameters import check_name, documented
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator
from bochner.learned.learned_kernel_models import LearnedClassification, LearnedRegression

_PAIRS = ("matched", "grid")
_AMPLITUDES = ("cosines", "windows")
_VARYING: Mapping[str, tuple[bool, bool]] = {
    "learned": (True, True),
    "signal": (True, False),
    "noise": (False, True),
    "constant": (False, False),
}
"""Whether amplitudes and the noise vary, by the name of an envelope."""


@dataclass(eq=False, repr=False)
class LocallyStationaryEstimator(LearnedKernelEstimator):
    """Base of the models with a learned, locally stationary kernel."""

    _envelopes: ClassVar[tuple[str, ...]]

    n_burn_in: int = 100
    n_samples: int = 100
    _: KW_ONLY
    n_chains: int = 1
    pairs: str = "matched"
    amplitudes: str = "cosines"
    n_envelope: int = 8
    envelope: str = "learned"

    def _check_parameters(self) -> None:
        check_name("pairs", self.pairs, _PAIRS)
        check_name("envelope", self.envelope, self._envelopes)
        check_name("amplitudes", self.amplitudes, _AMPLITUDES)
        as_count("n_envelope", self.n_envelope)
        super()._check_parameters()

    def _model(self, n_frequencies: int) -> Model:
        signal, noise = _VARYING[self.envelope]
        in_grid, windows = self.pairs == "grid", self.amplitudes == "windows"
        if windows and in_grid:
            raise ValueError(
                "amplitudes='windows' are those of single frequencies: leave out pairs='grid', or "
                "use amplitudes='cosines'."
            )
        if in_grid and self.n_envelope > n_frequencies:
            raise ValueError(
                f"pairs='grid' combines every frequency with every amplitude: n_envelope must be "
                f"at most n_frequencies={n_frequencies}, the number of combinations, got "
                f"{self.n_envelope}."
            )
        # Constant amplitudes are all one, so that no frequency needs to be repeated.
        shared = int(self.n_envelope) if signal and in_grid else 0
        return LocallyStationaryModel((), shared, signal, noise, windows)


@register
@documented
class LocallyStationaryRegressor(LocallyStationaryEstimator, LearnedRegression):
    r"""Regression with a learned, locally stationary kernel (GaBaSR).

    The frequencies of :class:`bochner.LearnedKernelRegressor` have amplitudes that vary with the
    inputs, and so does the noise:

    .. math:: y = \sum_j a_j(x) [\beta_{2j} \cos(s_j \cdot x) + \beta_{2j+1} \sin(s_j \cdot x)]
              + T \gamma + e^{h(x)/2} \varepsilon, \quad
              a_j(x) = \sqrt 2 \cos(v_j \cdot x / 2 + \psi_j),

    with unknown distributions of ``s`` and ``v``. If :math:`v_j = 0`, which has a high prior
    probability, the amplitude is one: for stationary data the kernel is that of
    ``LearnedKernelRegressor``. The kernel of one frequency and its amplitude is the locally
    stationary function :math:`\cos(v \cdot u + 2 \psi) \cos(s \cdot \delta)` with :math:`u = (x +
    y)/2` and :math:`\delta = x - y`, plus a stationary kernel that makes the sum positive definite.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of waves; each makes two features.
    <structure>
    sampler : {"auto", "pcn", "hmc"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies and amplitudes. ``"auto"`` is ``"pcn"``: local moves of one
        frequency, or of its amplitude, after another. ``"hmc"``: Hamiltonian trajectories of
        frequencies and amplitudes. :func:`bochner.papers.gabasr.sampler` is the paper's model and
        sampler.
    <iterations>
    <amplitudes>
    envelope : {"learned", "signal", "noise", "constant"}, default="learned"
        Quantities that vary with the inputs: ``"learned"`` for amplitudes and noise, ``"signal"``
        for amplitudes, ``"noise"`` for noise, ``"constant"`` for the model of
        :class:`bochner.LearnedKernelRegressor`.
    <chains>

    Attributes
    ----------
    kernel_ : ModulatedWaves, Harmonizable or SpectralMixture
        Posterior mean of the kernel, in the original units of the inputs; the last where no
        amplitude varies.
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
    Noise that grows along the input, which a stationary model assumes to be constant:

    >>> import numpy as np
    >>> from bochner import LocallyStationaryRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(300, 1))
    >>> y = np.sin(6 * X[:, 0]) + (0.02 + 0.5 * X[:, 0]) * rng.normal(size=300)
    >>> model = LocallyStationaryRegressor(30, n_burn_in=50, n_samples=50, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.1], [0.9]], return_std=True)
    >>> bool(std[1] > 3 * std[0])
    True
    """

    _envelopes: ClassVar[tuple[str, ...]] = tuple(_VARYING)

    def signal_std(self, X: MatrixLike) -> Array:
        r"""Return the envelope (n,): the prior's standard deviation of the function at rows (n, d).

        It is the square root of :math:`\sigma^2 / \lambda_0 \cdot k(x, x)`, averaged over draws,
        in units of the target.
        """
        inputs, _ = self._rows(X)
        return self.target_scale_ * self.learned_[0].draws.signal_std(inputs)

    def noise_std(self, X: MatrixLike) -> Array:
        """Return the noise standard deviation (n,) at rows (n, d), averaged over draws."""
        inputs, _ = self._rows(X)
        draws = self.learned_[0].draws
        total = np.zeros(inputs.shape[1])
        for index in range(draws.n_draws):
            total += np.sqrt(draws.noise(index, inputs))
        return self.target_scale_ * total / draws.n_draws


@register
@documented
@dataclass(eq=False, repr=False)
class LocallyStationaryClassifier(LocallyStationaryEstimator, LearnedClassification):
    r"""Classification with a learned, locally stationary kernel (GaBaSR).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}),

    with ``f`` as in :class:`bochner.LocallyStationaryRegressor`. Frequencies and amplitudes are
    sampled with all weights integrated out, as in :class:`bochner.LearnedKernelClassifier`.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of waves; each makes two features.
    <structure>
    sampler : {"auto", "pcn", "hmc"}, Sampler or sequence of Move, default="auto"
        As in :class:`bochner.LocallyStationaryRegressor`.
    <iterations>
    <amplitudes>
    envelope : {"learned", "constant"}, default="learned"
        Whether amplitudes vary; ``"constant"`` is the model of
        :class:`bochner.LearnedKernelClassifier`.
    <chains>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : ModulatedWaves, Harmonizable or SpectralMixture
        Posterior mean of the kernel, in the original units of the inputs; the last where no
        amplitude varies.
    <learned>

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR), sections 3.2.2 to 3.2.4.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import LocallyStationaryClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LocallyStationaryClassifier(30, n_burn_in=20, n_samples=20, random_state=0)
    >>> model = model.fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    """

    _envelopes: ClassVar[tuple[str, ...]] = ("learned", "constant")

    def signal_std(self, X: MatrixLike) -> Array:
        r"""Return the envelope (n,): the prior's standard deviation of the log odds at rows (n, d).

        It is the square root of :math:`k(x, x) / \lambda_0`, averaged over draws. With more than
        two classes the shape is (n, n_classes), one column per class against the rest.
        """
        inputs, _ = self._rows(X)
        columns = [learned.draws.signal_std(inputs) for learned in self.learned_]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
