"""Join the parts of a run that `--shard` made, into the folder that one machine would have made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.records import RunStore
from mohs.records.store import differences
from mohs.runs.run import Run, sound
from mohs.tasks.option import option
from mohs.tasks.shard import Shard

_NAMED = 10  # missing parts in a message
_AT_ONCE = 1_000  # records in one transaction


@dataclass(frozen=True, kw_only=True)
class Merge:
    """Join the parts of a run that were made with --shard.

    Every part must be there once and be finished, and all must have the same settings, victim and data. The result is
    the run folder that one machine would have made: its records are the same, and `mohs report` and the others read it.

    Examples:
      mohs attack --victim hf:./my-model --data test.jsonl --shard 1/2 --out part-1
      mohs attack --victim hf:./my-model --data test.jsonl --shard 2/2 --out part-2
      mohs merge part-1 part-2 --out whole
    """

    runs: Sequence[str] = option("The run folders of all parts.", metavar="RUN...", argument=True, many=True)
    out: Path | None = option("The folder for the whole run; needed.", metavar="FOLDER")


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one part says of itself. Its journal is closed: hundreds of parts are more than may be open at once."""

    place: Path
    shard: Shard
    manifest: dict[str, Any]
    recorded: int  # attempts
    planned: int
    examples: int
    effort: Mapping[str, float]
    stranger: str | None  # an example with a record that belongs to another part

    @classmethod
    def of(cls, run: Run) -> Part:
        """Read a part."""
        assert run.folder is not None
        told = run.manifest["config"].get("shard")
        if told is None:
            raise BadInput(f"{run.folder} is no part of a run: it was made without --shard; name only parts.")
        shard = Shard.read(str(told))
        return cls(
            place=run.folder,
            shard=shard,
            manifest=run.manifest,
            recorded=len(run),
            planned=run.planned,
            examples=run.examples,
            effort=run.effort(),
            stranger=next((example for _, example, *_ in run.lines() if not shard.holds(example)), None),
        )


def merge(runs: Iterable[str | Path], out: str | Path, progress: Callable[[None, int, int], None] | None = None) -> Run:
    """Join the parts of a run in a new folder, see `Merge`. A merge that was stopped is done again by the same call.

    runs: the folders of all parts. out: the folder of the whole. progress: called with the records joined and all.
    """
    parts = []
    for folder in dict.fromkeys(map(Path, runs)):
        with Run.open(folder) as run, sound(run):
            parts.append(Part.of(run))
    parts.sort(key=lambda part: part.shard)
    _refuse_strangers(parts)
    _refuse_gaps(parts)
    _refuse_odd_records(parts)
    manifest, identity = _whole(parts)
    total = sum(part.recorded for part in parts)
    store = RunStore.open(Path(out), manifest, identity)
    try:
        joined = 0
        for part in parts:
            with Run.open(part.place) as run:
                lines = run.lines()
                while some := list(islice(lines, _AT_ONCE)):
                    store.add_lines(some)
                    joined += len(some)
                    if progress is not None:
                        progress(None, joined, total)
        if not store.effort():  # a merge that is done again adds nothing to the effort
            store.spend(**_effort(parts))
    except BaseException:
        store.close()
        raise
    return Run(store)


def _refuse_strangers(parts: Sequence[Part]) -> None:
    """Refuse parts that are not of one run, and name the first difference."""
    first = parts[0]
    one = _without_shard(first.manifest)
    for part in parts[1:]:
        if part.shard.of != first.shard.of:
            raise BadInput(
                f"{first.place} is part {first.shard} and {part.place} is part {part.shard}; name the parts of one "
                "division."
            )
        other = _without_shard(part.manifest)
        for name in ("command", "tasks"):
            _refuse(name, one.get(name), other.get(name), first, part)
        for name in differences(one["identity"], other["identity"]):
            _refuse(name, one["identity"].get(name), other["identity"].get(name), first, part)


def _refuse(name: str, one: Any, other: Any, first: Part, part: Part) -> None:
    if one != other:
        raise BadInput(
            f"{first.place} and {part.place} are not parts of one run: {name} is {one!r} in the first and {other!r} in "
            "the second; run one of them again."
        )


def _refuse_gaps(parts: Sequence[Part]) -> None:
    """Refuse a part that stands twice, that is missing or that is not finished."""
    there: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        there[part.shard.number].append(part)
    for found in there.values():
        if len(found) > 1:
            raise BadInput(f"{found[0].place} and {found[1].place} are both part {found[0].shard}; name one of them.")
    of = parts[0].shard.of
    missing = [number for number in range(1, of + 1) if number not in there]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        names = ", ".join(f"{number}/{of}" for number in missing[:_NAMED])
        raise BadInput(f"Of {of} parts these are missing: {names}{more}; run them with --shard, or name their folders.")
    for part in parts:
        if part.recorded < part.planned:
            raise BadInput(
                f"{part.place} (part {part.shard}) has {part.recorded} of {part.planned} attempts; run its command "
                "again to finish it."
            )


def _refuse_odd_records(parts: Sequence[Part]) -> None:
    """Refuse records of examples that belong to another part."""
    for part in parts:
        if part.stranger is not None:
            raise BadInput(
                f"{part.place} has a record of example {part.stranger!r}, which is not in part {part.shard}; run it "
                "again."
            )


def _whole(parts: Sequence[Part]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest that one machine would have written, and its identity."""
    first = _without_shard(parts[0].manifest)
    found = sum(part.examples for part in parts)
    total = int(first["identity"].get("examples", 0))
    if found != total:
        raise BadInput(f"The parts have {found} examples together, but the data has {total}; run the parts again.")
    identity = first.pop("identity")
    facts = [_without_shard(part.manifest)["facts"] for part in parts]
    other = [name for name in facts[0] if any(one.get(name) != facts[0][name] for one in facts)]
    if other:
        first["facts"]["notes"].append(
            f"The parts differ in {', '.join(other)}; what stands here is of part {parts[0].shard}."
        )
    return first, identity


def _without_shard(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A part's manifest as that of the whole."""
    config, identity = ({k: v for k, v in manifest[name].items() if k != "shard"} for name in ("config", "identity"))
    told = Shard.read(str(manifest["config"].get("shard")))
    facts = {name: value for name, value in manifest.get("facts", {}).items() if name != "shard_examples"}
    facts["notes"] = [note for note in facts.get("notes") or () if note != told.note]
    return {**manifest, "config": config, "facts": facts, "identity": identity}


def _effort(parts: Sequence[Part]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for part in parts:
        for name, value in part.effort.items():
            found[name] += value
    return dict(found)
