"""One job of benchmarks/versus.py in TextAttack: its own searches, transformations and constraints."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from job import Counted, CountedRows, Figures, Job, Row, answer, encoder_of, measured, victim_of

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


def similarity(encoder: Counted, steps: Sequence[str] = (), **settings: Any) -> Any:
    """TextAttack's constraint by sentence vectors, with our encoder behind it; steps: see `likened`."""
    base = import_module(encoders.__name__ + ".sentence_encoder").SentenceEncoder

    class Similarity(base):  # type: ignore[misc, valid-type]
        def encode(self, sentences: list[str]) -> Any:
            return np.stack(encoder(sentences))

        def _check_constraint_many(self, texts: Any, reference: Any) -> Any:
            kept = super()._check_constraint_many(texts, reference)
            if SHORT in steps:
                for text, score in zip(texts, self._score_list(reference, texts), strict=True):
                    text.attack_attrs["similarity_score"] = float(score)
            for place, text in enumerate(sorted(texts, key=lambda text: str(text.text)) if TIE in steps else ()):
                score = round(text.attack_attrs["similarity_score"], 6)
                text.attack_attrs["similarity_score"] = score - 1e-9 * place
            return kept

    return Similarity(**settings)


# What TextAttack does with a masked language model and this package does not, to be taken from it one by one.
STOPWORDS = "stopwords are brought in"
PIECES = "word pieces are taken as words, and not counted among the k best"
SHORT = "all winners of under 15 words count as equally similar"
TIE = "of equally similar winners the strongest is taken, not the first by its letters"
STEPS = (STOPWORDS, PIECES, SHORT, TIE)


def likened(steps: Sequence[str], job: Job, **settings: Any) -> Any:
    """TextAttack's words from a masked language model less what the steps say; rows are not padded to 512 tokens."""
    strings: Any = textattack.shared.utils

    class Likened(transformations.WordSwapMaskedLM):  # type: ignore[misc]
        def _encode_text(self, text: Any) -> Any:
            return self._lm_tokenizer(text, max_length=512, truncation=True, padding=True, return_tensors="pt")

        def _best(self, logits: Any) -> list[str]:
            best = logits.argsort(descending=True)[: 20 + self.max_candidates]
            tokens = self._lm_tokenizer.convert_ids_to_tokens(best)
            return [token for token in tokens if token[0] != "[" or len(token) == 1][: self.max_candidates]

        def _bae_replacement_words(self, text: Any, indices: list[int]) -> list[list[str]]:
            if PIECES not in steps:
                return list(super()._bae_replacement_words(text, indices))
            found = []
            for index in indices:
                read = self._encode_text(text.replace_word_at_index(index, self._lm_tokenizer.mask_token).text)
                place = read["input_ids"][0].tolist().index(self._lm_tokenizer.mask_token_id)
                with torch.no_grad():
                    best = self._best(self._language_model(**read)[0][0, place])
                found.append([word for word in best if "##" not in word and strings.is_one_word(word)])
            return found

        def _bert_attack_replacement_words(self, text: Any, index: int, id_preds: Any, masked_lm_logits: Any) -> Any:
            found = super()._bert_attack_replacement_words(text, index, id_preds, masked_lm_logits)
            word = self._lm_tokenizer.encode(text.words[index], add_special_tokens=False)
            if PIECES not in steps:
                return found
            masked = text.replace_word_at_index(index, self._lm_tokenizer.mask_token).text
            place = self._encode_text(masked)["input_ids"][0].tolist().index(self._lm_tokenizer.mask_token_id)
            best = [self._best(masked_lm_logits[place + at]) for at in range(len(word))]
            if len(word) == 1:
                return [token for token in best[0] if "##" not in token and strings.is_one_word(token)]
            made = ["".join(tokens).replace("##", "") for tokens in islice(product(*best), self.max_candidates)]
            return list(dict.fromkeys(filter(strings.is_one_word, made)))

        def _get_transformations(self, text: Any, indices: Any) -> Any:
            found = super()._get_transformations(text, indices)
            if STOPWORDS in steps:
                (index,) = indices
                found = [other for other in found if other.words[index].lower() not in job.stopwords]
            return sorted(found, key=lambda other: str(other.text)) if TIE in steps else found

    return Likened(**settings)


