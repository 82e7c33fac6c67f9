"""Pictures of locally stationary kernels: envelopes, and the kernel at several places."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics.arrays import Array, as_array
from bochner.plot.panels import chosen_inputs, input_names, panels, per_input

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS, _PLACES = 161, (0.1, 0.5, 0.9)

KernelLike = Callable[[Array, Array], Any]
AtRows = Callable[[Array], Any]


def envelope_figure(
    curves: Mapping[str, AtRows],
    X: ArrayLike,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
) -> "Figure":
    """Return functions of the rows along inputs, one panel each, such as standard deviations.

    Along an input the others stay at their medians.

    Parameters
    ----------
    curves : mapping of str to callable
        By their labels, functions from rows (k, d) to numbers (k,), such as
        :meth:`bochner.GaBaSRRegressor.signal_std`.
    X : array-like of shape (n, d)
        Rows, whose ranges are shown.
    inputs : sequence of int or str, default=None
        Inputs with panels, by number or name; ``None`` means the first eight.
    names : sequence of d str, default=None

    Raises
    ------
    ValueError
        If there is no curve, a curve does not return one number for each row, ``X`` is not a
        table of numbers, or an input does not exist.

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

    A line shows :math:`k(u - \delta/2, u + \delta/2)` for lags :math:`\delta` of one input, with
    its midpoint ``u`` at the 10, 50 or 90 per cent quantile of the rows and the other inputs at
    their medians. The lines of a stationary kernel are the same.

    Parameters
    ----------
    kernel : Kernel or callable k(X, Y)
    X : array-like of shape (n, d)
        Rows, whose quantiles are the places.
    inputs : sequence of int or str, default=None
        Inputs with panels, by number or name; ``None`` means the first eight.
    names : sequence of d str, default=None
    extent : float or array-like of shape (d,), default=1.0
        The longest lag, of each of all inputs, in its units.

    Raises
    ------
    ValueError
        If ``X`` is not a table of numbers, an input does not exist, or ``extent`` is not positive.

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
    """Return rows at the medians of all inputs but one, which has these values."""
    moved = np.tile(np.median(rows, axis=0), (len(values), 1))
    moved[:, i] = values
    return moved
