"""`mohs train --task t3`: trains a tree auto-encoder on the sentences of any data set.

The loss is that of each word, given the right word of its head (teacher forcing), among the words of the batch and
some drawn at random. In each batch some words are replaced by any others, or rare words would hardly ever be learned:
they stand in few sentences, and must come back from all. The figure is another: the share of all tokens, signs and
unknown words among them, that decoding gives back from the roots' vectors alone, each token after the word that was
decoded for its head. It is taken on sentences of at most 15 words that the training did not see. An unknown word is
never given back, so it counts as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.models.architectures import precisely
from mohs.models.device import choose_device
from mohs.models.tree_autoencoder import Shape, TreeAutoencoder
from mohs.models.tree_folder import load_trees, save_settings, save_trees
from mohs.models.tree_rows import UNKNOWN, Forest, Lexicon, Row, forest_of
from mohs.text import Example
from mohs.text.parses import Parse, sentences
from mohs.training.card import trees_card, versions
from mohs.training.folder import TrainingFolder
from mohs.training.hardening import Batch
from mohs.training.learner import Learner
from mohs.training.loop import Report, Set, drawn, fit
from mohs.training.parts import Source, read_parts
from mohs.training.recipe import Recipe, trees_recipe
from mohs.training.train import weights_digest

TASK = "t3"
MOST_WORDS = 15  # of the sentences on which it is measured
_OTHERS = 1000  # words drawn for the loss, beside those of the batch
_REPLACED = 0.3  # the share of a batch's words that are replaced by words drawn from all
_MEASURED = 128  # sentences at once
_PARSED = 1024  # texts at once


@dataclass(frozen=True)
class TrainedTrees:
    """A finished training of a tree auto-encoder."""

    path: Path
    fingerprint: str
    metrics: dict[str, Any]  # dev and, if given, test: right, of, sentences; best_epoch; history
    fresh: bool  # whether this call trained it; False if it was already finished


class TreeTrainer:
    """What the training loop needs of a tree auto-encoder."""

    digest = TASK

    def __init__(self, lexicon: Lexicon, recipe: Recipe) -> None:
        self.lexicon = lexicon
        self.module = TreeAutoencoder(Shape(len(lexicon.words), len(lexicon.relations), recipe.hidden or 0))

    @property
    def device(self) -> str:
        """Where the weights are."""
        return str(self.module.popular.device)

    def about(self) -> dict[str, Any]:
        """Facts for the model card."""
        return {
            "words known": f"{len(self.lexicon.words):,}",
            "relations known": f"{len(self.lexicon.relations):,}",
            "numbers in the model": f"{sum(p.numel() for p in self.module.parameters()):,}",
        }

    def first(self, epochs: int) -> int:
        """Any epoch may be the best."""
        return 0

    def backward(self, batch: Batch, epoch: float, epochs: int) -> float:
        """Add the gradient of the mean loss of the batch's known words."""
        forest = self._with_others(forest_of(batch.rows, self.device))
        others = torch.randint(1, len(self.lexicon.words) + 1, (_OTHERS,), device=self.device)
        among = torch.unique(torch.cat([forest.words, others]))
        known = forest.words != UNKNOWN
        told = self.module.decode(self.module.encode(forest), forest, forest.words)
        right = torch.searchsorted(among, forest.words)
        loss = cross_entropy(self.module.scores(told, among)[known], right[known])
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def _with_others(self, forest: Forest) -> Forest:
        """The same trees with some words replaced by any others."""
        drawn = torch.randint(1, len(self.lexicon.words) + 1, forest.words.shape, device=self.device)
        replaced = torch.rand(forest.words.shape, device=self.device) < _REPLACED
        return forest._replace(words=torch.where(replaced, drawn, forest.words))

    def check(self, learner: Any, data: Set) -> tuple[int, float]:
        """The number of tokens given back, and the share that was not."""
        right, of = given_back(self.module, data.rows, self.device)
        return right, 1 - right / of

    def save(self, folder: Path) -> None:
        """Write the weights and the lexicon."""
        save_trees(folder, self.lexicon, self.module)


def given_back(module: TreeAutoencoder, rows: Sequence[Row], device: str = "cpu") -> tuple[int, int]:
    """How many tokens are decoded as they were, and how many there are."""
    module.eval()
    right = of = 0
    order = sorted(rows, key=len)
    with torch.inference_mode():
        for start in range(0, len(order), _MEASURED):
            forest = forest_of(order[start : start + _MEASURED], device)
            found = module.scores(module.decode(module.encode(forest), forest)).argmax(1)
            right += int((found == forest.words).sum())
            of += len(found)
    return right, of


