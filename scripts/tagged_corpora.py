"""The Brown corpus and the Penn Treebank sample with Penn tags, as sentences and as text, for scripts/train_tagger.py.

Both are read from NLTK's archives as plain text. Brown's tags are mapped to Penn's word by word, with a few rules
where Brown draws a line elsewhere. A word is what is written between spaces: don't and Atlanta's are one word, with the
tag of the first part.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# --- Brown's tags as Penn's ---------------------------------------------------------------------------------------

PENN = dict(
    pair.split(":")
    for pair in """
    *:RB abl:PDT abn:DT abx:DT ap:JJ at:DT be:VB bed:VBD bedz:VBD beg:VBG bem:VBP ben:VBN ber:VBP bez:VBZ cc:CC
    cd:CD cs:IN do:VB? dod:VBD doz:VBZ dt:DT dti:DT dts:DT dtx:DT ex:EX hv:VB? hvd:VBD hvg:VBG hvn:VBN hvz:VBZ
    in:IN jj:JJ jjr:JJR jjs:JJ jjt:JJS md:MD nn:NN nns:NNS np:NNP nps:NNPS nr:NN nrs:NNPS od:JJ pn:NN pp$:PRP$
    pp$$:PRP ppl:PRP ppls:PRP ppo:PRP pps:PRP ppss:PRP ql:RB qlp:RB rb:RB rbr:RBR rbt:RBS rn:RB rp:RP to:TO
    uh:UH vb:VB? vbd:VBD vbg:VBG vbn:VBN vbz:VBZ wdt:WDT wp$:WP$ wpo:WP wps:WP wql:WRB wrb:WRB
    """.split()
)
MARKS = dict(
    zip(
        "`` '' ' ( [ { ) ] } , . ? ! ; : -- - $".split(),
        "`` '' '' -LRB- -LRB- -LRB- -RRB- -RRB- -RRB- , . . . : : : : $".split(),
        strict=True,
    )
)
COMPARED = {"more": ("JJR", "RBR"), "less": ("JJR", "RBR"), "most": ("JJS", "RBS"), "least": ("JJS", "RBS")}
PARTICIPLES = set("including excluding according following concerning regarding considering involving owing".split())
DAYTIMES = {"home", "today", "tomorrow", "yesterday", "tonight", "left", "right"}  # the rest of Brown's nr are names
NAMED = {"NN": "NNP", "NNS": "NNPS", "JJ": "NNP", "VBN": "NNP", "VBG": "NNP", "VB?": "NNP", "RB": "NNP", "UH": "NNP"}


def first_part(tag: str) -> str:
    """`ppss+md` (I'll) as ppss, `do*` (don't) as do, `np$` (Atlanta's) as np; marks of titles and headlines go."""
    tag = re.sub(r"-(?:hl|tl|nc|n|t)\b", "", tag).split("+")[0]
    tag = tag.rstrip("*") or tag
    return tag if tag in ("pp$", "pp$$", "wp$") else tag.rstrip("$")


def last_part(tag: str) -> str:
    """The Penn tag of the clitic in a word with two parts; empty where Brown does not tell."""
    tag = re.sub(r"-(?:hl|tl|nc|n|t)\b", "", tag)
    if tag.endswith(("*", "$")):
        return "RB" if tag.endswith("*") else "POS"
    return {"hv": "VBP", "do": "VBP"}.get(last := tag.split("+")[-1]) or PENN.get(last, "") if "+" in tag else ""


def penn(sentence: list[tuple[str, str]]) -> list[str]:
    """A sentence's tags as Penn's; an empty string where Brown has none. vb, hv and do are left as `VB?`."""
    return [
        _penn(word, tag, sentence[at + 1][1] if sentence[at + 1 :] else ".") for at, (word, tag) in enumerate(sentence)
    ]


def _penn(word: str, tag: str, following: str) -> str:
    low, old, then = word.lower(), first_part(tag), first_part(following)
    title = "-tl" in tag and word[0].isupper()
    if word in MARKS:
        return MARKS[word]
    if tag.startswith("fw-"):
        return "NNP" if title or "np" in tag else "FW"
    if old == "nil" or old not in PENN:
        return ""
    if low == "to" and old in ("in", "to"):
        return "TO"
    if low == "because":
        return "IN"
    if low == "rather" or (low == "however" and old == "wrb") or (low == "further" and old == "rbr"):
        return "RB"
    if low == "further" and old == "jjr":
        return "JJ"
    if old == "in" and low in PARTICIPLES:
        return "VBG"
    if low == "that" and old in ("wps", "wpo"):
        return "WDT"
    if low == "what" and old == "wdt":
        return "WDT" if then in ("nn", "nns", "np", "jj", "ap", "od", "vbn") else "WP"
    if low in COMPARED and old in ("ap", "ql", "rb", "rbr", "rbt", "jjr", "jjt"):
        return COMPARED[low][old not in ("ap", "jjr", "jjt")]
    if old in ("abl", "abn", "abx") or (low == "such" and old == "jj" and then == "at"):
        if low != "many" and then in ("at", "dt", "dti", "dts", "pp$"):
            return "PDT"
        return {"such": "JJ", "quite": "RB", "half": "NN", "many": "JJ"}.get(low, "DT")
    if old == "nr":
        return "NNP" if word[0].isupper() and low not in DAYTIMES else "NN"
    if low == "so" and old == "cs":
        return "RB" if then == "cs" else "IN"
    new = PENN[old]
    return NAMED.get(new, new) if title else new


# Brown does not tell the base form (to go, will go, go!) from the present (they go). These rules do, and
# `--develop` prints how often they are right about the Treebank's verbs.
DO = {"do", "does", "did", "don't", "doesn't", "didn't"}
CAUSE = set("let lets make makes made making help helps helped see saw seen hear heard watch watched feel felt".split())
NOMINAL = set("NN NNS NNP NNPS JJ JJR JJS CD VBN VBG DT PRP$ POS PDT CC IN $".split())
MANY = set("people men women children these those many most some few others several both all two three police".split())
CLAUSE = {"that", "if", "because", "as"}


def mood(low: list[str], tags: list[str], at: int) -> str:
    """Whether the verb there is VB or VBP, from the words and tags of its sentence before it."""
    back = at - 1
    while back >= 0 and (tags[back] in ("RB", "RBR", "RBS", "``") or low[back] in ("all", "both", "each", "please")):
        back -= 1
    inverted = low[at] == "do" and tags[at + 1 : at + 2] == ["PRP"]
    if back < 0:
        return "VBP" if inverted else "VB"  # Do you ...? or an imperative
    word, tag = low[back], tags[back]
    if inverted and tag == "WRB":
        return "VBP"
    if tag in ("TO", "MD", ".") or word in DO or re.search(r"'ll$|'d$|.n't$|^let's$", word):
        return "VB"
    if tag in ("EX", "WDT", "WP"):
        return "VBP"
    pause = tag in ("CC", ",", ":", "-RRB-", "''")
    start = back
    if tag == "PRP":
        if word in ("him", "me", "us", "them", "her", "he", "she", "it"):
            return "VB"  # let him go, suggest he go
        start -= 1
        while start > 0 and tags[start] == "RB":
            start -= 1
    elif pause:  # after a comma or a conjunction: like the last verb, if that settles it
        verbs = ("VB", "VBP", "VBZ", "VBD", "MD", "TO", ".", "WDT", "WP")
        while start >= 0 and tags[start] not in verbs and low[start] not in CLAUSE:
            start -= 1
        if start >= 0 and tags[start] in ("VB", "VBP"):
            return tags[start]
        if start >= 0 and tags[start] == "TO":
            return "VB"
        if start >= 0 and tag == "CC" and tags[start] in ("VBD", "VBZ"):
            return "VBP"
    else:  # a noun phrase: what is before it?
        while start >= 0 and tags[start] in NOMINAL and low[start] not in CLAUSE:
            start -= 1
    if start >= 0 and (low[start] in DO or tags[start] == "MD" or low[start] in CAUSE):
        return "VB"
    subject = range(start + 1, back + 1)
    plural = any(tags[n] in ("NNS", "NNPS", "CC", "PRP", "EX", "WDT") or low[n] in MANY for n in subject)
    return "VBP" if plural or tag == "PRP" or (start >= 0 and tags[start] in ("WDT", "WP")) else "VB"


def settle(words: list[str], tags: list[str]) -> list[str]:
    """The tags with every `VB?` decided, from left to right."""
    low, tags = [word.lower() for word in words], list(tags)
    for at, tag in enumerate(tags):
        if tag == "VB?":
            tags[at] = mood(low, tags, at)
    return tags


# --- the corpora ----------------------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A word as it is written (don't, Atlanta's), its parts as Penn cuts them, the first part's tag and the last's."""

    word: str
    parts: tuple[str, ...]
    tag: str
    last: str


class Sentence(NamedTuple):
    """Tokens, and where they come from."""

    corpus: str
    file: str
    tokens: list[Token]

    @property
    def part(self) -> str:
        """train, dev or test: by the last digit of the file's number."""
        return {"3": "test", "6": "dev"}.get(self.file[-1], "train")


CLITIC = re.compile(r"(.+?)(n't|'(?:s|ll|re|ve|d|m)|(?<=s)')", re.IGNORECASE)


def brown(archive: Path) -> Iterator[Sentence]:
    """The Brown corpus: one token a written word already."""
    with zipfile.ZipFile(archive) as files:
        for name in sorted(files.namelist()):
            if not re.fullmatch(r"brown/c[a-r]\d\d", name):
                continue
            for line in files.read(name).decode("utf-8").splitlines():
                line = re.sub(r"(?<!\S)\$(\d\S*)/nns?\S*", r"$/$ \1/cd", line)  # sums and shares are one noun in Brown
                line = re.sub(r"(?<!\S)([\d.,]*\d)%/nns?\S*", r"\1/cd %/nn", line)
                pairs = [(word, tag) for word, _, tag in (token.rpartition("/") for token in line.split())]
                pairs = [p for n, p in enumerate(pairs) if n == 0 or p[0] not in ";?!" or p[0] != pairs[n - 1][0]]
                words = [word for word, _ in pairs]
                found = []
                for (word, old), tag in zip(pairs, settle(words, penn(pairs)), strict=True):
                    parts = CLITIC.fullmatch(word) if tag not in MARKS.values() else None
                    cut = (parts[1], parts[2]) if parts else (word,)
                    found.append(Token(word, cut, tag, last_part(old) if parts else tag))
                if found:
                    yield Sentence("Brown", name[-4:], found)


BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}


