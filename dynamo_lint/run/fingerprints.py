"""The order of findings, and the fingerprint of each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from dynamo_lint.findings import Finding


def position(finding: Finding) -> tuple[str, int, int, str]:
    """Findings are listed in this order."""
    return finding.span.path, finding.span.line, finding.span.column, finding.code


def with_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """Number equal findings in line order, so that a fingerprint survives edits elsewhere in the file."""
    seen: Counter[tuple[str, ...]] = Counter()
    done = []
    for finding in sorted(findings, key=position):
        identity = (finding.code, finding.span.path, finding.symbol, finding.subject)
        text = "\0".join((*identity, str(seen[identity])))
        seen[identity] += 1
        digest = hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=8).hexdigest()
        done.append(replace(finding, fingerprint=digest))
    return done
