"""The rules against small programs whose comments say what is expected, through the whole static pipeline."""

import re
from pathlib import Path

import pytest

from dynamo_lint import knowledge
from dynamo_lint.findings import EFFECTS, SEVERITIES, Finding
from dynamo_lint.index.summarize import summarize
from dynamo_lint.pages import load_pages
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.rules import RULES, Context, judge
from dynamo_lint.state.tables import build
from tests.truths import THEMES, cases

CASES = Path(__file__).parent.parent / "cases"
EXPECTED = re.compile(r"# expect: (DYN\d+)(?: ([a-z-]+))?(?: entries=(\d+))?")


def lint(source: str, beside: dict[str, str] | None = None, **settings) -> list[Finding]:
    """The findings of one file and of those `beside` it, as the command line would report them."""
    texts = {"case.py": source, **(beside or {})}
    files = {path: summarize(path, path[:-3], False, text.encode()) for path, text in texts.items()}
    project, regions = resolve(files, RegionOptions())
    version = settings.get("torch_version", Context().torch_version)
    tables = build(project, regions, lambda path, *_: texts[path], version)
    return judge(tables, Context(**settings))


@pytest.mark.parametrize("path", sorted(CASES.glob("*.py")), ids=lambda path: path.stem)
def test_findings_are_exactly_those_that_the_comments_expect(path):
    source = path.read_text()
    expected = {
        (number, match[1], match[2] or "", match[3])
        for number, line in enumerate(source.splitlines(), 1)
        for match in EXPECTED.finditer(line)
    }
    counted = {(line, code) for line, code, _, entries in expected if entries}
    found = {
        (f.span.line, f.code, f.effect, str(f.entries) if (f.span.line, f.code) in counted else None)
        for f in lint(source)
    }
    assert found == expected


def test_state_that_only_looks_like_a_counter_is_quiet():
    assert not lint((CASES / "counters_quiet.py").read_text())


COUNTER = """
import torch
from torch import nn

class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x

compiled = torch.compile(Counter())
"""


def test_int_attribute_is_one_extra_compile_before_torch_2_8():
    assert [f.effect for f in lint(COUNTER, torch_version=(2, 7))] == ["once"]
    assert [f.effect for f in lint(COUNTER, torch_version=(2, 8))] == ["storm"]


def test_getenv_is_guarded_before_torch_2_9():
    source = COUNTER.replace("self.n += 1", "os.getenv('A')").replace(
        "import torch\n", "import os, torch\n", 1
    )
    assert [f.effect for f in lint(source, torch_version=(2, 8))] == ["per-value"]
    assert [f.effect for f in lint(source, torch_version=(2, 9))] == ["stale"]


def test_a_cycle_longer_than_the_recompile_limit_is_a_storm():
    source = COUNTER.replace("self.n += 1", "self.n = (self.n + 1) % 6")
    assert [(f.effect, f.severity) for f in lint(source)] == [("per-value", "warning")]
    assert [(f.effect, f.severity) for f in lint(source, recompile_limit=4)] == [("storm", "error")]


def test_a_setting_in_a_test_counts_for_what_tests_compile():
    switch = "import torch\ntorch._dynamo.config.allow_unspec_int_on_nn_module = True\n"
    assert [f.effect for f in lint(COUNTER, {"use.py": switch})] == ["once"]
    assert [f.effect for f in lint(COUNTER, {"test_use.py": switch})] == ["storm"]
    module, _, site = COUNTER.rpartition("\n\n")
    test = f"import torch\nfrom use import Counter\n{site}{switch}"
    assert [f.effect for f in lint("", {"use.py": module, "test_use.py": test})] == ["once"]


