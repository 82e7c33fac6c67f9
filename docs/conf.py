from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path

import bochner

project = "bochner"
author = "The bochner developers"
project_copyright = f"2026, {author}"
release = version = installed_version("bochner")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "results/**"]
nitpicky = False

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
# Each public name has one page: that of the package, for a name that a room offers as well.
_rooms = ("spectral", "frequencies", "diagnosis", "persist")
autosummary_context = {
    "documented_above": [
        f"bochner.{room}.{name}"
        for room in _rooms
        for name in import_module(f"bochner.{room}").__all__
        if getattr(bochner, name, None) is getattr(import_module(f"bochner.{room}"), name)
    ]
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"bochner {release}"
html_static_path = ["_static"]
templates_path = ["_templates"]


def _include_results(app, docname, source):
    """Append the generated tables, where they have been made, to the page of results."""
    if docname == "results":
        names = sorted(table.name for table in Path(app.srcdir, "results").glob("*.md"))
        source[0] += "".join(
            f"\n```{{include}} results/{name}\n:relative-images:\n```\n"
            for name in names
            if not name.endswith("-quick.md")
        )


def setup(app):
    app.connect("source-read", _include_results)
