"""Bugs in the clocks of dates, each with the test that must notice it."""

import pandas as pd
from files import test_clocks
from files.test_clocks import BERLIN, HOURS, encoded
from files.test_local_dates import SEVERAL, test_offsets_from_utc_are_kept
from mutants.planted_reading import in_folder
from mutants.registry import changes, edit, plant_edits, planted

from bochner.files import columns, date_rule, local_dates, table_reading
from bochner.tables import encoder, encodings

BY_CLOCK = encoded(pd.Series(HOURS.tz_convert(BERLIN).tz_localize(None)))


def followed(form):
    return lambda: test_clocks.test_cycles_follow_the_clock_and_the_trend_utc(form, BY_CLOCK)


planted(followed("pandas"), followed("text"), name="cycles_follow_utc")(
    edit(encodings, "encode", 'column.wall_times(state["zone"])', "column.times()", encoder)
)

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
    offsets_change_at_full_days_only=("M8[15m]", "M8[D]"))  # fmt: skip

planted(
    in_folder(test_offsets_from_utc_are_kept, SEVERAL), name="texts_of_iso_dates_lose_their_clock"
)(edit(local_dates, "iso_dates", "clock - utc", "0 * (clock - utc)", date_rule))

planted(in_folder(test_offsets_from_utc_are_kept, SEVERAL), name="one_offset_stands_for_several")(
    edit(local_dates.LocalDates, "series", "len(distinct) == 1", "True")
)


@changes(
    table_reading,
    "_by_rules",
    in_folder(test_clocks.test_columns_of_parquet_keep_their_clock, BY_CLOCK),
)
def files_with_zones_are_read_in_utc(right, columns, *arguments):
    for name, series in columns.items():
        if isinstance(series.dtype, pd.DatetimeTZDtype):
            columns[name] = series.dt.tz_convert("UTC").dt.tz_localize(None)
    return right(columns, *arguments)
