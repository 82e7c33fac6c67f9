"""Classification with a learned kernel."""

from dataclasses import dataclass

from bochner._base.registry import register
from bochner.learned.chain_parameters import documented
from bochner.learned.learned_kernel_models import LearnedClassification


@register
@documented
@dataclass(eq=False, repr=False)
class LearnedKernelClassifier(LearnedClassification):
    r"""Classification with a learned kernel (BaNK).

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-f(x)}), \quad f = \Phi_\omega \beta + T \gamma,

    with the frequencies as in :class:`bochner.LearnedKernelRegressor`. Pólya-Gamma variables make
    the likelihood Gaussian, so that frequencies are sampled with all weights integrated out. More
    than two classes are learned one against the rest, with separate frequencies for each class.

    <left out>
    Probabilities are calibrated by temperature scaling: they are raised to the power that fits the
    left-out rows best, and normalised.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies, as in :class:`bochner.LearnedKernelRegressor`.
    <iterations>
    <chains>

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, in the original units of the inputs.
    <learned>
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