@pytest.mark.parametrize(
    ("calls", "effect"),
    [
        ("with torch._dynamo.config.patch(recompile_limit=64): step(x)", "per-value"),
        ("with torch._dynamo.config.patch(recompile_limit=64): other(x)\nstep(x)", "storm"),
        ("with torch._dynamo.config.patch(cache_size_limit=64): step(x)\nstep(x)", "storm"),
        ("with torch._dynamo.config.patch(recompile_limit=9), other: step(x)", "storm"),
        ("torch._dynamo.config.recompile_limit = 64\nstep(x)", "per-value"),
        ("options.recompile_limit = 64\nstep(x)", "storm"),
    ],
)
def test_a_recompile_limit_counts_where_it_is_in_force(calls: str, effect: str) -> None:
    source = COUNTER.replace("self.n += 1", "self.n = (self.n + 1) % 12").rpartition("\n\n")[0]
    found = lint(f"{source}\n\nstep = torch.compile(Counter())\n{calls}\n")
    assert [one.effect for one in found if one.code != "DYN511"] == [effect]


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        ("self.n += 1", "error"),
        ("if x.shape[0] > self.most: self.n += 1", "note"),
        ("if x.shape[0] > self.n: self.n = x.shape[0]", "note"),
    ],
)
def test_only_a_change_that_ends_its_own_condition_is_a_note(change: str, severity: str) -> None:
    source = f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.most = 0, 4
    def forward(self, x):
        {change}
        return x * 2 if self.n > 3 else x
run = torch.compile(Net())
"""
    assert [(f.code, f.severity) for f in lint(source)] == [("DYN101", severity)]


@pytest.mark.parametrize(
    ("made", "test", "severity"),
    [
        ("Net()", "self.mode == 'counting'", ""),
        ("Net()", "'count' in self.mode", ""),
        ("Net()", "self.mode == 'plain'", "error"),
        ("Net(mode='counting')", "self.mode in ('counting', 'both')", "error"),
        ("Net()", "self.on", ""),
        ("Net(on=True)", "self.on", "error"),
    ],
)
def test_what_no_construction_asks_for_is_quiet(made: str, test: str, severity: str) -> None:
    source = f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, mode="plain", on=False):
        super().__init__()
        self.mode = mode
        self.on = on
        self.n = 0
    def forward(self, x):
        if {test}:
            self.n += 1
        return x * (self.n + 2)
run = torch.compile({made})
"""
    assert [(f.code, f.severity) for f in lint(source)] == [("DYN101", severity)] * bool(severity)


def test_constant_lookups_are_notes_in_the_pedantic_set_only():
    source = COUNTER.replace("self.n += 1", "getattr(self, 'n')")
    assert not lint(source)
    assert [(f.code, f.severity) for f in lint(source, pedantic=True)] == [("DYN203", "note")]


def test_a_finding_carries_its_evidence():
    (found,) = lint(COUNTER)
    assert found.subject == "Counter.n"
    assert found.symbol == "case.py::Counter.forward"
    assert (found.span.line, found.span.column, found.span.end_column) == (11, 9, 20)
    assert found.region == ("case.py", 14)
    assert found.chain[-1].line == 11
    assert [(r.line, r.message) for r in found.related] == [(8, "initialised here")]
    assert found.fix is not None
    assert "register_buffer" in found.fix.message
    for sentence in (found.message, found.cost, found.fix.message):
        assert "\n" not in sentence
        assert not sentence.endswith(".")


BLOCK = """
from torch import nn

class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.windowed = config.kinds[layer_idx] == "window"
        self.scale = 2.0 if config.kinds[layer_idx] == "window" else 3.0
        self.tag = layer_idx

    def forward(self, x, cache):
        if self.windowed:
            x = x[:, : int(self.scale)]
        return x + cache[self.layer_idx] + cache[self.tag]

class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.blocks = nn.ModuleList([Block(config, i) for i in range(config.depth)])
        for block in self.blocks:
            block.compile()
"""


def test_what_differs_for_one_reason_is_one_finding_that_names_all_of_it():
    assert {(f.subject, *f.also) for f in lint(BLOCK)} == {
        ("Block.layer_idx", "Block.tag"),
        ("Block.windowed", "Block.scale"),
    }


WIDTHS = """
from torch import nn

class Block(nn.Module):
    def __init__(self, dim, window, gated):
        super().__init__()
        self.window = window
        if gated:
            self.mix = nn.Linear(dim, window)
        else:
            self.mix = nn.Bilinear(dim, dim, window)

    def forward(self, x):
        return self.mix(x[..., : self.window])

class Model(nn.Module):
    def __init__(self, dim, size, whole=(), gated=False):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, size if i not in whole else 0, gated) for i in range(4)])
        for block in self.blocks:
            block.compile()
"""


def test_what_follows_the_width_of_a_part_is_told_by_it_if_there_is_one_whichever_way():
    assert not lint(WIDTHS)
    assert not lint(WIDTHS.replace("self.mix = nn.Bilinear", "self.mix, self.other = None, nn.Bilinear"))
    without = WIDTHS.replace("nn.Bilinear(dim, dim, window)", "nn.Identity()")
    assert {f.subject for f in lint(without)} == {"Block.window"}


