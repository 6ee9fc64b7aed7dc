"""Train src/mohs/pocket/tagger.npz, the bundled part-of-speech tagger, or measure it on text held out from training.

    python scripts/train_tagger.py --assets DIR [--with-treebank] [--develop]
    python scripts/train_tagger.py --assets DIR --evaluate [--spacy NAME_OR_PATH]

The first writes the file (and prints accuracy on the dev part), the second prints the tables of docs/tagger.md.
DIR holds `nltk_data/corpora/brown.zip` and `treebank.zip`, which are read as plain text, `glove-100d/words.txt` and
`wordnet-3.0.tar.gz` (which open classes common words belong to). Whole files are held out: those whose number ends
in 3 are the test part (ca03, ca13, ..., wsj_0003, ...), those that end in 6 the dev part, which serves for choices; the
rest trains. The Treebank sample is for non-commercial use only, so the shipped file is trained on Brown alone;
`--with-treebank` adds it. Provenance is stated in NOTICE.
"""

from __future__ import annotations

import argparse
import io
import re
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from build_lexicon import parts_of_speech
from tagged_corpora import Page, Sentence, corpora, pages, settle

from mohs.errors import BadInput
from mohs.models.spacy_models import SMALL_ENGLISH
from mohs.models.tag_features import Features, guess_keys, key, plain
from mohs.models.tagger import PocketTagger, SpacyTagger, cut, universal
from mohs.text import pocket
from mohs.text.questions import Spot, Tag
from mohs.text.text import Text

# --- training -------------------------------------------------------------------------------------------------------

LEAST = 4  # how often a feature must be seen
KNOWN = 3  # how often a word must be seen to be in the dictionary
SHARE = 0.1  # the least share of a word's occurrences for a tag to be among its usual ones
RATE = 0.08
ROUNDS = 3
BATCH = 2048
WEAKEST = 2  # weights under two sixteenths are left out


def usual(counts: Counter[str], share: float) -> str:
    """At most three tags with that share, most frequent first."""
    total = counts.total()
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return "|".join([tag for tag, count in ordered if count >= share * total][:3])


def dictionary(train: list[Page]) -> dict[int, str]:
    """The usual tags of frequent words, and of endings (from rare words, each counted once)."""
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for page in train:
        for start, end, tag, *_ in page.gold:
            word = page.text[start:end]
            word = tag if word == '"' else plain(word) if any(map(str.isdigit, word)) else word
            words[word][tag] += 1
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, counts in words.items():
        if counts.total() < 10:
            for name in guess_keys(word):
                endings[name].update(counts.keys())
    found = {name: usual(counts, 0.15) for name, counts in endings.items() if counts.total() >= 8}
    found.update((word, usual(counts, SHARE)) for word, counts in words.items() if counts.total() >= KNOWN)
    return {key("class", name): tags for name, tags in found.items()}


def examples(features: Features, written: Iterable[Page], tags: list[str]) -> tuple[Any, Any]:
    """All words of some texts: a row of features each, and the number of the right tag."""
    number = {tag: at for at, tag in enumerate(tags)}
    flat, lengths, right = array("I"), array("H"), array("B")
    for page in written:
        for start, end, tag, *_ in page.gold:
            place = cut(Spot(page.text, start, end))
            if place.word and tag in number:
                before = features.before(place.before)
                keys = [*features.word(place.word, before.opens), *before.keys, *features.behind(place.behind).keys]
                flat.extend(keys)
                lengths.append(len(keys))
                right.append(number[tag])
    ends = np.cumsum(np.frombuffer(lengths, np.uint16), dtype=np.int64)
    keys = np.frombuffer(flat, np.uint32)
    return (keys, np.concatenate([[0], ends])), np.frombuffer(right, np.uint8).astype(np.int64)


