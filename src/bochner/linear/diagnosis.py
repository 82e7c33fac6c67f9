"""The diagnosis of a kernel on given data."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from bochner._base.arrays import Array, InputRows, MatrixLike, RandomState, dense_rows
from bochner._base.checks import check_rows_given, column_names, generators
from bochner._base.limits import EIGENVALUE_ROUNDING, FUNCTION_ROUNDING, MOST_DIAGNOSED
from bochner.features.parameters import (
    count_frequencies,
    exact_values,
    is_symmetric,
    kernel_name,
    resolve_kernel,
    rounding_of,
)
from bochner.kernels import Kernel
from bochner.linear.diagnosis_result import Diagnosis, singular_values_of, spectrum_of
from bochner.linear.feature_errors import HeldOutSplit, features_of

# Share of rows that are held out to measure errors. Twice this share would leave only half of the
# rows to fit weights; half of it would give a quarter as many pairs to measure on.
_HELD_OUT_SHARE = 0.25

# Number of rows on which a function is evaluated twice, to check that a value depends only on its
# pair of rows.
_N_PROBED = 3

# Largest relative difference between the two evaluations that counts as rounding error.
_SAME_VALUES = 1e-4

# Least number of rows for a held-out set: a quarter of eight rows is two, which make one pair.
_FEWEST_TO_SPLIT = 8


def diagnose(
    kernel: Any,
    X: MatrixLike,
    *,
    n_components: int | Iterable[int] = (128, 512, 2048),
    random_state: RandomState = None,
) -> Diagnosis:
    """Analyse a kernel on rows: spectrum, errors of its random features, and a recommendation.

    At most 1000 rows are examined. The diagnosis covers the symmetry and the eigenvalues of the
    exact Gram matrix of these rows, and the kernel's spectral measure. From eight rows on, errors
    of features made from three quarters of the rows are computed on the held-out quarter. Both
    arguments of an asymmetric kernel are the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import diagnose, kernels
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = diagnose(kernels.Gaussian() - kernels.Gaussian(3.0), X, random_state=0)
    >>> found.symmetric, found.spectrum.definiteness, found.features.measure
    (True, 'indefinite', 'designed')
    >>> found.advice[:49]
    'Indefinite: KreinRidge(kernel, alpha="evidence") '
    >>> diagnose("ntk", X).in_domain
    False
    >>> diagnose(kernels.ShiftGaussian(shift=0.5), X, random_state=0).features.sign
    'complex (polar)'

    Parameters
    ----------
    kernel : Kernel, str or callable
        Object of :mod:`bochner.kernels`, name such as ``"tl1"`` (with the median distance of rows
        as length scale), or function ``k(X, Y)`` that returns Gram matrices, symmetric or not.
    X : {array-like, sparse matrix} of shape (n, d)
        At least two rows.
    n_components : int or iterable of int, default=(128, 512, 2048)
        Numbers of features, even. Least-squares weights are tried for the middle number.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of rows and of the frequencies.

    Returns
    -------
    diagnosis : Diagnosis
        It also reports rows outside of the kernel's domain, which raise no error, and how to
        transform them.

    Raises
    ------
    ValueError
        If data, the name or the values of the kernel, or a number of features are not valid.
    TypeError
        If ``kernel`` is neither a kernel, nor a name, nor a function.
    """
    names = column_names(X)
    inputs = check_rows_given(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    n_frequencies = _counts(n_components)
    scale_rng, rows_rng, draw_rng = generators(random_state, 3)
    kernel = resolve_kernel(kernel, "median", inputs, scale_rng, names=names)
    chosen = rows_rng.permutation(inputs.shape[0])[:MOST_DIAGNOSED]
    size = inputs.shape[0], len(chosen), inputs.shape[1]
    message = _domain_message(kernel, inputs)
    if message:
        n_outside = sum(bool(_domain_message(kernel, inputs[[row]])) for row in chosen.tolist())
        return Diagnosis(kernel, *size, False, message, n_outside)
    rows = dense_rows(inputs, chosen)
    gram, tolerance = _exact_gram(kernel, rows)
    symmetric = is_symmetric(gram, FUNCTION_ROUNDING)
    held = max(2, round(_HELD_OUT_SHARE * len(rows))) if len(rows) >= _FEWEST_TO_SPLIT else 0
    split = HeldOutSplit(rows[held:], rows[:held], gram[:held, :held])
    return Diagnosis(
        kernel,
        *size,
        in_domain=True,
        symmetric=symmetric,
        asymmetry=0.5 * float(np.linalg.norm(gram - gram.T) / (np.linalg.norm(gram) or 1.0)),
        spectrum=spectrum_of(gram, tolerance),
        singular_values=None if symmetric else singular_values_of(gram),
        features=features_of(kernel, split, n_frequencies, draw_rng),
    )


def _exact_gram(kernel: Any, rows: Array) -> tuple[Array, float]:
    """Return the checked Gram matrix (n, n), and the relative rounding error of its eigenvalues."""
    gram = exact_values(kernel, rows, rows)
    if not isinstance(kernel, Kernel):
        few = min(_N_PROBED, len(rows))
        part = exact_values(kernel, rows[:few], rows)
        if np.abs(part - gram[:few]).max() > _SAME_VALUES * np.abs(gram).max():
            raise ValueError(
                f"{kernel_name(kernel)} is not a function of pairs: its values for the same two "
                f"rows changed when other rows were left out. Expected k(X, Y) with entries "
                f"k(x_i, y_j)."
            )
    return gram.astype(np.float64), rounding_of(gram, EIGENVALUE_ROUNDING)


def _counts(n_components: Any) -> tuple[int, ...]:
    numbers = (n_components,) if isinstance(n_components, Integral) else tuple(n_components)
    if not numbers:
        raise ValueError("n_components must have at least one number of features, got none.")
    return tuple(count_frequencies(number) for number in numbers)


def _domain_message(kernel: object, X: InputRows) -> str:
    """Return the reason why the kernel is undefined on some row, or an empty string."""
    if not isinstance(kernel, Kernel):
        return ""
    kernel.check_widths(X.shape[1], X.shape[1])
    try:
        kernel.check_inputs(X)
        if not kernel.is_symmetric:
            kernel.check_right_inputs(X)
    except ValueError as problem:
        return str(problem)
    return ""
