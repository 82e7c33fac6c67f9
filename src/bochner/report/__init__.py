"""Reports: one HTML file on a fitted table model, with everything it needs inside.

Needs the extra ``report``: ``pip install 'bochner[report]'``. The checks of a report do not.
"""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.report.page import Report as Report
else:
    __getattr__, __dir__, __all__ = on_demand(__name__, {"bochner.report.page": ("Report",)})
