"""`mohs train --task t3`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mohs.cli.saying import say, say_json
from mohs.errors import BadInput
from mohs.tasks.reading import Reading
from mohs.training.settings import RecipeSettings, TrainSettings

if TYPE_CHECKING:
    from mohs.training.loop import Report
    from mohs.training.trees import TrainedTrees


def as_t3(asked: TrainSettings) -> TrainSettings:
    """The settings of this task, whose one architecture need not be named."""
    if asked.arch not in (TrainSettings().arch, "t3"):
        raise BadInput(f"--arch {asked.arch} does not apply to --task t3; leave it out.")
    for flag, given in (
        ("--swap", asked.swap),
        ("--labels", asked.labels),
        ("--harden", asked.harden),
        ("--encoder", asked.encoder),
    ):
        if given:
            raise BadInput(f"{flag} does not apply to --task t3; leave it out.")
    return replace(asked, arch="t3")


def started(
    asked: TrainSettings, recipe: RecipeSettings, reading: Reading, command: str, progress: Report | None
) -> TrainedTrees:
    """Train, or resume."""
    from mohs.tasks.services import load_services
    from mohs.training.trees import train_trees

    def parser() -> Any:
        return load_services(["parser"], {"parser": asked.parser}, device=asked.device)["parser"].model

    dataset = reading.dataset(asked.data)
    return train_trees(
        dataset,
        asked.folder,
        parser=parser,
        dev=asked.dev,
        dev_share=asked.dev_share,
        test=asked.tested(dataset),
        device=asked.device,
        save_every=asked.save_every,
        command=command,
        progress=progress,
        **recipe.given(),
    )


def tell(done: TrainedTrees, *, json: bool, verbose: bool) -> None:
    """Print how much is given back."""
    if json:
        facts = {"out": str(done.path), "fingerprint": done.fingerprint, "trained": done.fresh}
        say_json({**facts, **done.metrics})
        return
    if not done.fresh:
        say(f"{done.path} is already trained; nothing was done. Choose another --out to train again.")
    for name in ("dev", "test"):
        if name in done.metrics:
            found = done.metrics[name]
            say(
                f"{name}: {found['right']} of {found['of']} tokens given back ({found['right'] / found['of']:.1%}), in "
                f"{found['sentences']} sentences of at most 15 words; {found['unknown']} were unknown words"
            )
    if verbose:
        epochs_run = len(done.metrics["history"])
        say(f"Best epoch {done.metrics['best_epoch']} of {epochs_run}; fingerprint {done.fingerprint}.")
    say(f"In {done.path}: use it with --attack t3 --autoencoder {done.path}")
