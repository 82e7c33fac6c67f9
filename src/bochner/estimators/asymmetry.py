"""What heads on the features of one argument refuse: kernels whose two arguments differ."""

from bochner.features.length_scales import AnyKernel
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel

_WHY = (
    "This model learns with the features of one argument, in whose products phases cancel: another "
    "kernel"
)


def refuse_asymmetric(kernel: AnyKernel, *, associated: bool = True) -> None:
    """Raise ``ValueError`` for a kernel that is not known to be symmetric.

    Parameters
    ----------
    kernel : Kernel or callable
        A function says nothing of itself, and passes.
    associated : bool, default=True
        Whether the model has a parameter of that name, which then is a way out.
    """
    if not isinstance(kernel, Kernel) or kernel.is_symmetric:
        return
    raise ValueError(
        f"{kernel!r} is asymmetric: k(x, y) and k(y, x) may differ. {_WHY}. Use "
        f"AsymmetricKernelRidge(kernel); or kernel.symmetrised, if the order of the arguments does "
        f"not matter (a Stationary whose function is even says so with symmetric=True)"
        f"{_or_associated(associated)}."
    )


def refuse_two_sided(kernel: AnyKernel, frequencies: Frequencies) -> None:
    """Raise ``ValueError`` if the left and right features of a kernel are not the same.

    Parameters
    ----------
    kernel : Kernel or callable
        That has passed :func:`refuse_asymmetric`.
    frequencies : Frequencies
        Of it.
    """
    if frequencies.is_symmetric:
        return
    if isinstance(kernel, Kernel):
        raise ValueError(
            f"{kernel!r} has different features for its two arguments. {_WHY}. Use "
            f"AsymmetricKernelRidge(kernel), or fit weights to its values alone: "
            f"kernel.__call__ with weights='least_squares'{_or_associated(True)}."
        )
    raise ValueError(
        f"The function {kernel!r} is not symmetric on these data. {_WHY}. Use "
        f"AsymmetricKernelRidge(kernel, weights='least_squares'); or a function that returns "
        f"(kernel(X, Y) + kernel(Y, X).T) / 2, if the order of the arguments does not matter"
        f"{_or_associated(True)}."
    )


def _or_associated(offered: bool) -> str:
    return "; or associated=True, which learns with Z Z' as it is" if offered else ""
