"""The values that options have where nobody gives them: in command lines, dataclasses and YAML."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.index.ir import Attribute, Call, Constant, Expr, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.state.expressions import constant

_ACTIONS: dict[str, object] = {"store_true": False, "store_false": True, "BooleanOptionalAction": None}
"""The default of an option of argparse by its action, where it states none."""
_DEFINES = ("DEFINE_bool", "DEFINE_boolean", "DEFINE_string", "DEFINE_enum", "DEFINE_integer")
"""Functions of absl that make a flag of a name and a default."""
_OPTIONS = ("option", "argument")
"""Decorators of click that fill a parameter of a command."""
_FIELDS = ("field", "Field", "attrib", "ib")
_TYPER = ("Option", "Argument")
_WORDS: dict[str, object] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("null", "none", "~"), None),
}
"""Plain words of YAML that are no text."""


@dataclass(frozen=True, slots=True)
class _Undecided:
    """A default that the code does not spell out."""


@dataclass(slots=True)
class OptionDefaults:
    """The defaults of one project by the name of the option, gathered once."""

    project: Project
    bodies: Bodies
    _known: dict[str, set[object]] | None = field(default=None)
    _in_files: dict[str, set[object]] = field(default_factory=dict)

    def of(self, name: str) -> tuple[object, ...]:
        """The one default of all options that are called so; empty if there is none, or not just one."""
        if self._known is None:
            self._known = self._gathered()
        values = self._known.get(name) or self._of_files(name)
        value = next(iter(values)) if len(values) == 1 else _Undecided()
        return () if isinstance(value, _Undecided) else (value,)

    def is_option(self, name: str) -> bool:
        """Whether anything declares an option of that name."""
        if self._known is None:
            self._known = self._gathered()
        return bool(self._known.get(name) or self._of_files(name))

    def _gathered(self) -> dict[str, set[object]]:
        found: dict[str, set[object]] = defaultdict(set)
        for name, value in (*self._of_argparse(), *self._of_absl(), *self._of_click(), *self._of_classes()):
            found[name].add(value)
        for where, site in self.project.calls_of("set_defaults"):
            for keyword, value in site.call.keywords:
                if keyword:
                    found[keyword] = {self._literal(value, where)}
        return found

    def _literal(self, value: Expr | None, where: FunctionRef) -> object:
        literal = constant(self.project, value, where) if value is not None else None
        return literal.value if literal is not None else _Undecided()

    def _of_argparse(self) -> Iterator[tuple[str, object]]:
        for where, site in self.project.calls_of("add_argument"):
            texts = [one.value for one in site.call.arguments if isinstance(one, Constant)]
            options = [one for one in texts if isinstance(one, str)]
            keywords = dict(site.call.keywords)
            dest = self._literal(keywords.get("dest"), where)
            name = dest if isinstance(dest, str) else _destination(options)
            if not name:
                continue
            action = keywords.get("action")
            word = action.value if isinstance(action, Constant) else terminal_name(action) if action else ""
            if "default" in keywords:
                yield name, self._literal(keywords["default"], where)
            elif word == "store_const":
                yield name, None
            else:
                yield name, _ACTIONS.get(str(word))

    def _of_absl(self) -> Iterator[tuple[str, object]]:
        for function in _DEFINES:
            for where, site in self.project.calls_of(function):
                match site.call.arguments:
                    case (Constant(str(name)), default, *_):
                        yield name, self._literal(default, where)

    def _of_click(self) -> Iterator[tuple[str, object]]:
        """The options of click commands, and the parameters of commands of typer."""
        for kind in _OPTIONS:
            for ref, decorator in self.project.decorated_with(kind):
                if not isinstance(decorator, Call) or not isinstance(ref, FunctionRef):
                    continue
                texts = [one.value for one in decorator.arguments if isinstance(one, Constant)]
                options = [one for one in texts if isinstance(one, str)]
                keywords = dict(decorator.keywords)
                flag = any("/" in one for one in options) or keywords.get("is_flag") == Constant(True)
                name = _destination([one.partition("/")[0] for one in options])
                if name:
                    default = keywords.get("default")
                    yield name, (False if flag else None) if default is None else self._literal(default, ref)
        for ref in self.project.functions():
            for parameter in self.project.function(ref).parameters:
                default = parameter.default
                if (
                    isinstance(default, Call)
                    and terminal_name(default.function) in _TYPER
                    and default.arguments
                ):
                    yield parameter.name, self._literal(default.arguments[0], ref)

    def _of_classes(self) -> Iterator[tuple[str, object]]:
        """The fields of dataclasses, and of classes that are written like such."""
        for ref in self.project.classes():
            class_ = self.project.class_(ref)
            annotated = {name for name, _ in class_.annotations}
            module = FunctionRef(ref.path, class_.outer or "<module>")
            for binding in class_.bindings if annotated else ():
                if binding.name in annotated:
                    yield binding.name, self._literal(_default_of(binding.value), module)

    def _of_files(self, name: str) -> set[object]:
        """The values of a key in the YAML and JSON files of the project."""
        if name not in self._in_files:
            row = re.compile(
                rf"""(?:^|[{{,])[ \t-]*["']?{re.escape(name)}["']?[ \t]*:[ \t]*([^\s#,}}\]]+)""", re.M
            )
            self._in_files[name] = {
                _plain(value)
                for path, file in self.project.files.items()
                if not file.is_code and file.configures and path.endswith((".yaml", ".yml", ".json"))
                for value in row.findall(self._text(path))
            }
        return self._in_files[name]

    def _text(self, path: str) -> str:
        try:
            return self.bodies.read_source(path)
        except (OSError, SyntaxError, ValueError):
            return ""


def _destination(options: list[str]) -> str:
    """The name under which an option is found: the first long one, or else the first."""
    long = [one for one in options if one.startswith("--")]
    plain = [one for one in options if not one.startswith("-")]
    return next(iter((*plain, *long, *options)), "").lstrip("-").replace("-", "_")


def _default_of(value: Expr) -> Expr | None:
    match value:
        case Call(Name() | Attribute() as callee) if terminal_name(callee) in _FIELDS:
            return dict(value.keywords).get("default")
    return value


def _plain(text: str) -> object:
    """A value as YAML and JSON read it."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, str | int | float) else _Undecided()