def treebank(archive: Path) -> Iterator[Sentence]:
    """The Treebank sample, clitics joined to the word before them."""
    with zipfile.ZipFile(archive) as files:
        for name in sorted(files.namelist()):
            if not re.fullmatch(r"treebank/combined/wsj_\d+\.mrg", name):
                continue
            for tree in re.split(r"\n(?=\()", files.read(name).decode("utf-8")):
                found: list[Token] = []
                for tag, leaf in re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree):
                    word = BRACKETS.get(leaf, leaf).replace("\\/", "/").replace("\\*", "*")
                    if found and (re.fullmatch(r"n't|'\w+", word, re.IGNORECASE) or tag == "POS"):
                        last = found.pop()
                        found.append(Token(last.word + word, (*last.parts, word), last.tag, tag))
                    elif tag != "-NONE-":
                        found.append(Token(word, (word,), tag, tag))
                if found:
                    yield Sentence("Treebank", name[-12:-4], found)


def corpora(assets: Path) -> list[Sentence]:
    """All sentences, in the order of the files."""
    folder = assets / "nltk_data" / "corpora"
    return [*brown(folder / "brown.zip"), *treebank(folder / "treebank.zip")]


class Gold(NamedTuple):
    """Where a token stands in a string and in its sentence, and the right tag."""

    start: int
    end: int
    tag: str
    sentence: int
    token: int


