"""`mohs augment`: writes a data file with more texts, drawn from a space or taken from an attack run."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, TYPE_CHECKING, Any

from mohs.assets.writing import opened_for_writing, refuse_link
from mohs.errors import BadInput, MohsError
from mohs.runs.drawing import Drawing
from mohs.tasks.option import check_numbers, model, models_of, option, several
from mohs.tasks.reading import Reading, comma

if TYPE_CHECKING:
    from mohs.space import Constraint, Source
    from mohs.text import Example, Text
    from mohs.text.dataset import Dataset

Told = Callable[[Any, int, int], None]
Row = dict[str, Any]

_CHUNK = 256  # rows in memory at once
_ORIGIN, _FROM = "origin", "from"  # the columns that say where a row comes from


@dataclass(frozen=True)
class Augmented:
    """What was written."""

    out: Path
    rows: int
    originals: int
    new: int
    without: int  # copies that could not be made: nothing may change, or no draw passed the constraints
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "out": str(self.out), "notes": list(self.notes)}


@dataclass(frozen=True, kw_only=True)
class AugmentSettings:
    """Write a larger data file: each text, and copies of it with other words.

    A copy is drawn uniformly from all texts of the space that differ from the original in at least one word and in at
    most --edits words, or a --rate of the words that may change. --run adds the adversarial texts of finished attacks
    instead; without --data, to the originals of the run. Labels are kept. The columns origin and from say how a row
    was made and from which row. The file appears when it is complete. Give it to `mohs train --data`.

    Examples:
      mohs augment --data train.jsonl --out more.jsonl
      mohs augment --data train.csv --text-field review --source wordnet --rate 0.2 --copies 3 --out more.csv
      mohs augment --data train.jsonl --constraint "similarity>=0.9" --edits 2 --only-new --out new.jsonl
      mohs augment --run mohs-runs/RUN --data train.jsonl --out more.jsonl
    """

    out: Path | None = option("The file to write: .jsonl or .csv.", metavar="FILE")
    data: str | None = option(
        "The data: pocket:train (default without --run), hf:NAME[:CONFIG][:SPLIT], or a file.", metavar="D"
    )
    run: Path | None = option("Add the adversarial texts of this run of `mohs attack`.", metavar="RUN")
    source: str | Source | None = option(
        "Source of the substitutes (see `mohs spaces`), or FILE.py:CLASS; by default neighbours.", metavar="S"
    )
    constraints: Sequence[str | Constraint] = several(
        "A constraint (see `mohs spaces`); repeat for several.", "--constraint", "M>=T"
    )
    edits: int | None = option("The most words that change in a copy.", least=1, metavar="R")
    rate: float | None = option(
        "The same as a share of the words that may change, at least one; default 0.1.", metavar="SHARE"
    )
    copies: int | None = option("Copies of each text; default 1.", least=1, metavar="N")
    only_new: bool = option("Leave out the originals.", default=False)
    seed: int = option("Random seed.", default=0)
    stopwords: str | None = option(
        "Words that never change: a file, none, english or nltk; by default the last two together.", metavar="FILE"
    )
    labels: str | Sequence[str] = option(
        "Class names in the order of the numbers; then labels are written as names.",
        default=(),
        metavar="NAMES",
        read=comma,
    )
    change: Sequence[str] = option(
        "For text pairs: the columns that may change; by default the last.", default=(), metavar="NAMES", read=comma
    )
    device: str = option("Device for the models: auto, cpu, cuda or cuda:N.", default="auto")
    encoder: Any = model("encoder")
    token_encoder: Any = model("token_encoder")
    masked_lm: Any = model("masked_lm")
    lm: Any = model("lm")
    tagger: Any = model("tagger")
    grammar: Any = model("grammar")
    judge: Any = model("judge")
    vectors: Any = model("vectors")
    wordnet: Any = model("wordnet")
    sememes: Any = model("sememes")

    def check(self) -> Path:
        """The file to write; refuses options that contradict each other."""
        check_numbers(self)
        if self.out is None:
            raise BadInput("No file to write is named; give one with --out, such as --out more.jsonl.")
        if self.out.suffix.lower() not in (".jsonl", ".csv"):
            raise BadInput(f"--out {self.out} ends neither in .jsonl nor in .csv; use one of the two.")
        if self.data is not None and Path(self.data).exists() and self.out.exists() and self.out.samefile(self.data):
            raise BadInput(f"--out {self.out} is the data itself; name another file.")
        if self.edits is not None and self.rate is not None:
            raise BadInput("--edits and --rate both say how much changes; give one of them.")
        if self.rate is not None and not 0 < self.rate <= 1:
            raise BadInput(f"--rate is {self.rate}; it must be a share above 0 and at most 1, such as 0.1.")
        told: dict[str, Any] = {"--source": self.source, "--constraint": self.constraints, "--edits": self.edits}
        told |= {"--rate": self.rate, "--copies": self.copies, "--stopwords": self.stopwords}
        for flag, value in told.items():
            if self.run is not None and value:
                raise BadInput(f"{flag} is about drawing from a space, but --run takes texts of a run; leave one out.")
        return self.out

    def carry_out(self, reading: Reading, progress: Told | None = None) -> Augmented:
        """Write the file."""
        out = self.check()
        data = None if self.run is not None and self.data is None else self._dataset(reading)
        tell = progress or (lambda record, finished, total: None)
        counts = {"originals": 0, "new": 0, "without": 0}
        rows = self._drawn(data, tell, counts) if self.run is None and data else self._of_run(data, tell, counts)
        written = _write(out, _counted(rows, counts))
        notes = tuple(data.notes()) if data else ()
        return Augmented(out, written, counts["originals"], counts["new"], counts["without"], notes)

    def _dataset(self, reading: Reading) -> Dataset:
        labels = comma(self.labels)
        return reading.dataset(self.data or "pocket:train", labels=labels, change=tuple(self.change))

    def _row(self, data: Dataset | None, example: Example, text: Text, name: str, origin: str) -> Row:
        labels = comma(self.labels)
        columns = (data.id_field, data.label_field) if data else ("id", "label")
        row: Row = {columns[0]: name, **dict(zip(example.names, text.fields, strict=True))}
        row[columns[1]] = labels[example.label] if labels else example.label
        for column, value in ((_ORIGIN, origin), (_FROM, example.id)):
            if column in row:
                raise BadInput(f"The data has a column {column!r}, which says where a row comes from; rename it.")
            row[column] = value
        return row

    def _drawn(self, data: Dataset, tell: Told, counts: dict[str, int]) -> Iterator[Row]:
        """Originals and copies, a chunk at a time, in the order of the data."""
        from mohs import engine
        from mohs.engine import Service
        from mohs.space import Services

        drawing = self._drawing()
        total = sum(1 for _ in data)  # also finds a bad row before any work
        parts = self._parts(drawing)
        services = [part for part in parts.values() if isinstance(part, Service)]
        tell(None, 0, total)
        stream = enumerate(data)
        while chunk := list(islice(stream, _CHUNK)):
            searches = (
                (number, drawing(example, Services(parts, Random(f"{self.seed}/augment/{number}"))))
                for number, example in chunk
            )
            found: dict[int, list[Text]] = {}
            for ended in engine.run(searches, services):
                if ended.error is not None or ended.result is None:
                    raise ended.error or AssertionError("a search without a result")
                found[ended.key] = ended.result
            for number, example in chunk:
                if not self.only_new:
                    yield self._row(data, example, example.text, example.id, "original")
                for copy, text in enumerate(found[number], 1):
                    yield self._row(data, example, text, f"{example.id}+{copy}", drawing.name)
                counts["without"] += drawing.copies - len(found[number])
            tell(None, chunk[-1][0] + 1, total)

    def _drawing(self) -> Drawing:
        from mohs.space import parse_constraint, parse_source
        from mohs.tasks.described import written
        from mohs.text.stopwords import EITHER, read_stopwords

        source = "neighbours" if self.source is None else self.source
        return Drawing(
            name=str(written(source)),
            source=parse_source(source) if isinstance(source, str) else source,
            constraints=tuple(parse_constraint(c) if isinstance(c, str) else c for c in self.constraints),
            stopwords=EITHER if self.stopwords is None else read_stopwords(self.stopwords),
            edits=self.edits,
            rate=0.1 if self.rate is None else self.rate,
            copies=self.copies or 1,
        )

    def _parts(self, drawing: Drawing) -> Mapping[str, Any]:
        from mohs.tasks.services import load_services

        kinds = [*getattr(drawing.source, "needs", ()), *(k for c in drawing.constraints for k in c.measure.needs)]
        return load_services(dict.fromkeys(kinds), models_of(self), device=self.device)

    def _of_run(self, data: Dataset | None, tell: Told, counts: dict[str, int]) -> Iterator[Row]:
        """The data, or the originals of a run, and then its adversarial texts."""
        from mohs.attacks.goal import keeps_label
        from mohs.records import Outcome
        from mohs.runs.run import Run
        from mohs.text import Example, Text

        assert self.run is not None
        with Run.open(self.run) as run:
            if run.command != "attack":
                raise BadInput(f"{self.run} is a run of `mohs {run.command}`; --run takes a run of `mohs attack`.")
            total, seen = len(run), 0
            tell(None, 0, total)
            first = str(next(iter(run.manifest["tasks"])))
            if data is not None and not self.only_new:
                for example in data:
                    yield self._row(data, example, example.text, example.id, "original")
            if data is None and not self.only_new:
                for record in run.records():
                    if record.attack == first:
                        example = Example(record.example_id, Text(*record.original), record.label, record.names)
                        yield self._row(data, example, example.text, example.id, "original")
            names: tuple[str, ...] = next(iter(data)).names if data is not None else ()
            for record in run.records():
                seen += 1
                tell(None, seen, total)
                if (
                    record.outcome is not Outcome.SUCCESS
                    or not record.perturbed
                    or keeps_label(run.goal_of(record.attack))
                ):
                    continue
                if names and len(names) != len(record.names):
                    raise BadInput(
                        f"{self.run} has texts with the fields {', '.join(record.names)}, but --data has "
                        f"{', '.join(names)}; give the data that was attacked."
                    )
                example = Example(record.example_id, Text(*record.original), record.label, names or record.names)
                name = f"{record.example_id}+{record.attack}"
                yield self._row(data, example, Text(*record.perturbed), name, record.attack)


def augment(
    data: str | None = None, out: str | Path | None = None, *, progress: Told | None = None, **options: Any
) -> Augmented:
    """Write a larger data file: each text, and copies of it drawn from a space or taken from a run.

    The other arguments are the fields of AugmentSettings and of mohs.tasks.reading.Reading.

    >>> from tempfile import mkdtemp
    >>> done = augment("pocket", Path(mkdtemp()) / "more.jsonl", n=10, copies=2)
    >>> done.originals
    10
    """
    reading = {name: options.pop(name) for name in list(options) if name in Reading.__dataclass_fields__}
    place = None if out is None else Path(out)
    return AugmentSettings(data=data, out=place, **options).carry_out(Reading(**reading), progress)


def _counted(rows: Iterable[Row], counts: dict[str, int]) -> Iterator[Row]:
    for row in rows:
        counts["originals" if row[_ORIGIN] == "original" else "new"] += 1
        yield row


def _write(out: Path, rows: Iterable[Row]) -> int:
    """Write rows to a file beside, and rename it when it is complete. Gives their number."""
    beside = out.with_name(f"{out.name}.part")
    refuse_link(out)
    try:
        with opened_for_writing(beside, encoding="utf-8", newline="") as file:
            count = _put(file, rows, as_csv=out.suffix.lower() == ".csv")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(out)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise MohsError(f"{out} cannot be written ({error.strerror or error}); name another with --out.") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return count


def _put(file: IO[str], rows: Iterable[Row], as_csv: bool) -> int:
    count = 0
    table: Any = csv.writer(file) if as_csv else None
    for row in rows:
        if table is None:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        else:
            table.writerows([list(row)] * (not count) + [list(row.values())])
        count += 1
    return count
