"""The runs whose victims are to be defended: read, checked, and with their victims and the defences loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.attacks.goal import Goal, keeps_label, parse_goal
from mohs.defending.adaptive import Again, again
from mohs.defending.candidates import Candidate, candidate_of, layers
from mohs.defending.figures import scored
from mohs.errors import BadInput
from mohs.models.victim import Victim
from mohs.records import Record
from mohs.report.attack.figures import Summary
from mohs.runs.run import Run
from mohs.runs.settings import VictimSettings
from mohs.runs.subject import victim_of
from mohs.runs.trust import refuse_code_of
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.defending.settings import Defending

AnyRun = Run | str | Path


@contextmanager
def opened(given: Sequence[AnyRun]) -> Iterator[list[Run]]:
    """The runs, from folders or as they are."""
    if not given:
        raise BadInput("No run was given; name the folder of a finished `mohs attack`.")
    folders = [Path(one).resolve() for one in given if not isinstance(one, Run)]
    if len(set(folders)) < len(folders):
        raise BadInput(f"{next(one for one in folders if folders.count(one) > 1)} is given twice; give it once.")
    with ExitStack() as stack:
        yield [one if isinstance(one, Run) else stack.enter_context(Run.open(one)) for one in given]


@dataclass(frozen=True)
class Case:
    """A run that is read, its victim, and the defences around it."""

    run: Run
    victim: Victim
    candidates: Sequence[Candidate]
    again: Again | None
    records: Mapping[str, Sequence[Record]]  # by attack
    summaries: Sequence[Summary]
    notes: list[str] = field(default_factory=list)

    @property
    def classes(self) -> int:
        """Of the run's victim."""
        known = self.run.manifest.get("facts", {}).get("classes")
        return int(known or len(next(r for rs in self.records.values() for r in rs if r.scores_before).scores_before))

    def goal(self, attack: str, rejects: bool) -> Callable[[Record], Goal]:
        """The goal of an attack for the example of a record."""
        spec = self.run.goal_of(attack)
        refusal = self.classes if rejects else None
        return lambda record: parse_goal(spec, record.label, self.classes, refusal=refusal)


def case_of(run: Run, options: Defending) -> Case:
    """A run with its victim and the defences. What does not fit is refused before anything is asked."""
    place = run.folder or "This run"
    if run.command != "attack":
        raise BadInput(f"{place} is a run of `mohs {run.command}`; `mohs defend` reads runs of `mohs attack`.")
    notes: list[str] = []
    records: dict[str, list[Record]] = {}
    for record in run.records():
        if keeps_label(run.goal_of(record.attack)):
            notes.append(f"{record.attack} keeps the label, so its texts are not adversarial: left out.")
        else:
            records.setdefault(record.attack, []).append(record)
    notes = list(dict.fromkeys(notes))
    if notes and not records:
        raise BadInput(f"{place} has nothing to defend against: {' '.join(notes)}")
    if not any(scored(some) for some in records.values()):
        raise BadInput(
            f"{place} has no finished attempt to judge a defence by; run its command again to go on with it."
        )
    if len(run) < run.planned:
        notes.append(f"{place} is not finished: {len(run)} of {run.planned} attempts so far.")
    config = run.manifest.get("config", {})
    if options.victim is None:
        refuse_code_of(run, ["victim"], trusted=options.trust_code)
    name = config.get("victim", "pocket") if options.victim is None else options.victim
    how = _loading(run, options)
    try:
        victim = victim_of(VictimSettings(victim=name, **how))
    except BadInput as error:
        if options.victim is not None:
            raise
        raise BadInput(f"{error} The run attacked {name}; if that was an object, give it as `victim`.") from error
    candidates = [
        candidate_of(
            one,
            victim,
            name if isinstance(name, str) else None,
            lambda spec: victim_of(VictimSettings(victim=spec, **how)),
        )
        for one in options.defences
    ]
    twice = next((c.name for i, c in enumerate(candidates) if c.name in [o.name for o in candidates[:i]]), None)
    if twice is not None:
        raise BadInput(f"The defence {twice} is given twice; give it once.")
    _check_victims(run, candidates, options, notes)
    notes += [
        f"{candidate.name} draws nothing: it has one key, no spread, and (3) would be (2)."
        for candidate in candidates
        if not candidate.draws
    ]
    started = None
    if options.adaptive_keys:
        changed = {"victim", *(options.again or {})}
        refuse_code_of(run, [option for option in config if option not in changed], trusted=options.trust_code)
        started = again(run, victim, options.again or {}, {**how, "workers": options.workers})
        notes += [
            f"{attack} needs gradients, which a defended victim does not give: no adaptive figures for it."
            for attack in started.left_out
        ]
    summaries = [one for one in run.view(judge="none").summary() if one.attack in records]  # type: ignore[attr-defined]
    return Case(run, victim, candidates, started, records, summaries, notes)


def _loading(run: Run, options: Defending) -> dict[str, Any]:
    """How victims are loaded: as the run did, as far as its manifest says."""
    config = run.manifest.get("config", {})
    own = config.get("victim_options") or None
    return {
        "device": options.device or config.get("device") or "auto",
        "labels": tuple(config.get("labels") or ()),
        "victim_options": own if options.victim_options is None else options.victim_options,
        "trust_pickle": options.trust_pickle,
        "trust_code": options.trust_code,
    }


def _check_victims(run: Run, candidates: Sequence[Candidate], options: Defending, notes: list[str]) -> None:
    """Refuse a defence around another victim than the run's, which the run's texts say little about."""
    known = run.manifest.get("identity", {}).get("victim_fingerprint")
    named = without_credentials(str(run.manifest.get("config", {}).get("victim")))
    for candidate in candidates:
        inside = {known} if known is None else {victim.fingerprint for victim in layers(candidate.made(0))}
        if known in inside:
            continue
        said = f"{candidate.name} does not stand around the victim that the run attacked, {named}"
        if not options.other_victim:
            raise BadInput(
                f"{said}; attack its victim first (or allow it with --other-victim: (1) is then mostly about transfer)."
            )
        notes.append(f"{said}: (1) is mostly about transfer.")
