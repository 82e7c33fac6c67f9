"""Errors, masses, speed and accuracies of features of asymmetric kernels."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from benchmarks.asymmetric import design, measures, page
from benchmarks.asymmetric.direction import GENERATED, MODELS, direction_metrics, edges_of
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import LOG, SEMILOG, Picture
from benchmarks.rows import loaded

_BUNDLED = "breast_cancer"
_QUICK_SIZES = (2, 4)  # M / d of a quick run
_SPEED_SIZES = (16, 64)  # M / d of the part on speed: 512 and 2,048 features
_SPEED_ROWS, _QUICK_SPEED_ROWS = 10_000, 500  # 10,000 rows of 2,048 features are 164 MB


def _datasets(options: Options) -> tuple[str, ...]:
    return design.DATASETS if options.from_folder else (_BUNDLED,)


def _sizes(options: Options) -> tuple[int, ...]:
    return _QUICK_SIZES if options.quick else design.SIZES


def _trials(options: Options, quick: int = 1) -> int:
    return quick if options.quick else design.TRIALS


def _error_cells(options: Options) -> Iterator[Cell]:
    for cell in grid(
        _datasets(options), design.METHODS, _trials(options, 2),
        size=_sizes(options), kernel=design.ASYMMETRIC,
    ):  # fmt: skip
        m = int(cell.settings["size"]) * loaded(cell.dataset, options.data).X.shape[1]
        if cell.seed < design.METHODS[cell.method].n_trials(m):
            yield cell


def _mass_cells(options: Options) -> Iterator[Cell]:
    sizes, kernels = _sizes(options), design.ASYMMETRIC
    yield from grid(["normal"], design.EXACT_MASSES, 1, kernel=kernels, size=sizes[:1])
    yield from grid(["normal"], [design.FITTED], _trials(options, 2), kernel=kernels, size=sizes)


def _speed_cells(options: Options) -> Iterator[Cell]:
    sizes = _SPEED_SIZES[:1] if options.quick else _SPEED_SIZES
    repetitions = 3 if options.quick else design.REPETITIONS
    methods = (design.POLAR, design.JORDAN_IID)
    kernels = (design.GAUSSIAN, *design.ASYMMETRIC)
    for cell in grid(["uniform"], methods, repetitions, size=sizes, kernel=kernels):
        if (cell.settings["kernel"], cell.method) != (design.GAUSSIAN, design.JORDAN_IID):
            yield cell


def _table_cells(options: Options) -> Iterator[Cell]:
    names, trials, size = _datasets(options), _trials(options), (design.TABLE_SIZE,)
    for methods, kernels in (
        ((design.LINEAR,), (design.LINEAR,)),
        (design.BY_GAUSSIAN, (design.GAUSSIAN,)),
        (design.BY_KERNEL, design.ASYMMETRIC),
    ):
        yield from grid(names, methods, trials, kernel=kernels, size=size)


def _direction_cells(options: Options) -> Iterable[Cell]:
    names = design.GRAPHS if options.from_folder else (GENERATED,)
    return grid(names, MODELS, _trials(options), kernel=[design.NO_KERNEL], size=[1])


def _accuracy_cells(options: Options) -> Iterator[Cell]:
    methods = (design.ASY_JORDAN, design.ASY_POLAR)
    for size, trials in {} if options.quick else design.ACCURACY_TRIALS.items():
        yield from grid(_datasets(options), methods, trials, size=[size], kernel=design.ASYMMETRIC)


def _setting(cell: Cell) -> tuple[str, str, int, int]:
    return str(cell.settings["kernel"]), cell.method, int(cell.settings["size"]), cell.seed


def _run_error(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.error_metrics(
        design.rows_of(cell.dataset, cell.seed, options.data), *_setting(cell)
    )


def _run_masses(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.mass_metrics(*_setting(cell))


def _run_speed(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.speed_metrics(
        *_setting(cell), n_rows=_QUICK_SPEED_ROWS if options.quick else _SPEED_ROWS
    )


def _run_accuracy(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.accuracy_metrics(
        design.rows_of(cell.dataset, cell.seed, options.data), *_setting(cell)
    )


def _run_direction(cell: Cell, options: Options) -> Mapping[str, float]:
    train, test = edges_of(cell.dataset, cell.seed, options.data)
    return direction_metrics(train, test, cell.method, cell.seed)


_SIZE = "M / d"
_FORMS = (
    design.JORDAN_IID,
    design.JORDAN,
    design.POLAR_IID,
    design.POLAR,
    design.LEAST_SQUARES,
    design.NYSTROEM,
)
_IID_FORMS = (design.JORDAN_IID, design.JORDAN_SETS, design.JORDAN_FITTED, design.POLAR_IID)

ASYMMETRIC = Benchmark(
    name="asymmetric",
    settings=("part", "kernel", "size"),
    introduction="Features of asymmetric kernels with the parameters of the paper: inputs scaled "
    "to [0, 1] by the training part, σ = 2, r = 2/d and β = π/(2d) in each of the d inputs. "
    "“Jordan” draws the positive and negative real and the imaginary part of the measure as the "
    "paper does, “polar” draws once and carries phases.",
    parts=(
        Part(
            "error",
            _error_cells,
            _run_error,
            page.error_page,
            (
                Picture(
                    "error",
                    "Relative error of the Gram matrix against the number of frequencies over "
                    "that of inputs.",
                    _SIZE,
                    "relative error",
                    partial(page.curves, metric="relative_error", methods=_FORMS),
                ),
                Picture(
                    "forms",
                    "The same error of independent frequencies of the paper's Jordan form, with "
                    "its masses exact or fitted and its sets of equal or proportional size, and of "
                    "the polar form.",
                    _SIZE,
                    "relative error",
                    partial(page.curves, metric="relative_error", methods=_IID_FORMS),
                ),
            ),
        ),
        Part(
            "masses",
            _mass_cells,
            _run_masses,
            page.mass_page,
            (
                Picture(
                    "masses",
                    "Masses in one dimension, fitted on ten points and exact, against M; 3 M "
                    "frequencies.",
                    "M",
                    "mass",
                    page.mass_curves,
                    ("log", "symlog"),
                ),
            ),
        ),
        Part("speed", _speed_cells, _run_speed, page.speed_page),
        Part("table 1", _table_cells, _run_accuracy, page.table_page),
        Part("direction", _direction_cells, _run_direction, page.direction_page),
        Part(
            "accuracy",
            _accuracy_cells,
            _run_accuracy,
            lambda rows: (),
            (
                Picture(
                    "accuracy",
                    "Test accuracy of liblinear on the features, against M over the number of "
                    "inputs.",
                    _SIZE,
                    "test accuracy",
                    partial(page.classifier_curves, metric="accuracy"),
                    SEMILOG,
                ),
                Picture(
                    "seconds",
                    "Seconds to draw the frequencies and to transform the training rows, against "
                    "M over the number of inputs.",
                    _SIZE,
                    "seconds",
                    partial(page.classifier_curves, metric="feature_seconds"),
                    LOG,
                ),
            ),
            shares=("table 1",),
        ),
    ),
    order=("masses", "error", "speed", "table 1", "direction", "accuracy"),
)
