"""Judges defences: asks them about finished texts, attacks them, and asks fresh draws of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from mohs.defending.answers import Answers
from mohs.defending.candidates import Candidate, asks
from mohs.defending.cases import Case, case_of
from mohs.defending.figures import (
    TRIED,
    Judged,
    Said,
    adaptive_of,
    change_of,
    clean_rate,
    finished_rates,
    fresh_rate,
    rejected_rate,
    scored,
)
from mohs.defending.result import Against, Defended
from mohs.defending.rows import rows_of
from mohs.defending.spread import Spread
from mohs.errors import BadInput
from mohs.models.victim import Fields, Victim, traits_of
from mohs.records import Outcome, Record
from mohs.runs.carry_out import Progress
from mohs.runs.run import Run, sound
from mohs.tasks.option import check_numbers
from mohs.text.addresses import without_credentials

if TYPE_CHECKING:
    from mohs.defending.settings import Defending

FRESH = 1000  # the key of the first fresh draw; no attack sees this key or a later one


@dataclass
class _Progress:
    """Adds up texts and attempts; more become known on the way."""

    told: Progress | None
    done: int = 0
    total: int = 0

    def expect(self, more: int) -> None:
        self.total += more
        self._tell()

    def __call__(self, more: int) -> None:
        self.done += more
        self._tell()

    def _tell(self, record: Record | None = None) -> None:
        if self.told is not None:
            self.told(record, self.done, self.total)

    @contextmanager
    def attacking(self) -> Iterator[Progress]:
        """The progress of one run, as a part of the whole."""
        before, started = self.done, self.total

        def step(record: Record | None, finished: int, total: int) -> None:
            self.done, self.total = before + finished, started + total
            self._tell(record)

        yield step


def defended(runs: Sequence[Run], options: Defending, progress: Progress | None = None) -> Defended:
    """The figures of all defences against all attacks of some runs. Refuses what does not fit before it asks."""
    check_numbers(options)
    if not options.defences:
        raise BadInput("No defence was given; name one with --defence, such as --defence ensemble.")
    if options.keys > FRESH or options.adaptive_keys > FRESH:
        raise BadInput(f"Keys from {FRESH} on are for fresh draws; use at most {FRESH} keys.")
    cases = []
    for run in runs:
        with sound(run):
            cases.append(case_of(run, options))
    work = _Progress(progress)
    parts = [part for case in cases for part in _judged(case, options, work)]
    notes = [note for case in cases for note in case.notes]
    return Defended(
        parts=tuple(parts),
        notes=tuple(dict.fromkeys(notes)),
        keys=options.keys,
        adaptive_keys=options.adaptive_keys,
        draws=options.draws if options.adaptive_keys else 0,
        average=options.average if options.adaptive_keys and options.draws and options.average > 1 else 0,
        folder=runs[0].folder,
        manifest=runs[0].manifest,
    )


def _judged(case: Case, options: Defending, work: _Progress) -> list[Against]:
    """A part of the result for each attack of a run."""
    answers = Answers(case.run.folder)
    if answers.broken:
        case.notes.append(f"{answers.broken} lines of defend.jsonl could not be read; their texts were asked again.")
    found: dict[str, list[Judged]] = {attack: [] for attack in case.records}
    try:
        for candidate in case.candidates:
            with ExitStack() as stack:
                for one in _of_candidate(case, candidate, options, answers, work, stack):
                    found[one.attack].append(one)
    finally:
        answers.close()
    victim = without_credentials(str(case.run.manifest.get("config", {}).get("victim")))
    return [
        Against(
            run=case.run.folder.name if case.run.folder else "a run in memory",
            victim=victim,
            undefended=summary,
            defences=tuple(found[summary.attack]),
        )
        for summary in case.summaries
    ]


def _of_candidate(
    case: Case, candidate: Candidate, options: Defending, answers: Answers, work: _Progress, stack: ExitStack
) -> Iterator[Judged]:
    """A defence against each attack of a run. stack: closes the adaptive runs."""
    everything = [record for records in case.records.values() for record in records]
    originals = list(dict.fromkeys(record.original for record in scored(everything)))
    hits = [r.perturbed for r in everything if r.outcome is Outcome.SUCCESS and r.perturbed]
    victims = {key: candidate.made(key) for key in candidate.keys(options.keys)}
    said: dict[int, Said] = {}
    for key, victim in victims.items():
        texts = list(dict.fromkeys([*originals, *hits]))
        work.expect(len(texts))
        said[key] = answers.of(victim, texts, work)
        _check_classes(case, candidate, said[key], victim)
    attacked = {key: stack.enter_context(run) for key, run in _attacked(case, candidate, options, work)}
    averaged = _averaged(case, candidate, options, work)
    if averaged is not None:
        stack.enter_context(averaged)
    draws: list[Said] = []
    if attacked and candidate.draws and options.draws:
        texts = list(_fresh_texts([*attacked.values(), *filter(None, [averaged])]))
        work.expect(options.draws * len(texts))
        draws = [answers.of(candidate.made(FRESH + number), texts, work) for number in range(options.draws)]
    asked = [asks(victims[0], text) for text in originals if isinstance(said[0][text], tuple)]
    rejects = traits_of(victims[0]).rejects
    for summary in case.summaries:
        records = case.records[summary.attack]
        goal = case.goal(summary.attack, rejects)
        won = [record for record in records if record.outcome is Outcome.SUCCESS]
        finished = [finished_rates(won, one, goal, summary.success.total) for one in said.values()]
        mine = {key: _own(run, summary.attack) for key, run in attacked.items()}
        runs = [(s.success, s.accuracy_under_attack, records) for s, records in mine.values() if s is not None]
        by_example = {key: {record.example_id: record for record in records} for key, (_, records) in mine.items()}
        average = [] if averaged is None else _own(averaged, summary.attack)[1]
        by_average = {record.example_id: record for record in average}
        about = {"run": case.run.folder or "", "attack": summary.attack, "defence": candidate.name}
        yield Judged(
            attack=summary.attack,
            defence=candidate.name,
            draws=candidate.draws,
            clean=Spread(tuple(clean_rate(scored(records), one) for one in said.values())),
            clean_change=change_of(scored(records), list(said.values())),
            reverted=Spread(tuple(back for back, _ in finished)),
            left=Spread(tuple(left for _, left in finished)),
            rejected=Spread(tuple(rejected_rate(won, one, case.classes) for one in said.values())) if rejects else None,
            adaptive=adaptive_of(
                records,
                runs,
                [fresh_rate(found, draws, goal) for _, _, found in runs] if draws else [],
                fresh_rate(average, draws, goal) if average else None,
            ),
            forwards=fmean(asked) if asked else None,
            rows=tuple(rows_of(about, scored(records), said, by_example, by_average, draws, goal)),
        )


def _attacked(case: Case, candidate: Candidate, options: Defending, work: _Progress) -> Iterator[tuple[int, Run]]:
    """The adaptive runs by key."""
    if case.again is None or not case.again.verb.attacks:
        return
    for key in candidate.keys(options.adaptive_keys):
        folder = case.again.folder(f"{candidate.name}-key-{key}", candidate.made(key))
        with work.attacking() as progress:
            yield key, case.again(candidate.written(key), folder, progress)


def _averaged(case: Case, candidate: Candidate, options: Defending, work: _Progress) -> Run | None:
    """The attack against the mean of several draws, if fresh draws can judge it."""
    wanted = candidate.draws and options.draws and options.adaptive_keys and options.average > 1
    if not wanted or case.again is None or not case.again.verb.attacks or traits_of(candidate.made(0)).rejects:
        return None
    count = options.average
    folder = case.again.folder(f"{candidate.name}-mean-of-{count}", candidate.average(count))
    with work.attacking() as progress:
        return case.again(candidate.written_average(count), folder, progress)


def _fresh_texts(attacked: Sequence[Run]) -> dict[Fields, None]:
    """The texts that fresh draws judge: attacked originals, and adversarial texts."""
    found: dict[Fields, None] = {}
    for run in attacked:
        for record in run.records():
            if record.outcome in TRIED:
                found[record.original] = None
            if record.outcome is Outcome.SUCCESS and record.perturbed:
                found[record.perturbed] = None
    return found


def _own(run: Run, attack: str) -> tuple[Any, list[Record]]:
    """The figures and the records of one attack in an adaptive run; None if it is not in it."""
    summary = next((one for one in run.view(judge="none").summary() if one.attack == attack), None)  # type: ignore[attr-defined]
    return summary, [record for record in run.records() if record.attack == attack]


def _check_classes(case: Case, candidate: Candidate, said: Said, victim: Victim) -> None:
    width = next((len(scores) for scores in said.values() if isinstance(scores, tuple)), None)
    if width is None:
        reason = next(iter(said.values()))
        raise BadInput(f"{candidate.name} could not read any text of the run ({reason}).")
    if width - traits_of(victim).rejects != case.classes:
        raise BadInput(
            f"{candidate.name} has {width - traits_of(victim).rejects} classes, but the run's victim has "
            f"{case.classes}; they cannot be compared."
        )
