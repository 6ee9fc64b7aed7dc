"""The pieces that defences.py is made of: train a victim, attack it, ask a defence about the texts.

Each piece is a *cell* with a name, the names of the cells that it needs, and a result that is kept as JSON. A cell that
was stopped goes on where it stood: trainings and runs have folders of their own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mohs.defences.versions import Versions

LABELS = {
    "ag_news": ("world", "sports", "business", "sci-tech"),
    "yelp": ("negative", "positive"),
    "imdb": ("negative", "positive"),
    "sst2": ("negative", "positive"),
}
MOST_WORDS = {"yelp": 80}  # as in the thesis
SEED = 0  # of the examples that are drawn

Result = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Where things are and how much of them to take."""

    assets: Path
    models: Path  # the folder with minilm-mlm
    out: Path
    device: str = "auto"
    dtype: str = "auto"  # of MiniLM while it is attacked
    n: int = 200  # attacked examples; of SST-2 twice as many
    n_long: int = 100  # of IMDB
    tested: int = 500  # examples for clean accuracy
    rows: int | None = 8_000  # training examples, None: all
    sentences: int | None = None  # training examples of SST-2
    words: int | None = 100  # IMDB's reviews are cut to so many words
    epochs: int = 2
    augmented: int = 12  # epochs of augmented training
    keys: int = 10  # draws of a defence's randomness
    budget: int | None = 3_000  # queries an example of IMDB
    quick: bool = False

    @property
    def masked_lm(self) -> str:
        """Of BAE and BERT-Attack; its encoder is fine-tuned as the victim."""
        return f"hf:{self.models / 'minilm-mlm'}"

    @property
    def vectors(self) -> str:
        """Counter-fitted."""
        return str(self.assets / "lexical" / "counter-fitted-glove-100d")

    @property
    def wordnet(self) -> str:
        """The database files."""
        return str(self.assets / "lexical" / "wordnet-3.0.tar.gz")

    @property
    def jia(self) -> str:
        """The list of Jia et al. 2019."""
        return str(self.assets / "lexical" / "jia-2019-neighbours.json.gz")

    def attacked(self, data: str, method: str = "") -> int:
        """How many examples are attacked; fewer of SST-2 by slow methods."""
        if self.quick and method == "so-beam":
            return self.n // 4  # a search that fails asks the masked language model thousands of rows
        if data == "sst2":
            return 2 * self.n if method in ("", "so-beam", "random") and not self.quick else self.n // 2
        return self.n_long if data == "imdb" else self.n

    def file(self, data: str, part: str) -> Path:
        """The examples of a part: train, test or attack (the first of test). Written by `write_data`."""
        return self.out / "data" / f"{data}-{part}.jsonl"

    def victim(self, model: str) -> str:
        """The name of a trained victim, by its model."""
        return f"{'hf' if '-minilm-' in model else 'mohs'}:{self.out / 'victims' / model}"

    def options(self, victim: str) -> Mapping[str, str] | None:
        """The options of a victim."""
        return {"dtype": self.dtype} if self.dtype != "auto" and "hf:" in victim else None

    def folder(self, cell: str) -> Path:
        """The folder of a run."""
        return self.out / "runs" / cell

    def kept(self, cell: str) -> Path:
        """The file of a result."""
        return self.out / "cells" / f"{cell}.json"

    def result(self, cell: str) -> Result | None:
        """A result that is there, or None."""
        return json.loads(self.kept(cell).read_text()) if self.kept(cell).exists() else None


class Cell(Protocol):
    """A piece of work."""

    @property
    def name(self) -> str:
        """Also of its files."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Cells that come before."""
        ...

    def __call__(self, setting: Setting) -> Result:
        """Do it."""
        ...


def carried_out(cell: Cell, setting: Setting) -> Result:
    """The result of a cell, kept as soon as it is there."""
    started = time.perf_counter()
    result = {**cell(setting), "took": round(time.perf_counter() - started, 1)}
    path = setting.kept(cell.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".part").write_text(json.dumps(result))
    path.with_suffix(".part").replace(path)
    return result


