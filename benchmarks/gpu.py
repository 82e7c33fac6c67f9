"""Features and ridge regression on a device, next to its limits."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sklearn import config_context
from threadpoolctl import threadpool_limits

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.results import Row, median_table
from bochner import FourierFeatures, KreinRidge

OURS, PLAIN = "bochner", "torch, written plainly"
PRODUCT, COPY = "product of matrices", "copy"
SINGLE, DOUBLE = "float32", "float64"

_REPEATED = 5  # Runs of what takes a moment; their median is one measurement
_LONG = 5.0  # Seconds from which one run is enough


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of rows and features for one kind of device."""

    order: int  # Order of the matrices whose product shows the rate of products
    copied: int  # Numbers of the copy that shows the bandwidth
    map_rows: int
    map_features: int
    ridge: tuple[tuple[int, int, str], ...]  # Rows, features and solver


_INPUTS = 22  # Columns of the rows: far fewer than features, as in tables
_SIZES: Mapping[str, Sizes] = {
    # A data-centre GPU: features of the map alone have 16 GB.
    "cuda": Sizes(
        8192,
        2**28,
        1_000_000,
        4096,
        ((1_000_000, 8192, "cholesky"), (1_000_000, 65_536, "cg")),
    ),
    # Two cores: some minutes in all.
    "cpu": Sizes(
        2048,
        2**26,
        50_000,
        4096,
        ((50_000, 2048, "cholesky"), (20_000, 16_384, "cg")),
    ),
    "quick": Sizes(256, 2**16, 500, 64, ((500, 64, "cholesky"), (500, 128, "cg"))),
}


def _torch() -> Any:
    """Return torch, or raise ValueError where it is not installed."""
    if find_spec("torch") is None:
        raise ValueError("This benchmark needs torch: pip install 'bochner[torch]'.")
    return import_module("torch")


def kind_of_device() -> str:
    """Return ``"cuda"`` where torch finds a GPU, else ``"cpu"``."""
    return "cuda" if _torch().cuda.is_available() else "cpu"


def device_name() -> str:
    """Return the name of the device, as its maker gives it."""
    torch = _torch()
    if kind_of_device() == "cuda":
        return str(torch.cuda.get_device_name())
    return f"{os.cpu_count()} cores"


def seconds_of(function: Callable[[], Any]) -> float:
    """Return the seconds of a function after one run of it, until the device has finished."""
    torch = _torch()
    finish = torch.cuda.synchronize if kind_of_device() == "cuda" else lambda: None

    def run() -> float:
        finish()
        began = perf_counter()
        function()
        finish()
        return perf_counter() - began

    first = run()
    if first > _LONG:
        return first
    return median(run() for _ in range(_REPEATED))


def normal(*shape: int, dtype: str = SINGLE, seed: int = 0) -> Any:
    """Return standard normal numbers on the device."""
    torch = _torch()
    device = kind_of_device()
    generator = torch.Generator(device=device).manual_seed(seed)
    return torch.randn(*shape, generator=generator, device=device, dtype=getattr(torch, dtype))


@lru_cache
def product_rate(dtype: str, order: int) -> float:
    """Return floating-point operations in a second, in products of matrices of an order."""
    A = normal(order, order, dtype=dtype)
    return 2.0 * order**3 / seconds_of(lambda: A @ A)


@lru_cache
def copy_rate(size: int) -> float:
    """Return bytes read and written per second by copies of float32 arrays."""
    source = normal(size)
    target = source.clone()
    return 8.0 * size / seconds_of(lambda: target.copy_(source))


def _sizes(options: Options) -> Sizes:
    return _SIZES["quick" if options.quick else kind_of_device()]


def _settings(dtype: str = "", n: int = 0, p: int = 0) -> dict[str, Any]:
    return {"device": device_name(), "dtype": dtype, "n": n, "d": _INPUTS, "p": p}


def _limit_cells(options: Options) -> Iterable[Cell]:
    sizes = _sizes(options)
    for dtype in (SINGLE, DOUBLE):
        yield Cell("normal", PRODUCT, 0, _settings(dtype, sizes.order))
    yield Cell("normal", COPY, 0, _settings(SINGLE, sizes.copied))


def _limits(cell: Cell, options: Options) -> Mapping[str, float]:
    n = int(cell.settings["n"])
    if cell.method == COPY:
        return {"gigabytes_per_second": copy_rate(n) / 1e9}
    return {"gigaflops": product_rate(str(cell.settings["dtype"]), n) / 1e9}


