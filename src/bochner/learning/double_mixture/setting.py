"""How two mixtures are inferred."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """Parameters of an inference, checked.

    Parameters
    ----------
    truncation : int
        The most components of each mixture.
    shift : float
        Of the eigen-split, in multiples of the least eigenvalue.
    concentration : float
        Of both Dirichlet processes.
    noise : float or None
        Standard deviation of similarities about the features' estimate, over the size of a
        row's similarity with itself; ``None`` leaves it to the method.
    max_iter : int
    tol : float
    n_starts : int
    """

    truncation: int = 5
    shift: float = 1.1
    concentration: float = 1.0
    noise: float | None = None
    max_iter: int = 50
    tol: float = 1e-5
    n_starts: int = 3
