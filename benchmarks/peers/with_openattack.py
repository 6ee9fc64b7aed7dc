"""One job of benchmarks/versus.py in OpenAttack: its own attackers, given what it would otherwise download.

Words are what stands between spaces, as the data has it; where no tool checks parts of speech, all have the same one.
"""

from __future__ import annotations

import random
import sys
from importlib import import_module
from typing import Any

import numpy as np
from job import Counted, CountedRows, Figures, Job, Row, answer, encoder_of, measured, victim_of

OpenAttack: Any = import_module("OpenAttack")
ENGLISH = {import_module("OpenAttack.tags").TAG_English}
CLASSES = {"JJ": "adj", "VB": "verb", "NN": "noun", "RB": "adv"}
POPULATION = {"pop_size": 60, "max_iters": 20}


class Spaces(OpenAttack.text_process.tokenizer.Tokenizer):  # type: ignore[misc]
    """Words between spaces, with parts of speech by NLTK as in OpenAttack's own, or all "other"."""

    TAGS = ENGLISH

    def __init__(self, tagged: bool = False) -> None:
        self.tag = import_module("nltk.tag.perceptron").PerceptronTagger().tag if tagged else None

    def do_tokenize(self, text: str, pos_tagging: bool = True) -> list[Any]:
        words = text.split(" ")
        if not pos_tagging:
            return words
        if self.tag is None:
            return [(word, "other") for word in words]
        return [(word, CLASSES.get(tag[:2], "other")) for word, tag in self.tag(words)]

    def do_detokenize(self, words: list[str]) -> str:
        return " ".join(words)


class Listed(OpenAttack.attack_assist.substitute.word.WordSubstitute):  # type: ignore[misc]
    """The candidates that all tools have."""

    TAGS = ENGLISH

    def __init__(self, candidates: dict[str, list[str]]) -> None:
        self.found = {word: [(other, 1.0) for other in others] for word, others in candidates.items()}
        self.unknown = import_module("OpenAttack.exceptions").WordNotInDictionaryException

    def __call__(self, word: str, pos: str | None = None) -> list[tuple[str, float]]:
        if word not in self.found:
            raise self.unknown
        return self.found[word]


def likeness(encoder: Counted | None) -> Any:
    """In the place of the Universal Sentence Encoder: the cosine by our encoder, or 1 without one."""

    class Likeness:
        TAGS = ENGLISH

        def calc_score(self, one: str, other: str) -> float:
            return float(np.dot(*encoder([one, other]))) if encoder is not None else 1.0

    return Likeness


def made(job: Job, encoder: Counted | None) -> Any:
    """The attacker."""
    attackers = OpenAttack.attackers
    common = {
        "tokenizer": Spaces(job.attack.endswith("+pos")),
        "substitute": Listed(job.candidates),
        "filter_words": list(job.stopwords),
    }
    if job.attack.startswith("textfooler"):
        module = sys.modules[attackers.TextFoolerAttacker.__module__]
        module.__dict__["UniversalSentenceEncoder"] = likeness(encoder)
        threshold = 0.8775826 if encoder is not None else 0.5  # the cosine of an angle of 0.5, as elsewhere
        return attackers.TextFoolerAttacker(sim_score_threshold=threshold, **common)
    if job.attack == "pwws":
        return attackers.PWWSAttacker(token_unk="[UNK]", **common)
    if job.attack == "deepwordbug":
        return attackers.DeepWordBugAttacker(token_unk="[UNK]", tokenizer=Spaces())
    if job.attack == "textbugger":
        return attackers.TextBuggerAttacker(**common)
    if job.attack == "genetic":
        return attackers.GeneticAttacker(**POPULATION, **common)
    if job.attack == "pso":
        return attackers.PSOAttacker(**POPULATION, **common)
    masked = {"mlm_path": job.masked_lm, "filter_words": list(job.stopwords)}
    if job.attack.startswith("bert-attack"):
        return attackers.BERTAttacker(k=8, **masked)
    data = OpenAttack.DataManager
    data.set_path(__file__, "TProcess.NLTKPerceptronPosTagger")  # a place that exists; what it gives is set here
    data.data_reference["TProcess.NLTKPerceptronPosTagger"] = lambda words: [(word, "other") for word in words]
    return attackers.BAEAttacker(k=50, sentence_encoder=likeness(encoder)(), **masked)


def run(job: Job) -> Figures:
    counted = victim_of(job)
    encoder = encoder_of(job) if job.encoder else None

    class Victim(OpenAttack.Classifier):  # type: ignore[misc]
        @property
        def TAGS(self) -> set[Any]:
            return ENGLISH | set(self._method_tags)

        def get_prob(self, texts: list[str]) -> Any:
            return np.array(counted(texts))

        def get_pred(self, texts: list[str]) -> Any:
            return self.get_prob(texts).argmax(axis=1)

    victim, attacker = Victim(), made(job, encoder)

    def one(row: Row) -> tuple[bool, str]:
        text = attacker(victim, {"x": row["text"], "y": row["label"]})
        return text is not None, text if text is not None else row["text"]

    random.seed(0)
    np.random.seed(0)
    masked = CountedRows(attacker.mlm_model) if hasattr(attacker, "mlm_model") else None
    return measured(job, one, counted, encoder, masked)


if __name__ == "__main__":
    answer(run)
