"""Where a victim's code comes from: the version of its package, and the sources of what it imports beside it.

A fingerprint is a hash of weights, or of the file that a function is in. The answers also depend on the helpers that
the function imports, and on the release of the package that it comes from.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

_OURS = __name__.partition(".")[0]


def origin_of(victim: Any) -> dict[str, str]:
    """The packages (with their versions) and the sources (their hash) that a victim's own code comes from."""
    packages: set[str] = set()
    sources: dict[str, bytes] = {}
    for name, counts in dict.fromkeys(_modules(victim)):
        top = name.partition(".")[0]
        file = getattr(sys.modules.get(name), "__file__", None)
        if top == _OURS or not file:
            continue
        path = Path(file)
        installed = _installed(path)
        packages.update(_release(top, installed))
        if counts and not installed and path.suffix == ".py":
            sources |= _sources(path, name)
    found = {"package": ", ".join(sorted(packages))} if packages else {}
    if sources:
        digest = hashlib.sha256()
        for place, content in sorted(sources.items()):
            digest.update(f"{place}\0{len(content)}\0".encode() + content)
        found["sources"] = digest.hexdigest()[:16]
    return found


def _modules(victim: Any) -> Iterator[tuple[str, bool]]:
    """The modules that its function or class comes from, and those of the victims inside.

    With each, whether its source counts. It does for a function that is known by its place; other victims have
    fingerprints of their own.
    """
    made: Any = getattr(victim, "made_of", victim)
    named: str | None = getattr(victim, "module", None)
    if named is not None:
        yield named, True
    while isinstance(made, functools.partial):
        made = made.func
    made = inspect.unwrap(made)
    if inspect.isfunction(made) or inspect.isclass(made):
        yield made.__module__, named is not None
    else:  # a method, or an object that can be called
        yield type(getattr(made, "__self__", made)).__module__, named is not None
    inside = getattr(victim, "victim", None)
    for one in (inside, *getattr(victim, "victims", ())):
        if one is not None and one is not victim:
            yield from _modules(one)


def _installed(path: Path) -> bool:
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return bool({"site-packages", "dist-packages"} & set(path.parts)) or any(path.is_relative_to(f) for f in folders)


def _release(top: str, installed: bool) -> list[str]:
    """The packages that a module comes from, with their versions; none if it was not installed."""
    if top in sys.stdlib_module_names:
        return []
    try:
        return [f"{top} {version(top)}"]
    except (PackageNotFoundError, ValueError):
        names = packages_distributions().get(top, []) if installed else []
        return [f"{name} {version(name)}" for name in dict.fromkeys(names)]


def _sources(path: Path, name: str) -> dict[str, bytes]:
    """The source of a module and of all modules that it imports from its own folder, directly or not, by path."""
    depth = 0 if name == "__main__" else name.count(".") + (path.name == "__init__.py")
    root = path.parents[depth]
    found: dict[str, bytes] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        place = file.relative_to(root).as_posix()
        if place in found:
            continue
        try:
            found[place] = file.read_bytes()
            tree = ast.parse(found[place])
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        package = file.relative_to(root).parts[:-1]
        for module in _imported(tree, package):
            for length in range(1, len(module) + 1):
                stem = root.joinpath(*module[:length])
                files = (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")
                waiting += filter(Path.is_file, files)
    return found


def _imported(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The modules that some code may import, as parts of their names; also attributes, which may be modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = (*above, *(node.module.split(".") if node.module else ()))
            found = [(*base, alias.name) for alias in node.names if alias.name != "*"] or [base]
        else:
            continue
        yield from (module for module in found if module and module[0] != _OURS)
