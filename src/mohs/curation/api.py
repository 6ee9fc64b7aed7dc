"""`mohs.build_benchmark`: the command as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput

if TYPE_CHECKING:
    from mohs.curation.config import Config
    from mohs.curation.folder import Benchmark
    from mohs.records import Record


def build_benchmark(
    config: str | Path | dict[str, Any] | Config,
    out: str | Path,
    *,
    hide_test: bool | None = None,
    workers: int | str | None = None,
    runs_at_once: int = 1,
    at_once: int | None = None,
    cache: str | None = None,
    trust_code: bool = False,
    trust_pickle: bool = False,
    progress: Callable[[Record | None, int, int], None] | None = None,
    said: Callable[[str], None] | None = None,
) -> Benchmark:
    """Build a benchmark of adversarial texts, or go on with one, and read it back.

    config: a YAML file (see `mohs benchmark new`), the same as a dictionary, or a Config.
    out: the benchmark's folder. What was finished there is not done again.
    hide_test: leave labels out of the test set; by default as the configuration says.
    workers, at_once, cache: how the attacks are carried out, as for `mohs.attack`.
    runs_at_once: how many attacks go on at once, each in processes of its own (`workers` for each;
        with auto each takes at most its share of the cores).
    trust_code, trust_pickle: as for `mohs.attack`.
    progress: called during the attacks with the newest record, the number finished and the total, and while other
        surrogates are asked with None, the number of runs asked about and the total.
    said: called with the name of each stage that begins.

    >>> import mohs, tempfile
    >>> task = {"kind": "sentiment", "data": "pocket", "n": 12, "labels": ["negative", "positive"],
    ...         "surrogates": {"bundled": "pocket"}}
    >>> attack = {"attack": "textfooler", "class": "word", "family": "embedding"}
    >>> config = {"name": "small", "tasks": {"reviews": task}, "attacks": [attack], "filters": {"word_change": 1.0}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = mohs.build_benchmark(config, folder)
    >>> list(found.tasks)
    ['reviews']
    """
    from mohs.curation.build import build
    from mohs.curation.config import Config
    from mohs.curation.folder import open_benchmark
    from mohs.curation.reading import config_from, read_config
    from mohs.curation.suite import How
    from mohs.runs.settings import head_count

    if workers is not None:
        workers = head_count(workers)
    if runs_at_once < 1:
        raise BadInput(f"runs_at_once is {runs_at_once}; it must be at least 1.")
    if isinstance(config, dict):
        found = config_from(config, "given")
    else:
        found = config if isinstance(config, Config) else read_config(config)
    if hide_test is not None:
        found = replace(found, hide_test=hide_test)
    how = How(workers, at_once, cache, trust_code, trust_pickle, progress, said, runs_at_once=runs_at_once)
    build(found, Path(out), how)
    return open_benchmark(out)
