"""Regions: functions in a table that several files put something into, compiled by way of helpers."""

from __future__ import annotations

import pytest

from tests.programs import hot

REGISTRY = "TABLE = {}\ndef register(name):\n    def put(f):\n        TABLE[name] = f\n        return f\n    return put\n"
USE = "def run(name):\n    f = torch.compile(TABLE[name])\n    return f(1)\n"
FOUND = {"quant.py::fast": "likely"}


def found(quant: str, use: str = f"from registry import TABLE\n{USE}", **files: str) -> dict[str, str]:
    return hot(
        {"registry.py": REGISTRY, "quant.py": f"{quant}\ndef fast(x): return x\n", "use.py": use}
        | {f"{name}.py": text for name, text in files.items()}
    )


@pytest.mark.parametrize(
    "put",
    [
        "from registry import TABLE\ndef fill(): TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill():\n    for bits in (4, 8): TABLE[f'fast{bits}'] = fast",
        "import registry\ndef fill(): registry.TABLE['fast'] = fast",
        "def fill():\n    from registry import TABLE\n    TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill(): TABLE.update({'fast': fast})",
        "from again import TABLE\ndef fill(): TABLE['fast'] = fast",
    ],
)
def test_what_another_file_puts_into_a_table_is_in_it(put: str) -> None:
    assert found(put, again="from registry import TABLE") == FOUND


def test_a_table_seen_through_another_file_holds_the_same() -> None:
    put = "from registry import TABLE\ndef fill(): TABLE['fast'] = fast"
    assert found(put, f"from again import TABLE\n{USE}", again="from registry import TABLE") == FOUND


@pytest.mark.parametrize(
    "put",
    [
        "TABLE = {}\ndef fill(): TABLE['fast'] = fast",
        "from other import TABLE\ndef fill(): TABLE['fast'] = fast",
        "import other\ndef fill(): other.TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill(TABLE): TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill():\n    TABLE = {}\n    TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill(): TABLE['fast'] = fast(1)",
        "from registry import TABLE\ndef fill(): return TABLE['fast'] == fast",
        "from library import TABLE\ndef fill(): TABLE['fast'] = fast",
    ],
)
def test_what_is_put_into_another_table_is_not(put: str) -> None:
    assert found(put, other="TABLE = {}") == {}


def test_a_key_says_which_of_them_is_meant() -> None:
    put = "from registry import TABLE\ndef fill():\n    TABLE['fast'] = fast\n    TABLE['slow'] = slow"
    put += "\ndef slow(x): return x"
    use = "from registry import TABLE\ndef run():\n    f = torch.compile(TABLE['fast'])\n    return f(1)\n"
    assert found(put, use) == FOUND


TABLES = """
class Device:
    def compiled(self, f): return torch.compile(f)
def compile_late(f): return Device().compiled(f)
{functions}
TABLE = {{{rows}}}
def use(name):
    first = compile_late(TABLE[name])
    last = compile_late(final)
def final(x): return x
"""


@pytest.mark.parametrize("number", [2, 30])
def test_a_large_table_that_a_helper_of_a_helper_is_given_leaves_room_for_what_else_it_is_given(
    number: int,
) -> None:
    functions = "\n".join(f"def f{i}(x): return x" for i in range(number))
    rows = ", ".join(f"'f{i}': f{i}" for i in range(number))
    assert set(hot(TABLES.format(functions=functions, rows=rows))) == {
        *(f"f{i}" for i in range(number)),
        "final",
    }


ASKING_ITSELF = """
class Net(nn.Module):
    def forward(self, x): return x
class Table:
    kept = {}
    def fill(self, model):
        for name, module in model.named_modules():
            if name in Table.kept["names"]:
                Table.kept[name] = module
def build():
    model = nn.Sequential(Net(), Net())
    Table().fill(model)
    for name, module in model.named_modules():
        if name in Table.kept["names"]:
            module.compile()
"""


def test_a_table_that_is_filled_by_what_it_holds_itself_ends() -> None:
    assert set(hot(ASKING_ITSELF)) == {"Net.forward"}
