"""What the fixes leave alone: a wrong edit is worse than none, so each declined case has its sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.searches import speaks_of
from tests.fixes.fixing import fix_files, fix_text, fixed

MODULE = """\
import os
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, start=None):
        super().__init__()
        self.n = {start}
        self.table = None
        self.lin = nn.Linear(4, 4)

    def forward(self, x, flag=False):
        {body}
        return self.lin(x)


{rest}
model = Model()
compiled = torch.compile(model)
"""


def program(body: str, start: str = "0", rest: str = "") -> str:
    return MODULE.format(body=body.replace("\n", "\n        "), start=start, rest=rest)


DECLINED = {
    "a number in a branch stays": ("self.n += 1\nif self.n % 4 == 0:\n    x = -x", "0", ""),
    "a number in a loop stays": ("self.n += 1\nfor _ in range(self.n):\n    x = x * 2", "0", ""),
    "a number that indexes a list stays": ("self.n += 1\nx = x + [1, 2][self.n]", "0", ""),
    "a number that slices a tensor stays": ("self.n += 1\nx = x[: self.n]", "0", ""),
    "a number in a compiled text stays": ("self.n += 1\ny = f'{self.n}'\nself.lin.tag = y", "0", ""),
    "a number that is handed on stays": ("self.n += 1\nself.note(self.n)", "0", ""),
    "a number that is returned stays": ("self.n += 1\nif x.ndim:\n    return self.n", "0", ""),
    "a number in a condition through a local stays": (
        "n = self.n + 1\nself.n = n\nif n > 3: x = -x",
        "0",
        "",
    ),
    "a number compared with a variable by max stays": ("self.n = max(self.n, x.shape[0])", "0", ""),
    "a number that math takes stays": ("import math\nself.n += 1\nx = x * math.sqrt(self.n)", "0", ""),
    "a string stays": ("self.n = self.n + '.'", "''", ""),
    "a number that is deleted stays": ("self.n += 1", "0", "def drop(model: Model):\n    del model.n\n\n"),
    "a number that is looked up by name stays": (
        "self.n += 1",
        "0",
        "def read(model: Model):\n    return getattr(model, 'n')\n\n",
    ),
    "a number whose identity is asked stays": (
        "self.n += 1",
        "0",
        "def read(model: Model):\n    return model.n is None\n\n",
    ),
    "a number that somebody sets to something unknown stays": (
        "self.n += 1",
        "0",
        "def put(model: Model, value):\n    model.n = value\n\n",
    ),
    "a number that is set on a computed object stays": (
        "self.n += 1",
        "0",
        "def make() -> Model: ...\n\n\ndef put():\n    make().n = 0\n\n",
    ),
    "a bool that is subtracted stays": ("self.n = not self.n\nx = x - self.n", "False", ""),
    "a comparison that is subtracted stays": ("self.n += 1\nx = x * (1 - (self.n > 3))", "0", ""),
    "a number that is an exponent of an integer stays": ("self.n -= 1\nx = x * 2**self.n", "0", ""),
    "a sum with dimensions stays": (
        "self.n = x if self.n is None else self.n + x",
        "None",
        "",
    ),
    "a sum of counts stays": ("self.n = self.n + (x > 0).sum()", "0", ""),
    "a last value that is not a sum stays": (
        "before = self.n\nself.n = x.mean()\nif before is not None: x = x - before",
        "None",
        "",
    ),
    "a variable that the project sets stays": (
        "if os.environ.get('FIXES_A') == '1':\n    x = x * 2",
        "0",
        "os.environ['FIXES_A'] = '1'\n",
    ),
    "a variable that the project removes stays": (
        "if 'FIXES_A' in os.environ:\n    x = x * 2",
        "0",
        "os.environ.pop('FIXES_A', None)\n",
    ),
    "a variable with a computed name stays": ("x = x * float(os.environ.get('A' + str(flag), 1))", "0", ""),
    "a variable that may be missing under a condition stays": (
        "if flag:\n    x = x * int(os.environ['FIXES_A'])",
        "0",
        "",
    ),
    "a table that depends on the input stays": (
        "if self.table is None:\n    self.table = torch.arange(x.shape[0])",
        "0",
        "",
    ),
    "a table that depends on weights stays": (
        "if self.table is None:\n    self.table = self.lin.weight * 2",
        "0",
        "",
    ),
    "a random table stays": ("if self.table is None:\n    self.table = torch.rand(4)", "0", ""),
    "a table that somebody clears stays": (
        "if self.table is None:\n    self.table = torch.arange(4.0)",
        "0",
        "def clear(model: Model):\n    model.table = None\n\n",
    ),
}


@pytest.mark.parametrize("title", DECLINED)
def test_declined(title: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(program(*DECLINED[title]))
    done = fixed(tmp_path)
    assert (done.files, done.refused) == ({}, ())
    assert done.report.findings


def test_a_class_that_reaches_its_attributes_by_other_means_is_left_alone(tmp_path: Path) -> None:
    plain = program("self.n += 1")
    assert fix_text(tmp_path / "plain", plain) != plain
    for number, line in enumerate(
        (
            "def __setattr__(self, name, value): super().__setattr__(name, value)",
            "def __getstate__(self): return self.__dict__",
            "def load(self, state): vars(self).update(state)",
            "n = 3",
        )
    ):
        text = plain.replace("    def forward", f"    {line}\n\n    def forward")
        assert fix_text(tmp_path / str(number), text) == text


def test_a_number_that_is_set_before_its_buffer_would_be_there_is_left_alone(tmp_path: Path) -> None:
    early = program("self.n += 1").replace("self.n = 0", "self.reset()\n        self.n = 0")
    early = early.replace("    def forward", "    def reset(self):\n        self.n = 0\n\n    def forward")
    assert fix_text(tmp_path / "method", early) == early
    rest = "class Heir(Model):\n    def __init__(self):\n        self.n = 1\n        super().__init__()\n\n"
    heir = program("self.n += 1", "0", rest)
    assert fix_text(tmp_path / "heir", heir) == heir
    late = heir.replace(
        "        self.n = 1\n        super().__init__()", "        super().__init__()\n        self.n = 1"
    )
    assert "self.n.fill_(1)" in fix_text(tmp_path / "late", late)


def test_a_name_that_several_classes_use_is_left_alone_where_nobody_knows_whose_it_is(tmp_path: Path) -> None:
    model = program("self.n += 1")
    other = "class Other:\n    def __init__(self):\n        self.n = 0\n"
    reader = "def read(thing):\n    return thing.n\n"
    assert "reader.py" in fix_files(tmp_path / "one", model=model, reader=reader)
    assert not fix_files(tmp_path / "two", model=model, reader=reader, other=other)


def test_a_guess_by_name_is_unsafe(tmp_path: Path) -> None:
    model = program("self._n += 1").replace("self.n = 0", "self._n = 0")
    assert fix_files(tmp_path / "one", unsafe=False, model=model)
    reader = "def read(thing):\n    return thing._n\n"
    assert not fix_files(tmp_path / "two", unsafe=False, model=model, reader=reader)


@pytest.mark.parametrize(
    "line",
    [
        "model = Model().to_empty(device='cpu')",
        "result = torch.func.functional_call(Model(), {}, ())",
        "from torch.utils.checkpoint import checkpoint",
    ],
)
def test_what_a_buffer_would_meet_elsewhere_in_the_project_makes_the_fix_unsafe(
    line: str, tmp_path: Path
) -> None:
    model = program("self._n += 1").replace("self.n = 0", "self._n = 0")
    other = f"from model import Model\n{line}\n"
    assert not fix_files(tmp_path / "safe", unsafe=False, model=model, other=other)
    assert fix_files(tmp_path / "unsafe", model=model, other=other)


def test_a_sum_that_is_trained_on_is_left_alone_under_distributed_data_parallel(tmp_path: Path) -> None:
    body = "loss = x.mean()\nself.n = loss if self.n is None else self.n + loss"
    rest = "def step(model: Model):\n    model.n.backward()\n    model.n = None\n\n"
    text = program(body, "None", rest)
    assert fix_text(tmp_path / "one", text) != text
    text = "from torch.nn.parallel import DistributedDataParallel\n" + text
    assert fix_text(tmp_path / "many", text) == text


def test_a_constant_lookup_is_an_access_where_a_missing_attribute_fails_either_way(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_text("")
    text = program("x = x * getattr(self, 'gain') + getattr(self, 'n', 1) + getattr(self, 'late', 1)", "2.0")
    text = text.replace("self.table = None", "self.gain = 1.0")
    (tmp_path / "model.py").write_text(text)
    done = fixed(tmp_path, unsafe=False, pedantic=True)
    assert "x = x * self.gain + self.n + getattr(self, 'late', 1)" in done.files["model.py"].decode()


def test_an_attribute_that_another_file_reads_as_well_is_read_directly(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_text("")
    (tmp_path / "model.py").write_text(program("x = x * getattr(self, 'n', 1)", "2.0"))
    (tmp_path / "other.py").write_text("from model import Model\n\ndef show():\n    print(Model().n)\n")
    done = fixed(tmp_path, unsafe=False, pedantic=True)
    assert list(done.files) == ["model.py"]
    assert "x = x * self.n" in done.files["model.py"].decode()


@pytest.mark.parametrize(
    "text",
    [
        "x.n",
        "x.n = 1",
        "x .\\\n  n",
        "(x.  # see below.\n  # and here\n n)",
        "getattr(x, 'n')",
        'getattr(x, "n")',
        "x.n.m",
        "x.nn, y.n",
    ],
)
def test_a_file_that_may_speak_of_an_attribute_is_looked_into(text: str) -> None:
    assert speaks_of(b"n", text.encode())


@pytest.mark.parametrize("text", ["n", "n = x", "x.nn", "x.n_", "x.né", "'n", "x.m  # n", "in n", "x. # n"])
def test_a_file_that_only_has_a_word_like_an_attribute_is_not_opened(text: str) -> None:
    assert not speaks_of(b"n", text.encode())


DEFAULT = """\
import torch
from torch import nn


