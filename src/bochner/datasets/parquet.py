"""Rows of a Parquet file, one row group after the other."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import as_count

if TYPE_CHECKING:
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile


class ParquetChunks:
    """Chunks of rows of a Parquet file, to be given to ``fit``.

    Every iteration reads the file anew, a part of a row group at a time, and closes it at its end.

    Parameters
    ----------
    path : path
    target : str or sequence of str
        Column or columns of the targets.
    columns : sequence of str, default=None
        Columns of the inputs, all of them numbers or booleans; ``None`` means all others.
    weight : str, default=None
        Column of the weights of the rows.
    chunk_rows : int, default=65536
        Most rows of a chunk.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    TypeError
        If ``chunk_rows`` is no integer.
    ValueError
        If ``chunk_rows`` is not positive, or if a column does not exist, or holds something else
        than numbers or misses values.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tempfile
    >>> from pathlib import Path
    >>> from bochner import KreinRidge
    >>> from bochner.datasets import ParquetChunks
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    >>> table["y"] = np.sin(table["a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.parquet"
    ...     table.to_parquet(path)
    ...     rows = ParquetChunks(path, target="y", chunk_rows=300)
    ...     model = KreinRidge("gaussian", 128, alpha=0.1, random_state=0).fit(rows)
    >>> bool(model.score(table[["a", "b"]].to_numpy(), table["y"]) > 0.99)
    True
    """

    def __init__(
        self,
        path: str | Path,
        target: str | Sequence[str],
        *,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
        chunk_rows: int = 65_536,
    ) -> None:
        self.path = Path(path)
        self.chunk_rows = as_count("chunk_rows", chunk_rows)
        self._targets = [target] if isinstance(target, str) else list(target)
        self._single = isinstance(target, str)
        self._weight = weight
        with _opened(self.path) as file:
            names = file.schema_arrow.names
            others = {*self._targets, weight}
            self.columns = [name for name in names if name not in others]
            if columns is not None:
                self.columns = list(columns)
            self._check(names)
            self.n_samples = int(file.metadata.num_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield ``(X, y)``, or ``(X, y, sample_weight)`` where there are weights."""
        wanted = self.columns + self._targets + ([self._weight] if self._weight else [])
        with _opened(self.path) as file:
            for batch in file.iter_batches(batch_size=self.chunk_rows, columns=wanted):
                X = _numbers(batch, self.columns)
                y = _numbers(batch, self._targets)
                chunk = (X, y[:, 0] if self._single else y)
                yield (*chunk, _numbers(batch, [self._weight])[:, 0]) if self._weight else chunk

    def _check(self, names: Sequence[str]) -> None:
        wanted = self.columns + self._targets + ([self._weight] if self._weight else [])
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ValueError(
                f"{self.path} has no column {', '.join(map(repr, missing))}; "
                f"it has {', '.join(map(repr, names))}."
            )
        if not self.columns:
            raise ValueError(f"{self.path} has no columns of inputs beside {self._targets}.")


def _opened(path: Path) -> "ParquetFile":
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            "ParquetChunks needs pyarrow, which is not installed; run pip install 'bochner[cli]'."
        ) from error
    return ParquetFile(path)


def _numbers(batch: "Table", names: Sequence[str]) -> NDArray[Any]:
    """Return columns side by side, of shape (n, len(names)), in float64 unless all are float32."""
    arrays = []
    for name in names:
        column = batch.column(name)
        if column.null_count:
            raise ValueError(
                f"Column {name!r} misses {column.null_count} of {len(column)} values; fill them, "
                f"or leave their rows out."
            )
        array = column.to_numpy(zero_copy_only=False)
        if array.dtype.kind not in "biuf":
            raise ValueError(
                f"Column {name!r} holds {column.type}, and numbers were expected; encode it, or "
                f"choose other columns."
            )
        arrays.append(array)
    single = all(array.dtype == np.float32 for array in arrays)
    return np.column_stack(arrays).astype(np.float32 if single else np.float64, copy=False)
