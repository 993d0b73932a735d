"""Data classes whose methods are written when they are first called.

`dataclasses` compiles six methods of each class when that is imported, which for the hundreds of classes of a
run takes longer than to lint a small file. Here a class that a run does not use costs nothing but its slots.
One that is frozen is so for the type checker alone: facts and places are made by the million, and a check on
each of their fields takes three quarters of that time.
"""

from __future__ import annotations

from dataclasses import field as field
from dataclasses import replace as replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from collections.abc import Callable

    _SPECIFICATION = "_specification"
    """The attribute that holds the fields of a class, those of its bases first."""
    _NOTHING = object()

    def dataclass(*, frozen: bool = False, slots: bool, eq: bool = True):
        """As `dataclasses.dataclass`, for classes with slots."""
        assert slots, "a class without slots is made by `dataclasses`"

        def made(kind: type) -> type:
            own = {name: kind.__dict__.get(name, _NOTHING) for name in kind.__annotations__}
            inherited = {}
            for base in reversed(kind.__mro__[1:]):
                inherited.update(base.__dict__.get(_SPECIFICATION, {}))
            space = {name: value for name, value in kind.__dict__.items() if name not in own}
            for name in ("__dict__", "__weakref__"):
                space.pop(name, None)
            space["__slots__"] = tuple(name for name in own if name not in inherited)
            space["__qualname__"] = kind.__qualname__
            space[_SPECIFICATION] = whole = {**inherited, **own}
            space["__annotations__"] = kind.__annotations__
            space["__match_args__"] = tuple(
                name
                for name, value in whole.items()
                if not isinstance(value, dataclasses.Field) or value.init
            )
            space["__dataclass_fields__"] = _Fields()
            home: list[type] = []
            written = {"__init__": _init, "__repr__": _repr}
            if eq:
                written["__eq__"] = _eq
                if frozen:
                    written["__hash__"] = _hash
                else:
                    space.setdefault("__hash__", None)
            for name, write in written.items():
                if name not in space or (name == "__hash__" and space[name] is None):
                    space[name] = _late(home, name, write)
            home.append(type(kind)(kind.__name__, kind.__bases__, space))
            return home[0]

        return made

    class _Fields:
        """The fields as `dataclasses` has them, for its functions: few classes are ever asked."""

        def __get__(self, _: object, kind: type) -> dict[str, dataclasses.Field]:
            whole = {}
            for base in reversed(kind.__mro__):
                if _SPECIFICATION not in base.__dict__:
                    continue
                own = base.__annotations__
                values = {name: base.__dict__[_SPECIFICATION][name] for name in own}
                given = {name: value for name, value in values.items() if value is not _NOTHING}
                bare = type(
                    base.__name__, (), {**given, "__annotations__": own, "__module__": base.__module__}
                )
                decorated = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(bare)
                whole.update(decorated.__dataclass_fields__)
            kind.__dataclass_fields__ = whole
            return whole

    def _late(
        home: list[type], name: str, write: Callable[[type], Callable[..., object]]
    ) -> Callable[..., object]:
        """A method that writes the one that takes its place."""

        def method(*arguments: object, **keywords: object) -> object:
            made = write(home[0])
            setattr(home[0], name, made)
            return made(*arguments, **keywords)

        method.__name__ = name
        return method

    def _compiled(kind: type, head: str, body: list[str], names: dict[str, object]) -> Callable[..., object]:
        """The method of a class with this text."""
        space: dict[str, object] = {}
        exec("\n ".join([f"def {head}:", *body]), names, space)
        (method,) = space.values()
        method.__qualname__ = f"{kind.__qualname__}.{method.__name__}"
        return method

    def _init(kind: type) -> Callable[..., object]:
        parameters, body, names = ["self"], [], {"nothing": _NOTHING}
        for name, value in getattr(kind, _SPECIFICATION).items():
            default, make, given = value, None, True
            if isinstance(value, dataclasses.Field):
                default = _NOTHING if value.default is dataclasses.MISSING else value.default
                make = None if value.default_factory is dataclasses.MISSING else value.default_factory
                given = value.init
            names |= {f"default_{name}": default, f"make_{name}": make}
            if given:
                usual = "nothing" if make is not None else "" if default is _NOTHING else f"default_{name}"
                parameters.append(f"{name}={usual}" if usual else name)
            if make is not None:
                made = f"make_{name}()"
                body.append(
                    f"self.{name} = {name} if {name} is not nothing else {made}"
                    if given
                    else f"self.{name} = {made}"
                )
            elif given:
                body.append(f"self.{name} = {name}")
            elif default is not _NOTHING:
                body.append(f"self.{name} = default_{name}")
        if hasattr(kind, "__post_init__"):
            body.append("self.__post_init__()")
        return _compiled(kind, f"__init__({', '.join(parameters)})", body or ["pass"], names)

    def _shown(kind: type, what: str) -> list[str]:
        """The fields that take part in something."""
        fields = getattr(kind, _SPECIFICATION).items()
        return [
            name for name, value in fields if not isinstance(value, dataclasses.Field) or getattr(value, what)
        ]

    def _together(kind: type, owner: str) -> str:
        """The text of a tuple of all fields that are compared."""
        return "(" + "".join(f"{owner}.{name}, " for name in _shown(kind, "compare")) + ")"

    def _eq(kind: type) -> Callable[..., object]:
        same = f"return {_together(kind, 'self')} == {_together(kind, 'other')}"
        body = ["if other.__class__ is self.__class__:", f" {same}", "return NotImplemented"]
        return _compiled(kind, "__eq__(self, other)", body, {})

    def _hash(kind: type) -> Callable[..., object]:
        return _compiled(kind, "__hash__(self)", [f"return hash({_together(kind, 'self')})"], {})

    def _repr(kind: type) -> Callable[..., object]:
        parts = ", ".join(f"{name}={{self.{name}!r}}" for name in _shown(kind, "repr"))
        text = f"return f'{{self.__class__.__qualname__}}({parts})'"
        return _compiled(kind, "__repr__(self)", [text], {})
