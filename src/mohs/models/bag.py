"""The pocket victim: a bag of words with one score per word. `mohs:PATH` loads a saved one.

    log-odds(x) = bias + (1/sqrt(n)) * sum over the n words of s(w),   s(w) = u . v(w) + t(w)

v(w) is the word's vector in the bundled lexicon, u is learned, and t(w) is a correction for words seen in
training. Substituting words does not change n, so the log-odds are additive in the words.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from mohs.engine import AtOnce
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores
from mohs.text import Example, Text, pocket
from mohs.text.questions import Sentence, SentenceVector, Slope, Vector
from mohs.text.text import sentences_of, words_of

ARCHITECTURE = "pocket-bag-of-words"
_LONG_SENTENCE = 1000  # characters; longer sentences are not cached
_MOST_SENTENCES = 1 << 14


class BagVictim(AtOnce):
    """A victim with two classes, additive in the words. Its answers never depend on the batch."""

    hard = False
    exact = True
    tolerance = 1e-6  # for margins: it computes in 64 bits

    def __init__(self, name: str, word_scores: dict[str, float], bias: float, labels: tuple[str, ...]) -> None:
        self.name = name
        self.labels = labels
        self.bias = bias
        self.word_scores = word_scores
        digest = hashlib.sha256(json.dumps([bias, labels, sorted(word_scores.items())]).encode())
        self.fingerprint = digest.hexdigest()[:16]
        self._weighed: dict[str, tuple[int, int]] = {}  # a cache: candidates of a long text share all but one sentence

    @cached_property
    def _one(self) -> int:
        """The common denominator: every score times this is a whole number."""
        return max((score.as_integer_ratio()[1] for score in self.word_scores.values()), default=1)

    def _weigh(self, sentence: str) -> tuple[int, int]:
        """The word count of a sentence, and the exact sum of its scores times `_one`. Like fsum, it rounds once."""
        words = words_of((sentence,))
        found = [self.word_scores[word].as_integer_ratio() for word in words if word in self.word_scores]
        weighed = len(words), sum(over * (self._one // under) for over, under in found)
        if len(sentence) < _LONG_SENTENCE:
            if len(self._weighed) >= _MOST_SENTENCES:
                self._weighed.clear()
            self._weighed[sentence] = weighed
        return weighed

    def collect(self, ticket: list[Fields]) -> list[Scores]:
        """Add up the word scores of each text."""
        score, known = self.word_scores.get, self._weighed.get
        answers: list[Scores] = []
        for fields in ticket:
            if sentences := sentences_of(fields):
                found = [known(one) or self._weigh(one) for one in sentences]
                counts, sums = zip(*found, strict=True)
                count, total = sum(counts), sum(sums) / self._one
            else:
                words = words_of(fields)
                count, total = len(words), math.fsum([score(word, 0.0) for word in words])
            logit = self.bias + total / math.sqrt(max(count, 1))
            positive = 1 / (1 + math.exp(-max(min(logit, 700.0), -700.0)))
            answers.append((1 - positive, positive))
        return answers

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """None: a bag reads the whole text."""
        return None

    def gradients(self) -> BagSlopes:
        """Its gradients. A word's vector has one number: its score."""
        return BagSlopes(self)

    def save(self, folder: Path, card: dict[str, Any]) -> None:
        """Write the model as safetensors, with a card in config.json."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        words = sorted(self.word_scores)
        tensors = {
            "scores": np.array([self.word_scores[word] for word in words], np.float64),
            "bias": np.array([self.bias], np.float64),
        }
        save_file(tensors, folder / "model.safetensors")
        (folder / "words.txt").write_text("\n".join(words), "utf-8")
        config = {"architecture": ARCHITECTURE, "labels": list(self.labels), **card}
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")


class BagSlopes(AtOnce):
    """The gradients of a bag of words. Implements mohs.models.gradients.Gradients."""

    def __init__(self, victim: BagVictim) -> None:
        self.name = f"gradients of {victim.name}"
        self.fingerprint = f"{victim.fingerprint}-gradients"
        self._victim = victim

    def collect(self, ticket: list[Any]) -> list[Slope | Sentence]:
        """The slope is d log P(label) / d s(w) = (1 - P(label)) / sqrt(n), with the sign of the label.

        The sentence vector is the log-odds, whose boundary is zero.
        """
        answers: list[Slope | Sentence] = []
        for item in ticket:
            if isinstance(item, SentenceVector):
                answers.append(self._sentence(item))
                continue
            (scores,) = self._victim.collect([item.fields])
            text = Text(*item.fields)
            n = max(len(text), 1)
            slope = (1 - scores[item.label]) / math.sqrt(n) * (1 if item.label else -1)
            values = np.array([self._victim.word_scores.get(word.lower(), 0.0) for word in text.words], np.float32)
            steps = np.full((len(text), 1), slope, np.float32)
            log_prob = math.log(max(scores[item.label], 5e-324))
            answers.append(Slope(log_prob, tuple(text.spans()), steps, values[:, None]))
        return answers

    def _sentence(self, item: SentenceVector) -> Sentence:
        ((negative, positive),) = self._victim.collect([item.fields])
        odds = math.log(max(positive, 5e-324)) - math.log(max(negative, 5e-324))
        towards = np.array([-1.0 if odds > 0 else 1.0], np.float32)
        return Sentence(np.array([odds], np.float32), towards if item.normal else None)

    def vectors(self, words: Sequence[str]) -> list[Vector | None]:
        """A word's score; None for an unknown word."""
        known = self._victim.word_scores
        return [np.array([known[w.lower()]], np.float32) if w.lower() in known else None for w in words]

    def means(self, words: Sequence[str]) -> list[Vector | None]:
        """A word's score, 0 if it is unknown; the mean of the words of a string."""
        known = self._victim.word_scores
        found = [[known.get(part, 0.0) for part in words_of([word])] for word in words]
        return [np.array([np.mean(scores)], np.float32) if scores else None for scores in found]


