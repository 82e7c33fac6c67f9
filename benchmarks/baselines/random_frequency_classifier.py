"""Random frequency optimisation: a logistic model learned together with its frequencies."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.baselines.mixture_frequencies import (
    MixtureFrequencies,
    Preparation,
    angle_gradient,
    descend,
    feature_blocks,
    wave_blocks,
)
from bochner._base.arrays import Array, MatrixLike, RandomState, as_positive_scalar
from bochner._base.checks import validated_with_labels
from bochner._base.names import shown
from bochner.spectral.frequencies import Frequencies


class RandomFrequencyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Logistic regression on features whose frequencies are optimised along with the weights.

    With :math:`\zeta_{qj}(x) = \omega_{qj} \cdot x`, :math:`\omega_{qj} = M_q w_{qj} + \mu_q`, and
    standard normal :math:`w` that are drawn once and then held fixed,

    .. math:: \eta(x) = \sum_q \nu_q^2 \sum_j \left(\beta^{\cos}_{qj} \cos \zeta_{qj}(x)
              + \beta^{\sin}_{qj} \sin \zeta_{qj}(x)\right) + \beta_0

    is the log odds of the second of two classes. :math:`\beta`, :math:`\nu`, ``M`` and :math:`\mu`
    minimise the negative log likelihood plus :math:`\frac{\lambda}{2} \|\beta\|^2` (with
    :math:`\beta_0`) by L-BFGS from one start. With more classes, each has its own :math:`\beta`;
    all share the frequencies, and probabilities are the softmax of the :math:`\eta`. Inputs are
    standardised first. An iteration costs :math:`O(n m (d + C))` for ``C`` classes.

    Parameters
    ----------
    n_components, n_mixture, tol, covariance, random_state
        As for :class:`ALaCarteRegressor`.
    alpha : float, default=1.0
        Penalty :math:`\lambda`, positive.
    max_iter : int, default=100
        Number of L-BFGS iterations, a part of the model: :math:`\nu` is not penalised and can
        replace :math:`\beta`, so the infimum of the objective is that without a penalty.

    Attributes
    ----------
    classes_ : ndarray of shape (C,)
    frequencies_ : Frequencies
        In radians per unit of the inputs; weights are :math:`\nu_q^4`, so that its features are
        :math:`\nu_q^2 \cos \zeta` and :math:`\nu_q^2 \sin \zeta`.
    coef_, intercept_ : ndarrays of shapes (1, 2m) or (C, 2m), and (1,) or (C,)
        :math:`\beta`, of ``frequencies_.features(X - centre_)``, and :math:`\beta_0`.
    centre_ : ndarray of shape (d,)
        Means of the inputs.
    objective_ : float
        Value of the objective at the end, summed over rows.
    n_iter_ : int

    Notes
    -----
    The paper gives the objective for two classes. Initial weights :math:`\beta` are zero, initial
    :math:`\nu_q^4 = 1/m`, and initial frequencies those of :class:`ALaCarteRegressor`.

    References
    ----------
    "RFO" of Oliva et al., "Bayesian nonparametric kernel-learning", 2016, Section 4.3, after Yang,
    Smola, Song and Wilson, "A la carte -- learning fast kernels", 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import RandomFrequencyClassifier
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0.0, "same", "different")
    >>> model = RandomFrequencyClassifier(n_components=64, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        n_components: int = 768,
        *,
        n_mixture: int = 4,
        alpha: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-6,
        covariance: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_mixture = n_mixture
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.covariance = covariance
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Learn the frequencies and the weights from rows ``X`` (n, d) and labels ``y`` (n,).

        Raises ``ValueError`` if there is only one class.
        """
        rows, y = validated_with_labels(self, X, y, dtype=np.float64)
        self.classes_, label = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"RandomFrequencyClassifier needs at least two classes, got 1 class: "
                f"{shown(self.classes_[0])}."
            )
        alpha = as_positive_scalar("alpha", self.alpha)
        preparation = Preparation(self, rows)
        n_classes = len(self.classes_)
        target = label[:, None].astype(float) if n_classes == 2 else np.eye(n_classes)[label]
        loss = PenalisedLoss(preparation.mixture, preparation.X, target, alpha)
        theta, least, self.n_iter_ = descend(
            loss, len(rows), loss.start(preparation.rng), self.max_iter, self.tol
        )
        self.objective_ = least * len(rows)
        self.coef_, self.intercept_, nu, omega = loss.unpacked(theta)
        factor = nu[preparation.mixture.component] ** 2
        self.frequencies_ = Frequencies(omega / preparation.scale, factor**2)
        self.centre_ = preparation.centre
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        r"""Return :math:`\eta`, of shape (n,) for two classes, otherwise (n, n_classes)."""
        blocks = feature_blocks(self, X)
        eta: Array = np.concatenate([Z @ self.coef_.T + self.intercept_ for Z in blocks])
        return eta[:, 0] if len(self.classes_) == 2 else eta

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Return the most probable class of each row, of shape (n,)."""
        eta = self.decision_function(X)
        winner = (eta > 0).astype(np.intp) if eta.ndim == 1 else eta.argmax(axis=1)
        return np.asarray(self.classes_[winner])

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probabilities of classes, of shape (n, n_classes)."""
        eta = self.decision_function(X)
        if eta.ndim == 1:
            return np.stack([expit(-eta), expit(eta)], axis=1)
        return np.asarray(softmax(eta, axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedLoss:
    r"""The negative log likelihood plus the penalty, as a function of all parameters.

    ``theta`` consists of :math:`\beta` by classes, :math:`\beta_0`, :math:`\nu`, and the mixture's
    factors and means. ``target`` has indicators of the second class of two (n, 1) or of all (n, C).
    """

    mixture: MixtureFrequencies
    X: Array
    target: Array
    alpha: float

    def start(self, rng: np.random.Generator) -> Array:
        """Return the initial argument."""
        targets, p = self.target.shape[1], 2 * len(self.mixture.base)
        nu = np.full(len(self.mixture.counts), (0.5 * p) ** -0.25)
        return np.concatenate([np.zeros(targets * (p + 1)), nu, self.mixture.start(rng)])

    def unpacked(self, theta: Array) -> tuple[Array, Array, Array, Array]:
        """Return beta (targets, 2m), beta_0 (targets,), nu (Q,) and omega (m, d)."""
        targets, p = self.target.shape[1], 2 * len(self.mixture.base)
        sizes = [targets * p, targets, len(self.mixture.counts)]
        beta, intercept, nu, mixture = np.split(theta, np.cumsum(sizes))
        return beta.reshape(targets, p), intercept, nu, self.mixture.omega(mixture)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """Return the objective and its gradient."""
        beta, intercept, nu, omega = self.unpacked(theta)
        component = np.tile(self.mixture.component, 2)
        factor = nu[component] ** 2
        weight = beta * factor
        value = 0.5 * self.alpha * float(np.sum(beta**2) + np.sum(intercept**2))
        weight_slope, intercept_slope = np.zeros_like(beta), self.alpha * intercept
        slope = np.zeros_like(omega)
        for rows, waves in wave_blocks(self.X, omega):
            loss, residual = _loss(waves @ weight.T + intercept, self.target[rows])
            value += loss
            weight_slope += residual.T @ waves
            intercept_slope += residual.sum(axis=0)
            slope += angle_gradient(residual @ weight, waves).T @ self.X[rows]
        by_component = np.bincount(component, np.sum(weight_slope * beta, axis=0), len(nu))
        gradient = [
            (weight_slope * factor + self.alpha * beta).ravel(),
            intercept_slope,
            2.0 * nu * by_component,
            self.mixture.pullback(slope),
        ]
        return value, np.concatenate(gradient)


def _loss(eta: Array, target: Array) -> tuple[float, Array]:
    """Return the negative log likelihood of a block and its gradient in ``eta``, both summed."""
    if eta.shape[1] == 1:
        loss = float(np.sum(np.logaddexp(0.0, eta) - target * eta))
        return loss, expit(eta) - target
    logarithm: Array = log_softmax(eta, axis=1)
    return -float(np.sum(target * logarithm)), np.exp(logarithm) - target
