"""Runs many searches at once and answers their queries in large batches.

The engine does not depend on text, torch, clocks or threads.
"""

from mohs.engine.cache import AnswerCache
from mohs.engine.meter import Answers, BudgetSpent, Memory, Meter
from mohs.engine.question import Question, others_first, together
from mohs.engine.run import Finished, run
from mohs.engine.service import AtOnce, Model, Service, by_length, by_size, cut

__all__ = [
    "AnswerCache",
    "Answers",
    "AtOnce",
    "BudgetSpent",
    "Finished",
    "Memory",
    "Meter",
    "Model",
    "Question",
    "Service",
    "by_length",
    "by_size",
    "cut",
    "others_first",
    "run",
    "together",
]
