"""Pictures of what a table model depends on and how well it predicts, written as PNG files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bochner import plot
from bochner._numerics.files import replacing
from bochner.cli.inspecting import LEAST_PAIR
from bochner.comparison.split import Split
from bochner.diagnosis.sensitivity import VarianceShares
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.plot.display import Layout, new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EFFECTS = 9
"""Most columns whose effects are drawn: three lines of three panels."""

_VALUES = 24
"""Most numbers or dates along an axis: as many as a curve of that width can show."""

_LEVELS = 8
"""Most levels of text in a panel of effects: its height has room for their names."""

_LEVEL = 0.9
"""Level of the prediction intervals, that of the coverage which `bochner fit` prints."""

_DPI = 200
"""Dots per inch: a picture of one column's width has about 680 pixels."""


def write_pictures(
    model: TableRegressor | TableClassifier,
    split: Split,
    importance: VarianceShares,
    pairs: VarianceShares,
    folder: Path,
) -> list[Path]:
    """Write the pictures of a fitted model and return their files."""
    rows = split.X_test, split.y_test
    figures = {"importance": plot.relevance(importance).figure_}
    kinds = {state["name"]: state["kind"] for state in model.encoder_.columns_}
    shown = [name for name in importance.columns if kinds[name] in ("numeric", "date", "text")]
    if shown:
        figures["effects"] = _effects(model, shown[:_EFFECTS], kinds)
    if len(pairs.share) and pairs.share[0] >= LEAST_PAIR:
        figures["pair"] = plot.effect(model, *pairs.columns[0]).figure_
    if isinstance(model, TableRegressor):
        figures["predictions"] = plot.predictions(model, *rows, level=_LEVEL).figure_
    figures["calibration"] = plot.calibration(model, *rows).figure_
    written = []
    for name, figure in figures.items():
        assert figure is not None  # It is drawn
        path = folder / f"{name}.png"
        with replacing(path) as fresh:
            figure.savefig(fresh, format="png", dpi=_DPI)
        written.append(path)
    return written


def _effects(
    model: TableRegressor | TableClassifier, names: list[str], kinds: Mapping[str, str]
) -> "Figure":
    """Draw averaged predictions along each column."""
    with plot.styled():
        figure, axes = new_axes(Layout(len(names)))
    for axis, name in zip(axes, names, strict=True):
        most = _LEVELS if kinds[name] == "text" else _VALUES
        plot.effect(model, name, n_values=most, ax=axis)
    return figure
