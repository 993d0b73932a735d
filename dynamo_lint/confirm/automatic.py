"""Makes a probe for each compiled region, out of the constructions and calls that the program itself has.

A probe is text in the form of one that a person writes. There may be several ways to make it; the process
that runs it tries them in order, and takes the first that runs without the compiler.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from dynamo_lint.confirm.model import MODES, PLAIN, SIZES, TENSORS, Way
from dynamo_lint.confirm.slices import (
    Gap,
    Program,
    Scope,
    Slicer,
    acts,
    annotation_of,
    callers,
    constructions,
    default_of,
    dotted,
    ir_of,
    last_name,
    switches,
)
from dynamo_lint.dataclass import dataclass
from dynamo_lint.heuristics.plain_values import plain_value
from dynamo_lint.index.ir import MODULE_KEY, Call
from dynamo_lint.program.files import is_rehearsal
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef
from dynamo_lint.regions.model import Entry, Regions
from dynamo_lint.sources import Sources

MOST_WAYS = 60
"""Ways to make one probe that are tried."""
ALL = 1 << 10
"""Passes over every construction of a class: it is made by its defaults."""
MOST_HOSTS = 4
"""Modules around a compiled one that are tried as what is called."""
GUESSES = 9
"""Kinds of inputs that `guessed_input` makes."""
FITTING = 3
"""Kinds of guessed inputs that are tried for a module around the subject."""
MOST_LEADING = 24
"""Functions that lead to a compiled one."""
MOST_CALLERS = 8
"""Functions around a compile site that are looked at."""
TURNS = 3
"""Calls in a row, with the inputs of so many turns of the loops around the call."""
KEPT_OPTIONS = ("dynamic", "fullgraph")

PRELUDE = '''\
def at(iterable, turn):
    """What a loop has in one of its turns, or in its last."""
    return [*itertools.islice(iterable, turn + 1)][-1]


def smaller(value):
    """A last batch: a row less, where there are enough."""
    return value[:-1].clone() if isinstance(value, torch.Tensor) and value.dim() and len(value) > 2 else value
'''
GUESS = '''\
def guessed_input(module, way):
    """An input as the first layers of a module may take it, or of a usual shape."""
    for one in module.modules() if isinstance(module, torch.nn.Module) and way < 2 else ():
        if isinstance(one, torch.nn.Embedding):
            return torch.randint(one.num_embeddings, (3, 8))
        if isinstance(one, torch.nn.Linear):
            return torch.randn(3, 8, one.in_features) if way == 0 else torch.randn(3, one.in_features)
        if isinstance(one, torch.nn.LayerNorm):
            return torch.randn(3, 8, *one.normalized_shape)
        for number in (1, 2, 3):
            if isinstance(one, getattr(torch.nn, f"Conv{number}d")):
                return torch.randn(3, one.in_channels, *[(64, 32, 16)[number - 1]] * number)
            if isinstance(one, getattr(torch.nn, f"BatchNorm{number}d")):
                return torch.randn(3, one.num_features, *[8] * number)
    usual = [(3, 16), (3, 8, 16), (3, 3, 32, 32), (3, 4, 8, 16), (16,), (3, 1, 64)]
    return torch.randint(2, (3, 8)) if way == 8 else torch.randn(*usual[max(way - 2, 0)])
'''


@dataclass(frozen=True, slots=True)
class MadeProbe:
    """The probe of one region, or the reasons why there is none."""

    name: str
    entry: Entry
    text: str = ""
    """The file of the probe; empty if it cannot be made."""
    ways: tuple[Way, ...] = ()
    scripts: tuple[str, ...] = ()
    """Files of which only the definitions are loaded."""
    gaps: tuple[str, ...] = ()
    """Why it cannot be made, or not in a better way."""
    unit: str = ""
    """Identity of the function that is compiled."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """The target of a compile: a function of the project, or the class of a module."""

    entry: Entry
    function: FunctionRef
    owner: ClassRef | None
    whole: bool
    """The module is compiled, rather than one of its methods."""
    decorated: bool


@dataclass(frozen=True, slots=True)
class _Draft:
    """The body of a probe."""

    slicer: Slicer
    setting: tuple[str, ...]
    """Lines that make what is compiled, and compile it."""
    compiled: str
    module: str
    arguments: tuple[str, ...]
    """Lines that make the inputs of one call."""
    origin: str
    guesses: bool = False
    driver: str = ""
    """What is called instead of all that."""
    once: bool = False
    """That is the program as a whole, which is called once."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The text that it runs."""
        return *self.setting, *self.arguments, self.driver