def reasons(job: Job, found: Figures, make: Any) -> dict[str, str]:
    """For each text that is not ours the fewest steps that make it ours: the attack is run again with each."""
    told: dict[str, str] = {}
    different = {row["id"] for row in found.rows if row["text"] != job.ours.get(row["id"], row["text"])}
    examples = [row for row in job.examples if row["id"] in different]
    started = time.perf_counter()
    for steps in (some for count in range(len(STEPS) + 1) for some in combinations(STEPS, count)):
        if len(told) == len(examples):
            break
        attack = make(steps)
        for row in examples:
            if time.perf_counter() - started > job.seconds:
                return {row["id"]: told.get(row["id"], "there was no time to look") for row in examples}
            if row["id"] not in told and attack(row)[1] == job.ours[row["id"]]:
                told[row["id"]] = "; ".join(steps) or "padding to 512 tokens moves the logits"
    return {row["id"]: told.get(row["id"], "not explained") for row in examples}


def recipe(job: Job, encoder: Counted | None, steps: Sequence[str] | None = None) -> tuple[Any, list[Any], Any]:
    """Transformation, constraints and search."""
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
            by: dict[str, Any] = {"threshold": 0.840845057, "metric": "angular", "compare_against_original": False}
            constraints.append(similarity(encoder, window_size=15, skip_text_shorter_than_window=True, **by))
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
        change, wanted, search = masked_words(job, encoder, steps)
        constraints += wanted
    return change, constraints, search


def masked_words(job: Job, encoder: Counted, steps: Sequence[str] | None) -> tuple[Any, list[Any], Any]:
    """Transformation, constraints and search of BERT-Attack and BAE."""
    kind = transformations.WordSwapMaskedLM
    masked = {"masked_language_model": job.masked_lm}
    wir = search_methods.GreedyWordSwapWIR
    if job.attack == "bert-attack":
        settings: dict[str, Any] = {"method": "bert-attack", "max_candidates": 8, **masked}
        wanted = [
            overlap.MaxWordsPerturbed(max_percent=0.4),
            similarity(encoder, steps or (), threshold=0.2, metric="cosine", window_size=None),
        ]
        search = wir(wir_method="unk")
    else:
        settings = {"method": "bae", "max_candidates": 50, "min_confidence": 0.0, **masked}
        window = {"window_size": 15, "skip_text_shorter_than_window": True}
        wanted = [similarity(encoder, steps or (), threshold=0.936338023, metric="cosine", **window)]
        search = wir(wir_method="delete")
    return likened(steps, job, **settings) if steps is not None else kind(**settings), wanted, search


def run(job: Job) -> Figures:
    victim = victim_of(job)
    encoder = encoder_of(job) if job.encoder else None

    class Wrapper(textattack.models.wrappers.ModelWrapper):  # type: ignore[misc]
        model = victim.model

        def __call__(self, texts: list[str], **kwargs: Any) -> Any:
            return np.array(victim(texts), dtype=np.float32)

    def made(change: Any, constraints: list[Any], search: Any) -> Any:
        goal = textattack.goal_functions.UntargetedClassification(Wrapper())
        attack = textattack.Attack(goal, constraints, change, search)

        def one(row: Row) -> tuple[bool, str]:
            result = attack.attack(row["text"], row["label"])
            return isinstance(result, textattack.attack_results.SuccessfulAttackResult), str(result.perturbed_text())

        return one

    textattack.shared.utils.set_seed(0)
    parts = recipe(job, encoder)
    masked = CountedRows(parts[0]._language_model) if hasattr(parts[0], "_language_model") else None
    found = measured(job, made(*parts), victim, encoder, masked)
    if masked is not None:
        found.reasons = reasons(job, found, lambda steps: made(*recipe(job, encoder, steps)))
    return found


def _part_of_speech() -> Any:
    grammar: Any = import_module("textattack.constraints.grammaticality")
    return grammar.PartOfSpeech(allow_verb_noun_swap=True)


if __name__ == "__main__":
    answer(run)
