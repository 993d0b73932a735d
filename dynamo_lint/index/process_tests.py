"""Tests that ask which process this is, or what the installed torch has: by the words in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from dynamo_lint.index.walking import nodes

RANK = re.compile(
    r"(get_|is_|global_|local_|world_|node_|dp_|tp_|ddp_|my_|proc_|process_|group_|cur_|current_)*rank"
    r"(_?zero|_?0|_id)?|is_(\w+_)?(main|master|leader|chief)\w*|(main|master|local|global)_process"
    r"|(local_)?process_index",
    re.IGNORECASE,
)
"""The names that say which of several processes runs; not the rank of a matrix, nor a stage of a pipeline."""
_VERSION = re.compile(r"hasattr|\w*version\w*|\w*_ge_\w*|\w*greater_or_equal\w*|TORCH_?\d\w*|HAS_\w+|has_\w+")
_TOGETHER = re.compile(r"distributed|\bdist\b|RANK|accelerat|fabric|main_process|horovod|deepspeed|torch_xla")
"""Text of programs of several processes: elsewhere a rank is that of a matrix."""


def tells_ranks(text: str) -> bool | None:
    """Whether the text of a file is that of a program of several processes.

    None if it can hold no such test beside the settings of torch or what it compiles.
    """
    if "compile" not in text and "_dynamo" not in text and "_inductor" not in text:
        return None
    ranks = _TOGETHER.search(text) is not None
    asks = ranks or "hasattr" in text or "ersion" in text or "except" in text
    return ranks if asks else None


def tells_rank(value: ast.expr, ranked: Collection[str]) -> bool:
    """Whether a value is a rank, or the answer of a test of one: not what is made with it, as a device."""
    match value:
        case ast.Call(ast.Name("int" | "bool"), [inner]):
            return tells_rank(inner, ranked)
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name), arguments):
            asked = name in ("get", "getenv") and any(map(_names_rank, arguments))
            return asked or RANK.fullmatch(name) is not None
        case ast.Subscript(slice=key):
            return _names_rank(key)
        case ast.Name() | ast.Attribute() | ast.Compare() | ast.BoolOp() | ast.UnaryOp():
            return kind_of_test(value, ranked, True) == "rank"
    return False


def _names_rank(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and bool(RANK.fullmatch(key.value))


def kind_of_test(test: ast.expr, ranked: Collection[str], ranks: bool) -> str:
    """`rank`, `version`, or nothing: what a test asks for.

    `ranked` are names that hold such an answer, and `ranks` says that the program has several processes.
    """
    found = ""
    for node in nodes(test):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str() as word):
                if ranks and (word in ranked or RANK.fullmatch(word)):
                    return "rank"
                if _VERSION.fullmatch(word):
                    found = "version"
    return found
