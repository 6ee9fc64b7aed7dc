"""The constraints of `--fair`: changes that people would likely accept."""

from __future__ import annotations

from mohs.space.acceptable import Acceptable
from mohs.space.constraints import Constraint
from mohs.space.fluency import GrammarErrors
from mohs.space.word_measures import Antonyms

# In order of cost: the words alone, the words in their places, the whole text by a grammar checker.
FAIR = (
    Constraint(Antonyms(), at_most=0),
    Constraint(Acceptable(), at_least=0.5),
    Constraint(GrammarErrors(), at_most=0),
)
