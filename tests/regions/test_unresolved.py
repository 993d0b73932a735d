"""Unresolved compile sites: what is said of one, and what makes it go away."""

from __future__ import annotations

import pytest

from dynamo_lint.lintrules import advice
from tests.programs import resolve_text
from tests.small_model import SMALL_MODEL

# --- what is reported -----------------------------------------------------------------------------------

MODEL = """
from library import build_model, Base
class Encoder(nn.Module):
    def forward(self, x): return x
class Holder(nn.Module):
    def run(self, x): return x
class Inherited(Base, nn.Module):
    def run(self, x): return x
class App:
    def __init__(self):
        self.model = build_model().cuda()
    def go(self):
        self.look = torch.compile(self.model.look)
"""


def said(code: str, **options: object) -> list[tuple[str, str]]:
    _, regions = resolve_text(MODEL + code, **options)
    return [(site.why, advice(site)) for site in regions.unresolved if "look" not in site.expression]


def test_a_module_without_a_forward_is_called_that() -> None:
    assert said("holder = Holder()\nholder.compile()") == [
        (
            "Holder defines no forward, so no code is compiled here",
            "define a forward, or compile the method that is called",
        )
    ]


def test_a_module_whose_forward_may_be_that_of_a_library_is_not_reported() -> None:
    assert said("compiled = torch.compile(Inherited())") == []


def test_what_a_library_made_needs_no_declaration() -> None:
    _, regions = resolve_text(MODEL)
    (site,) = regions.unresolved
    assert site.why == "it comes from library.build_model, which is not part of this project"
    assert advice(site).startswith("nothing to do, unless")


@pytest.mark.parametrize(
    "code", ["net = build_model()\ncompiled = torch.compile(net)", "compiled = torch.compile(build_model())"]
)
def test_the_function_of_a_library_is_named_wherever_its_value_goes(code: str) -> None:
    assert said(code)[0][0] == "it comes from library.build_model, which is not part of this project"


def test_what_no_configuration_describes_can_be_declared() -> None:
    code = "from hydra.utils import instantiate\ndef run(cfg): compiled = torch.compile(instantiate(cfg.encoder))\n"
    ((why, advice),) = said(code)
    assert (
        why
        == "hydra.utils.instantiate builds it, and no YAML or JSON file names a class of this project for it"
    )
    assert advice == 'declare what it compiles, for example: regions = ["m:Encoder"]'


SITE = "def run(encoder): return torch.compile(encoder)\n"


def test_a_class_that_is_called_like_the_target_is_suggested() -> None:
    (found,) = said(SITE)
    assert found[1] == 'declare what it compiles: regions = ["m:Encoder"]'


@pytest.mark.parametrize("name", ["encoder", "net"])
def test_the_toys_of_tests_are_suggested_to_tests_alone(name: str) -> None:
    toy = "class Encoder(nn.Module):\n    def forward(self, x): return x\n"
    site = f"def run({name}): return torch.compile({name})\n"
    _, regions = resolve_text({"pkg/run.py": site, "tests/toys.py": toy, "tests/test_run.py": site})
    ways = {one.path: advice(one) for one in regions.unresolved}
    assert "Encoder" not in ways["pkg/run.py"]
    assert "Encoder" in ways["tests/test_run.py"]


@pytest.mark.parametrize("declared", ["m:Encoder", "m:Enc*"])
def test_a_site_is_answered_by_a_declaration_of_what_it_names(declared: str) -> None:
    assert said(SITE, declared=(declared,)) == []


def test_a_site_is_not_answered_by_a_declaration_of_something_else() -> None:
    other = "class Other(nn.Module):\n    def forward(self, x): ...\n"
    assert len(said(SITE + other, declared=("m:Other",))) == 1


@pytest.mark.parametrize("keyword", ["fullgraph=True", "dynamic=False"])
def test_a_compile_method_with_the_keywords_of_torch_is_reported(keyword: str) -> None:
    code = f"def apply(model):\n    for i in range(9):\n        model.layers[i].compile({keyword})\n"
    ((why, _),) = said(code)
    assert why == "its value could not be resolved to a module or function of this project"


@pytest.mark.parametrize("arguments", ["pattern", "optimizer='adam'", "mode='fast'"])
def test_any_other_compile_method_of_something_unknown_is_not_reported(arguments: str) -> None:
    assert said(f"def apply(thing, pattern, options):\n    thing.compile({arguments})\n") == []