def load_bag(folder: Path, name: str, config: dict[str, Any]) -> BagVictim:
    """Load what `save` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(folder / "model.safetensors")
        text = (folder / "words.txt").read_text("utf-8")
        words = text.split("\n") if text else []
        values, bias = tensors["scores"].tolist(), float(tensors["bias"][0])
        first, second = map(str, config["labels"])
        if not all(map(math.isfinite, [bias, *values])):
            raise ValueError("it holds a number that is not finite")
        return BagVictim(name, dict(zip(words, values, strict=True)), bias, (first, second))
    except (OSError, LookupError, ValueError, TypeError, SafetensorError) as error:
        raise BadInput(f"{name} is not a complete model folder ({error}); train it again.") from error


@cache
def pocket_victim() -> BagVictim:
    """The classifier bundled with the package, made by `mohs train-pocket`."""
    with as_file(files("mohs.pocket") / "victim") as folder:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        return load_bag(folder, "pocket", config)


def train_bag(
    examples: Iterable[Example],
    *,
    name: str = "pocket",
    min_count: int = 2,  # a word seen once says nothing reliable about a class
    vector_decay: float = 1e-3,
    word_decay: float = 1e-4,
) -> BagVictim:
    """Fit a logistic regression by L-BFGS from zero: deterministic, 1-2 seconds for a thousand reviews."""
    from scipy.optimize import minimize

    lexicon = pocket.lexicon()
    texts = [(words_of(example.text.fields), example.label) for example in examples]
    if {label for _, label in texts} != {0, 1}:
        raise BadInput("A pocket model needs examples of exactly two classes, labelled 0 and 1.")
    seen = Counter(word for words, _ in texts for word in set(words))
    own = {word: number for number, word in enumerate(sorted(w for w, count in seen.items() if count >= min_count))}
    width = lexicon.vectors.shape[1]
    features = np.zeros((len(texts), width + len(own)))
    for row, (words, _) in enumerate(texts):
        share = 1 / math.sqrt(max(len(words), 1))
        for word in words:
            if word in lexicon.index:
                features[row, :width] += share * lexicon.vectors[lexicon.index[word]]
            if word in own:
                features[row, width + own[word]] += share
    signs = np.array([2.0 * label - 1 for _, label in texts])
    decay = np.concatenate([np.full(width, vector_decay), np.full(len(own), word_decay), np.zeros(1)])

    def loss(weights: Any) -> tuple[float, Any]:
        margins = signs * (features @ weights[:-1] + weights[-1])
        slope = -signs / (1 + np.exp(np.clip(margins, -500, 500))) / len(signs)
        value = np.logaddexp(0, -margins).mean() + 0.5 * (decay * weights**2).sum()
        return float(value), np.concatenate([features.T @ slope, [slope.sum()]]) + decay * weights

    weights = minimize(loss, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    inputs = np.hstack([features, np.ones((len(texts), 1))])
    for _ in range(4):  # Newton steps to the exact minimum: machines differ in where L-BFGS stops
        shares = 1 / (1 + np.exp(-np.clip(inputs @ weights, -500, 500)))
        curvature = (inputs.T * (shares * (1 - shares) / len(texts))) @ inputs + np.diag(decay)
        weights = weights - np.linalg.solve(curvature, loss(weights)[1])
    direct = dict(zip(lexicon.words, (lexicon.vectors @ weights[:width]).tolist(), strict=True))
    for word, number in own.items():
        direct[word] = direct.get(word, 0.0) + float(weights[width + number])
    # Six decimals: the last bits differ between machines, but the model must not.
    return BagVictim(name, {w: round(s, 6) for w, s in direct.items()}, round(float(weights[-1]), 6), pocket.LABELS)


def accuracy(victim: BagVictim, examples: Iterable[Example]) -> tuple[int, int]:
    """The number of examples that the victim gets right, and the number of examples."""
    held = list(examples)
    answers = victim.collect([example.text.fields for example in held])
    return sum(a[e.label] > 0.5 for a, e in zip(answers, held, strict=True)), len(held)
