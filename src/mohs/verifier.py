"""A second verifier of certificates, which shares no code with the prover: one file, the standard library, the victim.

`python -m mohs.verifier CERTIFICATES --victim module:function` asks the function about every text that a certificate
speaks of, one by one. The function gets a list of texts (tuples for pairs) and gives a row of probabilities for each.
It must be the certificate's victim: fingerprints are not compared here. The exit code is 0 if all certificates hold, 1
if one is broken, 2 if something cannot be read, and 3 if a space has more texts than --most or a certificate does not
say how its space was built (those of older versions; --accept-old lets them pass).
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import itertools
import json
import math
import random
import re
import struct
import sys
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

Function = Callable[[list[Any]], Any]

FIELDS = {
    "format",
    "victim",
    "fingerprint",
    "example",
    "text",
    "label",
    "radius",
    "by",
    "levels",
    "tolerance",
    "choices",
}
FORMATS = {"mohs-certificate-2": FIELDS, "mohs-certificate-3": FIELDS | {"space"}}
SPACE = {"source", "constraints", "stopwords", "change_placeholders", "resources", "fields", "size"}
LEVEL = {"r", "size", "margin", "where", "digest", "ties", "pruned"}
PLAIN, MIXED, CLOSED = "enumeration", "enumeration and bounds", "closed form"
# Of a word's characters: a letter or number, m mark, j joiner before a letter, z joiner of no width.
WORD = re.compile("a[am]*(?:(?:j(?=a)|z)[am]+)*")
DIGEST = re.compile("[0-9a-f]{32}")
ROUNDED = 1e-6  # margins are written with six decimals
LEAST = 1e-6  # smaller margins decide nothing for any victim


class Broken(Exception):
    """The certificate is not true, or says something that cannot be."""


class TooLarge(Exception):
    """The certificate speaks of more texts than may be asked."""


def need(true: Any, reason: str) -> None:
    """Refuse what is not so."""
    if not true:
        raise Broken(reason)


def read(line: str) -> dict[str, Any]:
    """A certificate from its JSON text; nothing may stand there twice, be missing, be unknown or be infinite."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a name stands there twice")
        return dict(pairs)

    def finite(digits: str) -> float:
        need(math.isfinite(float(digits)), f"{digits} is not finite")
        return float(digits)

    try:
        row: dict[str, Any] = json.loads(line, object_pairs_hook=once, parse_float=finite, parse_constant=finite)
        need(
            isinstance(row, dict) and set(row) == FORMATS.get(str(row.get("format"))),
            "its fields are not a certificate's",
        )
        levels, choices = row["levels"], row["choices"]
        lists = [row["text"], levels, choices, *(level["where"] for level in levels)]
        need(all(type(own) is list for own in lists), "a list is something else")
        pairs = [*choices, *(pair for level in levels for pair in level["where"])]
        need(all(type(pair) is list and len(pair) == 2 for pair in pairs), "a position stands without its words")
        need(all(type(words) is list for _, words in choices), "a list is something else")
        numbers = [row["label"], row["radius"], *(place for place, _ in pairs)]
        numbers += [level[name] for level in levels for name in ("r", "size", "ties", "pruned")]
        need(all(type(number) is int and number >= 0 for number in numbers), "a number is not whole, or negative")
        reals = [row["tolerance"], *(level["margin"] for level in levels)]
        need(all(type(number) in (int, float) and 0 <= number <= 1 for number in reals), "a margin is not from 0 to 1")
        for own in (choices, *(level["where"] for level in levels)):
            need(len({place for place, _ in own}) == len(own), "a position stands there twice")
        strings = [row[name] for name in ("victim", "fingerprint", "example", "by")]
        strings += [*row["text"], *(word for _, words in choices for word in words)]
        strings += [word for level in levels for _, word in level["where"]]
        if "space" in row:
            need(type(row["space"]) is dict and set(row["space"]) == SPACE, "its space is not stated")
            need(type(row["space"]["size"]) is int, "a number is not whole, or negative")
            strings.append(row["space"]["source"])
        need(all(type(string) is str and string for string in strings), "a text or word is empty or not a string")
        need(row["by"] in (CLOSED, MIXED, PLAIN), "its kind of proof is unknown")
        need(1 <= len(row["text"]) <= 2, "it does not have one or two texts")
        need(row["tolerance"] >= LEAST and 1 <= row["radius"] <= len(choices), "its tolerance or radius cannot be")
        need([level["r"] for level in levels] == list(range(1, row["radius"] + 1)), "its levels are others")
        need(all(set(level) == LEVEL and level["ties"] == 0 for level in levels), "a level is not certified")
        digests = DIGEST if row["by"] != CLOSED else re.compile("")
        need(all(digests.fullmatch(level["digest"]) for level in levels), "a digest is none")
        for level in levels:
            need(level["pruned"] <= (level["size"] if row["by"] == MIXED else 0), "a bound proved more than there is")
            whole = len(level["where"]) == level["r"] or row["by"] == CLOSED or (level["pruned"] and not level["where"])
            need(whole and len(level["where"]) <= level["r"], "'where' has too few or too many substitutions")
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise Broken(f"it is not a certificate ({type(error).__name__}: {error})") from error
    return row


