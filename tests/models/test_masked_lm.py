"""Masked language models: the answers are those of plain transformers, one question at a time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from mohs.engine import Service
from mohs.errors import BadInput, ServiceFailed, VictimError
from mohs.models.mask_questions import MaskQuestion
from mohs.models.masked_lm import Answer, MaskedLm, load_masked_lm
from mohs.text import Text
from mohs.text.questions import Blank, Fields, Filled, Guess, Pieces, Spelling
from tests.models.conftest import corpus, save, small_causal, small_masked, tiny_tokenizer, transformers

KINDS = {"Bert": "wordpiece", "Roberta": "byte-bpe", "DistilBert": "wordpiece-cased", "Albert": "albert"}
NEAR = 2e-4  # two roundings to four decimals

TEXTS = [Text(text[:size]) for text, size in zip(corpus(), [30, 55, 9, 40], strict=False)]
TEXTS += [Text('"Déjà vu", (naïve) 你好 don\'t stop')]
PAIRS = [Text(one.fields[0], other.fields[0]) for one, other in pairwise(TEXTS)]
WORDS = ("the", "Film", "unbelievable", "👍", "", "[MASK]")
BLANKS = [
    Blank(text.fields, *span, 7, WORDS) for text in TEXTS + PAIRS for span in text.spans()[:: max(1, len(text) // 4)]
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @cache
    def made(name: str) -> Path:
        tokenizer = tiny_tokenizer(KINDS[name])
        return save(tmp_path_factory.mktemp(name), name, tokenizer, small_masked(name, tokenizer))

    return made


@pytest.fixture(scope="module", params=KINDS)
def lm(request: pytest.FixtureRequest, folders: Callable[[str], Path]) -> MaskedLm:
    return MaskedLm(str(folders(request.param)), device="cpu")


@pytest.fixture(scope="module")
def bert(folders: Callable[[str], Path]) -> MaskedLm:
    return MaskedLm(str(folders("Bert")), device="cpu")


@pytest.fixture(scope="module")
def roberta(folders: Callable[[str], Path]) -> MaskedLm:
    return MaskedLm(str(folders("Roberta")), device="cpu")


def ask(lm: MaskedLm, *items: MaskQuestion) -> list[Any]:
    found: dict[MaskQuestion, Answer] = {}
    for batch in lm.plan(list(items)):
        found.update(zip(batch, lm.collect(lm.launch(batch)), strict=True))
    return [found[item] for item in items]


def fill(lm: MaskedLm, text: str, start: int, end: int, k: int = 5, words: tuple[str, ...] = ()) -> Filled:
    (found,) = ask(lm, Blank((text,), 0, start, end, k, words))
    assert isinstance(found, Filled)
    return found


def signs() -> dict[str, int]:
    """How byte-level BPE writes each byte."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


class Plain:
    """A folder read in the plainest way: the tokenizer's own input, all scores, one text at a time."""

    def __init__(self, lm: MaskedLm) -> None:
        folder = lm.name.removeprefix("hf:")
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
        self.mask = self.tokenizer.mask_token
        self.entries = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))
        self.marked = [entry[0] in "Ġ▁" if self.mask == "<mask>" else entry[:2] != "##" for entry in self.entries]
        self.texts = list(map(self.text, self.entries))

    def text(self, entry: str) -> str:
        if entry in self.tokenizer.get_added_vocab():
            return ""
        if self.mask == "[MASK]":
            return entry.removeprefix("##")
        if "Ġ" in self.entries:
            entry = bytes(map(signs().__getitem__, entry)).decode(errors="replace")
        text = entry.replace("▁", " ").removeprefix(" ")
        return "" if "\ufffd" in text or " " in text or not text.isprintable() else text

    def scores(self, *fields: str) -> Any:
        """The scores of a text's tokens, and where each of these is: field, start and end."""
        inputs = self.tokenizer(*([field] for field in fields), return_offsets_mapping=True, return_tensors="pt")
        owners = inputs.encodings[0].sequence_ids
        offsets = inputs.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            logits = self.model(**inputs).logits[0].double()
        return logits, [(*place, *offset) for place, offset in zip(zip(owners), offsets, strict=True)]

    def at_mask(self, fields: Fields, field: int, string: str) -> Any:
        strings = [*fields[:field], string, *fields[field + 1 :]]
        logits, _ = self.scores(*strings)
        ids = self.tokenizer(*strings)["input_ids"]
        assert ids.count(self.tokenizer.mask_token_id) == 1
        return logits[ids.index(self.tokenizer.mask_token_id)]

    def check(self, guesses: tuple[Guess, ...], k: int, scores: Any, bare: bool) -> None:
        """The k best entries in their order, against a walk over the whole vocabulary."""
        best: dict[tuple[str, bool], float] = {}
        for number, text in enumerate(self.texts):
            if text:
                key = text, self.marked[number] or (bare and self.mask == "<mask>")
                best[key] = max(best.get(key, -math.inf), float(scores[number]))
        assert len({(guess.text, guess.whole) for guess in guesses}) == len(guesses) == k
        for guess in guesses:
            assert guess.logit == pytest.approx(best.pop((guess.text, guess.whole)), abs=NEAR)
        assert [guess.logit for guess in guesses] == sorted((guess.logit for guess in guesses), reverse=True)
        assert max(best.values()) <= guesses[-1].logit + NEAR