def _lines(draft: _Draft) -> tuple[str, ...]:
    return draft.lines


def made_probes(project: Project, regions: Regions, sources: Sources) -> list[MadeProbe]:
    """A probe for each thing that is compiled, in the order of the entries."""
    program = Program(project, sources)
    names: set[str] = set()
    made = []
    for entry in _distinct(regions.entries):
        name = _name_of(entry, names)
        names.add(name)
        made.append(_made(program, regions, entry, name))
    return made


def _distinct(entries: Sequence[Entry]) -> list[Entry]:
    """One entry for each target, that of a user before that of a test."""
    best: dict[str, Entry] = {}
    for entry in entries:
        known = best.get(entry.target)
        if known is None or (_is_tried(known) and not _is_tried(entry)):
            best[entry.target] = entry
    return list(best.values())


def _is_tried(entry: Entry) -> bool:
    return (
        entry.tested or is_rehearsal(FunctionRef(entry.path, MODULE_KEY)) or "probe" in Path(entry.path).stem
    )


def _name_of(entry: Entry, taken: set[str]) -> str:
    base = "probe_" + "".join(
        one if one.isidentifier() or one.isdigit() else "_" for one in entry.target.rpartition("::")[2]
    ).replace("__locals__", "")
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name


def _made(program: Program, regions: Regions, entry: Entry, name: str) -> MadeProbe:
    gaps: dict[str, None] = {}
    drafts: list[_Draft] = []
    unit = ""
    try:
        subject = _subject(program.project, regions, entry)
        unit = subject.function.id
        for work in _works(program, subject):
            if len(drafts) >= MOST_WAYS:
                break
            try:
                drafts += [draft for draft in work() if draft.lines not in map(_lines, drafts)]
            except Gap as gap:
                gaps[str(gap)] = None
    except Gap as gap:
        gaps[str(gap)] = None
    if not drafts:
        return MadeProbe(name, entry, gaps=tuple(gaps), unit=unit)
    root = program.sources.root
    ways, functions = [], []
    for number, draft in enumerate(drafts):
        for varied in (True, False) if not draft.driver else (False,):
            way = Way(
                f"{name}__{number}" + ("" if varied else PLAIN),
                draft.origin,
                ((MODES,) if draft.module else ()) + ((SIZES,) if varied else ()),
                tuple(draft.slicer.guessed),
                draft.once,
            )
            ways.append(way)
            functions.append(_function(draft, way, varied))
    return MadeProbe(
        name,
        entry,
        _file(root, drafts, functions),
        tuple(ways),
        tuple(dict.fromkeys(str(root / path) for draft in drafts for path in draft.slicer.scripts)),
        tuple(gaps),
        unit,
    )


def document(made: Sequence[MadeProbe], ways: Mapping[str, Way]) -> str:
    """A file of probes: each in the way that ran, under its plain name, and skeletons of the others."""
    heads: dict[str, None] = {}
    bodies: list[str] = []
    paths: dict[str, None] = {}
    for one in made:
        way = ways.get(one.name)
        if way is None:
            bodies.append(skeleton(one))
            continue
        for node in ast.parse(one.text).body:
            text = ast.get_source_segment(one.text, node) or ""
            match node:
                case ast.Assign(value=ast.List(elts=folders)):
                    paths |= dict.fromkeys(ast.literal_eval(folder) for folder in folders)
                case ast.FunctionDef(name=name) if name == way.name:
                    bodies.append(text.replace(f"def {name}(", f"def {one.name}(", 1) + "\n")
                case ast.FunctionDef(name=name) if not name.startswith("probe_"):
                    heads[text + "\n"] = None
    text = "\n\n".join([*heads, *bodies])
    used = [head for head in heads if text.count(head.partition("(")[0].removeprefix("def ") + "(") > 1]
    return "\n\n".join([_head(paths), *used, *bodies])


