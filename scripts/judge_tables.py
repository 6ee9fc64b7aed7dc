"""The tables of the bundled judge: words with frequency and short vectors, WordNet's relations, a polarity.

`tables(DIR)` reads DIR/lexical (WordNet 3.0, GloVe 100d) and gives arrays; scripts/train_judge.py stores them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.text import inflection, pocket
from mohs.text.relations import CLASSES
from mohs.text.wordnet import WordNet

RAREST = 80_000  # in GloVe's order; rarer words are not in the table
RAREST_PART = 16_000  # of an entry of several words
DIMENSIONS = 64  # of the second vectors
STEP = 0.06  # in which their numbers are stored
PENN = {
    "n": ("NNS",),
    "v": ("VBZ", "VBG", "VBD", "VBN"),
    "a": ("JJR", "JJS"),
    "r": ("RBR", "RBS"),
}
# For the direction from bad to good in the bundled vectors. Common words, none of them chosen by looking at results.
GOOD = """good great excellent wonderful fantastic superb brilliant amazing lovely delightful pleasant enjoyable happy
beautiful charming perfect splendid marvelous terrific outstanding impressive admirable favorable positive joyful
clever delicious exciting fresh friendly funny generous gentle gorgeous graceful honest inspiring kind love loved
masterful memorable nice refreshing remarkable satisfying smart success sweet talented thrilling touching triumph
warm win worthy best better finest fascinating engaging helpful reliable safe comfortable elegant"""
BAD = """bad terrible awful horrible dreadful poor disappointing boring dull unpleasant annoying sad ugly disgusting
flawed miserable pathetic mediocre appalling unimpressive lousy unfavorable negative gloomy stupid tasteless tedious
stale hostile lame greedy cruel hideous clumsy dishonest depressing mean hate hated inept forgettable nasty tiresome
ordinary frustrating dumb failure bitter inferior irritating offensive disaster cold lose worthless worst worse
weakest pointless useless unreliable dangerous uncomfortable crude"""


def tables(folder: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays but the trees."""
    lexical = folder / "lexical"
    wordnet = WordNet(lexical / "wordnet-3.0.tar.gz")
    glove = (lexical / "glove-100d" / "words.txt").read_text("utf-8").splitlines()
    rank = {word: number for number, word in enumerate(glove)}
    reader = wordnet._reader
    lexicon = pocket.lexicon()

    listed = {
        (lemma, pos): offsets for lemma, by in reader._lemma_pos_offset_map.items() for pos, offsets in by.items()
    }
    lemmas = {lemma for lemma, pos in listed if pos in CLASSES}
    single = {
        word for word in lemmas if re.fullmatch(r"[a-z]+(?:[-'][a-z]+)*", word) and rank.get(word, 10**9) < RAREST
    }
    single |= set(lexicon.words)
    single |= {word for word in _with_opposites(reader) if "_" not in word and word in rank}
    words = sorted(single, key=lambda word: rank[word])
    several = sorted(
        lemma.replace("_", " ")
        for lemma in lemmas
        if "_" in lemma and all(part in single and rank[part] < RAREST_PART for part in lemma.split("_"))
    )
    words += several
    index = {word: number for number, word in enumerate(words)}

    sense_of: dict[tuple[str, int], int] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for letter in CLASSES:
        keys, counts, flat = [], [], []
        for word in words:
            offsets = listed.get((word.replace(" ", "_"), letter), [])
            if offsets:
                keys.append(index[word])
                counts.append(len(offsets))
                flat += [sense_of.setdefault((letter, offset), len(sense_of)) for offset in offsets]
        arrays[f"senses_{letter}_words"] = np.diff(np.array(keys, np.int32), prepend=np.int32(0))
        arrays[f"senses_{letter}_counts"] = np.array(counts, np.uint8)
        arrays[f"senses_{letter}"] = np.array(flat, np.int32)

    # What lies above the senses is followed up, so that two words meet there even where nobody listed has that sense.
    links: list[list[int]] = []
    opposites: set[tuple[int, int, int]] = set()
    todo = list(sense_of)
    at = 0
    while at < len(todo):
        letter, offset = todo[at]
        at += 1
        synset = reader.synset_from_pos_and_offset(letter, offset)
        above = synset.hypernyms() + synset.instance_hypernyms()
        alike = synset.similar_tos() + synset.also_sees() + synset.verb_groups()
        found = []
        for other in above + alike:
            key = (other.pos().replace("s", "a"), other.offset())
            if key not in sense_of:
                if other not in above:
                    continue
                sense_of[key] = len(sense_of)
                todo.append(key)
            found.append(sense_of[key])
        links.append(found)
        for lemma in synset.lemmas():
            for opposed in lemma.antonyms():
                pair = [name.name().lower().replace("_", " ") for name in (lemma, opposed)]
                if all(name in index for name in pair):
                    one, other = sorted(index[name] for name in pair)
                    opposites.add((CLASSES.index(letter), one, other))
    arrays["links"] = np.array([link for found in links for link in found], np.int32)
    arrays["links_counts"] = np.array([len(found) for found in links], np.uint8)
    arrays["opposites"] = np.array(sorted(opposites), np.int32)

    exists = rank.__contains__
    for letter in CLASSES:
        forms = []
        for word in words[: len(single)]:
            own = [] if (word, letter) not in listed else [word]
            bases = [
                base
                for tag in PENN[letter]
                for base in inflection.bases(word, tag, lambda base: (base, letter) in listed and base in index, exists)  # noqa: B023
                if base != word
            ]
            bases += [base for base in reader.bases(word, letter) if base != word and base in index]
            if bases and (not own or rank[bases[0]] < rank[word]):
                forms.append((index[word], index[bases[0]]))
        arrays[f"bases_{letter}"] = np.array(forms, np.int32).reshape(-1, 2)

    arrays["words"] = np.frombuffer("\n".join(words).encode(), np.uint8)
    arrays["ranks"] = np.array([round(100 * np.log(rank[word] + 1)) for word in words[: len(single)]], np.uint16)
    arrays["second"] = _short(
        np.load(lexical / "glove-100d" / "vectors.npy"), [rank[word] for word in words[: len(single)]]
    )
    arrays["polarity"] = _polarity()
    size = {name: part.nbytes for name, part in arrays.items()}
    print(f"tables: {len(single)} words, {len(several)} entries of several words, {len(links)} senses, {size}")
    return arrays


