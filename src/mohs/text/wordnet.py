"""WordNet: synonyms, antonyms, base forms and parts of speech."""

from __future__ import annotations

import hashlib
import io
import tarfile
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from mohs.assets.limits import unpacked
from mohs.errors import BadInput

# NLTK's letters for WordNet's parts of speech.
NOUN, VERB, ADJECTIVE, ADVERB = "n", "v", "a", "r"
CLASSES = (NOUN, VERB, ADJECTIVE, ADVERB)

_PARTS = ("noun", "verb", "adj", "adv")
_NEEDED = tuple(name for part in _PARTS for name in (f"data.{part}", f"index.{part}", f"{part}.exc"))
# NLTK's reader needs this file, which numbers the lexicographers' files. The names are not used here.
_LEXNAMES = "".join(f"{number}\tfile{number}\t0\n" for number in range(100)).encode()


class WordNet:
    """A WordNet database in Princeton's format (the folder `dict` of WordNet 3.0), read through NLTK.

    `path` is the folder, a folder that contains it as `dict`, or a .tar.gz of it. A part of speech is n, v, a or r;
    None means all. Words are looked up in lower case. An inflected word is looked up by its base forms.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.name = self.path.name.removesuffix(".gz").removesuffix(".tar")
        files = _files(self.path)
        digest = hashlib.blake2b(digest_size=16)
        for name in _NEEDED:
            digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
        self.fingerprint = digest.hexdigest()
        self._reader = _reader(self.path, {"lexnames": _LEXNAMES, **files})

    def __repr__(self) -> str:
        return f"WordNet({str(self.path)!r})"

    def synonyms(self, word: str, pos: str | None = None, *, several_words: bool = False) -> list[str]:
        """The other words in all synsets of a word, as WordNet spells them, in the order of its senses.

        Nouns come before verbs, adjectives and adverbs; within a class the most common sense comes first. Entries of
        several words are left out unless `several_words` is set. The base form of an inflected word is included.
        """
        kinds = CLASSES if pos is None else (_known(pos),)
        found = self._asked(lambda: [name for kind in kinds for name in self._reader.names(_key(word), kind)])
        return _others(word, found, several_words)

    def antonyms(
        self, word: str, pos: str | None = None, *, several_words: bool = False, senses: int | None = None
    ) -> list[str]:
        """The antonyms of a word or of its base forms, in the order of senses; only of the first `senses`, if given."""
        own = {base for base, _ in self.lemmas_with_pos(word)}
        found = (
            opposite.name()
            for synset in self._synsets(word, pos)[:senses]
            for lemma in synset.lemmas()
            if lemma.name().lower() in own
            for opposite in self._asked(lemma.antonyms)
        )
        return _others(word, found, several_words)

    def heads(self, word: str) -> list[str]:
        """The first lemma of each synset of a word, within the part of speech that has most of them.

        Of two parts of speech with as many, nouns come before verbs, adjectives and adverbs. Single words only.
        """
        groups = [self._synsets(word, pos) for pos in CLASSES]
        most = max(groups, key=len)
        return _others(word, (synset.lemmas()[0].name() for synset in most), False)

    def lemmas_with_pos(self, word: str) -> list[tuple[str, str]]:
        """The base forms of a word, each with its part of speech: film as n and as v for films.

        If the word is an entry itself, it comes first: found gives found and find.
        """
        return [(base, pos) for pos in CLASSES for base in self._reader.bases(_key(word), pos)]

    def lemma(self, word: str, pos: str | None = None) -> str:
        """The first base form of a word, in lower case; the word itself if it is an entry or unknown."""
        return next((base for base, kind in self.lemmas_with_pos(word) if pos in (None, kind)), word.lower())

    def parts_of_speech(self, word: str) -> tuple[str, ...]:
        """The parts of speech of a word: n, v, a or r; none for an unknown word."""
        return tuple(dict.fromkeys(pos for _, pos in self.lemmas_with_pos(word)))

    def _synsets(self, word: str, pos: str | None) -> list[Any]:
        return self._asked(lambda: self._reader.synsets(_key(word), pos and _known(pos)))

    def _asked(self, question: Callable[[], list[Any]]) -> list[Any]:
        """NLTK's answer. A damaged file shows up only here, as a warning or any exception."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return question()
        except Exception as error:
            raise _damaged(self.path, error) from error


