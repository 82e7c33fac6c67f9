"""The methods of five papers as printed, built from components of the library.

The docstring of each module says where each numbered equation, algorithm and table of its paper is.

- :mod:`bochner.papers.grff`: generalised random Fourier features of indefinite kernels;
- :mod:`bochner.papers.ask_rff`: random Fourier features of asymmetric kernels (AsK-RFF);
- :mod:`bochner.papers.bank`: Bayesian nonparametric kernel learning (BaNK);
- :mod:`bochner.papers.gabasr`: locally stationary kernels learned by sampling (GaBaSR);
- :mod:`bochner.papers.digmm`: a variational double mixture of similarities (DIGMM).
"""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.papers import ask_rff as ask_rff
    from bochner.papers import bank as bank
    from bochner.papers import digmm as digmm
    from bochner.papers import gabasr as gabasr
    from bochner.papers import grff as grff
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