class Page(NamedTuple):
    """A few sentences as a string, and each token's place in it."""

    sentences: list[Sentence]
    text: str
    gold: list[Gold]


def typeset(sentences: list[Sentence], cut_up: bool = False) -> Page:
    """Written as usual; or `cut_up`: in lower case with spaces around every part, as some data sets come."""
    text, gold, glued = "", [], True
    for line, sentence in enumerate(sentences):
        for at, token in enumerate(sentence.tokens):
            shown = {"``": '"', "''": '"', "`": "'"}.get(token.word, token.word)
            if cut_up:
                shown = " ".join(token.parts).lower()
            if token.word == "." and text.endswith(".") and not cut_up:
                continue  # one dot closes both the abbreviation and the sentence
            closing = token.word in (*",.;:?!)]}%", "''", "'", "...")
            if text and (cut_up or not (glued or closing)):
                text += " "
            start = len(text)
            text += shown
            word = shown.split(" ")[0] if cut_up else shown
            word = word.rstrip(".'") or word  # as mohs.text.text cuts it
            if token.tag:
                gold.append(Gold(start, start + len(word), token.tag, line, at))
            if cut_up and len(token.parts) > 1 and token.last and token.parts[-1] != "'":
                gold.append(Gold(len(text) - len(token.parts[-1]), len(text), token.last, line, at))
            glued = token.word in ("(", "[", "{", "``", "$", "#", "`")
        glued = False
    return Page(sentences, text, gold)


def pages(sentences: Iterable[Sentence], cut_up: bool = False) -> Iterator[Page]:
    """Texts of one, two or three sentences, so that every third sentence or so opens one."""
    held: list[Sentence] = []
    size = 1
    for sentence in sentences:
        if held and (len(held) == size or held[0].file != sentence.file):
            yield typeset(held, cut_up)
            held, size = [], size % 3 + 1
        held.append(sentence)
    yield typeset(held, cut_up)
