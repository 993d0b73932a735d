"""Calls of the code of the project: its functions, classes and modules, with their hooks."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator, Mapping

from dynamo_lint.calls.construct import after_init
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Function
from dynamo_lint.interpreter.breaking import LOOKUPS
from dynamo_lint.interpreter.compiled import HOOKS
from dynamo_lint.interpreter.guards import Trace
from dynamo_lint.interpreter.library import SPECIAL, Library, owner_of
from dynamo_lint.interpreter.model import (
    MISSING,
    PLAIN,
    UNKNOWN,
    Begun,
    ClassObject,
    Closure,
    CompileCall,
    Decorated,
    Edge,
    Either,
    External,
    Failed,
    Frame,
    Fresh,
    Hook,
    Manager,
    Member,
    Method,
    Object,
    Parent,
    Partial,
    Site,
    Tensor,
    Unwrapped,
    Wrapper,
    guarded_part,
    is_known,
)
from dynamo_lint.interpreter.settled import Settled, anew, eager_key, identity, is_settled
from dynamo_lint.interpreter.stage import DEEPEST, RECURSION, SKIPS
from dynamo_lint.interpreter.tracing import home_of
from dynamo_lint.models.drivers import MODULES, NAMES, OPTIMIZERS
from dynamo_lint.models.tensor_results import is_tensor_annotation
from dynamo_lint.program.refs import ClassRef, FunctionRef


class Calls(Library):
    """A stage on which calls have effects."""

    __slots__ = ()

    def call(self, node: ast.Call, frame: Frame) -> object:
        """The value of a call, with what it does."""
        site = Site(frame.where, node)
        if frame.called is not None and self._passes_on(node, frame):
            site = frame.called
        if isinstance(node.func, ast.Name) and node.func.id == "super" and len(node.args) in (0, 2):
            owner = frame.owner
            around = frame
            while around.outer is not None and around.outer.where.key != ir.MODULE_KEY and owner is None:
                around = around.outer
                owner = around.owner
            receiver = around.names.get(next(iter(around.names), ""))
            if node.args:
                given, receiver = (self.value(part, frame) for part in node.args)
                owner = given.ref if isinstance(given, ClassObject) else owner
            if isinstance(receiver, Object) and owner is not None:
                return Parent(owner, receiver)
        function = self.use(self.value(node.func, frame))
        naming = isinstance(node.func, ast.Name) and node.func.id in LOOKUPS
        self.naming += naming
        arguments = self.items(node.args, frame)
        self.naming -= naming
        keywords: dict[str, object] = {}
        for one in node.keywords:
            value = self.value(one.value, frame)
            if one.arg is not None:
                keywords[one.arg] = value
            elif isinstance(value, dict):
                self.length(value)
                read = ((key, self.read(value, "item", key, held)) for key, held in value.items())
                keywords |= {key: held for key, held in read if isinstance(key, str)}
        if isinstance(node.func, ast.Attribute):
            self.around(node.func.attr, function, arguments, Site(frame.where, node))
            holder = owner_of(function) if self.trace is not None else None
            if (
                self.trace is not None
                and holder is not None
                and _is_skipped(holder, node.func.attr, function)
            ):
                self.breaking("skipped method")
                return self.apart(self.trace, function, arguments, keywords, site)
        elif isinstance(function, Closure) and function.receiver is not None:
            name = function.where.key.rpartition(".")[2]
            self.around(name, function, arguments, Site(frame.where, node))
        if self.trace is None:
            return self.invoke(function, arguments, keywords, site)
        self.call_out(function, arguments, keywords, Site(frame.where, node), frame)
        if isinstance(function, External) and function.dotted in NAMES["vouches"] and node.args:
            self.vouch(node.args[0], frame)
        return self.invoke(function, arguments, keywords, site)

    def _passes_on(self, node: ast.Call, frame: Frame) -> bool:
        """Whether a wrapper hands on all that it was given itself: `function(*args, **kwargs)`."""
        starred = {
            part.value.id
            for part in node.args
            if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name)
        }
        starred |= {
            part.value.id for part in node.keywords if part.arg is None and isinstance(part.value, ast.Name)
        }
        if not starred or frame.where.key == ir.MODULE_KEY:
            return False
        parameters = self.project.function(frame.where).parameters
        return starred == {part.name for part in parameters if part.kind in {"vararg", "kwarg"}}

    def around(self, name: str, function: object, arguments: list[object], site: Site) -> None:
        """Notice `module.forward(x)` of a module that is compiled in place."""
        if name in SPECIAL and isinstance(function, Closure):
            receiver = function.receiver or (arguments[0] if arguments else None)
            if isinstance(receiver, Object) and receiver.compiled is not None:
                self.note("forward", site, site, receiver, receiver.compiled)

    def invoke(
        self, function: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """The value that calling something gives."""
        self.step()
        match function:
            case External(dotted):
                return self._external(dotted, arguments, keywords, site)
            case Wrapper(target, call):
                return self.run_compiled(target, call, arguments, keywords, site, in_place=False)
            case Unwrapped(target, call):
                if not function.changed:
                    self.note("unwrapped", site, site, target, call)
                return self.run_eagerly(target, arguments, keywords, site)
            case Closure():
                return self.run(function, arguments, keywords, site)
            case ClassObject(ref):
                return self._construct(ref, arguments, keywords, site)
            case Object():
                return self._module(function, arguments, keywords, site)
            case Method(receiver, name):
                return self._method(receiver, name, arguments, keywords, site)
            case Partial():
                return self._partial(function, arguments, keywords, site)
            case Either(functions):
                self.doubt += 1
                results = [self.invoke(one, arguments, keywords, site) for one in functions]
                self.doubt -= 1
                return self._one_of(results)
            case Manager():
                self.leave(function)  # `@set_stance(…)` is in force around the calls alone
                function.before.clear()
                function.settings.pop(SKIPS, None)  # `set_stance.clone` forgets it
                return Decorated(function, arguments[0]) if arguments else UNKNOWN
            case Decorated(manager, inner):
                own = Manager(manager.settings, manager.site)
                self.enter(own)
                try:
                    found = self.invoke(inner, arguments, keywords, site)
                finally:
                    self.leave(own)
                return self._inside(own, found) if isinstance(found, Iterator) else found
        presumed = self.callee_of(site) if self.trace is not None else UNKNOWN
        if presumed is not UNKNOWN:
            return self.invoke(presumed, arguments, keywords, site)
        if self.trace is not None:
            self.unfollowed.add(self.trace.cache.unit)
        self.lost([*arguments, *keywords.values()], site, "a call of what is not known")
        return UNKNOWN

    @abstractmethod
    def callee_of(self, site: Site) -> object:
        """Return what a call in compiled code runs that no run has made; UNKNOWN if nothing says so."""

    def _one_of(self, results: list[object]) -> object:
        """The value that all of some results have; not known if they differ."""
        first, *others = results
        if all(isinstance(one, Tensor) for one in results):
            shapes = [one.shape for one in results if isinstance(one, Tensor)]
            return self.tracked(Tensor(shapes[0] if len({*shapes}) == 1 else None), results)
        same = is_known(first) and all(is_known(other) and other == first for other in others)
        return first if same else UNKNOWN

    def decorated(self, decorator: object, definition: object, site: Site) -> object:
        """The function or class as a decorator leaves it; those outside the project change nothing."""
        if isinstance(decorator, Closure | ClassObject | Partial | Manager | Object):
            return self.invoke(decorator, [definition], {}, site)
        if isinstance(decorator, External) and decorator.dotted.partition(".")[0] in {"torch", "functools"}:
            return self.invoke(decorator, [definition], {}, site)
        return definition

    def _inside(self, manager: Manager, running: Iterator[object]) -> Iterator[object]:
        """The values of a generator that runs inside a context manager, which is left between them."""
        while True:
            self.enter(manager)
            try:
                one = next(running, MISSING)
            finally:
                self.leave(manager)
            if one is MISSING:
                return
            yield one

    def _partial(
        self, function: Partial, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call what `functools.partial` gave."""
        before = [self.read(function, "positional", n, one) for n, one in enumerate(function.arguments)]
        named = {name: self.read(function, "keyword", name, one) for name, one in function.keywords.items()}
        inner = self.use(self.read(function, "function", "", function.function))
        return self.invoke(inner, [*before, *arguments], {**named, **keywords}, site)

    def run(
        self,
        closure: Closure,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site | None = None,
    ) -> object:
        """Run a function of the project; a generator runs while it is asked."""
        if closure.body is not None:
            frame = Frame(closure.where, outer=closure.outer, traced=self.trace is not None)
            frame.names |= self._defaults(closure) | _of_lambda(closure.body, arguments, keywords)
            self.entering(closure, frame)
            return self.value(closure.body.body, frame)
        hidden = closure.disabled or closure.operator
        under = self.under if self.trace is None and not hidden else None
        if under is not None and self.is_frame(closure, under, arguments, keywords):
            return self.call_compiled(closure, under, arguments, keywords, site or self.current)
        edge = self.current.where, self.current.node.lineno, closure.where
        trace = self.trace
        doubted = hidden or self.doubt
        if trace is not None and trace.frames and not doubted and (trace.version, edge) in self.splits.apart:
            if self.can_resume(trace):
                return self.apart(trace, closure, arguments, keywords, site or self.current)
            self.split()
        if trace is not None or under is not None or hidden:
            return self._execute(closure, arguments, keywords, site, edge)
        return self._again(closure, arguments, keywords, site, edge)

    def _again(
        self,
        closure: Closure,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site | None,
        edge: Edge,
    ) -> object:
        """Run a function eagerly, unless it has run like that since anything has changed."""
        key = eager_key(closure, arguments, keywords, self.doubt)
        before = self.effects, self.draws, len(self.met)
        settled = self.settled.get(key)
        if settled is not None and settled.serves(before, ()):
            return anew(settled.result)
        result = self._execute(closure, arguments, keywords, site, edge)
        if before == (self.effects, self.draws, len(self.met)) and is_settled(result):
            given = (closure.receiver, closure.outer, *arguments, *keywords.values())
            self.settled[key] = Settled(before, None, result, (), given)
        return result

    def _execute(
        self,
        closure: Closure,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site | None,
        edge: Edge,
    ) -> object:
        """Run the statements of a function in a frame of its own."""
        hidden = closure.disabled or closure.operator
        body = self.bodies.of(closure.where)
        given = [closure.receiver, *arguments] if closure.receiver is not None else arguments
        same = (closure.where, *map(identity, (*given, *keywords.values())))
        endless = self.doubt > 0 and (self.active[closure.where] >= RECURSION or same in self.same)
        if body is None or self.depth >= DEEPEST or endless:
            why = "a recursion that ends nobody knows where" if endless else f"calls that are {DEEPEST} deep"
            self.give_up(self.current, why if body is not None else "a function that cannot be read")
            return UNKNOWN
        before = self.entered.get(closure.where)
        if before is None or (before.doubt and not self.doubt):
            self.entered[closure.where] = Begun(len(self.met), self.doubt > 0, site or self.current)
        function = self.project.function(closure.where)
        owner = self.project.owner(closure.where)
        frame = Frame(closure.where, outer=closure.outer, owner=owner, called=site, edge=edge)
        frame.traced = self.trace is not None
        names = _bound(function, given, keywords, self._defaults(closure))
        frame.names |= _as_annotated(function, names) if frame.traced else names
        self.entering(closure, frame)
        running = self.function(body, frame)
        if self.bodies.is_generator(closure.where):
            return running
        self.depth += 1
        self.active[closure.where] += 1
        self.same.append(same)
        around, current = (self.trace, self.under), self.current
        if hidden:
            self.trace, self.under, frame.traced = None, None, False
        if self.trace is not None:
            self.trace.frames.append(frame)
        try:
            for _ in running:
                pass
        except Failed as failure:
            if self.catching or failure.called is not None:
                raise
            return self._left(frame)
        finally:
            self.depth -= 1
            self.active[closure.where] -= 1
            self.same.pop()
            if self.trace is not None and self.trace.frames[-1:] == [frame]:
                self.trace.frames.pop()
            if hidden:
                self.trace, self.under = around
            self.current = current
        if closure.disabled:
            self.split()
        return frame.result

    def _left(self, frame: Frame) -> object:
        """The result of a function that raises, mostly in a check of what is not known as it is."""
        if frame.may_return:
            return frame.result  # what goes on has returned before
        self.give_up(self.current, "an exception that nothing catches")
        return UNKNOWN

    def is_frame(
        self, closure: Closure, call: CompileCall, arguments: list[object], keywords: dict[str, object]
    ) -> bool:
        """Whether Dynamo compiles the call of a function that stands in a frame which it has left.

        It looks at each function once, and never again at one that had no tensor then: `has_tensor_in_frame`
        in torch/_dynamo/convert_frame.py.
        """
        if self.splits.lost.get(closure.where) == 0 or self.bodies.is_generator(closure.where):
            return False
        owner = closure.receiver
        if closure.where.name == "__init__" and isinstance(owner, Object) and self.is_module(owner):
            return False  # an uninitialized module ends the graph at once
        cache = self.cache_of(closure, call)
        if not (cache.left or cache.entries):
            given = (*arguments, *keywords.values(), *closure.defaults.values(), closure.receiver)
            cache.left = not (self._may_hold_tensor(*given) or self._names_torch(closure))
        return not cache.left

    def _may_hold_tensor(self, *values: object) -> bool:
        """Whether Dynamo may find a tensor or a module in some values: it looks into containers alone."""
        pending, looked_at = [*values], set[int]()
        while pending:
            one = pending.pop()
            if not isinstance(one, list | tuple | dict):
                if self._is_of_torch(one):
                    return True
            elif id(one) not in looked_at:
                self.step()
                looked_at.add(id(one))
                pending += one.values() if isinstance(one, dict) else one
        return False

    def _is_of_torch(self, value: object) -> bool:
        """Whether a value may be a tensor, a module or an optimizer, whose step runs in a frame of torch."""
        match value:
            case Object(ClassRef() as ref):
                of_torch = any(base.startswith(OPTIMIZERS) for base in self.project.external_bases(ref))
                return self.is_module(value) or of_torch or self.assigned(ref, "_fields") is not MISSING
            case Wrapper(target):
                return not isinstance(target, Closure)
        return not isinstance(value, (*PLAIN, Closure, Partial, Member))

    def _names_torch(self, closure: Closure) -> bool:
        """Whether a function names torch, or has a tensor around it."""
        inside = Frame(closure.where, outer=closure.outer)
        for name in self.bodies.mentions(closure.where).read:
            home = home_of(closure, name)
            if home is not None and home.where.key != ir.MODULE_KEY:
                if self._may_hold_tensor(home.names[name]):
                    return True
                continue
            held = self.lookup(name, inside)
            if isinstance(held, External) and held.dotted.partition(".")[0] in NAMES["traced_packages"]:
                return True
        return False

    def apart(
        self,
        trace: Trace,
        function: object,
        arguments: list[object],
        keywords: dict[str, object],
        site: Site,
    ) -> object:
        """Call a function before which the graph ends: the frame around it is resumed behind that."""
        if not self.can_resume(trace):
            self.split()
            return self.invoke(function, arguments, keywords, site)
        given = [self.handed(one) for one in arguments]
        named = {name: self.handed(one) for name, one in keywords.items()}
        self.leave_frame(trace)
        self.under, before = trace.compile, self.under
        try:
            result = self.invoke(function, given, named, site)
        finally:
            self.under = before
        self.resume_frame(trace)
        if isinstance(self.current.node, ast.Return) and self.trace is not None:
            self.go_on(self.trace)  # what is left of it is all that comes behind
        return result

    def _defaults(self, closure: Closure) -> dict[str, object]:
        """The defaults of a function: Dynamo takes the integers among them for constants.

        Those of the function that is compiled itself are arguments like others.
        """
        if self.trace is not None and not self.trace.entered:
            return dict(closure.defaults)
        return {name: self.read(closure, "default", name, value) for name, value in closure.defaults.items()}

    def _construct(
        self, ref: ClassRef, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        made = Object(ref)
        self.made.update(self.project.mro(ref))
        self.effects += 1
        init, bases = self.project.method(ref, "__init__"), self.project.external_bases(ref)
        if init is None and arguments and any(base.startswith("enum.") for base in bases):
            self.file(ref.path)
            members = self.class_attributes.get(ref, {}).values()
            named = (one for one in members if isinstance(one, Member) and one.value == arguments[0])
            return next(named, UNKNOWN)
        self.building += 1
        try:
            if init is not None:
                self.run(self.code(init, made), arguments, keywords)
            elif any(base in NAMES["containers"] for base in bases):
                self.hold(made, arguments)
            elif kind := self._learning(ref):
                self.making(made, kind, arguments, keywords)
            else:
                self._fill(made, ref, arguments, keywords, site)
        finally:
            self.building -= 1
        if self.trace is not None:
            self._made_by_compiled_code(made, ref, site)
        return made

    def _made_by_compiled_code(self, made: Object, ref: ClassRef, site: Site) -> None:
        """Notice a module with parameters that is made for one call, or an object that is not traced."""
        if not self.is_module(made):
            if self.project.method(ref, "__getattribute__") is not None:
                self.breaking("protocol", site)
        elif not self.building and not self.is_kept():
            tensors = self._named_parameters(made).values()
            if any(tensor.static and tensor.grad is not False for tensor in tensors):
                self.breaking("parts", site)

    def _fill(
        self, made: Object, ref: ClassRef, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> None:
        """Give the fields of a dataclass or a named tuple their values, and run what comes behind."""
        classes = self.project.mro(ref)
        fields = [name for part in reversed(classes) for name, _ in self.project.class_(part).annotations]
        named = self.peek(made, "_fields")
        fields = [*dict.fromkeys([str(one) for one in named] if isinstance(named, list | tuple) else fields)]
        given = dict(zip(fields, arguments, strict=False)) | keywords
        for name in fields:
            held = given.get(name, MISSING)
            if held is MISSING:
                held = self.peek(made, name)
            if isinstance(held, Fresh):
                held = self.invoke(held.factory, [], {}, site)
            if held is not MISSING:
                made.attributes[name] = self.settled_number(held)
        made.attributes |= {name: held for name, held in given.items() if name not in fields}
        after = next(filter(None, (after_init(self.project, part) for part in classes)), None)
        method = self.project.method(ref, after) if after is not None else None
        if method is not None:
            self.run(self.code(method, made), [], {})

    def _module(
        self, module: Object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Call an object."""
        if module.compiled is not None:
            return self.run_compiled(module, module.compiled, arguments, keywords, site, in_place=True)
        if module.lost is not None:
            self.note("copy", module.lost, site, module, None)
        return self.run_eagerly(module, arguments, keywords, site)

    def run_eagerly(
        self, target: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Run what a module or function does, uncompiled; parts of it may be compiled."""
        if self.trace is not None and self.is_kept_out(target):
            before, (self.trace, self.under) = (self.trace, self.under), (None, None)
            try:
                result = self.run_eagerly(target, arguments, keywords, site)
            finally:
                self.trace, self.under = before
            self.split()
            return result
        if not isinstance(target, Object):
            return self.invoke(target, arguments, keywords, site)
        if self.trace is not None and target is not self.trace.names.get("self"):
            self.burn(target, HOOKS, tuple(guarded_part(hook.function) for hook in target.hooks))
        for hook in target.hooks:
            if hook.before:
                self._hooked(hook, target, arguments, keywords, None, site)
        result = self._forward(target, arguments, keywords, site)
        for hook in target.hooks:
            if not hook.before:
                given = self._hooked(hook, target, arguments, keywords, result, site)
                result = given if given is not None and given is not UNKNOWN else result
        return result

    def _hooked(
        self,
        hook: Hook,
        module: Object,
        arguments: list[object],
        keywords: dict[str, object],
        result: object,
        site: Site,
    ) -> object:
        """Run a hook of a module; its result."""
        source = self.source_of(module)
        function = hook.function
        if source is not None:
            function = self.sourced(function, source.then("hook", module.hooks.index(hook)))
        given = [
            module,
            tuple(arguments),
            *([keywords] if hook.keywords else []),
            *([] if hook.before else [result]),
        ]
        return self.invoke(function, given, {}, site)

    def arguments_of(
        self, target: object, arguments: list[object], keywords: dict[str, object]
    ) -> tuple[object, dict[str, object]]:
        """The function that a compiled call runs, and its arguments by name; the module itself is `self`."""
        function, names = target, dict[str, object](keywords)
        if isinstance(target, Object):
            names["self"] = target
            function = self.forward_of(target)
        elif isinstance(target, Method):
            names["self"] = target.receiver
        while isinstance(function, Wrapper | Decorated | Unwrapped | Partial):
            if isinstance(function, Partial):
                arguments, keywords = [*function.arguments, *arguments], {**function.keywords, **keywords}
            function = function.function if isinstance(function, Decorated | Partial) else function.target
        if isinstance(function, Closure):
            if function.receiver is not None:
                names["self"] = function.receiver
            given = [function.receiver, *arguments] if function.receiver is not None else arguments
            if function.body is None:
                names |= _bound(self.project.function(function.where), given, keywords, function.defaults)
            else:
                names |= function.defaults | _of_lambda(function.body, given, keywords)
        return function, names

    def forward_of(self, target: Object) -> object:
        """The function that a call of an object runs; None if it has no code in the project."""
        forward = target.attributes.get("forward")
        if forward is None and isinstance(target.kind, ClassRef):
            names = ("forward", "__call__") if self.project.is_module(target.kind) else ("__call__",)
            found = next((one for name in names if (one := self.project.method(target.kind, name))), None)
            if found is not None:
                forward = self._of_class(target.kind, found.name, target)
        return forward

    def _forward(
        self, target: Object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """Run the code of an object that is called."""
        forward = target.attributes.get("forward")
        if forward is not None:
            forward = self.read(target, "attribute", "forward", forward)
        if forward is None and isinstance(target.kind, ClassRef):
            names = ("forward", "__call__") if self.project.is_module(target.kind) else ("__call__",)
            found = next((one for name in names if (one := self.project.method(target.kind, name))), None)
            if found is not None:
                forward = self._of_class(target.kind, found.name, target)
        if forward is not None and forward is not UNKNOWN:
            return self.invoke(forward, arguments, keywords, site)
        if isinstance(target.kind, str):
            self.fixes(target.kind.rpartition(".")[2], arguments, site)
        return self._library_module(target, arguments, keywords, site)

    def _of_every_object(self, receiver: Object, name: str, arguments: list[object], site: Site) -> object:
        """Call a special method that all objects inherit; MISSING if it is none of those."""
        key = self.use(arguments[0]) if arguments else None
        if not isinstance(key, str):
            return MISSING
        match name:
            case "__setattr__" if len(arguments) == 2:
                self._shadow(receiver, key, arguments[1], site)
                return None
            case "__delattr__":
                self.remove(receiver, key)
                return None
            case "__getattribute__":
                return self.attribute(receiver, key, site)
            case "__getattr__":
                if key in receiver.attributes:
                    return self.attribute(receiver, key, site)
                raise Failed(frozenset({"AttributeError", "Exception", "BaseException"}))
        return MISSING

    def _learning(self, ref: ClassRef) -> str:
        """The module of torch with parameters that a class inherits from, by its name; empty if none."""
        bases = [one for one in self.project.external_bases(ref) if one.startswith(MODULES)]
        names = (base.rpartition(".")[2] for base in bases)
        return next((name for name in names if name.startswith(tuple(NAMES["learning"]))), "")

    def inherited(
        self,
        owner: ClassRef,
        receiver: Object,
        name: str,
        arguments: list[object],
        keywords: dict[str, object],
    ) -> object:
        """Call `super().name(…)`."""
        if not isinstance(receiver.kind, ClassRef):
            return UNKNOWN
        order = self.project.mro(receiver.kind)
        for part in order[order.index(owner) + 1 :] if owner in order else ():
            wrapped = self.class_attributes.get(part, {}).get(name)
            if isinstance(wrapped, Closure):
                return self.run(wrapped.bound(receiver), arguments, keywords)
            for binding in self.project.class_bindings(part).get(name, ()):
                if isinstance(binding.value, ir.Definition):
                    where = FunctionRef(part.path, binding.value.key)
                    if where.key in self.project.files[part.path].functions:
                        return self.run(self.code(where, receiver), arguments, keywords)
        if name == "__init__" and any(
            one in NAMES["containers"] for one in self.project.external_bases(receiver.kind)
        ):
            self.hold(receiver, arguments)
        elif name == "__init__" and any(
            one.startswith(OPTIMIZERS) for one in self.project.external_bases(receiver.kind)
        ):
            options = arguments[1] if len(arguments) > 1 else keywords.get("defaults", {})
            self._grouped(
                receiver, arguments[0] if arguments else UNKNOWN, options if isinstance(options, dict) else {}
            )
        elif name == "__init__" and (kind := self._learning(receiver.kind)):
            self.making(receiver, kind, arguments, keywords)
        elif name == "compile" and self.is_module(receiver):
            return self._of_module(receiver, name, arguments, keywords, self.current)
        elif name in NAMES["returns_self"]:
            return receiver
        elif (made := self._of_every_object(receiver, name, arguments, self.current)) is not MISSING:
            return made
        elif name != "__init__":
            given = [*arguments, *keywords.values()]
            self.lost(given, self.current, f"`super().{name}` is not code of this project")
        return UNKNOWN


def _is_skipped(owner: Object, name: str, function: object) -> bool:
    """Whether Dynamo skips a method of an optimizer, or of its schedule, which wraps the step of both."""
    if name == "step":
        return owner.scheduled or "optimizer" in owner.attributes
    inherited = isinstance(function, Method) and name in NAMES["skipped_of_optimizers"]
    return inherited and "param_groups" in owner.attributes


def _bound(
    function: Function, given: list[object], keywords: Mapping[str, object], defaults: Mapping[str, object]
) -> dict[str, object]:
    """The parameters of a function with the values that a call gives them."""
    names: dict[str, object] = {}
    positional = [one.name for one in function.parameters if one.kind == "positional"]
    named = {one.name for one in function.parameters if one.kind in {"positional", "keyword"}}
    for one in function.parameters:
        constant = one.default.value if isinstance(one.default, ir.Constant) else UNKNOWN
        names[one.name] = defaults.get(one.name, constant)
        if one.kind == "vararg":
            names[one.name] = tuple(given[len(positional) :])
        elif one.kind == "kwarg":
            names[one.name] = {key: value for key, value in keywords.items() if key not in named}
    names |= dict(zip(positional, given, strict=False))
    names |= {key: value for key, value in keywords.items() if key in named}
    return names


def _as_annotated(function: Function, names: dict[str, object]) -> dict[str, object]:
    """The parameters of a function, tensors where nothing is known of them but such an annotation."""
    unknown = (one for one in function.parameters if names.get(one.name) is UNKNOWN)
    return names | {one.name: Tensor() for one in unknown if is_tensor_annotation(one.annotation)}


def _of_lambda(body: ast.Lambda, given: list[object], keywords: Mapping[str, object]) -> dict[str, object]:
    """The parameters of a lambda with the values that a call gives them."""
    positional = [one.arg for one in (*body.args.posonlyargs, *body.args.args)]
    names: dict[str, object] = dict(zip(positional, given, strict=False))
    if body.args.vararg is not None:
        names[body.args.vararg.arg] = tuple(given[len(positional) :])
    if body.args.kwarg is not None:
        names[body.args.kwarg.arg] = dict(keywords)
        return names
    return names | dict(keywords)
