"""Dependency recording: the facts of each file that an outcome rests on, for incremental reuse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import wraps
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any, Concatenate, ParamSpec, TypeVar

F = TypeVar("F")
P = ParamSpec("P")
V = TypeVar("V")
ALL = "*"
"""Stands for every name of a table: somebody went through all of it."""
Asked = dict[str, None]
"""Names; there are a million of them, and a set takes twice the memory of such a dict."""
Question = tuple[str, str]
"""A table of a file: what sort of table, and the function or class that it is about (none for the file's)."""


class Recorder:
    """The names that were looked up, by table; nothing is noted unless it is `wanted`."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.wanted = wanted
        self.files: dict[str, dict[Question, Collection[str]]] = {}
        """For each file, its own tables."""
        self.everywhere: dict[str, Asked] = {}
        """Tables of the whole project."""
        self.tested: dict[str, set[str]] = {}
        """Names of such tables that were put to a test; it matters what they are, beside what was asked."""
        self.tests: dict[str, set[str]] = {}
        """For such tables the tests, of a name alone, that all of their names were put to."""
        self.untested: dict[str, set[str]] = {}
        """For tables whose names are put to a test if the project knows them, all others that it knows."""

    def of_file(self, table: Mapping[str, V], path: str, sort: str, key: str = "") -> Mapping[str, V]:
        """A table of a file that notes what it is asked for; each is opened once."""
        return self.noted(table, path, sort, key) if self.wanted else table

    def noted(self, table: Mapping[str, V], path: str, sort: str, key: str = "") -> RecordingTable[V]:
        """The same for a table whose names are noted by who uses it, wanted or not."""
        return RecordingTable(table, self._record(path, sort, key))

    def definitions(self, table: Mapping[str, V], path: str, sort: str, each: str) -> Mapping[str, V]:
        """The functions or classes of a file, each of which notes what is read of it."""
        files = self.files.setdefault(path, {})

        def put(key: str, read: Collection[str]) -> None:
            files[each, key] = read

        return Definitions(table, self._record(path, sort), put)

    def _record(self, path: str, sort: str, key: str = "") -> Asked:
        asked: Asked = {}
        self.files.setdefault(path, {})[sort, key] = asked
        return asked

    def ask(self, table: str, name: str) -> None:
        """Note a name of a table of the whole project that is answered in another way."""
        if self.wanted:
            self.everywhere.setdefault(table, {})[name] = None

    def of_project(self, table: Mapping[str, V], name: str) -> Mapping[str, V]:
        """A table of the whole project that notes what it is asked for."""
        return RecordingTable(table, self.everywhere.setdefault(name, {})) if self.wanted else table


class RecordingTable(Mapping[str, V]):
    """A table that notes each name it is asked for, also those that it does not hold."""

    __slots__ = ("_record", "_table")

    def __init__(self, table: Mapping[str, V], asked: Asked) -> None:
        self._table = table
        self._record = asked

    def note(self, name: str) -> None:
        """Note a name without looking it up."""
        self._record[name] = None

    def __getitem__(self, name: str) -> V:
        self._record[name] = None
        return self._table[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the entries of the table under a name."""
        self._record[name] = None
        return self._table.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._record[str(name)] = None
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        self._record[ALL] = None
        return iter(self._table)

    def __len__(self) -> int:
        self._record[ALL] = None
        return len(self._table)


class Files(dict[str, V]):
    """Files by path: who goes through all of them is told of one that comes or goes, and who asks in vain for
    one as well. What is asked of those that are there is noted by them."""

    __slots__ = ("_note",)

    def __init__(self, files: Mapping[str, V], note: Callable[[str], None]) -> None:
        super().__init__(files)
        self._note = note

    def __iter__(self) -> Iterator[str]:
        self._note(ALL)
        return super().__iter__()

    def __len__(self) -> int:
        self._note(ALL)
        return super().__len__()

    def keys(self) -> Any:
        """All paths."""
        self._note(ALL)
        return super().keys()

    def values(self) -> Any:
        """All files."""
        self._note(ALL)
        return super().values()

    def items(self) -> Any:
        """All files with their paths."""
        self._note(ALL)
        return super().items()

    def __contains__(self, path: object) -> bool:
        found = super().__contains__(path)
        if not found:
            self._note(str(path))
        return found

    def get(self, path: str, default: Any = None) -> Any:
        """The file at a path."""
        if path not in self:
            return default
        return self[path]

    def __missing__(self, path: str) -> V:
        self._note(path)
        raise KeyError(path)


class Definitions(RecordingTable[V]):
    """The functions or classes of a file: of each that is looked up, the fields that are read are noted.

    Who goes through all of them is told by their keys; what he reads of each is noted there.
    """

    __slots__ = ("_known", "_put")

    def __init__(
        self, table: Mapping[str, V], asked: Asked, put: Callable[[str, Collection[str]], None]
    ) -> None:
        super().__init__(table, asked)
        self._put = put
        self._known: dict[str, V] = {}

    def __getitem__(self, name: str) -> V:
        known = self._known.get(name)
        if known is None:
            fact: Any = _Fact(super().__getitem__(name))
            self._put(name, fact.__dict__.keys())
            known = self._known[name] = fact
        return known

    def get(self, name: str, default: Any = None) -> Any:
        """The function or class of this key."""
        if name in self:
            return self[name]
        return default


class _Fact:
    """Stands for the facts of a function or class; its attributes are those that have been read."""

    __slots__ = ("__dict__", "_fact")

    def __init__(self, fact: Any) -> None:
        self._fact = fact

    def __getattr__(self, name: str) -> Any:  # what was read once is found without this
        method = getattr(type(self._fact), name)
        if isinstance(method, FunctionType):
            return MethodType(method, self)  # which notes what it reads in turn
        value = self.__dict__[name] = getattr(self._fact, name)
        return value


_QUESTIONS: dict[str, Callable[..., object]] = {}


def question(told: Callable[Concatenate[F, P], V]) -> Callable[Concatenate[F, P], V]:
    """A function of the facts of a function or class, and a name at most: its answer is noted, not what it
    reads. Lines are in the answer as they are in facts, or it does not depend on where the code stands."""
    asked_as = f"{told.__module__}:{told.__qualname__}"
    _QUESTIONS[asked_as] = told

    @wraps(told)
    def asked(fact: F, /, *name: P.args, **none: P.kwargs) -> V:
        if not isinstance(fact, _Fact):
            return told(fact, *name, **none)
        noted = ":".join((asked_as, *map(str, name)))
        if noted not in fact.__dict__:
            fact.__dict__[noted] = told(fact._fact, *name, **none)
        answer: V = fact.__dict__[noted]
        return answer

    return asked


def asked_as(told: Callable[..., object]) -> str | None:
    """How a question is noted; None for a function that is none."""
    noted = f"{told.__module__}:{told.__qualname__}"
    return noted if noted in _QUESTIONS else None


def answered(fact: object, noted: str) -> object:
    """Return what was read of the facts of a function or class: a field, or the answer to a question.

    Raises KeyError for what is no question: what is noted lies in a cache, which anybody may have written.
    """
    where, *question = noted.split(":", 2)
    if not question:
        return getattr(fact, where)
    if where.startswith("dynamo_lint."):
        import_module(where)
    return _QUESTIONS[f"{where}:{question[0]}"](fact, *question[1:])
