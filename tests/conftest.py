"""Settings for all tests."""

import re

import pytest

# The batteries live beside their tests; their assertions should explain themselves as well.
pytest.register_assert_rewrite(
    "laws.atom_laws",
    "laws.design_laws",
    "laws.group_laws",
    "laws.head_laws",
    "laws.jordan_laws",
    "laws.kernel_laws",
    "laws.measure_laws",
    "laws.sampling_laws",
    "laws.weight_laws",
)

THOROUGH = re.compile(
    "|".join(
        (
            # Planted bugs test the laws, and what the laws test runs anyway.
            r"mutants/test_mutants",
            # Laws of samples on the line and in many inputs: those of the plane see as much.
            r"laws/test_\w+.py::test_(samples_are|dependent|independent|estimates|fitted_masses"
            r"|at_zero|kernel|measure|radius).*\b(1|5|20)d-",
            # Samplers: Geweke's test sees what calibration sees.
            r"test_calibration.py::test_the_truth|test_dense_prior.py::test_jumps",
            # Geweke's test itself: one sampler of each likelihood and kind of move stays.
            r"test_rounds_and_redraws.*\[(regression-dense-(mh|pcn)|regression-sparse-hmc|grid-dense"
            r"|polya-gamma-(matched|sparse)|joint-pairs-dense-mh)\]",
            r"double_mixture/test_exact.py::test_a_difference_of_mixtures",
            r"test_mixture.py::test_partitions.*\[3|test_noise_field.py::test_moves_and_redraws"
            r"|the_exact_posterior\[8|test_exact.py::test_(the_bound|factors).*\[[345]\d\]",
            # scikit-learn's checks: those of every estimator as it comes.
            r"test_sklearn_checks.py.*\[\w+\((alpha|associated|expectation|kernel)",
            # Data as they come: sparse and dense frequencies meet them all.
            r"test_bank_data.py::test_regression\[.*-(hmc|float32|trend)\]",
            r"test_bank_data.py::test_classification\[.*-(dense|float32)\]",
            # Learned kernels of tables, time series and a user's moves: one fit of each.
            r"test_bank_learned_kernel.py::test_(relevance_does_not|signs_and_order)",
            r"test_app_learned.py::test_(three_classes|a_l|both|inspect_a)|test_co2.py::test_a_learned",
            r"test_krein_ridge.py::test_intervals|of_memory_is_kept\[(100|120|60MB-1e)",
            r"test_new_move.py::test_its_step_size.*\[sparse|test_with_a_constant.*\[grid",
            # Checkpoints and seeds: one case for each likelihood and structure.
            r"test_bank_checkpoint.py::test_a_killed_fit.*\[(dense|two|three)",
            r"test_bank_checkpoint.py::test_an_interrupted.*-(5|33)\]",
            r"test_bank_checkpoint.py::test_an_interrupted.*\[(dense|hamil|indep|mod|paper|two cl)",
            r"test_bank_checkpoint.py::test_it_goes_on.*\[(11|35)-",
            r"test_bank_checkpoint.py::test_the_checkpoint_changes.*\[(dense|hamil|indep|mod|paper)",
            r"test_bank_reproducible.py::test_seeds.*\[(dense|sparse h|indep|three|mod|paper)",
            # What holds for numbers holds for classes, whose chains take several times as long.
            r"test_bank_reproducible.py.*\[classifier\]",
            r"test_gabasr.py::test_data_as_they_come.*-(grid|float32)\]",
            r"test_gabasr.py::test_classes_as_they_come\[(sixty|.*-grid\])",
            r"test_gabasr.py::test_(every_few_waves|whole_weights.*\[(classes|grid|paper))",
            r"test_gabasr.py::test_samples_have_the_moments.*\[(grid|sparse)",
            # Quick runs of benchmarks of a minute: those of other benchmarks take seconds.
            r"test_benchmarks.py::test_(the_q|a_fin|every).*\[(digmm|indefinite|gabasr|bank)\]",
            r"benchmarks/test_quick_runs|test_indefinite.py::test_(designed|predict|the_cl|values)",
            r"test_digmm_parts.py::test_scales|test_competitors.py.*\[trees, ",
            # Pages whose examples take long; the others' run as well.
            r"test_page\[(README|docs/tutorials/(cluster|indefinite|asymmetric|large))",
            # Generated data on the line and in many inputs; one law of a predicted error.
            r"test_datasets_generated.py::test_(cov|a_wrong_factor).*[\[-](1|5)(\]|-)",
            r"test_feature_errors.py::test_the_predicted_error_of.*\[(Gauss|\(3|-2|Anova)",
            # First landmarks: the rule that pivots stays for either side.
            r"test_the_first_landmark.*\[(uniform|leverage)",
            r"test_contenders.py::test_ours.*\[class|test_transformer.py::test_workers.*\[loky",
            # Workers that die between passes are a case of those that die in one.
            r"test_bank_on_dask.py::test_a_worker_killed|on_workers\[(traj)",
        )
    )
)
"""Cases that ``make test`` leaves out and ``make test-all`` has."""


def pytest_collection_modifyitems(items):
    for item in items:
        if THOROUGH.search(item.nodeid):
            item.add_marker(pytest.mark.thorough)
