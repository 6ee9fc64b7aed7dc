"""Distractions (Naik et al. 2018, Ribeiro et al. 2020), as AdvGLUE uses them (Wang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.rewriting import best_rewrite
from mohs.space import Constraint, Links, Rewriter, Source, Space, Tautologies, Union
from mohs.text import Text


@dataclass(frozen=True)
class Distraction:
    """Add what says nothing, a tautology or a random link or handle, and see whether the victim changes its mind.

    Wang et al. 2021 (AdvGLUE), section 3.2. Preset `stresstest` is Naik et al. 2018: "and true is true", "and false is
    not true", or the first five times, at the end. Preset `checklist` is Ribeiro et al. 2020: five random links and
    five random handles, each before and after the text. Preset `paper` has both. The label stays for sentiment and
    inference; two questions may mean less alike, so not for paraphrases.

    Differs from the papers and the released code:
    - a pair is changed in the field that may change, by default the second (the hypothesis). The published AdvGLUE also
      has changed premises and questions; the code of StressTest makes the text longer in the premise;
    - the words stand before the sign that ends the text. In the published AdvGLUE texts are cut off at their first full
      stop ("the script kicks in , and mr and true is true ."), and five repetitions follow without a space;
    - a final comma, quotation mark or bracket stays before the added words;
    - the code of CheckList also puts "@airline " before tweets, which belongs to its data.
    """

    paper: ClassVar[str] = "Wang et al. 2021 (AdvGLUE); Naik et al. 2018, Ribeiro et al. 2020"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "23: three tautologies, ten links and handles on either side"
    rewrites: ClassVar[bool] = True
    replaces: ClassVar[bool] = False

    source: Source | Rewriter = Union((Tautologies(), Links()))
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Every distraction by itself."""
        return await best_rewrite(x, goal, space, ask)


stresstest = partial(Distraction, source=Tautologies())
checklist = partial(Distraction, source=Links())
