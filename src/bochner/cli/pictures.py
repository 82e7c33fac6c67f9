"""Pictures of what a table model depends on and how well it predicts, written as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bochner._numerics.arrays import Array
from bochner._numerics.files import replacing
from bochner.cli.inspecting import LEAST_PAIR
from bochner.comparison.split import Split
from bochner.diagnosis.sensitivity import Effect, VarianceShares
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.plot.learned import prediction_figure
from bochner.plot.panels import panels

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_BARS = 12
"""Most columns in the picture of the importance: their names stay readable."""

_EFFECTS = 8
"""Most columns whose effects are drawn: two lines of four panels."""

_CURVES = 6
"""Most classes whose probabilities are drawn: their curves can be told apart."""

_TICKS = 8
"""Most labels of an axis of texts."""

_TICK, _LABEL = 16, 36
"""Most characters of the label of a tick, and of an axis: a panel has room for them."""

_LEVEL = 0.9
"""Level of the prediction intervals, that of the coverage which `bochner fit` prints."""

_BINS = 10
"""Bins of predicted probabilities."""

_FEWEST = 5
"""Fewest predictions in a bin that is drawn: the standard error of a share is below a quarter."""

_DPI = 120
"""Dots per inch: a panel has about 430 pixels."""

Model = TableRegressor | TableClassifier


def write_pictures(
    model: Model, split: Split, importance: VarianceShares, pairs: VarianceShares, folder: Path
) -> list[Path]:
    """Write the pictures of a fitted model and return their files."""
    figures = {"importance": _importance(importance)}
    if drawn := [name for name in importance.columns[:_EFFECTS] if _has_effect(model, name)]:
        figures["effects"] = _effects([model.effect(name) for name in drawn])
    if len(pairs.share) and pairs.share[0] >= LEAST_PAIR:
        figures["pair"] = _pair(model.effect(*pairs.columns[0]))
    if isinstance(model, TableRegressor):
        lower, upper = model.predict_interval(split.X_test, _LEVEL)
        mean, normal = 0.5 * (lower + upper), ndtri(0.5 + 0.5 * _LEVEL)
        # The figure's intervals are these: it multiplies by the normal quantile again.
        std = 0.5 * (upper - lower) / normal
        figures["predictions"] = prediction_figure(split.y_test, mean, std, level=_LEVEL)
    else:
        figures["reliability"] = _reliability(model, split)
    written = []
    for name, figure in figures.items():
        path = folder / f"{name}.png"
        with replacing(path) as fresh:
            figure.savefig(fresh, format="png", dpi=_DPI)
        written.append(path)
    return written


def _has_effect(model: Model, name: str) -> bool:
    kinds = {state["name"]: state["kind"] for state in model.encoder_.columns_}
    return kinds[name] in ("numeric", "date", "text")


def _importance(importance: VarianceShares) -> Figure:
    names = importance.columns[:_BARS]
    figure, (axis,) = panels(1)
    figure.set_size_inches(5.0, 1.0 + 0.25 * len(names))
    shares, errors = (100.0 * part[:_BARS] for part in (importance.share, importance.std_error))
    axis.barh(range(len(names)), shares, color="tab:blue", alpha=0.7)
    axis.errorbar(shares, range(len(names)), xerr=errors, fmt="none", ecolor="0.2", capsize=2)
    axis.set_yticks(range(len(names)), [_short(name, _LABEL) for name in names])
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlim(left=0.0)
    axis.set_xlabel("share of variance (%)")
    return figure


def _effects(effects: list[Effect]) -> Figure:
    """Draw averaged predictions along each column, with quartiles over rows."""
    figure, axes = panels(len(effects), sharey=True)
    shown = _varying_classes(effects)
    for axis, effect in zip(axes, effects, strict=True):
        (name,), (values,) = effect.columns, effect.values
        parts = effect.mean, effect.lower, effect.upper
        mean, lower, upper = (part.reshape(len(values), -1)[:, shown] for part in parts)
        is_text = values.dtype.kind not in "fiu"
        present = np.arange(len(values)) if is_text else np.flatnonzero(np.isfinite(values))
        at = present if is_text else values[present]
        for number, curve in enumerate(mean.T):
            color = f"C{number}"
            label = None if effect.classes is None else str(effect.classes[shown[number]])
            axis.plot(at, curve[present], "o" if is_text else ".-", color=color, label=label)
            for missing in np.delete(curve, present):
                line = axis.axhline(missing, color=color, ls=":", lw=1.0)
                axis.legend([line], ["missing"], frameon=False, fontsize="small")
        if effect.classes is None:  # Shifted probabilities leave the range from zero to one
            ends = at, lower[present, 0], upper[present, 0]
            (axis.vlines if is_text else axis.fill_between)(*ends, color="C0", alpha=0.3)
        if is_text:
            _text_ticks(axis.xaxis, values, is_turned=True)
        else:
            axis.locator_params(axis="x", nbins=_TICKS // 2)
        axis.set_xlabel(_short(name, _LABEL))
    kind = "prediction" if effects[0].classes is None else "probability"
    axes[0].set_ylabel(f"average {kind}")
    if effects[0].classes is not None:
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=_CURVES)
    return figure


def _varying_classes(effects: list[Effect]) -> list[int]:
    """Return the classes whose probabilities vary most, the second one of two; 0 for numbers."""
    classes = effects[0].classes
    if classes is None:
        return [0]
    if len(classes) == 2:
        return [1]
    ranges = sum(np.ptp(effect.mean.reshape(-1, len(classes)), axis=0) for effect in effects)
    return sorted(np.argsort(-ranges, kind="stable")[:_CURVES].tolist())


def _pair(effect: Effect) -> Figure:
    """Draw averaged predictions over two columns; for classes, of the one that varies most."""
    shown = _varying_classes([effect])
    if len(shown) > 1:
        flat = effect.mean.reshape(-1, effect.mean.shape[-1])
        shown = [int(np.argmax(np.ptp(flat, axis=0)))]
    mean = effect.mean.reshape(*map(len, effect.values), -1)[:, :, shown[0]]
    figure, (axis,) = panels(1)
    figure.set_size_inches(5.0, 4.0)
    places = []
    for number, (values, of) in enumerate(
        zip(effect.values, (axis.xaxis, axis.yaxis), strict=True)
    ):
        if values.dtype.kind in "fiu" and np.isfinite(values).sum() > 1:
            mean = mean.compress(np.isfinite(values), axis=number)
            places.append(values[np.isfinite(values)])
        else:
            places.append(np.arange(len(values)))
            _text_ticks(of, values, is_turned=number == 0)
    image = axis.pcolormesh(*places, mean.T, cmap="viridis", shading="nearest")
    label = "average prediction"
    if effect.classes is not None:
        label = f"average probability of {effect.classes[shown[0]]}"
    figure.colorbar(image, ax=axis, label=label)
    axis.set(xlabel=_short(effect.columns[0], _LABEL), ylabel=_short(effect.columns[1], _LABEL))
    return figure


def _reliability(model: TableClassifier, split: Split) -> Figure:
    """Draw how often classes occur among test rows, by their predicted probability."""
    probability = model.predict_proba(split.X_test)
    happened = split.y_test[:, None] == model.classes_
    label = f"probability of {model.classes_[-1]}" if len(model.classes_) == 2 else "probability"
    if len(model.classes_) == 2:
        probability, happened = probability[:, 1:], happened[:, 1:]
    figure, (axis,) = panels(1)
    figure.set_size_inches(4.2, 3.8)
    predicted, observed, error = _binned(probability.ravel(), happened.ravel())
    axis.axline((0.0, 0.0), slope=1.0, color="0.3", lw=0.8, ls="--")
    axis.errorbar(predicted, observed, error, fmt="o", ms=4, capsize=2)
    axis.set(xlabel=f"predicted {label}", ylabel="observed share", xlim=(-0.02, 1.02))
    axis.set_ylim(-0.02, 1.02)
    axis.set_title(f"{len(split.y_test)} test rows", fontsize="medium")
    return figure


def _binned(probability: Array, happened: NDArray[np.bool_]) -> tuple[Array, Array, Array]:
    """Return means of probabilities by bin, observed shares, and the shares' standard errors."""
    number = np.minimum((_BINS * probability).astype(np.intp), _BINS - 1)
    counts = np.bincount(number, minlength=_BINS)
    used = counts >= _FEWEST
    predicted, observed = (
        np.bincount(number, part, _BINS)[used] / counts[used] for part in (probability, happened)
    )
    return predicted, observed, np.sqrt(predicted * (1.0 - predicted) / counts[used])


def _text_ticks(axis: Axis, values: NDArray[Any], *, is_turned: bool) -> None:
    """Label places along an axis with values, some of them if there are many.

    Long labels are turned if they may be.
    """
    places = np.unique(np.linspace(0, len(values) - 1, _TICKS).round().astype(np.intp))
    names = [_short(_named(values[place])) for place in places]
    is_long = is_turned and sum(map(len, names)) > _LABEL
    turned: dict[str, Any] = {"rotation": 45, "ha": "right"} if is_long else {}
    axis.set_ticks(places.tolist(), names, **turned)


def _named(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "missing" if np.isnan(value) else f"{value:.4g}"


def _short(name: str, most: int = _TICK) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