def test_what_comes_from_a_list_may_follow_the_width_of_a_part_that_is_only_there_sometimes():
    without = WIDTHS.replace("nn.Bilinear(dim, dim, window)", "nn.Identity()")
    assert not lint(without.replace("size if i not in whole else 0", "size[i]"))


TWO_BASES = """
import torch
from torch import nn

class Held:
    def __init__(self):
        self.table = None

    def look(self, x):
        if self.table is None:
            self.table = torch.arange(4.0)
        return x * self.table

class Other:
    def __init__(self):
        self.table = None

class Both(Held, Other):
    def __init__(self):
        Other.__init__(self)
        Held.__init__(self)

class Block(nn.Module):
    def forward(self, x, first: Held, second: Both):
        return first.look(x) + second.look(x)

run = torch.compile(Block())
first, second = Held(), Both()
for _ in range(3):
    run(torch.ones(4), first, second)
"""


def test_a_line_that_two_classes_declare_the_attribute_of_speaks_of_both():
    (found,) = lint(TWO_BASES)
    assert {found.subject, *found.also} == {"Held.table", "Other.table"}


STEPS = """
import torch
from torch import nn

class Sgd(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, dict(lr=0.1, total=0.0))
    def step(self):
        for group in self.param_groups:
            total = group["total"] = group["total"] + 0.5
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"] / total)

def main():
    layer = nn.Linear(4, 4)
    optimizer = Sgd(layer.parameters())
    @torch.compile
    def update():
        optimizer.step()
    for _ in range(12):
        layer(torch.randn(2, 4)).sum().backward()
        update()

if __name__ == "__main__":
    main()
"""


def test_an_item_of_a_container_is_named_by_the_class_that_holds_it_as_guards_know_it() -> None:
    (found,) = (found for found in lint(STEPS) if found.code.startswith("DYN10"))
    assert (found.subject, found.also) == (
        "Sgd.param_groups[...][...]",
        ("Sgd.param_groups[0]['total']",),
    )


LATCH = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ready = dict.fromkeys(range(1), False)
        self.size = dict.fromkeys(range(1), 0)

    def forward(self, x, index, size):
        if not self.ready[index]:
            self.size[index] = x.shape[-1]
            self.ready[index] = True
        return x[: self.size[index]]

run = torch.compile(Block())
for i in range(3):
    run(torch.ones(3), 0, 2)
"""


def test_what_is_stored_while_a_latch_closes_is_told_by_the_latch():
    assert {(f.subject, f.severity) for f in lint(LATCH)} == {("Block.ready[...]", "note")}


ADDED = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = None

    def forward(self, x):
        before = self.held
        {body}
        return before

model = Model()
compiled = torch.compile(model)

def begin(x):
    model.held = x
"""


def test_what_is_only_added_to_was_a_tensor_before():
    assert not lint(ADDED.format(body="self.held = torch.cat([self.held, x])"))


def test_what_is_added_to_after_a_test_for_none_is_told():
    body = "self.held = x if self.held is None else torch.cat([self.held, x])"
    assert [f.code for f in lint(ADDED.format(body=body))] == ["DYN103"]


def test_columns_count_code_points():
    source = COUNTER.replace("self.n += 1", "é = 'ü'; self.n += 1")
    (found,) = lint(source)
    assert (found.span.line, found.span.column) == (11, 18)


def test_effects_and_severities_are_those_of_the_interface():
    for path in CASES.glob("*.py"):
        for found in lint(path.read_text()):
            assert found.effect in EFFECTS or load_pages()[found.code].is_static
            assert found.severity in SEVERITIES


def test_columns_count_characters_not_bytes():
    (found,) = lint('import torch\nmodel = torch.nn.Linear(1, 1)\nwho = "é"; torch.compile(model)\n')
    assert (found.code, found.span.column, found.span.end_column) == ("DYN501", 12, 32)


def test_every_rule_is_seen_in_some_case():
    codes = {found.code for path in CASES.glob("*.py") for found in lint(path.read_text())}
    codes |= {claim.code for theme in THEMES for case in cases(theme) for claim in case.expected}
    static = {code for code, page in load_pages().items() if page.is_static}
    assert codes - static == {rule.code for rule in RULES} - static


