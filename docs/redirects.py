"""Pages that moved: a page at the old address leads to the new one."""

from pathlib import Path

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>This page moved</title>
<meta http-equiv="refresh" content="0; url={target}"><link rel="canonical" href="{target}"></head>
<body><p>This page moved to <a href="{target}">{target}</a>.</p></body>
</html>
"""

MOVED = {
    "gallery/plot_01_weather_table": "plot_01_life_expectancy.html",
    "gallery/plot_06_importance_interactions": "plot_07_single_prediction.html",
    "gallery/plot_11_learned_kernel_in_svc_and_gpr": "plot_25_learned_kernel.html",
    "gallery/plot_13_multi_output": "../guide/tables.html",
    "gallery/plot_14_calibration_of_classes": "plot_04_credit_probabilities.html",
    "gallery/plot_18_learned_kernel_likelihoods": "plot_17_counts_and_censoring.html",
    "gallery/plot_21_sampling_schemes": "plot_10_pipeline_features.html",
    "gallery/plot_23_query_key_kernel": "../guide/directed.html",
    "gallery/plot_27_mixture_from_similarities": "../guide/similarities.html",
    "gallery/plot_29_nystroem_or_features": "plot_10_pipeline_features.html",
    "gallery/plot_31_streaming_rows": "plot_45_drift.html",
    "gallery/plot_32_dask": "../guide/dask.html",
    "gallery/plot_34_large_d_structured": "plot_10_pipeline_features.html",
    "gallery/plot_35_length_scales": "../guide/gaussian_processes.html",
    "gallery/plot_39_onnx": "../guide/deploying.html",
    "gallery/plot_42_callback": "../guide/scikit_learn.html",
    "gallery/plot_43_positive_attention": "../results/attention.html",
    "gallery/plot_46_harmonizable": "../guide/local.html",
}
"""Old pages, and the addresses of the pages that replace them, relative to the old ones."""


def write(folder: Path) -> None:
    """Write a page for each address that moved."""
    for page, target in MOVED.items():
        path = folder / f"{page}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_PAGE.format(target=target), encoding="utf-8")


def _finished(app, exception):
    """Write the pages after a build without errors."""
    if exception is None and app.builder.name == "html":
        write(Path(app.outdir))


def setup(app):
    """Write the pages when the site is built."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
