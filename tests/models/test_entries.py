"""What the entries of a vocabulary stand for."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from mohs.models.entries import Entries
from tests.models.conftest import COMPOSED, corpus, tiny_tokenizer, transformers


def entries(core: Tokenizer, size: int = 0, **special: str) -> Entries:
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=core, **special)
    return Entries(tokenizer, size or len(tokenizer))


def listed(found: Entries) -> dict[str, bool]:
    return {text: start for text, start in zip(found.texts, found.starts, strict=True) if text}


def test_word_pieces() -> None:
    names = ["[PAD]", "[UNK]", "[MASK]", "[unused0]", "[unused17]", "film", "##s", "##", "[", "don", "a\u0301", "##'"]
    core = Tokenizer(models.WordPiece({name: n for n, name in enumerate(names)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    found = entries(core, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")
    assert not found.spaced
    assert listed(found) == {"film": True, "s": False, "[": True, "don": True, "a\u0301": True, "'": False}
    assert found.texts[5:7] == ["film", "s"]
    assert found.spelt(["film", "s"]) == [5, 6]
    assert found.spelt(["s", "film"]) == [6, 5]
    assert found.spelt(["film", "x"]) is None
    assert found.spelt([]) == []


def test_bytes() -> None:
    names = ["<s>", "Ġfilm", "film", "Ġ", "Ċ", "ĠĠ", "Ã", "©", "Ã©", "ĠÃ©t", "madeupword0000", "Ġa", "a", "aĠb"]
    core = Tokenizer(models.BPE({name: n for n, name in enumerate(names)}, []))
    core.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.ByteLevel()])
    found = entries(core, bos_token="<s>")
    assert found.spaced
    assert found.texts[1:3] == ["film", "film"]
    assert found.starts[1:3] == [True, False]
    assert {text for text in found.texts if text} == {"film", "é", "ét", "a"}
    assert found.starts[found.texts.index("ét")]
    assert not found.starts[found.texts.index("é")]
    assert found.spelt(["film", "film"]) == [1, 2]


def test_bytes_told_by_the_decoder() -> None:
    core = Tokenizer(models.BPE({"Ġfilm": 0, "film": 1}, []))
    core.decoder = decoders.Sequence([decoders.ByteLevel()])
    assert list(zip(*[entries(core).texts, entries(core).starts], strict=True)) == [("film", True), ("film", False)]


def test_sentence_pieces() -> None:
    pieces = [("<unk>", 0.0), ("▁film", -1.0), ("film", -2.0), ("▁", -3.0), ("<0x0A>", -4.0), ("▁▁", -5.0), ("s", -6.0)]
    core = Tokenizer(models.Unigram(pieces, 0))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    found = entries(core, unk_token="<unk>")
    assert found.spaced
    assert found.texts == ["", "film", "film", "", "", "", "s"]
    assert found.starts[1:3] == [True, False]


def test_plain_words() -> None:
    core = Tokenizer(models.WordLevel({"[UNK]": 0, "film": 1, "##s": 2}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    found = entries(core, unk_token="[UNK]")
    assert not found.spaced
    assert listed(found) == {"film": True, "##s": True}


@pytest.mark.parametrize("more", [-3, 0, 5])
def test_a_model_with_another_number_of_scores(more: int) -> None:
    tokenizer = tiny_tokenizer("wordpiece")
    size = len(tokenizer) + more
    found = Entries(tokenizer, size)
    assert len(found.texts) == len(found.starts) == size
    assert found.texts[: len(tokenizer)] == Entries(tokenizer, len(tokenizer)).texts[:size]
    assert not any(found.texts[len(tokenizer) :])


@pytest.mark.parametrize("kind", COMPOSED)
def test_a_word_of_one_entry_is_that_entry(kind: str) -> None:
    tokenizer = tiny_tokenizer(kind)
    found = Entries(tokenizer, len(tokenizer))
    words = {word for text in corpus() for word in text.split() if word.isascii() and word.isalpha() and word.islower()}
    single = 0
    for word in sorted(words):
        ids = tokenizer(f"a {word}", add_special_tokens=False)["input_ids"]
        if len(ids) == 2:
            assert (found.texts[ids[1]], found.starts[ids[1]]) == (word, True)
            single += 1
    assert single > 20