class Model(nn.Module):
    n = 0

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        self.n += 1
        return self.lin(x)


model = Model()
compiled = torch.compile(model)
"""


@pytest.mark.parametrize(
    "more",
    [
        "other = Model.__new__(Model)",
        "class Heir(Model):\n    def __init__(self):\n        nn.Module.__init__(self)",
        "class Heir(Model):\n    def __init__(self):\n        print(self.n)\n        super().__init__()",
        "class Heir(Model):\n    n = 3",
        "print(Model.n)",
    ],
)
def test_a_default_of_the_class_stays_where_an_instance_may_still_need_it(tmp_path: Path, more: str) -> None:
    assert "register_buffer" in fix_text(tmp_path / "plain", DEFAULT)
    text = f"{DEFAULT}\n\n{more}\n"
    assert fix_text(tmp_path / "more", text) == text


MIXIN = """\
import torch
from torch import nn


class Counting:
    def __init__(self):
        super().__init__()
        self.n = 0


class Model(Counting, nn.Module):
    def forward(self, x):
        self.n += 1
        return x * 2


compiled = torch.compile(Model())
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(Counting, nn.Module)", "(nn.Module, Counting)"),
        ("compiled =", "alone = Counting()\ncompiled ="),
        ("compiled =", "class Other(Counting):\n    pass\n\n\ncompiled ="),
        ("class Counting:", "class Counting(dict):"),
        (
            "    def forward",
            "    def __init__(self):\n        Counting.__init__(self)\n        nn.Module.__init__(self)\n\n"
            "    def forward",
        ),
        ("        super().__init__()\n", ""),
    ],
)
def test_a_class_that_is_mixed_into_more_than_modules_has_no_buffers(
    tmp_path: Path, old: str, new: str
) -> None:
    assert "register_buffer" in fix_text(tmp_path / "plain", MIXIN)
    text = MIXIN.replace(old, new)
    assert fix_text(tmp_path / "other", text) == text


