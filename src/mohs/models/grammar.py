"""Grammar checkers: they give the names of the problems in a string.

The number of problems is G of Morris et al. ("Pragmatic evaluation of adversarial examples in natural language", 2020,
sections 3.4 and 4.1), who count what LanguageTool reports. `harper` runs in this process; `languagetool:URL` queries a
LanguageTool server.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import version
from typing import Any

from mohs.engine import cut
from mohs.errors import BadInput
from mohs.models.languagetool import LOCAL_SERVER, LanguageToolChecker, Problems, fingerprint
from mohs.text.addresses import without_credentials

# These kinds are about spelling, typography or taste, not grammar. They make up most of what is found in decent prose:
# in the 1,072 bundled reviews all kinds and rules find 248 problems, and those that count by default find 10.
NOT_GRAMMAR = (
    "Capitalization",
    "Enhancement",
    "Formatting",
    "Punctuation",
    "Readability",
    "Redundancy",
    "Regionalism",
    "Spelling",
    "Style",
)
# Rules of other kinds that fire at names, at words split by a tokenizer ("do n't") and at unknown words.
# SpellCheck is here because it takes half the time and all its findings are left out anyway.
NOT_GRAMMAR_RULES = (
    "CompoundNouns",
    "FillerWords",
    "MergeWords",
    "Months",
    "SpellCheck",
    "SplitWords",
    "WrongNegative",
)


class HarperChecker:
    """Harper, a checker with some 900 rules for English. It reads plain text in the American dialect.

    Overlapping problems count once. Each worker has its own dictionary of about 100 MB.
    """

    name = "harper"
    in_flight = 2  # the searches go on while the workers read

    def __init__(
        self,
        *,
        kinds_left_out: Iterable[str] = NOT_GRAMMAR,
        rules_left_out: Iterable[str] = NOT_GRAMMAR_RULES,
        workers: int = 0,  # 0: one per processor, at most four
    ) -> None:
        harper = _harper()
        self.kinds_left_out = frozenset(kinds_left_out)
        self.rules_left_out = frozenset(rules_left_out)
        known = frozenset(harper.get_default_lint_config()) | frozenset(NOT_GRAMMAR_RULES)
        for rule in sorted(self.rules_left_out - known):
            raise BadInput(f"Harper has no rule {rule!r}; harper.get_default_lint_config() lists all rules.")
        settings = [sorted(self.kinds_left_out), sorted(self.rules_left_out)]
        self.fingerprint = fingerprint("harper-py", version("harper-py"), settings)
        self._workers = workers or min(4, os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(self._workers, "mohs-harper")
        self._own = threading.local()  # a linter must stay in one thread

    def plan(self, items: list[str]) -> list[list[str]]:
        """Batches in alphabetical order: neighbours share phrases, and Harper caches those."""
        return cut(sorted(items), 256)

    def launch(self, batch: list[str]) -> list[Future[list[Problems]]]:
        """Split the batch among the workers."""
        return [self._pool.submit(self._check, part) for part in cut(batch, 8)]

    def collect(self, ticket: list[Future[list[Problems]]]) -> list[Problems]:
        """Wait for all parts."""
        return [problems for part in ticket for problems in part.result()]

    def _check(self, texts: list[str]) -> list[Problems]:
        linter = getattr(self._own, "linter", None)
        if linter is None:
            linter = self._own.linter = _harper().Linter()
            linter.set_lint_config(dict.fromkeys(self.rules_left_out, False))
        return [self._problems(linter.organized_lints(text, language="plaintext", dedup=False)) for text in texts]

    def _problems(self, found: dict[str, list[Any]]) -> Problems:
        """The problems from left to right, without those that overlap the one before.

        Harper could do this too, but only before kinds are filtered: a "long sentence" would hide all problems in it.
        """
        lints = sorted(
            (lint.span.start, lint.span.end, rule)
            for rule, lints in found.items()
            for lint in lints
            if lint.lint_kind not in self.kinds_left_out
        )
        names, reached = [], 0
        for start, end, rule in lints:
            if start >= reached:
                names.append(rule)
                reached = end
        return tuple(names)


def load_grammar(spec: str = "harper") -> HarperChecker | LanguageToolChecker:
    """Load the grammar checker named on the command line."""
    kind, _, url = spec.partition(":")
    if spec == "harper":
        return HarperChecker()
    if kind == "languagetool":
        return LanguageToolChecker(url or LOCAL_SERVER)
    raise BadInput(
        f"Unknown grammar checker {without_credentials(spec)!r}; use harper, languagetool or languagetool:URL."
    )


def _harper() -> Any:
    try:
        return import_module("harper")
    except ImportError as error:
        raise BadInput("The grammar checker harper needs harper-py: pip install harper-py.") from error