# --- flags ----------------------------------------------------------------------------------------------

FLAGGED = """
class Config:
    regional_compile: bool = True
class Trainer:
    def __init__(self, cfg):
        self.compile_model = cfg.compile_model
"""


def unresolved(code: str) -> list[tuple[str, tuple[str, ...]]]:
    _, regions = resolve_text(SMALL_MODEL + code)
    return [(site.expression, site.examples) for site in regions.unresolved]


def test_a_flag_that_nothing_answers_is_reported_with_a_line_that_works() -> None:
    assert unresolved(FLAGGED) == [
        ("Config.regional_compile", ("m:Block",)),
        ("Trainer.compile_model", ("m:Block",)),
    ]
    _, regions = resolve_text(SMALL_MODEL + FLAGGED, declared=("m:Block",))
    assert {one.function.id for one in regions.hot} == {"m.py::Block.forward", "m.py::helper"}
    assert regions.unresolved == ()


@pytest.mark.parametrize(
    "code",
    [
        FLAGGED + "Model().compile()",
        FLAGGED + "@torch.compile\ndef f(x): return x",
        "class Config:\n    recompile: bool = True\n    torch_compiled = 1",
        "regional_compile = True\ncompile_model = False",
        "def run(torch_compile=True): return torch_compile",
    ],
)
def test_a_flag_beside_an_entry_and_other_names_are_quiet(code: str) -> None:
    assert unresolved(code) == []


# --- unknown targets ------------------------------------------------------------------------------------


def test_an_unknown_target_is_reported_with_its_reason() -> None:
    _, regions = resolve_text("table = {}\nfn = torch.compile(table[name])\n")
    (site,) = regions.unresolved
    assert (site.line, site.expression) == (4, "torch.compile(table[name])")
    assert regions.entries == ()


# --- missing targets ------------------------------------------------------------------------------------


def test_a_target_that_does_not_exist_is_reported_with_the_names_it_may_mean() -> None:
    _, regions = resolve_text("""
        class ImageEncoder(nn.Module):
            def forward(self, x): return x
        class Model(nn.Module):
            def __init__(self, image_encoder):
                super().__init__()
                self.image_encoder = image_encoder
                self.image_encoder.forward = torch.compile(self.image_encoder.forward)
        step = torch.compile(gone)
    """)
    found = {site.expression: site.candidates for site in regions.unresolved}
    assert found == {
        "torch.compile(self.image_encoder.forward)": ("m:ImageEncoder",),
        "torch.compile(gone)": (),
    }


# --- skipped sites --------------------------------------------------------------------------------------

KNOWN = """
import functools, re
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention
from library import Base
class Inherited(Base, nn.Module):
    def run(self, x): return x
class Own(nn.Module):
    def forward(self, x): return x
    def compile(self): self.step = torch.compile(self.forward)
class Net(nn.Module):
    def forward(self, x): return x
"""


def skipped(code: str, **options: object) -> list[tuple[str, str]]:
    _, regions = resolve_text(KNOWN + code, **options)
    assert not regions.unresolved
    return [(site.expression, site.why) for site in regions.skipped]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("f = torch.compile(F.linear)", "torch.nn.functional.linear is not part of this project"),
        (
            "f = torch.compile(flex_attention)",
            "torch.nn.attention.flex_attention.flex_attention is not part of this project",
        ),
        ("f = torch.compile(dynamic=True)(F.relu)", "torch.nn.functional.relu is not part of this project"),
        ("jit = torch.compile\nf = jit(F.relu)", "torch.nn.functional.relu is not part of this project"),
        ("torch.compile(F.relu)", "torch.nn.functional.relu is not part of this project"),
        ("nn.Linear(3, 3).compile()", "torch.nn.Linear is not part of this project"),
        ("from timm import Big\nBig().compile(fullgraph=True)", "timm.Big is not part of this project"),
        ("f = torch.compile(Inherited())", "the forward of Inherited is that of a library"),
        ("Inherited().compile()", "the forward of Inherited is that of a library"),
        (
            "net = Net()\nnet.forward = torch.compiler.disable(net.forward)\nf = torch.compile(net)",
            "the forward of Net is disabled",
        ),
        ("f = torch.compile(Net(), disable=True)", "`disable=True` turns compiling off"),
        ("f = torch.compile(disable=True)(Net())", "`disable=True` turns compiling off"),
        ("Net().compile(disable=True)", "`disable=True` turns compiling off"),
        ("@torch.compile(disable=True)\ndef f(x): return x", "`disable=True` turns compiling off"),
        (
            "@functools.partial(torch.compile, disable=True)\ndef f(x): return x",
            "`disable=True` turns compiling off",
        ),
        (
            "@torch.compile(disable=True)\nclass Off(nn.Module):\n    def forward(self, x): return x",
            "`disable=True` turns compiling off",
        ),
        (
            "def fast(*args, **kwargs): return torch.compile(*args, **kwargs)\nf = fast(Net())",
            "the function compiles what it is given: its callers are the compile sites",
        ),
        (
            "later = torch.compile(dynamic=True)",
            "it is given nothing yet: what its result is called with is compiled",
        ),
        ("Own().compile()", "Own has a `compile` of its own: what that compiles is listed there"),
    ],
)
def test_a_site_that_compiles_nothing_of_the_project_is_skipped_with_its_reason(code: str, why: str) -> None:
    assert [reason for _, reason in skipped(code)] == [why]


