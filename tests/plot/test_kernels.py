"""Pictures of kernels and spectra: lines are closed forms, shares are recounted."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import FourierFeatures, LearnedKernelRegressor, plot
from bochner.kernels import Gaussian, LocallyStationary, Polynomial, SpectralMixture
from bochner.learned import Chains
from bochner.plot.kernel_curves import SpectrumDisplay
from bochner.plot.rankings import SharesDisplay

RNG = np.random.default_rng(0)
CENTRE, WIDTHS, LENGTHS = np.array([1.0, -2.0]), np.array([3.0, 5.0]), np.array([0.5, 2.0])
LOCAL = LocallyStationary(Gaussian(tuple(WIDTHS)), Gaussian(tuple(LENGTHS)), tuple(CENTRE))
X = RNG.normal(size=(101, 2)) * [2.0, 4.0] + [3.0, 0.0]
SHORT = {"random_state": 0, "chains": Chains(n_burn_in=4, n_samples=6, n_chains=2)}


@pytest.fixture(scope="module", params=[1, 4], ids=["one chain", "pooled chains"])
def learned(request):
    rows = np.random.default_rng(2).normal(size=(600, 2)) * [2.0, 4.0]
    options = SHORT | {"chains": Chains(4, 6, request.param)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # One chain as short as this warns
        return LearnedKernelRegressor(8, "dense", **options).fit(rows, np.sin(rows[:, 0]))


def test_kernels_are_drawn_along_each_input_in_its_units():
    kernel = SpectralMixture([1.0], [[2.0, 3.0]], [[[0.1, 0.0], [0.0, 0.2]]])
    display = plot.kernel(kernel, X, names=["time", "place"], extent=(3.0, 5.0))
    assert [axis.get_xlabel() for axis in display.axes_] == ["lag in time", "lag in place"]
    for axis, frequency, variance, end in zip(
        display.axes_, (2.0, 3.0), (0.1, 0.2), (3.0, 5.0), strict=True
    ):
        lags, values = axis.lines[0].get_data()
        assert (lags[0], lags[-1]) == axis.get_xlim() == (0.0, end)
        expected = np.exp(-0.5 * variance * lags**2) * np.cos(frequency * lags)
        assert_allclose(values, expected, atol=1e-12)


def waves_of(model, i, lags):
    """Return the kernel of each draw along an input, as the mean cosine of its waves."""
    omega = model.learned_[0].draws.omega[:, :, i].reshape(-1, model.n_frequencies)
    return np.cos(omega[:, :, None] / model._scaling.scale[i] * lags).mean(axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_band_of_a_learned_kernel_holds_its_share_of_draws(learned, level):
    display = plot.kernel(learned, level=level)
    assert_allclose(display.lags[:, -1], 3.0 * learned._scaling.scale)
    for i, axis in enumerate(display.axes_):
        lags, mean = axis.lines[0].get_data()
        origin, rows = np.zeros((1, 2)), lags[:, None] * (np.arange(2) == i)
        assert_allclose(mean, learned.kernel_(rows, origin)[:, 0], atol=1e-12)
        draws = np.sort(waves_of(learned, i, lags), axis=0)
        last = len(draws) - 1
        assert last >= 5
        at = [(0.5 - 0.5 * level) * last, (0.5 + 0.5 * level) * last]
        for end, place in zip((display.lower[i], display.upper[i]), at, strict=True):
            low, part = int(place), place % 1.0
            assert_allclose(end, (1.0 - part) * draws[low] + part * draws[low + 1], atol=1e-12)


def envelope(u):
    return np.exp(-0.5 * np.sum(((u - CENTRE) / WIDTHS) ** 2, axis=-1))


@pytest.mark.parametrize("i", [0, 1])
def test_local_kernels_are_drawn_about_their_midpoints(i):
    (axis,) = plot.kernel(LOCAL, X, inputs=[i], extent=(2.0, 6.0)).axes_
    for line, share in zip(axis.lines[:3], (0.1, 0.5, 0.9), strict=True):
        lags, middle = line.get_xdata(), np.median(X, axis=0)
        middle[i] = np.quantile(X[:, i], share)
        assert lags[-1] == (2.0, 6.0)[i]
        expected = envelope(middle) * np.exp(-0.5 * (lags / LENGTHS[i]) ** 2)
        assert_allclose(line.get_ydata(), expected, rtol=1e-9, atol=1e-15)
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts[1] == f"at {np.median(X[:, i]):.3g}".replace("-", "−")


def test_any_function_is_a_kernel():
    def linear(X, Y):
        return X @ [[1.0], [2.0]] + (Y @ [[1.0], [2.0]]).T

    display = plot.kernel(linear, X, extent=1.0)
    medians = np.median(X, axis=0)
    assert_allclose(display.curves[0, 1], 2.0 * medians @ [1.0, 2.0])
    assert len(display.curves[0]) == 3
    assert len(plot.kernel(Polynomial(2), X).curves[0]) == 3
    assert len(plot.kernel(Gaussian(), X).curves[0]) == 1


FREQUENCIES = RNG.normal(size=(2000, 3)) * [1.0, 3.0, 0.1] * (RNG.random((2000, 3)) < 0.7)


def stairs(axis):
    (patch,) = axis.patches
    return patch.get_data()[:2]


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_of_the_active_frequencies(weighted):
    weights = RNG.uniform(size=2000) if weighted else np.ones(2000)
    weights /= weights.sum()
    display = SpectrumDisplay(["a", "b", "c"], FREQUENCIES, weights).plot()
    for i, axis in enumerate(display.axes_):
        shares, edges = stairs(axis)
        size = np.abs(FREQUENCIES[:, i])
        period = 2.0 * np.pi / size[size > 0.0]
        expected = np.histogram(period, edges, weights=weights[size > 0.0])[0]
        assert_allclose(shares, 100.0 * expected, atol=1e-12)
        assert expected.sum() >= 0.99 * weights[size > 0.0].sum()


@pytest.mark.thorough_cases(but=r"\bone\b")
def test_spectra_of_models(learned):
    display = plot.spectrum(learned)
    draws = learned.learned_[0].draws
    assert_allclose(display.frequencies, (draws.omega / learned._scaling.scale).reshape(-1, 2))
    waves = draws.omega.shape[1]
    energy = (draws.coef[:, : 2 * waves].reshape(-1, waves, 2) ** 2).sum(axis=2)
    expected = energy / energy.sum(axis=1, keepdims=True) / len(energy)
    assert_allclose(display.weights, expected.ravel())
    # Periods are drawn up to those which rows with the deviation of the input can show.
    for i in (0, 1):
        of_one = plot.spectrum(learned, inputs=[i])
        assert of_one.longest == pytest.approx(np.sqrt(48.0) * learned._scaling.scale[i])
    features = FourierFeatures(random_state=0, n_components=64).fit(X)
    fixed = plot.spectrum(features, inputs=[1])
    assert_allclose(fixed.frequencies[:, 0], features.frequencies_.omega[:, 1])
    assert_allclose(fixed.weights, 1.0 / 32)


def test_relevance_of_learned_models(learned):
    display = plot.relevance(learned, names=["time", "place"])
    found = learned.relevance_.inclusion
    order = np.argsort(-found)
    assert display.names == [("time", "place")[i] for i in order]
    assert_allclose([bar.get_width() for bar in display.ax_.patches], 100.0 * found[order])
    (pair,) = SharesDisplay.largest(["a × b"], np.array([0.3])).share
    assert pair == 0.3
    both = plot.interactions(learned)
    shown = 2.0 * learned.interactions_[0, 1]
    assert both.names == (["x0 × x1"] if shown >= 0.005 else [])


def test_pairs_of_learned_models_have_both_entries_of_their_matrix():
    """The shares of all pairs and of the diagonal sum to one, the total of the matrix."""
    matrix = np.array([[0.1, 0.2, 0.05], [0.2, 0.06, 0.1], [0.05, 0.1, 0.14]])
    model = SimpleNamespace(relevance_=SimpleNamespace(interactions=matrix))
    display = plot.interactions(model, names=["a", "b", "c"])
    assert display.names == ["a × b", "b × c", "a × c"]
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert_allclose(sum(widths), 100.0 * (1.0 - np.trace(matrix)))
    assert_allclose(widths, [40.0, 20.0, 10.0])


REFUSED = [
    (lambda: plot.kernel(Gaussian(), extent=(1.0, 2.0)), "or one for each of 1 inputs"),
    (lambda: plot.kernel(Gaussian(), X, inputs=[2]), r"some of x0, x1, by name or number, got \[2"),
    (lambda: plot.kernel(Gaussian(), X, names=["a"]), "one for each of 2 inputs"),
    (lambda: plot.kernel(lambda X, Y: np.zeros(len(X))), r"return shape \(201, 201\)"),
    (lambda: plot.kernel(Gaussian(), X, ax=[]), "ax must be a sequence of 2 Axes"),
    (lambda: plot.kernel(Gaussian(), theme="blue"), "theme must be one of 'light', 'dark'"),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