def skeleton(made: MadeProbe) -> str:
    """A probe for a person to complete, where none can be made."""
    target = made.entry.target.rpartition("::")[2]
    why = "\n".join(f"    # {gap}" for gap in made.gaps)
    return (
        f"def {made.name}():\n"
        f'    """{target}, compiled at {made.entry.path}:{made.entry.line}."""\n'
        f"{why}\n"
        f"    call = ...  # make `{target}` here, and compile it as the program does\n"
        f"    return call, [(...,)]  # an argument tuple for each call\n"
    )


def _subject(project: Project, regions: Regions, entry: Entry) -> _Subject:
    """The target of an entry."""
    path, _, key = entry.target.partition("::")
    file = project.files.get(path)
    if file is None:
        raise Gap(f"`{entry.target}` is not among the files that were read")
    classes = [one for one in file.classes if one.split("#")[0] == key]
    if classes:
        owner = ClassRef(path, classes[0])
        function = project.method(owner, "forward") or project.method(owner, "__call__")
        if function is None:
            raise Gap(f"`{key}` has no forward")
        return _Subject(entry, function, owner, True, False)
    functions = [one for one in file.functions if one.split("#")[0].split("@")[0] == key]
    if not functions:
        raise Gap(f"`{key}` is not a function or class of the project")
    function = FunctionRef(path, functions[0])
    number = regions.entries.index(entry)
    receivers = [
        hot.receiver
        for hot in regions.hot
        if hot.function == function and hot.receiver and number in hot.entries
    ]
    own = project.function(function).owner
    receiver = next(iter(receivers), ClassRef(path, own) if own else None)
    if project.method_kind(function) == "static":
        receiver = None
    decorated = entry.idiom == "decorator" or _decorates(project, function, entry)
    return _Subject(entry, function, receiver, False, decorated)


def _decorates(project: Project, function: FunctionRef, entry: Entry) -> bool:
    """Whether the compile site is in a decorator of the function, so that its name is what is compiled."""
    functions = project.files[entry.path].functions if entry.path in project.files else {}
    around = [
        key
        for key, one in functions.items()
        if key != MODULE_KEY and one.first_line <= entry.line <= one.end_line
    ]
    return any(
        isinstance(symbol, ClassRef | FunctionRef)
        and symbol.path == entry.path
        and any(key == symbol.key or key.startswith(f"{symbol.key}.") for key in around)
        for one in project.function(function).decorators
        for symbol in project.symbols(one.function if isinstance(one, Call) else one, function.path)
    )


def _works(program: Program, subject: _Subject) -> Iterator[Callable[[], list[_Draft]]]:
    """Ways to make drafts, the most faithful first; each may raise a Gap."""
    driven = [partial(_driven, program, subject, around) for around in _drivers(program, subject)]
    if not _is_tried(subject.entry):
        yield from driven
    alone = [
        partial(_called, program, subject, caller, node)
        for caller, node in callers(program, subject.function)
    ]
    within = []
    is_module = subject.owner is not None and program.project.is_module(subject.owner)
    for host in _hosts(program, subject.owner) if subject.owner is not None and is_module else ():
        forward = program.project.method(host, "forward")
        for caller, node in callers(program, forward)[:2] if forward else ():
            within.append(partial(_hosted, program, subject, host, caller, node))
    yield from (*within, *alone) if subject.entry.regional else (*alone, *within)
    if subject.owner is not None and _is_optimizer(program, subject.owner):
        for switch in (None, *switches(program, subject.owner)):
            yield partial(_stepped, program, subject, subject.owner, switch)
    yield from _around(program, subject)
    for skipped in (0, ALL, 1):
        for small in (True, False):
            yield partial(_guessed, program, subject, skipped, small)
    yield partial(_guessed, program, subject, 0, True, optional=True)
    if _is_tried(subject.entry):
        yield from driven


