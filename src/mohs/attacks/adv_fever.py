"""AdvFever's entailment-preserving rules (Thorne and Vlachos 2019), as AdvGLUE uses them (Wang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.rewriting import best_rewrite
from mohs.space import Constraint, Rewriter, Source, Space
from mohs.space.fever import Fever
from mohs.text import Text


@dataclass(frozen=True)
class AdvFever:
    """Say a claim of a known form in other words ("X is a Y": "There exists a Y called X").

    Thorne and Vlachos 2019, the rules that keep the label, as in AdvGLUE (Wang et al. 2021, section 3.2.2). They match
    few sentences outside of encyclopaedias: AdvGLUE's success rates are 0.3% to 6.6%. Their rules that negate a claim
    turn its label round and are left out. Preset `entities` asks a parser with a recogniser what is a person, a place
    or a time; `paper` knows it from small lists and capital letters.

    Differs from the released code: see `mohs spaces` and docs/spaces.md (source `fever`). All rewrites are asked; the
    released code draws one for each claim.
    """

    paper: ClassVar[str] = "Thorne and Vlachos 2019; Wang et al. 2021 (AdvGLUE)"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "at most seven"
    rewrites: ClassVar[bool] = True
    replaces: ClassVar[bool] = False

    source: Source | Rewriter = Fever()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Every rule by itself."""
        return await best_rewrite(x, goal, space, ask)


entities = partial(AdvFever, source=Fever(entities=True))
