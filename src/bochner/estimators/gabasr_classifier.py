"""Classification with a locally stationary kernel learned from the data."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bochner._numerics.arrays import Array
from bochner.estimators.bank import BaNKClassification
from bochner.estimators.bank_parameters import Choice, check_name, documented
from bochner.estimators.gabasr import GaBaSR
from bochner.learning.inference.plan import Sampler
from bochner.learning.inference.start import Structure
from bochner.learning.moves import Move
from bochner.registry import register

_LIKELIHOODS = ("logistic", "paper")


@register
@documented
class GaBaSRClassifier(GaBaSR, BaNKClassification):
    r"""Classification with a learned, locally stationary kernel (GaBaSR).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}),

    with ``f`` as in :class:`bochner.GaBaSRRegressor`, and frequencies and amplitudes that move with
    all weights integrated out, as in :class:`bochner.BaNKClassifier`.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of waves; each makes two features.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        As in :class:`bochner.GaBaSRRegressor`; ``"mh"`` has the paper's likelihood, too.
    <iterations>
    likelihood : {"logistic", "paper"}, default="logistic"
        ``"paper"`` is its model, sampler and likelihood, least-squares weights in a logistic
        function (11), which is no likelihood of any model: its probabilities lie near one half.
    <amplitudes>
    envelope : {"learned", "constant"}, default="learned"
        Whether amplitudes vary; if not, this is :class:`bochner.BaNKClassifier`.
    <chains>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : ModulatedWaves or SpectralMixture
        Posterior mean of the kernel, on inputs in their own units; the latter where no amplitude
        varies.
    <learned>

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

    _envelopes: ClassVar[tuple[str, ...]] = ("learned", "constant")

    def __init__(
        self,
        n_frequencies: int = 200,
        structure: str | Structure = "auto",
        sampler: str | Sampler | Sequence[Move] = "auto",
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
            pairs=pairs,
            n_envelope=n_envelope,
            envelope=envelope,
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
