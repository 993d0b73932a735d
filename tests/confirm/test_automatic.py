"""Probes that are made for compiled regions: where their values come from, and what is said where one is lacking."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.confirm import run
from dynamo_lint.confirm.automatic import MadeProbe, document, made_probes
from dynamo_lint.confirm.model import MODES, NOTHING, SIZES, TENSORS, Reply, Request, Unit, Way
from dynamo_lint.confirm.verdicts import Verdict, tempered
from dynamo_lint.findings import Finding
from dynamo_lint.sources import Sources
from tests.programs import HEADER, resolve_text

NET = """
class Net(nn.Module):
    def __init__(self, dim, depth=1):
        super().__init__()
        self.layer = nn.Linear(dim, dim)
    def forward(self, x):
        return self.layer(x)
"""


def made(files: dict[str, str]) -> list[MadeProbe]:
    """The probes that are made of a program."""
    overlay = {path: (HEADER + text).encode() for path, text in files.items()}
    project, regions = resolve_text(files)
    return made_probes(project, regions, Sources(Path("/project"), overlay))


def probe(driver: str, net: str = NET) -> MadeProbe:
    """The only probe of a program."""
    (only,) = made({"net.py": net, "driver.py": "from net import Net\n" + driver})
    return only


def bodies(one: MadeProbe) -> str:
    """The functions of a probe as text."""
    tree = ast.parse(one.text)
    kept = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("probe_")
    ]
    return "\n".join(map(ast.unparse, kept))


def test_a_probe_constructs_and_calls_as_the_program_does() -> None:
    text = bodies(
        probe("""
def main(width=8):
    model = Net(width * 2)
    compiled = torch.compile(model, dynamic=False)
    for step in range(9):
        x = torch.randn(4, width * 2)
        compiled(x)
""")
    )
    assert "from net import Net" in text
    assert "model = Net(width * 2)" in text or "net = Net(width * 2)" in text
    assert "torch.compile(net, dynamic=False)" in text
    assert "x = torch.randn(4, width * 2)" in text


def test_a_function_that_begins_the_program_is_run_as_a_whole() -> None:
    one = probe("""
def main():
    model = torch.compile(Net(8))
    model(torch.randn(2, 8))

if __name__ == "__main__":
    main()
""")
    assert one.ways[0].once
    assert "lambda: main()" in one.text


def test_a_script_without_a_main_is_run_by_its_path() -> None:
    one = probe("model = torch.compile(Net(8))\nfor _ in range(3):\n    model(torch.randn(2, 8))\n")
    assert "runpy.run_path('/project/driver.py', run_name='__main__')" in one.text


def test_values_go_through_callers_and_attributes_of_objects() -> None:
    text = bodies(
        probe("""
class Trainer:
    def __init__(self, width):
        self.width = width
        self.model = torch.compile(Net(width))
    def step(self, rows):
        return self.model(torch.ones(rows, self.width))

def run(argv):
    trainer = Trainer(8)
    trainer.step(2)
""")
    )
    assert "trainer = Trainer(width)" in text or "trainer = Trainer(8)" in text
    assert "torch.ones(rows, trainer.width)" in text


def test_each_turn_of_a_loop_has_its_own_inputs() -> None:
    text = bodies(
        probe("""
def run(argv):
    model = torch.compile(Net(8))
    for size in (2, 3, 5):
        model(torch.ones(size, 8))
""")
    )
    assert "size = at((2, 3, 5), turn)" in text


def test_a_value_from_a_file_is_named_and_a_skeleton_is_left() -> None:
    one = probe(
        """
import json
def run(path):
    cfg = json.load(open(path))
    torch.compile(Net(cfg))(torch.ones(2, 8))
""",
        NET.replace("dim, depth", "cfg, depth").replace("dim, dim", 'cfg["dim"], 8'),
    )
    assert not one.ways
    assert any("comes from a file" in gap for gap in one.gaps)
    text = document([one], {})
    assert "def probe_Net():" in text
    assert "comes from a file" in text
    ast.parse(text)


def test_the_command_line_gives_its_defaults() -> None:
    text = bodies(
        probe("""
