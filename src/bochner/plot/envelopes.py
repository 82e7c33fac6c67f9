"""Standard deviations of signal and noise of locally stationary models along inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner._base.checks import check_rows_given
from bochner.plot.display import Display, PanelLayout
from bochner.plot.model_inputs import chosen_inputs, input_names
from bochner.plot.style import COLUMNS, Theme, look_of
from bochner.plot.text_labels import finish, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLACES = 201
"""Places of a curve: about one per pixel of a panel."""

_MOST_CURVES = 6
"""Most curves of a panel: more cannot be told apart."""


@dataclass(frozen=True, slots=True, eq=False)
class EnvelopeDisplay(Display):
    """Standard deviations along d inputs, one panel each.

    :func:`bochner.plot.envelope` returns it, and has an example.

    Parameters
    ----------
    names : sequence of d str
        Names of the inputs.
    places : ndarray of shape (d, L)
        Values of each input.
    curves : mapping of str to ndarray of shape (d, L)
        Standard deviations by the name of the varying component.
    ylabel : str, default="standard deviation"
    """

    names: Sequence[str]
    places: Array
    curves: dict[str, Array]
    ylabel: str = "standard deviation"

    def describe(self) -> str:
        parts = [
            f"{label} from {values[i].min():.3g} to {values[i].max():.3g} along {name}"
            for i, name in enumerate(self.names)
            for label, values in self.curves.items()
        ]
        return f"Standard deviations: {'; '.join(parts)}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(len(self.names), sharey=True)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        for number, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            handles = []
            for place, values in enumerate(self.curves.values()):
                look = look_of(place)
                at = self.places[number]
                handles += axis.plot(at, values[number], color=look.color, ls=look.dashes)
            axis.set_xlim(self.places[number][0], self.places[number][-1])
            axis.set_ylim(bottom=0.0)
            finish(axis, name, "" if number % COLUMNS else self.ylabel)
        if len(self.curves) > 1:
            legend(axes, handles, list(self.curves))


def envelope(
    model: BaseEstimator,
    X: ArrayLike,
    *,
    inputs: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> EnvelopeDisplay:
    """Draw standard deviations of signal and noise of a locally stationary model along inputs.

    Other inputs are at their medians. Signal is the prior's standard deviation of the function, and
    noise that of observations, in units of the target; classes have a signal in log odds only.

    Parameters
    ----------
    model : LocallyStationaryRegressor or LocallyStationaryClassifier
    X : array-like of shape (n, d)
        Rows whose ranges are shown.
    inputs, names, ax, theme
        As in :func:`kernel`.

    Returns
    -------
    display : EnvelopeDisplay

    Raises
    ------
    TypeError
        If the model has no envelope.
    ValueError
        If ``X`` is not a table of numbers, or an input does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import LocallyStationaryRegressor, plot
    >>> X = np.linspace(0.0, 1.0, 60)[:, None]
    >>> y = X[:, 0] * np.random.default_rng(0).normal(size=60)
    >>> model = LocallyStationaryRegressor(8, n_burn_in=4, n_samples=4, n_chains=2, random_state=0)
    >>> model = model.fit(X, y)
    >>> list(plot.envelope(model, X).curves)
    ['signal', 'noise']
    """
    if not hasattr(model, "signal_std"):
        raise TypeError(
            "envelope takes a fitted LocallyStationaryRegressor or LocallyStationaryClassifier, "
            f"got {type(model).__name__}."
        )
    rows = check_rows_given(X, dtype=np.float64)
    all_names = input_names(model, names, rows.shape[1], X)
    chosen = chosen_inputs(inputs, all_names)
    places = as_array([np.linspace(rows[:, i].min(), rows[:, i].max(), _PLACES) for i in chosen])
    tables = []
    for i, at in zip(chosen, places, strict=True):
        table = np.tile(np.median(rows, axis=0), (len(at), 1))
        table[:, i] = at
        tables.append(table)
    signal = as_array([model.signal_std(table) for table in tables])
    curves, unit = {"signal": signal}, "standard deviation"
    if signal.ndim > 2:
        curves = {str(c): signal[..., k] for k, c in enumerate(model.classes_[:_MOST_CURVES])}
    if hasattr(model, "classes_"):
        unit = "standard deviation (log odds)"
    if hasattr(model, "noise_std"):
        curves["noise"] = as_array([model.noise_std(table) for table in tables])
    shown = [all_names[i] for i in chosen]
    return EnvelopeDisplay(shown, places, curves, unit).plot(ax, theme=theme)
