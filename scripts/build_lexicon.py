"""Build src/mohs/pocket/lexicon.npz: compact vectors, neighbours and parts of speech for common words.

    python scripts/build_lexicon.py --assets DIR [--words 20000]

DIR holds `counter-fitted-glove-100d/` (vectors.npy, words.txt), `glove-100d/words.txt` (for the order of
frequency), `wordnet-3.0.tar.gz` (for parts of speech) and `counter-fitted-top8.json.gz` (to compare with).
Provenance and licences are stated in NOTICE. The result is a function of these files.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tarfile
from pathlib import Path

import numpy as np

LOWEST_COSINE = 0.5
DIRECTIONS = 8
MOST_NEIGHBOURS = 50
BITS = {"noun": 1, "verb": 2, "adj": 4, "adv": 8}
# Endings that inflect a base form, as in WordNet's own morphology: (ending, what the base form ends in).
ENDINGS = {
    "noun": [
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ],
    "verb": [
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ],
    "adj": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "adv": [],
}


def parts_of_speech(archive: Path, words: list[str]) -> np.ndarray:
    lemmas: dict[str, set[str]] = {kind: set() for kind in BITS}
    irregular: dict[str, dict[str, list[str]]] = {kind: {} for kind in BITS}
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            name = Path(member.name).name
            kind = name.split(".")[-1] if name.startswith("index.") else name.split(".")[0]
            if kind not in BITS or not (name.startswith("index.") or name.endswith(".exc")):
                continue
            file = tar.extractfile(member)
            assert file is not None
            for line in file.read().decode("utf-8").splitlines():
                if line.startswith(" ") or not line:
                    continue
                if name.startswith("index."):
                    lemmas[kind].add(line.split(" ", 1)[0])
                else:
                    form, *bases = line.split()
                    irregular[kind][form] = bases
    assert all(lemmas.values()), "the archive holds no index files"

    def belongs(word: str, kind: str) -> bool:
        known = lemmas[kind]
        return (
            word in known
            or any(base in known for base in irregular[kind].get(word, []))
            or any(word.endswith(end) and word[: len(word) - len(end)] + base in known for end, base in ENDINGS[kind])
        )

    return np.array([sum(bit for kind, bit in BITS.items() if belongs(word, kind)) for word in words], np.uint8)


def all_but_the_top(vectors: np.ndarray, directions: int) -> np.ndarray:
    """Unit vectors without the mean and the strongest directions that all words share (Mu & Viswanath 2018).

    Counter-fitted GloVe keeps GloVe's crowding, so that a threshold on its cosines lets nearly everything through;
    `crowding` prints by how much, before and after.
    """
    centred = vectors - vectors.mean(axis=0)
    _, _, top = np.linalg.svd(centred, full_matrices=False)
    rest = centred - centred @ top[:directions].T @ top[:directions]
    return rest / np.linalg.norm(rest, axis=1, keepdims=True)


def crowding(title: str, vectors: np.ndarray, words: list[str], published: dict[str, list[str]]) -> None:
    """Neighbours of every fifth word, and how many of them are among the eight of the published vectors."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    probes = [number for number in range(200, 8000, 5) if published.get(words[number])]
    cosines = unit[probes] @ unit.T
    cosines[np.arange(len(probes)), probes] = -1
    shared = total = 0
    for row, number in enumerate(probes):
        near = np.argsort(-cosines[row])[:MOST_NEIGHBOURS]
        near = near[cosines[row, near] >= LOWEST_COSINE]
        total += len(near)
        shared += sum(words[other] in published[words[number]] for other in near)
    pair = float(unit[words.index("good")] @ unit[words.index("nothing")])
    print(
        f"{title}: {total / len(probes):.1f} neighbours a word at cosine {LOWEST_COSINE} (at most {MOST_NEIGHBOURS}), "
        f"a share of {shared / total:.3f} also published; good/nothing {pair:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("src/mohs/pocket/lexicon.npz"))
    options = parser.parse_args()

    folder = options.assets / "counter-fitted-glove-100d"
    vocabulary = (folder / "words.txt").read_text("utf-8").splitlines()
    index = {word: number for number, word in enumerate(vocabulary)}
    frequent = (options.assets / "glove-100d" / "words.txt").read_text("utf-8").splitlines()
    words = [word for word in frequent if re.fullmatch(r"[a-z]+(?:[-'][a-z]+)*", word) and word in index]
    words = [word for word in words if len(word) > 1 or word in "ai"][: options.words]

    vectors = np.load(folder / "vectors.npy")[[index[word] for word in words]].astype(np.float32)
    published = json.loads(gzip.decompress((options.assets / "counter-fitted-top8.json.gz").read_bytes()))
    crowding("as they are", vectors, words, published)
    vectors = all_but_the_top(vectors, DIRECTIONS)
    crowding(f"without {DIRECTIONS} directions", vectors, words, published)
    codes = np.round(vectors / np.abs(vectors).max(axis=1, keepdims=True) * 127).astype(np.int8)
    scales = (1 / np.linalg.norm(codes.astype(np.float32), axis=1)).astype(np.float32)
    small = codes.astype(np.float32) * scales[:, None]

    neighbours: list[np.ndarray] = []
    cosines: list[np.ndarray] = []
    for start in range(0, len(words), 1000):
        block = small[start : start + 1000] @ small.T
        for row in range(len(block)):
            block[row, start + row] = -1
            best = np.lexsort((np.arange(len(words)), -block[row]))[:MOST_NEIGHBOURS]
            best = best[block[row, best] >= LOWEST_COSINE]
            neighbours.append(best.astype(np.uint16))
            cosines.append(np.round(np.clip(block[row, best], 0, 1) * 255).astype(np.uint8))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        options.out,
        name=np.frombuffer(b"counter-fitted GloVe-100d without its 8 strongest directions, int8", np.uint8),
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        codes=codes,
        scales=scales,
        pos=parts_of_speech(options.assets / "wordnet-3.0.tar.gz", words),
        counts=np.array([len(part) for part in neighbours], np.uint8),
        neighbours=np.concatenate(neighbours),
        cosines=np.concatenate(cosines),
    )
    mean = sum(map(len, neighbours)) / len(words)
    print(f"{options.out}: {len(words)} words, {mean:.1f} neighbours each, {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
