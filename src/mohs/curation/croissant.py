"""Croissant metadata: how programs find the files of a benchmark and the columns in them (mlcommons.org/croissant)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mohs.curation.config import Config
from mohs.curation.counts import Rows
from mohs.curation.folder import DATA
from mohs.curation.rows import columns

_OWN = (
    "citeAs column conformsTo equivalentProperty extract field fileProperty fileObject fileSet format includes "
    "isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate "
    "separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{name: f"cr:{name}" for name in _OWN.split()},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


def croissant(config: Config, about: Mapping[str, Any], rows: Rows, hashes: Mapping[str, str]) -> dict[str, Any]:
    """The file's content. hashes: of the data files, by their path in the folder."""
    found: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": config.name,
        "description": " ".join([config.about or "Adversarial texts for measuring robustness.", *about["notes"]]),
        "version": config.version,
        "keywords": ["adversarial", "robustness", "text classification"],
    }
    optional = {
        "license": config.licence,
        "url": config.url,
        "datePublished": config.published,
        "citeAs": config.citation,
        "creator": [{"@type": "sc:Person", "name": name} for name in config.creators],
    }
    found |= {name: value for name, value in optional.items() if value}
    there = [(task, split) for task, parts in rows.items() for split, own in parts.items() if own]
    found["distribution"] = [_file(task, split, hashes) for task, split in there]
    found["recordSet"] = [_records(about, task, split) for task, split in there]
    return found


def _file(task: str, split: str, hashes: Mapping[str, str]) -> dict[str, Any]:
    path = f"{DATA}/{task}/{split}.jsonl"
    return {
        "@type": "cr:FileObject",
        "@id": f"{task}-{split}.jsonl",
        "name": f"{task}-{split}.jsonl",
        "contentUrl": path,
        "encodingFormat": "application/jsonlines",
        "sha256": hashes[path],
    }


def _records(about: Mapping[str, Any], task: str, split: str) -> dict[str, Any]:
    own = f"{task}-{split}"
    return {
        "@type": "cr:RecordSet",
        "@id": own,
        "name": own,
        "description": f"The {split} set of {task}; label: {_classes(about, task)}.",
        "key": {"@id": f"{own}/idx"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{own}/{name}",
                "name": f"{own}/{name}",
                "description": told,
                "dataType": kind,
                "source": {"fileObject": {"@id": f"{own}.jsonl"}, "extract": {"column": name}},
            }
            for name, (_, kind, told) in columns(about["tasks"][task]["names"]).items()
        ],
    }


def _classes(about: Mapping[str, Any], task: str) -> str:
    return ", ".join(f"{number} {name}" for number, name in enumerate(about["tasks"][task]["labels"]))