def _known(pos: str) -> str:
    assert pos in CLASSES, f"a part of speech is one of {CLASSES}, not {pos!r}"
    return pos


def _names(data: bytes, offset: int) -> list[str]:
    """The words of the synset whose line starts at `offset`: `offset file class count word id word id ... | gloss`.

    NLTK would parse the whole line, with pointers, frames and examples. That costs as much as a search.
    """
    columns, bar, _ = data[offset : data.index(b"\n", offset)].partition(b"|")
    parts = columns.decode().split()
    names = parts[4 : 4 + 2 * int(parts[3], 16) : 2]
    if not bar or parts[0] != f"{offset:08d}" or len(names) != int(parts[3], 16):
        raise ValueError(f"no synset at {offset}")
    return [name[: name.rindex("(")] if name.endswith(")") else name for name in names]


def _key(word: str) -> str:
    return word.lower().replace(" ", "_")


def _others(word: str, found: Iterable[str], several_words: bool) -> list[str]:
    kept = [name.replace("_", " ") for name in dict.fromkeys(found) if several_words or "_" not in name]
    return [name for name in kept if name.lower() != word.lower()]


def _files(path: Path) -> dict[str, bytes]:
    """The required files of a folder or archive, and `lexnames` if present. Writes nothing."""
    wanted = {*_NEEDED, "lexnames"}
    try:
        if path.is_dir():
            folder = path / "dict" if (path / "dict").is_dir() else path
            files = {name: (folder / name).read_bytes() for name in sorted(wanted) if (folder / name).is_file()}
        elif path.is_file():
            with unpacked(path) as file, tarfile.open(fileobj=file) as archive:
                members = {Path(entry.name).name: entry for entry in archive if entry.isfile()}
                files = {name: _content(archive, members[name]) for name in sorted(wanted & set(members))}
        else:
            raise BadInput(f"There is no WordNet at {path}; name the folder of its database files.")
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise BadInput(f"{path} cannot be read as WordNet's folder or a .tar.gz of it ({_line(error)}).") from error
    lacking = [name for name in _NEEDED if name not in files]
    if lacking:
        raise BadInput(
            f"{path} is not a WordNet database: it lacks {', '.join(lacking[:3])}; name the folder that holds them."
        )
    return files


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(entry)
    assert file is not None, "only plain files are asked for"
    return file.read()


def _reader(path: Path, files: Mapping[str, bytes]) -> Any:
    """NLTK's reader over files in memory."""
    try:
        from nltk.corpus.reader.wordnet import WordNetCorpusReader
        from nltk.data import PathPointer, SeekableUnicodeStreamReader
    except ImportError as error:
        raise BadInput("WordNet needs the package nltk: pip install 'mohs[wordnet]'.") from error

    class Nowhere(PathPointer):  # type: ignore[misc]
        """A dummy root for NLTK, which would only accept folders named in its own settings."""

        def open(self, encoding: str | None = None) -> Any:
            raise FileNotFoundError(encoding)

        def file_size(self) -> int:
            raise FileNotFoundError

        def join(self, fileid: str) -> Any:
            raise FileNotFoundError(fileid)

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        """Reads its files from memory, so that a missing `lexnames` can be replaced."""

        def open(self, file: str) -> Any:
            return SeekableUnicodeStreamReader(io.BytesIO(files[file]), "utf-8")

        def map_wn(self, version: str = "wordnet") -> None:
            """Do nothing. NLTK would look for another WordNet, to map senses of other languages."""

        def bases(self, form: str, pos: str) -> list[str]:
            found: list[str] = self._morphy(form, pos)
            return found

        def names(self, form: str, pos: str) -> list[str]:
            """The words of all synsets of a form, in order."""
            index, data = self._lemma_pos_offset_map, files[f"data.{_PARTS[CLASSES.index(pos)]}"]
            offsets = (offset for base in self.bases(form, pos) for offset in index[base].get(pos, ()))
            return [name for offset in offsets for name in _names(data, offset)]

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about missing other languages
            return Reader(Nowhere(), None)
    except Exception as error:  # a damaged file can raise anything
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> BadInput:
    return BadInput(f"The WordNet database {path} is damaged ({_line(error)}); get it again.")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