def _is_optimizer(program: Program, ref: ClassRef) -> bool:
    """Whether a class is one of torch's optimizers."""
    project = program.project
    return any(
        isinstance(symbol, ExternalSymbol) and symbol.dotted.startswith("torch.optim")
        for one in project.mro(ref)
        for base in project.class_(one).bases
        for symbol in project.symbols(base, one.path)
    )


def _around(program: Program, subject: _Subject) -> Iterator[Callable[[], list[_Draft]]]:
    """Optimizers and modules whose own code leads to the subject, which the program compiles on the way."""
    project, found = program.project, dict[ClassRef, None]()
    for method in _leading_to(program, subject.function):
        owner = project.function(method).owner
        ref = ClassRef(method.path, owner) if owner else subject.owner
        if ref is None or ref == subject.owner or ref in found or len(found) >= MOST_HOSTS:
            continue
        if _is_optimizer(program, ref):
            found[ref] = None
            for one in (ref, *subclasses(project, ref))[:MOST_HOSTS]:
                yield partial(_stepped, program, subject, one, None)
                yield partial(_stepped, program, subject, one, "")
        elif project.is_module(ref) and project.method(ref, "forward") == method:
            found[ref] = None
            host = _Subject(subject.entry, method, ref, False, True)
            for caller, node in callers(program, method)[:2]:
                yield partial(_called, program, host, caller, node)
            yield partial(_fitting, program, host)


def _fitting(program: Program, host: _Subject) -> list[_Draft]:
    """A module around the subject, with inputs as its first layers may take them."""
    drafts = _guessed(program, host, 0, True)
    for draft in drafts:
        draft.slicer.guessed[f"it runs in `{host.owner.name}`" if host.owner else ""] = None
    return drafts[:FITTING]


def _leading_to(program: Program, ref: FunctionRef) -> list[FunctionRef]:
    """The functions that call a function, those that call them, and so on, the nearest first."""
    found, waiting = dict.fromkeys([ref]), [ref]
    while waiting and len(found) < MOST_LEADING:
        for caller, _ in callers(program, waiting.pop(0)):
            if caller.function not in found and caller.function.key != MODULE_KEY:
                found[caller.function] = None
                waiting.append(caller.function)
    return [*found][1:]


def _stepped(program: Program, subject: _Subject, optimizer: ClassRef, switch: str | None) -> list[_Draft]:
    """Steps of an optimizer, with the method compiled that the program compiles.

    It is made as the program makes it, or by its defaults, with a switch that may lead to the method.
    """
    slicer = Slicer(program) if switch is None else Slicer(program, skipped=ALL, switch=switch)
    made = slicer.object_of(optimizer)
    method = subject.function.key.rpartition(".")[2]
    lines = [*slicer.statements]
    if optimizer == subject.owner and not subject.decorated:
        lines.append(f"{made}.{method} = torch.compile({made}.{method})")
    lines += [
        "",
        "def call():",
        f"    for group in {made}.param_groups:",
        "        for parameter in group['params']:",
        "            parameter.grad = torch.randn_like(parameter)",
        f"    return {made}.step()",
        "",
    ]
    return [_Draft(slicer, tuple(lines), "", "", (), "steps with random gradients", driver="call")]


def _drivers(program: Program, subject: _Subject) -> list[FunctionRef | None]:
    """Functions that run a compile site when they are called, or None for its file as a program."""
    project, entry = program.project, subject.entry
    if entry.path not in project.files:
        return []
    inside = [
        FunctionRef(entry.path, key)
        for key, function in project.files[entry.path].functions.items()
        if key != MODULE_KEY and function.first_line <= entry.line <= function.end_line
    ]
    around = next((ref for ref in inside if project.function(ref).outer in (None, MODULE_KEY)), None)
    if around is None or around == subject.function:
        return [None]
    found, waiting = [around], [around]
    while waiting and len(found) < MOST_CALLERS:
        for caller, _ in callers(program, waiting.pop(0)):
            ref = caller.function
            if ref.key != MODULE_KEY and "<locals>" not in ref.key and ref not in found:
                found.append(ref)
                waiting.append(ref)
    # What is called by nobody and needs nothing is where a program begins.
    begins = [ref for ref in found if _is_program(program, ref.path) and not required(program, ref)]
    return [*begins[:2], *([around] if around not in begins[:2] else [])]


