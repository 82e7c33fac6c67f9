"""Pictures of kernels along inputs, and of envelopes of locally stationary kernels."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics.arrays import Array, as_array
from bochner.plot.panels import check_level, chosen_inputs, input_names, panels, per_input

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LAGS = 201
"""Lags of a curve: about one per pixel of a panel, so that a wave of ten pixels is smooth."""

_POINTS = 161
"""Places along an input of an envelope, and lags of a kernel at one place."""

_PLACES = (0.1, 0.5, 0.9)
"""Quantiles of an input at which a locally stationary kernel is shown."""

KernelLike = Callable[[Array, Array], Any]


def kernel_figure(
    kernels: Sequence[KernelLike],
    mean_kernel: KernelLike | None,
    dim: int,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    extent: ArrayLike = 1.0,
    level: float = 0.9,
) -> "Figure":
    r"""Return a learned kernel along inputs, one panel each, with a band of its draws.

    A panel shows :math:`k(\Delta)` for lags :math:`\Delta` of one input only. At each lag, the
    band holds the central share ``level`` of the draws.

    Raises ValueError if there is no kernel, a kernel does not return one number per lag, an input
    does not exist, or ``extent`` or ``level`` is out of range.

    Parameters
    ----------
    kernels : sequence of Kernel or callable k(X, Y)
        Draws; may be empty if ``mean_kernel`` is given.
    mean_kernel : Kernel, callable k(X, Y) or None
        Kernel of the line; ``None`` means the average of the draws.
    dim : int
        Number of inputs of the kernels.
    inputs : sequence of int or str, default=None
        Inputs with panels, by number or name; ``None`` means the first eight.
    names : sequence of ``dim`` str, default=None
        Names of all inputs; by default x0, x1, ...
    extent : float or array-like of shape (dim,), default=1.0
        Longest lag of each input, in its units.
    level : float, default=0.9
        Share of the draws in the band.

    Examples
    --------
    >>> from bochner.kernels import Gaussian
    >>> draws = [Gaussian(scale) for scale in (0.8, 1.0, 1.3)]
    >>> figure = kernel_figure(draws, Gaussian(1.0), 2, names=["time", "place"], extent=3.0)
    >>> [axis.get_xlabel() for axis in figure.axes]
    ['lag in time', 'lag in place']
    """
    check_level(level)
    names, extents = input_names(names, dim), per_input("extent", extent, dim)
    if not len(kernels) and mean_kernel is None:
        raise ValueError("There is no kernel to draw: give draws in kernels, or mean_kernel.")
    chosen = chosen_inputs(inputs, names)
    figure, axes = panels(len(chosen), sharey=True)
    for axis, i in zip(axes, chosen, strict=True):
        lags: Array = np.linspace(0.0, extents[i], _LAGS)
        rows: Array = lags[:, None] * (np.arange(dim) == i)
        draws = as_array([_along(kernel, rows) for kernel in kernels])
        line = draws.mean(axis=0) if mean_kernel is None else _along(mean_kernel, rows)
        if len(kernels):
            edges = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
            label = f"{100.0 * level:g} % of draws"
            axis.fill_between(lags, *edges, color="tab:blue", alpha=0.25, lw=0, label=label)
        axis.plot(lags, line, color="tab:blue", lw=1.2, label="mean")
        axis.axhline(0.0, color="0.6", lw=0.6)
        axis.set(xlabel=f"lag in {names[i]}", xlim=(0.0, extents[i]))
    axes[0].set_ylabel("kernel")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def _along(kernel: KernelLike, rows: Array) -> Array:
    """Return a kernel between rows and the origin."""
    values = as_array(kernel(rows.copy(), np.zeros((1, rows.shape[1]))))
    if values.shape != (len(rows), 1):
        raise ValueError(
            f"Kernels must return shape ({len(rows)}, 1) for {len(rows)} rows and one, got "
            f"{values.shape} from {kernel!r}."
        )
    return values[:, 0]


def envelope_figure(
    curves: Mapping[str, Callable[[Array], Any]],
    X: ArrayLike,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
) -> "Figure":
    """Return standard deviations along inputs, one panel each, others at their medians.

    Raises ValueError if there is no curve, a curve does not return one number per row, ``X`` is not
    a table of numbers, or an input does not exist.

    Parameters
    ----------
    curves : mapping of str to callable
        Functions from rows (k, d) to numbers (k,) by their labels, such as
        :meth:`bochner.GaBaSRRegressor.signal_std`.
    X : array-like of shape (n, d)
        Rows whose ranges are shown.
    inputs, names
        As in :func:`kernel_figure`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Gaussian, LocallyStationary
    >>> kernel = LocallyStationary(Gaussian(2.0), Gaussian(0.5))
    >>> X = np.linspace(-3.0, 3.0, 20)[:, None]
    >>> figure = envelope_figure({"signal": lambda Z: np.sqrt(kernel.diag(Z))}, X)
    >>> figure.axes[0].get_xlabel()
    'x0'
    """
    rows = check_array(X, dtype=np.float64, input_name="X")
    if not curves:
        raise ValueError("There is no curve to draw: give functions of the rows in curves.")
    names = input_names(names, rows.shape[1])
    chosen = chosen_inputs(inputs, names)
    figure, axes = panels(len(chosen), sharey=True)
    for axis, i in zip(axes, chosen, strict=True):
        places = np.linspace(rows[:, i].min(), rows[:, i].max(), _POINTS)
        along = _moved(rows, i, places)
        for number, (label, curve) in enumerate(curves.items()):
            values = as_array(curve(along.copy()))
            if values.shape != places.shape:
                raise ValueError(
                    f"The curve {label!r} must return shape {places.shape} for {len(places)} "
                    f"rows, got {values.shape}."
                )
            axis.plot(places, values, color=f"C{number % 10}", lw=1.2, label=label)
        axis.set(xlabel=names[i], xlim=(places[0], places[-1]))
        axis.set_ylim(bottom=0.0)
    axes[0].set_ylabel("standard deviation")
    axes[0].legend(frameon=False, fontsize="small")
    return figure


def local_kernel_figure(
    kernel: KernelLike,
    X: ArrayLike,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    extent: ArrayLike = 1.0,
) -> "Figure":
    r"""Return a kernel at several places along inputs, one panel each.

    A line shows :math:`k(u - \delta/2, u + \delta/2)` for lags :math:`\delta` of one input. Its
    midpoint ``u`` is at the 10, 50 or 90 % quantile of that input and at the medians of the
    others. For a stationary kernel, the lines are equal.

    Raises ValueError if ``X`` is not a table of numbers, an input does not exist, or ``extent`` is
    not positive.

    Parameters
    ----------
    kernel : Kernel or callable k(X, Y)
    X : array-like of shape (n, d)
        Rows whose quantiles are the places.
    inputs, names, extent
        As in :func:`kernel_figure`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Gaussian, LocallyStationary
    >>> kernel = LocallyStationary(Gaussian(2.0), Gaussian(0.5))
    >>> figure = local_kernel_figure(kernel, np.linspace(-3.0, 3.0, 21)[:, None])
    >>> [line.get_label() for line in figure.axes[0].lines[:3]]
    ['at -2.4', 'at 0', 'at 2.4']
    """
    rows = check_array(X, dtype=np.float64, input_name="X")
    names = input_names(names, rows.shape[1])
    chosen, extents = chosen_inputs(inputs, names), per_input("extent", extent, rows.shape[1])
    figure, axes = panels(len(chosen), sharey=True)
    for axis, i in zip(axes, chosen, strict=True):
        lags = np.linspace(0.0, extents[i], _POINTS)
        for number, place in enumerate(np.quantile(rows[:, i], _PLACES)):
            left, right = (_moved(rows, i, place + sign * lags / 2.0) for sign in (-1.0, 1.0))
            values = np.diagonal(as_array(kernel(left, right)))
            axis.plot(lags, values, color=f"C{number}", lw=1.2, label=f"at {place:.4g}")
        axis.axhline(0.0, color="0.6", lw=0.6)
        axis.set(xlabel=f"lag in {names[i]}", xlim=(0.0, extents[i]))
        axis.legend(frameon=False, fontsize="small")
    axes[0].set_ylabel("kernel")
    return figure


def _moved(rows: Array, i: int, values: Array) -> Array:
    """Return rows at the medians of all inputs but one, which has the given values."""
    moved = np.tile(np.median(rows, axis=0), (len(values), 1))
    moved[:, i] = values
    return moved
