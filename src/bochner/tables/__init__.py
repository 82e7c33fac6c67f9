"""Models of tables, the encoding of their columns, and explanations of what they learned."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.tables.contributions import Contributions as Contributions
    from bochner.tables.sensitivity import Effect as Effect
    from bochner.tables.sensitivity import VarianceShares as VarianceShares
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