def test_a_configured_wrapper_is_a_site_like_torch_compile() -> None:
    code = "def prepare(model): return model\nf = prepare(F.relu)"
    assert skipped(code) == []
    wrappers = ("m:prepare#0",)
    ((expression, why),) = skipped(code, compile_wrappers=wrappers)
    assert (expression, why) == ("prepare(F.relu)", "torch.nn.functional.relu is not part of this project")


@pytest.mark.parametrize(
    "code",
    [
        "word = re.compile('a')",
        "from re import compile\nword = compile('a')",
        "def sql(statement, dialect): return statement.compile(dialect=dialect)",
        "import keras\nkeras.Model().compile(optimizer='adam')",
        "code = compile('1', 'x', 'eval')",
        "f = torch.compile(Net())",
        "f = torch.compile(dynamic=True)(Net())",
        "@torch.compile(fullgraph=True)\ndef f(x): return x",
        "jit = torch.compile\n@jit\ndef f(x): return x",
    ],
)
def test_what_compiles_something_or_is_no_site_is_not_skipped(code: str) -> None:
    assert skipped(code) == []


def test_a_site_that_a_declaration_answers_is_skipped() -> None:
    _, regions = resolve_text(MODEL + SITE, declared=("m:Encoder",))
    assert [(one.expression, one.why) for one in regions.skipped] == [
        ("torch.compile(encoder)", "its target is unknown, but a declaration names what it may compile")
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def run(net): net.compile()", ["net.compile()"]),
        ("def run(net, **kw): net.compile(**kw)", ["net.compile()"]),
        ("def run(query): query.compile(dialect=1)", []),  # no keyword of torch's
        ("def run(pattern): pattern.compile('x')", []),
        ("class Plan:\n    def compile(self): pass\ndef run(plan): plan.compile()", []),
    ],
)
def test_an_unknown_object_that_is_compiled_as_modules_are_is_reported(
    code: str, expected: list[str]
) -> None:
    _, regions = resolve_text(code)
    assert [site.expression for site in regions.unresolved] == expected


# --- what was not followed to the end -------------------------------------------------------------------

CALLED = """
class Outer(nn.Module):
    def __init__(self, inner: Inner):
        super().__init__()
        self.inner = inner
    def forward(self, x): return self.inner(x)
"""
DECLARED = "class Inner(nn.Module):\n    def forward(self, x): raise NotImplementedError\n"


def _parts(number: int, base: str = "nn.Module") -> str:
    return "".join(f"class Part{n}({base}):\n    def forward(self, x): return x\n" for n in range(number))


def gaps(code: str, **options: object) -> list[tuple[str, str, str]]:
    _, regions = resolve_text(code, **options)
    return [(gap.kind, gap.expression, gap.why) for gap in regions.unresolved if gap.kind != "entry"]


