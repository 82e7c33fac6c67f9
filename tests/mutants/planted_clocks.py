"""Bugs in the clocks of dates, each with the test that must notice it."""

import pandas as pd
from files import test_clocks
from files.test_clocks import BERLIN, HOURS, encoded
from mutants.registry import edit, plant_edits, planted

from bochner.files import columns
from bochner.tables import encoder, encodings

BY_CLOCK = encoded(pd.Series(HOURS.tz_convert(BERLIN).tz_localize(None)))


def followed(form):
    return lambda: test_clocks.test_cycles_follow_the_clock_and_the_trend_utc(form, BY_CLOCK)


planted(
    lambda: test_clocks.test_dates_of_other_zones_are_taken_to_the_clock_of_the_fit(
        "polars", "UTC", BY_CLOCK
    ),
    name="the_zone_of_the_fit_is_forgotten",
)(edit(encodings, "encode", 'column.wall_times(state["zone"])', "column.wall_times()", encoder))

planted(
    followed("datetimes"),
    followed("own offsets"),
    test_clocks.test_missing_dates_and_mixed_offsets,
    name="the_clock_of_an_entry_shows_utc",
)(edit(columns, "entry_clock", "entry.replace(tzinfo=None)", "entry_in_utc(entry)", columns))

plant_edits(columns, "clock_times",
    lambda: test_clocks.test_clocks_are_those_of_pandas("Australia/Lord_Howe"),
    users=(columns, test_clocks),
    one_offset_for_all_times=("np.array(offsets, ", "np.array(offsets[:1] * len(offsets), "),
    )  # fmt: skip
