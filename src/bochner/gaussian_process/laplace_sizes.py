"""Sizes of a Laplace approximation that is fitted within a time limit."""

_NEWTON_STEPS = 20
"""Newton steps on all rows and features, and gradients that take as long as one: a dozen for the
first mode, the others for modes near it."""

_PER_PRODUCT = 3.0
"""Time of a Newton step, relative to that of its products of matrices at their best rate: products
of few features are slower, and slopes and curvatures are added."""

_FEWEST_FEATURES = 32
"""Least number of features: fewer describe hardly more than the mean."""


def affordable_features(
    n_features: int, n_rows: int, n_latent: int, seconds: float, rate: float
) -> int:
    """Return the largest number of features, up to the given one, of a fit within a time limit.

    ``rate`` is the number of operations per second. A Newton step for ``P`` features and ``L``
    latent functions takes about ``n (P L)^2 + (P L)^3`` operations.
    """
    operations = max(seconds, 0.0) * rate / (_NEWTON_STEPS * _PER_PRODUCT)
    least, most = min(n_features, _FEWEST_FEATURES), n_features
    while least < most:
        middle = (least + most + 1) // 2
        n_weights = float(middle * n_latent)
        if n_rows * n_weights**2 + n_weights**3 <= operations:
            least = middle
        else:
            most = middle - 1
    return least