def fit(rows: Any, right: Any, width: int) -> tuple[Any, Any]:
    """Multinomial logistic regression by Adagrad over the features seen often enough; gives their keys and weights."""
    keys, ends = rows
    names, counts = np.unique(keys, return_counts=True)
    names = names[counts >= LEAST]
    column = np.minimum(np.searchsorted(names, keys), len(names) - 1).astype(np.int32)
    kept = names[column] == keys
    ends = np.concatenate([[0], np.cumsum(kept)])[ends]
    column = column[kept]
    matrix = scipy.sparse.csr_matrix((np.ones(len(column), np.float32), column, ends), (len(right), len(names)))
    weights = np.zeros((len(names), width), np.float32)
    squares = np.full((len(names), width), 1e-8, np.float32)
    random = np.random.default_rng(0)
    for turn in range(ROUNDS):
        loss, order = 0.0, random.permutation(len(right))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            part = matrix[batch]
            used, part.indices = np.unique(part.indices, return_inverse=True)
            part = scipy.sparse.csr_matrix((part.data, part.indices, part.indptr), (len(batch), len(used)))
            mine = weights[used]
            scores = part @ mine
            scores = np.exp(scores - scores.max(1, keepdims=True))
            scores /= scores.sum(1, keepdims=True)
            true = (np.arange(len(batch)), right[batch])
            loss -= float(np.log(scores[true] + 1e-9).sum())
            scores[true] -= 1
            slope = part.T @ scores
            sums = squares[used] + slope * slope
            squares[used] = sums
            weights[used] = mine - RATE * slope / np.sqrt(sums)
        print(f"round {turn + 1}: loss {loss / len(order):.4f}, {len(names)} features", flush=True)
    return names, weights


def planes(keys: Any) -> Any:
    """Sorted keys as differences, byte by byte, which compress well."""
    steps = np.diff(keys.astype(np.int64), prepend=0).astype(np.uint32)
    return np.ascontiguousarray(steps[:, None].view(np.uint8).T)


def pack(names: Any, weights: Any, features: Features, tags: list[str]) -> dict[str, Any]:
    """The arrays of the file: weights as whole numbers of one byte, the weakest left out."""
    weights = weights - np.median(weights, axis=1, keepdims=True)  # a constant on all tags changes no answer
    codes = np.clip(np.round(weights * 16), -127, 127).astype(np.int8)
    codes[np.abs(codes) < WEAKEST] = 0
    full = codes.any(axis=1)
    names, codes = names[full], codes[full]
    row, column = np.nonzero(codes)
    classes, senses = features.classes, features.senses
    words, sensed = np.array(sorted(classes), np.uint32), np.array(sorted(senses), np.uint32)
    kinds = sorted(set(classes.values()))
    number = {kind: at for at, kind in enumerate(kinds)}
    return {
        "tags": np.frombuffer(" ".join(tags).encode(), np.uint8),
        "classes": np.frombuffer("\n".join(kinds).encode(), np.uint8),
        "words": planes(words),
        "kinds": np.array([number[classes[word]] for word in words.tolist()], np.uint16),
        "senses": planes(sensed),
        "bits": np.array([senses[word] for word in sensed.tolist()], np.uint8),
        "features": planes(names),
        "counts": np.bincount(row, minlength=len(names)).astype(np.uint8),
        "columns": column.astype(np.uint8),
        "values": codes[row, column],
    }


def senses(assets: Path) -> dict[int, int]:
    """The open classes of common words in WordNet, inflected forms included."""
    words = [word for word in (assets / "glove-100d" / "words.txt").read_text("utf-8").splitlines() if word.isalpha()]
    bits = parts_of_speech(assets / "wordnet-3.0.tar.gz", words)
    return {key("sense", word): bit for word, bit in zip(words, bits.tolist(), strict=True) if bit}


def train(sentences: list[Sentence], known: dict[int, int]) -> bytes:
    """The file, from the training part: every text as written, and every fourth once more cut up."""
    written = list(pages(sentences))
    cut_up = list(pages(sentences, cut_up=True))[::4]
    features = Features(dictionary(written), known)
    texts = [*written, *cut_up]
    tags = sorted({gold.tag for page in texts for gold in page.gold if cut(Spot(page.text, *gold[:2])).word})
    rows, right = examples(features, texts, tags)
    print(f"{len(sentences)} sentences, {len(right)} words with their copies", flush=True)
    names, weights = fit(rows, right, len(tags))
    file = io.BytesIO()
    np.savez_compressed(file, **pack(names, weights, features, tags))
    return file.getvalue()


# --- measuring ------------------------------------------------------------------------------------------------------

HEADER = f"{'':24}{'tokens':>8}{'words':>8}{'universal':>11}{'unseen':>8}"


def score(found: list[str], gold: list[str], words: list[str], seen: set[str]) -> str:
    """Shares of right answers: Penn tags of all tokens and of words, universal ones of words, Penn of unseen words."""
    hits = np.array([a == b for a, b in zip(found, gold, strict=True)])
    coarse = np.array([universal(a) == universal(b) for a, b in zip(found, gold, strict=True)])
    word = np.array([any(map(str.isalnum, word)) for word in words])
    new = word & np.array([word not in seen for word in words])
    shares = [100 * float(part.mean()) for part in (hits, hits[word], coarse[word], hits[new])]
    return f"{shares[0]:8.2f}{shares[1]:8.2f}{shares[2]:11.2f}{shares[3]:8.2f}"


