"""Which way does an edge run? Directed graphs, and models that score pairs of their nodes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.rows import FOLDS
from bochner._base.arrays import Array
from bochner.kernels import Gaussian, Kernel, ShiftGaussian, SinhGaussian
from bochner.linear.asymmetric_kernel_ridge import AsymmetricKernelRidge
from bochner.linear.asymmetric_pair_ridge import AsymmetricPairRidge

GENERATED = "generated_graph"

_DIM = 50  # Dimensions to which 1,433 (cora) and 3,703 words (citeseer) are reduced
_TRAINING_SHARE = 0.8  # Four fifths, as in five-fold cross-validation
# The generated graph: nodes, words, drawn pairs of nodes, and the share of all words that a node
# has, twelve on average. It stands for the other graphs where there is no folder of data sets.
_NODES, _WORDS, _EDGES, _WORD_RATE = 300, 120, 900, 0.1

Index = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A directed graph."""

    features: Any  # (n, d): of the nodes
    edges: Index  # (n_edges, 2): from a node to another, at most one between two of them


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Edges of a graph, and the reduced features of their ends."""

    # source, target: (n, d): features of where the edges start and end.
    source: Array
    target: Array
    nodes: Index  # (n, 2)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, rows: Any) -> "Edges":
        return Edges(self.source[rows], self.target[rows], self.nodes[rows])


@lru_cache(maxsize=2)
def edges_of(name: str, seed: int, folder: Path | None) -> tuple[Edges, Edges]:
    """Return training and test edges, four fifths and one fifth, chosen at random.

    Node features are reduced to at most 50 dimensions and standardised; both are fitted to the
    nodes that training edges touch.
    """
    graph = generated_graph() if name == GENERATED else read_graph(name, folder)
    order = np.random.default_rng(seed).permutation(len(graph.edges))
    n_train = int(_TRAINING_SHARE * len(order))
    parts = graph.edges[order[:n_train]], graph.edges[order[n_train:]]
    touched = np.unique(parts[0])
    svd = TruncatedSVD(min(_DIM, graph.features.shape[1] - 1), random_state=seed)
    reduced = svd.fit(graph.features[touched]).transform(graph.features)
    features: Array = StandardScaler().fit(reduced[touched]).transform(reduced)
    train, test = (Edges(features[part[:, 0]], features[part[:, 1]], part) for part in parts)
    return train, test


def read_graph(name: str, folder: Path | None) -> Graph:
    """Return the graph in ``NAME.npz`` of a folder, without loops and edges in both orders.

    Raises
    ------
    ValueError
        If there is no such file, or an array is missing.
    """
    path = Path(folder or ".") / f"{name}.npz"
    if not path.is_file():
        raise ValueError(f"The graph {name!r} is read from {path}, which does not exist.")
    wanted = ("edges", "X_indices", "X_indptr", "X_shape")
    with np.load(path, allow_pickle=False) as archive:
        missing = [key for key in wanted if key not in archive.files]
        if missing:
            raise ValueError(f"{path} must hold {', '.join(wanted)}; it lacks {missing[0]}.")
        edges, indices, indptr, shape = (archive[key] for key in wanted)
    ones = np.ones(len(indices))
    n_nodes, n_features = map(int, shape)
    features = csr_matrix((ones, indices.astype(np.int64), indptr), shape=(n_nodes, n_features))
    return Graph(features, one_way(edges.astype(np.intp)))


def one_way(edges: Index) -> Index:
    """Return the edges that have a direction: once each, no loops, none in both orders.

    Examples
    --------
    >>> import numpy as np
    >>> one_way(np.array([[0, 1], [1, 0], [2, 2], [2, 0], [2, 0]])).tolist()
    [[2, 0]]
    """
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    n = int(edges.max(initial=0)) + 1
    code, back = edges @ [n, 1], edges @ [1, n]
    directed: Index = edges[~np.isin(back, code)]
    return directed


@lru_cache(maxsize=1)
def generated_graph() -> Graph:
    """Return a small graph whose edges run towards a direction in the space of words."""
    rng = np.random.default_rng(0)
    words = (rng.random((_NODES, _WORDS)) < _WORD_RATE).astype(np.float64)
    height = words @ rng.standard_normal(_WORDS)
    pairs = rng.integers(_NODES, size=(_EDGES, 2))
    up = height[pairs[:, 0]] < height[pairs[:, 1]]
    edges = np.where(up[:, None], pairs, pairs[:, ::-1]).astype(np.intp)
    return Graph(csr_matrix(words), one_way(edges))


Score = Callable[[Edges], Array]
"""How much more likely the edges run as they are given than the other way round."""

_COMPONENTS, _CHOICE_COMPONENTS = 256, 128  # Features of the model, and of the twelve fits before
_SCALES = (0.5, 1.0, 2.0)  # Length scales over the median length of an edge
_ALPHAS = (0.1, 1.0)  # Penalties of the ridge regression
_LOGISTIC_CS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # Inverse penalties of logistic regression
_ROUNDING = 1e-10  # Relative difference of ties; rounding leaves 2e-16, shifts at least 4e-6

MakeKernel = Callable[[float, Edges], Kernel]


def direction_metrics(train: Edges, test: Edges, method: str, seed: int) -> dict[str, float]:
    """Return the share of test edges whose direction is found, ties counting half."""
    score, chosen = MODELS[method](train, seed)
    return {"accuracy": accuracy(score, test), **chosen}


def accuracy(score: Score, edges: Edges) -> float:
    """Return the accuracy: edges with positive scores count one, and zero scores one half."""
    values = score(edges)
    return float(np.mean(values > 0.0) + 0.5 * np.mean(values == 0.0))


def typical_distance(edges: Edges) -> float:
    """Return the median distance between the ends of an edge."""
    return float(np.median(np.linalg.norm(edges.source - edges.target, axis=1)))


def both_ways(edges: Edges) -> tuple[Array, Array, Array]:
    """Return left and right rows of edges and of their reversals, and targets of 1 and -1."""
    left = np.concatenate((edges.source, edges.target))
    right = np.concatenate((edges.target, edges.source))
    return left, right, np.repeat([1.0, -1.0], len(edges))


def _gaussian(scale: float, edges: Edges) -> Kernel:
    return Gaussian(scale)


def _shifted(scale: float, edges: Edges) -> Kernel:
    """Return the kernel that is one where an edge is the mean training edge."""
    return ShiftGaussian(scale, shift=tuple((edges.target - edges.source).mean(axis=0)))


def _skewed(scale: float, edges: Edges) -> Kernel:
    """Return the kernel that grows against the mean training edge, up to twice a Gaussian."""
    mean = (edges.source - edges.target).mean(axis=0)
    return SinhGaussian(scale, beta=tuple(mean / (scale * max(float(np.linalg.norm(mean)), 1e-9))))


def _pair_model(make: MakeKernel) -> Callable[[Edges, int], tuple[Score, dict[str, float]]]:
    """Return a bilinear model of pairs, its scale and regularisation chosen by two folds."""

    def fit(train: Edges, seed: int) -> tuple[Score, dict[str, float]]:
        unit = typical_distance(train)
        folds = list(KFold(2).split(train.nodes))

        def held_out(scale: float, alpha: float) -> float:
            return float(
                np.mean([
                    accuracy(
                        _pair_score(
                            make(scale * unit, train[fit]),
                            train[fit], alpha, _CHOICE_COMPONENTS, seed,
                        ),
                        train[held],
                    )
                    for fit, held in folds
                ])
            )  # fmt: skip

        scale, alpha = max(product(_SCALES, _ALPHAS), key=lambda pair: held_out(*pair))
        score = _pair_score(make(scale * unit, train), train, alpha, _COMPONENTS, seed)
        return score, {"scale": scale, "alpha": alpha}

    return fit


def _pair_score(kernel: Kernel, train: Edges, alpha: float, p: int, seed: int) -> Score:
    left, right, sign = both_ways(train)
    model = AsymmetricPairRidge(kernel, p, alpha, random_state=seed).fit(left, sign, right)

    def score(edges: Edges) -> Array:
        there = model.predict(edges.source, right=edges.target)
        back = model.predict(edges.target, right=edges.source)
        return np.asarray(there - back)

    return score


def _kernel_alone(
    make: Callable[[float, Edges], Kernel],
) -> Callable[[Edges, int], tuple[Score, dict[str, float]]]:
    """Return the kernel's own values as the model."""

    def fit(train: Edges, seed: int) -> tuple[Score, dict[str, float]]:
        kernel = make(typical_distance(train), train)

        def score(edges: Edges) -> Array:
            there = np.diagonal(kernel(edges.source, edges.target))
            back = np.diagonal(kernel(edges.target, edges.source))
            # A symmetric kernel has ties, and no rounding error may break them.
            tied = np.abs(there - back) <= _ROUNDING * (np.abs(there) + np.abs(back))
            return np.where(tied, 0.0, there - back)

        return score, {}

    return fit


