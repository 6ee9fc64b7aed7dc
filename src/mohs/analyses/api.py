"""`mohs.analyse`: the command as a function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.analyses.result import Analysis
from mohs.analyses.settings import Analysing
from mohs.runs.run import Run

if TYPE_CHECKING:
    from mohs.analyses.working import Told


def analyse(
    run: Run | str | Path,
    *,
    train: Any = None,
    victim: Any = None,
    other_victim: Any = None,
    pairs: int = 300,
    window: int = 11,
    seed: int = 0,
    encoder: Any = None,
    vectors: Any = None,
    device: str = "auto",
    trust_code: bool = False,
    progress: Told | None = None,
    **reading: Any,
) -> Analysis:
    """Analyse the adversarial examples of a finished attack as Hauser 2021 does, or the words of a bias run.

    The result has `attacks` (figures), `words` (of a bias run), `notes`, `to_json()`, `write(path)` and `page(path)`.

    run: a run folder, or a Run of `mohs.attack` or `mohs.token_bias`.
    train: the victim's training data: a file, a Dataset, or examples; without it words are not counted.
    victim, other_victim: Hugging Face classifiers whose layers are compared, as a name, a victim, or a model with its
        tokenizer.
    pairs: how many adversarial examples are compared layer by layer.
    window: words in a fragment around a replaced word.
    seed: for the random words, the pairs and the bootstrap.
    encoder, vectors: names, or the encoder and the word vectors themselves.
    device: for the models: auto, cpu, cuda or cuda:N.
    trust_code: run the code that comes with an hf: model.
    progress: called with None, the work done by models, and its total.
    The other arguments are for reading a file of training data: fields, label_field, labels, n, sample, encoding ...

    >>> import mohs
    >>> found = analyse(mohs.attack("pocket", "pocket", n=5), train="pocket:train")
    >>> found.attacks[0].few_edits.of
    'adversarial examples'
    """
    options = Analysing(
        run="" if isinstance(run, Run) else run,
        train=train,
        victim=victim,
        other_victim=other_victim,
        pairs=pairs,
        window=window,
        seed=seed,
        encoder=encoder,
        vectors=vectors,
        device=device,
        trust_code=trust_code,
        **reading,
    )
    return options.carry_out(run if isinstance(run, Run) else None, progress)
