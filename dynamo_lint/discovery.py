"""Which files to read, and which of them to report on.

Naming a folder lints the Python files and notebooks below it, minus what Git ignores and `exclude` leaves
out. Naming a file, or a folder that is part of a project, reads that project whole, because what is compiled
is rarely decided in the file that suffers, but reports on what was named, and on what that compiles, alone:
so a hook that passes changed files agrees with a run over everything. A folder is part of a project if it is
a package, if its code imports what lies beside it there, or if a script above imports it; else it is one of
its own, as an example is. Of a file outside of any project the files beside it are read that it imports,
directly or not.

A link is followed as far as what was named reaches, its repository or project included: what lies beyond is
not the project's own, and a checkout can hold a link to any file of the user.
"""

from __future__ import annotations

import os
import re
import struct
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.findings import FileError
from dynamo_lint.index import notebooks
from dynamo_lint.index.launcher_names import kind_of
from dynamo_lint.trouble import Trouble

LARGEST = {".py": 1_000_000, notebooks.ENDING: 20_000_000}
"""How the names of code end, and bytes: larger files are generated or data, or notebooks full of pictures,
and are passed over unless they are named."""
CODE = tuple(LARGEST)

PACKAGING = ("pyproject.toml", "setup.cfg")
"""Files with the metadata of a package."""
SETTINGS = (".yaml", ".yml", ".json", *PACKAGING)
"""How the names of configurations end."""
LARGEST_SETTINGS = 200_000
"""Bytes; nobody writes so much configuration by hand."""
_MOST_SETTINGS = 5000
_IMPORT = re.compile(rb"^[ \t]*\"?(?:from|import)[ \t]+([A-Za-z_][A-Za-z_0-9]*)", re.MULTILINE)

_STATEMENT = re.compile(
    rb"^[ \t]*\"?(?:from[ \t]+([.\w]*)[ \t]+import[ \t]+(\([^)]*|[^\n#;]*)|import[ \t]+([^\n#;]*))",
    re.MULTILINE,
)
_DOTTED = re.compile(rb"[A-Za-z_][\w.]*")

ENVIRONMENT = "pyvenv.cfg"
"""The file that marks a virtual environment, of any folder name (docs.python.org/3/library/venv.html)."""

NAMELESS = Path("<stdin>")
"""The name of a text without a file name; it belongs to no project."""

Opinion = Callable[[str], "bool | None"]
"""Whether a path relative to the folder is ignored; folders end in a slash, and None is no opinion."""

Excluded = Sequence[tuple[Path, Sequence[str]]]
"""Sets of patterns of what is left out, each with the folder that it counts from."""

_PLAIN = re.compile(r"[\w.\-]+", re.ASCII)
"""A pattern that is just a name."""
_LARGEST_GITIGNORE = 100_000
"""Bytes of a .gitignore; nobody writes a larger one, and each line is asked about each path."""
_STARS = re.compile(r"(?<![^/])\*\*(?![^/])|\*")
"""Each a repetition in the regular expression of a pattern."""
_FEW_STARS = 2
"""In a pattern; with more of them the regular expressions of pathspec can take hours on a long name."""

_HEADER = struct.Struct(">4sII")
_FIXED = 60
"""Bytes of an entry before its flags: times, device, owner, size, and a SHA-1."""
_EXTENDED = 0x4000
_OLDEST, _COMPRESSED = 2, 4
_LARGEST_INDEX = 500_000_000
"""Bytes; a million files take about a hundred of them, in millions."""
_LARGEST_POINTER = 10_000
"""Bytes of a file `.git`, which holds one path."""


class BadPattern(ValueError):
    """A text that Git takes for no pattern."""


@dataclass(frozen=True, slots=True)
class Ignores:
    """Ignore patterns as Git reads them: sets with the folder that each is relative to, outermost first."""

    specs: tuple[tuple[str, Opinion], ...] = ()

    def match(self, path: str, is_folder: bool) -> bool:
        """Whether a path is ignored: the innermost set that has an opinion decides, as in Git."""
        verdict = False
        for folder, opinion in self.specs:
            top = os.path.join(folder, "")
            if path.startswith(top):
                relative = path[len(top) :].replace(os.sep, "/") + ("/" if is_folder else "")
                said = opinion(relative)
                verdict = verdict if said is None else said
        return verdict

    def below(self, folder: str) -> Ignores:
        """These patterns and those of the folder's own .gitignore."""
        spec = gitignore(folder)
        return Ignores((*self.specs, (folder, spec))) if spec else self