def _rows_model(train: Edges, seed: int) -> tuple[Score, dict[str, float]]:
    left, right, sign = both_ways(train)
    model = AsymmetricKernelRidge(
        "gaussian", 2 * _COMPONENTS, "evidence", random_state=seed
    ).fit(np.hstack((left, right)), sign)  # fmt: skip
    return _of_rows(model.predict), {}


def _logistic(train: Edges, seed: int) -> tuple[Score, dict[str, float]]:
    left, right, sign = both_ways(train)
    # Folds by edges, and not by rows: a reversal is the same edge.
    folds = [
        (np.concatenate((fit, fit + len(train))), np.concatenate((held, held + len(train))))
        for fit, held in KFold(FOLDS).split(train.nodes)
    ]
    head = LogisticRegression(fit_intercept=False, max_iter=1_000)
    model = GridSearchCV(head, {"C": _LOGISTIC_CS}, cv=folds).fit(left - right, sign)
    return lambda edges: model.decision_function(edges.source - edges.target), {}


def _trees(train: Edges, seed: int) -> tuple[Score, dict[str, float]]:
    left, right, sign = both_ways(train)
    # These threads spin where other work shares the cores.
    with threadpool_limits(1, user_api="openmp"):
        model = HistGradientBoostingClassifier(random_state=seed).fit(
            np.hstack((left, right)), sign
        )
    return _of_rows(model.decision_function), {}