def _driven(program: Program, subject: _Subject, around: FunctionRef | None) -> list[_Draft]:
    """A function around the compile site, or the script, as a whole: with its own loops and inputs."""
    project, entry = program.project, subject.entry
    slicer = Slicer(program)
    if _is_tried(entry):
        slicer.guessed["it runs as in a test"] = None
    if around is None:
        if not _is_program(program, entry.path):
            raise Gap(f"{entry.path} is no program")
        slicer.imports["import runpy"] = None
        slicer.module(entry.path)
        slicer.scripts.clear()
        path = str((program.sources.root / entry.path).resolve())
        driver = f"lambda: runpy.run_path({path!r}, run_name='__main__')"
        return [_Draft(slicer, (), "", "", (), f"runs {entry.path} as a whole", driver=driver, once=True)]
    function = project.function(around)
    gap: Gap | None = None
    if function.owner is not None:
        owner = slicer.object_of(ClassRef(around.path, function.owner))
        if around.key.endswith(".__init__"):
            raise Gap(f"`{around.key}` only compiles")
        name = f"{owner}.{around.key.rpartition('.')[2]}"
    else:
        name = slicer.reference(around.path, around.key)
    needed = required(program, around)
    arguments: str | None = None if needed else ""
    for caller, node in callers(program, around) if needed else ():
        try:
            arguments = slicer.attempt(partial(slicer.arguments, node, caller))
            break
        except Gap as why:
            gap = gap or why
    if arguments is None:
        raise gap or Gap(f"argument `{needed[0]}` of `{around.key}` is given by nobody")
    driver = f"lambda: {name}({arguments})"
    origin = f"runs `{around.key}` of {around.path} as a whole"
    return [_Draft(slicer, tuple(slicer.statements), "", "", (), origin, driver=driver, once=True)]


def _is_program(program: Program, path: str) -> bool:
    """Whether a file does something when it is run by itself."""
    return program.project.files[path].is_script or bool(acts(program.tree(path)))


def required(program: Program, ref: FunctionRef) -> list[str]:
    """The parameters of a function that have no default, without its `self`."""
    function, body = program.project.function(ref), program.body(ref)
    own = function.parameters[1 if function.owner and program.project.method_kind(ref) != "static" else 0 :]
    plain = [one.name for one in own if one.kind in ("positional", "keyword")]
    return [name for name in plain if default_of(body, name) is None]


def _compiles(program: Program, subject: _Subject, slicer: Slicer) -> tuple[tuple[str, ...], str, str]:
    """The lines that compile the subject, what to call then, and the module, if it is one."""
    options = "".join(f", {name}={value}" for name, value in _options(program, subject.entry))
    if subject.owner is None:
        name = slicer.reference(subject.function.path, subject.function.key)
        if subject.decorated:
            return (), name, ""
        compiled = slicer.fresh("compiled")
        return (f"{compiled} = torch.compile({name}{options})",), compiled, ""
    made = slicer.object_of(subject.owner)
    module = made if program.project.is_module(subject.owner) else ""
    method = subject.function.key.rpartition(".")[2].partition("#")[0]
    if subject.decorated:
        return (), made if method in ("forward", "__call__") else f"{made}.{method}", module
    compiled = slicer.fresh("compiled")
    target = made if subject.whole else f"{made}.{method}"
    return (f"{compiled} = torch.compile({target}{options})",), compiled, module


def _options(program: Program, entry: Entry) -> Iterator[tuple[str, str]]:
    """The options of a compile site that change what Dynamo guards, where they are constants."""
    for node in program.calls(entry.path, entry.line):
        if last_name(node.func) == "compile":
            for keyword in node.keywords:
                if keyword.arg in KEPT_OPTIONS and isinstance(keyword.value, ast.Constant):
                    yield keyword.arg, ast.unparse(keyword.value)


