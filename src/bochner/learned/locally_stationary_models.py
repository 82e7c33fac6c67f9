"""Models that learn a locally stationary kernel: regression and classification."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from bochner._base.arrays import Array, MatrixLike, as_count
from bochner._base.registry import register
from bochner.learned.chain_models import LocallyStationaryModel, Model
from bochner.learned.chain_parameters import GABASR_CHOICES, Choice, check_name, documented
from bochner.learned.learned_kernel_fit import BaNK
from bochner.learned.learned_kernel_models import BaNKClassification, BaNKRegression
from bochner.learned.preparation import frequency_scales

_PAIRS = ("matched", "grid")
_AMPLITUDES = ("cosines", "windows")
_LIKELIHOODS = ("logistic", "paper")
_VARYING: Mapping[str, tuple[bool, bool]] = {
    "learned": (True, True),
    "signal": (True, False),
    "noise": (False, True),
    "constant": (False, False),
}
"""Whether amplitudes and the noise vary, by the name of an envelope."""


@dataclass(eq=False, repr=False)
class GaBaSR(BaNK):
    """Base of the models with a learned, locally stationary kernel."""

    _choices: ClassVar[Mapping[str, Choice]] = GABASR_CHOICES
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

    def _model(self, choice: Choice, scaled: Array) -> Model:
        n_envelope = as_count("n_envelope", self.n_envelope)
        varies: dict[str, bool] = {}
        signal, varies["noise"] = _VARYING[self.envelope]
        # The published model combines all frequencies and amplitudes, with constant noise.
        in_grid = self.pairs == "grid"
        if choice.model is not LocallyStationaryModel:
            in_grid, varies = True, {}
        windows = self.amplitudes == "windows"
        if windows and in_grid:
            raise ValueError(
                "amplitudes='windows' are those of single frequencies: leave out pairs='grid' and "
                "sampler='mh', or use amplitudes='cosines'."
            )
        if in_grid and n_envelope > self.n_frequencies:
            raise ValueError(
                f"pairs='grid', and the paper's sampler, combine every frequency with every "
                f"amplitude: n_envelope must be at most n_frequencies={self.n_frequencies}, the "
                f"number of combinations, got {n_envelope}."
            )
        # Constant amplitudes are all one, so that no frequency needs to be repeated.
        shared = n_envelope if signal and in_grid else 0
        scale = frequency_scales(scaled, np.random.default_rng(0))
        if windows:
            varies["windows"] = True
        model: Model = choice.model(tuple(scale.tolist()), shared, signal, **varies)
        return model


@register
@documented
class LocallyStationaryRegressor(GaBaSR, BaNKRegression):
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
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies and amplitudes. ``"auto"`` is ``"pcn"``: local moves of one
        frequency, or of its amplitude, after another. ``"hmc"``: Hamiltonian trajectories of
        frequencies and amplitudes. ``"mh"``: the paper's model, priors and sampler, with
        independence proposals, Dirichlet-process mixtures of ``s`` and of ``v``, constant noise,
        and waves of the frequencies :math:`s_n + v_k / 2`. The weights of the paper's model are
        independent, so that its kernel is in fact stationary.
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
class LocallyStationaryClassifier(GaBaSR, BaNKClassification):
    r"""Classification with a learned, locally stationary kernel (GaBaSR).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}),

    with ``f`` as in :class:`bochner.LocallyStationaryRegressor`. Frequencies and amplitudes are
    sampled with all weights integrated out, as in :class:`bochner.LearnedKernelClassifier`.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of waves; each makes two features.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        As in :class:`bochner.LocallyStationaryRegressor`; ``"mh"`` also uses the paper's
        likelihood.
    <iterations>
    likelihood : {"logistic", "paper"}, default="logistic"
        ``"paper"`` is the paper's model, sampler and likelihood: least-squares weights in a
        logistic function, equation (11). This is not the likelihood of a probabilistic model, and
        its probabilities lie near one half.
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

    _: KW_ONLY
    likelihood: str = "logistic"

    def _choice(self) -> Choice:
        check_name("likelihood", self.likelihood, _LIKELIHOODS)
        if self.likelihood == "logistic":
            return super()._choice()
        if self.sampler not in ("auto", "mh"):
            raise ValueError(
                f"likelihood='paper' has the paper's sampler: use sampler='auto' or 'mh' with it, "
                f"got {self.sampler!r}."
            )
        if self.structure == "sparse":
            raise ValueError(
                "likelihood='paper' has the paper's dense frequencies: use structure='auto' or "
                "'dense' with it, got 'sparse'."
            )
        return self._choices["mh"]

    def signal_std(self, X: MatrixLike) -> Array:
        r"""Return the envelope (n,): the prior's standard deviation of the log odds at rows (n, d).

        It is the square root of :math:`k(x, x) / \lambda_0`, averaged over draws. With more than
        two classes the shape is (n, n_classes), one column per class against the rest.
        """
        inputs, _ = self._rows(X)
        columns = [learned.draws.signal_std(inputs) for learned in self.learned_]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
