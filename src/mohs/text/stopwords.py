"""Stopwords: a list compiled for this project, NLTK's list, and the user's own lists."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mohs.errors import BadInput
from mohs.text.text import split_words

ENGLISH: frozenset[str] = frozenset(
    """
a an the this that these those some any each every either neither both all few many much more most several
such no none nor not never ever only own same so than too very just i me my mine myself we us our ours
ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them
their theirs themselves who whom whose which what whoever whatever whichever someone somebody something anyone
anybody anything everyone everybody everything nobody nothing one ones am is are was were be been being do
does did doing done have has had having can could may might must shall should will would ought need dare isn't
aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't mayn't mightn't mustn't
shan't shouldn't won't wouldn't needn't i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's
she'd she'll it's it'd it'll we're we've we'd we'll they're they've they'd they'll that's that'd that'll
there's there'd here's who's what's where's when's why's how's let's n't 's 'm 're 've 'd 'll s t m re ve d ll
don isn aren wasn weren doesn didn haven hasn hadn couldn shouldn won wouldn and or but if because as until
while whether though although unless since once whereas lest of at by for with about against between into
through during before after above below to from up down in out on off over under again further then upon
within without along across behind beyond among amongst around near per toward towards via despite except onto
beside besides beneath underneath throughout here there when where why how now also still yet already else
hence thus therefore however moreover otherwise meanwhile indeed instead rather quite almost perhaps maybe
often always sometimes thence whence whenever wherever wherein whereby thereby therein hereby anyway anyhow
somehow somewhere anywhere everywhere nowhere first second last next another other others
""".split()
)

# The English list of the NLTK stopwords corpus (179 words), which many released attacks use; see NOTICE.
NLTK: frozenset[str] = frozenset(
    """
i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him his
himself she she's her hers herself it it's its itself they them their theirs themselves what which who whom
this that that'll these those am is are was were be been being have has had having do does did doing a an the
and but if or because as until while of at by for with about against between into through during before after
above below to from up down in out on off over under again further then once here there when where why how all
any both each few more most other some such no nor not only own same so than too very s t can will just don
don't should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't doesn doesn't hadn
hadn't hasn hasn't haven haven't isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't shouldn
shouldn't wasn wasn't weren weren't won won't wouldn wouldn't
""".split()
)

_NAMED = {"none": frozenset[str](), "english": ENGLISH, "nltk": NLTK}

# Hauser et al. 2021 leave alone every word that is a stopword of any of the attacks.
EITHER: frozenset[str] = ENGLISH | NLTK


def read_stopwords(given: str | Path | Iterable[str]) -> frozenset[str]:
    """A list by name (`none`, `english`, `nltk`), a file of words separated by white space, or the words themselves."""
    if isinstance(given, str | Path) and str(given) in _NAMED:
        return _NAMED[str(given)]
    return read_words(given, "stopword list", "name a text file, none, english or nltk")


def read_kept(given: str | Path | Iterable[str]) -> frozenset[str]:
    """Words to keep: a file of words separated by white space, or the words themselves; signs around them do not count.

    "@Acme" and "Acme," both name the word "acme".
    """
    remedy = "give a text file with one word per line"
    read = read_words(given, "list of words to keep", remedy)
    words = frozenset(word for entry in read for word in split_words(entry)[0])
    if not words:
        which = f" {given}" if isinstance(given, str | Path) else ""
        raise BadInput(f"The list of words to keep{which} holds no word; {remedy}, or leave it out.")
    return words


def read_words(given: str | Path | Iterable[str], called: str, remedy: str) -> frozenset[str]:
    """A file of words separated by white space, or the words themselves. `called` and `remedy` are for messages."""
    if isinstance(given, str | Path):
        try:
            given = Path(given).expanduser().read_text("utf-8-sig").split()
        except UnicodeDecodeError as error:
            raise BadInput(f"The {called} {given} is not UTF-8 (byte {error.start}); convert it to UTF-8.") from error
        except OSError as error:
            raise BadInput(f"The {called} {given} cannot be read ({error.strerror or error}); {remedy}.") from error
    return frozenset(word.lower().replace("\u2019", "'") for word in given)
