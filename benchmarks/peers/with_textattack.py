"""One job of benchmarks/versus.py in TextAttack: its own searches, transformations and constraints."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from job import Counted, Figures, Job, Row, answer, encoder_of, measured, victim_of

textattack: Any = import_module("textattack")
transformations: Any = import_module("textattack.transformations")
search_methods: Any = import_module("textattack.search_methods")
pre: Any = import_module("textattack.constraints.pre_transformation")
overlap: Any = import_module("textattack.constraints.overlap")
semantics: Any = import_module("textattack.constraints.semantics")
encoders: Any = import_module("textattack.constraints.semantics.sentence_encoders")


def only(kind: Any, candidates: dict[str, list[str]], *args: Any, **settings: Any) -> Any:
    """A transformation of TextAttack's that drops the words which the other tools would not offer."""
    allowed = {word: frozenset(others) for word, others in candidates.items()}

    class Only(kind):  # type: ignore[misc]
        def _get_replacement_words(self, word: str, *rest: Any) -> list[str]:
            keep = allowed.get(word.lower(), frozenset())
            return [other for other in super()._get_replacement_words(word, *rest) if other in keep]

    return Only(*args, **settings)


def embedding(job: Job) -> Any:
    """The word vectors, with the table of neighbours that TextAttack would download."""
    words = (Path(job.vectors) / "words.txt").read_text("utf-8").split("\n")
    table = np.load(Path(job.vectors) / "vectors.npy").astype(np.float32)
    index = {word: number for number, word in enumerate(words[: len(table)])}
    return textattack.shared.WordEmbedding(
        table, index, {number: word for word, number in index.items()}, np.load(job.neighbours)
    )


def wordnet(job: Job) -> Any:
    """WordNet's files read by NLTK; the multilingual part, which its class would download, is not asked."""
    from mohs.text.wordnet import WordNet

    module = sys.modules[transformations.WordSwapWordNet.__module__]
    module.__dict__["wordnet"] = WordNet(job.wordnet)._reader

    class Plain(transformations.WordSwapWordNet):  # type: ignore[misc]
        def __init__(self) -> None:
            self.language = "eng"

    return only(Plain, job.candidates)


def similarity(encoder: Counted, **settings: Any) -> Any:
    """TextAttack's constraint by sentence vectors, with our encoder behind it."""
    base = import_module(encoders.__name__ + ".sentence_encoder").SentenceEncoder

    class Similarity(base):  # type: ignore[misc, valid-type]
        def encode(self, sentences: list[str]) -> Any:
            return np.stack(encoder(sentences))

    return Similarity(**settings)


def run(job: Job) -> Figures:
    victim = victim_of(job)
    encoder = encoder_of(job) if job.encoder else None

    class Wrapper(textattack.models.wrappers.ModelWrapper):  # type: ignore[misc]
        model = victim.model

        def __call__(self, texts: list[str], **kwargs: Any) -> Any:
            return np.array(victim(texts), dtype=np.float32)

    constraints: list[Any] = [pre.RepeatModification(), pre.StopwordModification(stopwords=set(job.stopwords))]
    name = job.attack
    wir = search_methods.GreedyWordSwapWIR
    if name.startswith("textfooler"):
        vectors = embedding(job)
        change = only(transformations.WordSwapEmbedding, job.candidates, max_candidates=50, embedding=vectors)
        constraints.append(semantics.WordEmbeddingDistance(embedding=vectors, min_cos_sim=0.5))
        if name == "textfooler+pos":
            constraints.append(_part_of_speech())
        if encoder is not None:
            step = {"threshold": 0.840845057, "metric": "angular", "compare_against_original": False}
            constraints.append(similarity(encoder, window_size=15, skip_text_shorter_than_window=True, **step))
        search = wir(wir_method="delete")
    elif name == "pwws":
        change, search = wordnet(job), wir("weighted-saliency")
    elif name == "deepwordbug":
        kinds = ("NeighboringCharacterSwap", "RandomCharacterSubstitution", "RandomCharacterDeletion")
        parts = [getattr(transformations, f"WordSwap{kind}")() for kind in (*kinds, "RandomCharacterInsertion")]
        change, search = transformations.CompositeTransformation(parts), wir()
        constraints.append(overlap.LevenshteinEditDistance(30))
    elif name == "textbugger":
        inner = {"random_one": True, "skip_first_char": True, "skip_last_char": True}
        parts = [
            transformations.WordSwapRandomCharacterInsertion(letters_to_insert=" ", **inner),
            transformations.WordSwapRandomCharacterDeletion(**inner),
            transformations.WordSwapNeighboringCharacterSwap(**inner),
            transformations.WordSwapHomoglyphSwap(),
            only(transformations.WordSwapEmbedding, job.candidates, max_candidates=5, embedding=embedding(job)),
        ]
        change, search = transformations.CompositeTransformation(parts), wir(wir_method="delete")
    elif name == "genetic":
        vectors = embedding(job)
        change = only(transformations.WordSwapEmbedding, job.candidates, max_candidates=8, embedding=vectors)
        distance = {"max_mse_dist": 0.5, "compare_against_original": False}
        constraints += [
            overlap.MaxWordsPerturbed(max_percent=0.2),
            semantics.WordEmbeddingDistance(embedding=vectors, **distance),
        ]
        search = search_methods.AlzantotGeneticAlgorithm(pop_size=60, max_iters=20, post_crossover_check=False)
    elif name == "pso":
        change = wordnet(job)
        search = search_methods.ParticleSwarmOptimization(pop_size=60, max_iters=20)
    else:
        assert encoder is not None
        masked = {"masked_language_model": job.masked_lm}
        if name == "bert-attack":
            change = transformations.WordSwapMaskedLM(method="bert-attack", max_candidates=8, **masked)
            constraints += [
                overlap.MaxWordsPerturbed(max_percent=0.4),
                similarity(encoder, threshold=0.2, metric="cosine", window_size=None),
            ]
            search = wir(wir_method="unk")
        else:
            change = transformations.WordSwapMaskedLM(method="bae", max_candidates=50, min_confidence=0.0, **masked)
            window = {"window_size": 15, "skip_text_shorter_than_window": True}
            constraints.append(similarity(encoder, threshold=0.936338023, metric="cosine", **window))
            search = wir(wir_method="delete")
    goal = textattack.goal_functions.UntargetedClassification(Wrapper())
    attack = textattack.Attack(goal, constraints, change, search)
    successful = textattack.attack_results.SuccessfulAttackResult

    def one(row: Row) -> tuple[bool, str]:
        result = attack.attack(row["text"], row["label"])
        return isinstance(result, successful), str(result.perturbed_text())

    textattack.shared.utils.set_seed(0)
    return measured(job, one, victim, encoder)


def _part_of_speech() -> Any:
    grammar: Any = import_module("textattack.constraints.grammaticality")
    return grammar.PartOfSpeech(allow_verb_noun_swap=True)


if __name__ == "__main__":
    answer(run)
