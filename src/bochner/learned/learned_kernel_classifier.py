"""Classification of nominal or ordered classes with a learned kernel."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, MatrixLike
from bochner._base.registry import register
from bochner.gaussian_process.kernel_glm_head import resolve_likelihood
from bochner.gaussian_process.label_likelihoods import BernoulliLikelihood, OrdinalLikelihood
from bochner.gaussian_process.likelihood import LabelLikelihood, Likelihood, checked_targets
from bochner.learned.chain_parameters import documented
from bochner.learned.chain_targets import outcomes_of
from bochner.learned.draws import Draws
from bochner.learned.learned_kernel_models import BaNKClassification, StandardisedNumbers
from bochner.learned.target_columns import Problems
from bochner.linear.inputs import is_dask, lazily

_NAMES: Mapping[str, type[Likelihood]] = {
    "logistic": BernoulliLikelihood,
    "ordinal": OrdinalLikelihood,
}
"""Likelihoods of labels by name."""


@register(former_names=("BaNKClassifier",))
@documented
@dataclass(eq=False, repr=False)
class LearnedKernelClassifier(BaNKClassification):
    r"""Classification with a learned kernel (BaNK).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}), \quad f = \Phi_\omega \beta + T \gamma,

    with the frequencies as in :class:`bochner.LearnedKernelRegressor`. Pólya-Gamma variables make
    the likelihood Gaussian, so that frequencies are sampled with all weights integrated out. More
    than two classes are learned one against the rest, with separate frequencies for each class.
    Ordered classes share one function, with cutpoints between neighbouring classes (proportional
    odds), and have two Pólya-Gamma variables per row.

    <left out>
    Probabilities are calibrated by temperature scaling: they are raised to the power that fits the
    left-out rows best, and normalised.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies, as in :class:`bochner.LearnedKernelRegressor`. ``"mh"`` is the
        paper's joint move of a frequency and its two weights.
    <iterations>
    <chains>
    likelihood : {"logistic", "ordinal"} or OrdinalLikelihood, default="logistic"
        ``"ordinal"``: the classes are ordered, in ascending order of their labels. Distances of
        cutpoints have an exponential prior of mean two, unless the object has cutpoints. With an
        ordinal likelihood no rows are left out, and rows must be in memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, in the original units of the inputs.
    <learned>
    likelihood_ : OrdinalLikelihood or BernoulliLikelihood
        The likelihood with the posterior means of the cutpoints. The constant of the function has
        a flat prior, so that only the distances of the cutpoints are determined.
    score_ : float or None
        Log loss of left-out rows in nats; ``None`` if no rows were left out.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016. Polson, Scott and Windle, "Bayesian inference for logistic models using Pólya-Gamma
    latent variables", 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import LearnedKernelClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = LearnedKernelClassifier(30, n_burn_in=20, n_samples=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    >>> model.predict_proba(X).shape
    (200, 2)
    """

    _: KW_ONLY
    likelihood: Likelihood | str = "logistic"

    def _chosen_law(self) -> LabelLikelihood:
        also = "Numbers are learned by LearnedKernelRegressor."
        law = resolve_likelihood(self.likelihood, _NAMES, LabelLikelihood, also)
        assert isinstance(law, LabelLikelihood)
        return law

    def _check_parameters(self) -> None:
        self._chosen_law()
        super()._check_parameters()

    def _problems(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None, labels: object = None
    ) -> Problems:
        law = self._chosen_law()
        problems = super()._problems(X, y, sample_weight, labels)
        if isinstance(law, BernoulliLikelihood):
            return problems
        if labels is not None:
            raise ValueError(
                "Rows of Dask collections have the likelihood 'logistic'; for another one, pass "
                "rows in memory, such as X.compute()."
            )
        if law.n_classes not in (None, len(self.classes_)):
            raise ValueError(
                f"y has {len(self.classes_)} classes, and {law!r} is for {law.n_classes}: give one "
                f"cutpoint less than there are classes, or none, to learn them."
            )
        codes = checked_targets(law, problems.codes)
        outcomes = outcomes_of(law, codes, None, problems.weight)
        task = StandardisedNumbers(0.0, 1.0)
        return replace(problems, codes=outcomes.stand_in, task=task, outcomes=outcomes)

    @property
    def likelihood_(self) -> LabelLikelihood:
        """The likelihood with the posterior means of its cutpoints; two classes have none."""
        laws = self._laws
        if not laws:
            return BernoulliLikelihood()
        cuts = np.mean([law.cutpoints or () for law in laws], axis=0)
        return OrdinalLikelihood(tuple(cuts.tolist()))

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return posterior mean probabilities of the classes, of shape (n, n_classes)."""
        laws = self._laws
        if is_dask(X):
            return lazily(self, "predict_proba", X)
        if not laws:
            return super().predict_proba(X)
        inputs, fixed = self._rows(X)
        probability, draws = np.zeros((inputs.shape[1], len(self.classes_))), self._draws
        passes = draws.activations(inputs, fixed), draws.spreads(inputs, fixed)
        for (rows, values), (_, spreads) in zip(*passes, strict=True):
            variance = spreads.mean(axis=0)[:, None, None]
            for law, mean in zip(laws, values, strict=True):
                probability[rows] += law.probabilities(mean[:, None], variance) / len(laws)
        return probability

    @property
    def _draws(self) -> Draws:
        check_is_fitted(self, "learned_")
        return self.learned_[0].draws

    @property
    def _laws(self) -> list[OrdinalLikelihood]:
        """Return the likelihood of every draw of ordered classes; empty for nominal classes."""
        each = (self._draws.law_of(index) for index in range(self._draws.n_draws))
        return [law for law in each if isinstance(law, OrdinalLikelihood)]


BaNKClassifier = LearnedKernelClassifier
"""The paper's name of :class:`bochner.LearnedKernelClassifier`."""
