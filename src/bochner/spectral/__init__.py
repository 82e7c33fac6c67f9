"""Spectral measures, sampling schemes, and the frequencies drawn from them."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.spectral.decompositions import Jordan as Jordan
    from bochner.spectral.feature_factors import CosineFactors as CosineFactors
    from bochner.spectral.feature_factors import Envelope as Envelope
    from bochner.spectral.feature_factors import FeatureFactor as FeatureFactor
    from bochner.spectral.laws import BlockLaw as BlockLaw
    from bochner.spectral.laws import Chi as Chi
    from bochner.spectral.laws import Elliptical as Elliptical
    from bochner.spectral.laws import Independent as Independent
    from bochner.spectral.laws import Isotropic as Isotropic
    from bochner.spectral.laws import Law as Law
    from bochner.spectral.laws import NoMeasureError as NoMeasureError
    from bochner.spectral.laws import RadialLaw as RadialLaw
    from bochner.spectral.laws import Student as Student
    from bochner.spectral.measure import Part as Part
    from bochner.spectral.measure import SpectralMeasure as SpectralMeasure
    from bochner.spectral.profiles import Profile as Profile
    from bochner.spectral.schemes import Coordinates as Coordinates
    from bochner.spectral.schemes import Directions as Directions
    from bochner.spectral.schemes import Iid as Iid
    from bochner.spectral.schemes import MinimumEnergy as MinimumEnergy
    from bochner.spectral.schemes import Orthogonal as Orthogonal
    from bochner.spectral.schemes import Scheme as Scheme
    from bochner.spectral.schemes import Structured as Structured
    from bochner.spectral.schemes import Uniforms as Uniforms
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