def _map_cells(options: Options) -> Iterable[Cell]:
    sizes = _sizes(options)
    for dtype in (SINGLE, DOUBLE):
        for method in (OURS, PLAIN):
            yield Cell("normal", method, 0, _settings(dtype, sizes.map_rows, sizes.map_features))


def _map(cell: Cell, options: Options) -> Mapping[str, float]:
    torch = _torch()
    n, p, dtype = int(cell.settings["n"]), int(cell.settings["p"]), str(cell.settings["dtype"])
    X = normal(n, _INPUTS, dtype=dtype)
    features = FourierFeatures("gaussian", p, length_scale=4.0, random_state=0)
    features.fit(np.zeros((1, _INPUTS)))
    omega = torch.asarray(features.frequencies_.omega.T.copy(), device=X.device, dtype=X.dtype)
    scale = float(np.sqrt(2.0 / p))

    def plain() -> Any:
        angle = X @ omega
        return torch.cat([torch.cos(angle), torch.sin(angle)], dim=1).mul_(scale)

    seconds = seconds_of(plain if cell.method == PLAIN else lambda: features.transform(X))
    least = n * p * X.element_size() / copy_rate(_sizes(options).copied)
    return {"seconds": seconds, "times_the_limit": seconds / least}


def _ridge_cells(options: Options) -> Iterable[Cell]:
    for n, p, solver in _sizes(options).ridge:
        yield Cell(solver, OURS, 0, _settings(SINGLE, n, p))


def _ridge(cell: Cell, options: Options) -> Mapping[str, float]:
    n, p = int(cell.settings["n"]), int(cell.settings["p"])
    X = normal(n, _INPUTS)
    y = X[:, 0].sin() + 0.1 * normal(n, seed=1)
    model = KreinRidge("gaussian", p, length_scale=4.0, alpha=1.0, solver=cell.dataset)
    metrics = {"seconds": seconds_of(lambda: model.set_params(random_state=0).fit(X, y))}
    if cell.dataset == "cholesky":
        least = 2.0 * n * p**2 / product_rate(SINGLE, _sizes(options).order)
        metrics["times_the_limit"] = metrics["seconds"] / least
    else:
        metrics["steps"] = float(model.n_iter_ or 0)
    return metrics


def _table(metric: str, index: Sequence[str]) -> Callable[[Sequence[Row]], str]:
    def made(rows: Sequence[Row]) -> str:
        table = median_table(rows, index=index, columns="method", metric=metric)
        return table.replace("| dataset |", "| problem |", 1)

    return made


def _views(
    title: str, *columns: tuple[str, str], index: Sequence[str] = ("device", "dtype", "n", "p")
) -> Callable[[Sequence[Row]], Iterable[str]]:
    """Return views of metrics, each with a caption."""

    def tables(rows: Sequence[Row]) -> Iterable[str]:
        yield f"**{title}**"
        for metric, words in columns:
            yield words
            yield _table(metric, index)(rows)

    return tables


def _dispatched(
    measure: Callable[[Cell, Options], Mapping[str, float]],
) -> Callable[[Cell, Options], Mapping[str, float]]:
    """Return a measurement with scikit-learn's switch on, and all cores of a CPU."""

    def measured(cell: Cell, options: Options) -> Mapping[str, float]:
        with config_context(array_api_dispatch=True), threadpool_limits(os.cpu_count()):
            return measure(cell, options)

    return measured


LIMITS = Part(
    "limits",
    _limit_cells,
    _dispatched(_limits),
    _views(
        "What the device can do",
        ("gigaflops", "Products of matrices of order n, in 10⁹ operations a second:"),
        ("gigabytes_per_second", "Copies of n numbers, in 10⁹ bytes a second:"),
        index=("device", "dtype", "n"),
    ),
)
MAP = Part(
    "map",
    _map_cells,
    _dispatched(_map),
    _views(
        "The feature map",
        ("seconds", "Seconds:"),
        ("times_the_limit", "As multiples of the time that writing the features takes:"),
    ),
)
RIDGE = Part(
    "ridge",
    _ridge_cells,
    _dispatched(_ridge),
    _views(
        "Ridge regression",
        ("seconds", "Seconds:"),
        ("times_the_limit", "As multiples of the time of the products of features alone:"),
        ("steps", "Steps of conjugate gradients:"),
        index=("dataset", "device", "dtype", "n", "p"),
    ),
)
GPU = Benchmark(
    name="gpu",
    settings=("part", "device", "dtype", "n", "d", "p"),
    introduction="Seconds on one device, after a first run, until it has finished; medians of "
    "several runs of what takes less than five seconds.",
    parts=(LIMITS, MAP, RIDGE),
)
