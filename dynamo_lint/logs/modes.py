"""Modes that findings and failed checks are about: training, gradients of a tensor, states of the process.

A change of one is no evidence for a finding about another: `model.eval()` stands beside `torch.no_grad()`,
and Dynamo names which of them it met.
"""

from __future__ import annotations

from dynamo_lint.models.drivers import AUTOCAST, GRADIENTS, NAMED, guarded_modes

TRAINING = "training"
REQUIRED = "requires_grad"
"""Of one tensor, whatever the gradient mode is."""
FLIPS = frozenset({"DYN110", "DYN509"})
"""The rules about modes."""
_OF_PROCESS = frozenset(NAMED.values())


def flipped(code: str, subject: str) -> str:
    """The mode that a finding is about; empty for a finding of another rule."""
    if code not in FLIPS:
        return ""
    last = subject.rpartition(": ")[2]
    if last in _OF_PROCESS:
        return last
    return TRAINING if last.rpartition(".")[2] == TRAINING else REQUIRED


def failed_modes(source: str, kind: str, words: str) -> frozenset[str]:
    """The modes that a failed check is about; `words` say which states of the process had changed."""
    if source == "GLOBAL_STATE":
        return guarded_modes(words)
    if kind == REQUIRED:
        return frozenset({REQUIRED})
    return frozenset({TRAINING} if source.rpartition(".")[2] == TRAINING else ())


def rule_of(mode: str) -> str:
    """The rule about a mode."""
    return "DYN110" if mode in (TRAINING, REQUIRED, GRADIENTS, AUTOCAST) else "DYN509"
