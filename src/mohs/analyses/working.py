"""Makes an analysis: reads the run, counts the training data, asks the models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.analyses.buckets import buckets_of
from mohs.analyses.frequencies import Training, fill_in, frequencies_of, labelled, wanted_words
from mohs.analyses.intervals import Median, median_of
from mohs.analyses.layers import LayerFigures, Replacing, drawn_cases, layer_figures
from mohs.analyses.result import Analysis, AttackAnalysis, WordLabels
from mohs.analyses.similarity import by_similarity, fill_in_cosines, fill_in_similarities, fragments_of
from mohs.analyses.substitutions import Column, columns_of, of_examples
from mohs.bias.words import label_counts
from mohs.errors import BadInput
from mohs.models.word_layers import WordLayers, word_layers
from mohs.report.rates import Rate, mean_of
from mohs.runs.run import Run, sound
from mohs.runs.settings import VictimSettings
from mohs.runs.subject import victim_of
from mohs.tasks.option import check_numbers, models_of
from mohs.tasks.reading import comma
from mohs.tasks.services import fingerprint, load_services
from mohs.text import Example
from mohs.text.dataset import Dataset, examples_from

if TYPE_CHECKING:
    from mohs.analyses.settings import Analysing

Told = Callable[[None, int, int], None]

FOUND = "adversarial examples"
WORDS = "The training data are split into words in the same way as all texts in mohs, and counted in lower case."


@dataclass
class _Progress:
    """Adds up the work of the models."""

    told: Told | None
    total: int = 0
    done: int = field(default=0, init=False)

    def __call__(self, more: int) -> None:
        self.done += more
        if self.told is not None:
            self.told(None, self.done, self.total)


def analysed(run: Run, options: Analysing, progress: Told | None = None) -> Analysis:
    """The analysis of a run of `mohs attack` or `mohs bias`."""
    check_numbers(options)
    if run.command == "bias":
        return _of_bias(run, options)
    if run.command != "attack":
        raise BadInput(
            f"{run.folder or 'This run'} is a run of `mohs {run.command}`; `mohs analyse` reads runs of `mohs attack` "
            "and `mohs bias`."
        )
    with sound(run):
        columns, notes = columns_of(run, options.window)
    everything = [one for column in columns for one in column.substitutions]
    nobody: Any = None  # only gradients need a victim
    given = {kind: value for kind, value in models_of(options).items() if value is not None}
    tools = load_services(
        ["vectors", "encoder"], given, victim=nobody, device=options.device, trust_code=options.trust_code
    )
    victims, said = _victims(run, options)
    notes += said
    if options.train is None:
        notes.append("Words were not counted: that needs the training data; name it with --train.")
    else:
        training = Training(wanted_words(columns))
        training.read(_examples(run, options), run.manifest.get("facts", {}).get("classes"))
        fill_in(everything, training)
        notes.append(f"{WORDS} They have {training.rows:,} rows and {sum(training.words.values()):,} words.")
    chosen = {column.attack: drawn_cases(column.cases, options.pairs, options.seed) for column in columns}
    work = _Progress(progress, len(fragments_of(everything)) + len(victims) * sum(map(len, chosen.values())))
    work(0)
    fill_in_cosines(everything, tools["vectors"])
    fill_in_similarities(everything, tools["encoder"], work)
    replacing = Replacing(tools["vectors"], options.seed)
    parts = []
    for column in columns:
        layers = [layer_figures(chosen[column.attack], one, replacing, work) for one in victims]
        parts.append(_figures(column, layers, options))
    return Analysis(
        run=run.folder,
        manifest=run.manifest,
        attacks=tuple(parts),
        words=None,
        notes=tuple(notes),
        services={kind: fingerprint(part) for kind, part in sorted(tools.items())},
        window=options.window,
    )


def _victims(run: Run, options: Analysing) -> tuple[list[WordLayers], list[str]]:
    """The victims whose layers can be read, and why others cannot."""
    if options.victim is None:
        own = str(run.manifest.get("config", {}).get("victim", ""))
        remedy = f"--victim {own}" if own.startswith("hf:") else "--victim hf:PATH_OR_ID"
        if options.other_victim is not None:
            raise BadInput(f"--other-victim is compared with --victim; also name the run's own victim ({remedy}).")
        return [], [f"Layers were not compared: that needs a Hugging Face encoder; name it with {remedy}."]
    if options.other_victim == options.victim:
        raise BadInput(f"--other-victim is --victim again ({options.victim}); name another, such as a hardened one.")
    found, notes = [], []
    for name in (options.victim, options.other_victim):
        if name is None:
            continue
        victim = victim_of(VictimSettings(victim=name, device=options.device, trust_code=options.trust_code))
        layers = word_layers(victim)
        if isinstance(layers, str):
            notes.append(f"Layers were not compared: {layers}.")
            continue
        found.append(layers)
        known = run.manifest.get("identity", {}).get("victim_fingerprint")
        if name is options.victim and known is not None and victim.fingerprint != known:
            notes.append(f"{victim.name} is not the victim of the run: its layers did not see the attack.")
        if layers.mask is None:
            notes.append(f"{victim.name} has no mask token, so the masked words are left out.")
    return found, notes


def _examples(run: Run, options: Analysing) -> Iterable[Example]:
    """The training data, as a stream if it is a file."""
    names = comma(options.labels) or tuple(map(str, run.manifest.get("config", {}).get("labels") or ()))
    given: Any = options.train
    if isinstance(given, str | Path):
        return options.dataset(str(given), labels=names)
    return given if isinstance(given, Dataset) else examples_from(given, names)


def _median(column: Column, name: str, seed: int) -> Median:
    known = [one for one in column.substitutions if getattr(one, name) is not None]
    values = [getattr(one, name) for one in known]
    return median_of(values, of_examples(column, known), "substitutions", seed)


def _figures(column: Column, layers: list[LayerFigures], options: Analysing) -> AttackAnalysis:
    found = column.substitutions
    sizes = [len(case.substitutions) for case in column.cases]
    shares = [len(case.substitutions) / len(case.original) for case in column.cases]
    mixed = Random(f"{options.seed}/fragments/{column.attack}").sample(found, len(found))
    return AttackAnalysis(
        attack=column.attack,
        few_edits=Rate(sum(size <= 2 for size in sizes), len(sizes), FOUND),
        replaced=mean_of(shares, FOUND, 0, 1),
        frequencies=None if options.train is None else frequencies_of(column, options.seed),
        cosine=buckets_of(one.cosine for one in found),
        cosine_median=_median(column, "cosine", options.seed),
        similarity=buckets_of(one.similarity for one in found),
        similarity_median=_median(column, "similarity", options.seed),
        layers=tuple(layers),
        fragments=tuple(by_similarity(mixed)),
        substitutions=tuple(found),
    )


def _of_bias(run: Run, options: Analysing) -> Analysis:
    """How many training examples of each label hold each word of a bias run."""
    if options.train is None:
        raise BadInput(
            f"{run.folder or 'This run'} is a bias run, of which only the words in the training data are analysed; "
            "name the training data with --train."
        )
    with sound(run):
        words = dict.fromkeys(word.lower() for found in run.biases() for word in (found.old, found.new))
    if not words:
        raise BadInput(f"{run.folder or 'This run'} has no sentence with a pair of words; there is nothing to count.")
    rows = [0]

    def counted(examples: Iterable[Example]) -> Iterator[Example]:
        for example in examples:
            rows[0] += 1
            yield example

    classes = run.manifest.get("facts", {}).get("classes")
    counts = label_counts(counted(labelled(_examples(run, options), classes)), words)
    labels = comma(options.labels) or tuple(map(str, run.manifest.get("config", {}).get("labels") or ()))
    notes = ["This is a bias run: it has words to count, and no adversarial examples for the other analyses."]
    if options.victim is not None or options.other_victim is not None:
        notes.append("So --victim and --other-victim were not asked.")
    return Analysis(
        run=run.folder,
        manifest=run.manifest,
        attacks=(),
        words=WordLabels(counts, labels),
        notes=(f"{WORDS} They have {rows[0]:,} rows.", *notes),
        services={},
        window=options.window,
    )
