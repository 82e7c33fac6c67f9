"""A referee of layouts: colliding texts, legends over data, crowded panels."""

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

MOST_CURVES = 6

_DPI = 200
_TOUCH = 1.0  # Pixels by which boxes may overlap: half a hundredth of an inch


def faults(figure):
    """Return what is wrong with the layout of a figure, a sentence each."""
    figure.set_dpi(_DPI)
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [
        (text.get_text(), text.get_window_extent(renderer), owner)
        for text, owner in _texts(figure)
        if text.get_visible() and text.get_text().strip()
    ]
    page = Bbox.from_bounds(-_TOUCH, -_TOUCH, figure.bbox.width + 2, figure.bbox.height + 2)
    found = [f"{name!r} leaves the figure" for name, box, _ in texts if not _inside(box, page)]
    found += [
        f"{first!r} and {second!r} overlap"
        for (first, a, _), (second, b, _) in combinations(texts, 2)
        if _overlap(a, b)
    ]
    panels = [axis for axis in _all_axes(figure) if axis.axison]
    for name, box, owner in texts:
        for axis in panels:
            if axis is not owner and _overlap(box, axis.get_window_extent(renderer)):
                found.append(f"{name!r} lies in the panel {axis.get_xlabel()!r}")
    for legend in _legends(figure):
        for axis in panels:
            if _overlap(legend.get_window_extent(renderer), axis.get_window_extent(renderer)):
                found.append(f"a legend lies in the panel {axis.get_xlabel()!r}")
    for axis in panels:
        curves = [line for line in axis.lines if len(line.get_xdata()) > 2]
        if len(curves) > MOST_CURVES:
            found.append(f"{len(curves)} curves in the panel {axis.get_xlabel()!r}")
    return found


def _all_axes(figure):
    for axis in figure.axes:
        yield axis
        yield from axis.child_axes


def _legends(figure):
    own = [axis.get_legend() for axis in _all_axes(figure)]
    return [*figure.legends, *(legend for legend in own if legend is not None)]


def _texts(figure):
    """Yield texts with the panel in which they may lie, or None."""
    for legend in _legends(figure):
        yield from ((text, None) for text in legend.get_texts())
    yield from ((text, None) for text in figure.texts)
    for axis in _all_axes(figure):
        yield from ((text, axis) for text in axis.texts)
        yield axis.title, None
        if not axis.axison:
            continue
        for side in (axis.xaxis, axis.yaxis):
            if not side.get_visible():
                continue
            yield side.label, None
            yield side.get_offset_text(), None
            low, high = sorted(side.get_view_interval())
            slack = 1e-6 * (high - low)
            for tick in (*side.get_major_ticks(), *side.get_minor_ticks()):
                if low - slack <= tick.get_loc() <= high + slack:
                    yield tick.label1, None
                    yield tick.label2, None


def _inside(box, page):
    return box.x0 >= page.x0 and box.y0 >= page.y0 and box.x1 <= page.x1 and box.y1 <= page.y1


def _overlap(a, b):
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return width > _TOUCH and height > _TOUCH
