import sys
import tomllib
from importlib import import_module
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

import bochner

sys.path.insert(0, str(Path(__file__).parent))  # The look of the gallery, and figures of results

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
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "measured",
    "charts",
    "gallery_look",
    "redirects",
]
# Tables that the benchmarks make are included by the pages that explain them.
exclude_patterns = ["_build", "results/*.tables.md"]
nitpicky = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3  # Headings down to "###" have links: pages have none below

# Copied sessions leave out prompts and what was printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "doc_module": ("bochner",),
    "reference_url": {"bochner": None},
    "backreferences_dir": "gallery/backreferences",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "plot_gallery": "True",
    "reset_modules": ("matplotlib", "gallery_look.reset"),
    "image_scrapers": ("matplotlib", "gallery_look.displays"),
    "ignore_repr_types": r"bochner\.plot|matplotlib|list",  # Drawings, and lists of their texts
    "matplotlib_animations": False,
    "thumbnail_size": (540, 400),
    "parallel": True,  # As many processes as Sphinx has
}

autosummary_generate = True
# Adapters of packages that are too large to install for their documentation.
autodoc_mock_imports = ["torch"]
autosummary_ignore_module_all = False
autosummary_imported_members = True
# Each public name has one page: that of the package, for a name that a room offers as well.
_rooms = ("spectral", "linear", "gaussian_process", "learned", "tables", "files")

# Pages of classes hold inherited methods, too, but none of those that another package defines.
_rooms_with_classes = (bochner, *(import_module(f"bochner.{room}") for room in _rooms))
_public_classes = {
    value
    for room in _rooms_with_classes
    for name in room.__all__
    if isinstance(value := getattr(room, name), type)
}
_foreign_classes = {
    ancestor.__name__
    for public_class in _public_classes
    for ancestor in public_class.__mro__
    if not ancestor.__module__.startswith("bochner")
}
autosummary_context = {
    "foreign_classes": ", ".join(sorted(_foreign_classes)),
    "documented_above": [
        f"bochner.{room}.{name}"
        for room in _rooms
        for name in import_module(f"bochner.{room}").__all__
        if getattr(bochner, name, None) is getattr(import_module(f"bochner.{room}"), name)
    ],
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"  # Names of methods fit next to a page
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"bochner {release}"
html_show_sourcelink = False
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_search_scorer = str(Path(__file__).parent / "scorer.js")
# The address of the repository, once pyproject.toml has one.
_pyproject = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
_repository = tomllib.loads(_pyproject)["project"]["urls"]["Homepage"]
_links = [{"name": "Repository", "url": _repository, "icon": "fa-solid fa-code-branch"}]
html_theme_options = {
    "icon_links": [] if "REPLACE" in _repository else _links,
    "logo": {
        "text": "bochner",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_align": "left",  # One line at 1300 pixels
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "header_links_before_dropdown": 8,  # All parts of the site: see index.md
    "show_prev_next": False,
    "secondary_sidebar_items": {"gallery/index": [], "index": [], "**": ["page-toc"]},
    "show_toc_level": 2,  # Both levels of headings without a click
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {page: [] for page in ("index", "quickstart", "live", "gallery/index", "changelog")}
html_context = {"default_mode": "auto"}  # Without it the theme writes an error to the console
# MathJax is copied from a package, so that pages need no network.
_mathjax = find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
html_static_path = ["_static", f"{_mathjax}/static"]
mathjax_path = "mathjax/tex-chtml.js"
templates_path = ["_templates"]
