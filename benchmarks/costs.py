"""What a run costs, as a function of its size: no measuring here, only the sums. `benchmarks/scale.py` has the numbers.

All sums are for one attack on texts of one length, spread over parts that each have one machine.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """What one of each thing costs. Seconds are those of one core."""

    per_word: float  # questions for each word of a text, whatever its candidates
    per_candidate: float  # questions for each candidate of a word
    host: float  # seconds of a question outside the victim's network
    load: float  # seconds to start a process and load what it needs
    read: float  # seconds to read an example
    survey: float  # seconds to read an example, check and hash it
    survey_bytes: float  # memory for each example while they are surveyed
    record: float  # seconds to save a record
    record_bytes: float  # of the journal
    opened: float  # seconds to check a record when a journal is opened
    merged: float  # seconds to join a record, checks included
    reported: float  # seconds of a record in the page
    reported_bytes: float  # memory for each record while the page is made

    def questions(self, words: float, candidates: float) -> float:
        """Questions an example, if every word is tried."""
        return words * (self.per_word + self.per_candidate * candidates)


@dataclass(frozen=True)
class Network:
    """An encoder such as BERT: layers and width."""

    layers: int
    width: int

    def flops(self, tokens: int) -> float:
        """Of one forward pass: two for each weight and token, and the attention."""
        weights = 12 * self.width**2  # four square matrices, and two that are four times as wide
        return self.layers * (2 * weights * tokens + 4 * self.width * tokens**2)


@dataclass(frozen=True)
class Machine:
    """Forward passes a second that a search reaches on one machine, and how fast its Python is."""

    name: str
    forwards: float
    workers: int = 1
    slower: float = 1.0  # its Python takes so many times as long as where the costs were measured


@dataclass(frozen=True)
class Need:
    """What a run needs. Seconds are wall time of one part's machine; all parts run side by side."""

    questions: float  # of all examples
    searching: float
    surveying: float  # reading, checking and hashing all examples, and the load before
    journal: float  # bytes of one part
    survey_memory: float  # bytes of one machine
    merging: float
    page: float
    page_memory: float
    whole: float  # bytes of the joined journal
    parts: int

    @property
    def wall(self) -> float:
        """Until the last part has ended, if all are equal."""
        return self.surveying + self.searching

    @property
    def machine_hours(self) -> float:
        """Of all machines together, without the merge."""
        return self.parts * self.wall / 3600

    @property
    def wasted(self) -> float:
        """The share of the machine hours that is not the search."""
        return self.surveying / self.wall


def need(costs: Costs, machine: Machine, examples: float, questions: float, parts: int) -> Need:
    """What so many examples of so many questions each need in so many parts.

    Each part reads all examples twice: to survey them, and to find its own. With workers, each of them does the second
    by itself, at the same time as the others, after it has loaded its models.
    """
    reading = examples * (costs.survey + costs.read)
    loading = costs.load * (1 if machine.workers == 1 else 2)
    return Need(
        questions=examples * questions,
        searching=examples / parts * questions / machine.forwards,
        surveying=machine.slower * (reading + loading),
        journal=examples / parts * costs.record_bytes,
        survey_memory=examples * costs.survey_bytes,
        merging=examples * costs.merged,
        page=examples * (costs.opened + costs.reported),
        page_memory=examples * costs.reported_bytes,
        whole=examples * costs.record_bytes,
        parts=parts,
    )


def best_parts(costs: Costs, machine: Machine, examples: float, questions: float) -> float:
    """From how many parts on the surveys take longer than the searches: more machines then hardly help."""
    whole = need(costs, machine, examples, questions, 1)
    return whole.searching / whole.surveying