def write_data(data: str, setting: Setting) -> None:
    """Write the examples of a data set: drawn with a seed, IMDB's cut to the first words."""
    from mohs.text.dataset import Dataset

    if all(setting.file(data, part).exists() for part in ("train", "test", "attack")):
        return
    source, most = setting.assets / "data" / data, MOST_WORDS.get(data)
    held = source / ("dev.jsonl.gz" if data == "sst2" else "test.jsonl.gz")  # SST-2's test labels are not public
    n = setting.rows if data != "sst2" else setting.sentences
    train = Dataset(str(source / "train.jsonl.gz"), n=n, sample=SEED if n else None, most_words=most)
    test = [*Dataset(str(held), n=max(setting.tested, setting.attacked(data)), sample=SEED, most_words=most)]
    for part, examples in (("train", train), ("test", test), ("attack", spread(test, setting.attacked(data)))):
        path = setting.file(data, part)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            {"id": one.id, "text": cut(str(one.text), setting.words if data == "imdb" else None), "label": one.label}
            for one in examples
        ]
        path.with_suffix(".part").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        path.with_suffix(".part").replace(path)


def spread(examples: list[Any], n: int) -> list[Any]:
    """So many examples at equal steps: IMDB's file is sorted by label."""
    return [examples[i * len(examples) // n] for i in range(n)] if n < len(examples) else examples


def cut(text: str, words: int | None) -> str:
    """The first words, as spaces divide them."""
    return text if words is None else " ".join(text.split()[:words])


@dataclass(frozen=True)
class Model:
    """A victim to train."""

    data: str
    arch: str
    label: str  # N, DA, DA-wn, ADV ...
    harden: tuple[str, ...] = ()  # {vectors}, {jia}: of the assets
    verifiable: bool = False
    seed: int = 0
    settings: tuple[tuple[str, Any], ...] = ()  # more of the recipe

    @property
    def lasts(self) -> bool:
        """Whether it has as many epochs as augmented training."""
        return bool(self.harden) or self.label == "N-long"

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.data}-{self.arch}-{self.label}{f'-s{self.seed}' if self.seed else ''}"


@dataclass(frozen=True)
class Lexicon:
    """Search the neighbours of all words at once; the cache on disk then serves every process."""

    name = "lexicon"
    needs = ()

    def __call__(self, setting: Setting) -> Result:
        """The number of words; for a quick call those of the examples."""
        from mohs.text.dataset import Dataset
        from mohs.text.vectors import read_vectors

        vectors = read_vectors(setting.vectors)
        words = list(vectors.words)
        if setting.quick:
            files = sorted((setting.out / "data").glob("*.jsonl"))
            words = list({word.lower() for file in files for one in Dataset(str(file)) for word in one.text.words})
        for start in range(0, len(words), 4_000):
            vectors.near(words[start : start + 4_000], 50)
        return {"words": len(words)}


@dataclass(frozen=True)
class Train:
    """Train a victim."""

    model: Model

    @property
    def name(self) -> str:
        """Of the training."""
        return f"train-{self.model.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """With augmentation the neighbours of words."""
        return ("lexicon",) if self.model.harden else ()

    def __call__(self, setting: Setting) -> Result:
        """Accuracy, and seconds an epoch."""
        from mohs.training.folder import seconds_of
        from mohs.training.train import train

        model, pretrained = self.model, self.model.arch == "minilm"
        options: dict[str, Any] = dict(model.settings)
        if pretrained:
            options |= {"lr": 1e-4, "max_words": 192}  # 2e-5 in the thesis, for BERT-base and 15 to 25 times the rows
            options["epochs"] = options.get("epochs") or (setting.augmented if model.lasts else setting.epochs)
            options["patience"] = options["epochs"]
        else:
            options.setdefault("vectors", str(setting.assets / "lexical" / "glove-100d"))
        if model.verifiable:
            options["verifiable"] = True
        if setting.quick:
            options["epochs"] = 8 if model.arch == "bow" else 4
        done = train(
            setting.masked_lm if pretrained else model.arch,
            str(setting.file(model.data, "train")),
            setting.out / "victims" / model.name,
            test=str(setting.file(model.data, "test")),
            labels=LABELS[model.data],
            harden=[one.format(vectors=setting.vectors, jia=setting.jia) for one in model.harden],
            device=setting.device,
            seed=model.seed,
            **options,
        )
        return {**done.metrics["test"], "victim": done.victim, "seconds": seconds_of(done.path)}


def wrapped(victim: str, defence: str, key: int, setting: Setting) -> str:
    """A victim with a defence: PP, PP32 (versions), PP-cv70 (cosine), PP-wn (WordNet), MA5 (percent masked)."""
    if not defence:
        return victim
    kind, _, rest = defence.partition("-")
    if kind.startswith("MA"):
        return f"masking({victim}, rate={int(kind[2:]) / 100}, key={key})"
    count = int(kind[2:] or 8)
    if rest == "wn":
        return f"ensemble({victim}, n={count}, words=wordnet, wordnet={setting.wordnet}, key={key})"
    cosine = int(rest[2:] or 50) / 100 if rest else 0.5
    return f"ensemble({victim}, n={count}, cosine={cosine}, vectors={setting.vectors}, key={key})"


@dataclass(frozen=True)
class Attack:
    """Attack a victim as it is, or with its defence: then the defended system is the black box."""

    model: Model
    attack: str
    defence: str = ""

    @property
    def name(self) -> str:
        """Of the run."""
        around = f"+{self.defence}" if self.defence else ""
        return f"attack-{self.model.name}{around}-{self.attack.replace(':', '-')}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The victim, and the neighbours of words."""
        return (Train(self.model).name, "lexicon")

    def __call__(self, setting: Setting) -> Result:
        """Counts of the run."""
        import mohs

        model = self.model
        victim = wrapped(setting.victim(model.name), self.defence, 0, setting)
        genetic = self.attack.startswith("genetic")
        with mohs.attack(
            victim,
            str(setting.file(model.data, "attack")),
            [without_lm(setting) if genetic else self.attack],
            labels=LABELS[model.data],
            n=setting.attacked(model.data, self.attack),
            out=setting.folder(self.name),
            budget=setting.budget if model.data == "imdb" else None,
            change_placeholders=True,
            no_judge=True,
            device=setting.device,
            victim_options=setting.options(victim),
            vectors=setting.vectors,
            wordnet=setting.wordnet,
            masked_lm=setting.masked_lm,
            encoder="pocket",
            tagger="pocket",
        ) as run:
            (summary,) = run.summary()
            edits = [len(record.edits) for record in run.records() if record.outcome == "success"]
        before = summary.accuracy_before
        return {
            "successes": summary.success.hits,
            "attacked": summary.success.total,
            "right": before.hits,
            "of": before.total,
            "queries": summary.queries.value,
            "words": summary.share_changed.value,
            "few": sum(count <= 2 for count in edits),
            "exhausted": summary.outcomes["exhausted"],
            "errors": summary.outcomes["error"],
        }


def without_lm(setting: Setting) -> Any:
    """TextAttack's genetic search, weak parents and all, within the synonyms of Jia et al. and without its LM."""
    from dataclasses import replace

    from mohs.attacks.genetic import genetic_textattack
    from mohs.space import parse_source

    recipe = genetic_textattack()
    kept = tuple(one for one in recipe.constraints if "lm" not in one.measure.needs)
    return replace(recipe, source=parse_source(f"thesaurus:{setting.jia}"), constraints=kept)


@dataclass(frozen=True)
class SecondOrder:
    """A second-order attack on a victim."""

    model: Model
    method: str

    @property
    def name(self) -> str:
        """Of the run."""
        return f"second-{self.model.name}-{self.method}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The victim."""
        return (Train(self.model).name,)

    def __call__(self, setting: Setting) -> Result:
        """Counts of the run."""
        import mohs
        from mohs.report.second_order.figures import summarise_second_order

        with mohs.second_order_attack(
            setting.victim(self.model.name),
            str(setting.file(self.model.data, "attack")),
            self.method,
            n=setting.attacked(self.model.data, self.method),
            synonyms=f"thesaurus:{setting.jia}",
            patch_stopwords=True,  # as in the paper
            labels=LABELS[self.model.data],
            out=setting.folder(self.name),
            device=setting.device,
            masked_lm=setting.masked_lm,
        ) as run:
            (summary,) = summarise_second_order(run.records())
        found = summary.vulnerable
        return {
            "successes": found.hits,
            "attacked": summary.with_pair.total,  # the paper counts all examples
            "pairs": found.total,
            "itself": summary.unchanged,
            "words": summary.l0.value,
            "queries": summary.queries.value,
        }


@dataclass(frozen=True)
class Clean:
    """How often a defended victim is right on clean texts, for several keys."""

    model: Model
    defence: str

    @property
    def name(self) -> str:
        """Of the result."""
        return f"clean-{self.model.name}+{self.defence}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The victim."""
        return (Train(self.model).name,)

    def __call__(self, setting: Setting) -> Result:
        """Right answers for each key."""
        from mohs.text.dataset import Dataset

        examples = list(Dataset(str(setting.file(self.model.data, "test"))))
        texts = [one.text.fields for one in examples]
        right = [
            sum(label == one.label for label, one in zip(said, examples, strict=True))
            for said in answered(self.model, self.defence, texts, range(1, 1 + max(3, setting.keys // 2)), setting)
        ]
        return {"right": right, "of": len(examples)}


@dataclass(frozen=True)
class Ask:
    """Ask a victim, with several keys of its defence, about the adversarial texts of a run.

    Texts that were made for the undefended victim show what the defence does to finished examples; texts that were
    made for the defended one show whether a success survives fresh draws.
    """

    run: Attack
    defence: str

    @property
    def name(self) -> str:
        """Of the result."""
        return f"ask-{self.run.name}-by-{self.defence}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The run."""
        return (self.run.name,)

    def __call__(self, setting: Setting) -> Result:
        """For each key the number of texts that still fool, and of each text how many keys it fools."""
        import mohs

        with mohs.Run.open(setting.folder(self.run.name)) as run:
            hits = [record for record in run.records() if record.outcome == "success"]
            (summary,) = run.summary()
        texts = [record.perturbed for record in hits]
        keys = range(1, 1 + setting.keys)
        said = answered(self.run.model, self.defence, texts, keys, setting) if hits else [[] for _ in keys]
        fooled = [[label != one.label for label, one in zip(row, hits, strict=True)] for row in said]
        of_text = [sum(row[number] for row in fooled) for number in range(len(hits))]
        return {
            "attacked": summary.success.total,
            "successes": len(hits),
            "fooled": [sum(row) for row in fooled],
            "keys": len(keys),
            "most": sum(2 * count > len(keys) for count in of_text),
            "any": sum(count > 0 for count in of_text),
            "share": fmean(of_text) / len(keys) if of_text else None,
        }


def answered(model: Model, defence: str, texts: list[Any], keys: range, setting: Setting) -> list[list[int]]:
    """The labels that a defended victim gives texts, for each key."""
    from mohs.models.victim import answers_of

    spec = wrapped(setting.victim(model.name), defence, 0, setting)
    victim, found = loaded(spec, LABELS[model.data], setting.device), []
    for key in keys:
        answers = answers_of(victim.with_key(key), list(dict.fromkeys(texts)))
        found.append([max(range(len(answers[text])), key=answers[text].__getitem__) for text in texts])
    return found


@lru_cache(maxsize=6)
def loaded(spec: str, labels: tuple[str, ...], device: str) -> Versions:
    """A defended victim, kept for the next cells of this process."""
    from mohs.defences.versions import Versions
    from mohs.runs.settings import VictimSettings
    from mohs.runs.subject import victim_of

    victim = victim_of(VictimSettings(victim=spec, labels=labels, device=device))
    assert isinstance(victim, Versions)
    return victim


@dataclass(frozen=True)
class Analyse:
    """Count the words of a run's adversarial texts in the training data (Tables 5.1 and 5.2)."""

    run: Attack

    @property
    def name(self) -> str:
        """Of the result."""
        return f"words-{self.run.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The run."""
        return (self.run.name,)

    def __call__(self, setting: Setting) -> Result:
        """The figures of `mohs analyse`."""
        import mohs

        train = str(setting.file(self.run.model.data, "train"))
        found = mohs.analyse(setting.folder(self.run.name), train=train, vectors=setting.vectors, encoder="pocket")
        return {**found.attacks[0].to_json(), "fragments": []}
