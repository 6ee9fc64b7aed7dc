"""The order of rooms: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import mohs

SOURCE = Path(mohs.__file__).parent

# Left may not import right; rooms on the same level do not import each other. Top-level modules are rooms of their own.
LEVELS = [
    {"errors", "__init__", "verifier"},
    {"assets"},
    {"engine", "text"},
    {"records"},
    {"models", "space"},
    {"tasks"},
    {"attacks"},
    {"bounds"},
    {"second_order", "bias", "defences"},
    {"training", "certifying"},
    {"report"},
    {"runs"},
    {"audits", "comparisons", "analyses", "defending", "detecting"},
    {"studies"},
    {"curation"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: number for number, rooms in enumerate(LEVELS) for room in rooms}
# Annotations only: the page is written from a Run, which in turn offers to write the page.
TYPE_ONLY = {("report", "runs")}


def room_of(path: Path) -> str:
    part = path.relative_to(SOURCE).parts[0]
    return part.removesuffix(".py")


def imports(tree: ast.AST) -> list[tuple[str, bool]]:
    """Every mohs room a module imports, anywhere in it, and whether only for type checkers."""
    quiet: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            quiet.update(inner for part in node.body for inner in ast.walk(part))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "mohs":
            assert node.level == 0, "imports are absolute"
            parts = node.module.split(".")
            rooms = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            found += [(room, node in quiet) for room in rooms]
        elif isinstance(node, ast.Import):
            found += [(a.name.split(".")[1], node in quiet) for a in node.names if a.name.startswith("mohs.")]
    return found


def violations() -> list[str]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = room_of(path)
        if room in ("pocket", "__init__"):
            continue
        for other, quiet in imports(ast.parse(path.read_text("utf-8"))):
            if other == room or other == "__version__":
                continue
            if quiet and (room, other) in TYPE_ONLY:
                continue
            if LEVEL[other] >= LEVEL[room]:
                found.append(f"{path.relative_to(SOURCE)} imports {other}")
    return found


def test_rooms_import_only_what_is_below_them() -> None:
    assert violations() == []


def test_every_room_has_a_level() -> None:
    rooms = {room_of(path) for path in SOURCE.rglob("*.py")} - {"pocket"}
    assert rooms <= set(LEVEL)


def test_the_check_sees_a_violation() -> None:
    tree = ast.parse("def f():\n    from mohs.cli import main\n")
    assert imports(tree) == [("cli", False)]


def test_the_engine_knows_no_text_torch_clock_or_threads() -> None:
    forbidden = {"torch", "numpy", "transformers", "time", "datetime", "threading", "asyncio", "concurrent"}
    for path in (SOURCE / "engine").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert not {alias.name.split(".")[0] for alias in node.names} & forbidden, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in forbidden, path


def test_no_file_is_named_after_nothing() -> None:
    names = {path.name for path in SOURCE.rglob("*.py")}
    assert not names & {"utils.py", "util.py", "helpers.py", "base.py", "misc.py", "common.py"}
