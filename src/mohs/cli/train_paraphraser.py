"""`mohs train --task scpn`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mohs.cli.saying import say, say_json
from mohs.errors import BadInput
from mohs.tasks.reading import Reading
from mohs.training.settings import RecipeSettings, TrainSettings

if TYPE_CHECKING:
    from mohs.training.loop import Report
    from mohs.training.paraphrasing import TrainedParaphraser


def as_scpn(asked: TrainSettings) -> TrainSettings:
    """The settings with the architecture of this task, where none was named."""
    unused = [("--swap", asked.swap), ("--labels", asked.labels), ("--harden", asked.harden), ("--test", asked.test)]
    unused += [("--dev", asked.dev), ("--test-text-field", asked.test_fields)]
    unused += [("--test-label-field", asked.test_label_field), ("--test-id-field", asked.test_id_field)]
    for flag, given in unused:
        if given:
            raise BadInput(f"{flag} does not apply to --task scpn; leave it out.")
    return replace(asked, arch="scpn") if asked.arch == TrainSettings().arch else asked


def started(
    asked: TrainSettings, recipe: RecipeSettings, reading: Reading, command: str, progress: Report | None
) -> TrainedParaphraser:
    """Train, or resume."""
    from mohs.tasks.services import load_services
    from mohs.training.paraphrasing import train_paraphraser

    def loaded(kind: str, name: str | None) -> Any:
        return load_services([kind], {kind: name}, device=asked.device)[kind].model

    return train_paraphraser(
        asked.arch,
        reading.dataset(asked.data),
        asked.folder,
        parser=lambda: loaded("parser", asked.parser),
        encoder=loaded("encoder", asked.encoder),
        dev_share=asked.dev_share,
        device=asked.device,
        save_every=asked.save_every,
        command=command,
        progress=progress,
        **recipe.given(),
    )


def tell(done: TrainedParaphraser, *, json: bool, verbose: bool) -> None:
    """Print the results."""
    dev = done.metrics["dev"]
    if json:
        facts = {"out": str(done.path), "paraphraser": done.paraphraser, "fingerprint": done.fingerprint}
        say_json({**facts, "trained": done.fresh, **done.metrics})
        return
    if not done.fresh:
        say(f"{done.path} is already trained; nothing was done. Choose another --out to train again.")
    say(f"dev: {dev['right']} of {dev['of']} tokens right ({dev['right'] / dev['of']:.1%}), each after the right ones")
    say(f"  written out: {dev['finished']} of {dev['asked']} finished, {dev['same']} as in the data")
    if dev["cosine"] is not None:
        say(f"  mean cosine with the text asked about: {dev['cosine']:.3f} ({dev['encoder']})")
    if verbose:
        epochs_run = len(done.metrics["history"])
        say(f"Best epoch {done.metrics['best_epoch']} of {epochs_run}; fingerprint {done.fingerprint}.")
    say(f"In {done.path}: use it with --attack scpn:paper --paraphraser {done.paraphraser}")
