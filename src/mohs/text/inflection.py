"""English inflection by rule: the inflected forms of a base form, and the possible base forms of a word.

Classes are Penn Treebank tags. Rules cannot tell visited from visitted. So they guess, and a vocabulary decides which
guess is a word. Limits: only spelling counts, so a word is taken for every form it is spelled like. Modal verbs and
pronouns are not covered. "more" and "most" do not form comparatives.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

INFLECTED = {
    "noun": ("NNS", "NNPS"),
    "verb": ("VBZ", "VBG", "VBD", "VBN"),
    "adj": ("JJR", "JJS"),
    "adv": ("RBR", "RBS"),
}

# base/past/participle; | separates alternatives; a single form is both past and participle
_VERBS = """
arise/arose/arisen awake/awoke/awoken bear/bore/borne be/was|were/been beat/beat/beaten become/became/become
beget/begot/begotten begin/began/begun bend/bent bet/bet bid/bid|bade/bid|bidden bind/bound bite/bit/bitten bleed/bled
blow/blew/blown break/broke/broken breed/bred bring/brought broadcast/broadcast build/built burn/burned|burnt
burst/burst buy/bought cast/cast catch/caught choose/chose/chosen cling/clung come/came/come cost/cost creep/crept
cut/cut deal/dealt dig/dug dive/dived|dove/dived do/did/done draw/drew/drawn dream/dreamed|dreamt drink/drank/drunk
drive/drove/driven dwell/dwelt|dwelled eat/ate/eaten fall/fell/fallen feed/fed feel/felt fight/fought find/found
flee/fled fling/flung fly/flew/flown forbid/forbade/forbidden forecast/forecast foresee/foresaw/foreseen
forget/forgot/forgotten forgive/forgave/forgiven forsake/forsook/forsaken freeze/froze/frozen get/got/gotten|got
give/gave/given go/went/gone grind/ground grow/grew/grown hang/hung|hanged have/had hear/heard hide/hid/hidden hit/hit
hold/held hurt/hurt keep/kept kneel/knelt|kneeled know/knew/known lay/laid lead/led lean/leaned|leant
leap/leaped|leapt learn/learned|learnt leave/left lend/lent let/let lie/lay|lied/lain|lied light/lit|lighted lose/lost
make/made mean/meant meet/met mislead/misled mistake/mistook/mistaken misunderstand/misunderstood mow/mowed/mown|mowed
outdo/outdid/outdone overcome/overcame/overcome overdo/overdid/overdone overhear/overheard oversee/oversaw/overseen
overtake/overtook/overtaken overthrow/overthrew/overthrown partake/partook/partaken pay/paid plead/pleaded|pled
prove/proved/proven|proved put/put quit/quit read/read rebuild/rebuilt remake/remade repay/repaid rethink/rethought
rewrite/rewrote/rewritten rid/rid ride/rode/ridden ring/rang/rung rise/rose/risen run/ran/run saw/sawed/sawn|sawed
say/said see/saw/seen seek/sought sell/sold send/sent set/set sew/sewed/sewn|sewed shake/shook/shaken
shear/sheared/shorn|sheared shed/shed shine/shone|shined shoot/shot show/showed/shown|showed shrink/shrank/shrunk
shut/shut sing/sang/sung sink/sank/sunk sit/sat slay/slew/slain sleep/slept slide/slid sling/slung slit/slit
smell/smelled|smelt sow/sowed/sown|sowed speak/spoke/spoken speed/sped|speeded spell/spelled|spelt spend/spent
spill/spilled|spilt spin/spun spit/spat|spit split/split spoil/spoiled|spoilt spread/spread spring/sprang/sprung
stand/stood steal/stole/stolen stick/stuck sting/stung stink/stank/stunk stride/strode/stridden
strike/struck/struck|stricken string/strung strive/strove|strived/striven|strived swear/swore/sworn
sweat/sweated|sweat sweep/swept swell/swelled/swollen|swelled swim/swam/swum swing/swung take/took/taken teach/taught
tear/tore/torn tell/told think/thought throw/threw/thrown thrust/thrust tread/trod/trodden undergo/underwent/undergone
understand/understood undertake/undertook/undertaken undo/undid/undone unwind/unwound uphold/upheld upset/upset
wake/woke/woken wear/wore/worn weave/wove/woven weep/wept wet/wet|wetted win/won wind/wound
withdraw/withdrew/withdrawn withhold/withheld withstand/withstood wring/wrung write/wrote/written
"""
_PLURALS = """
aircraft/aircraft automaton/automata bison/bison calf/calves child/children cod/cod criterion/criteria deer/deer
die/dice dwarf/dwarves|dwarfs elf/elves fish/fish|fishes foot/feet goose/geese half/halves headquarters/headquarters
hoof/hooves|hoofs knife/knives leaf/leaves life/lives loaf/loaves louse/lice means/means medium/media|mediums mouse/mice
moose/moose offspring/offspring ox/oxen passerby/passersby penny/pennies|pence person/people|persons
phenomenon/phenomena salmon/salmon scarf/scarves|scarfs self/selves series/series sheep/sheep shelf/shelves
shrimp/shrimp|shrimps spacecraft/spacecraft species/species swine/swine thief/thieves tooth/teeth trout/trout
wharf/wharves wife/wives wolf/wolves
"""
_COMPARED = """
bad/worse/worst badly/worse/worst far/further|farther/furthest|farthest good/better/best ill/worse/worst
little/less/least many/more/most much/more/most well/better/best
"""
# Plurals of borrowed words, tried after the regular plural: (ending of the base form, ending of the plural).
_BORROWED = (("is", "es"), ("us", "i"), ("um", "a"), ("a", "ae"), ("ex", "ices"), ("ix", "ices"), ("eau", "eaux"))
# Endings to try for a base form after letters are cut off the inflected form.
_ENDINGS = ("", "e", "y", "ie", "is", "us", "um", "a", "ex", "ix", "man")


def forms(base: str, tag: str, exists: Callable[[str], bool]) -> list[str]:
    """The existing forms of a base form in a class, likeliest first. In a class without endings, the base itself.

    Returns all existing forms of an irregular word, but only the first existing guess for a regular one.
    """
    listed = _listed(tag).get(base)
    if listed is not None:
        return [form for form in listed if exists(form)]
    return [form for form in _guesses(base, tag) if exists(form)][:1]


def bases(word: str, tag: str, is_base: Callable[[str], bool], exists: Callable[[str], bool]) -> list[str]:
    """The possible base forms of a word in a class, irregular ones first.

    An existing word rules out less likely guesses: hoping is a form of hop only if hopping does not exist.
    """
    stems = [word[: len(word) - cut] + ending for cut in range(min(5, len(word))) for ending in _ENDINGS]
    candidates = [base for base in dict.fromkeys([*_listed_bases(tag).get(word, ()), *stems]) if is_base(base)]
    return [base for base in candidates if word in forms(base, tag, lambda form: form == word or exists(form))]


def _listed(tag: str) -> dict[str, tuple[str, ...]]:
    match tag:
        case "NNS" | "NNPS":
            return _column(_PLURALS, 0)
        case "VBZ":
            return {"be": ("is",), "have": ("has",)}
        case "VBD":
            return _column(_VERBS, 0)
        case "VBN":
            return _column(_VERBS, -1)
        case "JJR" | "RBR":
            return _column(_COMPARED, 0)
        case "JJS" | "RBS":
            return _column(_COMPARED, -1)
        case _:
            return {}


@cache
def _column(prose: str, place: int) -> dict[str, tuple[str, ...]]:
    entries = (entry.split("/") for entry in prose.split())
    return {base: tuple(rest[place].split("|")) for base, *rest in entries}


@cache
def _listed_bases(tag: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for base, listed in _listed(tag).items():
        for form in listed:
            found.setdefault(form, []).append(base)
    return found


def _guesses(base: str, tag: str) -> tuple[str, ...]:
    match tag:
        case "NNS" | "NNPS":
            return _plurals(base)
        case "VBZ":
            return (_with_s(base),)
        case "VBG":
            return _with_ing(base)
        case "VBD" | "VBN":
            return _with(base, "ed")
        case "JJR" | "RBR":
            return _with(base, "er")
        case "JJS" | "RBS":
            return _with(base, "est")
        case _:
            return (base,)


def _plurals(base: str) -> tuple[str, ...]:
    found = [base[:-3] + "men"] if base.endswith("man") else []  # Germen is not a word, so Germans is tried next
    found.append(_with_s(base))
    if re.search(r"[^aeiou]o$", base):
        found.append(base + "s")
    found += [base.removesuffix(old) + new for old, new in _BORROWED if base.endswith(old)]
    return tuple(found)


def _with_s(base: str) -> str:
    if re.search(r"(s|x|z|ch|sh|[^aeiou]o)$", base):
        return base + "es"
    return base[:-1] + "ies" if _hard_y(base) else base + "s"


def _with_ing(base: str) -> tuple[str, ...]:
    if base.endswith("ie"):
        return (base[:-2] + "ying",)
    if re.search(r"[^eoy]e$", base) and len(base) > 2 and base not in ("singe", "swinge", "tinge"):
        return (base[:-1] + "ing",)
    return tuple(stem + "ing" for stem in _stems(base))


def _with(base: str, ending: str) -> tuple[str, ...]:
    """A base form with an ending that begins with e: ed, er, est."""
    if base.endswith("e"):
        return (base + ending[1:],)
    if _hard_y(base):
        return (base[:-1] + "i" + ending,)
    return tuple(stem + ending for stem in _stems(base))


def _stems(base: str) -> tuple[str, ...]:
    """The stems before a vowel: stopp for stop; visit and visitt for visit, as spelling does not show the stress."""
    if base.endswith("c"):
        return (base + "k", base)
    if not re.search(r"(?:^|[^aeiou]|qu)[aeiou][^aeiouwxy]$", base):
        return (base,)
    doubled = base + base[-1]
    short = len(re.findall(r"[aeiouy]+", base)) == 1
    return (doubled, base) if short else (base, doubled)


def _hard_y(base: str) -> bool:
    return bool(re.search(r"[^aeiou]y$", base))
