"""The words of a finding, explained once on each page that uses them."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_lint.pages import page_names, page_url

EFFECTS: Mapping[str, str] = {
    "stale": "no guard: the old value stays in use and the result is wrong",
    "storm": "one compile per call until the limit, then the code runs eagerly",
    "eager": "the whole function runs uncompiled, often without a warning",
    "per-value": "one compile for each different value",
    "per-instance": "one compile for each layer that shares the code",
    "break": "the graph is split in two, with Python code between",
    "once": "one extra compile",
}
"""From what costs most to what costs least."""

SEVERITIES: Mapping[str, str] = {
    "error": "unbounded recompiles, code that runs eagerly, or a wrong result",
    "warning": "a bounded number of compiles, or a graph break",
    "note": "one extra compile, or a claim that lacks evidence",
}

CONFIDENCES: Mapping[str, str] = {
    "certain": "the line is compiled: every step is bound by name",
    "likely": "the line is compiled by convention, which the code does not contradict",
    "possible": "a guess, or one of many candidates",
}

VERDICTS: Mapping[str, str] = {
    "confirmed": "Dynamo did what the finding says",
    "stale": "compiled code went on with an old value",
    "refuted": "the value changed and Dynamo did not mind",
    "unobserved": "the probe did not show it either way",
}


def rule_url(code: str, name: str = "") -> str:
    """The page of a rule, which is looked for where its name is not known; empty for a code that is none."""
    name = name or page_names().get(code, "")
    return page_url(code, name) if name else ""


KINDS: Mapping[str, str] = {
    "value": "another value",
    "size": "another size",
    "requires_grad": "gradients on or off",
    "type": "another type",
    "length": "another length",
    "presence": "there or not there",
    "identity": "another object",
    "expression": "another result of an expression",
}
"""What a failed check was about, as `logs` tells it."""
