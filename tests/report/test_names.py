"""Names are broken between their parts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mohs.report.listing import short_names
from mohs.report.names import breakable, folded, longest_piece, pieces, shortened, unbroken
from tests.report.attack.test_table import printed, summaries

LONG = "textfooler:paper+neighbours:k=8,min_cosine=0.7+words-changed<=3+stopwords"


@given(st.text("ab:+,=-_/ <.", max_size=40), st.integers(1, 30))
def test_nothing_is_lost_and_lines_are_as_short_as_pieces_allow(name: str, width: int) -> None:
    lines = folded(name, width).split("\n")
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert all(len(line) <= max(width, longest_piece(name)) for line in lines)
    assert "".join(pieces(name)) == name
    assert re.sub("<wbr>|&lt;|<", "", str(breakable(name))) == name.replace("<", "")


def test_a_long_name() -> None:
    assert folded(LONG, 28).split("\n") == [
        "textfooler:paper+neighbours:",
        "k=8,min_cosine=0.7+words-",
        "changed<=3+stopwords",
    ]
    assert breakable("a<b:c") == "a&lt;b:<wbr>c"
    assert shortened(LONG, 48) == "textfooler:paper+neighbours:k=8,min_cosine=0.7+…"
    assert shortened("x" * 60, 10) == "x" * 9 + "…"
    assert list(short_names([LONG, f"{LONG}+keep"]).values())[1] == f"{shortened(LONG, 48)} (2)"


def test_the_terminal_breaks_no_word() -> None:
    _, shown = printed(summaries(LONG, f"{LONG}+keep", **{"sentence similarity (window=15,angular=no)": 1.0}), 70)
    words = set(re.findall(r"[a-z]{3,}", shown))
    asked = set(re.findall(r"[a-z]{3,}", f"{LONG}+keep sentence similarity (window=15,angular=no)")) - {"paper"}
    assert asked <= words
    assert not {word for word in words if any(word != whole and word in whole for whole in asked)} - {"words"}


def test_intervals_stay_on_a_line() -> None:
    assert unbroken("5.2% (3 of 57) [3.0, 12.1]") == "5.2% (3 of 57) [3.0,\N{NO-BREAK SPACE}12.1]"