def pieces(string: str) -> list[str]:
    """A string as gaps and words in turn: gap, word, gap, word ... gap."""
    kinds = {"L": "a", "N": "a", "M": "m"}
    joiners = {**dict.fromkeys("'\u2019-_*@", "j"), "\u200c": "z", "\u200d": "z"}
    signs = "".join(joiners.get(sign) or kinds.get(unicodedata.category(sign)[0], " ") for sign in string)
    ends = [0, *(end for match in WORD.finditer(signs) for end in match.span()), len(string)]
    return [string[start:end] for start, end in itertools.pairwise(ends)]


def margin(function: Function, fields: list[str], label: int) -> float:
    """The label's probability minus that of the best other class, for one text asked alone."""
    try:
        rows = list(function([fields[0] if len(fields) == 1 else tuple(fields)]))
        need(len(rows) == 1, f"the victim gave {len(rows)} rows for one text")
        row = [float(score) for score in rows[0]]
    except Broken:
        raise
    except Exception as error:  # the victim's code may raise anything
        raise Broken(f"the victim raised {type(error).__name__}: {error}") from error
    need(all(map(math.isfinite, row)) and label < len(row) > 1, f"the victim's answer is {row}")
    return row[label] - max(score for number, score in enumerate(row) if number != label)


def mixed(several: Iterable[Any]) -> list[Any]:
    """In random order: a victim with a memory of its own should not hear the texts as the prover put them."""
    found = list(several)
    random.shuffle(found)
    return found


