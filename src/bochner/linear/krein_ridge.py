"""Ridge regression on random features."""

from typing import Any, Self

import numpy as np
from scipy.stats import norm
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    MatrixLike,
    RandomState,
    as_array,
    as_count,
    as_flag,
)
from bochner._base.checks import generators, validated_with_numbers
from bochner._base.registry import register
from bochner.features.chunks import Chunk, Numbers
from bochner.linear.argument_checks import (
    check_one_spread,
    checked_forgetting,
    checked_weight,
    first_rows,
)
from bochner.linear.ridge_head import RidgeHead, offered, with_uncertainty
from bochner.linear.ridge_posterior import N_CHECKS, RidgePosterior
from bochner.linear.sampled_functions import SampledFunctions, linear_functions


@register
class KreinRidge(MultiOutputMixin, RegressorMixin, RidgeHead):
    """Ridge regression on random features, for positive definite and indefinite kernels.

    ``fit(X, y)`` takes arrays, or chunks of rows if memory does not hold all of them. The cost is
    linear in the number of rows. ``predict(X, return_std=True)`` returns means and standard
    deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import KreinRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(300, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> model = KreinRidge(alpha="evidence", length_scale="evidence", random_state=0).fit(X, y)
    >>> mean, std = model.predict(X, return_std=True)
    >>> bool(0.07 < np.median(std) < 0.13)
    True

    Parameters
    ----------
    kernel, n_components : default="gaussian", 512
        Kernel and number of real features, even, as in :class:`bochner.FourierFeatures`.
    alpha : float or "evidence", default=1.0
        Ratio of the noise variance to the prior variance of a unit kernel. ``"evidence"``
        maximises the marginal likelihood of the process on the features. Use it with indefinite
        kernels, too: it then minimises generalised cross-validation away from the poles. A number
        at a pole is moved; it and a number within ten per cent of a pole cause a warning.
    features : FourierFeatures, default=None
        Features in full, in place of ``kernel``, ``n_components`` and ``length_scale``, which are
        a short form of them.
    length_scale : float, sequence of d floats, "auto", "median" or "evidence", default="auto"
        Length scale of a kernel given by name. ``"auto"`` is the standard deviation of each column
        times the median distance between standardised rows. ``"median"`` is the median distance
        between rows, one length scale for all inputs, as ``"auto"`` for more than 100 inputs.
        ``"evidence"`` learns one length scale for each of up to 100 inputs by the gradient of the
        marginal likelihood, on at most 32,768 rows of the first batch or chunk. It also learns the
        hyper-parameters of a kernel object and of its parts, starting from their values, if each
        part has a positive spectral measure in closed form.
    fit_intercept : bool, default=False
        Whether to add a constant with a flat prior. If ``False``, the prior mean is zero: centre
        the targets.
    associated : bool, default=False
        Whether to learn with Z Zᵀ, ignoring the signs of the features and the phases
        of an asymmetric kernel.
    solver : {"auto", "cholesky", "cg"} or RidgeSolver, default="auto"
        Gram matrix of the features or conjugate gradients;
        :class:`~bochner.linear.RidgeSolver` also has a tolerance and a memory limit.
    residual : int, default=None
        Number of landmarks (inducing points), rows at which a positive definite kernel is exact;
        random features approximate the residual kernel; see
        :class:`~bochner.features.landmarks.ResidualFeatures`. With as many landmarks as rows the
        mean is exact. Use landmarks for smooth functions of one or two inputs with little noise:
        without them, intervals between the rows may be too narrow. ``None`` means no landmarks.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel
    frequencies_ : Frequencies
    residual_ : ResidualFeatures or None
        The random features joined with the features of at most ``residual`` landmarks. The model
        has ``n_components`` random features and one feature per landmark.
    checks_ : Frequencies or None
        Second draw of frequencies, which estimates the error of the features. ``None`` for
        indefinite kernels, functions without a measure, and after conjugate gradients.
    signature_ : ndarray of shape (n_components,)
    alpha_ : float
        The regularisation, either given or learned.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
    intercept_ : float or ndarray of shape (n_targets,)
    noise_variance_ : float or ndarray of shape (n_targets,)
        Variance of the noise, after conjugate gradients with the error of the features. Not
        available in a Krein space.
    log_evidence_ : float
        Log marginal likelihood of the process on the features, summed over targets. Not available
        in a Krein space.
    condition_number_ : float
        Ratio of the greatest to the least eigenvalue of the system for the weights.
    sums_ : FeatureSums or None
        Sums over rows of products of features, check features and targets, which later batches
        extend. With an intercept, targets are relative to the mean of the first batch. ``None``
        after conjugate gradients.
    n_iter_ : int or None
        Number of products with the matrix of the system in conjugate gradients.

    Notes
    -----
    With the signs of the features, ``signature_``, on the diagonal of J, the weights are
    w = (Zᵀ Z + α J)⁻¹ Zᵀ y. Predictions equal those of kernel ridge regression with the approximate
    Gram matrix K = Z J Zᵀ, which are K (K + α I)⁻¹ y on the training rows.

    If every sign is positive, this is ridge regression, the posterior mean of a Gaussian process
    with the prior y ~ N(0, s² Z Zᵀ + σ² I), where α = σ² / s². Standard deviations, covariances and
    draws are those of the error of this mean under the kernel itself, including the error of the
    features, which a second draw of 128 frequencies estimates. An indefinite kernel has none.

    If a sign is negative, the weights are the stationary point of ‖y - f‖² + α ⟨f, f⟩ in the Krein
    space of the kernel (Ong, Mary, Canu and Smola, "Learning with non-positive kernels", 2004). It
    does not exist at the poles, where -α is an eigenvalue of K. This model has no likelihood, hence
    no standard deviations and no evidence. ``associated=True`` learns with Z Zᵀ instead of K: the
    kernel of the associated Hilbert space, which again defines a Gaussian process.

    For many rows, a positive definite kernel and a number as ``alpha``, products of features are
    computed in float32 if that changes predictions by at most millionths of the targets' spread.
    """

    def fit(
        self, X: object, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to all rows at once.

        Raises ``TypeError`` if ``X`` is a path or a function. Raises ``ValueError`` if a parameter
        is out of range, the data are unusable, or the kernel is asymmetric and ``associated`` is
        false. For asymmetric kernels use :class:`bochner.AsymmetricKernelRidge`.

        Parameters
        ----------
        X : {array-like, sparse matrix} (n, d), Dask collection, PartitionedRows or chunks
            Memory-mapped arrays are read in blocks. Rows of Dask arrays and data frames, and
            :class:`~bochner.engines.PartitionedRows` of Ray, Spark and other engines, stay on
            the workers, which return sums; other quantities, such as the median distance, are
            computed from 100,000 rows. Chunks are an iterable of tuples ``(X, y)`` or
            ``(X, y, sample_weight)``, such as a generator. The first chunk fixes the length scale
            and the frequencies, as in :meth:`partial_fit`, and the model is solved once, after the
            last chunk. Chunks without rows are skipped.
        y : array-like of shape (n,) or (n, n_targets), or Dask collection
            Targets; ``None`` with chunks and with ``PartitionedRows``, which contain the targets.
        sample_weight : array-like of shape (n,), default=None
            Whole numbers are counts: a row of weight three is three independent rows. Other
            weights are precisions: a row of weight ``w`` is one observation with noise variance
            σ² / w, and ``noise_variance_`` is the variance at weight one. Weights are
            counts only if the weights of all rows are whole numbers.
        """
        return self._fit_first(X, y, sample_weight, keep_sums=False)

    def partial_fit(
        self,
        X: object,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        forgetting: float = 1.0,
    ) -> Self:
        """Update the model with a batch of rows.

        The first batch fixes the length scale and the frequencies. The order of batches does not
        matter, unless ``forgetting`` is below one.

        Raises ``ValueError`` if ``forgetting`` is not in (0, 1], or the rows are unusable.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`; rows are in the order of time if ``forgetting`` is below one.
        forgetting : float, default=1.0
            Factor in (0, 1] by which each new row multiplies the weights of all rows before it.
            The coefficients are those of :meth:`fit` with a weight of fᵃ for a row that is
            followed by a rows, for every division into batches. For the noise variance and the
            evidence the row counts as fᵃ of an observation. The weight of a row halves
            about every log(2) / (1 - f) rows. With 1 no row is forgotten.

        Examples
        --------
        >>> import numpy as np
        >>> from bochner import KreinRidge
        >>> X = np.random.default_rng(0).uniform(size=(100, 1))
        >>> model = KreinRidge(length_scale=0.5, random_state=0).partial_fit(X, np.ones(100))
        >>> model = model.partial_fit(X, -np.ones(100), forgetting=0.9)
        >>> bool(model.predict([[0.5]])[0] < -0.8)
        True
        """
        forgetting = checked_forgetting(forgetting)
        if not hasattr(self, "sums_"):
            return self._fit_first(X, y, sample_weight, keep_sums=True, forgetting=forgetting)
        rows = self._later(X, y, sample_weight)
        self._add_rows(rows, Numbers(self._target_origin), forgetting)
        return self

    def _later(self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Chunk:
        """Return the validated rows of a batch after the first one."""
        rows = self._checked(X, y, sample_weight, is_first=False)
        n_targets = 1 if rows.y.ndim == 1 else rows.y.shape[1]
        if n_targets != len(self._target_origin):
            raise ValueError(
                f"y has {n_targets} targets; earlier batches had {len(self._target_origin)}."
            )
        return rows

    def _fit_first(
        self,
        X: object,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        *,
        keep_sums: bool,
        forgetting: float = 1.0,
    ) -> Self:
        """Fit to all rows; ``keep_sums`` stores their sums so that later batches can be added."""
        rows = first_rows(X, y, sample_weight, self._checked, forgetting)
        first = rows.head
        origin = np.zeros(1 if first.y.ndim == 1 else first.y.shape[1])
        if as_flag("fit_intercept", self.fit_intercept):
            origin += np.average(first.y, axis=0, weights=first.weight)
        self._fit_rows(rows, Numbers(origin), keep_sums=keep_sums, n_checks=N_CHECKS)
        self._single_target, self._target_origin = first.y.ndim == 1, origin
        return self

    def _checked(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None, is_first: bool
    ) -> Chunk:
        """Return validated rows with numeric targets."""
        options = {"accept_sparse": "csr", "dtype": FLOATS, "reset": is_first}
        rows, targets = validated_with_numbers(self, X, y, multi_output=True, **options)
        return Chunk(rows, targets, checked_weight(sample_weight, rows))

    @property
    def noise_variance_(self) -> Any:
        """Maximum-likelihood noise variance; solutions without a likelihood lack the attribute."""
        return self._squeezed(offered(self.posterior_, "noise_variance")[None])[0]

    def predict(self, X: MatrixLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return means (n,) or (n, n_targets) and optionally standard deviations or covariances.

        ``X`` is an array or sparse matrix (n, d); rows of a Dask collection are predicted by
        ``collection.map_partitions``. Standard deviations are those of new observations, noise
        included; those of the function are ``sqrt(std**2 - noise_variance_)``. Covariances of new
        observations have the shape (n, n) or (n, n, n_targets); targets are independent given the
        kernel. Raises ``ValueError`` if both options are true, or if one of them is true in a Krein
        space or after conjugate gradients.
        """
        check_one_spread(return_std, return_cov)
        mean, spread = self._predict(X, with_std=return_std, with_cov=return_cov)
        mean = self._squeezed(mean + self._target_origin)
        return mean if spread is None else (mean, self._squeezed(spread))

    def log_predictive_density(self, X: MatrixLike, y: ArrayLike) -> Array:
        """Return log predictive densities (n,) of new rows, summed over several targets.

        The mean over held-out rows scores the predictive distribution; larger is better. In a
        stream, compute the mean over each batch before :meth:`partial_fit`: it falls if the data
        drift.

        Raises ``ValueError`` if ``y`` and the predictions have different shapes, or there are no
        standard deviations: in a Krein space or after conjugate gradients.
        """
        mean, std = self.predict(X, return_std=True)
        targets = as_array(y)
        if targets.shape != mean.shape:
            raise ValueError(f"y must have shape {mean.shape}, got {targets.shape}.")
        with np.errstate(over="ignore"):  # Without noise the density is zero except at the mean
            density = norm.logpdf(targets, mean, std)
        return as_array(density.reshape(len(mean), -1).sum(axis=1))

    def sample_functions(
        self, n_functions: int = 1, random_state: RandomState = None
    ) -> SampledFunctions:
        """Return functions drawn from the posterior, without noise.

        Values ``functions(X)`` have the shape (n, n_functions) or (n, n_targets, n_functions), and
        ``functions.gradient(X)`` the number of inputs as second axis; both take O(p) operations per
        point. Values at several rows have the covariance of :meth:`predict` without the noise.
        Raises ``ValueError`` if the model is in a Krein space or was fitted by conjugate gradients.
        """
        (rng,) = generators(random_state, 1)
        return self._drawn(as_count("n_functions", n_functions), rng)

    def sample_y(
        self,
        X: MatrixLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        *,
        noise: bool = True,
    ) -> Array:
        """Return draws (n, n_samples) or (n, n_targets, n_samples), jointly at all rows (n, d).

        Draws are new observations, or values of the function with ``noise=False``.
        """
        function_rng, noise_rng = generators(random_state, 2)
        samples = self._drawn(as_count("n_samples", n_samples), function_rng)(X)
        if as_flag("noise", noise):
            deviation = np.expand_dims(np.sqrt(self.noise_variance_), -1)
            samples += deviation * noise_rng.normal(size=samples.shape)
        return samples

    def _try_out(self) -> None:
        """Raise ValueError if a loaded model is inconsistent: unable to predict or to add rows."""
        self._check_sums(Numbers(self._target_origin))
        posterior = self.posterior_
        intercept, variances = posterior.intercept, [posterior.noise_variance]
        if self._target_origin.shape != intercept.shape:
            raise ValueError(f"intercepts of shapes {self._target_origin.shape}, {intercept.shape}")
        if isinstance(posterior, RidgePosterior):
            variances += [posterior.law.noise_variance, posterior.law.prior_variance]
        if any(variance is not None and variance.min() < 0.0 for variance in variances):
            raise ValueError("a negative variance of the noise or the prior")

    def _drawn(self, count: int, rng: np.random.Generator) -> SampledFunctions:
        check_is_fitted(self, "posterior_")
        coef, constant = with_uncertainty(self.posterior_).law.sample(count, rng)
        constant += self._target_origin[:, None]
        shape = (count,) if self._single_target else constant.shape
        weights = coef.reshape(len(coef), -1)
        return linear_functions(self._summed_features, weights, constant.ravel(), shape)
