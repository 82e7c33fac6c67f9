"""`bochner diagnose`: analyses a kernel on the rows of a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer

from bochner._base.arrays import Array
from bochner._base.limits import MOST_DIAGNOSED
from bochner._base.number_texts import counted
from bochner.cli.output import cells_table, facts_table, plain_text, print_blocks, reporting
from bochner.files.errors import InputError
from bochner.files.table_reading import read
from bochner.kernels import Metric, UnitSphere
from bochner.kernels.kernel_names import kernel_called
from bochner.linear.diagnosis import diagnose
from bochner.linear.diagnosis_result import HEADINGS, error_rows, facts, legend
from bochner.spectral.profiles import profile
from bochner.tables.encoder import TableEncoder
from bochner.tables.table_checks import check_table, drop_columns

if TYPE_CHECKING:
    import pandas as pd

_SCALED = (Metric.CITY_BLOCK, Metric.INNER_PRODUCT)
"""Kernel metrics for which columns are scaled to [0, 1]."""


def diagnose_table(path: Path, kernel: str, left_out: Sequence[str]) -> None:
    """Read, encode and scale a table, diagnose the kernel on its rows, and print."""
    with reporting() as progress:
        progress(f"reading {path}")
        table_read = read(path, keep=left_out)
        frame = drop_columns(table_read.frame, left_out)
        if not frame.shape[1]:
            raise InputError("No column is left to diagnose the kernel on: leave fewer out.")
        if len(frame) < 2:
            raise InputError("The table has one row: expected at least two.")
        check_table(frame)
        inputs, scaling = scaled_inputs(frame, kernel)
        progress(f"diagnosing {kernel}")
        chosen = np.random.default_rng(0).permutation(len(inputs))[:MOST_DIAGNOSED]
        diagnosis = diagnose(kernel, inputs[chosen], random_state=0)
    console = Console()
    for note in (*table_read.notes, scaling):
        console.print(plain_text(note))
    shown_facts = {
        **facts(diagnosis),
        "rows": f"{diagnosis.n_rows} of {len(inputs)}, with {diagnosis.dim} inputs",
    }
    print_blocks(console, facts_table(shown_facts))
    if diagnosis.features is not None:
        errors = cells_table(HEADINGS, error_rows(diagnosis), first="right")
        print_blocks(console, errors, plain_text(legend(diagnosis)))
    print_blocks(console, plain_text(diagnosis.advice, "bold"))


def scaled_inputs(frame: "pd.DataFrame", kernel: str) -> tuple[Array, str]:
    """Return the encoded rows of a table, scaled to suit a kernel, and a sentence on the scale."""
    kernel_called(kernel, frame.shape[1])  # Reject a wrong name before the table is encoded
    encoder = TableEncoder()
    encoded: Array = encoder.fit_transform(frame)
    called = kernel_called(kernel, encoded.shape[1])
    kernel_profile = profile(called)
    steps: list[Any] = []
    sentence = "Columns are standardised"
    is_scaled = kernel_profile is not None and kernel_profile.metric in _SCALED
    if is_scaled or not called.is_symmetric:
        steps.append(MinMaxScaler(clip=True))
        sentence = "Columns are scaled to [0, 1]"
    sentence += f", and clipped at {encoder.clip:g} standard deviations"
    if kernel_profile is not None and isinstance(kernel_profile.domain, UnitSphere):
        steps.append(Normalizer())
        sentence += "; rows are normalised"
    inputs: Array = make_pipeline(*steps).fit_transform(encoded) if steps else encoded
    sizes = f"{counted(frame.shape[1], 'column')}, {counted(inputs.shape[1], 'input')}"
    return inputs, f"{sentence}: {sizes}."
