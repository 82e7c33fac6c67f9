"""Pictures of envelopes and of kernels at several places: the lines are the closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.kernels import Gaussian, LocallyStationary
from bochner.plot import envelope_figure, local_kernel_figure

CENTRE, WIDTHS, LENGTHS = np.array([1.0, -2.0]), np.array([3.0, 5.0]), np.array([0.5, 2.0])
KERNEL = LocallyStationary(Gaussian(tuple(WIDTHS)), Gaussian(tuple(LENGTHS)), tuple(CENTRE))
X = np.random.default_rng(0).normal(size=(101, 2)) * [2.0, 4.0] + [3.0, 0.0]
MEDIAN = np.median(X, axis=0)


def envelope(u):
    return np.exp(-0.5 * np.sum(((u - CENTRE) / WIDTHS) ** 2, axis=-1))


@pytest.mark.parametrize("i", [0, 1])
def test_envelopes_are_drawn_along_an_input_with_the_others_at_their_medians(i):
    curves = {"signal": lambda Z: np.sqrt(KERNEL.diag(Z)), "noise": lambda Z: Z[:, 1 - i]}
    figure = envelope_figure(curves, X, inputs=[i], names=["time", "place"])
    (axis,) = figure.axes
    signal, other = axis.lines
    at = signal.get_xdata()
    assert (at[0], at[-1]) == (X[:, i].min(), X[:, i].max())
    rows = np.tile(MEDIAN, (len(at), 1))
    rows[:, i] = at
    assert_allclose(signal.get_ydata(), np.sqrt(envelope(rows)), rtol=1e-12)
    assert_allclose(other.get_ydata(), MEDIAN[1 - i])
    assert axis.get_xlabel() == ("time", "place")[i]


@pytest.mark.parametrize("i", [0, 1])
def test_kernels_are_drawn_about_their_midpoints(i):
    figure = local_kernel_figure(KERNEL, X, inputs=[i], extent=(2.0, 6.0))
    lines = figure.axes[0].lines[:3]
    for line, share in zip(lines, (0.1, 0.5, 0.9), strict=True):
        lags, middle = line.get_xdata(), MEDIAN.copy()
        middle[i] = np.quantile(X[:, i], share)
        assert lags[-1] == (2.0, 6.0)[i]
        expected = envelope(middle) * np.exp(-0.5 * (lags / LENGTHS[i]) ** 2)
        assert_allclose(line.get_ydata(), expected, rtol=1e-9, atol=1e-15)


def test_a_stationary_kernel_is_the_same_everywhere():
    first, *others = local_kernel_figure(Gaussian(), X, inputs=[1]).axes[0].lines[:3]
    for line in others:
        assert_allclose(line.get_ydata(), first.get_ydata(), rtol=1e-9)


def test_what_cannot_be_drawn_is_refused():
    flat = {"signal": lambda Z: np.ones(len(Z))}
    for draw in (lambda X: envelope_figure(flat, X), lambda X: local_kernel_figure(KERNEL, X)):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            draw(X[:, 0])
        with pytest.raises(ValueError, match="contains NaN"):
            draw(np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="give functions of the rows in curves"):
        envelope_figure({}, X)
    with pytest.raises(ValueError, match=r"'signal' must return shape \(161,\) for 161 rows"):
        envelope_figure({"signal": lambda Z: Z}, X)
    with pytest.raises(ValueError, match="inputs must be some of x0, x1"):
        envelope_figure(flat, X, inputs=["time"])
    with pytest.raises(ValueError, match="extent must be a positive number"):
        local_kernel_figure(KERNEL, X, extent=0.0)
