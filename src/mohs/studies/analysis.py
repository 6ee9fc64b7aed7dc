"""Analyses a study: all figures, as objects, as JSON, as a page and as a file of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput
from mohs.records.export import write_csv
from mohs.report.table import table_html
from mohs.report.template import written
from mohs.studies.analysis_notes import SIMULATED, notes_of, nothing_judged
from mohs.studies.curated import Trained, trained
from mohs.studies.design import Design
from mohs.studies.group_figures import GroupFigures, group_figures
from mohs.studies.model_judges import ModelJudge, model_judges
from mohs.studies.pool import Counted, Pool, Whose, gathered
from mohs.studies.quality import Quality, quality
from mohs.studies.relating import Measures, Relations, Told, related_to
from mohs.studies.sensitivity import Sensitivity, sensitivity
from mohs.studies.study import Study
from mohs.studies.validity import Rule
from mohs.studies.verdict_rule import rule_of, threshold_of

if TYPE_CHECKING:
    from rich.console import Console

PAGE = "analyse.html"
ALL = "all attacks"


@dataclass(frozen=True)
class Analysis:
    """The figures of a study: of each group (an attack of a run), and of all groups together."""

    study: str
    folder: Path | None = field(repr=False)
    design: Design = field(repr=False)
    source: dict[str, Any] = field(repr=False)
    rule: Rule | None
    threshold: float | None
    counted: Counted
    groups: tuple[GroupFigures, ...]
    whole: GroupFigures  # all groups together; the group itself if there is one
    relations: Relations | None  # of all groups together
    models: tuple[ModelJudge, ...]
    trained: Trained | None  # of a design with training or unchanged texts
    quality: Quality
    sensitivity: Sensitivity
    notes: tuple[str, ...]
    services: dict[str, str]
    pool: Pool = field(repr=False)

    @property
    def simulated(self) -> bool:
        """Whether the judgements are simulated, so that no figure says anything about people."""
        return self.counted.whose == "simulated"

    @property
    def judges(self) -> str:
        """Who judged, in a word or two, for labels."""
        return "simulated judges" if self.simulated else "people"

    @property
    def columns(self) -> tuple[GroupFigures, ...]:
        """The groups, and after several of them all together: the columns of a table."""
        return self.groups if len(self.groups) == 1 else (*self.groups, self.whole)

    def to_json(self) -> dict[str, Any]:
        """All figures as a JSON-ready dict."""
        return {
            "study": self.study,
            "design": self.design.name,
            "judges": self.judges,
            "simulated": self.simulated,
            "rule": None if self.design.valid is None else str(self.design.valid),
            "threshold": self.threshold,
            "counted": self.counted.to_json(),
            "groups": [one.to_json() for one in self.groups],
            "all": self.whole.to_json(),
            "relations": None if self.relations is None else self.relations.to_json(),
            "models": [one.to_json() for one in self.models],
            "training": None if self.trained is None else self.trained.to_json(),
            "annotators": [
                {
                    "name": one.annotator.name,
                    "kind": str(one.annotator.kind),
                    "state": str(one.annotator.state),
                    "answered": one.answered,
                    "seconds": one.seconds,
                    "controls": one.controls,
                    "wrong": one.wrong,
                    "flags": list(one.flags),
                }
                for one in self.quality.work
            ],
            "seconds_per_item": self.quality.seconds,
            "without_flagged": self.sensitivity.to_json(),
            "services": self.services,
            "notes": list(self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Every judged item with its scores and its verdict, for a file."""
        from mohs.studies.item_rows import item_rows

        return item_rows(self)

    def write(self, path: str | Path) -> Path:
        """Write every judged item as CSV, one a line. An older file stays until the new one is complete."""
        from mohs.studies.item_rows import COLUMNS

        return write_csv(Path(path), list(COLUMNS), self.rows())

    def page(self, path: str | Path | None = None) -> Path:
        """Write the page. By default analyse.html in the study's folder, or in the current folder without one."""
        from mohs.studies.page import analysis_page

        return written(analysis_page(self), Path(path) if path is not None else (self.folder or Path()) / PAGE)

    def show(self, console: Console) -> None:
        """Print the figures on a terminal."""
        from mohs.studies.show import show

        show(self, console)

    def _repr_html_(self) -> str:
        from mohs.studies.lines import lines

        tables = table_html([(one.name, lines(one, self.design)) for one in self.columns])
        return f"<p><b>{SIMULATED}</b></p>{tables}" if self.simulated else tables


def analyse_study(
    study: Study | str | Path,
    *,
    threshold: float | None = None,
    least_judges: int | None = None,
    without: Sequence[str] = (),
    kind: Whose | None = None,
    measures: bool = True,
    vectors: Any = None,
    encoder: Any = None,
    device: str = "auto",
    trust_code: bool = False,
    progress: Told | None = None,
) -> Analysis:
    """Analyse a study: how far people agree, what they find valid, and what that leaves of the attacks.

    The result has `groups` (figures of each attack), `notes`, `to_json()`, `write(path)` and `page(path)`.

    study: a Study, its folder, or its PostgreSQL address.
    threshold: instead of the one in the design's rule of validity.
    least_judges: an item with fewer has no verdict; by default half of those that the design wants.
    without: names of annotators whose judgements are left out.
    kind: people or simulated; by default simulated judges only if nobody else judged anything.
    measures: also compare with word vectors and a sentence encoder.
    vectors, encoder: names, or the word vectors and the encoder themselves; by default the bundled ones.
    device: for the encoder: auto, cpu, cuda or cuda:N.
    trust_code: run the code that comes with an hf: model.
    progress: called with None, the texts encoded, and their number.
    """
    if not isinstance(study, Study):
        with Study.open(study) as opened:
            return analyse_study(
                opened,
                threshold=threshold,
                least_judges=least_judges,
                without=without,
                kind=kind,
                measures=measures,
                vectors=vectors,
                encoder=encoder,
                device=device,
                trust_code=trust_code,
                progress=progress,
            )
    rule = rule_of(study.design, threshold, least_judges)
    found = gathered(study, kind, without)
    pool = found.pool
    main = pool.main()
    judged = {one.item for one in pool.judgements}
    if not any(item.key in judged for item in main):
        raise BadInput(nothing_judged(study, found))
    facts: dict[str, Any] = study.source.get("groups") or {}
    names = dict.fromkeys([*facts, *(item.group for item in main)])
    by_group = {name: [item for item in main if item.group == name] for name in names}
    groups = tuple(
        group_figures(pool, name or "no group", items, facts.get(name), rule)
        for name, items in by_group.items()
        if items
    )
    whole = groups[0] if len(groups) == 1 else group_figures(pool, ALL, main, None, rule)
    related = None
    if measures and rule is not None:
        asked = Measures(vectors, encoder, device, trust_code, progress)
        related = related_to(pool, whole.verdicts, asked)
    looked = quality(study)
    return Analysis(
        study=study.place,
        folder=study.folder,
        design=study.design,
        source=study.source,
        rule=rule,
        threshold=None if rule is None else threshold_of(rule),
        counted=found.counted,
        groups=groups,
        whole=whole,
        relations=related[0] if related else None,
        models=model_judges(pool, found.models, rule),
        trained=trained(study, pool),
        quality=looked,
        sensitivity=sensitivity(pool, looked, rule),
        notes=tuple(notes_of(study, found, rule, groups, whole)),
        services=related[1] if related else {},
        pool=pool,
    )
