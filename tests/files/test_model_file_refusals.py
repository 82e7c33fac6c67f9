"""What is refused, when saving and when loading, and what is said."""

import dataclasses
import gzip
import io
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest
from laws.registry import AnyDim
from safetensors.numpy import save as safetensors

import bochner
from bochner import FourierFeatures, KreinRidge, KreinRidgeClassifier, kernels
from bochner.files import ModelFileError
from bochner.files import safetensors_container as container
from bochner.kernels import Gaussian
from bochner.tables.encoder import TableEncoder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X[:, 0]


@dataclasses.dataclass(frozen=True)
class Foreign(AnyDim):
    """A kernel that is not bochner's."""

    def evaluate(self, X, Y):
        return X @ Y.T


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.bochner"
    bochner.save(KreinRidge(n_components=4, random_state=0).fit(X, Y), path)
    return path


def assert_refused(path, message):
    with pytest.raises(ModelFileError, match=message) as caught:
        bochner.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rewritten(path, edit):
    """Edit the tree and the tensors of a model file, with a checksum that is right."""
    tree, tensors = container.read(path)
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    container.write(path, edit(tree, tensors) or tree, tensors)
    return path


def test_a_missing_file_names_the_nearest(path):
    assert_refused(
        path.with_name("modle.bochner"), r"no file .*modle\.bochner.* mean 'model\.bochner'\?"
    )
    assert_refused(
        path.with_name("zzz"), r"There is no file .*zzz\. Check the name and the folder\.$"
    )
    assert_refused(path.parent / "folder" / "model.bochner", "There is no folder .*folder either")


def test_directories_and_devices(path):
    assert_refused(path.parent, "is a directory")
    os.mkfifo(path.with_name("pipe"))
    assert_refused(path.with_name("pipe"), "is not an ordinary file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(path):
    path.chmod(0)
    assert_refused(path, "cannot be read: Permission denied")


def written(write, *arguments):
    """Return the bytes that a function writes to a file."""
    buffer = io.BytesIO()
    write(buffer, *arguments)
    return buffer.getvalue()


def zipped(buffer):
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model", bytes(10_000_000))


def headed(header):
    return lambda data: safetensors({}, metadata={"bochner": header})


def shaped(shape):
    """A model file without data, whose tensor has a shape that no array can have."""
    tensor = {"dtype": "F64", "shape": shape, "data_offsets": [0, 0]}
    header = json.dumps({"__metadata__": {"bochner": '{"format":4}'}, "w": tensor}).encode()
    return len(header).to_bytes(8, "little") + header


NEWER = r"made by another version of bochner \(file format 5; this one reads 4\)"
BYTES = {
    "empty": (lambda data: b"", "is empty"),
    **{
        f"the first {kept:.1%}": (
            lambda data, kept=kept: data[: int(kept * len(data))],
            "cut off|does not begin as one",
        )
        for kept in (0.002, 0.1, 0.5, 0.999)
    },
    "a zip archive": (lambda data: written(zipped), "but a zip archive"),
    "a gzip archive": (lambda data: gzip.compress(bytes(10_000_000)), "but a gzip archive"),
    "an array": (lambda data: written(np.save, X), "but a NumPy array"),
    **{
        f"a header of {n}": (lambda data, n=n: n.to_bytes(8, "little") + data[8:], "cut off")
        for n in (2**63, 2**40, 99_000_000, 0, 1)
    },
    "text": (lambda data: b"age,target\n1,2\n", "is not a model file"),
    "noise": (lambda data: RNG.bytes(1000), "is not a model file"),
    "tensors": (lambda data: safetensors({"w": X}), "not a model that bochner saved"),
    "tensors of others": (
        lambda data: safetensors({"w": X}, metadata={"format": "pt"}),
        "not a model that bochner saved",
    ),
    "no JSON": (headed("{"), "header is not JSON"),
    "NaN": (headed('{"format":NaN}'), "NaN is not a finite number"),
    "a long number": (headed('{"format":' + "1" * 5000 + "}"), "header is not JSON"),
    "a number beyond": (headed('{"format":4,"model":1e999}'), "1e999 is not a finite number"),
    "an impossible shape": (lambda data: shaped((0, 2**62)), "has an unusable tensor"),
    "depth": (headed("[" * 100_000), "nested too deep"),
    "no format": (headed("[]"), "does not state a format"),
    "true": (headed('{"format":true}'), "does not state a format"),
    "a text": (headed('{"format":"1"}'), "does not state a format"),
    "a newer format": (headed('{"format":5}'), NEWER),
    "no checksum": (headed('{"format":4}'), "do not match their checksum"),
    "a flipped bit": (
        lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
        "do not match their checksum",
    ),
    "another dtype": (
        lambda data: data.replace(b'"dtype":"F64"', b'"dtype":"C64"', 1),
        "predictions are not those",
    ),
}


@pytest.mark.parametrize("case", BYTES)
def test_other_bytes_are_refused(path, case):
    change, message = BYTES[case]
    path.write_bytes(change(path.read_bytes()))
    assert_refused(path, message)


def test_a_pickle_is_not_opened(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.with_name("sprung")),)

    for protocol in (2, 5):
        path.write_bytes(pickle.dumps(Trap(), protocol=protocol))
        assert_refused(path, "but a Python pickle")
    assert not path.with_name("sprung").exists()
    pickle.loads(path.read_bytes())
    assert path.with_name("sprung").exists()


