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


def rule_url(code: str) -> str:
    """The page of a rule; empty for a code that is none."""
    name = page_names().get(code)
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

EVIDENCE: Mapping[str, str] = {
    "finding": "A finding of the linter explains it",
    "assignment": "This line changes what was checked; no rule explains it",
    "reading": "This line reads what was checked; no line that changes it was found",
}

PROOFS: Mapping[str, str] = {
    "trace": "A trace: it tells of every compile.",
    "text": "A text log: it tells of what `TORCH_LOGS` had switched on. "
    "What is not in it may have happened all the same.",
    "none": "There is no line of torch in it: it proves nothing, not even that nothing was compiled again. "
    "Run the job with `TORCH_LOGS=recompiles,graph_breaks`, or with `TORCH_TRACE` set to a folder.",
}
"""What a log can prove."""

NOTES: Mapping[str, str] = {
    "masked": "Dynamo's first reason is not, or not alone, what makes compiled versions useless: "
    "the causes name the check that fails in the reasons after it.",
    "sizes": "Some recompiles are about the size of an input, not about state: "
    "mark that dimension as dynamic, or pad it.",
    "no-log-lines": "Not one line is from torch: the settings were off, this is the wrong file, "
    "or nothing was compiled. This is no proof of anything.",
    "recompiles-not-logged": "A limit was hit and no recompile is in the log: recompiles were not logged, "
    "so their number and reasons are not known.",
    "truncated": "The log ends in the middle of a record, so the last one is not told.",
    "head-lost": "The log starts late: the first compiles of a frame are missing, "
    "so there were more than are counted.",
    "sources-moved": "The sources have changed since the run: lines were found again by their text.",
    "ranks-diverge": "The ranks did not compile the same frames for the same reasons. "
    "A rank that compiles alone keeps the others waiting, up to the timeout of a collective.",
    "reset": "Dynamo was reset within one process, so compiles were thrown away and made again.",
}
