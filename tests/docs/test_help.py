"""What `help` prints first: a sentence, then an example, as text that a terminal shows."""

import inspect
import pydoc
import re

import pytest

import bochner

SCREEN = (
    30  # Lines: the names of base classes, up to ten lines of text, imports and data come first
)
NAMES = [name for name in bochner.__all__ if callable(getattr(bochner, name))]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_says_what_it_is_and_shows_an_example(name):
    value = getattr(bochner, name)
    summary, _, rest = inspect.getdoc(value).partition("\n\n")
    assert re.fullmatch(r"[A-Z](?:[^.\n]|\.\w)*\.", summary)
    screen = pydoc.plain(pydoc.render_doc(value)).splitlines()[:SCREEN]
    assert sum(">>>" in line for line in screen) >= 2
    assert "\nExamples\n" in f"\n{rest}".split("Parameters\n")[0]


@pytest.mark.parametrize("name", NAMES)
def test_formulas_are_text_and_a_parameter_fits_a_line(name):
    value = getattr(bochner, name)
    methods = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else []
    for each in (value, *(method for own, method in methods if not own.startswith("_"))):
        if each.__module__.startswith("bochner"):
            assert all(len(str(p)) <= 100 for p in inspect.signature(each).parameters.values())
            text = re.sub(r"^ *(>>>|\.\.\.) .*", "", inspect.getdoc(each), flags=re.MULTILINE)
            assert not re.search(r"\\|:math:|\.\. math", text)


def test_the_overview_has_all_names():
    left_out = {"Diagnosis", "FitProgress", "__version__"}  # What functions return or hand out
    assert set(re.findall(r"``(\w+)``", bochner.__doc__)) == set(bochner.__all__) - left_out
