"""`mohs augment`: writes a data file with more texts, drawn from a space or taken from an attack run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.runs.augment_rows import Known, Rows
from mohs.runs.data_file import ending_of, write_data
from mohs.runs.drawing import Drawing
from mohs.runs.provenance import write_about
from mohs.tasks.option import check_numbers, model, models_of, option, several
from mohs.tasks.reading import Reading, comma

if TYPE_CHECKING:
    from mohs.runs.run import Run
    from mohs.space import Constraint, Source
    from mohs.text import Example, Text
    from mohs.text.dataset import Dataset

Told = Callable[[Any, int, int], None]
Row = Mapping[str, Any]

_CHUNK = 256  # rows in memory at once


@dataclass(frozen=True)
class Augmented:
    """What was written."""

    out: Path
    rows: int
    originals: int
    new: int
    without: int  # copies that could not be made: nothing may change, or no draw passed the constraints
    about: Path  # the note beside it: how the file was made
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "out": str(self.out), "about": str(self.about), "notes": list(self.notes)}


@dataclass
class _Tally:
    originals: int = 0
    new: int = 0
    without: int = 0
    notes: list[str] = field(default_factory=list)
    sources: dict[str, Any] = field(default_factory=dict)  # what the texts come from, with hashes


@dataclass(frozen=True, kw_only=True)
class AugmentSettings:
    """Write a larger data file: each text, and copies of it with other words.

    A copy is drawn uniformly from all texts of the space that differ from the original in at least one word and in at
    most --edits words, or a --rate of the words that may change. --run adds the adversarial texts of finished attacks
    instead; without --data, to the originals of the run. Labels and other columns are kept. The columns origin and
    from say how a row was made and from which row. The file appears when it is complete, with a note beside it that
    says how it was made (FILE.about.json). Give it to `mohs train --data`.

    Examples:
      mohs augment --data train.jsonl --out more.jsonl
      mohs augment --data train.csv --text-field review --source wordnet --rate 0.2 --copies 3 --out more.csv
      mohs augment --data train.jsonl --constraint "similarity>=0.9" --edits 2 --only-new --out new.jsonl
      mohs augment --data train.parquet --fair --out more.parquet
      mohs augment --run mohs-runs/RUN --data train.jsonl --out more.jsonl
    """

    out: Path | None = option(
        "The file to write: .jsonl, .ndjson, .csv or .tsv, each also with .gz, or .parquet.", metavar="FILE"
    )
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
    fair: bool = option("Only copies that people would likely accept (see `mohs attack --fair`).", default=False)
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
        "Class names in the order of the numbers.",
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
        ending_of(self.out)
        self._keep_inputs(self.out)
        if self.edits is not None and self.rate is not None:
            raise BadInput("--edits and --rate both say how much changes; give one of them.")
        if self.rate is not None and not 0 < self.rate <= 1:
            raise BadInput(f"--rate is {self.rate}; it must be a share above 0 and at most 1, such as 0.1.")
        told: dict[str, Any] = {"--source": self.source, "--constraint": self.constraints, "--edits": self.edits}
        told |= {"--rate": self.rate, "--copies": self.copies, "--stopwords": self.stopwords, "--fair": self.fair}
        for flag, value in told.items():
            if self.run is not None and value:
                raise BadInput(f"{flag} is about drawing from a space, but --run takes texts of a run; leave one out.")
        return self.out

    def _keep_inputs(self, out: Path) -> None:
        """Refuse to write over a file that is read: the data, a list of words, or a part of a model."""
        if not out.exists():
            return
        read = {"the data": self.data, "the source": self.source, "the list of stopwords": self.stopwords}
        for name, value in {**read, **models_of(self)}.items():
            for part in (str(value), str(value).partition(":")[2]) if isinstance(value, str | Path) else ():
                if part and Path(part).exists() and out.samefile(part):
                    raise BadInput(f"--out {out} is {name} itself; name another file.")

    def carry_out(self, reading: Reading, progress: Told | None = None) -> Augmented:
        """Write the file."""
        out = self.check()
        tell = progress or (lambda record, finished, total: None)
        data = None if self.run is not None and self.data is None else self._dataset(reading)
        tally = _Tally(notes=data.notes() if data else [])
        rows = self._drawn(data, tell, tally) if self.run is None and data else self._of_run(data, tell, tally)
        written = write_data(out, rows)
        facts = {"rows": written, "originals": tally.originals, "new": tally.new, "without": tally.without}
        about = write_about(out, (self, reading), facts, tally.sources)
        return Augmented(out, written, tally.originals, tally.new, tally.without, about, tuple(tally.notes))

    def _dataset(self, reading: Reading) -> Dataset:
        labels = comma(self.labels)
        return reading.dataset(str(self.data or "pocket:train"), labels=labels, change=tuple(self.change))

    def _drawn(self, data: Dataset, tell: Told, tally: _Tally) -> Iterator[Row]:
        """Originals and copies, a chunk at a time, in the order of the data."""
        from mohs import engine
        from mohs.engine import Service
        from mohs.space import Services
        from mohs.tasks.services import fingerprint

        drawing = self._drawing()
        known = Known.of(data)
        rows = Rows(known, data.id_field, data.label_field)
        parts = self._parts(drawing)
        tally.sources |= {"data": known.digest, **{kind: fingerprint(part) for kind, part in parts.items()}}
        services = [part for part in parts.values() if isinstance(part, Service)]
        tell(None, 0, known.count)
        done, stream = 0, data.with_rows()
        while chunk := list(islice(stream, _CHUNK)):
            searches = (
                (number, drawing(example, Services(parts, Random(f"{self.seed}/augment/{example.id}"))))
                for number, (example, _) in enumerate(chunk)
            )
            found: dict[int, list[Text]] = {}
            for ended in engine.run(searches, services):
                if ended.error is not None or ended.result is None:
                    raise ended.error or AssertionError("a search without a result")
                found[ended.key] = ended.result
            for number, (example, row) in enumerate(chunk):
                if not self.only_new:
                    yield _counted(tally, rows.original(example, row))
                for copy, text in enumerate(found[number], 1):
                    yield _counted(tally, rows.copy(example, row, text, str(copy), drawing.name))
                tally.without += drawing.copies - len(found[number])
            done += len(chunk)
            tell(None, done, known.count)

    def _drawing(self) -> Drawing:
        from mohs.space import parse_constraint, word_source
        from mohs.space.fair import FAIR
        from mohs.tasks.described import written
        from mohs.text.stopwords import EITHER, read_stopwords

        source = "neighbours" if self.source is None else self.source
        given = tuple(parse_constraint(c) if isinstance(c, str) else c for c in self.constraints)
        return Drawing(
            name=str(written(source)) + "+fair" * self.fair,
            source=word_source(source),
            constraints=(*given, *(FAIR if self.fair else ())),
            stopwords=EITHER if self.stopwords is None else read_stopwords(self.stopwords),
            edits=self.edits,
            rate=0.1 if self.rate is None else self.rate,
            copies=self.copies or 1,
        )

    def _parts(self, drawing: Drawing) -> Mapping[str, Any]:
        from mohs.tasks.services import load_services

        kinds = [*getattr(drawing.source, "needs", ()), *(k for c in drawing.constraints for k in c.measure.needs)]
        return load_services(dict.fromkeys(kinds), models_of(self), device=self.device)

    def _of_run(self, data: Dataset | None, tell: Told, tally: _Tally) -> Iterator[Row]:
        """The data, or the originals of a run, and then its adversarial texts."""
        from mohs.runs.run import Run

        assert self.run is not None
        with Run.open(self.run) as run:
            if run.command != "attack":
                raise BadInput(f"{self.run} is a run of `mohs {run.command}`; --run takes a run of `mohs attack`.")
            tell(None, 0, len(run))
            told = run.manifest["identity"]
            tally.sources["run"] = {key: told.get(key) for key in ("victim", "victim_fingerprint", "data_hash")}
            if data is None:
                rows = Rows(Known(spelled=dict(enumerate(comma(self.labels)))), "id", "label")
                first = str(next(iter(run.manifest["tasks"])))
                for example, attack, _ in () if self.only_new else _read(run):
                    if attack == first:
                        yield _counted(tally, rows.original(example, {}))
            else:
                known = Known.of(data, {example.text.fields for example, _, text in _read(run) if text is not None})
                rows = Rows(known, data.id_field, data.label_field)
                tally.sources["data"] = known.digest
                if known.strangers:
                    tally.notes.append(
                        f"{len(known.strangers):,} of the texts that the run fooled are not in the data: it attacked "
                        "other data, perhaps those for testing."
                    )
                for example, row in () if self.only_new else data.with_rows():
                    yield _counted(tally, rows.original(example, row))
            for seen, (example, attack, text) in enumerate(_read(run), 1):
                tell(None, seen, len(run))
                if text is not None:
                    yield _counted(tally, rows.copy(example, {}, text, attack, attack))


def _read(run: Run) -> Iterator[tuple[Example, str, Text | None]]:
    """Each example of a run, the attack, and the text that fooled the victim; None without one."""
    from mohs.attacks.goal import keeps_label
    from mohs.records import Outcome
    from mohs.text import Example, Text

    for record in run.records():
        hit = record.outcome is Outcome.SUCCESS and record.perturbed and not keeps_label(run.goal_of(record.attack))
        example = Example(record.example_id, Text(*record.original), record.label, record.names)
        yield example, record.attack, Text(*record.perturbed) if hit and record.perturbed else None


def augment(
    data: str | Path | None = None, out: str | Path | None = None, *, progress: Told | None = None, **options: Any
) -> Augmented:
    """Write a larger data file: each text, and copies of it drawn from a space or taken from a run.

    The other arguments are the fields of AugmentSettings and of mohs.tasks.reading.Reading.

    >>> from tempfile import mkdtemp
    >>> done = augment("pocket", Path(mkdtemp()) / "more.jsonl", n=10, copies=2)
    >>> done.originals
    10
    """
    reading = {name: options.pop(name) for name in list(options) if name in Reading.__dataclass_fields__}
    unknown = [name for name in options if name not in AugmentSettings.__dataclass_fields__]
    if unknown:
        raise BadInput(f"augment has no option {unknown[0]!r}; see `mohs augment -h`.")
    source, place = None if data is None else str(data), None if out is None else Path(out)
    return AugmentSettings(data=source, out=place, **options).carry_out(Reading(**reading), progress)


def _counted(tally: _Tally, made: tuple[bool, Row]) -> Row:
    new, row = made
    tally.new += new
    tally.originals += not new
    return row
