"""Graph algorithms with a known name: the merge step of C3, and strongly connected components."""

from __future__ import annotations

from dynamo_lint.program.refs import ClassRef


def c3_merge(sequences: list[list[ClassRef]], ref: ClassRef) -> list[ClassRef]:
    """The orders of the bases of `ref` as one; where none is consistent, first come first served."""
    result: list[ClassRef] = []
    rest = [[item for item in sequence if item != ref] for sequence in sequences]
    while any(rest):
        rest = [sequence for sequence in rest if sequence]
        heads = [sequence[0] for sequence in rest]
        good = next((head for head in heads if not any(head in s[1:] for s in rest)), heads[0])
        result.append(good)
        rest = [[item for item in sequence if item != good] for sequence in rest]
    return result
