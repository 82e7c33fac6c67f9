"""Pictures of learned spectra: the drawn densities are recounted here."""

import numpy as np
import pytest
from scipy import stats

from bochner.plot import spectrum_figure

RNG = np.random.default_rng(0)
FREQUENCIES = RNG.normal(size=(5, 400, 3)) * [1.0, 3.0, 0.1] * (RNG.random((5, 400, 3)) < 0.7)


def texts(axis):
    return "\n".join(text.get_text() for text in axis.texts)


def stairs(axis):
    (patch,) = axis.patches
    return patch.get_data()[:2]


@pytest.mark.parametrize("weighted", [False, True])
def test_densities_are_of_the_active_frequencies(weighted):
    weights = np.random.default_rng(4).uniform(size=(5, 400)) if weighted else None
    figure = spectrum_figure(FREQUENCIES, weights, pairs=[])
    used = np.ones((5, 400)) if weights is None else weights
    for i, axis in enumerate(figure.axes):
        density, edges = stairs(axis)
        size = np.abs(FREQUENCIES[..., i])
        active = used[size > 0.0].sum()
        for low, high, height in zip(edges, edges[1:], density, strict=False):
            inside = (size >= low) & (size < high) & (size > 0.0)
            assert height * (high - low) == pytest.approx(used[inside].sum() / active, abs=1e-12)
        beyond = used[size > edges[-1]].sum() / active
        assert 0.0 < beyond <= 0.005
        stated = dict(line.split(" % ")[::-1] for line in texts(axis).splitlines())
        share = active / used.sum()
        assert float(stated["zero"]) == pytest.approx(100.0 * (1.0 - share), abs=0.0501)
        assert float(stated["beyond"]) == pytest.approx(100.0 * share * beyond, rel=0.0501)
        assert axis.get_xlabel() == f"angular frequency of x{i}"


def test_the_density_is_that_of_the_law():
    omega = np.random.default_rng(1).normal(2.0, 1.0, size=(40_000, 1))
    (axis,) = spectrum_figure(omega).axes
    density, edges = stairs(axis)
    folded = np.diff(stats.norm.cdf(edges, 2.0) - stats.norm.cdf(-edges, 2.0))
    counts = np.round(density * np.diff(edges) * len(omega))
    law = stats.binom(len(omega), folded)
    p_values = 2.0 * np.minimum(law.cdf(counts), law.sf(counts - 1.0))
    assert p_values.min() > 1e-4 / len(counts)
    assert texts(axis).startswith("0 % zero")


def test_draws_may_differ_in_size_and_signs_do_not_matter():
    parts = [FREQUENCIES[0], FREQUENCIES[1, :100], -FREQUENCIES[2, :7]]
    weights = [np.full(len(part), 2.0) for part in parts]
    figure = spectrum_figure(parts, weights, inputs=[1, 2])
    together = spectrum_figure(np.concatenate([*parts[:2], -parts[2]]), inputs=[1, 2])
    for axis, other in zip(figure.axes[:2], together.axes[:2], strict=True):
        np.testing.assert_allclose(stairs(axis)[0], stairs(other)[0])
        np.testing.assert_allclose(stairs(axis)[1], stairs(other)[1])
    planes = [each.axes[2].collections[0].get_array() for each in (figure, together)]
    np.testing.assert_allclose(*planes)


def test_the_joint_density_of_a_pair():
    figure = spectrum_figure(FREQUENCIES, pairs=[("b", "a")], inputs=["c"], names=["a", "b", "c"])
    axis = figure.axes[1]
    assert axis.get_xlabel() == "angular frequency of b"
    assert axis.get_ylabel() == "angular frequency of a"
    mesh = axis.collections[0]
    corners = mesh.get_coordinates()
    first, second = corners[0, :, 0], corners[:, 0, 1]
    assert first[0] == 0.0
    assert second[0] == -second[-1]
    b, a = FREQUENCIES[..., 1].ravel(), FREQUENCIES[..., 0].ravel()
    both = (a != 0.0) & (b != 0.0)
    symmetric = np.concatenate([np.stack([b, a])[:, both], -np.stack([b, a])[:, both]], axis=1)
    density = np.asarray(mesh.get_array()).reshape(len(second) - 1, len(first) - 1)
    for i in (0, 3, len(second) - 2):
        for j in (0, 4, len(first) - 2):
            inside = (first[j] <= symmetric[0]) & (symmetric[0] < first[j + 1])
            inside &= (second[i] <= symmetric[1]) & (symmetric[1] < second[i + 1])
            area = (first[j + 1] - first[j]) * (second[i + 1] - second[i])
            assert density[i, j] * area * both.sum() == pytest.approx(inside.sum(), abs=1e-9)
    assert density.max() > 0.0
    stated, words = texts(axis).splitlines()[0].split(" % ")
    assert words == "without one of them"
    assert float(stated) == pytest.approx(100.0 * (1.0 - both.mean()), abs=0.0501)


def test_periods_stand_at_their_frequencies():
    for end in (0.003, 0.9, 40.0, 7e5):
        omega = np.linspace(-end, end, 1000)[:, None] * [1.0, 2.0]
        figure = spectrum_figure(omega)
        for axis in figure.axes[:3]:
            top = axis.child_axes[0]
            assert top.get_xlabel() == "period"
            ticks = top.get_xticks()
            labels = [float(text.get_text()) for text in top.get_xticklabels()]
            assert 2 <= len(ticks) <= 7
            assert ((ticks > 0.0) & (ticks <= axis.get_xlim()[1])).all()
            np.testing.assert_allclose(np.multiply(ticks, labels), 2.0 * np.pi, rtol=1e-5)
        right = figure.axes[2].child_axes[1]
        labels = [float(text.get_text()) for text in right.get_yticklabels()]
        np.testing.assert_allclose(np.abs(right.get_yticks()) * labels, 2 * np.pi, rtol=1e-5)


def test_inputs_that_nothing_depends_on():
    figure = spectrum_figure(FREQUENCIES * [1.0, 0.0, 1.0], inputs=[0, 1])
    assert texts(figure.axes[1]) == "all frequencies are zero"
    assert texts(figure.axes[2]) == "no frequency has both"


@pytest.mark.parametrize(
    ("frequencies", "weights", "message"),
    [
        (np.ones(3), None, "frequencies must have shape"),
        ([], None, "frequencies must have shape"),
        ([np.ones((2, 3)), np.ones((2, 4))], None, "frequencies must have shape"),
        (np.full((2, 3), np.nan), None, "frequencies must be finite"),
        (np.ones((2, 3)), np.ones(3), "one for each of 2 frequencies"),
        (np.ones((2, 3)), [1.0, -1.0], "not negative"),
        (np.ones((2, 3)), [0.0, 0.0], "not all zero"),
    ],
    ids=["vector", "none", "inputs", "nan", "weights", "negative", "zero"],
)
def test_refused_frequencies(frequencies, weights, message):
    with pytest.raises(ValueError, match=message):
        spectrum_figure(frequencies, weights)