def answers(tagger: PocketTagger | SpacyTagger, spots: list[Spot]) -> list[Tag]:
    """The answers in the order of the questions."""
    found = {}
    for batch in tagger.plan(spots):
        found.update(zip(batch, tagger.collect(tagger.launch(batch)), strict=True))
    return [found[spot] for spot in spots]


def by_pocket(tagger: PocketTagger, written: list[Page]) -> list[str]:
    """The bundled tagger reads the text."""
    spots = [Spot(page.text, gold.start, gold.end) for page in written for gold in page.gold]
    return [answer.tag for answer in answers(tagger, spots)]


def by_spacy(tagger: SpacyTagger, written: list[Page]) -> list[str]:
    """SpaCy is given the corpus's own tokens, sentence by sentence; the first part of a word answers.

    It tags the preposition `to` as IN, as newer treebanks do; that is counted as TO.
    """
    from spacy.tokens import Doc

    lines = [sentence for page in written for sentence in page.sentences]
    docs = (Doc(tagger.nlp.vocab, words=[part for token in line.tokens for part in token.parts]) for line in lines)
    tagged = iter(tagger.nlp.pipe(docs))
    found = []
    for page in written:
        firsts = []
        for sentence, doc in zip(page.sentences, tagged, strict=False):
            ends = np.cumsum([0, *(len(token.parts) for token in sentence.tokens)]).tolist()
            firsts.append([doc[start] for start in ends[:-1]])
        for gold in page.gold:
            token = firsts[gold.sentence][gold.token]
            found.append("TO" if token.lower_ == "to" else token.tag_)
    return found


def by_count(training: list[Sentence], written: list[Page]) -> list[str]:
    """The baseline: the tag a word has most often, NNP for unseen capitals, CD for digits, NN for the rest."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in training:
        for token in sentence.tokens:
            if token.tag:
                counts[token.word][token.tag] += 1
    best = {word: min(tags.items(), key=lambda item: (-item[1], item[0]))[0] for word, tags in counts.items()}
    found = []
    for page in written:
        for gold in page.gold:
            word = page.sentences[gold.sentence].tokens[gold.token].word
            guess = "CD" if word[0].isdigit() else "NNP" if word[0].isupper() else "NN"
            found.append(best.get(word) or best.get(word.lower()) or guess)
    return found


def develop(tagger: PocketTagger, held: list[Sentence], seen: set[str]) -> None:
    """Accuracy on the dev part, by corpus and way of writing, and the commonest mistakes."""
    print(HEADER)
    for corpus in ("Brown", "Treebank"):
        for cut_up in (False, True):
            written = list(pages((s for s in held if s.corpus == corpus), cut_up))
            gold = [gold.tag for page in written for gold in page.gold]
            words = [page.text[gold.start : gold.end] for page in written for gold in page.gold]
            found = by_pocket(tagger, written)
            known = {word.lower() for word in seen} if cut_up else seen
            print(f"{corpus + ', cut up' * cut_up:24}{score(found, gold, words, known)}")
            wrong = Counter(f"{b} as {a}" for a, b in zip(found, gold, strict=True) if a != b)
            print("   ", ", ".join(f"{name} {count}" for name, count in wrong.most_common(12)))


def evaluate(sentences: list[Sentence], training: list[Sentence], spacy: str, data: bytes) -> None:
    """The tables of docs/tagger.md, on the test part and on the bundled reviews."""
    taggers: list[PocketTagger | SpacyTagger] = [PocketTagger(data)]
    try:
        taggers.append(SpacyTagger(spacy))
    except BadInput as error:
        print(error)
    for tagger in taggers:
        print(f"{tagger.name}: {tagger.fingerprint}")
    seen = {token.word.rstrip(".'") for sentence in training for token in sentence.tokens}
    print(HEADER)
    for corpus in ("Brown", "Treebank"):
        for cut_up in (False, True):
            written = list(pages((s for s in sentences if s.part == "test" and s.corpus == corpus), cut_up))
            gold = [gold.tag for page in written for gold in page.gold]
            words = [page.text[gold.start : gold.end] for page in written for gold in page.gold]
            known = {word.lower() for word in seen} if cut_up else seen
            print(f"{corpus + ', cut up' * cut_up}, {len(gold)} tokens")
            if not cut_up:
                print(f"  {'most frequent tag':22}{score(by_count(training, written), gold, words, known)}")
            for tagger in taggers:
                if isinstance(tagger, PocketTagger):
                    print(f"  {tagger.name:22}{score(by_pocket(tagger, written), gold, words, known)}")
                elif not cut_up:
                    print(f"  {'spaCy':22}{score(by_spacy(tagger, written), gold, words, known)}")
    texts = [Text(row["text"]) for split in ("train", "test") for row in pocket.reviews(split)]
    spots = [Spot(text.fields[0], start, end) for text in texts for _, start, end in text.spans()]
    if len(taggers) > 1:
        one, other = (answers(tagger, spots) for tagger in taggers)
        same = [
            (a.tag == b.tag, universal(a.tag) == universal(b.tag), a.pos == b.pos)
            for a, b in zip(one, other, strict=True)
        ]
        print(f"agreement on {len(spots)} words of the bundled reviews:", end=" ")
        print("Penn {:.2f}%, universal by tag {:.2f}%, as answered {:.2f}%".format(*(100 * np.mean(same, axis=0))))
        wrong = Counter(f"{a.tag}/{b.tag}" for a, b in zip(one, other, strict=True) if a.tag != b.tag)
        print("   ", ", ".join(f"{name} {count}" for name, count in wrong.most_common(12)))
    questions = list(candidates(texts[:300]))
    fresh = PocketTagger(data)
    speed("pocket tagger, first asked", fresh, questions)
    speed("pocket tagger, asked again", fresh, questions)
    if len(taggers) > 1:
        speed("spaCy", taggers[1], questions[:6000])


def speed(title: str, tagger: PocketTagger | SpacyTagger, questions: list[Spot]) -> None:
    """How long it takes to answer an attack's questions."""
    began = time.perf_counter()
    for batch in tagger.plan(questions):
        tagger.collect(tagger.launch(batch))
    spent = time.perf_counter() - began
    each = f"{1e6 * spent / len(questions):.1f} us each, {len(questions) / spent:.0f} a second"
    print(f"{title}: {len(questions)} questions, {each}")


