"""Small pictures of kernels: values, spectrum and drawn functions, for the page of kernels."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from bochner import kernels
from bochner.plot import to_svg
from bochner.plot.style import MISSED, MODEL, PALETTE, styled

SIZE = (2.3, 1.45)
"""Inches of a picture: three of them are as wide as a page, as panels of the library are."""

REACH = 4.0
"""Longest distance, in length scales of most kernels: their values are close to zero there."""

PLACES = np.linspace(0.0, 2.0 * REACH, 101)[:, None]
"""Inputs of the draws: a line between two of them is two pixels long."""

HIGHEST = 8.0
"""Largest angular frequency: the rough kernels have some mass beyond it, and no others."""

LAGS = np.linspace(0.0, 120.0, 24_001)
"""Lags of the quadrature: waves of the highest frequency have 150 points, and all kernels here
are below 2e-4 at the end."""

SMALLEST = 1e-9
"""Share of the largest eigenvalue below which a negative one is rounding."""


_HUNDREDTHS = re.compile(r"(\.\d)\d+")
"""Digits after the first one of coordinates: a tenth of a point is not visible."""


@dataclass(frozen=True)
class Drawn:
    """A kernel of the page, with the code that makes it and a sentence on its functions."""

    name: str
    code: str
    sentence: str

    @property
    def kernel(self) -> kernels.Kernel:
        """The kernel that the code makes."""
        return eval(self.code, dict(vars(kernels)))  # The codes are those of this module


STATIONARY = (
    Drawn("Gaussian", "Gaussian(1.0)", "Smooth functions; the usual first choice."),
    Drawn("Matérn 5/2", "Matern(1.0, nu=2.5)", "Functions with two derivatives."),
    Drawn("Matérn 3/2", "Matern(1.0, nu=1.5)", "Functions with one derivative and sharp bends."),
    Drawn("Matérn 1/2", "Matern(1.0, nu=0.5)", "Rough functions without a derivative."),
    Drawn(
        *("Rational quadratic", "RationalQuadratic(1.0, alpha=1.0)"),
        "Several length scales at once.",
    ),
    Drawn("Cauchy", "Cauchy(1.0)", "Smooth functions with a long memory."),
    Drawn(
        *("Periodic", "Periodic(period=4.0, length_scale=1.0)"),
        "Functions that repeat: the spectrum consists of lines.",
    ),
    Drawn(
        *("Slowly changing season", "Periodic(2.0, 1.0) * Gaussian(4.0)"),
        "A product: the season changes its shape, and the lines have a width.",
    ),
    Drawn(
        *("Spectral mixture", "SpectralMixture([0.6, 0.4], [[0.0], [4.0]], [0.5, 0.1])"),
        "A trend and a wave, each a peak of the spectrum.",
    ),
    Drawn(
        *("Sum", "Gaussian(2.0) + 0.1 * Matern(0.5, nu=0.5)"),
        "A smooth function plus a small rough one.",
    ),
    Drawn(
        *("Difference", "Gaussian(1.0) - 0.6 * Gaussian(2.0)"),
        "Indefinite: the spectrum is negative at low frequencies, and no random function has it.",
    ),
)
OTHERS = (
    Drawn("Linear", "Linear(variance=0.2, centre=4.0)", "Straight lines through the centre."),
    Drawn("Polynomial", "Polynomial(2, offset=8.0)", "Parabolas."),
    Drawn(
        *("Locally stationary", "LocallyStationary(Gaussian(1.5), Gaussian(0.5), centre=4.0)"),
        "The amplitude changes from place to place.",
    ),
)


def density(kernel: kernels.Kernel, frequencies: np.ndarray) -> np.ndarray:
    r"""Return the spectral density of a stationary kernel of one input, by quadrature.

    .. math:: S(\omega) = \frac{1}{\pi} \int_0^\infty k(t) \cos(\omega t) \, dt
    """
    values = kernel(LAGS[:, None], [[0.0]])[:, 0]
    return np.array(
        [np.trapezoid(np.cos(omega * LAGS) * values, LAGS) / np.pi for omega in frequencies]
    )


def draws(kernel: kernels.Kernel, count: int = 3) -> np.ndarray | None:
    """Return functions (101, count) with this covariance, or None if it is indefinite."""
    values, vectors = np.linalg.eigh(kernel(PLACES))
    if values[0] < -SMALLEST * values[-1]:
        return None
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # The sign of an eigenvector is arbitrary: that of its largest entry is positive.
    root *= np.sign(root[np.abs(root).argmax(axis=0), np.arange(len(root))])
    return root @ np.random.default_rng(2).normal(size=(len(root), count))


def _draw_values(ax, kernel: kernels.Kernel, is_stationary: bool) -> None:
    """Draw the kernel by the distance, or by one input for three values of the other."""
    if is_stationary:
        distance = np.linspace(0.0, REACH, 81)[:, None]
        ax.plot(distance, kernel(distance, [[0.0]]), color=MODEL)
        ax.set(xlabel="distance", xticks=range(5))
    else:
        for place, color in zip((2.0, 4.0, 6.0), PALETTE, strict=False):
            ax.plot(PLACES, kernel(PLACES, [[place]]), color=color, label=f"y = {place:g}")
        ax.set(xlabel="x, for y = 2, 4, 6", xticks=range(0, 9, 2))
    ax.set_title("k")


def _draw_spectrum(ax, kernel: kernels.Kernel) -> None:
    """Draw the spectral density, or the lines of a periodic kernel."""
    if isinstance(kernel, kernels.Periodic):
        frequency, weight = (part.ravel() for part in kernel.lines(1)[0])
        shown = frequency <= HIGHEST
        ax.vlines(frequency[shown], 0.0, weight[shown], color=MODEL, linewidth=2.0)
    else:
        frequency = np.linspace(0.0, HIGHEST, 121)
        values = density(kernel, frequency)
        ax.plot(frequency, values, color=MODEL)
        ax.fill_between(frequency, values, where=values >= 0.0, color=MODEL, alpha=0.2, lw=0)
        ax.fill_between(frequency, values, where=values < 0.0, color=MISSED, alpha=0.4, lw=0)
    ax.axhline(0.0, color="0.5", linewidth=0.6)
    ax.set(title="spectrum", xlabel="frequency", yticks=[], xticks=range(0, 9, 2))


def _draw_variance(ax, kernel: kernels.Kernel) -> None:
    """Draw the standard deviation of the functions, which changes from place to place."""
    deviation = np.sqrt([kernel([place])[0, 0] for place in PLACES])
    ax.plot(PLACES, deviation, color=MODEL)
    ax.set(title="standard deviation", xlabel="x", xticks=range(0, 9, 2), ylim=(0.0, None))


def _draw_functions(ax, kernel: kernels.Kernel) -> None:
    """Draw three functions, or say why there are none."""
    functions = draws(kernel)
    if functions is None:
        ax.text(0.5, 0.5, "no function has this\ncovariance", transform=ax.transAxes, ha="center",
                va="center")  # fmt: skip
        ax.set(xticks=[], yticks=[])
    else:
        for function, color in zip(functions.T, PALETTE, strict=False):
            ax.plot(PLACES, function, color=color)
        ax.set(xlabel="x", xticks=range(0, 9, 2))
    ax.set_title("three functions")


def pictures(drawn: Drawn, *, is_stationary: bool) -> Iterator[str]:
    """Yield the three pictures of a kernel as SVG in the colours of the page."""
    kernel = drawn.kernel
    parts: dict[str, Callable] = {
        "values": lambda ax: _draw_values(ax, kernel, is_stationary),
        "spectrum" if is_stationary else "standard deviation": (
            (lambda ax: _draw_spectrum(ax, kernel))
            if is_stationary
            else (lambda ax: _draw_variance(ax, kernel))
        ),
        "functions": lambda ax: _draw_functions(ax, kernel),
    }
    for part, draw in parts.items():
        with styled():
            figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
            draw(ax)
            ax.grid(visible=False)
            svg = to_svg(figure, title=f"{drawn.name} kernel: {part}")
            plt.close(figure)
        svg = _HUNDREDTHS.sub(r"\1", svg)
        yield " ".join(svg.replace(MODEL.lower(), f"var(--chart-blue, {MODEL})").split())


def strips(chosen: tuple[Drawn, ...], *, is_stationary: bool) -> str:
    """Return the strips of kernels as Markdown with HTML in it."""
    blocks = []
    for drawn in chosen:
        panels = "".join(
            f"<div>{svg}</div>" for svg in pictures(drawn, is_stationary=is_stationary)
        )
        blocks.append(
            f"**{drawn.name}** `{drawn.code}` {drawn.sentence}\n\n"
            f'```{{raw}} html\n<div class="strip">{panels}</div>\n```'
        )
    return "\n\n".join(blocks)