@cache
def plain(lm: MaskedLm) -> Plain:
    return Plain(lm)


def bare(text: str, start: int) -> bool:
    return not text[:start].strip() or not (text[start - 1].isspace() or text[start - 1].isalnum())


def test_guesses(lm: MaskedLm) -> None:
    own = plain(lm)
    assert lm.narrow
    known = 0
    for blank, answer in zip(BLANKS, ask(lm, *BLANKS), strict=True):
        text = blank.fields[blank.field]
        scores = own.at_mask(blank.fields, blank.field, text[: blank.start] + own.mask + text[blank.end :])
        own.check(answer.guesses, 7, scores, bare(text, blank.start))
        assert answer.total == pytest.approx(float(scores.logsumexp(0)), abs=NEAR)
        for word, found in zip(WORDS, answer.log_probs, strict=True):
            ids = own.tokenizer(word if bare(text, blank.start) else f" {word}", add_special_tokens=False)["input_ids"]
            if len(ids) == 1 and own.texts[ids[0]]:
                assert found == pytest.approx(float(scores.log_softmax(0)[ids[0]]), abs=NEAR)
                known += 1
            else:
                assert math.isnan(found)
    assert 0 < known < len(BLANKS) * len(WORDS)


def test_pieces(lm: MaskedLm) -> None:
    own = plain(lm)
    words = [Pieces(*blank[:4], 4) for blank in BLANKS]
    several = 0
    for word, answer in zip(words, ask(lm, *words), strict=True):
        logits, places = own.scores(*word.fields)
        held = [
            number
            for number, (field, start, end) in enumerate(places)
            if field == word.field and start < word.end and word.start < end
        ]
        text = word.fields[word.field]
        ids = own.tokenizer(*word.fields)["input_ids"]
        assert len(answer) == len(held)
        several += len(held) > 1
        for order, (piece, number) in enumerate(zip(answer, held, strict=True)):
            own.check(piece.guesses, 4, logits[number], not order and bare(text, word.start))
            assert piece.text == (own.texts[ids[number]] or text[places[number][1] : places[number][2]].strip())
    assert several


def test_spelling(lm: MaskedLm) -> None:
    own = plain(lm)
    heads = [text for text, first in zip(own.texts, own.marked, strict=True) if text and first]
    tails = [text for text, first in zip(own.texts, own.marked, strict=True) if text and not first]
    draw = random.Random(0)
    words = [Spelling((draw.choice(heads), *draw.choices(tails, k=size))) for size in (0, 1, 1, 2, 3, 3, 5)]
    for word, found in zip(words, ask(lm, *words), strict=True):
        numbers = [
            next(n for n, text in enumerate(own.texts) if text == piece and own.marked[n] is (not place))
            for place, piece in enumerate(word.pieces)
        ]
        first, *_, last = own.tokenizer("a")["input_ids"]
        row = [first, *numbers, last]
        with torch.inference_mode():
            logs = own.model(input_ids=torch.tensor([row])).logits[0].double().log_softmax(-1)
        likelihoods = [-float(logs[place, number]) for place, number in enumerate(numbers, 1)]
        assert found == pytest.approx(math.fsum(likelihoods) / len(likelihoods), abs=NEAR)


