"""Builds a benchmark stage by stage (AdvGLUE, Figure 1). A stage that is done is not done again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mohs.curation import fidelity as filters
from mohs.curation import suite
from mohs.curation.attacked import attacked
from mohs.curation.config import Config, Crafted
from mohs.curation.fidelity import fidelity, similarities
from mohs.curation.item import Vote
from mohs.curation.judged import judged, to_judge
from mohs.curation.merged import merged
from mohs.curation.parted import parted
from mohs.curation.people import asked_votes, check_training, read_votes
from mohs.curation.place import alone_in
from mohs.curation.sets import ReadSet, content_of, read_set
from mohs.curation.simulated import qualities, simulated_votes
from mohs.curation.stage import STAGES, Outcome, StageFolder
from mohs.curation.suite import How
from mohs.curation.transferred import transferred
from mohs.curation.writing import is_whole, write
from mohs.errors import BadInput


@dataclass(frozen=True)
class Built:
    """What a build did. Each stage by name: whether it was done now, or was there already."""

    config: Config
    out: Path
    stages: StageFolder
    done: dict[str, bool]
    errors: int  # attempts of the suite that ended in one


def build(
    config: Config, out: Path, how: How | None = None, *, only: str | None = None, until: str | None = None
) -> Built:
    """Build a benchmark, or go on with it.

    only: do this stage, also if it was done; those before it must be. until: stop after this stage.
    """
    return _Build(config, out, how or How()).carry_out(only, until)


class _Build:
    def __init__(self, config: Config, out: Path, how: How) -> None:
        self.config = config
        self.out = out
        self.how = how
        self.stages = StageFolder(out / "stages")
        self._cells: list[suite.Cell] | None = None

    def carry_out(self, only: str | None, until: str | None) -> Built:
        for name in (only, until):
            if name is not None and name not in STAGES:
                raise BadInput(f"There is no stage {name!r}; there are {', '.join(STAGES)}.")
        if only and until:
            raise BadInput(f"--only {only} and --until {until} contradict each other; give one of them.")
        suite.check(self.config)
        _check_sets(self.config)
        if not self.stages.exists("fidelity"):
            filters.check(self.config, trust_code=self.how.trust_code)
            check_training(self.config)
        with alone_in(self.out, self.stages.folder):
            done = self._stages(only, until)
        return Built(self.config, self.out, self.stages, done, self._errors())

    def _stages(self, only: str | None, until: str | None) -> dict[str, bool]:
        done: dict[str, bool] = {}
        for stage in STAGES:
            key = self.stages.key(stage, self._settings(stage))
            there = self.stages.is_done(stage, key) and (stage != "write" or self._is_whole())
            if only and stage != only:
                if STAGES.index(stage) < STAGES.index(only) and not there:
                    raise BadInput(f"The stage {stage} comes before {only} and is not done; build without --only.")
                continue
            if only or not there:
                self.how.say(f"{stage} ...")
                self.stages.write(stage, key, self._carry_out(stage))
            done[stage] = bool(only) or not there
            if stage == until:
                break
        return done

    def _carry_out(self, stage: str) -> Outcome:
        work: dict[str, Callable[[], Outcome]] = {
            "attack": self._attack,
            "transfer": lambda: transferred(self.config, self._before(stage), self._suite(), self.how),
            "fidelity": lambda: fidelity(
                self.config, self._before(stage), similarities(self.config, trust_code=self.how.trust_code)
            ),
            "judge": self._judge,
            "merge": lambda: merged(self.config, self._before(stage), self._read),
            "split": lambda: parted(self.config, self._before(stage)),
            "write": lambda: write(self.config, self.out, self.stages),
        }
        return work[stage]()

    def _before(self, stage: str) -> Any:
        return self.stages.items(STAGES[STAGES.index(stage) - 1])

    def _attack(self) -> Outcome:
        return attacked(self.config, suite.carry_out(self.config, self.out, self.how))

    def _suite(self) -> list[suite.Cell]:
        if self._cells is None:
            self._cells = list(suite.cells(self.config, self.out))
        return self._cells

    def _judge(self) -> Outcome:
        items = self._before("judge")
        asked, _ = to_judge(self.config, items)
        names = self.stages.facts("attack")["names"]
        by = self.config.judging.by
        votes: dict[str, tuple[Vote, ...]] = {}
        if by == "simulated":
            votes = simulated_votes(self.config, asked, qualities(self.config, asked))
        elif by == "study":
            votes = asked_votes(self.config, asked, names, self.out)
        elif by == "judgements":
            votes = read_votes(self.config, asked, names)
        return judged(self.config, items, votes)

    def _read(self, one: Crafted) -> ReadSet:
        return read_set(self.config, one, self._of(one.task))

    def _of(self, task: str) -> Sequence[str]:
        """What the texts of a task are called."""
        return tuple(self.stages.facts("attack")["names"][task])

    def _settings(self, stage: str) -> Any:
        """The part of the configuration that a stage depends on, and the content of the files it reads."""
        config = self.config
        if stage == "attack":
            texts = [suite.data_of(config, task).survey()[2] for task in config.tasks]
            tasks = [_without(asdict(task), _LATER) for task in config.tasks]
            return [tasks, texts, [asdict(one) for one in config.attacks], asdict(config.limits), config.seed]
        if stage == "transfer":
            return config.device
        if stage == "fidelity":
            return asdict(config.filters)
        if stage == "judge":
            files = {task: _hash(Path(file)) for task, file in config.judging.files.items()}
            return [asdict(config.judging), config.limits.most_judged, files, config.seed]
        if stage == "merge":
            contents = [[asdict(one), content_of(self._read(one))] for one in config.crafted]
            return [contents, config.average, config.seed]
        if stage == "split":
            return [config.split, config.seed]
        return asdict(config)

    def _is_whole(self) -> bool:
        return is_whole(self.out, self.stages.facts("write").get("files", {}))

    def _errors(self) -> int:
        counts = self.stages.facts("attack").get("counts", {})
        return sum(own.get("error", 0) for one in counts.values() for cell in one.values() for own in cell.values())


_LATER = ("metrics", "group", "licence")  # what a task says for the last stage alone


def _without(values: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _check_sets(config: Config) -> None:
    """Read the sets before anything is attacked."""
    for one in config.crafted:
        read_set(config, one, config.task(one.task).names)


def _hash(path: Path) -> str:
    with suppress(OSError):
        return hashlib.sha256(path.expanduser().read_bytes()).hexdigest()
    raise BadInput(f"The judgements {path} cannot be read; name another file under judging.files.")