def parameters(tree):
    return tree["parameters"]


def attributes(tree):
    return tree["attributes"]


def posterior(tree):
    return tree["attributes"]["posterior_"]["fields"]


def assign(part, name, value):
    def edit(tree, tensors):
        part(tree)[name] = value

    return edit


def remove(part, name):
    def edit(tree, tensors):
        del part(tree)[name]

    return edit


def swap(name, change):
    def edit(tree, tensors):
        tensors[name] = np.ascontiguousarray(change(tensors[name]))

    return edit


def reshape(name, shape):
    """Change the shape of a tensor, and that which the header states."""

    def edit(tree, tensors):
        tensors[name] = np.resize(tensors[name], shape)
        posterior(tree)[name.split(".")[1]]["shape"] = list(shape)

    return edit


def nest(tree, tensors):
    node = []
    for _ in range(120):
        node = [node]
    parameters(tree)["alpha"] = node


@pytest.mark.thorough_cases("RidgePosterior lacks alpha")
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda tree, tensors: [1], "tensor .* that its header does not name"),
        (assign(lambda t: t, "class", "System"), "bochner has no class 'System' here"),
        (assign(lambda t: t, "class", ["KreinRidge"]), "unusable 'class'"),
        (assign(lambda t: t, "class", "TableEncoder"), "TableEncoder has no parameter 'alpha'"),
        (assign(lambda t: t, "$", "python"), r"unusable '\$': 'python'"),
        (remove(lambda t: t, "parameters"), "lacks 'parameters'"),
        (assign(parameters, "gamma", 1), "KreinRidge has no parameter 'gamma'"),
        (assign(parameters, "alpha", {"$": "float", "value": "1e5"}), "unusable 'value': '1e5'"),
        (assign(parameters, "alpha", {"value": 1}), r"lacks '\$'"),
        (assign(attributes, "predict", 1), "KreinRidge has no attribute 'predict'"),
        (assign(attributes, "__class__", "Foreign"), "has no attribute '__class__'"),
        (assign(attributes, "kernel_", "gaussian"), r"kernel_ should be Kernel, found 'gaussian'"),
        (assign(attributes, "n_features_in_", True), "n_features_in_ should be int, found True"),
        (remove(attributes, "sums_"), "fitted in part only: it lacks sums_"),
        (remove(posterior, "alpha"), "RidgePosterior lacks alpha"),
        (assign(posterior, "beta", 1.0), "RidgePosterior has no attribute 'beta'"),
        (assign(posterior, "alpha", {"$": "float", "value": "nan"}), "alpha should be float"),
        (swap("posterior_.coef", lambda a: a.astype("f4")), "should be float64 .* found float32"),
        (swap("posterior_.coef", lambda a: a.T), r"of shape \[4, 1\], found .* \[1, 4\]"),
        (swap("posterior_.coef", lambda a: a * np.nan), "'posterior_.coef' holds .* NaN"),
        (lambda tree, tensors: tensors.pop("posterior_.coef").sort(), "coef' is missing"),
        (lambda tree, tensors: tensors.update(more=X), "tensor 'more' that its header does not"),
        (reshape("posterior_.coef", (5, 1)), r"whitener has shape \(4, 4\), .* \(p, p\)"),
        (reshape("posterior_.centre", (4, 1)), r"centre has shape \(4, 1\)"),
        (reshape("posterior_.intercept", (2,)), r"intercept has shape \(2,\)"),
        (nest, "nested more than 100 deep"),
    ],
)
def test_trees_with_a_right_checksum(path, edit, message):
    rewritten(path, edit)
    assert_refused(path, message)


