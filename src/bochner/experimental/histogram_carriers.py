"""Complex functions of rows of histograms and sets: powers of inputs, and signs of hashes."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bochner._numerics.arrays import Array, InputRows, as_array, dense_rows, frozen_array
from bochner.experimental.hash_loops import fill_signs
from bochner.frequencies.carriers import DrawnCarrier, Order
from bochner.registry import register


@register
@dataclass(frozen=True, slots=True, eq=False)
class Powers(DrawnCarrier):
    r"""Complex powers of one input each, :math:`f_j(x) = x_{c_j}^{1/2 + i \lambda_j}`.

    :math:`f_j(x) \overline{f_j(y)} = \sqrt{x_c y_c}\, e^{i \lambda (\log x_c - \log y_c)}`: waves
    of logarithms, times the root of the input. Inputs are zero or more, and zero has the value
    zero.

    Parameters
    ----------
    column : array-like of shape (m,)
        :math:`c`, positions of inputs.
    rate : array-like of shape (m,)
        :math:`\lambda`, in radians per unit of the logarithm.

    Raises
    ------
    ValueError
        If shapes disagree, a column is not a position, or a rate is not finite.

    References
    ----------
    Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.experimental import Powers
    >>> size, angle = Powers(column=[0], rate=[0.5]).polar(np.array([[4.0], [0.0]]))
    >>> size.ravel(), angle[0].round(4)
    (array([2., 0.]), array([0.6931]))
    """

    column: Array
    rate: Array

    def __post_init__(self) -> None:
        column = frozen_array("column", self.column, None)
        if column.ndim != 1 or not len(column):
            raise ValueError(f"column must have shape (m,), m positive, got {column.shape}.")
        if (column < 0).any() or (column != np.round(column)).any():
            raise ValueError("column must hold positions of inputs: 0, 1, 2 and so on.")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "rate", frozen_array("rate", self.rate, column.shape))

    @property
    def n_factors(self) -> int:
        return len(self.rate)

    def polar(self, X: InputRows) -> tuple[Array | None, Array]:
        used, place = np.unique(self.column.astype(np.intp), return_inverse=True)
        values = np.maximum(dense_rows(X[:, used], np.arange(X.shape[0])), 0.0)
        # Zero has the size zero for every angle.
        logs = np.log(np.where(values > 0.0, values, 1.0))
        return as_array(np.sqrt(values)[:, place]), as_array(logs[:, place] * self.rate)

    def taken(self, order: Order) -> "Powers":
        """Return the functions of some waves, in this order."""
        return Powers(self.column[order], self.rate[order])

    def on(self, columns: Order) -> "Powers":
        """Return the same functions of these columns (q,) of wider rows."""
        return Powers(as_array(columns[self.column.astype(np.intp)]), self.rate)


@register
@dataclass(frozen=True, slots=True, eq=False)
class Hashes(DrawnCarrier):
    r"""Signs of hashes of rows that are equal as often as rows are similar.

    A hash :math:`h(x)` picks an input and a level of it, by improved consistent weighted sampling:
    with :math:`r, c \sim \Gamma(2, 1)` and a uniform :math:`\beta` for every input,

    .. math:: t_i = \lfloor \log x_i / r_i + \beta_i \rfloor, \qquad
              h(x) = (i, t_i) \text{ of the least } \log c_i - r_i (t_i - \beta_i) - r_i.

    Two rows have the same hash with the probability :math:`\sum_i \min(x_i, y_i) / \sum_i
    \max(x_i, y_i)`. Each hash has a random sign for every value, so the product of the signs of two
    rows has that mean. A wave has two hashes: :math:`f_j(x) = (\xi(h(x)) + i\, \xi'(h'(x))) /
    \sqrt 2`. Inputs are nonnegative; rows of zeros share a separate hash.

    Parameters
    ----------
    step, shift, log_cost : array-like of shape (2m, q)
        :math:`r`, :math:`\beta` and :math:`\log c`; hashes ``j`` and ``m + j`` are those of wave
        ``j``.
    key : array-like of shape (2m,)
        Whole numbers from 0 to 2^53, one for the random signs of each hash.
    columns : array-like of shape (q,)
        Positions of the inputs.

    Raises
    ------
    ValueError
        If shapes disagree, or an entry is not finite.

    References
    ----------
    Ioffe, "Improved consistent sampling, weighted minhash and L1 sketching", 2010; Tripp,
    Bacallado, Singh and Hernández-Lobato, "Tanimoto random features for scalable molecular machine
    learning", 2023, for the signs.
    """

    step: Array
    shift: Array
    log_cost: Array
    key: Array
    columns: Array

    def __post_init__(self) -> None:
        step = frozen_array("step", self.step, None)
        if step.ndim != 2 or not len(step) or len(step) % 2:
            raise ValueError(f"step must have shape (2m, q), m positive, got {step.shape}.")
        object.__setattr__(self, "step", step)
        for name, shape in (
            ("shift", step.shape),
            ("log_cost", step.shape),
            ("key", step.shape[:1]),
            ("columns", step.shape[1:]),
        ):
            object.__setattr__(self, name, frozen_array(name, getattr(self, name), shape))

    @classmethod
    def drawn(cls, m: int, dim: int, rng: np.random.Generator) -> "Hashes":
        """Return the hashes of ``m`` waves of ``dim`` inputs."""
        shape = 2 * m, dim
        step, cost = rng.gamma(2.0, size=shape), rng.gamma(2.0, size=shape)
        key = rng.integers(2**53, size=2 * m)
        return cls(step, rng.random(shape), np.log(cost), as_array(key), as_array(np.arange(dim)))

    @property
    def n_factors(self) -> int:
        return len(self.key) // 2

    def polar(self, X: InputRows) -> tuple[Array | None, Array]:
        chosen = X[:, self.columns.astype(np.intp)]
        rows = sparse.csr_array(chosen)
        rows.eliminate_zeros()
        signs = np.empty((rows.shape[0], len(self.key)))
        keys = self.key.astype(np.uint64)
        entries = np.log(rows.data), rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        fill_signs(*entries, self.step, self.shift, self.log_cost, keys, signs)
        cosine, sine = np.split(signs, 2, axis=1)
        # The angle whose cosine and sine have these signs and one size
        return None, as_array(0.25 * np.pi * sine * (2.0 - cosine))

    def taken(self, order: Order) -> "Hashes":
        """Return the functions of some waves, in this order."""
        both = np.concatenate([order, order + self.n_factors])
        step, shift, log_cost = self.step[both], self.shift[both], self.log_cost[both]
        return Hashes(step, shift, log_cost, self.key[both], self.columns)

    def on(self, columns: Order) -> "Hashes":
        """Return the same functions of these columns (q,) of wider rows."""
        placed = as_array(columns[self.columns.astype(np.intp)])
        return Hashes(self.step, self.shift, self.log_cost, self.key, placed)
