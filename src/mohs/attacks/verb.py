"""`mohs attack`: its options, and the tasks made from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import budget, change_placeholders, model, no_judge, option, several
from mohs.tasks.plan import Plan, Verb

if TYPE_CHECKING:
    from mohs.attacks.method import Attack
    from mohs.attacks.named_entities import NamedEntities
    from mohs.space import Constraint, Measure, Source
    from mohs.tasks.subject import Subject


@dataclass(frozen=True, kw_only=True)
class AttackVerb(Verb, command="attack", doing="attacking", third="attacks"):
    """Attack a classifier and report how often it was fooled.

    The run folder gets a page (report.html), the adversarial examples (adversarial.jsonl) and everything needed to
    resume or repeat the run. Running the same command again resumes it.

    Examples:
      mohs attack --n 50
      mohs attack --victim hf:./my-model --data test.jsonl --attack textfooler --attack random --n 200
      mohs attack --victim python:my_module:predict --data reviews.csv --text-field review --labels bad,good
      mohs attack --victim mohs:my-cnn --data pairs.jsonl --text-field premise,hypothesis --attack standard
      mohs attack --attack textfooler --attack textfooler+fair --n 100
      mohs attack --attack pwws:released --goal targeted:positive --n 100 --sample 1
      mohs attack --source wordnet --constraint "similarity>=0.9" --measure grammar-errors --tagger pocket
      mohs attack --victim http://localhost:8000/classify --data test.tsv --budget 500 --victim-option rate=20
      mohs attack --config mohs-runs/RUN/manifest.yaml --out again

    >>> import mohs
    >>> run = mohs.attack("pocket", "pocket", ["random"], n=5)
    >>> len(list(run.records()))
    5
    """

    finds = "mohs.attacks.finding:AttackFinding"

    attacks: str | Attack | Sequence[str | Attack] = several(
        "An attack (see `mohs attacks`), standard (a battery of attacks), or FILE.py:CLASS, each also with +fair (see "
        "--fair); repeat for several.",
        "--attack",
        "NAME[:PRESET][+fair]",
        ("textfooler",),
    )
    budget: int | None = budget()
    goal: str = option(
        "untargeted; targeted:CLASS (name or number); below:P (the label's probability falls below P); reduced:N (at "
        "most N words left, for input-reduction).",
        default="untargeted",
    )
    source: str | Source | None = option(
        "Source of the substitutes, instead of the attack's own: see `mohs spaces`, or FILE.py:CLASS.", metavar="S"
    )
    constraints: Sequence[str | Constraint] = several(
        "An additional constraint (see `mohs spaces`); repeat for several.", "--constraint", "M>=T"
    )
    measures: Sequence[str | Measure] = several(
        "An additional measure of the final texts (see `mohs spaces`); repeat for several.", "--measure", "M"
    )
    stopwords: str | Path | Iterable[str] | None = option(
        "Words that never change, instead of the attack's own list: a file, none, english or nltk.", metavar="FILE"
    )
    keep: str | Path | Iterable[str] | None = option(
        "More words that never change, in addition to the attack's own list: a file, one word per line.", metavar="FILE"
    )
    change_placeholders: bool = change_placeholders()
    entities: str | Path | NamedEntities | None = option(
        "Replacements for named entities, for pwws: a file made by `mohs entities`.", metavar="FILE"
    )
    fair: bool | None = option(
        "Only changes that people would likely accept: acceptable>=0.5, no antonyms, no new grammar error. By default "
        "the battery standard is run both without and with it, other attacks without.",
        "--fair/--no-fair",
        before=False,
    )
    no_judge: bool = no_judge()
    encoder: Any = model("encoder")
    token_encoder: Any = model("token_encoder")
    masked_lm: Any = model("masked_lm")
    lm: Any = model("lm")
    tagger: Any = model("tagger")
    parser: Any = model("parser")
    paraphraser: Any = model("paraphraser")
    autoencoder: Any = model("autoencoder")
    grammar: Any = model("grammar")
    judge: Any = model("judge")
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    sememes: Any = model("sememes")

    def check(self) -> None:
        """Refuse unknown attacks and measures, an attack given twice, and a measure that the judge lacks."""
        from mohs.attacks.method import fits

        if not self._teams:
            raise BadInput("No attack was given; see `mohs attacks`.")
        if self.no_judge and self.judge is not None:
            raise BadInput(f"--judge {self.judge} and --no-judge contradict each other; give one of them.")
        if self.fair is False and any(fair for _, _, fair in self._asked):
            raise BadInput("An attack with +fair and --no-fair contradict each other; give one of them.")
        if len({name for name, _ in self._teams}) != len(self._teams):
            raise BadInput("An attack is given twice; give it once.")
        for name, method in self._methods:
            fits(name, method)
        bounded = [constraint.measure for _, method in self._methods for constraint in method.constraints]
        if str(self.judge).startswith("hf:") and any(getattr(m, "models", False) for m in (*self._measures, *bounded)):
            raise BadInput(f"acceptable:models=yes is for the bundled judge, not for {self.judge}; leave one out.")

    def needs(self, subject: Subject) -> Iterable[str]:
        """The services that the attacks and the measures use."""
        from mohs.attacks.goal import parse_goal
        from mohs.attacks.method import needs

        for name, method in self._methods:
            if subject.target.traits.hard and method.needs_scores:
                raise BadInput(
                    f"{name} needs the victim's scores, but {subject.model.name} gives labels only; "
                    "use --attack random, or a victim that gives scores."
                )
        for goal in dict.fromkeys([self._goal(subject), *self._goals(subject).values()]):
            parse_goal(goal, 0, subject.target.classes, subject.labels)
        kinds = [kind for _, method in self._methods for kind in needs(method)]
        kinds += ["judge"] if self.judge is not None and not self.no_judge else []  # the report asks it
        return [*kinds, *(kind for measure in self._measures for kind in measure.needs)]

    def resumes(self, folder: Path, identity: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
        """Refuse a run of a preset that has another meaning now."""
        from mohs.attacks.replaced import refuse_replaced

        if isinstance(before := stored.get("settings"), Mapping):
            refuse_replaced(folder, before, identity["settings"])

    def view(self, run: Any) -> Any:
        """The view of a run of this command, with fair success as asked for."""
        return run.view(judge="none" if self.no_judge else self.judge or "pocket")

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """One task for each attack or battery."""
        from mohs.attacks.battery import Battery
        from mohs.attacks.labels import other_tasks
        from mohs.attacks.method import needs
        from mohs.attacks.trial import Trial
        from mohs.tasks.described import identity, named, word_list, written

        for name, method in self._methods:
            if hasattr(method, "refuse"):  # a model that is not good enough for it
                method.refuse(name, services)
        subject = subject.changing(self.change_placeholders)
        goal, goals = self._goal(subject), self._goals(subject)
        tasks: list[Trial | Battery] = []
        for name, team in self._teams:
            trials = tuple(
                Trial(n, m, subject.target, services, goals[n], subject.seed, self.budget, self._measures)
                for n, m in team
            )
            tasks.append(trials[0] if len(trials) == 1 else Battery(name, trials, self.budget))
        aims = {n: f" for {aim}" if aim != goal else "" for n, aim in goals.items()}
        white = {n for n, team in self._teams if any("gradients" in needs(m) for _, m in team)}
        return Plan(
            tasks=tasks,
            resolved={
                "attacks": [name + "+fair" * fair for name, _, fair in self._asked],
                "goal": goal,
                "source": written(self.source),
                "constraints": [written(c) for c in self.constraints],
                "measures": [written(m) for m in self.measures],
                "stopwords": word_list(self.stopwords),
                "keep": word_list(self.keep),
                "entities": None if self._entities is None else self._entities.path,
            },
            identity={
                "settings": {name: "; ".join(identity(m) + aims[n] for n, m in team) for name, team in self._teams},
            },
            facts={
                "judge": "none" if self.no_judge else named(self.judge or "pocket"),
                "boxes": {name: "white" if name in white else "black" for name, _ in self._teams},
                "goals": {name: goals[team[0][0]] for name, team in self._teams},
            },
            notes=[*self._remarks(services), *other_tasks(self._methods, subject)],
        )

    @cached_property
    def _teams(self) -> list[tuple[str, list[tuple[str, Attack]]]]:
        """Each attack by name with its members, in the space given by the options."""
        found = []
        for name, team, fair in self._asked:
            both = self.fair is None and not fair and len(team) > 1
            found += [self._changed(name, team, f) for f in ((False, True) if both else (fair or bool(self.fair),))]
        return found

    @property
    def _asked(self) -> Iterator[tuple[str, Sequence[tuple[str, Attack]], bool]]:
        """Each attack that was asked for: its name, its members, and whether its name ends in +fair."""
        from mohs.attacks.catalogue import each_of, members_of

        for attack in each_of(self.attacks):
            fair = isinstance(attack, str) and attack.endswith("+fair")
            yield *members_of(attack.removesuffix("+fair") if isinstance(attack, str) else attack), fair

    @property
    def _methods(self) -> list[tuple[str, Attack]]:
        return [member for _, team in self._teams for member in team]

    @cached_property
    def _measures(self) -> tuple[Measure, ...]:
        from mohs.space import parse_measure

        return tuple(parse_measure(m) if isinstance(m, str) else m for m in self.measures)

    @cached_property
    def _kept(self) -> frozenset[str]:
        from mohs.text.stopwords import read_kept

        return frozenset() if self.keep is None else read_kept(self.keep)

    @cached_property
    def _entities(self) -> NamedEntities | None:
        from mohs.attacks.named_entities import NamedEntities

        return NamedEntities.read(self.entities) if isinstance(self.entities, str | Path) else self.entities

    def _goal(self, subject: Subject) -> str:
        """The goal; in `targeted:NAME` the name is replaced by the number of the class."""
        kind, _, name = self.goal.partition(":")
        known = kind == "targeted" and name in subject.labels
        return f"{kind}:{subject.labels.index(name)}" if known else self.goal

    def _goals(self, subject: Subject) -> dict[str, str]:
        from mohs.attacks.method import goal_of

        return {name: goal_of(name, method, self._goal(subject)) for name, method in self._methods}

    def _changed(self, name: str, team: Sequence[tuple[str, Any]], fair: bool) -> tuple[str, list[tuple[str, Attack]]]:
        """The attacks with the changes of the options, and names that include them."""
        from mohs.attacks.changes import Changes

        return Changes(self.source, self.constraints, self.stopwords, self._kept, self._entities).of(name, team, fair)

    def _remarks(self, services: Mapping[str, Any]) -> list[str]:
        """Notes on what was left out of word books, and on models that were given but are not used."""
        from mohs.tasks.described import named
        from mohs.tasks.option import models_of

        sources = [source for _, m in self._methods for source in getattr(m.source, "sources", (m.source,))]
        books = [*services.values(), *(getattr(source, "book", None) for source in sources)]
        found = [note for book in books for note in getattr(book, "notes", ())]
        for kind, given in models_of(self).items():
            if given is not None and kind not in services:
                found.append(f"--{kind.replace('_', '-')} {named(given)} is given, but nothing in this run uses it.")
        return list(dict.fromkeys(found))
