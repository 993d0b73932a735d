"""Guesses of small values for arguments that nobody gives, by their annotations and names."""

from __future__ import annotations

import re

_COUNT = re.compile(
    r"depth|layers?$|heads?$|length|steps$|groups|num_(?!classes|emb|feat|chan|tok|in|out)|^n_|blocks|kernel|stride"
)
_WIDTH = re.compile(
    r"dim|hidden|features|channels|width|size$|_size|num_tokens|vocab|max_seq_len|classes|embd?$"
)
_SMALL = 64


def plain_value(name: str, annotation: str) -> str | None:
    """The source of a value for an argument; None for one that is no plain number or switch."""
    match annotation.rpartition(".")[2]:
        case "int":
            return "2" if _COUNT.search(name) else "16"
        case "float":
            return "0.5"
        case "bool":
            return "False"
        case "":
            if _COUNT.search(name):
                return "2"
            return "16" if _WIDTH.search(name) else None
    return None


def smaller_sizes(sizes: dict[str, int]) -> dict[str, int]:
    """Those of some numbers that set how wide or deep a model is, made smaller, all widths by one factor."""
    widest = max((size for name, size in sizes.items() if re.search("dim|emb|hidden", name)), default=0)
    factor = 1
    while widest // factor > _SMALL:
        factor *= 2
    small = {
        name: min(size, 2)
        if re.search("layer|depth", name)
        else size // factor
        if size > 4 * _SMALL
        else size
        for name, size in sizes.items()
    }
    return {name: size for name, size in small.items() if size != sizes[name]}