@pytest.mark.parametrize(
    "line",
    [
        "m, self.n = 4, m",
        "self.n, self.m = 0, self.n",
        "self.n, *self.m = 0, 1, 2",
        "self.n, self.m = make()",
        "self.n = self.m = make()",
        "(self.n, self.m), k = (0, 1), 2",
        "m = 1; self.n, self.m = 0, 0",
        "self.n, self.m = (  # a word\n            0, 0)",
    ],
)
def test_a_line_that_sets_several_things_stays_where_the_order_may_matter(tmp_path: Path, line: str) -> None:
    rest = "def make() -> int:\n    return 1\n\n\n"
    reset = "    def forward(self, x, flag=False):"
    text = program("self.n += 1", "0", rest)
    assert "register_buffer" in fix_text(tmp_path / "plain", text)
    text = text.replace(reset, f"    def reset(self, m: int = 3):\n        {line}\n\n{reset}")
    assert fix_text(tmp_path / "other", text) == text


@pytest.mark.parametrize(
    "more",
    [
        "for one in (Model(), Other()):\n    one.n = 3",
        "Other.n = 3\nfor one in (Model(), Other()):\n    print(one.n)",
        "class Other(Other):\n    def __getattr__(self, name): return 3\n\n\n"
        "for one in (Model(), Other()):\n    print(one.n)",
    ],
)
def test_an_object_of_two_classes_is_the_one_that_has_the_attribute(tmp_path: Path, more: str) -> None:
    rest = "class Other(nn.Module):\n    pass\n\n\n"
    text = program("self.n += 1", "0", rest)
    read = f"{text}for one in (Model(), Other()):\n    print(one.n)\n"
    assert "print(int(one.n))" in fix_text(tmp_path / "plain", read)
    text = f"{text}{more}\n"
    assert fix_text(tmp_path / "other", text) == text