def _short(vectors: npt.NDArray[Any], rows: list[int]) -> npt.NDArray[np.int8]:
    """The strongest directions of unit vectors in coarse steps, which leaves about three bits a number to store."""
    unit = vectors.astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True) + 1e-9
    mean = unit[:30_000].mean(axis=0)
    _, _, top = np.linalg.svd(unit[:30_000] - mean, full_matrices=False)
    short = (unit[rows] - mean) @ top[:DIMENSIONS].T
    short /= np.linalg.norm(short, axis=1, keepdims=True)
    return np.asfortranarray(np.clip(np.round(short / STEP), -127, 127).astype(np.int8))  # by columns: packs better


def _polarity() -> npt.NDArray[np.float32]:
    """A direction by ridge regression on the seeds, scaled so that a seed has a polarity of about 1 or -1."""
    lexicon = pocket.lexicon()
    seeds = [(word, sign) for group, sign in ((GOOD, 1.0), (BAD, -1.0)) for word in group.split()]
    known = [(lexicon.index[word], sign) for word, sign in seeds if word in lexicon.index]
    rows = lexicon.vectors[[number for number, _ in known]].astype(np.float64)
    signs = np.array([sign for _, sign in known])
    direction = np.linalg.solve(rows.T @ rows + 1.0 * np.eye(rows.shape[1]), rows.T @ signs)
    direction *= 1 / np.mean((rows @ direction) * signs)
    return direction.astype(np.float32)


def _with_opposites(reader: Any) -> set[str]:
    return {lemma.name().lower() for synset in reader.all_synsets() for lemma in synset.lemmas() if lemma.antonyms()}
