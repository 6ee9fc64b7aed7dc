"""Takes judgements made elsewhere into a study, and makes a study of a table alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from mohs.errors import BadInput, MohsError
from mohs.studies import forms
from mohs.studies.design import Design
from mohs.studies.forms import Found, Given
from mohs.studies.heard import Heard
from mohs.studies.item import PEOPLE, Item, Judgement, Kind, Role, State
from mohs.studies.matching import Finder, LeftOut, Matched, Sift, matched
from mohs.studies.platforms import code_of
from mohs.studies.study import Part, Study
from mohs.studies.table_items import fitting, items_of, with_classes, with_controls


@dataclass(frozen=True)
class Imported:
    """What became of a file."""

    form: str  # what the file is
    rows: int
    new: int  # judgements that the study did not have
    there: int  # judgements that it had already
    repeated: int  # rows that say the same as another one
    judges: int
    left_out: list[LeftOut]
    notes: list[str]
    dry: bool = False  # nothing was kept

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**vars(self), "left_out": [one._asdict() for one in self.left_out]}


def imported(
    study: Study, path: str | Path, given: Given | None = None, *, dry_run: bool = False, main_only: bool = False
) -> Imported:
    """Import judgements of a study's items.

    dry_run: only say what would be imported. main_only: rows about training, accuracy and control items, which an
    export of another study has, are not looked at.

    Reads exports of mohs, results of Mechanical Turk, exports of Label Studio and plain tables. All or nothing: a bad
    row refuses the file, unless `given` says that bad rows are left out.
    """
    given, place = given or Given(), Path(path).expanduser()
    sift = Sift(str(place), given.skip_bad)
    found = forms.read(place, study.design, given, sift)
    if not found.judged:
        raise BadInput(f"{place} has no column with answers; name it, as in --column answer=NAME.")
    if main_only:
        found = replace(found, rows=[row for row in found.rows if row[1].role is Role.MAIN])
    items = study.items()
    finder = Finder(items, {code_of(study, item.key): item.key for item in items})
    rows = _fitting(study.design, finder, found, sift, given)
    return _kept(study, found, rows, sift, given, dry=dry_run)


def study_of(
    place: str | Path,
    path: str | Path,
    design: Design,
    given: Given | None = None,
    *,
    labels: Sequence[str] = (),
    seed: int = 0,
) -> tuple[Study, Imported]:
    """Make a study of a table alone: its rows give the items, and the judgements if it has answers.

    labels: the classes, for a design that asks for the class.
    """
    given, source = given or Given(), Path(path).expanduser()
    sift = Sift(str(source), given.skip_bad)
    design = with_classes(design, labels)
    found = forms.read(source, design, given, sift)
    collected = items_of(design, found.rows, _stem(source), sift)
    items = with_controls(design, list(collected.items.values()))
    design, notes = fitting(design, items)
    found = replace(found, rows=collected.rows, notes=[*found.notes, *collected.notes, *notes])
    rows = _fitting(design, Finder(items, {}), found, sift, given) if found.judged else _Fitting([], 0, [])
    told = {"table": source.name, "runs": [], "victims": [], "data": [], "groups": {}, "labels": list(labels)}
    with TemporaryDirectory() as trial, Study.create(f"{trial}/study", design, items, seed=seed, **told) as study:
        _kept(study, found, rows, sift, given)  # what cannot be kept is refused before the place is touched
    study = _made(place, design, items, seed, told)
    try:
        return study, _kept(study, found, rows, sift, given)
    except BaseException:
        study.close()
        raise


def _made(place: str | Path, design: Design, items: list[Item], seed: int, told: dict[str, Any]) -> Study:
    """A new study, or the same one without any answers from a start that was cut off before they were kept."""
    try:
        return Study.create(place, design, items, seed=seed, **told)
    except BadInput as error:
        try:
            study = Study.open(place)
        except MohsError:
            raise error from None
        by_key = {item.key: item for item in items}
        same = (study.design, study.source, study.seed) == (design, told, seed)
        if same and {item.key: item for item in study.items()} == by_key and not study.annotators():
            return study
        study.close()
        raise


class _Fitting(NamedTuple):
    """Rows that fit the study, how many others repeat them, and what was assumed."""

    rows: list[Matched]
    repeated: int
    notes: list[str]


def _fitting(design: Design, finder: Finder, found: Found, sift: Sift, given: Given) -> _Fitting:
    return _Fitting(*matched(design, finder, found.rows, sift, _unnamed_as(given)))


def _kept(study: Study, found: Found, fitting: _Fitting, sift: Sift, given: Given, *, dry: bool = False) -> Imported:
    """Add what is new."""
    named = any(heard.annotator for _, heard in found.rows)
    judgements = [(replace(one.judgement, annotator=one.annotator(study.code)), one.heard) for one in fitting.rows]
    notes = [*found.notes, *fitting.notes, *_conflicts(study, [one for one, _ in judgements], given, named)]
    counting = {one.name for one in study.annotators() if one.state is not State.ASIDE}
    if aside := sorted({one.annotator for one, heard in judgements if heard.aside} & counting):
        notes.append(
            f"The file says that {', '.join(aside)} {'is' if len(aside) == 1 else 'are'} set aside, and here they "
            "count; see mohs study set-aside."
        )
    new = study.add_parts(_parts(judgements, named), dry=dry)
    judges = len({one.annotator for one, _ in judgements}) if named else 0
    return Imported(
        found.form, found.count, new, len(judgements) - new, fitting.repeated, judges, sift.left_out, notes, dry
    )


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rpartition(".")[0][:80] or "table"


def _unnamed_as(given: Given) -> str:
    return given.unnamed or ("unnamed" if given.kind in PEOPLE else f"unnamed-{given.kind}")


def _parts(judgements: Iterable[tuple[Judgement, Heard]], named: bool) -> list[Part]:
    """The judgements by who made them."""
    found: dict[tuple[Kind, bool, bool], list[Judgement]] = {}
    for one, heard in judgements:
        found.setdefault((heard.kind, named and heard.named, heard.aside), []).append(one)
    return [Part(tuple(own), kind, known, aside) for (kind, known, aside), own in found.items()]


def _conflicts(study: Study, judgements: Sequence[Judgement], given: Given, named: bool) -> list[str]:
    """Judgements that the study has with another answer stay as they are. Unnamed ones may be of other people."""
    there = {(one.item, one.annotator): (one.value, one.statement) for one in study.judgements()}
    other = [
        one
        for one in judgements
        if there.get((one.item, one.annotator), (one.value, one.statement)) != (one.value, one.statement)
    ]
    if not other:
        return []
    first = other[0]
    if not named:
        raise BadInput(
            f"The study has another answer of {first.annotator!r} about the item {first.item}, and the file does not "
            f"say who judged; if these are other people than {_unnamed_as(given)!r}, name them with --unnamed."
        )
    return [
        f"{len(other)} judgements have another answer in the study, which stays (such as that of {first.annotator!r} "
        f"about {first.item})."
    ]
