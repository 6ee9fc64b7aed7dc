"""`mohs transfer`: whether the adversarial texts of a run also fool another victim."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.assets.writing import opened_for_writing
from mohs.errors import BadInput, MohsError
from mohs.runs.settings import VictimSettings
from mohs.tasks.option import option
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.models.victim import Fields, Scores, Victim
    from mohs.records import Record
    from mohs.report.rates import Rate
    from mohs.runs.run import Run

_PROBE = "It was a good day."

Told = Callable[[Any, int, int], None]


@dataclass(frozen=True)
class Pair:
    """One success of a run, and what the other victim says about its two texts. Labels are the other victim's."""

    attack: str
    by: str
    example_id: str
    label: int
    original: Fields
    adversarial: Fields
    scores_original: Scores | None  # None if the victim raised an error
    scores_adversarial: Scores | None
    error: str | None
    right: bool  # it reads the original right
    fooled: bool  # it reads the original right and the adversarial text wrong
    same: bool  # fooled, and it says what the victim of the run said

    def to_row(self) -> dict[str, Any]:
        """For the file, one column a field."""
        return asdict(self)


@dataclass(frozen=True)
class Transferred:
    """How the successes of one attack fare with the other victim."""

    attack: str
    successes: int
    errors: int  # successes of which the victim could not read one of the two texts
    right: Rate
    transfer: Rate
    same: Rate

    def rows(self) -> list[tuple[str, str, str]]:
        """Names, values and denominators, for a table."""
        from mohs.report.table import rate

        return [
            ("successes", str(self.successes), "of the run"),
            ("original read right", rate(self.right), f"of {self.right.of}"),
            ("transfer", rate(self.transfer), f"of {self.transfer.of}"),
            ("read as the same class", rate(self.same), f"of {self.same.of}"),
            ("errors", str(self.errors), "neither transferred nor not"),
        ]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the values and intervals of all rates."""
        row = asdict(self)
        for name in ("right", "transfer", "same"):
            found: Rate = getattr(self, name)
            row[name] |= {"value": found.value, "interval": found.interval}
        return row


@dataclass(frozen=True)
class Transfer:
    """The result: figures for each attack, and every pair of texts."""

    victim: str
    fingerprint: str
    accuracy: Rate  # of the other victim, on the originals of the run
    attacks: tuple[Transferred, ...]
    pairs: tuple[Pair, ...] = field(repr=False)
    errors: int  # texts that the victim could not read
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict, without the texts."""
        accuracy = {**asdict(self.accuracy), "value": self.accuracy.value, "interval": self.accuracy.interval}
        return {
            "victim": self.victim,
            "fingerprint": self.fingerprint,
            "accuracy": accuracy,
            "transfer": [one.to_json() for one in self.attacks],
            "errors": self.errors,
            "notes": list(self.notes),
        }

    def write(self, path: str | Path) -> Path:
        """Write every pair, one JSON object a line. An older file stays until the new one is complete."""
        path = Path(path)
        beside = path.with_name(f"{path.name}.part")
        try:
            with opened_for_writing(beside, encoding="utf-8") as file:
                file.writelines(f"{json.dumps(pair.to_row(), ensure_ascii=False)}\n" for pair in self.pairs)
            beside.replace(path)
        except OSError as error:
            raise MohsError(
                f"{path} cannot be written ({error.strerror or error}); name another with --out."
            ) from error
        return path


