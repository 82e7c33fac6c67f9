"""Ridge regression on features: solvers, evidence, and the kernel machines built on it."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.linear.diagnosis_result import SingularValues as SingularValues
    from bochner.linear.diagnosis_result import Spectrum as Spectrum
    from bochner.linear.feature_errors import FeatureErrors as FeatureErrors
    from bochner.linear.solver_plan import RidgeSolver as RidgeSolver
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
