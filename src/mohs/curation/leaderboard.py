"""A page that ranks systems by their scores on one benchmark: measured from score files, reported from papers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from mohs.curation.scoring import FORMAT
from mohs.errors import BadInput
from mohs.records.limited_yaml import read_yaml
from mohs.report.template import rendered, written

ADVGLUE = "advglue"  # figures of the AdvGLUE paper, Tables 4 and 5
_MOST_SYSTEMS = 1000

Share = tuple[float, float | None, float | None]  # with its interval, if it is known


@dataclass(frozen=True)
class Row:
    """One system. measured: from a score file; otherwise somebody reported the figures."""

    name: str
    measured: bool
    where: str  # the file, or who reported it
    average: Share | None
    benign: Share | None
    gap: Share | None
    tasks: Mapping[str, Share] = field(default_factory=dict)
    families: Mapping[str, Share] = field(default_factory=dict)
    hash: str = ""
    split: str = ""
    errors: int = 0


@dataclass(frozen=True)
class Leaderboard:
    """All systems, the best average first. Systems without an average come last."""

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    def tasks(self) -> list[str]:
        """The tasks that any system has."""
        return list(dict.fromkeys(name for row in self.rows for name in row.tasks))

    @property
    def families(self) -> list[str]:
        """The families of attacks that any system has."""
        return list(dict.fromkeys(name for row in self.rows for name in row.families))

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"rows": [asdict(row) for row in self.rows], "notes": list(self.notes)}

    def page(self, path: str | Path) -> Path:
        """Write the page: one file that loads nothing."""
        count = sum(row.measured for row in self.rows)
        page = rendered(
            "leaderboard.html.j2",
            title=self.title,
            headline=f"{count} measured and {len(self.rows) - count} reported",
            flags=self.notes,
            versions={},
            rows=self.rows,
            tasks=self.tasks,
            families=self.families,
            shown=shown,
        )
        return written(page, Path(path))


def leaderboard(scores: Iterable[str | Path], reported: Iterable[str | Path] = ()) -> Leaderboard:
    """Rank systems. scores: files of `mohs benchmark score`. reported: YAML files of figures, or advglue."""
    measured = [_measured(Path(path).expanduser()) for path in scores]
    told = [row for place in reported for row in _reported(place)]
    rows = [*measured, *told]
    if not rows:
        raise BadInput("There is no score to rank; give files of `mohs benchmark score --out`, or --reported advglue.")
    if len(rows) > _MOST_SYSTEMS:
        raise BadInput(f"{len(rows):,} systems are too many for one page; give at most {_MOST_SYSTEMS:,}.")
    notes = []
    kinds = {(row.hash, row.split) for row in measured}
    if len(kinds) > 1:
        notes.append("The score files are of different benchmarks or splits, so they are no fair comparison.")
    tasks = {name for row in measured for name in row.tasks}
    notes += [
        f"{row.name} was not scored on {', '.join(lacking)}; its average is without."
        for row in (measured if len(kinds) == 1 else ())
        if (lacking := sorted(tasks - set(row.tasks)))
    ]
    if measured and told:
        notes.append("Reported figures were not measured here; they may be of other texts (another split, say).")
    rows.sort(key=lambda row: (row.average is None, -(row.average[0] if row.average else 0.0), row.name))
    names = dict.fromkeys(row.where for row in measured)
    titles = dict.fromkeys(_title(Path(name)) for name in names)
    return Leaderboard(f"leaderboard of {', '.join(titles)}" if titles else "leaderboard", tuple(rows), tuple(notes))


def shown(share: Share | None) -> str:
    """A share as a percentage, with its interval if there is one."""
    if share is None:
        return "–"
    value, low, high = share
    return f"{value:.1%}" + ("" if low is None or high is None else f" [{100 * low:.1f}, {100 * high:.1f}]")


def _title(path: Path) -> str:
    return str(_read_score(path)["benchmark"])


def _measured(path: Path) -> Row:
    found = _read_score(path)
    try:
        return Row(
            name=str(found["name"]),
            measured=True,
            where=str(path),
            average=_share(found["average"]),
            benign=_share(found["benign"]),
            gap=_share(found["gap"]),
            tasks={str(task["task"]): share for task in found["tasks"] if (share := _share(task["score"])) is not None},
            families={
                str(name): share for name, one in found["families"].items() if (share := _share(one)) is not None
            },
            hash=str(found["hash"]),
            split=str(found["split"]),
            errors=int(found["errors"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} is not a whole score file ({error!r}); score again.") from error


def _read_score(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror or error}); name a score file.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON; name a file of `mohs benchmark score --out`.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadInput(f"{path} is no score file ({FORMAT}); name a file of `mohs benchmark score --out`.")
    return found


def _share(found: Any) -> Share | None:
    if found is None or found["value"] is None:
        return None
    low, high = found["interval"] or (None, None)
    share = float(found["value"]), None if low is None else float(low), None if high is None else float(high)
    if not all(one is None or -1 <= one <= 1 for one in share):  # a gap may be below zero
        raise ValueError(f"{share[0]} is no share")
    return share


def reported_figures(place: str | Path) -> dict[str, Any]:
    """Figures that somebody reported: `source`, and under `systems` a list of rows with percentages."""
    if str(place) == ADVGLUE:
        text, where = (files("mohs.curation") / "advglue.yaml").read_text("utf-8"), "advglue.yaml"
    else:
        path = Path(place).expanduser()
        where = str(path)
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadInput(f"{path} cannot be read ({reason}); name a file of reported figures, or advglue.") from error
    try:
        found = read_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{where} is not YAML ({' '.join(str(error).split())[:200]}).") from error
    if not isinstance(found, dict) or not isinstance(found.get("systems"), list):
        raise BadInput(f"{where} has no list of `systems`; see docs/benchmark.md for an example.")
    return found


def _reported(place: str | Path) -> list[Row]:
    found = reported_figures(place)
    source = str(found.get("source") or place)
    rows = []
    for number, one in enumerate(found["systems"], 1):
        where = f"{place}: system {number}"
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise BadInput(f"{where} has no name.")
        average, benign = _percent(one.get("average"), where), _percent(one.get("benign"), where)
        gap = None if average is None or benign is None else (benign[0] - average[0], None, None)
        tasks, families = one.get("tasks") or {}, one.get("families") or {}
        if not isinstance(tasks, Mapping) or not isinstance(families, Mapping):
            raise BadInput(f"{where}: tasks and families are NAME: PERCENT.")
        rows.append(
            Row(
                name=one["name"],
                measured=False,
                where=source,
                average=average,
                benign=benign,
                gap=gap,
                tasks=_percents(tasks, where),
                families=_percents(families, where),
            )
        )
    return rows


def _percents(found: Mapping[Any, Any], where: str) -> dict[str, Share]:
    return {str(name): share for name, value in found.items() if (share := _percent(value, where)) is not None}


def _percent(value: Any, where: str) -> Share | None:
    """A percentage; several, such as accuracy and F1, are averaged."""
    if value is None:
        return None
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one <= 100:
            raise BadInput(f"{where} has {one!r}, which is no percentage; give a number from 0 to 100.")
    return sum(values) / len(values) / 100, None, None
