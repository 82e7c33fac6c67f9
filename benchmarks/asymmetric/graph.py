"""Directed graphs whose nodes have features: read, made, and split by edges."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler

from bochner._numerics.arrays import Array

GENERATED = "generated_graph"

_DIM = 50
_TRAINING_SHARE = 0.8
_NODES, _WORDS, _EDGES = 300, 120, 900
_WORD_RATE = 0.1

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
    nodes: Index  # Of shape (n, 2)

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
    found: Index = edges[~np.isin(back, code)]
    return found


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