import argparse
def run(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden-dim", type=int, default=24)
    args = parser.parse_args()
    torch.compile(Net(args.hidden_dim))(torch.ones(2, args.hidden_dim))
""")
    )
    assert "Net(24)" in text
    assert "torch.ones(2, 24)" in text


def test_devices_are_left_out() -> None:
    text = bodies(
        probe("""
def run(argv):
    model = torch.compile(Net(8).cuda().to(device="cuda"))
    model(torch.ones(2, 8, device="cuda").to("cuda"))
""")
    )
    assert "cuda" not in text
    assert "torch.ones(2, 8)" in text


def test_parts_are_compiled_inside_of_the_module_that_has_them() -> None:
    (one,) = made(
        {
            "m.py": NET
            + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Net(8) for _ in range(3))
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def run(argv):
    model = Model()
    for layer in model.layers:
        layer.compile()
    model(torch.ones(2, 8))
"""
        }
    )
    text = bodies(one)
    assert "parts = [one for one in model.modules() if isinstance(one, Net)]" in text
    assert "part.compile()" in text


def test_the_way_that_ran_is_written_under_its_plain_name() -> None:
    one = probe("def run(argv):\n    torch.compile(Net(8))(torch.ones(2, 8))\n")
    text = document([one], {one.name: one.ways[0]})
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert [name for name in names if name.startswith("probe_")] == ["probe_Net"]
    assert "smaller" in names
    assert "guessed_input" not in names


def about(code: str) -> Finding:
    """A finding of some rule, of which nothing else matters."""
    finding: Finding = object.__new__(Finding)
    for field, value in (("code", code), ("subject", "Net.training")):
        object.__setattr__(finding, field, value)
    return finding


def test_a_probe_that_guesses_refutes_nothing() -> None:
    way = Way("probe", "origin", guessed=("the shapes of the inputs",))
    known = about("DYN101")
    refuted = tempered(Verdict(known, "refuted", "why"), way)
    assert refuted.verdict == "unobserved"
    assert "the shapes of the inputs" in refuted.why
    assert tempered(Verdict(known, "refuted", "why"), Way("probe", "origin")).verdict == "refuted"
    assert tempered(Verdict(known, "confirmed", "why", (0,)), way).verdict == "confirmed"


def test_what_a_probe_varies_itself_confirms_nothing() -> None:
    for code, varied in (("DYN110", MODES), ("DYN506", SIZES)):
        told = tempered(Verdict(about(code), "confirmed", "why", (0,)), Way("probe", "origin", (varied,)))
        assert told.verdict == "unobserved"


def test_a_break_at_what_was_guessed_to_be_a_tensor_confirms_nothing() -> None:
    known = about("DYN403")
    way = Way("probe", "origin", guessed=(f"{TENSORS} `flag` is a tensor",))
    assert tempered(Verdict(known, "confirmed", "why", (), (0,)), way).verdict == "unobserved"


def test_a_command_is_run_as_it_stands_and_its_findings_have_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "net.py").write_text(HEADER + NET)
    monkeypatch.chdir(tmp_path)
    assert cli.run(["confirm", "--", "sh", "-c", "echo ran; exit 3"]) == 3
    told = capfd.readouterr()
    assert told.out == "ran\n"
    assert "running sh -c" in told.err
    assert "0 confirmed, 0 not tested by this run" in told.err


def test_ways_to_name_probes_do_not_mix() -> None:
    for arguments in (["--write-probe", "x.py"], ["--auto", "--fixed"], ["--auto", "--", "true"]):
        assert cli.run(["confirm", *arguments]) == 2


def test_regions_of_one_program_share_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    probes = made(
        {
            "m.py": NET
            + """
class Other(Net):
    def forward(self, x):
        return x + 1

def main():
    torch.compile(Net(8))(torch.ones(2, 8))
    torch.compile(Other(8))(torch.ones(2, 8))

if __name__ == "__main__":
    main()
"""
        }
    )
    asked: list[Request] = []
    units = tuple(Unit(name, "/project/m.py", 1, {}, (), ()) for name in ("Net.forward", "Other.forward"))

    def answer(request: Request, timeout: float, python: str) -> Reply:
        asked.append(request)
        return Reply("done", receipt=replace(NOTHING, units=units), ran={}, way=request.ways[0])

    monkeypatch.setattr(run, "run", answer)
    reports = run.confirm_made(probes, (), Path("/project"), Request(), 1, "python", lambda *_: None)
    assert [report.name for report in reports] == ["probe_Net", "probe_Other"]
    assert all(report.way is not None and report.way.once for report in reports)
    assert len(asked) == 1
    assert asked[0].confined


