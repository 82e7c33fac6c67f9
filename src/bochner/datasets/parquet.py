"""Rows of a Parquet file, in chunks."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import as_count

if TYPE_CHECKING:
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile


class ParquetChunks:
    """Chunks of rows of a Parquet file for ``fit``; each iteration reads the file again.

    Parameters
    ----------
    path : path
    target : str or sequence of str
        Target column or columns.
    columns : sequence of str, default=None
        Input columns, all of them numbers or booleans; ``None`` means all other columns.
    weight : str, default=None
        Column of the rows' weights.
    chunk_rows : int, default=65536
        Largest number of rows of a chunk.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    TypeError, ValueError
        If ``chunk_rows`` is not a positive integer.
    ValueError
        If a column does not exist, is not numeric, or has missing values.

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
            self.n_samples = int(file.metadata.num_rows)
        if columns is None:
            columns = [name for name in names if name not in {*self._targets, weight}]
        self.columns = list(columns)
        missing = [name for name in self._wanted if name not in names]
        if missing:
            raise ValueError(
                f"{self.path} has no column {', '.join(map(repr, missing))}; "
                f"it has {', '.join(map(repr, names))}."
            )
        if not self.columns:
            raise ValueError(f"{self.path} has no input columns besides {self._targets}.")

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        """Yield ``(X, y)``, or ``(X, y, sample_weight)`` where there are weights."""
        with _opened(self.path) as file:
            for batch in file.iter_batches(batch_size=self.chunk_rows, columns=self._wanted):
                X = _numbers(batch, self.columns)
                y = _numbers(batch, self._targets)
                chunk = (X, y[:, 0] if self._single else y)
                yield (*chunk, _numbers(batch, [self._weight])[:, 0]) if self._weight else chunk

    @property
    def _wanted(self) -> list[str]:
        return self.columns + self._targets + ([self._weight] if self._weight else [])


def _opened(path: Path) -> "ParquetFile":
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            "ParquetChunks needs pyarrow, which is not installed; run pip install 'bochner[cli]'."
        ) from error
    # Without a buffer that reads ahead, memory does not grow with the file.
    return ParquetFile(path, pre_buffer=False)


def _numbers(batch: "Table", names: Sequence[str]) -> NDArray[Any]:
    """Return columns side by side, of shape (n, len(names)), in float64 unless all are float32."""
    from pyarrow.types import is_decimal

    arrays = []
    for name in names:
        column = batch.column(name)
        if column.null_count:
            raise ValueError(
                f"Column {name!r} lacks {column.null_count} of {len(column)} values; fill them, "
                f"or drop their rows."
            )
        if is_decimal(column.type):
            column = column.cast("float64")
        array = column.to_numpy(zero_copy_only=False)
        if array.dtype.kind not in "biuf":
            raise ValueError(
                f"Column {name!r} must be numeric, got {column.type}; encode it, or choose other "
                f"columns."
            )
        arrays.append(array)
    single = all(array.dtype == np.float32 for array in arrays)
    return np.column_stack(arrays).astype(np.float32 if single else np.float64, copy=False)