def kernel_tree(cls, **fields):
    return {"$": "value", "class": cls, "fields": fields}


GAUSSIAN = kernel_tree("Gaussian", length_scale=1.0)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (kernel_tree("Kernel"), "no class 'Kernel' here"),
        (kernel_tree("KreinRidge"), "no class 'KreinRidge' here"),
        (kernel_tree("Gaussian", length_scale=-1.0), "length_scale must be positive"),
        (kernel_tree("Gaussian", length_scale="1"), "length_scale should be float"),
        (kernel_tree("Gaussian", length_scale=10**400), "float64 can hold"),
        (kernel_tree("Sum", terms=[GAUSSIAN]), "terms should be tuple"),
        (kernel_tree("Sum", terms={"$": "tuple", "items": [GAUSSIAN, 1]}), "terms should be tuple"),
        (kernel_tree("Anova", kernel=kernel_tree("Iid"), inclusion=0.1), "should be Correlation"),
        (kernel_tree("Matern", order=1), "Matern has no attribute 'order'"),
        (
            kernel_tree("Bilinear", kernel=GAUSSIAN, left=[[1.0]]),
            r"Bilinear\.left should be .*, found \[\[1\.0\]\]",
        ),
        (kernel_tree("Transposed", kernel=1), "Transposed.kernel should be Kernel"),
        ({"$": "texts", "width": 10**9, "shape": [2], "items": ["a", "b"]}, "more than 256 times"),
        ({"$": "texts", "width": 1, "shape": [1], "items": ["ab"]}, "at most 1 characters"),
        ({"$": "texts", "width": 1, "shape": [2], "items": ["a"]}, "cannot reshape"),
        ({"$": "texts", "width": 1, "shape": [-1], "items": ["a"]}, "impossible shape"),
        ({"$": "scalar", "dtype": "int8", "value": 300}, "out of bounds"),
        ({"$": "scalar", "dtype": "float16", "value": 1e300}, "should be float16, found 1e"),
        ({"$": "scalar", "dtype": "int64", "value": 0.5}, "should be int64, found 0.5"),
        ({"$": "scalar", "dtype": "int8", "value": [1]}, "should be a number or text"),
        ({"$": "type", "name": "object"}, "unusable 'name': 'object'"),
        ({"$": "dtype", "name": "O"}, "unusable 'name': 'O'"),
        ({"$": "tuple", "items": {}}, "unusable 'items'"),
        ("gaussian", "holds no model"),
        (None, "holds no model"),
    ],
)
def test_values_with_a_right_checksum(path, tree, message):
    container.write(path, tree, {})
    assert_refused(path, message)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([2**31, 2**31], "far beyond its"),
        ([-1, -1], "far beyond its"),
        ([100, 99], "has another size"),
        ([100, 101], "has another size"),
    ],
)
def test_compressed_arrays_are_as_large_as_their_file_states(path, shape, message):
    model = KreinRidge(alpha=np.eye(100))
    bochner.save(model, path)
    tree, tensors = container.read(path)
    assert tensors["alpha"].nbytes < 1000
    np.testing.assert_array_equal(bochner.load(path).alpha, np.eye(100))
    parameters(tree)["alpha"]["shape"] = shape
    container.write(path, tree, tensors)
    assert_refused(path, message)
    parameters(tree)["alpha"]["shape"] = [100, 100]
    container.write(path, tree, {"alpha": np.full(500, 7, dtype=np.uint8)})
    assert_refused(path, "cannot be decompressed")


def test_the_state_of_a_table_is_checked_in_depth(tmp_path):
    path = tmp_path / "table.bochner"
    bochner.save(TableEncoder().fit(X), path)
    rewritten(path, lambda t, _: t["attributes"]["columns_"][0]["items"].update(points="1, 2"))
    assert_refused(path, "TableEncoder.columns_ should be list")


def nested_texts(depth):
    """A tree in which each array of text holds two more, with much room for little text."""
    inside = [nested_texts(depth - 1)] * 2 if depth else ["a"]
    items = [{"$": "texts", "width": 2**20, "shape": [1], "items": ["a"]}, *inside]
    return {"$": "texts", "width": None, "shape": [len(items)], "items": items}


