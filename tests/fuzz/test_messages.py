"""Messages on values: bounded, in one piece, and without the control characters of the value."""

import pytest
from fuzz.subjects import SUBJECTS
from fuzz.test_parameters_in_files import KINDS, QUICK, _given

LONG = {"list": [0] * 30_000, "control": "\x1b[31m\a" * 5_000}
MOST = 700
"""Characters of a message on one value: the value has sixty, choices and advice the rest."""


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough)
        for name in KINDS.values()
    ],
)
def test_messages_on_parameters(name, kind):
    subject, wrong = SUBJECTS[name], []
    for parameter in (*subject.parameters, "random_state"):
        try:
            subject.build(**{parameter: LONG[kind]}).fit(**_given(subject))
        except (ValueError, TypeError) as error:
            text = str(error)
            if len(text) > MOST or not all(char.isprintable() or char == "\n" for char in text):
                wrong.append((parameter, text[:300]))
    assert not wrong
