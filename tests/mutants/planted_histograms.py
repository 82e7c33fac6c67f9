"""Bugs of kernels of histograms and sets, and of their features."""

from functools import partial

import numpy as np
from laws import histogram_laws as laws
from laws import kernel_laws
from laws.registry import Case, of_no_sign
from mutants.registry import plant_edits, replaces

from bochner.experimental import (
    ChiSquared,
    Hashes,
    Intersection,
    JensenShannon,
    LogarithmLaw,
    Powers,
    Tanimoto,
    hash_loops,
    histogram_carriers,
)
from bochner.experimental.histogram_laws import HalfCauchy, Secant

CHI = Case(ChiSquared(shares=(1.0, 5.0)), 2, of_no_sign)
MANY = Case(Intersection(shares=(1.0, 2.0, 9.0, 4.0, 3.0)), 5, of_no_sign)
SETS = Case(Tanimoto(), 5, of_no_sign)
BITS = Case(JensenShannon(), 2, of_no_sign)
check_chi = partial(laws.check_unbiased, CHI, "orthogonal", 24)
check_few = partial(laws.check_unbiased, MANY, "orthogonal", 3, seeds=400)
check_sets = partial(laws.check_unbiased, SETS, "iid", 24)

plant_edits(
    Powers,
    "polar",
    check_chi,
    no_root=("np.sqrt(values)[:, place]", "values[:, place]"),
    roots_of_logarithms=("logs[:, place] * self.rate", "0.5 * logs[:, place] * self.rate"),
)
plant_edits(
    LogarithmLaw,
    "draw",
    check_few,
    counts_in_place_of_their_means=(">= 1.0, number, expected[column]", ">= 0.0, number, number"),
)
plant_edits(
    LogarithmLaw,
    "draw",
    check_chi,
    strata_of_their_lower_ends=("np.where(place % 2, 1.0 - starts, starts)", "0.5 * starts"),
    weights_of_equal_shares=("m / (self.dim * np.where", "1.0 + 0.0 * (self.dim * np.where"),
)
plant_edits(
    Hashes,
    "polar",
    check_sets,
    logarithms_forgotten=("np.log(rows.data)", "rows.data"),
    half_of_the_angle=("0.25 * np.pi * sine", "0.125 * np.pi * sine"),
)
plant_edits(
    hash_loops,
    "fill_signs",
    check_sets,
    users=(histogram_carriers,),
    levels_forgotten=("np.uint64(np.int64(level))", "np.uint64(0)"),
    inputs_forgotten=("_mixed(np.uint64(chosen + 1))", "_mixed(np.uint64(1))"),
    the_greatest_cost=("if cost < least:", "if -cost < least:"),
    lower_ends_of_levels=("(t - beta + 1.0)", "(t - beta)"),
)


@replaces(Secant, "radius", partial(laws.check_spectrum, ChiSquared()))
def a_spectrum_without_pi(self, uniforms, dim):
    return np.log(np.tan(0.25 * np.pi * (1.0 + uniforms[:, 0])))


@replaces(HalfCauchy, "radius", partial(laws.check_spectrum, Intersection()))
def a_cauchy_law_of_unit_scale(self, uniforms, dim):
    return np.tan(0.5 * np.pi * uniforms[:, 0])


plant_edits(
    JensenShannon,
    "of_column",
    partial(kernel_laws.check_closed_form, BITS),
    nats_for_bits=("0.5 / np.log(2.0)", "0.5"),
)
plant_edits(
    Tanimoto,
    "evaluate",
    partial(kernel_laws.check_closed_form, SETS),
    dice_for_jaccard=(
        "least, greatest = np.maximum(total - difference, 0.0), total + difference",
        "least, greatest = np.maximum(total - difference, 0.0), total",
    ),
)