def test_a_call_with_too_many_candidates_is_told() -> None:
    outer = CALLED.replace(": Inner", "")
    made = "".join(f"Outer(Part{n}()).compile()\n" for n in range(9))
    why = "it may run any of 9 candidates, too many to follow"
    assert gaps(_parts(9) + outer + made) == [("call", "self.inner", why)]
    assert gaps(_parts(9) + outer + made, guesses=True) == []  # they are followed
    assert gaps(_parts(8) + outer + made.replace("Part8", "Part7")) == []
    compiled = "".join(f"Part{n}().compile()\n" for n in range(9))
    assert gaps(_parts(9) + outer + made + compiled) == []  # nothing is missing


def test_a_base_whose_subclasses_are_too_many_is_told() -> None:
    code = CALLED + "def build(inner: Inner): return torch.compile(Outer(inner))"
    why = "41 subclasses say what it does, too many to follow"
    assert gaps(DECLARED + _parts(41, "Inner") + code) == [("class", "Inner.forward", why)]
    assert gaps(DECLARED + _parts(7, "Inner") + code) == []


def test_subclasses_that_are_only_guessed_are_told() -> None:
    code = (
        DECLARED + _parts(2, "Inner") + CALLED + "def build(inner: Inner): return torch.compile(Outer(inner))"
    )
    why = "it may also run Part1.forward, which `--min-confidence possible` reports on"
    assert gaps(code + "\nTAKEN = [Part0]") == [("call", "inner", why)]
    assert gaps(code + "\nTAKEN = [Part0]", guesses=True) == []
    assert gaps(code) == gaps(code + "\nTAKEN = [Part0, Part1]") == []


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("return given(x)", "`given`"),
        ("return other(given(x))", "`given` and `other`"),
        ("return given.view(x) + torch.sin(x)", None),  # a tensor has methods too
        ("return helper(x)", None),
        ("return x.given()", None),
        ("return print(x)", None),
    ],
)
def test_a_closure_that_is_its_whole_region_and_calls_what_is_not_known_is_told(
    body: str, called: str | None
) -> None:
    code = f"def helper(x): return x\ndef make(given, other):\n    def inner(x):\n        {body}\n    return torch.compile(inner)"
    why = f"it calls {called}, of which nothing is known, and no more of its region is"
    assert gaps(code) == ([("closure", "make.<locals>.inner", why)] if called else [])


def test_a_closure_over_an_object_whose_module_is_not_known_is_told() -> None:
    code = """
class Trainer:
    def __init__(self, model): self.model = model
    def step(self):
        @torch.compile
        def inner(x): return self.model(x)
        return inner
"""
    why = "it calls `self.model`, of which nothing is known, and no more of its region is"
    assert gaps(code) == [("closure", "Trainer.step.<locals>.inner", why)]
    assert gaps(code + _parts(1) + "Trainer(Part0())") == []


# --- one of several classes -----------------------------------------------------------------------------

TABLE = """
class Encoder(nn.Module):
    def forward(self, x): return x
class Decoder(nn.Module):
    def forward(self, x): return x
NETS = {"encoder": Encoder, "decoder": Decoder}
def build(name): return NETS[name]()
def prepare(options): return torch.compile(build(options.net))
"""


def test_a_site_that_a_table_gives_one_of_several_classes_is_told_with_what_decides_it() -> None:
    _, regions = resolve_text(TABLE)
    (site,) = regions.unresolved
    assert (site.kind, site.candidates) == ("choice", ("m:Decoder", "m:Encoder"))
    assert advice(site) == 'declare what it compiles: regions = ["m:Decoder", "m:Encoder"]'


def test_a_declaration_decides_which_of_several_classes_a_site_compiles() -> None:
    _, regions = resolve_text(TABLE, declared=("m:Encoder",))
    assert (regions.unresolved, regions.skipped) == ((), ())


def test_a_site_that_only_shows_what_configurations_build_is_told_with_what_it_may_mean() -> None:
    parts = "\n".join(f"class Part{n}:\n    def __init__(self, size): self.size = size" for n in range(5))
    nets = "\n".join(
        f"class {name}(nn.Module):\n    def forward(self, x): return x" for name in ("Net", "Scale")
    )
    main = f"{parts}\n{nets}\nfrom hydra.utils import instantiate\ndef main(path):\n"
    main += "    run = torch.compile(instantiate(torch.load(path)['run']))\n    return run(1)\n"
    names = [*(f"Part{n}" for n in range(5)), "Net", "Scale"]
    conf = "".join(f"{name}:\n  run:\n    _target_: main.{name}\n" for name in names)
    _, regions = resolve_text(
        {"main.py": f"import torch\nfrom torch import nn\n{main}", "conf/base.yaml": conf}
    )
    (site,) = regions.unresolved
    assert site.why == "it is one of 2 unrelated classes, and nothing shows which"
    assert site.candidates == ("main:Net", "main:Scale")


