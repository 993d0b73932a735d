"""File roles: code that only tests compile or make is not what users compile."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text

# --- branches of code that tests compile ----------------------------------------------------------------

LIB = """
def pack(x): return x
def mask(x): return x
class Net(nn.Module):
    def __init__(self, ragged=False):
        super().__init__()
        self.ragged = ragged
    def forward(self, x):
        {body}
        return x
"""
TEST = "from lib import Net\nfast = torch.compile(Net())\n"
IF = "if self.ragged: x = pack(x)"
CHOICES = [
    IF,
    "if len(x) > 9: pass\n        else: x = pack(x)",
    "try: x = x + 1\n        except TypeError: x = pack(x)",
]


def compiled(body: str, **files: str) -> dict[str, str]:
    sources = {"lib.py": LIB.format(body=body), "test_net.py": TEST}
    return hot(sources | {f"{name}.py": text for name, text in files.items()})


@pytest.mark.parametrize("body", CHOICES)
def test_a_branch_of_code_that_only_a_test_compiles_is_not_compiled(body: str) -> None:
    assert compiled(body) == {"lib.py::Net.forward": "likely"}


@pytest.mark.parametrize("body", CHOICES)
def test_a_branch_of_code_that_a_user_compiles_is_compiled(body: str) -> None:
    found = compiled(body, main="from lib import Net\nfast = torch.compile(Net())\n")
    assert found == {"lib.py::Net.forward": "certain", "lib.py::pack": "certain"}


@pytest.mark.parametrize(
    "body", ["x = pack(x)", "for _ in range(2): x = pack(x)", f"{IF}\n        x = pack(x)"]
)
def test_what_runs_in_every_test_is_likely(body: str) -> None:
    assert compiled(body) == {"lib.py::Net.forward": "likely", "lib.py::pack": "likely"}


def test_what_a_branch_leads_to_is_not_compiled_either() -> None:
    assert compiled(f"{IF}\n        x = mask(x)") == {
        "lib.py::Net.forward": "likely",
        "lib.py::mask": "likely",
    }


def test_the_branches_of_a_test_are_those_that_it_takes_for_some_case() -> None:
    test = "from lib import mask, pack\n@torch.compile\ndef f(x, long):\n    return pack(x) if long else mask(x)\n"
    test += "@torch.compile\ndef g(x, long):\n    if long:\n        x = pack(x)\n    return x\n"
    found = hot({"lib.py": LIB.format(body="pass"), "test_net.py": test})
    assert found["lib.py::pack"] == found["lib.py::mask"] == "likely"


def test_a_branch_of_tested_code_is_assumed_where_guesses_are_asked_for() -> None:
    found = hot({"lib.py": LIB.format(body=IF), "test_net.py": TEST}, guesses=True)
    assert found == {"lib.py::Net.forward": "likely", "lib.py::pack": "possible"}


ACTS = """
def relu(x): return x
class Net(nn.Module):
    def __init__(self, act=relu):
        super().__init__()
        self.act = act
    def forward(self, x): return self.act(x)
def speed_up(net): return torch.compile(net)
"""
DECLARED = (
    "from torch import compile\nfrom lib import Net\nnet = Net()\n@compile\ndef run(x): return net(x)\n"
)
OWN = "from lib import Net, speed_up\ndef fake(x): return x\n"


@pytest.mark.parametrize(
    "main", [DECLARED, "import torch\nfrom lib import Net\nfast = torch.compile(Net())\n"]
)
def test_what_a_test_puts_into_a_module_is_not_run_by_what_users_compile(main: str) -> None:
    test = OWN + "def test_act(x): Net(fake)(x)\n"
    found = set(hot({"lib.py": ACTS, "main.py": main, "test_net.py": test}))
    assert "lib.py::relu" in found
    assert "test_net.py::fake" not in found


TRIED = """
def double(x): return x * 2
def main(): return torch.compile(double)(1)
if __name__ == "__main__":
    {code}
"""


@pytest.mark.parametrize(
    ("code", "user", "tier"),
    [
        ("fast = torch.compile(double)", "from tried import double\n", "likely"),
        ("fast = torch.compile(double)", "import other\n", "certain"),
        ("main()", "from tried import double\n", "certain"),
    ],
)
def test_what_a_file_that_others_import_tries_out_is_no_more_than_likely(
    code: str, user: str, tier: str
) -> None:
    text = TRIED.format(code=code)
    if code != "main()":
        text = text.replace("def main(): return torch.compile(double)(1)\n", "")
    assert hot({"tried.py": text, "user.py": user}) == {"tried.py::double": tier}


# --- what tests make and compile ------------------------------------------------------------------------

NET = "class Net(nn.Module):\n    def forward(self, x): return x\n"
MAIN = "from lib import Net\nfast = torch.compile(Net())\n"


@pytest.mark.parametrize(
    "path", ["test_net.py", "tests/run.py", "net_test.py", "conftest.py", "pkg/test/run.py"]
)
def test_what_tests_alone_compile_is_likely(path: str) -> None:
    assert hot({"lib.py": NET, path: MAIN}) == {"lib.py::Net.forward": "likely"}
    assert set(hot({path: "@torch.compile\ndef f(x): return x\n"}).values()) == {"likely"}


@pytest.mark.parametrize("path", ["main.py", "test.py", "testing.py", "latest_net.py", "contests/run.py"])
def test_what_other_code_compiles_is_certain(path: str) -> None:
    assert hot({"lib.py": NET, path: MAIN}) == {"lib.py::Net.forward": "certain"}


def test_a_chain_says_that_a_test_compiles() -> None:
    _, regions = resolve_text({"lib.py": NET, "test_net.py": MAIN})
    assert [hot.chain[0].note for hot in regions.hot] == ["compiled here, by a test"]


CONFIGURED = """
import torch
from hydra.utils import instantiate
def main(cfg): return torch.compile(instantiate(cfg.net))(1)
"""
NET = """
from torch import nn
class Net(nn.Module):
    def forward(self, x): return x
if __name__ == "__main__":
    Net()
"""


def test_a_file_that_a_configuration_names_belongs_to_the_program_that_reads_it() -> None:
    files = {"main.py": CONFIGURED, "nets/net.py": NET, "conf/base.yaml": "net:\n  _target_: nets.net.Net\n"}
    assert hot(files) == {"nets/net.py::Net.forward": "likely"}
    assert hot(files | {"conf/base.yaml": "net:\n  _target_: nets.other.Net\n"}) == {}
