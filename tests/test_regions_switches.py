"""Regions: globals that start off, and that a program may turn on."""

from __future__ import annotations

import pytest

from tests.programs import hot

PROBED = """
def log(x): return x
{flag}
@torch.compile
def step(x):
    {body}
    return x
"""
SWITCHED = "probing = False\ndef probe():\n    global probing\n    probing = True"
IF = "if probing: x = log(x)"


@pytest.mark.parametrize(
    ("flag", "body"),
    [
        (SWITCHED, IF),
        (SWITCHED, "if probing and x.any(): x = log(x)"),
        (SWITCHED, "if not (not probing or x.any()): x = log(x)"),
        (SWITCHED, "if not probing: return x\n    x = log(x)"),
        (SWITCHED, "x = log(x) if probing else x"),
        ("probing = False", IF),
        ("probing = None", IF),
        ("probing = None", "if probing is not None: x = log(x)"),
    ],
)
def test_what_runs_only_while_a_switch_is_on_that_starts_off_is_likely(flag: str, body: str) -> None:
    assert hot(PROBED.format(flag=flag, body=body)) == {"log": "likely", "step": "certain"}


@pytest.mark.parametrize(
    ("flag", "body"),
    [
        (SWITCHED, "x = log(x)"),
        (SWITCHED, "if not probing: x = log(x)"),
        (SWITCHED, "if probing or x.any(): x = log(x)"),
        (SWITCHED, "if x.any(): x = log(x)"),
        (SWITCHED, "if probing: x = x + 1\n    x = log(x)"),
        (SWITCHED, "if probing: return x\n    x = log(x)"),
        (SWITCHED, "if x.any():\n        if not probing: return x\n    x = log(x)"),
        (SWITCHED, "probing = x.any()\n    if probing: x = log(x)"),
        ("probing = True", IF),
        ("probing = False\nif torch.cuda.is_available(): probing = True", IF),
        ("probing = torch.cuda.is_available()", IF),
        ("from settings import probing", IF),
        ("", IF),
    ],
)
def test_what_runs_whatever_the_switch_or_with_one_that_may_be_on_at_first_is_certain(
    flag: str, body: str
) -> None:
    assert hot(PROBED.format(flag=flag, body=body)) == {"log": "certain", "step": "certain"}
