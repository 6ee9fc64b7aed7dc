"""The robustness section of a model card, and the same figures as the Hub reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from mohs.errors import BadInput, MohsError
from mohs.report.attack.view import AttackView
from mohs.report.template import written
from mohs.report.view import View

if TYPE_CHECKING:
    from mohs.report.attack.figures import Summary
    from mohs.report.rates import Rate
    from mohs.runs.run import Run

_DETAIL = re.compile(r"Constraint\(measure=(.*?), at_least=(\S+?), at_most=(\S+?), short=")
_WIDTH = 100  # of the tables of other verbs
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


@dataclass(frozen=True)
class Card:
    """The parts of a card. section: Markdown. results: what `.eval_results` files hold, by the name of the file."""

    section: str
    metadata: Mapping[str, Any]  # `model-index`; empty if the run has no figure that the Hub knows
    results: Mapping[str, Sequence[Mapping[str, Any]]]
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """A whole card: metadata, then the section."""
        if not self.metadata:
            return self.section
        return f"---\n{as_yaml(self.metadata)}---\n\n{self.section}"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        parts = {"section": self.section, "metadata": self.metadata, "results": self.results}
        return {**parts, "notes": list(self.notes)}

    def write(self, folder: str | Path) -> list[Path]:
        """Write README.md and the files of `.eval_results` into a folder that is new or empty."""
        place = Path(folder)
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise BadInput(f"{place} exists and is not an empty folder; name a new one.")
        results = place / ".eval_results"
        try:
            (results if self.results else place).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MohsError(f"{place} cannot be made ({error.strerror or error}); name another folder.") from error
        named = {results / f"{name}.yaml": as_yaml(list(rows)) for name, rows in self.results.items()}
        return [written(text, path) for path, text in {place / "README.md": self.text, **named}.items()]


def as_yaml(value: Any) -> str:
    """As the Hub reads it."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)


def card_of(run: Run, view: View, *, model: str = "", dataset: str = "") -> Card:
    """The card of a run.

    model: the model's name on the Hub; by default the victim's. dataset: the id of the data on the Hub; by default that
    of hf: data. Without one there is no `.eval_results` file.
    """
    named, config, split = _data(view, dataset)
    notes = [] if named else ["The data has no name on the Hub, so there is no .eval_results file; give --dataset ID."]
    if not isinstance(view, AttackView):
        return Card(_plain(view, run), {}, {}, (f"The Hub has no metadata for runs of `mohs {run.command}`.",))
    entries = [one for summary in view.summary() for one in _entries(summary, _space(run, summary.attack))]
    about: dict[str, Any] = {"type": named or "custom", "name": str(view.config.get("data"))}
    about |= {key: value for key, value in (("config", config), ("split", split)) if value}
    result = {"task": {"type": "text-classification"}, "dataset": about, "metrics": entries}
    metadata = {"model-index": [{"name": model or str(view.config.get("victim")), "results": [result]}]}
    results = {}
    if named:
        for summary in view.summary():
            share = summary.accuracy_under_attack
            if share is not None and share.value is not None:
                name = "mohs-" + re.sub(r"[^a-z0-9]+", "-", summary.attack.lower()).strip("-")
                results[name] = [
                    {
                        "dataset": {"id": named, "task_id": config or "default"},
                        "value": round(100 * share.value, 2),
                        "notes": _told(summary.attack, summary.goal, share, _space(run, summary.attack)),
                    }
                ]
    return Card(_section(view, run), metadata, results, tuple(notes))


def _data(view: View, dataset: str) -> tuple[str, str, str]:
    """The Hub's id of the data, its configuration and its split."""
    data = str(view.config.get("data"))
    if not data.startswith("hf:"):
        return dataset, "", ""
    name, _, rest = data[3:].partition(":")
    config, _, split = rest.partition(":")
    return (dataset or name, config, split) if split else (dataset or name, "", config)


def _space(run: Run, attack: str) -> str:
    """The space of an attack: where its words come from and what they must obey."""
    told = str(run.manifest.get("identity", {}).get("settings", {}).get(attack, ""))
    told = " ".join(told.split())
    source = _balanced(told, "source=")
    rules = []
    for measure, least, most in _DETAIL.findall(_balanced(told, "constraints=")):
        rules += [f"{measure} >= {least}"] if least != "-inf" else []
        rules += [f"{measure} <= {most}"] if most != "inf" else []
    return "; ".join([source or "the attack's own", *rules])


