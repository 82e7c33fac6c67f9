"""Classification with a kernel learned from the data."""

from bochner.estimators.bank import BaNKClassification
from bochner.estimators.bank_parameters import documented
from bochner.registry import register


@register
@documented
class BaNKClassifier(BaNKClassification):
    r"""Classification with a learned kernel (BaNK).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}), \quad f = \Phi_\omega \beta + T \gamma,

    with the frequencies as in :class:`bochner.BaNKRegressor`. Pólya-Gamma variables make the
    likelihood Gaussian, so that frequencies move with all weights integrated out. More than two
    classes are learned one against the rest, each with its own frequencies.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies, as in :class:`bochner.BaNKRegressor`. ``"mh"`` is the paper's
        joint move of a frequency and its two weights.
    <iterations>
    <chains>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, on inputs in their own units.
    <learned>

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016. Polson, Scott and Windle, "Bayesian inference for logistic models using Pólya-Gamma
    latent variables", 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bochner import BaNKClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = BaNKClassifier(30, n_burn_in=20, n_samples=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.93)
    True
    >>> model.predict_proba(X).shape
    (200, 2)
    """
