"""How well the attacks worked and how valid their texts are: the figures of Table 3 of the AdvGLUE paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mohs.curation.config import Config
from mohs.curation.item import Item
from mohs.curation.judged import BY_DEFINITION
from mohs.curation.stage import StageFolder
from mohs.report.rates import Rate
from mohs.studies.agreement import HumanAccuracy, fleiss_kappa, human_accuracy
from mohs.studies.ratings import Estimate, Ratings

ALL = "average"


@dataclass(frozen=True)
class Validity:
    """One cell of the table. Rates are by surrogate; `mean` of one is what the paper prints.

    method: the attack, or `average` for those of a task: the mean of shares, and agreement over all their texts.
    """

    task: str
    method: str
    success: Mapping[str, Rate]  # of examples that the surrogate reads right
    curated: Mapping[str, Rate]  # the same, of texts that judges kept
    mean_success: float | None
    mean_curated: float | None
    filter_rate: float | None  # 1 - curated / success, mean over surrogates
    kappa: Estimate  # of all texts judged
    curated_kappa: Estimate  # of those kept
    accuracy: HumanAccuracy  # of judges, on texts kept

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "task": self.task,
            "method": self.method,
            "asr": self.mean_success,
            "curated_asr": self.mean_curated,
            "filter_rate": self.filter_rate,
            "kappa": self.kappa.to_json(),
            "curated_kappa": self.curated_kappa.to_json(),
            "human_accuracy": self.accuracy.to_json(),
            "surrogates": {
                name: {"asr": rate.to_json(), "curated_asr": self.curated[name].to_json()}
                for name, rate in self.success.items()
            },
        }


def validity(config: Config, stages: StageFolder) -> list[Validity]:
    """The figures of every curated attack on every task, and after them those of the task."""
    counts = stages.facts("attack")["counts"]
    kept, dropped = stages.items("judge"), [one.item for one in stages.dropped("judge")]
    found: list[Validity] = []
    for task in config.tasks:
        own = []
        for attack in config.of(task):
            if not attack.by_definition:
                mine = [item for item in kept if (item.task, item.method) == (task.name, attack.name)]
                out = [item for item in dropped if (item.task, item.method) == (task.name, attack.name)]
                own.append(_cell(task.name, attack.name, counts[task.name][attack.name], mine, out))
        found += own
        if len(own) > 1:
            mine = [item for item in kept if item.task == task.name and item.judged != BY_DEFINITION]
            out = [item for item in dropped if item.task == task.name]
            found.append(_average(task.name, own, mine, out))
    return found


def _cell(
    task: str, method: str, counts: Mapping[str, Mapping[str, int]], kept: Sequence[Item], dropped: Sequence[Item]
) -> Validity:
    success = {
        name: Rate(own.get("success", 0), own.get("attacked", 0), "examples attacked", own.get("error", 0))
        for name, own in counts.items()
    }
    curated = {
        name: Rate(sum(name in item.found_on for item in kept), rate.total, "examples attacked")
        for name, rate in success.items()
    }
    rates = [
        None if not rate.hits else 1 - curated[name].hits / rate.hits for name, rate in success.items() if rate.total
    ]
    return Validity(
        task,
        method,
        success,
        curated,
        _mean(rate.value for rate in success.values()),
        _mean(rate.value for rate in curated.values()),
        _mean(rates),
        *_agreement(kept, dropped),
    )


def _average(task: str, cells: Sequence[Validity], kept: Sequence[Item], dropped: Sequence[Item]) -> Validity:
    return Validity(
        task,
        ALL,
        {},
        {},
        _mean(one.mean_success for one in cells),
        _mean(one.mean_curated for one in cells),
        _mean(one.filter_rate for one in cells),
        *_agreement(kept, dropped),
    )


def _agreement(kept: Sequence[Item], dropped: Sequence[Item]) -> tuple[Estimate, Estimate, HumanAccuracy]:
    curated = ratings(kept)
    return fleiss_kappa(ratings([*kept, *dropped])), fleiss_kappa(curated), human_accuracy(curated)


def ratings(items: Iterable[Item]) -> Ratings:
    """The labels that judges gave."""
    return Ratings.of((item.id, judge, float(label)) for item in items for judge, label in item.votes)


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is defined."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
