"""`mohs.audit`: the command as a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mohs.audits.columns import AnyRun
from mohs.audits.measuring import Progress
from mohs.audits.result import Audit
from mohs.audits.settings import Auditing
from mohs.space import Constraint


def audit(
    runs: AnyRun | Sequence[AnyRun],
    *,
    require: Sequence[str | Constraint] = (),
    absolute: Sequence[str | Constraint] = (),
    encoder: Any = None,
    token_encoder: Any = None,
    masked_lm: Any = None,
    lm: Any = None,
    tagger: Any = None,
    grammar: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    judge: Any = None,
    device: str = "auto",
    trust_code: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Measure the adversarial examples of finished attacks on every class of constraints (Morris et al. 2020).

    The result has `summary()`, `to_json()` and `page(path)`.

    runs: a run folder, a Run of `mohs.attack`, or several of them.
    require: constraints on the final texts, such as "similarity:angular=no>=0.9"; by default word-cosine>=0.9,
        similarity:angular=no,window=15>=0.98 and grammar-errors<=0.
    absolute: bounds on the final text alone, such as "perplexity<=300" or "grammar-errors<=2".
    encoder, token_encoder, masked_lm, lm, tagger, grammar, vectors, wordnet, judge: names, or the models themselves.
    device: for the models: auto, cpu, cuda or cuda:N.
    trust_code: run the code that comes with an hf: model.
    progress: called with None, the number of examples measured, and the total.

    >>> import mohs
    >>> found = mohs.audit(mohs.attack("pocket", "pocket", n=5), require=["word-cosine>=0.8"])
    >>> found.summary()[0].success.of
    'examples attacked'
    """
    options = Auditing(
        require=tuple(require),
        absolute=tuple(absolute),
        encoder=encoder,
        token_encoder=token_encoder,
        masked_lm=masked_lm,
        lm=lm,
        tagger=tagger,
        grammar=grammar,
        vectors=vectors,
        wordnet=wordnet,
        judge=judge,
        device=device,
        trust_code=trust_code,
    )
    return options.carry_out(runs, progress)
