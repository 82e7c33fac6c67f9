"""Ridge regression on features, its solvers and evidence, and the kernel machines made of it."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.linear.diagnosis import Diagnosis as Diagnosis
    from bochner.linear.diagnosis import diagnose as diagnose
    from bochner.linear.feature_errors import FeatureErrors as FeatureErrors
    from bochner.linear.feature_errors import Features as Features
    from bochner.linear.singular_values import SingularValues as SingularValues
    from bochner.linear.singular_values import Spectrum as Spectrum
    from bochner.linear.singular_values import singular_values_of as singular_values_of
    from bochner.linear.singular_values import spectrum_of as spectrum_of
else:
    __getattr__, __dir__, __all__ = on_demand(
        __name__,
        {
            "bochner.linear.diagnosis": (
                "Diagnosis",
                "diagnose",
            ),
            "bochner.linear.feature_errors": (
                "FeatureErrors",
                "Features",
            ),
            "bochner.linear.singular_values": (
                "SingularValues",
                "Spectrum",
                "singular_values_of",
                "spectrum_of",
            ),
        },
    )