def _of_rows(predict: Callable[[Array], Any]) -> Score:
    def score(edges: Edges) -> Array:
        there = predict(np.hstack((edges.source, edges.target)))
        back = predict(np.hstack((edges.target, edges.source)))
        return np.asarray(there - back)

    return score


def _degrees(train: Edges, seed: int) -> tuple[Score, dict[str, float]]:
    """Return how many more training edges leave the source, and enter the target."""
    n = int(train.nodes.max()) + 1
    surplus = np.bincount(train.nodes[:, 0], minlength=n) - np.bincount(
        train.nodes[:, 1], minlength=n
    )

    def score(edges: Edges) -> Array:
        surpluses = np.where(edges.nodes < n, surplus[np.minimum(edges.nodes, n - 1)], 0)
        return np.asarray((surpluses[:, 0] - surpluses[:, 1]).astype(np.float64))

    return score, {}


PAIRS_GAUSSIAN = "pairs, Gaussian"
PAIRS_SHIFT = "pairs, ShiftGaussian"
PAIRS_SINH = "pairs, SinhGaussian"
SHIFT_ALONE = "ShiftGaussian alone"
SYMMETRISED_ALONE = "ShiftGaussian alone, symmetrised"
ROWS_MODEL = "rows [x, y], Gaussian"
LOGISTIC = "logistic regression on x − y"
TREES = "boosted trees on [x, y]"
DEGREES = "degrees of the nodes"

MODELS: Mapping[str, Callable[[Edges, int], tuple[Score, dict[str, float]]]] = {
    PAIRS_GAUSSIAN: _pair_model(_gaussian),
    PAIRS_SHIFT: _pair_model(_shifted),
    PAIRS_SINH: _pair_model(_skewed),
    SHIFT_ALONE: _kernel_alone(_shifted),
    SYMMETRISED_ALONE: _kernel_alone(lambda scale, edges: _shifted(scale, edges).symmetrised),
    ROWS_MODEL: _rows_model,
    LOGISTIC: _logistic,
    TREES: _trees,
    DEGREES: _degrees,
}
"""From training edges and a seed to a score, and what was chosen on the way."""
