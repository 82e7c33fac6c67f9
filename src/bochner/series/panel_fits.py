"""Learns what the series of a panel share from fits to some of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bochner._base.progress import silent
from bochner.series.component_search import select
from bochner.series.fitted_series import Options, are_counts, plan_of
from bochner.series.panel_priors import (
    FEWEST_OF_PILOTS,
    FEWEST_SERIES,
    MOST_PILOTS,
    PanelLaw,
    Pilot,
    first_law,
    second_law,
)
from bochner.series.series_rows import SeriesRows


def panel_laws(rows: Mapping[str, SeriesRows], options: Options) -> dict[str, PanelLaw | None]:
    """Return what each series shares with the series whose steps have the same unit, by name."""
    kinds: dict[object, list[str]] = {}
    for name, one in rows.items():
        kinds.setdefault((one.timeline.kind, one.timeline.unit_of_step), []).append(name)
    laws: dict[str, PanelLaw | None] = {}
    for names in kinds.values():
        laws |= dict.fromkeys(names, _panel_law([rows[name] for name in names], options))
    return laws


def _panel_law(all_series: Sequence[SeriesRows], options: Options) -> PanelLaw | None:
    """Return what series share, learned from some of them; None for few series."""
    all_series = [one for one in all_series if not are_counts(one, options)]
    if len(all_series) < FEWEST_SERIES:
        return None
    places = np.linspace(0, len(all_series) - 1, min(len(all_series), MOST_PILOTS))
    some = [all_series[place] for place in np.rint(places).astype(int)]
    law = PanelLaw(all(np.nanmin(one.learned.values) >= 0.0 for one in some))
    for fewest_periods, next_law in ((FEWEST_OF_PILOTS, first_law), (None, second_law)):
        pilots = []
        for number, series in enumerate(some):
            if options.progress.is_stopped:
                return None
            options.progress("learning what the series share", number + 1, len(some))
            rows, quiet = series.learned, options._replace(find_cycle=False, progress=silent)
            plan, inputs = plan_of(series, quiet, law)
            if fewest_periods is not None:
                plan = replace(plan, fewest_periods=fewest_periods)
            one = select(rows.times, rows.values, inputs, plan, rows.clock)
            unit = law.unit(rows.values, one.transformation, one.units)
            pilots.append(Pilot.of(one, unit, plan.input_names))
        law = next_law(pilots, law)
    return law
