"""Names of attacks."""

from __future__ import annotations

import os
import subprocess
import sys

from mohs.attacks import TextFooler
from mohs.attacks.catalogue import entries, name_of
from mohs.tasks.described import describe


def test_an_own_setting_is_part_of_the_name() -> None:
    method = TextFooler(constraints=(), similarity=None)
    assert name_of(method) == "TextFooler(constraints=(), similarity=None)"
    assert name_of(TextFooler()) == "textfooler:paper"


def test_names_are_the_same_in_every_process() -> None:
    """Records are found again by the attack's name, so it may not depend on the order of a set."""
    program = "from mohs.attacks import RandomWords as R; from mohs.attacks.catalogue import *; "
    program += "from mohs.tasks.described import describe; "
    program += "print(name_of(R(walks=9, stopwords=frozenset('abcdefgh'))), describe(R()))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


def test_word_sets_are_told_apart() -> None:
    assert describe(frozenset("ab")) != describe(frozenset("ac"))


def test_a_second_source_says_what_it_is_for() -> None:
    papers = {entry.name: entry.paper for entry in entries()}
    assert papers["textfooler"] == "Jin et al. 2020; settings of Hauser et al. 2021, 3.3.3"
    assert all(not part.startswith("Hauser") for paper in papers.values() for part in paper.split("; "))


def test_the_attacks_of_advglue_say_for_which_tasks_they_keep_the_label() -> None:
    """Wang et al. 2021, 3.2: all go with all of its tasks, but distractions not with paraphrases."""
    said = {entry.name: entry.keeps_label_of for entry in entries()}
    every = ("nli", "paraphrase", "qnli", "sentiment")
    for name in ("comp-attack", "scpn", "t3", "adv-fever", "paraphrase"):
        assert said[name] == every, name
    assert said["distraction"] == ("nli", "qnli", "sentiment")
