"""Which line of user code made Dynamo install a guard or give up."""

from __future__ import annotations

import ast
import re
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

import torch

from dynamo_lint.logs.texts import Frame

DEEPEST = 24
"""Frames of a stack that are kept, the innermost."""

TORCH = Path(torch.__file__).parent
STDLIB = Path(sysconfig.get_paths()["stdlib"])
COMMENT = re.compile(r"  # (?:.*  # )?\(?(\S+?):(\d+) in (\w+)")

Stacks = Mapping[str, traceback.StackSummary]
"""Text of a guard, with its comment, to the stack of the code that it is for."""


def recording(stacks: dict[str, traceback.StackSummary], original: Callable[..., Any]) -> Callable[..., Any]:
    """`get_verbose_code_parts` of torch/_dynamo/guards.py, which also notes the stack of each guard."""

    def noted(code_parts: Any, guard: Any, *rest: Any, **named: Any) -> Any:
        made = original(code_parts, guard, *rest, **named)
        if guard is not None and getattr(guard, "user_stack", None):
            for text in made if isinstance(made, list) else [made]:
                stacks[text] = guard.user_stack
        return made

    return noted


def stack_of(text: str, stacks: Stacks) -> tuple[Frame, ...]:
    """The stack that led to a guard, the outermost call first; from its comment if need be."""
    if summary := stacks.get(text):
        return tuple(Frame(one.filename, one.lineno or 0, one.name) for one in summary)[-DEEPEST:]
    if match := COMMENT.search(text):
        return (Frame(_lengthened(match[1]), int(match[2]), match[3]),)
    return ()


def user_frame(stack: tuple[Frame, ...]) -> Frame | None:
    """The innermost frame outside torch and the standard library."""
    return next((frame for frame in reversed(stack) if not library(frame.path)), stack[-1] if stack else None)


@lru_cache(maxsize=4096)
def library(path: str) -> bool:
    """A file of torch, of the standard library, or of no source at all."""
    if path.startswith("<"):
        return True
    inside = Path(path)
    if inside.is_relative_to(TORCH):
        return True
    return inside.is_relative_to(STDLIB) and "site-packages" not in inside.parts


@lru_cache(maxsize=4096)
def qualified(code: CodeType) -> str:
    """The qualified name of a function; before Python 3.11 only its source knows it."""
    known = getattr(code, "co_qualname", None)
    if known is not None:
        return str(known)
    try:
        tree = ast.parse(Path(code.co_filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return code.co_name
    return _search(tree, code, "") or code.co_name


def _search(node: ast.AST, code: CodeType, around: str) -> str:
    for child in ast.iter_child_nodes(node):
        inside = around
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            if not isinstance(child, ast.ClassDef):
                if child.name == code.co_name and first == code.co_firstlineno:
                    return around + child.name
                inside = f"{around}{child.name}.<locals>."
            else:
                inside = f"{around}{child.name}."
        if found := _search(child, code, inside):
            return found
    return ""


@lru_cache(maxsize=1024)
def _lengthened(path: str) -> str:
    """Comments lose what a path shares with the folder that torch is installed in, and the slash after it.

    Of one that shares the root alone, they lose a letter too (torch/utils/_traceback.py, shorten_filename).
    """
    first, _, rest = path.partition("/")
    tops = (top for top in Path(TORCH.anchor).iterdir() if top.name[1:] == first)
    whole = [*(folder / path for folder in TORCH.parents), *(top / rest for top in tops)]
    return next((str(one) for one in whole if one.is_file()), path)