def _called(program: Program, subject: _Subject, caller: Scope, node: ast.Call) -> list[_Draft]:
    """The subject by itself, with the inputs that one call of the program passes."""
    slicer = Slicer(program)
    setting, compiled, module = _compiles(program, subject, slicer)
    made = tuple(slicer.statements)
    arguments = _inputs(slicer, node, caller)
    origin = f"made as in the program, inputs as in {caller.function.path}:{node.lineno}"
    return [_Draft(slicer, (*made, *setting), compiled, module, arguments, origin)]


def _inputs(slicer: Slicer, node: ast.Call, caller: Scope) -> tuple[str, ...]:
    """The lines that make what a call of the program passes, in some turn of the loops around it."""
    before, slicer.turn = len(slicer.statements), "turn"
    if is_rehearsal(caller.function):
        slicer.guessed[f"inputs of a test, {caller.function.path}:{node.lineno}"] = None
    positional = [slicer.expression(one, caller) for one in node.args]
    named = [
        f"{one.arg!r}: {slicer.expression(one.value, caller)}"
        if one.arg
        else f"**{slicer.expression(one.value, caller)}"
        for one in node.keywords
    ]
    given = "".join(f"{one}, " for one in positional).strip()
    return (*slicer.statements[before:], f"return ({given}), {{{', '.join(named)}}}")


def _hosted(
    program: Program, subject: _Subject, host: ClassRef, caller: Scope, node: ast.Call
) -> list[_Draft]:
    """The module that the subject is part of, with all parts of that class compiled by themselves."""
    slicer = Slicer(program)
    around = slicer.object_of(host)
    assert subject.owner is not None
    name = slicer.reference(subject.owner.path, subject.owner.key)
    method = subject.function.key.rpartition(".")[2].partition("#")[0]
    setting = [*slicer.statements]
    parts = slicer.fresh("parts")
    setting.append(f"{parts} = [one for one in {around}.modules() if isinstance(one, {name})]")
    setting.append(f"assert {parts}, '{host.name} has no {subject.owner.name}'")
    if not subject.decorated:
        options = ", ".join(f"{key}={value}" for key, value in _options(program, subject.entry))
        line = "part.compile({})" if subject.whole else f"part.{method} = torch.compile(part.{method}, {{}})"
        setting += [f"for part in {parts}:", "    " + line.format(options)]
    arguments = _inputs(slicer, node, caller)
    origin = f"inside of `{host.name}`, inputs as in {caller.function.path}:{node.lineno}"
    return [_Draft(slicer, tuple(setting), around, around, arguments, origin)]


def _hosts(program: Program, ref: ClassRef) -> list[ClassRef]:
    """The modules that construct a class, or that construct those; then others that the program calls."""
    project = program.project
    found: dict[ClassRef, None] = {}
    waiting = [ref]
    while waiting and len(found) < MOST_HOSTS:
        for caller, _ in constructions(program, waiting.pop(0)):
            owner = project.function(caller.function).owner
            around = ClassRef(caller.function.path, owner) if owner else None
            if around is not None and around != ref and around not in found and project.is_module(around):
                found[around] = None
                waiting.append(around)
    if len(found) < MOST_HOSTS:
        for other in project.classes():
            if other != ref and other not in found and project.is_module(other):
                forward = project.method(other, "forward")
                sites = (
                    callers(program, forward) if forward is not None and forward.path == other.path else ()
                )
                if any(not caller.function.key.endswith(".forward") for caller, _ in sites):
                    found[other] = None
            if len(found) >= MOST_HOSTS:
                break
    return list(found)[:MOST_HOSTS]


def _annotated(program: Program, ref: FunctionRef, annotation: ast.expr | None) -> tuple[object, ...]:
    """The class that the annotation of a parameter names."""
    return program.project.symbols(ir_of(annotation), ref.path, ref.key) if annotation is not None else ()


