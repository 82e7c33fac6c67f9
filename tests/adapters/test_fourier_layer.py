"""The torch module next to NumPy's features, its gradients next to finite differences."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from laws.registry import PLANE_CASES
from numpy.testing import assert_allclose, assert_array_equal
from spectral.parts import PARTS

pytest.importorskip("torch")

import torch
from spectral.few_designs import design_roughly

from bochner import FourierFeatures, Frequencies, kernels
from bochner.adapters.torch import TRAINABLE, FourierLayer
from bochner.spectral import NoMeasureError

X = np.random.default_rng(1).normal(size=(20, 3))


def double(values):
    return torch.as_tensor(np.asarray(values), dtype=torch.float64)


def layer_of(frequencies, **settings):
    return FourierLayer.from_model(frequencies, dtype=torch.float64, **settings)


def check(layer, frequencies, left, right):
    """Left features, right features and Gram matrix are those of NumPy."""
    assert_allclose(layer(double(left)).detach(), frequencies.features(left), atol=1e-12)
    other = layer.right(double(right)).detach()
    assert_allclose(other, frequencies.features_right(right), atol=1e-12)
    gram = layer.gram(double(left), double(right)).detach()
    assert_allclose(gram, frequencies.gram(left, right), atol=1e-11)


@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
@pytest.mark.parametrize("case", PLANE_CASES, ids=str)
def test_every_kernel(case, monkeypatch):
    design_roughly(monkeypatch)
    rows = case.points(30)
    try:
        features = FourierFeatures(case.kernel, 64, random_state=0).fit(rows)
    except NoMeasureError:
        pytest.skip("no measure in so many inputs")
    check(layer_of(features), features.frequencies_, rows, rows[:7])


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("name", PARTS)
def test_every_part_at_any_number_of_rows(name, n):
    f = PARTS[name]
    layer, left = layer_of(f), 1.5 * X[:n]
    assert layer(double(left)).shape == (n, 12)
    if n:
        check(layer, f, left, 1.5 * X[: n + 1, : f.dim_right])
        assert_array_equal(layer.signature, f.signature)


@pytest.mark.parametrize("name", PARTS)
def test_batches(name):
    layer, batch = layer_of(PARTS[name]), double(X).reshape(2, 5, 2, 3)
    assert_allclose(layer(batch).reshape(20, 12), layer(double(X)), atol=1e-15)
    assert layer(batch[0, 0, 0]).shape == (12,)
    if layer.in_features_right == 3:
        gram = layer.gram(batch)
        assert gram.shape == (2, 5, 2, 2)
        assert_allclose(gram[1, 2], layer.gram(batch[1, 2]), atol=1e-15)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Matern((0.5, 2.0, 1.0), 2.5),
        kernels.ShiftGaussian(2.0, 0.3),
        kernels.LocallyStationary(kernels.Gaussian(2.0), kernels.Gaussian()),
        "gaussian",
    ],
    ids=repr,
)
def test_seeds_are_those_of_numpy(kernel):
    settings = {"length_scale": 1.5, "random_state": 7}
    features = FourierFeatures(kernel, 32, **settings).fit(X)
    layer = FourierLayer(kernel, 3, 32, dtype=torch.float64, **settings)
    check(layer, features.frequencies_, X, X)
    assert_array_equal(layer.omega, features.frequencies_.omega)
    again = FourierLayer(kernel, 3, 32, dtype=torch.float64, length_scale=1.5, random_state=8)
    assert (again.omega != layer.omega).any()


@pytest.mark.parametrize("name", PARTS)
def test_gradients_are_finite_differences(name):
    f = PARTS[name]
    trainable = [group for group in TRAINABLE if group != "length_scale" or f.dim == f.dim_right]
    layer = layer_of(f, trainable=trainable)
    rows = double(1.3 * X[:3]).requires_grad_()
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def outputs(inputs, *values):
        given = dict(zip(names, values, strict=True))
        left = torch.func.functional_call(layer, given, (inputs,))
        other = Right(layer)
        given = {f"layer.{name}": value for name, value in given.items()}
        return left, torch.func.functional_call(other, given, (inputs[:, : f.dim_right],))

    assert torch.autograd.gradcheck(outputs, (rows, *parameters), atol=1e-7)


class Right(torch.nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, y):
        return self.layer.right(y)


def test_length_scales_divide_the_inputs():
    scale = np.array([0.5, 2.0, 3.0])
    layer = layer_of(PARTS["both factors"], trainable="length_scale")
    with torch.no_grad():
        layer.log_scale.copy_(double(np.log(scale)))
    assert_allclose(
        layer(double(X)).detach(), PARTS["both factors"].features(X / scale), atol=1e-12
    )
    gram = layer.gram(double(X)).detach()
    assert_allclose(gram, PARTS["both factors"].gram(X / scale), atol=1e-11)
    f = FourierFeatures(kernels.Gaussian(), 32, random_state=0).fit(X).frequencies_
    layer = FourierLayer("gaussian", 3, 32, random_state=0, dtype=torch.float64)
    layer.log_scale.copy_(double(np.log(scale)))
    narrower = Frequencies(f.omega / scale, f.weight)
    assert_allclose(layer(double(X)), narrower.features(X), atol=1e-12)


@pytest.mark.parametrize("trainable", [(), "frequencies", ("length_scale", "amplitudes")])
def test_states_go_from_layer_to_layer(trainable, tmp_path):
    first = layer_of(PARTS["both factors"], trainable=trainable)
    other = PARTS["both factors"].with_weights(-np.ones(6), np.zeros(6))
    second = layer_of(other)
    path = tmp_path / "state.pt"
    torch.save(first.state_dict(), path)
    second.load_state_dict(torch.load(path, weights_only=True))
    check(second, PARTS["both factors"], X, X)
    copied = copy.deepcopy(first)
    check(copied, PARTS["both factors"], X, X)
    with pytest.raises(RuntimeError, match="envelope_rate"):
        layer_of(PARTS["phases"]).load_state_dict(first.state_dict())


def test_the_import_changes_no_global_state():
    state = (
        "torch.get_default_dtype(), torch.get_num_threads(), torch.get_rng_state().tolist(), "
        "torch.is_grad_enabled(), torch.get_default_device(), np.geterr(), warnings.filters[:]"
    )
    code = (
        "import sys, bochner; assert 'torch' not in sys.modules\n"
        "import warnings, numpy as np, torch\n"
        "import sklearn.base  # It adds filters of warnings of its own.\n"
        f"before = {state}\nimport bochner.adapters.torch\nassert ({state}) == before\n"
        "assert bochner.adapters.torch is not torch"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_refusals():
    layer = layer_of(PARTS["phases"])
    with pytest.raises(ValueError, match=r"inputs must have shape \(\.\.\., 3\), got \(5, 4\)"):
        layer(double(np.zeros((5, 4))))
    with pytest.raises(
        TypeError, match=r"inputs are torch\.float32, but the layer is torch\.float64"
    ):
        layer(torch.zeros(5, 3))
    with pytest.raises(TypeError, match="must be a tensor, got ndarray"):
        layer(X)
    with pytest.raises(ValueError, match="trainable must be one or more of 'frequencies'"):
        layer_of(PARTS["phases"], trainable="omega")
    with pytest.raises(ValueError, match="trainable must be one or more of 'frequencies'"):
        layer_of(PARTS["phases"], trainable=True)
    with pytest.raises(TypeError, match="must be Frequencies, or a fitted model"):
        FourierLayer.from_model(FourierFeatures())
    with pytest.raises(ValueError, match="length_scale must be a number"):
        FourierLayer("gaussian", 3, length_scale="median")
    with pytest.raises(ValueError, match="n_components must be even"):
        FourierLayer("gaussian", 3, 7)
    with pytest.raises(ValueError, match="in_features must be at least 1"):
        FourierLayer("gaussian", 0)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.DeltaGaussian(),
        kernels.NTK(),
        kernels.Hellinger(),
        kernels.Polynomial(2),
        kernels.TL1(1.0),
    ],
    ids=repr,
)
def test_kernels_that_need_data_are_refused(kernel):
    with pytest.raises(
        ValueError, match=r"depend on how far the data reach. Use FourierLayer\.from"
    ):
        FourierLayer(kernel, 3, 16)