def patterns(lines: Sequence[str]) -> Opinion:
    """Return the opinion of some ignore patterns on a path; raises `BadPattern` for a line that is none."""
    if all(map(_PLAIN.fullmatch, lines)):
        # Such as our own exclusions: names of files or folders anywhere.
        names = frozenset(lines)
        return lambda path: None if names.isdisjoint(path.split("/")) else True
    # The last pattern that matches decides.
    opinions = [part for many, group in groupby(lines, _has_many_stars) for part in _parts(many, [*group])]
    opinions.reverse()
    return opinions[0] if len(opinions) == 1 else partial(_first, tuple(opinions))


def gitignore(folder: str) -> Opinion | None:
    """The .gitignore of a folder, if it has one; as in Git a link is none, and no pattern matches nothing."""
    try:
        text = files.read(os.path.join(folder, ".gitignore"), _LARGEST_GITIGNORE, links=False)
    except OSError:
        return None
    lines = text.decode("utf-8", "replace").splitlines()
    try:
        return patterns(lines)
    except BadPattern:
        return patterns([line for line in lines if is_pattern(line)])


def is_pattern(line: str) -> bool:
    """Whether Git would take this for a pattern."""
    try:
        patterns([line])
    except BadPattern:
        return False
    return True


def _first(opinions: tuple[Opinion, ...], path: str) -> bool | None:
    for opinion in opinions:
        if (said := opinion(path)) is not None:
            return said
    return None


def _has_many_stars(line: str) -> bool:
    return len(_STARS.findall(line)) > _FEW_STARS and not line.startswith("#")


def _parts(many_stars: bool, lines: list[str]) -> Iterator[Opinion]:
    if many_stars:
        yield from map(_piecewise, lines)
        return
    # Late, because it takes as long to import as a cached run to find files.
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python has doubts about `[[`
            spec = GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error, OverflowError, RecursionError) as error:
        raise BadPattern(str(error)) from None
    yield lambda path: spec.check_file(path).include


def _piecewise(line: str) -> Opinion:
    """The opinion of one pattern, matched folder by folder and star by star, in time that grows with both."""
    from fnmatch import translate  # its stars never go back

    text = re.sub(r"(?<!\\) +$", "", line)
    said = not text.startswith("!")
    text = text.removeprefix("!")
    names = text.strip("/").split("/")
    if "/" not in text.rstrip("/"):
        names.insert(0, "**")
    try:
        tests = [None if name == "**" else re.compile(translate(_unescaped(name))).match for name in names]
    except re.error as error:
        raise BadPattern(str(error)) from None
    folders_only = text.endswith("/")

    def opinion(path: str) -> bool | None:
        parts = path.rstrip("/").split("/")
        ends = {0}
        for number, test in enumerate(tests, 1):
            if test is not None:
                ends = {end + 1 for end in ends if end < len(parts) and test(parts[end])}
            elif ends:
                ends = set(range(min(ends) + (number == len(tests)), len(parts) + 1))
        # What lies in a folder that matches, matches as well.
        last = len(parts) - (folders_only and not path.endswith("/"))
        return said if any(end <= last for end in ends) else None

    return opinion


def _unescaped(name: str) -> str:
    """A name of a pattern as `fnmatch` spells it."""
    name = re.sub(r"\\(.)", lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], name)
    return name.replace("[^", "[!")


