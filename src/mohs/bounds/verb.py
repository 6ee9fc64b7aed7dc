"""`mohs radius`: its options, and the tasks made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import change_placeholders, model, option, several
from mohs.tasks.plan import Plan, Verb

if TYPE_CHECKING:
    from mohs.attacks.method import Attack
    from mohs.bounds.share import Share
    from mohs.space import Constraint, Source
    from mohs.tasks.subject import Subject

SOURCE = "neighbours:k=5,min_cosine=0.5"
_AT_ONCE_WITH_TIME_LIMIT = 8  # few, because the clock of an example also counts work for the others
_SHARE_OF_CROWD = 16  # few, because each example asks thousands of texts at once


@dataclass(frozen=True, kw_only=True)
class RadiusVerb(Verb, command="radius", doing="proving"):
    """Prove how many word substitutions each prediction withstands.

    The victim is asked about every text with 1, 2 ... substitutions, until one changes the label or --max-r is reached.
    For the bundled bag of words, a closed form gives the exact answer. The proofs are written to certificates.jsonl;
    `mohs verify` checks them. Beyond the proof, --pac estimates the share of texts that keep the label. Method: Yang et
    al. 2022. Running the same command again resumes the run.

    Examples:
      mohs radius --n 50
      mohs radius --victim hf:./my-model --data test.jsonl --max-r 2 --time-limit 60 --attack pdp
      mohs radius --victim mohs:my-cnn --data test.jsonl --source sememes --pac --r 25% --interval sequential
      mohs radius --max-r 0 --pac --r 1 --r 2 --r 25% --together
      mohs radius --max-r 0 --pac --decide 0.9

    >>> import mohs
    >>> run = mohs.radius("pocket", "pocket", n=3)
    >>> all(row["exact"] for row in run.radii())
    True
    """

    finds = "mohs.bounds.finding:RadiusFinding"

    source: str | Source | None = option(
        "Source of the substitutes (see `mohs spaces`); by default the five nearest word vectors.", metavar="S"
    )
    constraints: Sequence[str | Constraint] = several(
        "A constraint on the substitutes; repeat for several.", "--constraint", "M>=T"
    )
    stopwords: str | Path | Iterable[str] | None = option(
        "Words that never change: a file, none, english (default) or nltk.", metavar="FILE"
    )
    change_placeholders: bool = change_placeholders()
    attacks: str | Attack | Sequence[str | Attack] = several(
        "An attack that gives an upper bound on the radius; repeat for several.", "--attack", "NAME[:PRESET]"
    )
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    sememes: Any = model("sememes")
    tagger: Any = model("tagger")
    encoder: Any = model("encoder")
    max_r: int = option("Prove up to this many substitutions.", default=2, least=0)
    most: int = option("The most texts that a proof may ask per example.", default=1_000_000, least=1)
    bounds: bool = option(
        "Skip texts that a sound bound proves (word CNNs only), or ask about all.",
        "--bounds/--no-bounds",
        default=True,
    )
    gradients: bool = option(
        "Try the words first at which the victim's gradient is largest, if it has gradients, or go by the text.",
        "--gradients/--no-gradients",
        default=True,
        before=False,
    )
    time_limit: float | None = option("Time limit for the proof of one example; by default none.", metavar="SECONDS")
    share: Share | str | int | Sequence[Share | str | int] | None = option(
        "The shares to estimate, as objects or radii; on the command line use --pac, --r and so on.",
        command=False,
    )
    pac: bool = option("Estimate the share of texts within radius --r that keep the label.", default=False)
    r: str | int | Sequence[str | int] | None = option(
        "The radius for --pac: a number of substitutions, or a share of the words; repeat for several.",
        metavar="R",
        many=True,
        shown="25%",
    )
    epsilon: float | None = option("Half the width of the confidence interval.", shown="0.025")
    delta: float | None = option("The probability that an interval misses the true share.", shown="0.005")
    together: bool = option("Make delta the probability that any interval of the run misses.", default=False)
    interval: str | None = option(
        "Kind of interval: clopper-pearson, hoeffding, or sequential (stops early).",
        metavar="I",
        shown="clopper-pearson",
    )
    draws: int | None = option("Texts to draw; by default as many as epsilon and delta need.", least=1)
    decide: float | None = option(
        "Stop drawing once the interval shows whether the share is above LEVEL; makes the interval sequential.",
        metavar="LEVEL",
        before=None,
    )
    draw: str | None = option(
        "How texts are drawn: uniform (each text alike), or independent (each word by itself; not uniform).",
        metavar="HOW",
        shown="uniform",
        before=None,
    )

    def check(self) -> None:
        """Refuse shares, spaces and attacks that do not exist or do not fit together."""
        if self.together and not self._shares:
            raise BadInput("--together needs intervals, and there are none; add --pac.")
        _ = self._source
        for constraint in self._constraints:
            if not constraint.about_words:
                from mohs.tasks.described import written

                raise BadInput(
                    f"{written(constraint)} measures whole texts, but a radius needs a constraint on single words; use "
                    "one such as word-cosine, or measure the texts afterwards."
                )
        if self.time_limit is not None and not self.time_limit > 0:
            raise BadInput(f"The time limit is {self.time_limit}; it must be above 0.")
        for name, method in self._members:
            if getattr(method, "living", False):
                raise BadInput(
                    f"{name} generates its words during the search, so it has no fixed space; use pdp or textfooler."
                )
            if hasattr(method, "goal"):
                raise BadInput(f"{name} has another goal than changing the label; use pdp or textfooler.")
            if [other for other, _ in self._members].count(name) > 1:
                raise BadInput(f"The attack {name} is given twice; give it once.")

    def needs(self, subject: Subject) -> Iterable[str]:
        """The services that the space and the attacks use."""
        from mohs.attacks.method import needs

        if subject.target.traits.rejects:
            raise BadInput(
                f"{subject.model.name} can reject texts, but a radius is about labels only; measure the victim "
                "without its detector."
            )
        for name, method in self._members:
            if subject.target.traits.hard and method.needs_scores:
                raise BadInput(f"{name} needs the victim's scores, but {subject.model.name} gives labels only.")
        own = [*self._source.needs, *(kind for c in self._constraints for kind in c.measure.needs)]
        steep = ["gradients"] if self._by_gradients(subject) else []
        return [*own, *(kind for _, method in self._members for kind in needs(method)), *steep]

    def _by_gradients(self, subject: Subject) -> bool:
        """Whether the prover goes by gradients. In a bag of words they are alike at all words."""
        from mohs.models.bag import BagVictim
        from mohs.models.gradients import has_gradients

        wanted = self.gradients and self.max_r > 0 and not isinstance(subject.target.traits.inside, BagVictim)
        return wanted and has_gradients(subject.model)

    def resumes(self, folder: Path, identity: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
        """Refuse a run of a preset that has another meaning now."""
        from mohs.attacks.replaced import refuse_replaced

        before, names = stored.get("uppers"), [name for name, _ in self._members]
        if isinstance(before, list) and len(before) == len(names):
            refuse_replaced(
                folder, dict(zip(names, before, strict=True)), dict(zip(names, identity["uppers"], strict=True))
            )

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """One task that proves a radius for each example."""
        from mohs.bounds.prover import Prover
        from mohs.bounds.share import Shares, together
        from mohs.bounds.task import RadiusTask
        from mohs.tasks.described import identity, word_list, written
        from mohs.text.stopwords import ENGLISH, read_stopwords

        subject = subject.changing(self.change_placeholders)
        stopwords = ENGLISH if self.stopwords is None else read_stopwords(self.stopwords)
        shares = together(self._shares, subject.examples) if self.together else self._shares
        task = RadiusTask(
            name="radius",
            source=self._source,
            constraints=self._constraints,
            stopwords=stopwords,
            attacks=self._members,
            target=subject.target,
            services=services,
            prover=Prover(self.max_r, self.most),
            time_limit=self.time_limit,
            gradients=self.gradients and self.max_r > 0 and "gradients" in services,
            bounds=self.bounds,
            share=shares[0] if len(shares) == 1 else Shares(shares) if shares else None,
            seed=subject.seed,
            built=self._statement(stopwords, services),
        )
        some = max(1, subject.target.traits.crowd // _SHARE_OF_CROWD)
        return Plan(
            tasks=[task],
            resolved={
                "source": written(SOURCE if self.source is None else self.source),
                "constraints": [written(c) for c in self._constraints],
                "stopwords": word_list(self.stopwords),
                "attacks": [name for name, _ in self._teams],
                **self._measured(),
            },
            identity={
                "space": [identity(self._source), *map(repr, self._constraints), sorted(stopwords)],
                "uppers": [identity(method) for _, method in self._members],
            },
            at_once=_AT_ONCE_WITH_TIME_LIMIT if self.time_limit is not None else some,
        )

    def _statement(self, stopwords: frozenset[str], services: Mapping[str, Any]) -> dict[str, Any]:
        """How the spaces of this run are built, as its certificates say it."""
        from mohs.bounds.certificate import statement
        from mohs.tasks.described import describe, named, word_list, written
        from mohs.tasks.option import models_of

        given = models_of(self)
        kinds = dict.fromkeys([*self._source.needs, *(kind for c in self._constraints for kind in c.measure.needs)])
        parts = {kind: getattr(services[kind], "model", services[kind]) for kind in kinds}
        return statement(
            str(written(SOURCE if self.source is None else self.source)),
            [str(written(constraint)) for constraint in self.constraints],
            (word_list(self.stopwords) or "english", describe(stopwords)),
            self.change_placeholders,
            {
                kind: (None if given.get(kind) is None else named(given[kind]), f"{part.name} {part.fingerprint}")
                for kind, part in parts.items()
            },
        )

    @cached_property
    def _source(self) -> Source:
        from mohs.space import word_source

        return word_source(SOURCE if self.source is None else self.source)

    @cached_property
    def _constraints(self) -> tuple[Constraint, ...]:
        from mohs.space import parse_constraint

        return tuple(parse_constraint(c) if isinstance(c, str) else c for c in self.constraints)

    @cached_property
    def _teams(self) -> list[tuple[str, tuple[tuple[str, Attack], ...]]]:
        from mohs.attacks.catalogue import each_of, members_of

        return [members_of(attack) for attack in each_of(self.attacks)]

    @cached_property
    def _members(self) -> tuple[tuple[str, Attack], ...]:
        """The attacks, all in the space of the run; their own spaces are not loaded."""
        return tuple((name, self._in_space(name, method)) for _, team in self._teams for name, method in team)

    def _in_space(self, name: str, method: Any) -> Any:
        from mohs.attacks.method import fits

        found = replace(method, source=self._source, constraints=()) if hasattr(method, "source") else method
        fits(name, found)
        return found

    @cached_property
    def _shares(self) -> tuple[Share, ...]:
        """The shares to estimate, from objects or from the command line."""
        from mohs.bounds.share import Share, checked

        method = "sequential" if self.interval is None and self.decide is not None else self.interval
        told: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "method": method, "n": self.draws}
        told |= {"decide": self.decide, "draw": self.draw}
        if self.share is None and not self.pac:
            for name in ("r", "epsilon", "delta", "interval", "draws", "decide", "draw"):
                if getattr(self, name) not in (None, ()):
                    raise BadInput(f"--{name} is an option of --pac; add --pac.")
            return ()
        if self.share is not None:
            return checked(self.share)
        radii = [self.r] if isinstance(self.r, str | int) else self.r or ["25%"]
        given = {name: value for name, value in told.items() if value is not None}
        return checked([Share(str(r), **given) for r in radii])

    def _measured(self) -> dict[str, Any]:
        """The share options of this run, with defaults filled in."""
        names = ("r", "epsilon", "delta", "interval", "draws", "together", "decide", "draw")
        if not self._shares:
            return {"pac": False, **dict.fromkeys(names)}
        first = self._shares[0]
        radii = first.r if len(self._shares) == 1 else [share.r for share in self._shares]
        told = (radii, first.epsilon, first.delta, first.method, first.n, self.together, first.decide, first.told_draw)
        return {"pac": True} | dict(zip(names, told, strict=True))