def test_a_program_that_takes_too_long_gives_way_to_a_smaller_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    one = probe(
        "def main():\n    torch.compile(Net(8))(torch.ones(2, 8))\n\nif __name__ == '__main__':\n    main()\n"
    )

    def answer(request: Request, timeout: float, python: str) -> Reply:
        if request.once:
            return Reply("compiled", error="took longer", way=request.ways[0])
        return Reply("done", receipt=NOTHING, ran={}, way=request.ways[0])

    monkeypatch.setattr(run, "run", answer)
    (report,) = run.confirm_made([one], (), Path("/project"), Request(), 1, "python", lambda *_: None)
    assert report.way is not None
    assert not report.way.once
    assert not report.reply.error


def test_a_part_of_an_optimizer_is_reached_by_its_switches_where_its_defaults_do_not_lead_to_it() -> None:
    (one,) = made(
        {
            "sgd.py": """
class Sgd(torch.optim.Optimizer):
    def __init__(self, params, decoupled: bool = True, foreach: bool | None = None, rate: float = 0.1):
        super().__init__(params, {"foreach": foreach, "lr": rate})
        self.update = torch.compile(self.together)
    def together(self, params):
        torch._foreach_sub_(params, [p.grad for p in params])
    def step(self):
        for group in self.param_groups:
            if group["foreach"]:
                self.update(group["params"])
"""
        }
    )
    calls = [line.strip() for line in bodies(one).splitlines() if "Sgd(" in line]
    assert "sgd = Sgd(params=torch.nn.Linear(16, 16).parameters())" in calls
    assert "sgd = Sgd(params=torch.nn.Linear(16, 16).parameters(), foreach=True)" in calls
    assert not any("decoupled" in call or "rate" in call for call in calls)
    assert any("`foreach=True` for `Sgd`" in way.guessed for way in one.ways)


def test_a_function_is_reached_by_the_optimizer_or_module_whose_own_code_calls_it() -> None:
    stepped, normed = made(
        {
            "ours.py": """
@torch.compile
def balance(factors):
    for factor in factors:
        factor.mul_(0.5)

def update(group):
    balance([p.grad for p in group["params"]])

class Kron(torch.optim.Optimizer):
    def __init__(self, params, rate=0.1):
        super().__init__(params, {"lr": rate})
    def step(self):
        for group in self.param_groups:
            update(group)

@torch.compile
def scaled(x, scale):
    return x * scale

class Norm(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))
    def forward(self, x):
        return scaled(x, self.scale)
"""
        }
    )
    text = bodies(stepped)
    assert "kron = Kron(params=torch.nn.Linear(16, 16).parameters())" in text
    assert "kron.step()" in text
    assert "torch.compile(" not in text
    text = bodies(normed)
    assert "return norm(*arguments, **options)" in text
    (way,) = {way.guessed for way in normed.ways if "it runs in `Norm`" in way.guessed}
    assert "the shapes of the inputs" in way


def test_an_object_of_a_class_that_cannot_be_made_is_one_of_a_class_below_it() -> None:
    (one,) = made(
        {
            "chain.py": """
class Chain(torch.optim.Optimizer):
    def __init__(self, params, defaults, steps):
        super().__init__(params, defaults)
        self.run = torch.compile(self.chained)
    def chained(self, params):
        torch._foreach_sub_(params, [p.grad for p in params])
    def step(self):
        for group in self.param_groups:
            self.run(group["params"])

class Sgd(Chain):
    def __init__(self, params, rate=0.1):
        super().__init__(params, {"lr": rate}, [rate])
"""
        }
    )
    text = bodies(one)
    assert "sgd = Sgd(params=torch.nn.Linear(16, 16).parameters())" in text
    assert "sgd.chained = torch.compile(sgd.chained)" in text
    assert all("a `Sgd` for a `Chain`" in way.guessed for way in one.ways)


def test_a_function_whose_decorator_compiles_it_is_not_compiled_again() -> None:
    (one,) = made(
        {
            "flags.py": """
class compiled_once:
    def __init__(self, function):
        self.function, self.made = function, None
    def __call__(self, *args):
        if self.made is None:
            self.made = torch.compile(self.function)
        return self.made(*args)
""",
            "net.py": """
from flags import compiled_once

@compiled_once
def scaled(x):
    return x * 2
""",
        }
    )
    assert "return scaled(*arguments, **options)" in bodies(one)
    assert "torch.compile(" not in bodies(one)


def test_a_local_that_is_a_keyword_without_its_underline_gets_another_name() -> None:
    (one,) = made(
        {
            "net.py": NET,
            "driver.py": """
from net import Net
def main():
    _lambda = 3
    model = torch.compile(Net(8))
    model(torch.randn(_lambda, 8))
""",
        }
    )
    assert "lambda_2 = 3" in bodies(one)