def test_spelling_with_the_other_mark_and_with_none(bert: MaskedLm) -> None:
    texts, starts = bert.entries.texts, bert.entries.starts
    only = {mark: {t for t, s in zip(texts, starts, strict=True) if t and s is mark} for mark in (True, False)}
    head, tail = min(only[True] - only[False]), min(only[False] - only[True])
    (number,) = (n for n, text in enumerate(texts) if text == tail)
    assert bert.entries.spelt([tail, head]) == [number, texts.index(head)]
    found = ask(bert, Spelling((tail, head)), Spelling((head, "☃")), Spelling(()))
    assert math.isfinite(found[0])
    assert found[1] == math.inf
    assert math.isnan(found[2])


def same(one: Any, other: Any) -> bool:
    """Equal but for the last decimal of numbers."""
    if isinstance(one, float):
        return one == pytest.approx(other, abs=NEAR, nan_ok=True)
    if isinstance(one, tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


MIXED: list[MaskQuestion] = [
    *BLANKS,
    *(Pieces(*blank[:4], 3) for blank in BLANKS),
    *(Spelling(pieces) for pieces in [("a",), ("the", "s"), ("the", "s", "e"), ("☃",), (), ("o", "s")]),
]


def test_companions_do_not_matter(lm: MaskedLm) -> None:
    together = ask(lm, *MIXED)
    for item, found in zip(MIXED, together, strict=True):
        assert same(lm.collect(lm.launch([item]))[0], found)


def head_shapes(lm: MaskedLm, items: list[MaskQuestion]) -> tuple[list[Any], list[tuple[int, int]]]:
    """The answers, and for how many rows and places the vocabulary's scores were computed in each batch."""
    shapes: list[tuple[int, int]] = []
    hook = lm._model.get_output_embeddings().register_forward_hook(
        lambda module, arguments, output: shapes.append(tuple(output.shape[:2]))
    )
    answers = ask(lm, *items)
    hook.remove()
    return answers, shapes


def test_scores_only_where_asked(lm: MaskedLm, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow, shapes = head_shapes(lm, list(BLANKS))
    assert {places for _, places in shapes} == {1}
    assert {rows % 4 for rows, _ in shapes} == {0}
    monkeypatch.setattr(lm, "narrow", False)
    whole, shapes = head_shapes(lm, list(BLANKS))
    assert min(places for _, places in shapes) > 1
    assert all(map(same, narrow, whole))


def test_all_scores_give_the_same(lm: MaskedLm, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = ask(lm, *MIXED)
    monkeypatch.setattr(lm, "narrow", False)
    assert all(map(same, narrow, ask(lm, *MIXED)))


def test_a_head_that_looks_around(folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose head mixes places gives other scores when it is given fewer, and is asked for all."""
    kind = transformers.BertForMaskedLM
    forward = kind.forward

    def mixing(self: Any, *arguments: Any, **options: Any) -> Any:
        found = forward(self, *arguments, **options)
        found.logits = found.logits.cumsum(1)
        return found

    monkeypatch.setattr(kind, "forward", mixing)
    lm = MaskedLm(str(folders("Bert")), device="cpu")
    assert not lm.narrow
    text = "the film was good"
    own = Plain(lm)
    own.check(fill(lm, text, 4, 8, 7).guesses, 7, own.at_mask((text,), 0, "the [MASK] was good"), False)


def test_plan(lm: MaskedLm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm, "_tokens", 100)
    shuffled = MIXED.copy()
    random.Random(1).shuffle(shuffled)
    batches = lm.plan(shuffled)
    assert batches == lm.plan(MIXED)
    assert sorted(map(repr, chain(*batches))) == sorted(map(repr, MIXED))
    kinds = [type(batch[0]) for batch in batches]
    assert kinds == sorted(kinds, key=[Blank, Pieces, Spelling].index)
    lengths = []
    for batch in batches:
        readings = [lm._readings[item] for item in batch]
        assert len({(type(i), len(r.ids)) for i, r in zip(batch, readings, strict=True)}) == 1
        assert len({tuple(reading.ids) for reading in readings}) <= max(4, 100 // max(1, len(readings[0].ids)))
        assert sum(len(reading.places) for reading in readings) <= 100
        lengths.append((type(batch[0]), len(readings[0].ids)))
    assert all(one[1] >= other[1] for one, other in pairwise(lengths) if one[0] is other[0])
    ask(lm, *MIXED)
    assert not lm._readings


def test_few_rows_where_each_has_many_scores(bert: MaskedLm) -> None:
    most = bert._rows_at(8, len(bert.entries.texts))
    assert most % 4 == 0
    assert bert._rows_at(8, bert._tokens * 4096 // 8) == 8
    assert bert._rows_at(8, bert._tokens * 4096) == 4
    assert most == bert._rows_at(8) == bert._tokens // 8


def test_rows_by_what_is_computed(bert: MaskedLm, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    rows = bert._rows_at

    def watched(length: int, scores: int) -> int:
        if length > 1:  # for one token, it is asked how many places make a batch
            asked.append(scores)
        return rows(length, scores)

    monkeypatch.setattr(bert, "_rows_at", watched)
    items: list[MaskQuestion] = [Blank(("a good film",), 0, 2, 6), Spelling(("a", "b"))]
    size = len(bert.entries.texts)
    bert.plan(items)
    assert asked == [2 * size, size]
    monkeypatch.setattr(bert, "narrow", False)
    bert.plan(items)
    assert asked[2:] == [4 * size, len(bert._readings[items[0]].ids) * size]


def rows_read(lm: MaskedLm, items: list[MaskQuestion]) -> tuple[list[Any], list[int]]:
    """The answers, and how many rows the layers were given in each batch."""
    rows: list[int] = []
    hook = lm._model.base_model.register_forward_hook(
        lambda module, arguments, output: rows.append(len(output[0])), prepend=True
    )
    answers = ask(lm, *items)
    hook.remove()
    return answers, rows


def test_the_words_of_a_text_share_its_row(lm: MaskedLm, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*TEXTS, *PAIRS]
    words = [Pieces(text.fields, *span, 3) for text in texts for span in text.spans()]
    for narrow in (True, False):
        monkeypatch.setattr(lm, "narrow", narrow)
        found, rows = rows_read(lm, list(words))
        assert sum(rows) <= 4 * len(texts) < len(words)
        assert len(rows) == len({len(reading.ids) for reading in lm._reader(words)})
        for word, answer in zip(words, found, strict=True):
            assert same(lm.collect(lm.launch([word]))[0], answer)


def test_a_shared_row_gives_the_same_bits(lm: MaskedLm) -> None:
    text = TEXTS[1]
    readings = lm._reader([Pieces(text.fields, *span, 3) for span in text.spans()])
    alone = [lm._scores([reading]) for reading in readings]
    first, second = readings[0], readings[0]._replace(ids=[*readings[0].ids[:-2], *readings[0].ids[:-3:-1]])
    if not torch.equal(lm._scores([first, second])[: len(first.places)], alone[0]):
        pytest.skip("on this machine bits depend on company even without a shared row")
    assert torch.equal(lm._scores(readings), torch.cat(alone))


def test_equal_ids_of_a_text_and_a_pair_are_two_rows(bert: MaskedLm) -> None:
    words = [Pieces(("good", "film"), 0, 0, 4, 5), Pieces(("good [SEP] film",), 0, 0, 4, 5)]
    pair, text = bert._reader(words)
    assert (pair.ids, pair.places) == (text.ids, text.places)
    found = ask(bert, *words)
    assert found == [ask(bert, word)[0] for word in words]
    assert found[0] != found[1]


def test_batches_are_cut_by_their_scores_too(bert: MaskedLm, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Text(" ".join(corpus())[:150])
    words = [Pieces(text.fields, *span, 3) for span in text.spans()]
    whole = ask(bert, *words)
    monkeypatch.setattr(bert, "_tokens", 4)
    batches = bert.plan(list(words))
    sizes = [[len(bert._readings[word].places) for word in batch] for batch in batches]
    assert len(sizes) > 1
    assert all(sum(size) <= 4 or len(size) == 1 for size in sizes)
    assert all(sum(size) + following[0] > 4 for size, following in pairwise(sizes))
    assert all(map(same, ask(bert, *words), whole))


def test_one_queue(bert: MaskedLm) -> None:
    service: Service[MaskQuestion, Any] = Service(bert)
    asks = [service.ask(MIXED[start::3]) for start in range(3)]
    while service.waiting or service.planned or service.flying:
        list(service.launch())
        list(service.collect())
    for start, done in enumerate(asks):
        assert all(map(same, done.answers, ask(bert, *MIXED[start::3])))


def with_scores(folder: Path, name: str, scores: dict[int, float]) -> MaskedLm:
    """A model that gives the same scores everywhere: these, and 1 to all other entries."""
    tokenizer = tiny_tokenizer(KINDS[name])
    model = small_masked(name, tokenizer)
    model.get_output_embeddings().weight.data[:] = 0
    bias = model.get_output_embeddings().bias.data
    bias[:] = 1
    for number, score in scores.items():
        bias[number] = score
    return MaskedLm(str(save(folder, name, tokenizer, model)), device="cpu")


def test_ties_are_in_the_order_of_the_vocabulary(tmp_path: Path) -> None:
    lm = with_scores(
        tmp_path, "Bert", {50: 1.99996, 40: 2.0, 60: 2.00004}
    )  # the same, but for what rounding takes away
    texts = [text for text in lm.entries.texts if text]
    first = [lm.entries.texts[number] for number in (40, 50, 60)]
    wanted = first + [text for text in texts if text not in first]
    for k in (2, 3, 9):
        found = fill(lm, "a film", 0, 1, k).guesses
        assert [guess.text for guess in found] == wanted[:k]
        assert [guess.logit for guess in found] == ([2.0] * 3 + [1.0] * 6)[:k]
    assert len(fill(lm, "a film", 0, 1, 10_000).guesses) == len(texts)


def test_the_better_of_two_entries_for_one_word(tmp_path: Path) -> None:
    number = tiny_tokenizer("byte-bpe").convert_tokens_to_ids
    lm = with_scores(tmp_path, "Roberta", {number("Ġa"): 5, number("a"): 6, number("Ġt"): 4, number("t"): 3})
    assert fill(lm, "film", 0, 4, 2).guesses == (Guess("a", 6.0, True), Guess("t", 4.0, True))
    assert fill(lm, "a film", 2, 6, 3).guesses == (Guess("a", 6.0, False), Guess("a", 5.0, True), Guess("t", 4.0, True))


@pytest.mark.parametrize(("score", "fine"), [(math.nan, False), (math.inf, False), (-math.inf, True)])
def test_an_entry_that_is_never_offered(tmp_path: Path, score: float, fine: bool) -> None:
    lm = with_scores(tmp_path, "Bert", {0: score})
    assert lm.entries.texts[0] == ""
    if fine:
        assert fill(lm, "a film", 0, 1).total == pytest.approx(1 + math.log(len(lm.entries.texts) - 1), abs=NEAR)
    else:
        with pytest.raises(ServiceFailed, match="not finite"):
            fill(lm, "a film", 0, 1)


def test_no_guesses_but_words(lm: MaskedLm) -> None:
    some = fill(lm, "a good film", 2, 6, 3, ("the",))
    none = fill(lm, "a good film", 2, 6, 0, ("the",))
    assert none.guesses == ()
    assert same(none[1:], some[1:])
    assert all(not piece.guesses for piece in ask(lm, Pieces(("a good film",), 0, 2, 6, 0))[0])


@pytest.mark.parametrize(
    ("text", "start", "end", "string", "before"),
    [
        ("a good film", 2, 6, "a <mask> film", True),
        ("a good film", 2, 11, "a <mask>", True),  # two words become one
        ("a good film", 0, 0, "<mask> a good film", False),
        ("a good film", 2, 2, "a <mask> good film", True),
        ("a good film", 6, 6, "a good <mask> film", True),
        ("a good film.", 11, 11, "a good film <mask>.", True),
        ("a good film. ", 12, 12, "a good film. <mask> ", True),
        ("good, bad", 5, 5, "good, <mask> bad", True),
        ("a (good) film", 3, 3, "a (<mask> good) film", False),
        ("a (good) film", 7, 7, "a (good <mask>) film", True),
        ('a "good" film', 3, 3, 'a "<mask> good" film', False),
        ('a "good" film', 2, 2, 'a <mask> "good" film', True),
        ('a "good" film', 8, 8, 'a "good" <mask> film', True),
        ("a (good) film", 3, 7, "a (<mask>) film", False),
        ("goodbye", 0, 4, "<mask> bye", False),
        ("goodbye", 4, 7, "good <mask>", True),
        ("", 0, 0, "<mask>", False),
        ("  good", 2, 6, "  <mask>", False),
        ("a <mask> film", 9, 13, None, True),
    ],
)
def test_the_mask_is_a_word_of_its_own(
    roberta: MaskedLm, text: str, start: int, end: int, string: str | None, before: bool
) -> None:
    own = plain(roberta)
    found = fill(roberta, text, start, end, 6, ("a",))
    if string is None:  # a mask in the text is not the one asked about
        logits, _ = own.scores("a <mask> <mask>")
        ids = own.tokenizer("a <mask> <mask>")["input_ids"]
        scores = logits[len(ids) - 2]
    else:
        scores = own.at_mask((text,), 0, string)
    own.check(found.guesses, 6, scores, not before)
    assert any(guess.whole for guess in found.guesses) or before
    entry = own.entries.index("Ġa" if before else "a")
    assert found.log_probs[0] == pytest.approx(float(scores.log_softmax(0)[entry]), abs=NEAR)


def test_upper_case(bert: MaskedLm) -> None:
    small = fill(bert, "a good film", 2, 6, 5, ("the",))
    assert same(fill(bert, "A GOOD FILM", 2, 6, 5, ("THE",)), small)
    assert not math.isnan(small.log_probs[0])
    assert same(ask(bert, Pieces(("A GOOD FILM",), 0, 2, 6)), ask(bert, Pieces(("a good film",), 0, 2, 6)))


@pytest.mark.parametrize("name", ["Bert", "DistilBert"])
@pytest.mark.parametrize("place", [0, 1, 20, 60, 119, 150])
def test_long_texts(folders: Callable[[str], Path], name: str, place: int) -> None:
    """62 tokens of the text are read, with the blank in their middle if there is as much on both sides."""
    lm = MaskedLm(str(folders(name)), device="cpu")
    own = plain(lm)
    text = Text(" ".join("the film was a good one".split()[number % 6] for number in range(151)))
    _, start, end = text.spans()[place]
    left = own.tokenizer(text.fields[0][:start], add_special_tokens=False)["input_ids"]
    right = own.tokenizer(text.fields[0][end:], add_special_tokens=False)["input_ids"]
    before = 30 if len(right) > 31 else 61 - len(right)
    kept = left[-before:] if len(left) > before else left
    row = [*kept, own.tokenizer.mask_token_id, *right]
    row = [own.tokenizer.cls_token_id, *row[:62], own.tokenizer.sep_token_id]
    with torch.inference_mode():
        scores = own.model(input_ids=torch.tensor([row])).logits[0, len(kept) + 1].double()
    found = fill(lm, text.fields[0], start, end, 5)
    own.check(found.guesses, 5, scores, False)
    assert found.total == pytest.approx(float(scores.logsumexp(0)), abs=NEAR)


def test_long_pairs(bert: MaskedLm) -> None:
    own = plain(bert)
    long = " ".join(["good", "film"] * 40)
    inner = own.tokenizer(long, add_special_tokens=False)["input_ids"]
    lone = [own.tokenizer.mask_token_id, *own.tokenizer("a", add_special_tokens=False)["input_ids"]]
    cls, sep = own.tokenizer.cls_token_id, own.tokenizer.sep_token_id
    for field, fields in enumerate([("bad a", long), (long, "bad a")]):
        other = inner[: 61 - len(lone)]
        first, second = (lone, other) if field == 0 else (other, lone)
        row = [cls, *first, sep, *second, sep]
        types = [0] * (len(first) + 2) + [1] * (len(second) + 1)
        with torch.inference_mode():
            logits = own.model(input_ids=torch.tensor([row]), token_type_ids=torch.tensor([types])).logits[0]
        (found,) = ask(bert, Blank(fields, field, 0, 3, 5))
        own.check(found.guesses, 5, logits[row.index(own.tokenizer.mask_token_id)].double(), False)
    (alone,) = ask(bert, Blank((long, "bad a"), 0, 0, 4, 5))  # the other text gives way altogether
    row = [cls, own.tokenizer.mask_token_id, *inner[-len(inner) + len(bert.composer.ids(["good"])[0]) :][:60], sep, sep]
    with torch.inference_mode():
        types = [0] * (len(row) - 1) + [1]
        logits = own.model(input_ids=torch.tensor([row]), token_type_ids=torch.tensor([types])).logits[0]
    own.check(alone.guesses, 5, logits[1].double(), False)


def test_a_word_longer_than_the_window(lm: MaskedLm) -> None:
    long = "x" * 90
    text = f"a {long} film"
    filled, pieces, short = ask(
        lm, Blank((text,), 0, 2, 92, 3), Pieces((text,), 0, 2, 92, 3), Blank(("a x film",), 0, 2, 3, 3)
    )
    assert same(filled, short)
    room = 64 - len(plain(lm).tokenizer("")["input_ids"])
    ids = plain(lm).tokenizer(f" {long}", add_special_tokens=False)["input_ids"]
    assert len(pieces) == min(room, len(ids))
    (spelt,) = ask(lm, Spelling(("a",) * 90))
    assert math.isfinite(spelt)


def test_a_word_that_is_nothing(bert: MaskedLm) -> None:
    text = "a \u200b film"
    assert bert.composer.ids(["\u200b"]) == [[]]
    assert ask(bert, Pieces((text,), 0, 2, 3), Pieces(("films",), 0, 1, 1)) == [(), ()]
    (unknown,) = ask(bert, Pieces(("a ☃☃ film",), 0, 2, 4, 2))
    assert [piece.text for piece in unknown] == ["☃☃"]


def test_one_bad_question_costs_one_answer(bert: MaskedLm) -> None:
    bad: list[MaskQuestion] = [
        Blank(("a \ud800",), 0, 0, 1),
        Pieces(("a \ud800",), 0, 0, 1),
        Blank(("a",), 0, 0, 2),
        Blank(("a",), 1, 0, 0),
        Pieces(("a",), 0, -1, 1),
        Blank(("a", "b", "c"), 0, 0, 1),
    ]
    batches = bert.plan([*bad, *MIXED])
    good = [batch for batch in batches if batch[0] not in bad]
    assert sorted(map(repr, chain(*good))) == sorted(map(repr, MIXED))
    assert [len(batch) for batch in batches if batch[0] in bad] == [1] * len(bad)
    assert bert.plan([*MIXED, *bad[::-1]]) == batches
    for item, error in zip(bad, [UnicodeEncodeError] * 2 + [ValueError] * 3 + [VictimError], strict=True):
        with pytest.raises(error, match=r"surrogates|there is no span|has no input form for 3 texts"):
            bert.launch([item])
    for batch in good:
        bert.collect(bert.launch(batch))


def test_nan_is_refused(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    model = small_masked("Bert", tokenizer)
    model.bert.embeddings.LayerNorm.bias.data[3] = float("nan")
    lm = MaskedLm(str(save(tmp_path, "bert", tokenizer, model)), device="cpu")
    for item in (BLANKS[0], Pieces(*BLANKS[0][:4]), Spelling(("a",))):
        with pytest.raises(ServiceFailed, match=r"^hf:\S+ gave scores that are not finite; use another .* model\.$"):
            ask(lm, item)


def test_fingerprints(folders: Callable[[str], Path], bert: MaskedLm, roberta: MaskedLm) -> None:
    assert MaskedLm(str(folders("Bert")), device="cpu").fingerprint == bert.fingerprint != roberta.fingerprint


def test_load(folders: Callable[[str], Path], bert_folder: Path, tmp_path: Path) -> None:
    assert isinstance(load_masked_lm(f"hf:{folders('Bert')}", "cpu"), MaskedLm)
    for spec in ("pocket", "hf:", "bert-base-uncased"):
        with pytest.raises(BadInput, match=f"^Unknown masked language model '{spec}'; none is bundled, so use hf:PATH"):
            load_masked_lm(spec)
    with pytest.raises(BadInput, match=r"There is no folder \./none"):
        load_masked_lm("hf:./none", "cpu")
    with pytest.raises(BadInput, match=r"has no weights for \S+ and others, .* trained as a masked language model\.$"):
        load_masked_lm(f"hf:{bert_folder}", "cpu")  # a classifier
    tokenizer = tiny_tokenizer("byte-bpe")
    causal = save(tmp_path / "causal", "gpt2", tokenizer, small_causal("GPT2", tokenizer))
    with pytest.raises(BadInput, match=r"is a gpt2 model, which does not work as a masked language model; use a mas"):
        load_masked_lm(f"hf:{causal}", "cpu")


def test_a_tokenizer_without_a_mask(tmp_path: Path) -> None:
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tiny_tokenizer("wordpiece").backend_tokenizer, pad_token="[PAD]", unk_token="[UNK]"
    )
    folder = save(tmp_path, "bert", tokenizer, small_masked("Bert", tokenizer))
    with pytest.raises(BadInput, match="has a tokenizer without a mask token; give a masked language model"):
        MaskedLm(str(folder), device="cpu")