@dataclass(frozen=True, kw_only=True)
class TransferSettings:
    """Ask another victim about the originals and the adversarial texts of an attack run.

    Transfer is the share of successes that also fool the other victim, among those whose original it reads right. Every
    pair of texts goes to a file with both answers. Nothing is searched, so this costs two texts for each success and
    one for each example; run it again rather than resume it.

    Examples:
      mohs transfer mohs-runs/RUN --victim hf:./other-model
      mohs transfer mohs-runs/RUN --victim "ensemble(hf:./my-model)" --json
    """

    run: str | Path = option("A run folder of `mohs attack`.", metavar="RUN", argument=True)
    out: Path | None = option(
        "The file of the pairs; by default transfer-VICTIM.jsonl in the run folder.", metavar="FILE"
    )

    def carry_out(self, settings: VictimSettings, progress: Told | None = None) -> Transfer:
        """Ask the victim."""
        from mohs.runs.run import Run

        with Run.open(self.run) as run:
            return transferred(run, settings, progress)

    def place(self, found: Transfer) -> Path:
        """The file of the pairs."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", Path(found.victim.rstrip("/")).name).strip("-")[:40]
        return self.out or Path(self.run) / f"transfer-{name}-{found.fingerprint[:8]}.jsonl"


def transfer(run: Run | str | Path, victim: Any, *, progress: Told | None = None, **settings: Any) -> Transfer:
    """Ask another victim about the originals and the adversarial texts of an attack run.

    run: a run or its folder.
    progress: called with None, the number of texts answered, and their total.
    The other arguments are for loading the victim: device, labels, victim_options, trust_pickle, trust_code.

    >>> import mohs
    >>> found = transfer(mohs.attack("pocket", "pocket", "random", n=4), "pocket")
    >>> found.attacks[0].right.of
    'successes without an error'
    """
    asked = VictimSettings(victim=victim, **settings)
    if isinstance(run, str | Path):
        return TransferSettings(run=run).carry_out(asked, progress)
    return transferred(run, asked, progress)


def transferred(run: Run, settings: VictimSettings, progress: Told | None = None) -> Transfer:
    """Ask a victim about the texts of a run."""
    from mohs.records import Outcome
    from mohs.report.flags import near_chance
    from mohs.report.rates import Rate
    from mohs.runs.run import sound
    from mohs.runs.subject import victim_of

    if run.command != "attack":
        raise BadInput(
            f"{run.folder or 'This run'} is a run of `mohs {run.command}`; transfer is for runs of `mohs attack`."
        )
    records = [record for record in run.records() if record.outcome is not Outcome.ERROR or record.scores_before]
    if not records:
        raise BadInput(f"{run.folder or 'This run'} has no records yet; let it finish an example first.")
    with sound(run):
        hits = list(_hits(run, records))
    model = victim_of(settings)
    classes, rejects = _classes(model, len(records[0].original))
    with sound(run):
        labels, notes = _labels(run, model, settings, classes)
    odd = next((record for record in records if not 0 <= record.label < classes), None)
    if odd is not None:
        raise BadInput(
            f"The record of example {odd.example_id} has the label {odd.label}, but there are {classes} classes; "
            "restore the run from a copy."
        )
    texts = dict.fromkeys([*(record.original for record in records), *(record.perturbed or () for record in hits)])
    answers = _answers(model, list(texts), progress)
    pairs = tuple(_pair(record, labels, answers, classes) for record in hits)
    firsts = {record.example_id: record for record in records}.values()
    read = [(record, found) for record in firsts if isinstance(found := answers[record.original], tuple)]
    right = sum(_said(scores) == labels[record.label] for record, scores in read)
    most = max((sum(r.label == label for r, _ in read) for label in {r.label for r, _ in read}), default=0)
    notes += near_chance(right, len(read), classes, most)
    if rejects:
        notes.append(
            "This victim can reject texts: a rejected original counts as misread, a rejected text fools it not."
        )
    if len(run) < run.planned:
        notes.insert(0, f"The run is not finished: {len(run)} of {run.planned} attempts so far.")
    if model.fingerprint == run.manifest.get("identity", {}).get("victim_fingerprint"):
        notes.append(
            "This is the victim of the run itself, so its successes must transfer; name another with --victim."
        )
    attacks = dict.fromkeys(record.attack for record in records)
    return Transfer(
        victim=without_credentials(settings.victim) if isinstance(settings.victim, str) else model.name,
        fingerprint=model.fingerprint,
        accuracy=Rate(right, len(read), "originals that it could read"),
        attacks=tuple(_figures(attack, [pair for pair in pairs if pair.attack == attack]) for attack in attacks),
        pairs=pairs,
        errors=sum(not isinstance(found, tuple) for found in answers.values()),
        notes=tuple(notes),
    )


def _hits(run: Run, records: Sequence[Record]) -> Iterator[Record]:
    """The successes that are meant to fool a victim."""
    from mohs.attacks.goal import keeps_label
    from mohs.records import Outcome

    for record in records:
        if record.outcome is Outcome.SUCCESS and record.perturbed and not keeps_label(run.goal_of(record.attack)):
            yield record


def _classes(model: Victim, fields: int) -> tuple[int, bool]:
    """How many classes the victim has, and whether it can reject texts."""
    from mohs.models.victim import service_of, traits_of

    (first,) = service_of(model).prove([(_PROBE,) * fields])
    return len(first) - traits_of(model).rejects, traits_of(model).rejects


def _labels(run: Run, model: Victim, settings: VictimSettings, classes: int) -> tuple[Sequence[int], list[str]]:
    """For each class of the run its number with the other victim, and notes."""
    from mohs.tasks.reading import comma

    known = run.manifest.get("facts", {}).get("classes", classes)
    if known != classes:
        raise BadInput(
            f"{model.name} has {classes} classes, but the run's victim has {known}; they cannot be compared."
        )
    ours = [str(name) for name in run.manifest.get("config", {}).get("labels") or ()]
    theirs = list(comma(settings.labels) or model.labels)
    if len(ours) == len(theirs) == classes and ours != theirs:
        if set(ours) == set(theirs):
            return [theirs.index(name) for name in ours], [
                "The two victims order their classes differently; names count."
            ]
        note = f"The classes have other names ({', '.join(ours)} and {', '.join(theirs)}); they are compared by number."
        return range(classes), [note]
    return range(classes), []


def _answers(model: Victim, texts: list[Fields], progress: Told | None) -> Mapping[Fields, Scores | str]:
    """The victim's scores for each text, or the error that it raised."""
    from mohs.runs.asking import asked

    found: dict[Fields, Scores | str] = {}
    tell = progress or (lambda record, finished, total: None)
    tell(None, 0, len(texts))
    for some in asked(model, texts):
        found |= some
        tell(None, len(found), len(texts))
    return found


