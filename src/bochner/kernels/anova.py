"""The ANOVA kernel: low-order interactions of the inputs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bochner._numerics.arrays import Array, LengthScale, as_array, as_scalar_or_tuple, check_dim
from bochner.kernels.base import Kernel
from bochner.kernels.stationary import Correlation


@dataclass(frozen=True, slots=True)
class Anova(Kernel):
    r"""Low-order interactions, :math:`k(\Delta) = \prod_i (1 - \pi_i + \pi_i\, k_i(\Delta_i))`.

    :math:`k_i` is ``kernel`` on input ``i`` alone. A frequency of this kernel involves input
    ``i`` with probability :math:`\pi_i`, so :math:`\sum_i \pi_i` is the expected order of
    interaction; tables are often sums of functions of one to three inputs. With every
    :math:`\pi_i = 1` it is the product of the one-dimensional kernels.

    Parameters
    ----------
    kernel : Correlation
        Supplies :math:`k_i` and the length scales, for example ``Gaussian(0.5)``.
    inclusion : float or sequence of d floats
        :math:`\pi`, between 0 and 1.
    constant : bool, default=True
        ``False`` takes out the part in which no input takes part, :math:`c = \prod_i
        (1 - \pi_i)`: the kernel is :math:`(k(\Delta) - c) / (1 - c)`. Models with an intercept
        have no use for that part, and every frequency of the rest involves some input.

    Examples
    --------
    >>> from bochner.kernels import Anova, Gaussian
    >>> k = Anova(Gaussian(1.0), inclusion=0.5)
    >>> k([[0.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]).round(4)
    array([[0.8033, 0.6452]])
    """

    kernel: Correlation
    inclusion: LengthScale
    constant: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Correlation):
            raise TypeError(
                f"Anova needs a stationary kernel with a length scale, such as Gaussian(1.0), "
                f"got {self.kernel!r}."
            )
        object.__setattr__(self, "inclusion", as_scalar_or_tuple("inclusion", self.inclusion))
        if not 0 <= np.min(self.inclusion) <= np.max(self.inclusion) <= 1:
            raise ValueError(f"inclusion must lie between 0 and 1, got {self.inclusion!r}.")
        if not self.constant and np.max(self.inclusion) == 0:
            raise ValueError("Without the constant, some inclusion must be positive; got none.")

    def evaluate(self, X: Array, Y: Array) -> Array:
        scale = as_array(self.kernel.length_scale)
        inclusion = np.broadcast_to(self.inclusion, X.shape[1:])
        K = np.ones((len(X), len(Y)))
        for x, y, pi in zip((X / scale).T, (Y / scale).T, inclusion, strict=True):
            factor = self.kernel.correlation(x[:, None], y[:, None])
            factor *= pi
            factor += 1.0 - pi
            K *= factor
        if not self.constant:
            without = np.prod(1.0 - inclusion)
            K -= without
            K /= 1.0 - without
        return K

    def diag(self, X: ArrayLike) -> Array:
        return self.kernel.diag(X)

    def check_dim(self, dim: int) -> None:
        self.kernel.check_dim(dim)
        check_dim("inclusion", self.inclusion, dim)