@pytest.mark.thorough
def test_small_files_take_little_memory(path, tmp_path):
    tree, tensors = container.read(path)
    many = dict.fromkeys((f"{i}" for i in range(1500)), attributes(tree)["sums_"])
    attributes(tree)["more"] = {"$": "dict", "items": many}
    bombs = [("texts", nested_texts(5), {}), ("tensors", tree, dict(tensors))]
    for name, bomb, arrays in bombs:
        place = tmp_path / f"{name}.bochner"
        container.write(place, bomb, arrays)
        tracemalloc.start()
        with pytest.raises(ModelFileError, match=r"more than 256 times|named twice"):
            bochner.load(place)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40 * place.stat().st_size + 2**20  # JSON's own objects; a MiB of Python's


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (KreinRidge(Foreign()), r"kernel is of type \S*Foreign, which"),
        (FourierFeatures(Gaussian() + 2.0 * Foreign()), r"kernel\.terms\.1\.kernel is of type"),
        (KreinRidge(alpha={1}), "alpha is of type builtins.set"),
        (KreinRidge(alpha=lambda: 1), "alpha is of type builtins.function"),
        (KreinRidge(alpha=1j), "alpha is of type builtins.complex"),
        (KreinRidge(alpha=np.array([1j])), "alpha is an array of complex128"),
        (KreinRidge(alpha=np.array([np.datetime64("2001-01-01")])), "array of datetime64"),
        (KreinRidge(alpha=np.array([{1}])), r"alpha\.0 is of type builtins.set"),
        (KreinRidge(alpha={1: 2}), "alpha has the key 1"),
        (KreinRidge(alpha=dict), "alpha is the class"),
        (KreinRidge(alpha=np.random.default_rng()), "alpha is of type numpy.*Generator"),
    ],
)
def test_what_files_do_not_hold_is_named(model, name, tmp_path):
    with pytest.raises(TypeError, match=name):
        bochner.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", [Foreign(), {"a": 1}, None, KreinRidge, "model"])
def test_only_models_are_saved(model, tmp_path):
    with pytest.raises(TypeError, match="of registered classes, got an object of"):
        bochner.save(model, tmp_path / "model")


ENDLESS = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda m: m.signature_.fill(np.nan), "signature_ holds infinite numbers or NaN"),
        (lambda m: delattr(m, "sums_"), "fitted in part only: it lacks sums_"),
        (lambda m: setattr(m, "cache_", 1), "KreinRidge has no attribute 'cache_'"),
        (lambda m: setattr(m, "kernel", ENDLESS), "nested more than 100 deep"),
    ],
)
def test_unsound_models_are_not_saved(tmp_path, spoil, message):
    model = KreinRidge(n_components=4).fit(X, Y)
    model.signature_ = model.signature_.copy()
    spoil(model)
    with pytest.raises(ValueError, match=message):
        bochner.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "kernel",
    [kernels.Radial(np.cos), kernels.DotProduct(len), kernels.Stationary(np.sum)],
    ids=repr,
)
def test_functions_are_not_saved(kernel, tmp_path):
    path = tmp_path / "model"
    for model, place in [
        (kernel, "the model"),
        (2.0 * kernel, "kernel"),
        (Gaussian() + kernel, "terms.1"),
        (kernels.Bilinear(kernel, np.eye(2)), "kernel"),
        (kernels.Transposed(kernel), "kernel"),
        (KreinRidge(kernel), "kernel"),
    ]:
        with pytest.raises(
            ModelFileError, match=rf"^{place} is \w+\(\w+\), whose function .* code"
        ):
            bochner.save(model, path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "function", [None, "cos", {"$": "type", "name": "float64"}, {"$": "tuple", "items": []}]
)
@pytest.mark.parametrize("name", ["Radial", "DotProduct", "Stationary"])
def test_no_function_is_loaded(name, function, path):
    value = {"$": "value", "class": name, "fields": {"function": function}}
    rewritten(path, assign(parameters, "kernel", value))
    assert_refused(path, f"{name}.function should be .*Callable.*, found")


def test_a_name_cannot_be_taken_twice():
    other = type("KreinRidge", (KreinRidgeClassifier,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match="KreinRidge in model files is already"):
        bochner.register(other)
    kernel = type("Gaussian", (KreinRidge,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match="Gaussian in model files is already"):
        bochner.register(kernel)
    assert bochner.register(type("Free", (KreinRidge,), {})).__name__ == "Free"
    with pytest.raises(TypeError, match="Expected a dataclass or an estimator"):
        bochner.register(int)