class Repositories:
    """The repositories that some paths lie in, each looked at only when it is asked about."""

    def __init__(self) -> None:
        self._above: dict[str, str | None] = {}
        self._tracked: dict[str, frozenset[str]] = {}

    def keep(self, path: str) -> bool:
        """Whether a path that a .gitignore names belongs to the project: Git tracks it, or files below it.

        Where there is no repository, as in an archive of one, nobody says what was ignored in vain.
        """
        repository = self.around(os.path.dirname(path))
        if repository is None:
            return True
        if repository not in self._tracked:
            self._tracked[repository] = _with_folders(tracked(repository))
        return os.path.relpath(path, repository).replace(os.sep, "/") in self._tracked[repository]

    def around(self, folder: str) -> str | None:
        """The working tree of Git that a folder is, or lies in."""
        if folder not in self._above:
            above = os.path.dirname(folder)
            if os.path.exists(os.path.join(folder, ".git")):
                self._above[folder] = folder
            else:
                self._above[folder] = None if above == folder else self.around(above)
        return self._above[folder]


def tracked(repository: str) -> frozenset[str]:
    """The paths in the index of a repository, relative to it; none if it has no index that can be read.

    The layout is that of git's Documentation/gitformat-index.txt. Git is not run: the configuration of a
    repository can name programs that it starts.
    """
    try:
        return frozenset(_paths(files.read(os.path.join(_folder_of(repository), "index"), _LARGEST_INDEX)))
    except (OSError, ValueError, IndexError, struct.error):
        return frozenset()


def _folder_of(repository: str) -> str:
    """The folder of Git: elsewhere for a submodule, or a further working tree."""
    folder = os.path.join(repository, ".git")
    if os.path.isdir(folder):
        return folder
    text = files.read(folder, _LARGEST_POINTER).decode("utf-8")
    return os.path.join(repository, text.partition("gitdir:")[2].strip())


def _paths(index: bytes) -> Iterator[str]:
    signature, version, count = _HEADER.unpack_from(index)
    if signature != b"DIRC" or not _OLDEST <= version <= _COMPRESSED:
        raise ValueError("not an index of git")
    at, path = _HEADER.size, b""
    for _ in range(count):
        start, flags = at, int.from_bytes(index[at + _FIXED : at + _FIXED + 2], "big")
        at += _FIXED + (4 if flags & _EXTENDED else 2)
        kept = b""
        if version == _COMPRESSED:
            cut, at = _number(index, at)
            kept = path[: len(path) - cut]
        end = index.index(b"\0", at)
        path = kept + index[at:end]
        yield os.fsdecode(path)
        # Entries are padded to multiples of eight, unless they are compressed.
        at = end + 1 if version == _COMPRESSED else start + (end - start) // 8 * 8 + 8


