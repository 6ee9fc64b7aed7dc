"""SCPN's syntactic paraphrases (Iyyer et al. 2018), as AdvGLUE uses them (Wang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.rewriting import best_rewrite
from mohs.space import Constraint, Rewriter, Source, Space
from mohs.space.paraphrase import Scpn as Trained
from mohs.space.syntax import Syntax
from mohs.text import Text


@dataclass(frozen=True)
class Scpn:
    """Say the text in ten other sentence structures, and see whether the victim changes its mind.

    Iyyer et al. 2018, with the ten most frequent structures of ParaNMT-50M, as in AdvGLUE (Wang et al. 2021, section
    3.2.2). Preset `rules` moves the parts of a dependency parse: it needs a parser and no trained model. Preset `paper`
    asks a model for each structure, with three beams and 40 tokens; `mohs train --task scpn` makes one, which
    --paraphraser names.

    Differs from the paper:
    - the structure is told to one network; SCPN has a second one that first writes a whole parse for it;
    - rules give a sentence only where it has a natural form in the structure, so many texts have fewer than ten;
    - the words of both come from the text; the released SCPN also changes words, as ParaNMT-50M does;
    - all rewrites that obey the constraints are asked, and the nearest that succeeds is taken. AdvGLUE chooses among
      them by BERTScore, in its filter.
    """

    paper: ClassVar[str] = "Iyyer et al. 2018; Wang et al. 2021 (AdvGLUE)"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "at most ten per sentence"
    rewrites: ClassVar[bool] = True
    replaces: ClassVar[bool] = False

    source: Source | Rewriter = Syntax()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Every structure by itself."""
        return await best_rewrite(x, goal, space, ask)


paper = partial(Scpn, source=Trained())
