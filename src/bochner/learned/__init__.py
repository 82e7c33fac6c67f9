"""Kernels learned from data: chains over frequencies, and mixtures."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.learned.chain_models import DenseStructure as DenseStructure
    from bochner.learned.chain_models import SparseStructure as SparseStructure
    from bochner.learned.chain_models import Structure as Structure
    from bochner.learned.chain_parameters import Chains as Chains
    from bochner.learned.chain_plan import Sampler as Sampler
    from bochner.learned.exact_inference import ExactInference as ExactInference
    from bochner.learned.locally_stationary_models import LearnedEnvelope as LearnedEnvelope
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
