"""`mohs radius`: its options, and from them the proofs of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.tasks.option import model, option
from mohs.tasks.plan import Plan, Verb

if TYPE_CHECKING:
    from mohs.attacks.method import Attack
    from mohs.bounds.share import Share
    from mohs.space import Constraint, Source
    from mohs.tasks.subject import Subject

SOURCE = "neighbours:k=5,min_cosine=0.5"
_AT_ONCE_WITH_TIME_LIMIT = 8  # each example's clock also counts the work for the others
_SHARE_OF_CROWD = 16  # each asks thousands of texts together


@dataclass(frozen=True, kw_only=True)
class RadiusVerb(
    Verb,
    command="radius",
    function="radius",
    short="How many substitutions predictions withstand, proven.",
    doing="proving",
):
    """How many substitutions does each prediction withstand, proven; and beyond that, which share still holds?

    Every text with 1, 2 ... substitutions is put to the victim, until one changes the label or --max-r is reached. The
    bundled bag of words is worked out in closed form. Certificates are written to certificates.jsonl, for `mohs
    verify`. Yang et al. 2022. Running the same command again resumes the run.

    Examples:
      mohs radius --n 50
      mohs radius --victim hf:./my-model --data test.jsonl --max-r 2 --time-limit 60 --attack pdp
      mohs radius --victim mohs:my-cnn --data test.jsonl --source sememes --pac --r 25% --interval sequential
      mohs radius --max-r 0 --pac --r 1 --r 2 --r 25% --together

    >>> import mohs
    >>> run = mohs.radius("pocket", "pocket", n=3)
    >>> all(row["exact"] for row in run.radii())
    True
    """

    source: str | Source | None = option(
        "Where words come from, see `mohs spaces`; by default the five nearest vectors.", metavar="S"
    )
    constraints: Sequence[str | Constraint] = option(
        "A constraint on words; repeat for several.", "--constraint", default=(), metavar="M>=T", many=True
    )
    stopwords: str | Path | Iterable[str] | None = option(
        "Words left alone: a file, none, english (default) or nltk.", metavar="FILE"
    )
    attacks: str | Sequence[str | Attack] = option(
        "An attack that bounds the radius from above; repeat.",
        "--attack",
        default=(),
        metavar="NAME[:PRESET]",
        many=True,
    )
    max_r: int = option("Prove up to this many substitutions.", default=2, least=0)
    most: int = option("Texts an example that the prover may ask.", default=1_000_000, least=1)
    bounds: bool = option(
        "Leave out what a sound bound settles (word CNNs), or ask all.", "--bounds/--no-bounds", default=True
    )
    time_limit: float | None = option("Time for proving one example; by default no limit.", metavar="SECONDS")
    share: Share | str | int | Sequence[Share | str | int] | None = option(
        "The shares to estimate, as an object or a radius; on the command line --pac with --r and so on.",
        command=False,
    )
    pac: bool = option("Estimate which share of the space keeps the label.", default=False)
    r: str | int | Sequence[str | int] | None = option(
        "The radius of that space: a number, or a share of the words; repeat.", metavar="R", many=True, shown="25%"
    )
    epsilon: float | None = option("Half the width of its interval.", shown="0.025")
    delta: float | None = option("The chance that an interval misses.", shown="0.005")
    together: bool = option("Make delta the chance that any interval of the run misses.", default=False)
    interval: str | None = option(
        "clopper-pearson, hoeffding, or sequential, which stops early.", metavar="I", shown="clopper-pearson"
    )
    draws: int | None = option("Texts drawn; by default by epsilon and delta.", least=1)
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    sememes: Any = model("sememes")
    tagger: Any = model("tagger")
    encoder: Any = model("encoder")

    @classmethod
    def finding(cls) -> type:
        """See there."""
        from mohs.bounds.finding import RadiusFinding

        return RadiusFinding

    def check(self) -> None:
        """Shares, space and attacks must exist and go together."""
        if self.together and not self._shares:
            raise BadInput("There are no intervals to hold together; ask for a share too (--pac).")
        _ = self._source
        for constraint in self._constraints:
            if not constraint.about_words:
                from mohs.tasks.described import written

                raise BadInput(
                    f"{written(constraint)} judges whole texts, and a radius is over a space of words; use a "
                    "constraint on words such as word-cosine, or judge the texts afterwards."
                )
        if self.time_limit is not None and not self.time_limit > 0:
            raise BadInput(f"The time limit is {self.time_limit}; it must be above 0.")
        for name, method in self._members:
            if getattr(method, "living", False):
                raise BadInput(
                    f"{name} makes its words up as it goes, so it has no fixed space; use pdp or textfooler."
                )
            if hasattr(method, "goal"):
                raise BadInput(f"{name} is after something else than another label; use pdp or textfooler.")
            if [other for other, _ in self._members].count(name) > 1:
                raise BadInput(f"The attack {name} is named twice; name it once.")

    def needs(self, subject: Subject) -> Iterable[str]:
        """What the space and the attacks ask."""
        from mohs.attacks.method import needs

        if subject.target.traits.rejects:
            raise BadInput(
                f"{subject.model.name} rejects texts, and a radius is about labels that stay; measure the victim "
                "without its detector."
            )
        for name, method in self._members:
            if subject.target.traits.hard and method.needs_scores:
                raise BadInput(f"{name} steers by the victim's scores, and {subject.model.name} gives labels only.")
        own = [*self._source.needs, *(kind for c in self._constraints for kind in c.measure.needs)]
        return [*own, *(kind for _, method in self._members for kind in needs(method))]

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """One proof for each example."""
        from mohs.bounds.prover import Prover
        from mohs.bounds.share import Shares, together
        from mohs.bounds.task import RadiusTask
        from mohs.tasks.described import identity, word_list, written
        from mohs.text.stopwords import ENGLISH, read_stopwords

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
            bounds=self.bounds,
            share=shares[0] if len(shares) == 1 else Shares(shares) if shares else None,
            seed=subject.seed,
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

    @cached_property
    def _source(self) -> Source:
        from mohs.space import parse_source

        source = SOURCE if self.source is None else self.source
        return parse_source(source) if isinstance(source, str) else source

    @cached_property
    def _constraints(self) -> tuple[Constraint, ...]:
        from mohs.space import parse_constraint

        return tuple(parse_constraint(c) if isinstance(c, str) else c for c in self.constraints)

    @cached_property
    def _teams(self) -> list[tuple[str, tuple[tuple[str, Attack], ...]]]:
        from mohs.attacks.catalogue import members_of

        return [members_of(attack) for attack in ([self.attacks] if isinstance(self.attacks, str) else self.attacks)]

    @cached_property
    def _members(self) -> tuple[tuple[str, Attack], ...]:
        """The attacks in the space of the run: what their own would need is not asked for."""
        return tuple((name, self._in_space(method)) for _, team in self._teams for name, method in team)

    def _in_space(self, method: Any) -> Any:
        return replace(method, source=self._source, constraints=()) if hasattr(method, "source") else method

    @cached_property
    def _shares(self) -> tuple[Share, ...]:
        """The shares asked for, as objects or by the options of the command line."""
        from mohs.bounds.share import Share, checked

        told: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "method": self.interval, "n": self.draws}
        if self.share is None and not self.pac:
            for name in ("r", "epsilon", "delta", "interval", "draws"):
                if getattr(self, name) not in (None, ()):
                    raise BadInput(f"--{name} is about the share that keeps the label; add --pac to ask for it.")
            return ()
        if self.share is not None:
            return checked(self.share)
        radii = [self.r] if isinstance(self.r, str | int) else self.r or ["25%"]
        given = {name: value for name, value in told.items() if value is not None}
        return checked([Share(str(r), **given) for r in radii])

    def _measured(self) -> dict[str, Any]:
        """The options of the shares as this run has them."""
        names = ("r", "epsilon", "delta", "interval", "draws", "together")
        if not self._shares:
            return {"pac": False, **dict.fromkeys(names)}
        first = self._shares[0]
        radii = first.r if len(self._shares) == 1 else [share.r for share in self._shares]
        return {"pac": True} | dict(
            zip(names, (radii, first.epsilon, first.delta, first.method, first.n, self.together), strict=True)
        )
