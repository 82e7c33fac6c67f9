"""Bugs of latent functions at landmarks, each with the law that must notice it."""

from functools import partial

import pytest
from gaussian_process import test_gaussian_process_refits as processes
from gaussian_process import test_laplace, test_residuals
from laws import test_latent_processes as laws
from mutants.registry import edit, plant_edits, planted
from scipy.linalg import LinAlgError

from bochner.features import landmarks
from bochner.gaussian_process import gaussian_process_classifier, kernel_glm
from bochner.gaussian_process import latent_rows as laplace_rows
from bochner.gaussian_process.laplace import LaplacePosterior, ProfileCurvature
from bochner.gaussian_process.laplace_evidence import EvidenceSlopes

COUNTS = next(case for case in test_laplace.cases() if type(case[0]).__name__.startswith("Neg"))
labels = partial(laws.test_few_landmarks_are_calibrated, "bernoulli", "exponential", 2, 30)
counts = partial(laws.test_few_landmarks_are_calibrated, "poisson", "gaussian", 5, 60)
evidence = partial(test_residuals.test_the_mode_and_the_evidence_are_those_of_the_process, *COUNTS)
slopes = partial(test_residuals.test_slopes_of_the_evidence_are_differences, *COUNTS)


def check_curvature():
    """Newton's method with a wrong curvature is slow, and may not end."""
    try:
        evidence()
    except LinAlgError as error:
        raise AssertionError from error


def check_all_rows():
    with pytest.MonkeyPatch.context() as patch:
        processes.test_kernels_learned_on_some_rows_are_exact_on_all(
            patch, processes.LABELS, "one_vs_rest"
        )


plant_edits(LaplacePosterior, "latent", labels, counts,
    predictions_without_residuals=("covariance += (residual", "covariance += (0.0 * residual"),
)  # fmt: skip
plant_edits(landmarks, "residual_variance", evidence, users=(laplace_rows,),
    rows_without_residuals=("left = prior -", "left = 0.0 * prior -"))  # fmt: skip
plant_edits(ProfileCurvature, "of", check_curvature,
    curvatures_without_residuals=("signed = 1.0 + variance[:, None] * values",
                                  "signed = 1.0 + 0.0 * values"))  # fmt: skip
plant_edits(EvidenceSlopes, "by_log_alpha", slopes,
    residuals_do_not_depend_on_alpha=("- self.mode.variance @ self._by_variance()", ""),
)  # fmt: skip
planted(laws.test_equal_rows_share_a_residual, name="equal_rows_have_residuals_of_their_own")(
    edit(laplace_rows, "distinct_rows", "return first, row.ravel()\n    X.sort",
         "return np.arange(len(X)), np.arange(len(X))\n    X.sort")
)  # fmt: skip
plant_edits(kernel_glm.KernelGLMRegressor, "sample_y",
    test_residuals.test_draws_of_counts_have_the_residuals_of_the_predictions,
    samples_without_residuals=("* noise[row]", "* 0.0"))  # fmt: skip
plant_edits(gaussian_process_classifier, "_refit", check_all_rows,
    classes_of_another_number=("numbers == number", "numbers == 0"))  # fmt: skip