def _guessed(
    program: Program, subject: _Subject, skipped: int, small: bool, optional: bool = False
) -> list[_Draft]:
    """The subject by itself, with inputs as its layers may take them, the `optional` ones among them."""
    slicer = Slicer(program, small=small, skipped=skipped)
    setting, compiled, module = _compiles(program, subject, slicer)
    body = program.body(subject.function)
    function = program.project.function(subject.function)
    own = 1 if subject.owner is not None and program.project.method_kind(subject.function) != "static" else 0
    values: list[str] = []
    for parameter in function.parameters[own:]:
        default = default_of(body, parameter.name)
        is_left_out = default is not None and not (optional and ast.unparse(default) == "None")
        if parameter.kind not in ("positional", "keyword") or is_left_out:
            continue
        annotation = annotation_of(body, parameter.name)
        plain = plain_value(parameter.name, ast.unparse(annotation) if annotation else "")
        for symbol in _annotated(program, subject.function, annotation):
            if isinstance(symbol, ClassRef):
                plain = slicer.object_of(symbol)
                module = module or (plain if program.project.is_module(symbol) else "")
        if plain is None and annotation is not None and dotted(annotation).endswith("str"):
            raise Gap(f"argument `{parameter.name}` of `{function.qualname}` is a text that nobody gives")
        if plain == "16":
            plain = "2"
        is_first = module and not values
        if plain is None and not is_first and "Tensor" not in (ast.unparse(annotation) if annotation else ""):
            slicer.guessed[f"{TENSORS} `{parameter.name}` is a tensor"] = None
        values.append(f"{parameter.name!r}: {plain or 'guessed_input({module}, {way})'}")
    slicer.guessed["the shapes of the inputs"] = None
    drafts = []
    for way in range(GUESSES) if any("guessed_input" in one for one in values) else (0,):
        text = ", ".join(values).replace("{module}", module or "None").replace("{way}", str(way))
        origin = "inputs of shapes that its layers take" if module and way < 2 else "inputs of a usual shape"
        lines = (*slicer.statements, *setting)
        drafts.append(_Draft(slicer, lines, compiled, module, (f"return (), {{{text}}}",), origin, True))
    return drafts


def _file(root: Path, drafts: Sequence[_Draft], functions: Sequence[str]) -> str:
    """The file of a probe."""
    ways = dict.fromkeys(str((root / way).resolve()) for draft in drafts for way in draft.slicer.ways)
    parts = [_head(ways), PRELUDE, *([GUESS] if any(draft.guesses for draft in drafts) else [])]
    return "\n\n".join([*(part.rstrip("\n") + "\n" for part in parts), *functions])


def _head(folders: Iterable[str]) -> str:
    """The imports of a file of probes, and the folders that its modules are in."""
    path = f"sys.path[:0] = {[*folders]!r}"
    return "\n".join(["import itertools", "import sys", "", "import torch", "", path, ""])


def _function(draft: _Draft, way: Way, varied: bool) -> str:
    """The function of a probe, with calls in training and evaluation, and with a smaller last batch."""
    told = f'"""{draft.origin[0].upper()}{draft.origin[1:]}."""'
    if draft.driver:
        lines = [*sorted(draft.slicer.imports), *draft.setting, f"return {draft.driver}, [()]"]
        return f"def {way.name}():\n" + "".join(f"    {line}\n" for line in [told, *lines])
    lines = [*sorted(draft.slicer.imports), *draft.setting, ""]
    lines += ["def inputs(turn):", *(f"    {line}" for line in draft.arguments), ""]
    lines.append(f"batches = [inputs(turn) for turn in range({TURNS})]")
    if varied:
        lines += [
            "arguments, options = batches[-1]",
            "last = {name: smaller(value) for name, value in options.items()}",
            "batches.append(([*map(smaller, arguments)], last))",
        ]
    if draft.module:
        lines += [
            "",
            "def call(training, arguments, options):",
            f"    {draft.module}.train(training)",
            f"    return {draft.compiled}(*arguments, **options)",
            "",
            "return call, [(training, *batch) for training in (True, False) for batch in batches]",
        ]
    else:
        lines += [
            "",
            "def call(arguments, options):",
            f"    return {draft.compiled}(*arguments, **options)",
            "",
            "return call, batches",
        ]
    text = "\n".join("    " + line if line else "" for line in [told, *lines])
    return f"def {way.name}():\n{text}\n"
