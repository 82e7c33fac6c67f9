"""Models that learn a locally stationary kernel: regression and classification."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from bochner._base.arrays import Array, MatrixLike, as_flag
from bochner._base.registry import register
from bochner.learned.chain_models import LocallyStationaryModel, Model
from bochner.learned.chain_parameters import check_name, documented
from bochner.learned.learned_kernel_classifier import LearnedClassification
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator
from bochner.learned.learned_kernel_regressor import LearnedRegression

_AMPLITUDES = ("cosines", "windows", "constant")


@register
@dataclass(frozen=True, slots=True)
class LearnedEnvelope:
    """Options of a locally stationary model: which quantities vary with the inputs.

    Parameters
    ----------
    amplitudes : {"cosines", "windows", "constant"}, default="cosines"
        Amplitudes that vary are cosines, or Gaussian windows. Each window has a centre and widths
        along few inputs or none, which suits functions that vary quickly in one place and slowly in
        another. A wave in a window has a harmonizable kernel.
    noise : bool, default=True
        Whether the variance of the noise varies with the inputs.
    """

    amplitudes: str = "cosines"
    noise: bool = True

    def __post_init__(self) -> None:
        check_name("amplitudes", self.amplitudes, _AMPLITUDES)
        as_flag("noise", self.noise)


_ENVELOPES: Mapping[str, LearnedEnvelope] = {
    "learned": LearnedEnvelope(),
    "windows": LearnedEnvelope("windows"),
    "signal": LearnedEnvelope(noise=False),
    "noise": LearnedEnvelope("constant"),
    "constant": LearnedEnvelope("constant", noise=False),
}
"""Envelopes by name."""


@dataclass(eq=False, repr=False)
class LocallyStationaryEstimator(LearnedKernelEstimator):
    """Base of the models with a learned, locally stationary kernel."""

    _envelopes: ClassVar[tuple[str, ...]] = tuple(_ENVELOPES)

    _: KW_ONLY
    envelope: str | LearnedEnvelope = "learned"

    def _default_sizes(self, n_rows: int) -> Mapping[str, int]:
        return {"n_burn_in": 100, "n_samples": 100, "n_chains": 1}

    def _check_parameters(self) -> None:
        self._envelope()
        super()._check_parameters()

    def _envelope(self) -> LearnedEnvelope:
        if isinstance(self.envelope, LearnedEnvelope):
            return self.envelope
        check_name("envelope", self.envelope, self._envelopes)
        return _ENVELOPES[self.envelope]

    def _model(self, n_frequencies: int) -> Model:
        envelope = self._envelope()
        signal, windows = envelope.amplitudes != "constant", envelope.amplitudes == "windows"
        noise = bool(envelope.noise)
        return LocallyStationaryModel(signal=signal, noise=noise, windows=windows)


@register
@documented
class LocallyStationaryRegressor(LocallyStationaryEstimator, LearnedRegression):
    """Regression with a learned, locally stationary kernel (GaBaSR).

    The frequencies of :class:`bochner.LearnedKernelRegressor` have amplitudes that vary with the
    inputs, and so does the noise. ``predict(X, return_std=True)`` returns means and standard
    deviations, averaged over posterior draws.

    Examples
    --------
    Noise that grows along the input, which a stationary model assumes to be constant:

    >>> import numpy as np
    >>> from bochner import LocallyStationaryRegressor
    >>> from bochner.learned import Chains
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, size=(300, 1))
    >>> y = np.sin(6 * X[:, 0]) + (0.02 + 0.5 * X[:, 0]) * rng.normal(size=300)
    >>> model = LocallyStationaryRegressor(30, chains=Chains(50, 50), random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.1], [0.9]], return_std=True)
    >>> bool(std[1] > 3 * std[0])
    True

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
    <chains>
    envelope : {"learned", "windows", "signal", "noise", "constant"} or LearnedEnvelope
        Quantities that vary with the inputs: ``"learned"`` for amplitudes that are cosines and for
        the noise, ``"windows"`` for amplitudes that are Gaussian windows and for the noise,
        ``"signal"`` for cosines, ``"noise"`` for noise, ``"constant"`` for the model of
        :class:`bochner.LearnedKernelRegressor`. See :class:`bochner.learned.LearnedEnvelope`.

    Attributes
    ----------
    kernel_ : Harmonizable or SpectralMixture
        Posterior mean of the kernel, in the original units of the inputs: a ``SpectralMixture`` if
        no amplitude varies.
    <learned>
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training targets.

    Notes
    -----
    The model is y = ∑ⱼ aⱼ(x) [bⱼ cos(sⱼ·x) + cⱼ sin(sⱼ·x)] + linear terms + exp(h(x)/2) ε, with the
    amplitudes aⱼ(x) = √2 cos(vⱼ·x/2 + ψⱼ) and unknown distributions of s and v. If vⱼ = 0, which
    has a high prior probability, the amplitude is one: for stationary data the kernel is that of
    ``LearnedKernelRegressor``. The kernel of one frequency and its amplitude is the locally
    stationary function cos(v·u + 2ψ) cos(s·δ) with u = (x + y)/2 and δ = x - y, plus a stationary
    kernel that makes the sum positive definite.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR). Silverman, "Locally stationary random processes", 1957. Block replacement, the
    amplitudes' phases and varying noise are this library's own.
    """

    def signal_std(self, X: MatrixLike) -> Array:
        """Return the envelope (n,): the prior's standard deviation of the function at rows (n, d).

        It is the square root of k(x, x) σ² / λ, averaged over draws,
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
    """Classification with a learned, locally stationary kernel (GaBaSR).

    The log odds of a class are the function of :class:`bochner.LocallyStationaryRegressor`.
    ``predict_proba(X)`` returns probabilities, averaged over posterior draws.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import LocallyStationaryClassifier
    >>> from bochner.learned import Chains
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LocallyStationaryClassifier(30, chains=Chains(20, 20), random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of waves; each makes two features.
    <structure>
    sampler : {"auto", "pcn", "hmc"}, Sampler or sequence of Move, default="auto"
        As in :class:`bochner.LocallyStationaryRegressor`.
    <chains>
    envelope : {"learned", "windows", "constant"} or LearnedEnvelope, default="learned"
        Amplitudes that vary are cosines or, with ``"windows"``, Gaussian windows. ``"constant"`` is
        the model of :class:`bochner.LearnedKernelClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : Harmonizable or SpectralMixture
        Posterior mean of the kernel, in the original units of the inputs: a ``SpectralMixture`` if
        no amplitude varies.
    <learned>

    Notes
    -----
    Frequencies and amplitudes are sampled with all weights integrated out, as in
    :class:`bochner.LearnedKernelClassifier`.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR), sections 3.2.2 to 3.2.4.
    """

    _envelopes: ClassVar[tuple[str, ...]] = ("learned", "windows", "constant")

    def signal_std(self, X: MatrixLike) -> Array:
        """Return the envelope (n,): the prior's standard deviation of the log odds at rows (n, d).

        It is the square root of k(x, x) / λ, averaged over draws. With more than
        two classes the shape is (n, n_classes), one column per class against the rest.
        """
        inputs, _ = self._rows(X)
        columns = [learned.draws.signal_std(inputs) for learned in self.learned_]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
