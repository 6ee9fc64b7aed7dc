"""`mohs certify`: its options, and the task made from them."""

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
    from mohs.certifying.smoothed import Smoothed
    from mohs.space import Constraint, Source
    from mohs.tasks.subject import Subject

SOURCE = "neighbours:k=5,min_cosine=0.5"
ATTACKS = ("greedy", "genetic")
_DRAWS = 1000
_ALPHA = 0.001


@dataclass(frozen=True, kw_only=True)
class CertifyVerb(Verb, command="certify", doing="certifying"):
    """Print certified accuracy beside accuracy under attack over the same space, and clean accuracy.

    An example is certified if a bound proves that no text of its space, with at most --budget changed words, changes
    the prediction. Such bounds exist for safer(V) and ranmask(V), which make a certificate for any victim V by
    smoothing, for the bundled bag of words, and for networks of `mohs train`. The attack searches the same space, so
    certified <= robust <= clean; an example that is both certified and fooled is reported and ends with exit code 1.
    Running the same command again resumes the run.

    Examples:
      mohs certify --n 50
      mohs certify --victim "safer(hf:./my-model)" --data test.jsonl --n 100 --draws 5000
      mohs certify --victim "ranmask(hf:./my-model, rate=0.9)" --data test.jsonl --budget 1,2,3
      mohs certify --victim mohs:my-cnn --data test.jsonl --budget 1,2,all --attack beam --attack genetic

    >>> import mohs
    >>> run = mohs.certify("pocket", "pocket", n=3)
    >>> [found.budget for found in run.certified()]
    ['all']
    """

    finds = "mohs.certifying.finding:CertifyFinding"

    budget: str | int | Sequence[str | int] | None = option(
        "How many words may change: numbers, or all; several as 1,2,all. By default all, and 1 for ranmask and lirpa.",
        metavar="R",
    )
    attacks: str | Attack | Sequence[str | Attack] = several(
        "An attack over the same space; the worst of all counts, so repeat for several.",
        "--attack",
        "NAME[:PRESET]",
        ATTACKS,
    )
    every: int = option(
        "Ask about every text of a space that has at most so many texts, instead of the attacks.",
        default=1000,
        least=0,
    )
    source: str | Source | None = option(
        "Source of the substitutes (see `mohs spaces`); by default the five nearest word vectors. A safer victim has "
        "its own.",
        metavar="S",
    )
    constraints: Sequence[str | Constraint] = several(
        "A constraint on the substitutes; repeat for several.", "--constraint", "M>=T"
    )
    stopwords: str | Path | Iterable[str] | None = option(
        "Words that never change: a file, none, english (default) or nltk.", metavar="FILE"
    )
    change_placeholders: bool = change_placeholders()
    draws: int | None = option(
        f"Versions to draw of each text, for safer and ranmask; default {_DRAWS}.", least=1, metavar="N"
    )
    alpha: float | None = option(
        "The greatest probability that the certificate of one example is wrong, for safer and ranmask; "
        f"default {_ALPHA}."
    )
    published: bool = option(
        "Take the bounds of the papers on safer and ranmask, which are estimates and not certificates.", default=False
    )
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    sememes: Any = model("sememes")
    tagger: Any = model("tagger")

    def check(self) -> None:
        """Refuse budgets, confidences, spaces and attacks that do not exist or do not fit together."""
        _ = self._budgets, self._source
        if self.alpha is not None and not 0 < self.alpha < 0.5:
            raise BadInput(f"--alpha {self.alpha} is no probability of error; give one above 0 and below 0.5: 0.001.")
        if not self._members:
            raise BadInput("No attack was given; see `mohs attacks`.")
        for constraint in self._constraints:
            if not constraint.about_words:
                raise BadInput(
                    f"{constraint.measure.name} measures whole texts, but a certificate is about the words at each "
                    "place; use a constraint on single words, such as word-cosine."
                )
        names = [name for name, _ in self._members]
        for name, method in self._members:
            if getattr(method, "living", False):
                raise BadInput(
                    f"{name} makes its words during the search, so its space would differ from that of the "
                    "certificate; use greedy, beam or genetic."
                )
            if hasattr(method, "goal"):
                raise BadInput(f"{name} has another goal than changing the label; use greedy, beam or genetic.")
            if names.count(name) > 1:
                raise BadInput(f"The attack {name} is given twice; give it once.")

    def needs(self, subject: Subject) -> Iterable[str]:
        """The services that the space and the attacks use. Refuses a victim that cannot be certified."""
        from mohs.attacks.method import needs

        name, traits = subject.model.name, subject.target.traits
        if traits.rejects:
            raise BadInput(
                f"{name} can reject texts, but a certificate is about labels only; certify the victim without its "
                "detector."
            )
        smoothed = self._smoothed(subject)
        if smoothed is None:
            self._refuse_unbounded(subject)
        else:
            self._refuse_unfit(name, smoothed)
        for attack, method in self._members:
            if traits.hard and method.needs_scores:
                raise BadInput(f"{attack} needs the victim's scores, but {name} gives labels only.")
        own = [kind for c in self._constraints for kind in c.measure.needs]
        own += [] if self._own_space(smoothed) else self._source.needs
        return [*own, *(kind for _, m in self._members for kind in needs(m))]

    def _refuse_unbounded(self, subject: Subject) -> None:
        """Refuse a victim that is a black box, and options that are for smoothing."""
        name = subject.model.name
        for told in ("draws", "alpha"):
            if getattr(self, told) is not None:
                raise BadInput(
                    f"--{told} is for victims that draw versions, and {name} draws none; leave it out, or certify "
                    f"safer({name})."
                )
        if self.published:
            raise BadInput(f"--published is for safer(...) and ranmask(...), not for {name}; leave it out.")
        if self._bounded(subject) is None:
            raise BadInput(
                f"{name} has no certificate: mohs knows no bound for it; certify safer({name}) or ranmask({name}), "
                "which smooth any victim."
            )

    def _refuse_unfit(self, name: str, smoothed: Smoothed) -> None:
        """Refuse a space that differs from the certificate's, and budgets for which there is no certificate."""
        from mohs.defences.smoothing import RanMask

        defence = smoothed.defence
        if not isinstance(defence, RanMask):
            for told in ("source", "constraints", "stopwords", "vectors", "wordnet"):
                flag = told.removesuffix("s") if told == "constraints" else told
                if getattr(self, told) not in (None, ()):
                    raise BadInput(
                        f"{name} certifies its own perturbation sets, so --{flag} would give the attack another space "
                        "than the certificate has; leave it out, or change the sets: safer(V, cosine=0.7)."
                    )
            return
        if None in self._budgets_of(smoothed.method):
            raise BadInput(
                f"{name} certifies a number of changed words, not all of them; give --budget 1, for example."
            )
        if defence.rate < 0.5 and not self.published:
            raise BadInput(
                f"{name} hides {defence.rate:.0%} of the words, so a single changed word is shown in half of the "
                "versions or more, and nothing can be certified; hide more, such as rate=0.9."
            )

    def _smoothed(self, subject: Subject) -> Smoothed | None:
        """The victim as a smoothed one, with the weights that verdicts are made with; None if it is none."""
        from mohs.certifying.smoothed import Smoothed
        from mohs.defences.smoothing import RanMask, Safer
        from mohs.defences.versions import Versions

        victim = subject.target.traits.verdict or subject.model
        if type(victim) is Versions and isinstance(victim.defence, Safer | RanMask):
            return Smoothed(victim, self.published)
        return None

    def _bounded(self, subject: Subject) -> str | None:
        """The name of the certificate of a victim that draws nothing."""
        from mohs.certifying.fixed import can_be_bounded
        from mohs.space import Space
        from mohs.text import Text

        fields = tuple("a good film" for _ in next(iter(subject.data)).names)
        return can_be_bounded(subject.model, Space(Text(*fields), {1: ("bad",)}))

    def _own_space(self, smoothed: Smoothed | None) -> bool:
        return smoothed is not None and smoothed.method == "safer"

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        """One task that certifies and attacks each example."""
        from mohs.certifying.budgets import written as of_words
        from mohs.certifying.task import CertifyTask
        from mohs.tasks.described import describe, identity, word_list, written
        from mohs.text.stopwords import ENGLISH, read_stopwords

        subject = subject.changing(self.change_placeholders)
        smoothed = self._smoothed(subject)
        method = smoothed.method if smoothed is not None else self._bounded(subject) or "none"
        own = self._own_space(smoothed)
        stopwords = ENGLISH if self.stopwords is None else read_stopwords(self.stopwords)
        budgets = self._budgets_of(method)
        draws, alpha = self.draws or _DRAWS, self.alpha or _ALPHA
        task = CertifyTask(
            name="certify",
            target=subject.target,
            services=services,
            source=None if own else self._source,
            constraints=self._constraints,
            stopwords=stopwords,
            attacks=self._members,
            budgets=budgets,
            method=method,
            smoothed=smoothed,
            draws=draws,
            alpha=alpha,
            every=self.every,
            seed=subject.seed,
        )
        return Plan(
            tasks=[task],
            resolved={
                "budget": ",".join(map(of_words, budgets)),
                "attacks": [name for name, _ in self._members],
                "source": None if own else written(SOURCE if self.source is None else self.source),
                "constraints": [written(c) for c in self._constraints],
                "stopwords": word_list(self.stopwords),
                "draws": draws if smoothed else None,
                "alpha": alpha if smoothed else None,
            },
            identity={
                "space": describe(smoothed.defence)
                if smoothed is not None and own
                else [identity(self._source), *map(repr, self._constraints), sorted(stopwords)],
                "method": method,
                "searches": [identity(m) for _, m in self._members],
            },
            facts={"method": method},
            notes=_PUBLISHED if self.published else (),
        )

    @cached_property
    def _budgets(self) -> tuple[int | None, ...] | None:
        from mohs.certifying.budgets import budgets_of

        return None if self.budget is None else budgets_of(self.budget)

    def _budgets_of(self, method: str) -> tuple[int | None, ...]:
        """The budgets; by default all words, or one if the certificate would hardly hold for all."""
        return self._budgets or ((1,) if method in ("ranmask", "lirpa") else (None,))

    @cached_property
    def _source(self) -> Source:
        from mohs.space import word_source

        return word_source(SOURCE if self.source is None else self.source)

    @cached_property
    def _constraints(self) -> tuple[Constraint, ...]:
        from mohs.space import parse_constraint

        return tuple(parse_constraint(c) if isinstance(c, str) else c for c in self.constraints)

    @cached_property
    def _members(self) -> tuple[tuple[str, Attack], ...]:
        """The attacks, in the space of the certificate; their own spaces are not loaded."""
        from mohs.attacks.catalogue import each_of, members_of
        from mohs.attacks.method import fits
        from mohs.certifying.robust import Given

        def placed(name: str, method: Any) -> Any:
            found = replace(method, source=Given(), constraints=()) if hasattr(method, "source") else method
            fits(name, found)
            return found

        teams = [members_of(attack) for attack in each_of(self.attacks)]
        return tuple((name, placed(name, method)) for _, team in teams for name, method in team)


_PUBLISHED = (
    "The bounds are the papers' own (--published): they are estimates, so nothing here is certified in the strict "
    "sense.",
)