def _number(index: bytes, at: int) -> tuple[int, int]:
    """A number of variable width (git's varint.c), and where it ends."""
    byte = index[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = index[at]
        value = (value + 1) << 7 | byte & 0x7F
    return value, at + 1


def _with_folders(paths: frozenset[str]) -> frozenset[str]:
    found = set(paths)
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


class DiscoveryError(Trouble):
    """A path that cannot be linted."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """The files of one run; all paths are POSIX and relative to `root`."""

    root: Path
    files: tuple[str, ...]
    """To be read, sorted."""
    reported: frozenset[str]
    """The part of `files` whose findings are wanted."""
    passed_over: tuple[str, ...] = ()
    """Files that were left out for their size; those that would be reported on are errors too."""
    outside: tuple[str, ...] = ()
    """Links that were left out, because they lead out of what was named or to something else than code."""
    errors: tuple[FileError, ...] = ()
    """Folders that could not be listed, and files that are too large."""
    given: Mapping[str, bytes] = field(default_factory=dict)
    """Content that stands in for what is on the disk, by path."""
    settings: Callable[[], tuple[str, ...]] = tuple
    """Looks for the configurations beside the files: only if the code builds something from such."""
    named: tuple[Path, ...] = ()
    """The paths that were asked for, absolute."""
    launchers: tuple[str, ...] = ()
    """Scripts and descriptions by whose names they may start programs; not among `files`."""
    heard: frozenset[str] = frozenset()
    """The part of `launchers` whose findings are wanted."""
    exclude: Excluded = ()
    configured: tuple[Path, ...] = ()
    """The folders with a configuration file, absolute, around files that were found."""

    def seen_from(self, root: Path) -> Discovered:
        """The same files, with paths relative to a folder above."""
        if root == self.root:
            return self
        way = f"{self.root.relative_to(root).as_posix()}/"
        look = self.settings
        return replace(
            self,
            root=root,
            files=tuple(way + path for path in self.files),
            reported=frozenset(way + path for path in self.reported),
            passed_over=tuple(way + path for path in self.passed_over),
            outside=tuple(way + path for path in self.outside),
            errors=tuple(replace(error, path=way + error.path) for error in self.errors),
            launchers=tuple(way + path for path in self.launchers),
            heard=frozenset(way + path for path in self.heard),
            given={way + path: text for path, text in self.given.items()},
            settings=lambda: tuple(way + path for path in look()),
        )


@dataclass(frozen=True, slots=True)
class Omissions:
    """The paths left out in a folder."""

    git: Ignores
    excludes: Ignores
    repositories: Repositories

    def match(self, path: str, is_folder: bool) -> bool:
        """Whether a path is left out."""
        if self.excludes.match(path, is_folder):
            return True
        return self.git.match(path, is_folder) and not self.repositories.keep(path)


@dataclass(frozen=True, slots=True)
class Walked:
    """Everything below one folder; paths are text, because making `Path`s takes as long as finding files."""

    files: tuple[str, ...]
    passed_over: tuple[str, ...]
    outside: tuple[str, ...]
    unlistable: tuple[tuple[str, str], ...]
    folders: tuple[tuple[str, Omissions], ...]
    """Where they were looked for, and what is left out there."""
    tops: tuple[str, ...]
    """How far links may lead."""
    configured: tuple[str, ...]
    """Those of the folders that have a configuration file."""
    launchers: tuple[str, ...]
    """Files that may start programs, by their names; what is large is data."""


def base(paths: Sequence[Path], given: Collection[Path] = ()) -> Path:
    """The deepest folder that holds all the paths: where the search for a configuration starts."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise DiscoveryError("the current folder no longer exists; change to another folder") from None
    for path in paths:
        if path not in given and not path.exists():
            raise DiscoveryError(f"{path}: no such file or folder")
    folders = [absolute if absolute.is_dir() else absolute.parent for absolute in map(_absolute, paths)]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:
        raise DiscoveryError("the paths are on different drives; lint one drive at a time") from None


def _errors(walks: Iterable[Walked], too_large: Collection[str], top: str) -> Iterator[FileError]:
    """The folders that cannot be listed, and the files that are too large, as errors."""
    unlistable = {(_relative(folder, top), why) for walk in walks for folder, why in walk.unlistable}
    for path, why in sorted(unlistable):
        yield FileError(path, 1, f"this folder cannot be listed: {why}")
    for file in sorted(too_large):
        yield _too_large(_relative(file, top))


def discover(
    paths: Sequence[Path],
    exclude: Excluded,
    force_exclude: bool = False,
    given: Mapping[Path, bytes] | None = None,
    cwd: Path | None = None,
) -> Discovered:
    """Find the code for the given paths; each set of `exclude` patterns counts from its folder.

    `given` holds the content of those paths that need not exist; `cwd` stands in for the current folder.
    """
    given = dict(given or {})
    base(paths, given)
    excludes = _excludes(exclude)
    if device := next((path for path in paths if path not in given and _is_device(path)), None):
        raise DiscoveryError(f"{device}: is a device, not a file; `-` reads stdin")
    given |= {path: _piped(path) for path in paths if path not in given and path.is_fifo()}
    named = [_absolute(path) for path in paths]
    repositories = Repositories()
    wanted = [path for path in named if not (force_exclude and _left_out(path, excludes, repositories))]
    folders = [path for path in wanted if path.is_dir()]
    single = [path for path in wanted if not path.is_dir()]
    within = {path: files.project_above(path.parent) for path in single if path.name != NAMELESS.name}
    projects = {project for project in within.values() if project is not None}
    texts = {_absolute(path): text for path, text in given.items()}
    alone = (path for path, project in within.items() if project is None)
    beside = {file for path in alone for file in _beside(path, texts.get(path), excludes)}
    tops = _tops([*folders, *projects], single)
    walks = {folder: _walk(folder, excludes, repositories, tops) for folder in {*folders, *projects}}
    around = {_project_of(folder, walks[folder].files) for folder in folders}
    if larger := {project for project in around if project is not None} - walks.keys():
        projects |= larger
        tops = _tops([*folders, *projects], single)
        walks |= {project: _walk(project, excludes, repositories, tops) for project in larger}
    started = {str(path) for path in single if _is_launcher(path, texts.get(path))}
    launchers = started.union(*(walk.launchers for walk in walks.values()))
    heard = started.union(*(walks[folder].launchers for folder in folders))
    reported = {file for folder in folders for file in walks[folder].files} | set(map(str, single))
    everything = {file for walk in walks.values() for file in walk.files} | reported | beside
    root = _root([*named, *projects, *map(Path, beside)], cwd or Path.cwd())
    top = os.path.join(root, "")
    passed_over = {file for walk in walks.values() for file in walk.passed_over} - reported
    outside = {file for walk in walks.values() for file in walk.outside} - reported
    too_large = {file for folder in folders for file in walks[folder].passed_over} - reported
    return Discovered(
        root=root,
        files=tuple(sorted(_relative(file, top) for file in everything)),
        reported=frozenset(_relative(file, top) for file in reported),
        passed_over=tuple(sorted(_relative(file, top) for file in passed_over)),
        outside=tuple(sorted(_relative(file, top) for file in outside)),
        errors=tuple(_errors(walks.values(), too_large, top)),
        given={_relative(str(path), top): text for path, text in texts.items()},
        settings=partial(_settings, tuple(walks.values()), top),
        named=tuple(named),
        launchers=tuple(sorted(_relative(file, top) for file in launchers)[:_MOST_SETTINGS]),
        heard=frozenset(_relative(file, top) for file in heard),
        exclude=tuple(exclude),
        configured=tuple(sorted({*_configured(walks.values()), *_configured_above(beside, root)})),
    )


def _is_launcher(path: Path, text: bytes | None) -> bool:
    """Whether a file that was named starts programs."""
    if path.name.endswith(CODE):
        return False
    head = text
    if head is None:
        with suppress(OSError):
            head = files.read_named(path)[:200]
    return kind_of(str(path), head or b"") != ""


def _configured(walks: Iterable[Walked]) -> Iterator[Path]:
    """The folders with a configuration file among those that were walked."""
    return (Path(folder) for walk in walks for folder in walk.configured)


def _configured_above(paths: Iterable[str], root: Path) -> Iterator[Path]:
    """The folders with a configuration file around some files below a root."""
    for folder in {above for path in paths for above in Path(path).parents if above.is_relative_to(root)}:
        if any((folder / name).is_file() for name in files.CONFIGURATIONS):
            yield folder


def _is_device(path: Path) -> bool:
    return path.is_char_device() or path.is_block_device()


def _largest(name: str) -> int:
    """The bytes of code of some name that are read unasked; a file may be called `.py` and nothing more."""
    return next(size for ending, size in LARGEST.items() if name.endswith(ending))


def _too_large(path: str) -> FileError:
    limit = files.size(_largest(path))
    advice = "name the file on the command line to have it linted, or exclude it with `exclude`"
    return FileError(path, 1, f"it is larger than {limit}", severity="warning", advice=advice)


def _project_of(folder: Path, below: Sequence[str]) -> Path | None:
    """The project that a folder is part of, if it is not one of its own, nor apart from it."""
    project = files.project_above(folder)
    if project is None or project == folder:
        return None
    if (folder / "__init__.py").exists():
        return project
    between = [above for above in folder.parents if above.is_relative_to(project)]
    scripts = [os.path.join(above, name) for above in between for name in _names(above, CODE)]
    own = {folder.name, *_modules(folder)}
    if not own.isdisjoint(_imported(scripts)):
        return project
    beside = {*_modules(project), *_modules(project / "src")}
    return None if beside.isdisjoint(_imported(below) - own) else project


def _modules(folder: Path) -> Iterator[str]:
    """The names that the files and folders in a folder are imported under."""
    return (name.removesuffix(".py") for name in _names(folder, ("", ".py")))


def _names(folder: Path, endings: tuple[str, ...]) -> list[str]:
    """The names in a folder that end so; none if it cannot be listed."""
    with suppress(OSError):
        return sorted(name for name in os.listdir(folder) if os.path.splitext(name)[1] in endings)
    return []


def _imported(paths: Iterable[str]) -> set[str]:
    """The first names of all that files import from outside their own package."""
    found: set[str] = set()
    for path in paths:
        with suppress(OSError):
            found.update(name.decode() for name in _IMPORT.findall(files.read_named(Path(path))))
    return found


def _beside(script: Path, text: bytes | None, excludes: Ignores) -> set[str]:
    """The files that a script without a project imports, and those that these import, below its folder.

    A module of a package counts its imports from the folder of the package.
    """
    top = script.parent
    while (top / "__init__.py").is_file() and top != top.parent:
        top = top.parent
    tops = (os.path.realpath(top),)
    found: set[str] = set()
    pending = [script]
    while pending:
        path = pending.pop()
        source = text if path == script else None
        with suppress(OSError):
            source = files.read(path) if source is None else source
        for stem in _imported_stems(source or b"", path, top):
            for file in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")):
                own = file.is_file() and files.inside(file, tops) and file.stat().st_size <= LARGEST[".py"]
                if own and file != script and str(file) not in found and not excludes.match(str(file), False):
                    found.add(str(file))
                    pending.append(file)
    return found


def _imported_stems(source: bytes, path: Path, top: Path) -> Iterator[Path]:
    """The paths, without an ending, that the import statements of a file may mean below a folder."""
    for module, names, modules in _STATEMENT.findall(source):
        dotted = module.decode().lstrip(".")
        base = top
        if dots := len(module) - len(dotted):
            base = path.parents[min(dots, len(path.parents)) - 1]
        if not base.is_relative_to(top):
            continue
        wanted = [name.decode() for name in _DOTTED.findall(names or modules)]
        if module:
            wanted = [dotted, *(f"{dotted}.{name}".strip(".") for name in wanted)]
        for name in wanted:
            parts = [part for part in name.split(".") if part]
            yield from (base.joinpath(*parts[:count]) for count in range(1, len(parts) + 1))


def _excludes(exclude: Excluded) -> Ignores:
    """The patterns of the configuration and of the command line."""
    try:
        return Ignores(tuple((str(folder), patterns(lines)) for folder, lines in exclude))
    except BadPattern:
        bad = next(line for _, lines in exclude for line in lines if not is_pattern(line))
        raise DiscoveryError(f"exclude: {bad!r} is no pattern as in .gitignore") from None


def _piped(path: Path) -> bytes:
    """The bytes that come out of a named pipe."""
    try:
        return files.read_named(path)
    except OSError as error:
        raise DiscoveryError(f"{path}: cannot be read: {error.strerror}") from None


def _tops(folders: Iterable[Path], single: Iterable[Path]) -> tuple[str, ...]:
    """How far links may lead: what was named, and the repository or project around each folder of it."""
    named = {os.path.realpath(path) for path in (*folders, *single)}
    return tuple(sorted(named | {files.around(folder) for folder in folders}))


def _is_own(path: str, tops: tuple[str, ...], endings: tuple[str, ...]) -> bool:
    """Whether a link leads to something of the project that could stand in its place."""
    real = os.path.realpath(path)
    return real.endswith(endings) and files.inside(real, tops)


def _looked_at(entry: os.DirEntry[str]) -> tuple[bool, bool, int] | None:
    """Whether an entry is a folder, whether it is a launcher, its size in bytes; None if it is no code."""
    try:
        is_folder = entry.is_dir()
        starts = not is_folder and not entry.name.endswith(CODE) and kind_of(entry.name) != ""
        if not is_folder and not ((starts or entry.name.endswith(CODE)) and entry.is_file()):
            return None
        return is_folder, starts, 0 if is_folder else entry.stat().st_size
    except OSError:
        return None  # gone by now, or a link to itself


def _walk(folder: Path, excludes: Ignores, repositories: Repositories, tops: tuple[str, ...]) -> Walked:
    """All code below a folder; links to folders come last, so that files keep their real names."""
    top = str(folder)
    ignores = _gitignores_above(folder, repositories)
    # A folder that was named is wanted even where it is ignored as a whole: then only what lies below counts.
    if ignores.match(top, True):
        ignores = Ignores()
    if excludes.match(top, True) or not any(folder.is_relative_to(home) for home, _ in excludes.specs):
        excludes = Ignores(tuple((top, spec) for _, spec in excludes.specs))
    found: list[str] = []
    passed_over: list[str] = []
    outside: list[str] = []
    unlistable: list[tuple[str, str]] = []
    searched: list[tuple[str, Omissions]] = []
    configured: list[str] = []
    launchers: list[str] = []
    seen: set[str] = set()
    pending = [(top, ignores)]
    links: list[tuple[str, Ignores]] = []
    while pending or links:
        here, outer = pending.pop() if pending else links.pop(0)
        real = os.path.realpath(here)
        if real in seen:
            continue
        seen.add(real)
        inner = outer.below(here)
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            unlistable.append((here, error.strerror or str(error)))
            continue
        if here != top and any(entry.name == ENVIRONMENT for entry in entries):
            continue
        omissions = Omissions(inner, excludes, repositories)
        searched.append((here, omissions))
        configured += [here] if any(entry.name in files.CONFIGURATIONS for entry in entries) else []
        for entry in entries:
            looked_at = _looked_at(entry)
            if looked_at is None or omissions.match(entry.path, looked_at[0]):
                continue
            is_folder, starts, size = looked_at
            if starts:
                if size <= LARGEST_SETTINGS and (not entry.is_symlink() or _is_own(entry.path, tops, ("",))):
                    launchers.append(entry.path)
            elif entry.is_symlink() and not _is_own(entry.path, tops, ("",) if is_folder else CODE):
                outside.append(entry.path)
            elif is_folder:
                (links if entry.is_symlink() else pending).append((entry.path, inner))
            else:
                (found if size <= _largest(entry.name) else passed_over).append(entry.path)
    return Walked(
        files=tuple(found),
        passed_over=tuple(passed_over),
        outside=tuple(outside),
        unlistable=tuple(unlistable),
        folders=tuple(searched),
        tops=tops,
        configured=tuple(configured),
        launchers=tuple(launchers),
    )


def _settings(walks: tuple[Walked, ...], top: str) -> tuple[str, ...]:
    """The configurations in the folders that were walked, sorted; what is large is data."""
    found: set[str] = set()
    for here, left_out, tops in ((*folder, walk.tops) for walk in walks for folder in walk.folders):
        with suppress(OSError):  # gone by now
            for entry in os.scandir(here):
                wanted = entry.name.endswith(SETTINGS) and entry.is_file()
                own = wanted and (not entry.is_symlink() or _is_own(entry.path, tops, SETTINGS))
                if own and entry.stat().st_size <= LARGEST_SETTINGS:
                    found.update(() if left_out.match(entry.path, False) else (_relative(entry.path, top),))
    return tuple(sorted(found)[:_MOST_SETTINGS])


def _gitignores_above(path: Path, repositories: Repositories) -> Ignores:
    """The .gitignore files of the folders above `path`, as far as its repository reaches."""
    repository = repositories.around(str(path))
    ignores = Ignores()
    if repository is not None:
        for folder in reversed([folder for folder in path.parents if folder.is_relative_to(repository)]):
            ignores = ignores.below(str(folder))
    return ignores


def _left_out(path: Path, excludes: Ignores, repositories: Repositories) -> bool:
    """A named path that `--force-exclude` drops."""
    omissions = Omissions(_gitignores_above(path, repositories), excludes, repositories)
    return omissions.match(str(path), path.is_dir())


def _root(paths: Sequence[Path], cwd: Path) -> Path:
    if all(path.is_relative_to(cwd) for path in paths):
        return cwd
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))


def _absolute(path: Path) -> Path:
    # Not resolved: a path is reported the way it was given.
    return Path(os.path.normpath(path.absolute()))


def _relative(path: str, top: str) -> str:
    return path.removeprefix(top).replace(os.sep, "/")
