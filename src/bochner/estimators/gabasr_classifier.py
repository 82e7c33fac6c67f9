"""Classification with a locally stationary kernel learned from the data."""

from dataclasses import replace
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.estimators._bank_settings import check_name
from bochner.estimators._gabasr import locally_stationary
from bochner.estimators.bank_classifier import BaNKClassifier
from bochner.learning.inference.models import Model
from bochner.learning.inference.settings import Settings
from bochner.registry import register

_ENVELOPES = ("learned", "constant")
_LIKELIHOODS = ("logistic", "paper")


@register
class GaBaSRClassifier(BaNKClassifier):
    r"""Classification with a locally stationary kernel that is learned.

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}),

    with ``f`` as in :class:`bochner.GaBaSRRegressor`, and frequencies and amplitudes that move with
    all weights integrated out, as in :class:`bochner.BaNKClassifier`.

    Parameters
    ----------
    n_frequencies, structure, n_burn_in, n_samples, thin, n_chains, n_jobs, trend, dtype, verbose
        As in :class:`bochner.BaNKRegressor`; ``structure`` is that of ``s``.
    sampler : {"auto", "pcn", "hmc", "mh"}, default="auto"
        As in :class:`bochner.GaBaSRRegressor`; ``"mh"`` has the paper's likelihood, too.
    likelihood : {"logistic", "paper"}, default="logistic"
        ``"paper"`` is its model, sampler and likelihood, least-squares weights in a logistic
        function (11), which is no likelihood of any model: its probabilities lie near one half.
    pairs, n_envelope
        As in :class:`bochner.GaBaSRRegressor`.
    envelope : {"learned", "constant"}, default="learned"
        Whether amplitudes vary; if not, this is :class:`bochner.BaNKClassifier`.
    time_limit : float or None, default=None
        Seconds after which sampling stops early; classes share them.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernel_, learned_, trace_, relevance_, interactions_, convergence_
        As in :class:`bochner.GaBaSRRegressor`; lists have one entry, or one for every class where
        there are more than two.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR), sections 3.2.2 to 3.2.4.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import GaBaSRClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = GaBaSRClassifier(30, n_burn_in=20, n_samples=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    """

    def __init__(
        self,
        n_frequencies: int = 200,
        structure: str = "auto",
        sampler: str = "auto",
        n_burn_in: int = 100,
        n_samples: int = 100,
        *,
        likelihood: str = "logistic",
        pairs: str = "matched",
        n_envelope: int = 8,
        envelope: str = "learned",
        thin: int | str = "auto",
        n_chains: int = 1,
        n_jobs: int | None = None,
        trend: int = 0,
        time_limit: float | None = None,
        dtype: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_frequencies,
            structure,
            sampler,
            n_burn_in,
            n_samples,
            thin=thin,
            n_chains=n_chains,
            n_jobs=n_jobs,
            trend=trend,
            time_limit=time_limit,
            dtype=dtype,
            verbose=verbose,
            random_state=random_state,
        )
        self.likelihood = likelihood
        self.pairs = pairs
        self.n_envelope = n_envelope
        self.envelope = envelope

    @property
    def _is_paper(self) -> bool:
        return self.likelihood == "paper" or self.sampler == "mh"

    def _settings(self) -> Settings:
        check_name("likelihood", self.likelihood, _LIKELIHOODS)
        if self.likelihood == "paper" and self.sampler not in ("auto", "mh"):
            raise ValueError(
                f"likelihood='paper' has the paper's sampler: use sampler='auto' or 'mh' with it, "
                f"got {self.sampler!r}."
            )
        if self.likelihood == "paper" and self.structure == "sparse":
            raise ValueError(
                "likelihood='paper' has the paper's dense frequencies: use structure='auto' or "
                "'dense' with it, got 'sparse'."
            )
        settings = super()._settings()
        if not self._is_paper:
            return settings
        return replace(settings, sampler="mh", structure="dense")

    def signal_std(self, X: Any) -> Array:
        r"""Return the prior's standard deviation of the log odds at rows, on average over draws.

        The root of :math:`k(x, x) / \lambda_0`: the envelope.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        std : ndarray of shape (n,)
            With more than two classes (n, n_classes), each against the rest.
        """
        inputs, _ = self._rows(X)
        columns = [learned.draws.signal_std(inputs) for learned in self.learned_]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def _model(self, scaled: Array) -> Model:
        return locally_stationary(self, scaled, _ENVELOPES, is_paper=self._is_paper)