def _said(scores: Scores) -> int:
    return max(range(len(scores)), key=scores.__getitem__)


def _pair(record: Record, labels: Sequence[int], answers: Mapping[Fields, Scores | str], classes: int) -> Pair:
    assert record.perturbed is not None, "a success has a text"
    before, after = answers[record.original], answers[record.perturbed]
    label = labels[record.label]
    pair = Pair(
        attack=record.attack,
        by=record.by,
        example_id=record.example_id,
        label=label,
        original=record.original,
        adversarial=record.perturbed,
        scores_original=before if isinstance(before, tuple) else None,
        scores_adversarial=after if isinstance(after, tuple) else None,
        error=next((found for found in (before, after) if isinstance(found, str)), None),
        right=False,
        fooled=False,
        same=False,
    )
    if pair.scores_original is None or pair.scores_adversarial is None:
        return pair
    right, said = _said(pair.scores_original) == label, _said(pair.scores_adversarial)
    fooled = right and said not in (label, classes)  # the number after the last class says "rejected"
    first = _said(record.scores_after) if record.scores_after else -1
    same = fooled and 0 <= first < classes and labels[first] == said
    return replace(pair, right=right, fooled=fooled, same=same)


def _figures(attack: str, pairs: Sequence[Pair]) -> Transferred:
    from mohs.report.rates import Rate

    whole = [pair for pair in pairs if pair.error is None]
    right, fooled = sum(pair.right for pair in whole), sum(pair.fooled for pair in whole)
    return Transferred(
        attack=attack,
        successes=len(pairs),
        errors=len(pairs) - len(whole),
        right=Rate(right, len(whole), "successes without an error"),
        transfer=Rate(fooled, right, "successes whose original it reads right"),
        same=Rate(sum(pair.same for pair in whole), fooled, "transferred texts"),
    )
