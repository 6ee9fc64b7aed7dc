"""Runs in memory and pages taken apart, for the tests of reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import LevelFinding, Shown
from mohs.records import Outcome, Record, RunStore
from mohs.runs.run import Run

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&amp;<!--"


class Parsed(HTMLParser):
    """Every tag with its attributes, the visible text, and the embedded rows."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def data(self) -> Any:
        return json.loads(self.scripts[0])

    def with_class(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def needs_nothing_else(page: Parsed) -> bool:
    """Whether no tag asks for another file and no text became a tag."""
    foreign = {"img", "iframe", "object", "link"} & {tag for tag, _ in page.tags}
    asks = [name for _, attrs in page.tags for name in attrs if name in ("src", "href") or name.startswith("on")]
    return not foreign and not asks


def kept(
    command: str,
    records: list[Record],
    identity: Mapping[str, Any] | None = None,
    *,
    tasks: Sequence[str] | None = None,
    folder: Path | None = None,
    **config: Any,
) -> Run:
    """A run in memory, or in a folder; an attack run has its tasks by the names of the attacks."""
    asked = {"victim": "pocket", "data": "films.csv", "seed": 7, "labels": ["bad", "good"]} | config
    named = list(tasks if tasks is not None else config["attacks"])
    manifest = {"command": command, "tasks": named, "config": asked, "facts": {"versions": {"mohs": "1.2"}}}
    store = RunStore.open(folder, manifest, {"examples": len(records), **(identity or {})})
    for number, record in enumerate(records):
        store.add(number, record)
    return Run(store)


def searched(number: int = 0, outcome: Outcome = Outcome.SUCCESS, **changes: Any) -> Record:
    """A second-order record."""
    values: dict[str, Any] = {
        "attack": "so-beam",
        "example_id": f"e{number}",
        "outcome": outcome,
        "label": 1,
        "names": ("text",),
        "original": ("A good, good Film.",),
        "seed": 0,
        "words": 4,
        "scores_before": (0.2, 0.8),
        "queries": 5,
    }
    return Record(**(values | changes))


def measured(number: int, pair: tuple[str, str], gaps: list[list[float]], **changes: Any) -> Record:
    """A bias record: for each distance the differences of its texts."""
    old, new = pair
    start = f"the {old} waits"
    levels = tuple(
        LevelFinding(
            k=k,
            n=len(found),
            sum=sum(found),
            squares=sum(gap * gap for gap in found),
            exact=k < 2,
            bins={int(gap // 0.02): found.count(gap) for gap in found},
            examples=tuple(
                Shown(
                    text=(f"the {old} {'waits' if k == 0 else f'sits{at}'}",),
                    patched=(f"the {new} {'waits' if k == 0 else f'sits{at}'}",),
                    before=0.5,
                    after=0.5 + gap,
                )
                for at, gap in enumerate(found[:5])
            ),
        )
        for k, found in enumerate(gaps)
    )
    values: dict[str, Any] = {
        "attack": "bias:gender",
        "example_id": f"e{number}",
        "outcome": Outcome.MEASURED,
        "label": 1,
        "names": ("text",),
        "original": (start,),
        "seed": 0,
        "words": 3,
        "finding": BiasFinding((PairFinding(old, new, 1, levels=levels),)),
    }
    return Record(**(values | changes))


def unfit(number: int) -> Record:
    """An example that no pair fits."""
    return measured(number, ("x", "y"), [], outcome=Outcome.SKIPPED, finding=None)


def biased(records: list[Record], identity: Mapping[str, Any] | None = None, **config: Any) -> Run:
    """A bias run in memory."""
    asked: dict[str, Any] = {"tasks": ["bias:gender"], "pairs": "gender", "label": 1, "k": 2, "epsilon": 0.005}
    return kept("bias", records, identity, **(asked | config))
