"""The page of a report: its sections, its numbers, and what comes from a file."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report.markup import Page
from report.studies import KINDS, build, of_groups, of_laws, of_targets, page, table

from bochner import TableRegressor
from bochner._base.number_texts import percent, with_error
from bochner.comparison.contenders import LINEAR
from bochner.comparison.verdict import calibration, verdict
from bochner.report import page as report

EVERY = ["data", "model", "errors", "calibration", "residuals", "importance", "effects",
         "diagnostics", "reproduction"]  # fmt: skip
SECTIONS = {
    "laws": [*EVERY, "predictions"],
    "times": [*EVERY, "predictions"],
    "groups": [*EVERY, "predictions"],
    "two classes": [*EVERY, "classes"],
    "26 classes": [*EVERY, "classes"],
    "file": [*EVERY, "predictions"],
    "targets": [
        *("data", "model", "importance", "reproduction", "t1-target", "t2-target"),
        *(f"t{n}-{name}" for n in (1, 2) for name in EVERY
          if name not in ("data", "model", "importance", "reproduction")),
        *("t1-predictions", "t2-predictions"),
    ],
}  # fmt: skip

MEGABYTE = 2**20


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


def plain(text):
    return text.replace("\u00a0", " ")


@pytest.mark.thorough
def test_every_section_is_there(kind):
    found = Page(page(kind))
    anchors = [section.attributes["id"] for section in found.all("section")]
    assert set(SECTIONS[kind]) <= set(anchors)
    if kind == "laws":  # What a reader asks first comes first
        order = ("errors", "importance", "effects", "predictions", "calibration", "residuals",
                 "unlike", "diagnostics", "model", "data", "reproduction")  # fmt: skip
        assert anchors == [name for name in order if name in anchors]
    for section in found.all("section"):
        content = [e for e in found.elements if section in e.ancestors]
        assert {e.tag for e in content} & {"p", "table", "figure", "dl", "section"}, section


@pytest.mark.thorough
def test_the_page_is_well_formed(kind):
    found = Page(page(kind))
    assert not found.faults
    ids = [e.attributes["id"] for e in found.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    references = [e.attributes["href"] for e in found.all("a")]
    references += [f"#{part}" for e in found.elements
                   for part in e.attributes.get("aria-labelledby", "").split()]  # fmt: skip
    assert references
    assert {reference[1:] for reference in references} <= set(ids)
    levels = [int(e.tag[1]) for e in found.elements if re.fullmatch(r"h\d", e.tag)]
    assert levels[0] == 1
    assert max(np.diff(levels)) <= 1  # No level is skipped


@pytest.mark.thorough_cases(but="laws")
def test_pictures_have_texts(kind):
    found = Page(page(kind))
    pictures = found.all("svg")
    assert len(pictures) == len(found.all("figure")) > 5
    for picture in pictures:
        assert picture.attributes["role"] == "img"
        (title, description) = (found.within(picture, tag)[0] for tag in ("title", "desc"))
        (figure,) = (e for e in picture.ancestors if e.tag == "figure")
        caption = plain(found.within(figure, "figcaption")[0].text)
        assert title.text in caption
        assert plain(description.text) in caption
        assert len(description.text) > 30
    numbers = [int(re.match(r"Figure (\d+)\.", e.text)[1]) for e in found.all("figcaption")]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.thorough_cases(but=r"laws|\btwo\b")
def test_the_page_needs_nothing_else(kind):
    text = page(kind)
    assert len(text.encode()) < MEGABYTE
    found = Page(text)
    assert not [e for e in found.elements if e.tag in ("link", "iframe", "object", "img")]
    assert all("src" not in e.attributes for e in found.elements)
    images = [e.attributes.get("xlink:href", "") for e in found.all("image")]
    assert all(image.startswith("data:image/png;base64,") for image in images)
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["laws", "two classes", "26 classes", "groups", "file"])
def test_numbers_are_those_of_the_study(kind):
    (study,) = KINDS[kind]()
    found = Page(page(kind))
    (first,) = found.all("p", **{"class": "verdict"})
    assert plain(first.text) == verdict(study)
    assert plain(found.all("p", **{"class": "second"})[0].text) == calibration(study)
    cells = {row[0]: list(map(plain, row[1:])) for row in found.table("Errors on test rows")}
    assert set(cells) == set(study.outcomes)
    for name, outcome in study.outcomes.items():
        scores = outcome.scores()
        score = scores["rmse" if study.own.classes is None else "log_loss"]
        assert cells[name][0] == with_error(score.value, score.std_error)
    shares = study.importance
    rows = [list(map(plain, row)) for row in found.table("Columns by importance")]
    assert rows == [
        [name, percent(share, error)]
        for name, share, error in zip(shares.columns, shares.share, shares.std_error, strict=True)
    ]


def test_a_reader_can_reproduce_it():
    found = Page(page("laws"))
    (section,) = found.all("section", id="reproduction")
    for text in ("bochner fit table.csv --target y", "random seed7", "Python 3.99.1", "numpy 2",
                 "182 to fit, 78 to test"):  # fmt: skip
        assert text in section.text.replace("\n", "")
    assert re.search(r"\d{4}-\d\d-\d\d", section.text)


@pytest.mark.thorough
def test_the_data_are_described():
    (section,) = Page(page("laws")).all("section", id="data")
    assert "table.csv has 260 rows and 5 columns besides the target:" in section.text
    assert "3 rows were left out." in section.text
    rows = {row[0]: row for row in Page(page("laws")).table("Columns")}
    (study,) = of_laws()
    n_missing = next(c.n_missing for c in study.table.columns if c.name == "gaps")
    assert plain(rows["gaps"][2]) == percent(n_missing / 260)
    assert rows["colour"][3] == "3"
    (section,) = Page(page("groups")).all("section", id="data")
    assert "Rows have weights in the fit" in section.text
    assert f"belong to {len(np.unique(of_groups()[0].own.clusters))} groups" in section.text


@pytest.mark.thorough
def test_each_target_has_its_own_numbers():
    found, both = Page(page("targets")), of_targets()
    verdicts = [plain(e.text) for e in found.all("p", **{"class": "verdict"})]
    assert verdicts == [verdict(study) for study in both]
    # The effects of both targets have opposite signs, and the scale of the second is twice.
    ends = {}
    for number in (1, 2):
        (section,) = found.all("section", id=f"t{number}-effects")
        (caption,) = (
            e.text for e in found.within(section, "figcaption") if "Effect of size" in e.text
        )
        ends[number] = [
            (float(value.replace("−", "-")), float(place.replace("−", "-")))
            for value, place in re.findall(r"([−\d.]+) \(at ([−\d.]+)\)", caption)
        ]
    (low, at_low), (high, at_high) = ends[1]
    assert at_low < at_high
    (other_low, at_other_low), (other_high, at_other_high) = ends[2]
    assert at_other_low > at_other_high
    assert other_high - other_low == pytest.approx(2.0 * (high - low), rel=0.3)


NASTY = [
    "<script>alert(1)</script>", "[/x] [bold]", "a\x00b\x1b[31m\x85", "‮evil\u2066", "שלום עולם",
    'quote" onload="x', "{{ 7 * 7 }} {% raw %}", "&lt;b&gt; ' $\\alpha$", "x" * 400,
]  # fmt: skip


@pytest.fixture(scope="module")
def nasty():
    frame, y = table(150)
    renamed = frame.assign(**{name: frame["size"] * (i + 1) for i, name in enumerate(NASTY)})
    renamed["colour"] = pd.Series(np.array(NASTY, dtype=object)[np.arange(150) % 3])
    renamed[NASTY[4]] = pd.Series(np.array(["אדום", "<i>x</i>", "a\x07b"])[np.arange(150) % 3])
    model = TableRegressor(effort="quick", random_state=0)
    studies = build(model, renamed, y, "regression", names=("<img src=x onerror=alert(2)>",))
    return report.html(studies)


def test_names_from_a_file_are_texts(nasty, tmp_path):
    found = Page(nasty)
    assert not found.faults
    assert len(found.all("script")) == 1
    assert not found.all("img") + found.all("i")
    assert not [e for e in found.elements if {"onload", "onerror"} & e.attributes.keys()]
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e]", nasty)
    rows = [row[0] for row in found.table("Columns")]
    assert {"<script>alert(1)</script>", "{{ 7 * 7 }} {% raw %}", "[/x] [bold]"} <= set(rows)
    assert any(row.startswith("xxx") and len(row) <= 200 for row in rows)
    path = tmp_path / "report.html"
    path.write_text(nasty, encoding="utf-8")
    assert Page(path.read_text(encoding="utf-8")).table("Columns")[0] == found.table("Columns")[0]


def test_what_is_no_report():
    with pytest.raises(ValueError, match="at least one study"):
        report.html([])
    with pytest.raises(ValueError, match="of one model"):
        report.html([*of_laws(), *of_groups()])


@pytest.mark.thorough
def test_a_model_without_importance_or_other_methods_has_a_report():
    (study,) = of_groups()
    nothing = replace(study.importance, columns=(), share=np.empty(0), std_error=np.empty(0))
    alone = {name: found for name, found in study.outcomes.items() if name != LINEAR}
    bare = replace(study, outcomes=alone, importance=nothing, interactions=nothing, record={})
    found = Page(report.html([bare]))
    assert not found.faults
    assert "depend on no column" in found.all("section", id="importance")[0].text


@pytest.mark.thorough
@pytest.mark.parametrize("lacks", [("importance", "interactions"), ("interactions",)])
def test_what_was_not_analysed_is_left_out(lacks):
    (study,) = of_laws()
    bare = report.html([replace(study, **dict.fromkeys(lacks))])
    has_importance = "importance" not in lacks
    assert ("Importance and interactions" in bare) == has_importance
    assert ("Effects of columns" in bare) == has_importance
    assert "interact most" not in bare
    for title in ("Errors", "Residuals", "Diagnostics"):
        assert title in bare