WORKER = (
    TABLE.replace("def prepare(options): return torch.compile(build(options.net))\n", "")
    + """
class Base:
    def __init__(self, options):
        self.net = build({kind})
class Worker(Base):
    def __init__(self, options):
        super().__init__(options)
        self.fast = torch.compile(self.step)
    def step(self, x): return self.loss(self.net(x))
    def loss(self, y): return y
"""
)


def test_a_compiled_step_that_calls_one_of_several_models_is_told_where_it_is_compiled() -> None:
    _, regions = resolve_text(WORKER.replace("{kind}", "options.net"))
    (site,) = regions.unresolved
    assert (site.kind, site.expression, site.candidates) == (
        "choice",
        "Worker.step",
        ("m:Decoder", "m:Encoder"),
    )
    assert site.why == (
        "what it compiles calls `self.net`, one of 2 classes, and a run says which: "
        "what is found in them is a note"
    )
    assert advice(site) == 'declare what it compiles: regions = ["m:Decoder", "m:Encoder"]'
    aside = {one.function.key: one.guessed for one in regions.hot}
    assert aside == {
        "Worker.step": False,
        "Worker.loss": False,
        "Encoder.forward": True,
        "Decoder.forward": True,
    }


@pytest.mark.parametrize("kind", ["'encoder'", "'decoder'"])
def test_a_worker_that_says_which_model_it_steps_is_no_choice(kind: str) -> None:
    _, regions = resolve_text(WORKER.replace("{kind}", kind))
    assert regions.unresolved == ()
    assert not any(one.guessed for one in regions.hot)


def test_a_declaration_decides_which_model_a_compiled_step_calls() -> None:
    _, regions = resolve_text(WORKER.replace("{kind}", "options.net"), declared=("m:Encoder",))
    assert regions.unresolved == ()
    aside = {one.function.key: one.guessed for one in regions.hot}
    assert (aside["Encoder.forward"], aside["Decoder.forward"]) == (False, True)


def test_the_parts_of_a_module_that_a_table_offers_are_parts_of_one_model() -> None:
    code = WORKER.replace("class Base:", "class Base(nn.Module):").replace("{kind}", "options.net")
    _, regions = resolve_text(code)
    assert regions.unresolved == ()
    assert not any(one.guessed for one in regions.hot)


# --- one of many that library code is given --------------------------------------------------------------


def _handing_on(many: int, call: str) -> str:
    """A step that hands library code one of so many models."""
    nets = "\n".join(f"class Net{n}(nn.Module):\n    def forward(self, x): return x" for n in range(many))
    branches = "\n".join(f"    if name == {n}: return Net{n}()" for n in range(many))
    return f"""
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from library import run
{nets}
def build(name):
{branches}
class Worker:
    def __init__(self, options):
        self.net = build(options.net)
        self.fast = torch.compile(self.step)
    def step(self, x): return {call}
"""


def test_a_model_that_a_step_hands_to_library_code_is_one_of_those_that_it_may_be() -> None:
    _, regions = resolve_text(_handing_on(3, "run(self.net, x)"))
    assert {one.function.key: one.guessed for one in regions.hot} == {
        "Worker.step": False,
        **{f"Net{n}.forward": True for n in range(3)},
    }


def test_the_models_of_a_list_are_handed_on_together() -> None:
    nets = "\n".join(f"class Net{n}(nn.Module):\n    def forward(self, x): return x" for n in range(20))
    held = ", ".join(f"Net{n}()" for n in range(20))
    code = f"from library import run\n{nets}\nNETS = [{held}]\n@torch.compile\ndef step(x): return run(NETS, x)\n"
    _, regions = resolve_text(code)
    assert len(regions.hot) == 21
    assert not any(one.guessed for one in regions.hot)


def test_a_state_dictionary_is_asked_of_a_model_without_calling_it() -> None:
    _, regions = resolve_text(_handing_on(3, "get_model_state_dict(model=self.net)"))
    assert [one.function.key for one in regions.hot] == ["Worker.step"]