def verify(row: dict[str, Any], function: Function, most: int) -> tuple[int, bool]:
    """Ask about every text: how many there are, and whether the digests agree. Raises Broken or TooLarge.

    The texts with most substitutions are asked first, and the original last.
    """
    split, radius, label = [pieces(string) for string in row["text"]], row["radius"], row["label"]
    words = [(number, at) for number, parts in enumerate(split) for at in range(1, len(parts), 2)]
    choices = sorted(row["choices"])
    for place, own in row["choices"]:
        need(place < len(words), f"there is no word {place}")
        number, at = words[place]
        need(own and len({*own, split[number][at]}) == len(own) + 1, f"position {place} has a word twice, or none")
    sizes = [1]  # texts with exactly 0, 1 ... substitutions
    for _, own in choices:
        sizes = [a + b * len(own) for a, b in zip([*sizes, 0], [0, *sizes], strict=True)]
    total = sum(sizes[: radius + 1])
    if "space" in row:
        need(row["space"]["size"] == total, f"its space has {total:,} texts")
    if total > most:
        raise TooLarge(f"it speaks of {float(total):.3g} texts")

    def ask(edits: Iterable[tuple[int, str]]) -> float:
        fields = [list(parts) for parts in split]
        for place, word in edits:
            number, at = words[place]
            fields[number][at] = word
        found = margin(function, ["".join(parts) for parts in fields], label)
        need(found > row["tolerance"], f"the label does not hold: {dict(edits)} has a margin of {found:.6f}")
        return found

    least, digests = [2.0] * (radius + 1), [0] * (radius + 1)
    for r in range(radius, 0, -1):
        for chosen in mixed(itertools.combinations(range(len(row["choices"])), r)):
            options = [[(row["choices"][at][0], word) for word in row["choices"][at][1]] for at in chosen]
            asked = {edits: ask(edits) for edits in mixed(itertools.product(*options))}
            found = [asked[edits] for edits in itertools.product(*options)]
            least[r] = min(least[r], *found)
            own = hashlib.blake2b(repr((chosen, (-1,) * len(chosen))).encode(), digest_size=16)
            own.update(b"".join(struct.pack("<i", round(one * 10**6)) for one in found))
            digests[r] += int.from_bytes(own.digest(), "big")
    before, same = ask([]), True
    for level in row["levels"]:
        same = same and f"{digests[level['r']] % 2**128:032x}" == level["digest"]
        before = min(before, least[level["r"]])
        smallest = before if row["by"] == CLOSED else least[level["r"]]
        if not (row["by"] == CLOSED and "space" not in row):  # it counted the texts asked, and could say 1 for none
            need(level["size"] == sizes[level["r"]], f"level {level['r']} has {sizes[level['r']]:,} texts")
            off = level["margin"] - smallest
            high, low = row["tolerance"] + ROUNDED, -row["tolerance"] - ROUNDED
            need(
                off <= high and (off >= low or row["by"] == MIXED), f"level {level['r']} has the margin {smallest:.6f}"
            )
        allowed, where = dict(row["choices"]), dict(level["where"])
        need(all(word in allowed.get(place, ()) for place, word in where.items()), "'where' is not in its space")
        if where:
            off = abs(ask(where.items()) - level["margin"])
            need(off <= row["tolerance"] + ROUNDED, f"{where} has another margin than {level['margin']}")
    return total, same or row["by"] != PLAIN


def loaded(name: str) -> Function:
    """The function of `module:function`; modules in the current folder are found too."""
    sys.path.insert(0, "")
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]


def main(arguments: list[str] | None = None) -> int:
    """Check the certificates of a file; the exit code."""
    parser = argparse.ArgumentParser("mohs.verifier", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("certificates", help="a file with one certificate a line, or one alone (.json)")
    parser.add_argument("--victim", required=True, metavar="MODULE:FUNCTION")
    parser.add_argument("--accept-old", action="store_true", help="pass certificates that do not state their space")
    parser.add_argument("--most", type=int, default=1_000_000, help="texts of a certificate that are still asked")
    asked = parser.parse_args(arguments)
    try:
        with open(asked.certificates, encoding="utf-8", newline="\n") as file:
            lines = [line for line in file if line.strip()] if asked.certificates.endswith("l") else [file.read()]
        function = loaded(asked.victim)
    except (OSError, ValueError, ImportError, AttributeError) as error:
        print(f"Not checked: {error}.", file=sys.stderr)
        return 2
    ends = []
    for number, line in enumerate(lines, 1):
        try:
            row = read(line)
            texts, same = verify(row, function, asked.most)
            unstated = "space" not in row and not asked.accept_old
            but = ["its digest is another one"] * (not same) + ["does not say how its space was built"] * unstated
            ends.append(3 if unstated else 0)
            print(f"{number}: holds in all {texts:,} texts{', but ' * bool(but)}{' and '.join(but)}.")
        except (Broken, TooLarge) as error:
            ends.append(1 if isinstance(error, Broken) else 3)
            print(f"{number}: {'broken' if ends[-1] == 1 else 'not checked'}: {error}.")
    return 1 if 1 in ends or not ends else max(ends)


if __name__ == "__main__":
    sys.exit(main())
