"""Reports: a self-contained HTML file on a fitted table model.

Reports need the extra ``report``: ``pip install 'bochner[report]'``. The checks work without it.
"""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.report.page import Report as Report
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