def test_rules_are_listed_once_and_in_order():
    first, *codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert first == "DYN501"  # the others ask it which compiled code nobody calls


SET_UP = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.length = self.most = 0

    def set_up(self, length):
        if {enough}:
            return
        self.length = length

    def forward(self, x):
        return x[: self.length]

model = Model()
run = torch.compile(model)
for length in (3, 5, 7, 9):
    model.set_up(length)
    run(torch.ones(9))
"""


@pytest.mark.parametrize(
    ("enough", "severity"), [("self.length >= length", "warning"), ("self.most >= length", "warning")]
)
def test_what_is_set_only_where_it_does_not_suffice_is_a_note(enough: str, severity: str) -> None:
    assert {one.severity for one in lint(SET_UP.format(enough=enough)) if one.code == "DYN102"} == {severity}


LONGEST = """
import torch
from torch import nn

class Rotary(nn.Module):
    def __init__(self, longest=2048):
        super().__init__()
        self._build(longest)

    def _build(self, length):
        self.longest = length
        self.register_buffer("table", torch.arange(length), persistent=False)

    def forward(self, x, length=None):
        if self.longest is None or length > self.longest:
            self._build(length)
        return x + self.table[:length]

compiled = torch.compile(Rotary())
"""


def test_what_is_compared_with_the_number_it_replaces_is_a_number():
    assert [(f.subject, f.effect) for f in lint(LONGEST)] == [("Rotary.longest", "once")]


def test_a_stored_value_of_unknown_kind_is_quiet():
    assert not lint(LONGEST.replace(" or length > self.longest", ""))
    assert not lint(LONGEST.replace("length > self.longest", "self.table is None"))


CONFIGURED = """
import torch
from torch import nn

class Config:
    def finish(self):
        self.window = 4

class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x if getattr(self.config, "window", None) else x * 2

compiled = torch.compile(Block(Config()))
"""


def test_a_lookup_on_a_configuration_that_only_set_up_code_fills_is_quiet():
    assert not lint(CONFIGURED)
    assert [f.severity for f in lint(CONFIGURED, pedantic=True)] == ["note"]


@pytest.mark.parametrize(
    ("start", "body", "advice"),
    [
        (
            "0",
            "self.n += 1",
            "torch.zeros((), dtype=torch.long), persistent=False)` in `__init__`, and update it in",
        ),
        ("100", "self.n -= 1", "torch.tensor(100, dtype=torch.long), persistent=False)"),
        ("start_of_run()", "self.n = 1 if self.n is None else self.n + 1", ""),
        ("0.5", "self.n = self.n * 0.9; x = x * self.n", "and rebind it instead of updating it in place"),
        ("0", "self.n += 1; x = x if self.n % 2 else -x", "select with `torch.where`"),
    ],
)
def test_the_way_out_fits_the_start_and_the_use(start, body, advice):
    found = lint(COUNTER.replace("self.n = 0", f"self.n = {start}").replace("self.n += 1", body))
    assert all(advice in f.fix.message for f in found)
    assert bool(found) == bool(advice)


QUEUE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.todo = [torch.ones(4) for _ in range(20)]

    def forward(self, x):
        return x * self.todo.pop()

model = Model()
step = torch.compile(model)
for _ in range(12):
    step(torch.ones(4))
"""


