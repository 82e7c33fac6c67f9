"""Reports: one HTML file on a fitted table model, with everything it needs inside.

Needs the extra ``report``: ``pip install 'bochner[report]'``.
"""

from bochner.report.notebook import Report, report_of
from bochner.report.page import html, write

__all__ = ["Report", "html", "report_of", "write"]
