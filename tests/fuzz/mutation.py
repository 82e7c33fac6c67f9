"""Changes to model files that keep them well formed: a tree of JSON and tensors, and a checksum."""

import copy

import numpy as np

NUMBERS = (0, 1, -1, 2, 7, 10**6, 2**31, 2**63, -(2**63), 10**30, 0.0, -0.5, 1e-300, 1e300)
OTHERS = (None, True, False, "", "auto", "x" * 1000, [], [0], {}, [[]], {"$": "dict", "items": {}})
CLASSES = (
    *("Gaussian", "Laplacian", "Sum", "Frequencies", "Normal", "Sphere", "TableRegressor"),
    *("KreinRidge", "FeatureSums", "BaseEstimator", "Nothing", "eval"),
)


def places(tree):
    """Return (container, key) of every node below the root."""
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        keys = (
            node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        )
        for key in keys:
            found.append((node, key))
            waiting.append(node[key])
    return found


def _node(rng, tree, tensors):
    """Put something else in the place of a node."""
    node, key = _any(rng, places(tree))
    old = node[key]
    choices = [*NUMBERS, *OTHERS, *CLASSES]
    if isinstance(old, int | float) and not isinstance(old, bool):
        choices = [*NUMBERS, old + 1, old - 1, -old, 2 * old, old + 0.5]
    node[key] = copy.deepcopy(_any(rng, choices))


def _swapped(rng, tree, tensors):
    """Exchange two nodes."""
    found = places(tree)
    (a, i), (b, j) = _any(rng, found), _any(rng, found)
    a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])


def _same_kind(rng, tree, tensors):
    """Exchange two nodes of one kind: two arrays, two kernels, two numbers."""
    found = places(tree)
    a, i = _any(rng, found)
    kind = _kind(a[i])
    b, j = _any(rng, [(node, key) for node, key in found if _kind(node[key]) == kind])
    a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])


def _kind(node):
    return node.get("$") if isinstance(node, dict) else type(node)


def _removed(rng, tree, tensors):
    """Leave out a member or an item."""
    node, key = _any(rng, places(tree))
    del node[key]


def _doubled(rng, tree, tensors):
    """Repeat an item of a list."""
    lists = [node for node, _ in places(tree) if isinstance(node, list)]
    if lists:
        chosen = _any(rng, lists)
        chosen.insert(0, copy.deepcopy(_any(rng, chosen)))


def _class(rng, tree, tensors):
    """Name another class, of the same file or of the library."""
    named = [node for node, key in places(tree) if key == "class"]
    if named:
        _any(rng, named)["class"] = _any(rng, [*CLASSES, *(node["class"] for node in named)])


def _values(rng, tree, tensors):
    """Change entries of a tensor."""
    if not tensors:
        return
    name = _any(rng, sorted(tensors))
    tensor = tensors[name]
    if not tensor.size:
        return
    with np.errstate(all="ignore"):
        if tensor.dtype.kind == "b":
            changed = ~tensor
        elif tensor.dtype.kind in "iu":
            top = np.iinfo(tensor.dtype).max
            changed = _any(rng, [tensor + 1, tensor - 1, -tensor, tensor * 0, tensor * 0 + top])
        else:
            big = np.asarray(1e300 if tensor.dtype == np.float64 else 1e30, tensor.dtype)
            options = [-tensor, tensor * 0, tensor * 0 + big, tensor * 0 + 1 / big, tensor + 1]
            changed = _any(rng, [option for option in options if np.isfinite(option).all()])
    tensor = tensor.copy()
    some = rng.random(tensor.shape) < _any(rng, [0.1, 0.5, 1.0])
    tensor[some] = np.asarray(changed, dtype=tensor.dtype)[some]
    tensors[name] = tensor


def _shape(rng, tree, tensors):
    """Give a tensor another shape or dtype, and say so in the tree."""
    arrays = [node[key] for node, key in places(tree) if _kind(node[key]) == "array"]
    if not arrays:
        for name in sorted(tensors)[:1]:
            tensors[name] = _reshaped(rng, tensors[name])
        return
    node = _any(rng, arrays)
    name = node.get("tensor")  # Another change may have put anything there
    old = tensors.get(name) if isinstance(name, str) else None
    if old is None:
        return
    new = _reshaped(rng, old)
    tensors[node["tensor"]] = new
    node["shape"], node["dtype"] = list(new.shape), new.dtype.name


def _reshaped(rng, old):
    """Return an array of another shape or dtype."""
    options = [old.T, old.ravel(), old[None], old[..., None]]
    options += [np.concatenate([old.ravel(), old.ravel()]), old.astype(_any(rng, DTYPES))]
    if old.ndim:
        options += [old[:-1], old[:0], old[..., :-1]]
    new = np.array(_any(rng, options), order="C")
    return new if new.dtype.kind != "f" or np.isfinite(new).all() else old


DTYPES = ("bool", "int8", "int64", "uint64", "float16", "float32", "float64")
KINDS = (_node, _swapped, _same_kind, _removed, _doubled, _class, _values, _shape)
WEIGHTS = (0.25, 0.1, 0.15, 0.1, 0.05, 0.05, 0.15, 0.15)


def _any(rng, options):
    return options[int(rng.integers(len(options)))]


def mutated(rng, tree, tensors):
    """Return a changed copy of a tree and its tensors, and what was done."""
    tree, tensors = copy.deepcopy(tree), dict(tensors)
    done = []
    for _ in range(1 + int(rng.random() < 0.2)):
        kind = KINDS[int(rng.choice(len(KINDS), p=WEIGHTS))]
        with np.errstate(all="ignore"):
            kind(rng, tree, tensors)
        done.append(kind.__name__.strip("_"))
    return tree, tensors, done


def shortened(tree, tensors):
    """Yield changed copies of a tree and its tensors, each with one list or axis too short or long.

    Of every list an item is left out, and one repeated; tensors lose an entry of each axis. Of long
    lists only the ends and the middle are changed.
    """
    for place, (node, key) in enumerate(places(tree)):
        if not isinstance(node, list) or key not in (0, len(node) // 2, len(node) - 1):
            continue
        for kind in ("left out", "repeated"):
            changed = copy.deepcopy(tree)
            items, number = places(changed)[place]
            if kind == "left out":
                del items[number]
            else:
                items.insert(number, copy.deepcopy(items[number]))
            yield changed, dict(tensors), f"item {number} of {len(node)} {kind}"
    for place, (node, key) in enumerate(places(tree)):
        child = node[key]
        tensor = tensors[child["tensor"]] if _kind(child) == "array" else None
        for axis in range(0 if tensor is None else tensor.ndim):
            if not tensor.shape[axis]:
                continue
            changed, name = copy.deepcopy(tree), child["tensor"]
            shorter = np.delete(tensor, -1, axis=axis)
            inner, number = places(changed)[place]
            inner[number]["shape"] = list(shorter.shape)
            yield changed, {**tensors, name: shorter}, f"axis {axis} of {name} too short"