def test_a_list_that_is_used_up_is_a_storm():
    assert [(f.subject, f.effect) for f in lint(QUEUE)] == [("Model.todo", "storm")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    step(", "    model.todo.append(torch.ones(4))\n    step("),
        ("    step(", "    model.todo = [torch.ones(4)]\n    step("),
        ("[torch.ones(4) for _ in range(20)]", "{}"),
        ("return x * self.todo.pop()", "return x * self.todo[-1]"),
    ],
    ids=["filled up again", "bound anew", "a dict", "only looked at"],
)
def test_a_list_that_others_fill_is_quiet(old, new):
    assert not lint(QUEUE.replace(old, new))


LEFT_OVER = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.clear()
        self.losses.append(x.mean())
        return x * 2

step = torch.compile(Model())
"""


def test_what_the_next_call_empties_is_one_extra_compile():
    assert [(f.code, f.effect, f.severity) for f in lint(LEFT_OVER)] == [("DYN105", "once", "note")]


def test_a_list_that_is_empty_between_calls_or_begins_anew_is_quiet():
    assert not lint(LEFT_OVER.replace("return x", "self.losses.clear()\n        return x"))
    assert not lint(LEFT_OVER.replace("self.losses.clear()", "self.losses = []"))


ONE_LINE = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.eager = self.calls = 0

    def forward(self, x):
        if not torch.compiler.is_compiling(): self.eager += 1
        else:
            self.calls += 1
        return x * 2

step = torch.compile(Model())
"""


def test_the_else_of_a_dead_branch_on_one_line_is_traced():
    assert [f.subject for f in lint(ONE_LINE) if f.code == "DYN101"] == ["Model.calls"]


@pytest.mark.parametrize("test", ["torch.jit.is_tracing()", "torch.jit.is_scripting() and x.ndim", "False"])
def test_a_branch_that_is_dead_while_compiling_is_quiet(test):
    source = ONE_LINE.replace("not torch.compiler.is_compiling()", test).replace("self.calls += 1", "pass")
    assert not [f for f in lint(source) if f.code == "DYN101"]


DECORATED = """
from torch import nn
from vllm.compilation.decorators import support_torch_compile

{decorator}
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls
"""


def test_state_behind_a_decorator_that_keeps_no_guard_is_stale():
    (finding,) = lint(DECORATED.format(decorator="@support_torch_compile"))
    assert (finding.code, finding.effect, finding.subject) == ("DYN303", "stale", "Block.calls")


@pytest.mark.parametrize("decorator", ["", "@register", "@support.torch_compile"])
def test_without_that_decorator_nothing_is_stale(decorator):
    assert lint(DECORATED.format(decorator=decorator)) == []


MODES = """
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, x):
        return x * 2 if self.training else x * 3

model = torch.compile(Model())

def train(x):
    model(x).sum().backward()

def validate(x):
    with torch.no_grad():
        model(x)

for _ in range(3):
    train(torch.ones(2, requires_grad=True))
    validate(torch.ones(2, requires_grad=True))
"""


def test_a_mode_that_flips_has_a_chain_and_names_both_states_with_their_lines():
    (found,) = (one for one in lint(MODES) if one.code == "DYN110")
    assert found.message == (
        "gradient mode differs between calls of the compiled `Model.forward`, which is called with gradients "
        "at line 12 and under `no_grad` at line 16, and Dynamo guards on it"
    )
    assert [(step.line, step.note) for step in found.chain] == [
        (9, "compiled here"),
        (12, "called with gradients"),
        (16, "called under `no_grad`"),
        (15, "changes gradient mode"),
    ]


def test_a_flag_that_flips_has_a_chain_and_names_both_values_with_their_lines():
    flips = MODES.replace("    with torch.no_grad():\n        model(x)", "    model.eval()\n    model(x)")
    flips = flips.replace("    model(x).sum()", "    model.train()\n    model(x).sum()")
    (found,) = (one for one in lint(flips) if one.code == "DYN110")
    assert (
        "`self.training` changes between calls of the compiled `Model.forward`, from `True` to"
        in found.message
    )
    assert (found.chain[0].line, found.chain[0].note) == (9, "compiled here")
    assert (12, "set to `True` here") in [(one.line, one.message) for one in found.related]
    assert found.span.line == 16


def test_what_a_line_does_and_why_it_breaks_say_no_clause_twice():
    reasons = knowledge.table("break_rules")
    rows = knowledge.table("graph_breaks")["row"]
    assert rows
    for row in rows:
        why = reasons.get(row["code"], {}).get("why")
        assert not why or why not in row["does"], row["does"]


INHERITED = """
import torch
from torch import nn

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.part(x)

class One(Base):
    def part(self, x):
        return x + 1

class Two(Base):
    def part(self, x):
        return x + 2

one = torch.compile(One())
"""


def test_what_several_compiled_classes_inherit_is_named_by_its_class_with_their_number():
    (alone,) = (one for one in lint(INHERITED) if one.code == "DYN101")
    assert "the compiled `One.forward`" in alone.message
    both = lint(INHERITED + "two = torch.compile(Two())\n")
    (shared,) = (one for one in both if one.code == "DYN101")
    assert "the compiled `Base.forward`" in shared.message
    assert (10, "runs for 2 compiled classes") in [(one.line, one.message) for one in shared.related]
