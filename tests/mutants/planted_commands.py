"""Bugs planted in the time that commands take and show, and the tests that must notice them."""

from functools import partial

import pytest
from cli import test_progress_line, test_screen
from comparison import test_contenders
from mutants.registry import edit, planted

from bochner.cli import output, screen
from bochner.cli.progress_line import Activity
from bochner.comparison import contenders


def check_shared_encoding():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(test_contenders.sys.modules, "catboost", None)
        test_contenders.test_the_table_is_encoded_once(patch)


def check_threads():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(test_contenders.sys.modules, "catboost", None)
        test_contenders.test_methods_have_the_threads_of_the_fit(1, patch)


check_widths = partial(test_screen.test_no_heading_and_no_number_is_cut, 2.864e-12)

planted(check_shared_encoding, name="each_method_encodes_the_table")(
    edit(contenders, "add_others", "if not encodings:", "if encodings.clear() is None:")
)

planted(check_threads, name="other_methods_have_all_threads")(
    edit(contenders, "add_others", "threads_for(n_jobs, n_blas)", "threads_for(None, 2)")
)

planted(
    lambda: test_progress_line.test_the_time_left_runs_down_between_steps(),
    name="the_time_left_stands_still",
)(edit(Activity, "__str__", "self._end - now", "self._end - self._last"))

planted(check_widths, name="columns_are_cut")(
    edit(output, "cells_table", "no_wrap=number > 0", "no_wrap=True", screen)
)

planted(partial(test_screen.test_a_method_has_one_line, 2.864e-8), name="powers_with_four_digits")(
    edit(screen, "_short", "number(value, 3, _PLAIN)", "number(value, 6, _PLAIN)")
)
