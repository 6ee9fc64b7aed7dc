"""The models and dictionaries that a search can query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from mohs.errors import BadInput
from mohs.text.parses import Parse
from mohs.text.questions import (
    Blank,
    Filled,
    Labelled,
    Piece,
    Pieces,
    Rephrasing,
    Scored,
    Sentence,
    SentenceVector,
    Slope,
    Spelling,
    Spot,
    Substitution,
    Tag,
    TokenVectors,
    Vector,
)
from mohs.text.tree_search import Decoded, TreeQuestion

if TYPE_CHECKING:
    from mohs.text.calibration import Calibration
    from mohs.text.judge import Judge
    from mohs.text.sememes import Sememes
    from mohs.text.vectors import Vectors
    from mohs.text.wordnet import WordNet

# What each kind is, and how to give one: for the message when it is missing.
KINDS: Mapping[str, tuple[str, str]] = {
    "encoder": ("a sentence encoder", "--encoder pocket, use or hf:PATH_OR_ID"),
    "token_encoder": ("token vectors", "--token-encoder pocket or hf:PATH_OR_ID"),
    "masked_lm": ("a masked language model", "--masked-lm hf:PATH_OR_ID"),
    "lm": ("a causal language model", "--lm hf:PATH_OR_ID or gguf:FILE"),
    "tagger": ("a part-of-speech tagger", "--tagger auto, pocket or spacy:NAME"),
    "parser": ("a dependency parser", "--parser auto, spacy:NAME or parses:FILE"),
    "paraphraser": ("a paraphraser", "--paraphraser hf:PATH_OR_ID, such as one that `mohs train --task scpn` made"),
    "grammar": ("a grammar checker", "--grammar harper or languagetool:URL"),
    "vectors": ("word vectors", "--vectors pocket, a file or folder, or an asset's name"),
    "wordnet": ("WordNet", "`mohs assets pull wordnet`, or --wordnet FOLDER"),
    "sememes": ("a table of sememe substitutes", "`mohs assets pull hownet`, or --sememes FILE"),
    "judge": ("a judge of substitutions", "--judge pocket, refit:FOLDER or hf:PATH_OR_ID"),
    "autoencoder": ("a tree auto-encoder", "--autoencoder FOLDER, made by `mohs train --task t3`"),
    "gradients": ("the victim's gradients", "a white-box victim: hf:PATH or mohs:PATH"),
}


class ModelJudge(Protocol):
    """A judge that is a model: it is asked in batches, by `Services.accepted`."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How its probabilities add up."""
        ...

    def opposite(self, old: str, new: str) -> int:
        """As `mohs.text.judge.Judge.opposite`."""
        ...


@dataclass(frozen=True)
class Services:
    """What a source or measure can query. Models batch queries across searches; dictionaries answer at once."""

    parts: Mapping[str, Any]  # kind -> engine Service or dictionary
    random: Random

    async def encoder(self, texts: Sequence[str]) -> list[Vector]:
        """Sentence vectors of unit length."""
        return await self._ask("encoder", [(text,) for text in texts])

    async def token_encoder(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of each text's tokens, of unit length."""
        return await self._ask("token_encoder", [(text,) for text in texts])

    async def fill(self, blanks: Sequence[Blank]) -> list[Filled]:
        """A masked language model's guesses for each blank."""
        return await self._ask("masked_lm", blanks)

    async def pieces(self, words: Sequence[Pieces]) -> list[tuple[Piece, ...]]:
        """A masked language model's guesses at each piece of each word, unmasked."""
        return await self._ask("masked_lm", words)

    async def spelling(self, words: Sequence[Spelling]) -> list[float]:
        """How badly some pieces fit together: their mean negative log-likelihood under a masked language model."""
        return await self._ask("masked_lm", words)

    async def lm(self, texts: Sequence[str]) -> list[Scored]:
        """The log-probability of each token under a causal language model."""
        return await self._ask("lm", texts)

    async def tagger(self, spots: Sequence[Spot]) -> list[Tag]:
        """The part of speech of single words in context."""
        return await self._ask("tagger", spots)

    async def parser(self, texts: Sequence[str]) -> list[Parse]:
        """The dependency parse of each string."""
        return await self._ask("parser", texts)

    async def paraphraser(self, questions: Sequence[Rephrasing]) -> list[tuple[str, ...]]:
        """Texts in other words, best first."""
        return await self._ask("paraphraser", questions)

    async def grammar(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The problems that a grammar checker finds in each text."""
        return await self._ask("grammar", texts)

    async def gradients(self, texts: Sequence[Labelled]) -> list[Slope]:
        """The gradients of a label's log-probability with respect to the victim's input embeddings."""
        return await self._ask("gradients", texts)

    async def sentence_vectors(self, texts: Sequence[SentenceVector]) -> list[Sentence]:
        """The victim's vector of each text, and the direction to its nearest decision boundary where wanted."""
        return await self._ask("gradients", texts)

    async def decoded(self, questions: Sequence[TreeQuestion]) -> list[list[Decoded]]:
        """The strings that a tree auto-encoder gives on its way to fool the victim."""
        return await self._ask("autoencoder", questions)

    def embeddings(self, words: Sequence[str]) -> list[Vector | None]:
        """The victim's own input vectors of words; None for a word that is not a single token."""
        found: list[Vector | None] = self._part("gradients").model.vectors(words)
        return found

    def mean_embeddings(self, words: Sequence[str]) -> list[Vector | None]:
        """The mean of the victim's input vectors of each word's tokens; None for a word without any."""
        model = self._part("gradients").model
        found: list[Vector | None] = getattr(model, "means", model.vectors)(words)
        return found

    async def accepted(self, changes: Sequence[Substitution]) -> list[float]:
        """The probability that people would accept each substitution, by a judge that is a model."""
        return await self._ask("judge", changes)

    @property
    def judge(self) -> Judge | ModelJudge:
        """What people would accept: the bundled tables and trees, or a model, which `accepted` asks."""
        part = self._part("judge")
        found: Judge | ModelJudge = getattr(part, "model", part)
        return found

    @property
    def vectors(self) -> Vectors:
        """Word vectors."""
        found: Vectors = self._part("vectors")
        return found

    @property
    def wordnet(self) -> WordNet:
        """WordNet."""
        found: WordNet = self._part("wordnet")
        return found

    @property
    def sememes(self) -> Sememes:
        """A table of words with the same sememes."""
        found: Sememes = self._part("sememes")
        return found

    async def _ask(self, kind: str, items: Sequence[Any]) -> list[Any]:
        answers: list[Any] = await self._part(kind).ask(items)
        return answers

    def _part(self, kind: str) -> Any:
        part = self.parts.get(kind)
        if part is None:
            raise missing(kind)
        return part


def missing(kind: str) -> BadInput:
    """The error for a service that was not given."""
    what, how = KINDS[kind]
    return BadInput(f"This needs {what}, and none is given; use {how}.")
