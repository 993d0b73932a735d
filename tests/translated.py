"""What Dynamo itself translates of a program, to hold the compiled functions against.

What it was seen to translate of a program before stands, but for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

pytest.importorskip("torch")

import torch
from torch._dynamo.symbolic_convert import InstructionTranslatorBase

from tests.programs import HEADER
from tests.receipts import outcome_of, texts_of

CODE = texts_of(Path(__file__))
"""What runs a program and listens."""
NAMED = pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified name before")
"""On what asks Dynamo by qualified names."""


Translated = Callable[[str], set[str]]
"""The functions of a program that Dynamo translates, by their qualified names; a fixture of tests/conftest.py."""
PREFIX = "translated: "
"""The rows of what was asked by a test begin so."""
OURS = """
def helper(x): return x * 2
def other(x): return x + 1
"""


@contextmanager
def translations(path: Path) -> Iterator[set[str]]:
    """The functions of a file that Dynamo translates meanwhile, by their qualified names."""
    seen: set[str] = set()
    run = InstructionTranslatorBase.run

    def noted(self: Any) -> Any:
        if self.f_code.co_filename == str(path):
            seen.add(self.f_code.co_qualname)
        return run(self)

    with mock.patch.object(InstructionTranslatorBase, "run", noted):
        yield seen


COUNT = itertools.count()


def recorded(test: pytest.Function, folder: Path) -> Translated:
    """What answers a test, from the table or by a run in a folder."""
    name = PREFIX + test.nodeid.partition("/")[2]
    code = [*CODE, ("test", inspect.getsource(test.function))]

    def asked(source: str) -> set[str]:
        texts = [("m.py", HEADER + source), *code]
        return set(outcome_of(name, texts, lambda: sorted(translated(source, folder)), test.config))

    return asked


def translated(source: str, folder: Path) -> set[str]:
    """What Dynamo translates of a program when `main(x)` runs, each compile site on the eager backend."""
    path = folder / "m.py"
    path.write_text(HEADER + source)
    # Dynamo keeps what it imports by name in torch's own files, so each program has a name of its own beside
    # the one that it may look itself up by.
    names = "m", f"program{next(COUNT)}"
    module = ModuleType(names[1])
    sys.modules.update(dict.fromkeys(names, module))
    compile_ = torch.compile

    def eagerly(*arguments: Any, **keywords: Any) -> Any:
        return compile_(*arguments, **{**keywords, "backend": "eager"})

    torch._dynamo.reset()
    with mock.patch.object(torch, "compile", eagerly), translations(path) as seen:
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
        module.main(torch.ones(4))
    for name in names:
        del sys.modules[name]
    return {name for name in seen if not name.startswith("torch_dynamo_resume")}