def train_trees(
    data: Source,
    out: str | Path,
    *,
    parser: Callable[[], Any],
    dev: Source | None = None,
    dev_share: float | None = None,
    test: Source | None = None,
    device: str = "auto",
    save_every: int = 500,
    command: str | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> TrainedTrees:
    """Train a tree auto-encoder, or resume an interrupted training.

    data, dev, test: as for mohs.training.train.train; labels are not used.
    parser: gives a dependency parser (see mohs.models.parser). A resumed training parses again.
    settings: the fields of mohs.training.recipe.Recipe; a missing one, or None, means the default.
    """
    recipe = trees_recipe(settings)
    if save_every < 1:
        raise BadInput(f"save_every is {save_every}; it must be at least 1.")
    parts = read_parts(data, dev, test, (), dev_share, recipe.seed, labels_used=False)
    where = choose_device(device)
    model = parser()
    learned = [one for one in parsed(parts.train, model) if len(one) <= recipe.max_words]
    seen = set(map(_spelt, learned))
    held = {"dev": _short(parsed(parts.dev, model), seen), "test": _short(parsed(parts.test, model), seen)}
    for name, examples in (("dev", parts.dev), ("test", parts.test)):
        if examples and not held[name]:
            raise BadInput(
                f"The {name} data has no sentence of at most {MOST_WORDS} words that is not in the training data too; "
                "give other data."
            )
    lexicon = Lexicon.of(learned, recipe.min_count or 1)
    if not lexicon.words:
        raise BadInput(f"No word of the data occurs {recipe.min_count} times; lower --min-count.")
    rows = [row for row in map(lexicon.row, learned) if any(row.words)]
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[where] if where.startswith("cuda") else []))
        torch.manual_seed(drawn(recipe.seed, "start"))
        trainer = TreeTrainer(lexicon, recipe)
        config = {**recipe.settings(), "task": TASK, "data": parts.facts["train"]["source"], "dev_share": dev_share}
        config |= {name: parts.facts[name]["source"] for name, given in (("dev", dev), ("test", test)) if given}
        config |= {"device": device, "save_every": save_every, "parser": model.name}
        identity = {
            **recipe.settings(),
            "task": TASK,
            "train_hash": parts.facts["train"]["hash"],
            "dev_hash": parts.facts["dev"]["hash"],
            "parser": model.fingerprint,
            "device": where.partition(":")[0],
            "starting_weights": weights_digest(trainer.module),
        }
        folder = TrainingFolder.open(Path(out), config, identity)
        stack.callback(folder.close)
        fresh = folder.finished is None
        if fresh:
            trainer.module.to(where)
            dev_rows = list(map(lexicon.row, held["dev"]))
            sets = _set(rows), _set(dev_rows)
            of = sum(map(len, dev_rows))
            with precisely():
                how: dict[str, Any] = {"save_every": save_every, "report": progress, "of": of, "trainer": trainer}
                place = fit(cast(Learner, trainer), recipe, *sets, folder, **how)  # it is asked for no logits
            metrics = {
                name: _measured(trainer, [lexicon.row(one) for one in found]) for name, found in held.items() if found
            }
            figure = metrics.get("test", metrics["dev"])
            folder.publish(lambda beside: _write(beside, trainer, figure))
            history = [[loss, right] for loss, right in place.history]
            made = {
                "settings": {"task": TASK, **recipe.settings()},
                "about": trainer.about(),
                "device": where,
                "seconds": [round(seconds, 3) for seconds in place.seconds],
                "command": command or "mohs.training.trees.train_trees(...)",
                "versions": versions(),
                "data": parts.facts,
                "parser": model.name,
                "sentences": len(rows),
                "autoencoder": str(out),
                "fingerprint": load_trees(str(out), device).fingerprint,
                "metrics": {**metrics, "best_epoch": place.best_epoch + 1, "history": history},
            }
            folder.publish(lambda beside: _write_card(beside, made))
            folder.finish(made)
    facts = folder.finished or {}
    return TrainedTrees(Path(out), facts["fingerprint"], facts["metrics"], fresh)


def parsed(examples: Iterable[Example], parser: Any) -> list[Parse]:
    """The sentences of all fields, each once, in the order of the data."""
    strings = list(dict.fromkeys(field for example in examples for field in example.text.fields))
    found: dict[str, Parse] = {}
    for start in range(0, len(strings), _PARSED):
        for batch in parser.plan(strings[start : start + _PARSED]):
            found.update(zip(batch, parser.collect(parser.launch(batch)), strict=True))
    return [one for string in strings for one in sentences(found[string])]


def _short(found: Sequence[Parse], seen: set[tuple[str, ...]]) -> list[Parse]:
    """The sentences of few words that the training does not see."""
    return [
        one
        for one in found
        if _spelt(one) not in seen and sum(any(map(str.isalnum, token.text)) for token in one) <= MOST_WORDS
    ]


def _spelt(parse: Parse) -> tuple[str, ...]:
    return tuple(token.text.lower() for token in parse)


def _set(rows: list[Row]) -> Set:
    return Set(rows, [0] * len(rows), [()] * len(rows), [()] * len(rows))  # type: ignore[list-item]


def _measured(trainer: TreeTrainer, rows: Sequence[Row]) -> dict[str, int]:
    right, of = given_back(trainer.module, rows, trainer.device)
    unknown = sum(word == UNKNOWN for row in rows for word in row.words)
    return {"right": right, "of": of, "unknown": unknown, "sentences": len(rows)}


def _write(folder: Path, trainer: TreeTrainer, figure: dict[str, int]) -> None:
    trainer.save(folder)
    save_settings(folder, trainer.lexicon, trainer.module, {"right": figure["right"], "of": figure["of"]})


def _write_card(folder: Path, facts: dict[str, Any]) -> None:
    (folder / "README.md").write_text(trees_card(facts), "utf-8")