def _balanced(text: str, start: str) -> str:
    """What stands after a name in a described object, up to the bracket or comma that ends it."""
    begin = text.find(start)
    if begin < 0:
        return ""
    depth, at = 0, begin + len(start)
    for end in range(at, len(text)):
        depth += (text[end] in "([<") - (text[end] in ")]>")
        if depth < 0 or (depth == 0 and text[end] == ","):
            return text[at:end]
    return text[at:]


def _entries(summary: Summary, space: str) -> list[dict[str, Any]]:
    """The metrics of one attack as `model-index` has them; each names attack, preset, space, n and interval."""
    name, _, preset = summary.attack.partition(":")
    found = []
    shares: list[tuple[str, str, Any, Any, Any]] = [
        ("accuracy", "accuracy before", *_share(summary.accuracy_before)),
        ("accuracy", "accuracy under attack", *_share(summary.accuracy_under_attack)),
        ("attack_success_rate", "attack success", *_share(summary.success)),
    ]
    if summary.measured is not None:
        measured = summary.measured
        fair = measured.fair
        interval = None if fair.low is None or fair.high is None else (fair.low, fair.high)
        told = "fair success, measured by people"
        shares.append(("fair_success_rate", told, fair.value, interval, measured.attacked))
    elif summary.fair is not None:
        shares.append(("fair_success_rate", "fair success, estimated by a judge", *_share(summary.fair)))
    for kind, figure, value, interval, n in shares:
        if value is None:
            continue
        args: dict[str, Any] = {"attack": name, "preset": preset, "space": space, "goal": summary.goal}
        args |= {"n": n} if n is not None else {}
        args |= {"interval_95": [round(end, 4) for end in interval]} if interval is not None else {}
        found.append({"type": kind, "value": round(value, 4), "name": f"{figure} ({summary.attack})", "args": args})
    return found


def _share(share: Any) -> tuple[Any, Any, Any]:
    """Value, interval and n; None for what an attack does not have (one that keeps the label has no such accuracy)."""
    return (None, None, None) if share is None else (share.value, share.interval, share.total)


def _told(attack: str, goal: str, share: Rate, space: str) -> str:
    low, high = share.interval or (0.0, 0.0)
    return (
        f"Accuracy under attack, % (not clean accuracy). Attack {attack}, goal {goal}; n={share.whole} {share.of}; "
        f"95% interval {100 * low:.1f} to {100 * high:.1f}. Space: {space}. Made with mohs."
    )


def _section(view: AttackView, run: Run) -> str:
    from mohs.report.attack.table import lines

    columns = [(summary.attack, lines(summary)) for summary in view.summary()]
    rows = dict.fromkeys(name for _, found in columns for name, _, _ in found)
    parts = ["## Robustness", "", _safe(view.title) + ".", "", _safe(view.headline).rstrip(".") + ".", ""]
    parts += [_row(["", *(name for name, _ in columns), ""])]
    parts += [_row(["---", *("---:" for _ in columns), "---"], raw=True)]
    for name in rows:
        values = [next((value for one, value, _ in found if one == name), "-") for _, found in columns]
        about = next(told for _, found in columns for one, _, told in found if one == name)
        parts.append(_row([name, *values, about]))
    parts += ["", "Brackets: 95% intervals.", ""]
    parts += [f"- {_safe(name)}: {_safe(_space(run, name))}" for name, _ in columns]
    parts += ["", *(f"> {_safe(note)}" for note in view.notes)]
    version = run.manifest.get("facts", {}).get("versions", {}).get("mohs", "")
    seed = view.config.get("seed")
    parts += ["", f"Made with mohs {version}, seed {seed}; `mohs card` writes this section.", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


def _plain(view: View, run: Run) -> str:
    """The tables of another verb, as they stand on a terminal."""
    from io import StringIO

    from mohs.report.terminal import SafeConsole

    out = StringIO()
    console = SafeConsole(file=out, width=_WIDTH, markup=False, emoji=False, highlight=False, color_system=None)
    view.show(console, 0)
    shown = "\n".join(f"    {line.rstrip()}".rstrip() for line in out.getvalue().rstrip().split("\n"))
    parts = ["## Robustness", "", _safe(view.title) + ".", "", _safe(view.headline).rstrip(".") + ".", "", shown, ""]
    parts += [f"> {_safe(note)}" for note in view.notes]
    version = run.manifest.get("facts", {}).get("versions", {}).get("mohs", "")
    return "\n".join([*parts, "", f"Made with mohs {version}; `mohs card` writes this section.", ""])


def _row(cells: Sequence[str], raw: bool = False) -> str:
    return "| " + " | ".join(cells if raw else map(_safe, cells)) + " |"


def _safe(text: str) -> str:
    """Text in Markdown: no mark of it is a command, and it stays on its line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