def candidates(texts: list[Text]) -> Iterator[Spot]:
    """What an attack asks: at each word that has neighbours, the text with each of at most 20 of them."""
    lexicon = pocket.lexicon()
    for text in texts:
        for position, word in enumerate(text.words):
            for near, _ in lexicon.near(word.lower(), 20, 0.5):
                changed = text.replace(position, near)
                _, start, end = changed.spans()[position]
                yield Spot(changed.fields[0], start, end)


def moods(sentences: list[Sentence]) -> str:
    """How often `mood` is right about the Treebank's verbs, all but forms of be."""
    right = total = 0
    for sentence in sentences:
        if sentence.corpus == "Treebank":
            words = [token.word for token in sentence.tokens]
            known = [token.tag for token in sentence.tokens]
            verbs = [
                n
                for n, tag in enumerate(known)
                if tag in ("VB", "VBP") and not re.match("be$|are|am", words[n].lower())
            ]
            found = settle(words, ["VB?" if n in verbs else tag for n, tag in enumerate(known)])
            total += len(verbs)
            right += sum(found[n] == known[n] for n in verbs)
    return f"VB or VBP: right for {right} of {total} verbs of the Treebank ({100 * right / total:.1f}%)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("src/mohs/pocket/tagger.npz"))
    parser.add_argument("--with-treebank", action="store_true")
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--spacy", default=SMALL_ENGLISH)
    options = parser.parse_args()
    sentences = corpora(options.assets)
    wanted = ("Brown", "Treebank") if options.with_treebank else ("Brown",)
    training = [sentence for sentence in sentences if sentence.part == "train" and sentence.corpus in wanted]
    if options.evaluate:
        evaluate(sentences, training, options.spacy, options.out.read_bytes())
        return
    began = time.perf_counter()
    data = train(training, senses(options.assets))
    options.out.write_bytes(data)
    print(f"{options.out}: {len(data) / 1e6:.2f} MB in {time.perf_counter() - began:.0f} s")
    if options.develop:
        print(moods(sentences))
        seen = {token.word.rstrip(".'") for sentence in training for token in sentence.tokens}
        develop(PocketTagger(data), [sentence for sentence in sentences if sentence.part == "dev"], seen)


if __name__ == "__main__":
    main()
