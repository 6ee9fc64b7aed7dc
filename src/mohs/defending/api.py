"""`mohs.defend`: the command as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mohs.defending.result import Defended
from mohs.defending.settings import Defending

if TYPE_CHECKING:
    from mohs.defending.cases import AnyRun
    from mohs.runs.carry_out import Progress


def defend(
    runs: AnyRun | Sequence[AnyRun],
    defences: Any | Sequence[Any],
    *,
    keys: int = 5,
    adaptive_keys: int = 1,
    draws: int = 16,
    average: int = 4,
    victim: Any = None,
    other_victim: bool = False,
    victim_options: Mapping[str, str] | None = None,
    device: str | None = None,
    workers: int | str | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    again: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Defended:
    """Judge defences of an attacked victim in three ways: on finished texts, adaptively, and over draws.

    The result has `parts` (figures), `rows()`, `to_json()`, `write(path)`, `page(path)` and `show(console)`.

    runs: a run folder, a Run of `mohs.attack`, or several of them.
    defences: how one is written ("ensemble(n=8)", "safer(pocket)"), a defence of mohs.defences, a victim with a defence
        around it, or several of these.
    keys: how many keys of a defence's randomness answer the texts.
    adaptive_keys: for how many of these keys the attack runs against the defended model; 0: for none.
    draws: how many fresh draws judge the texts that the adaptive attack found.
    average: attack the mean of so many draws, too, and let the fresh draws judge its texts; 0: leave this out.
    victim: the run's victim, if it was an object or is elsewhere now.
    other_victim: allow defences around another victim than the run's.
    victim_options, device, trust_pickle, trust_code: for loading the victim, instead of the run's.
    workers: processes that share the examples of an adaptive attack, or auto.
    again: options of the adaptive attack instead of the run's, such as models that were objects: {"vectors": mine}.
    progress: called with the newest record or None, the texts and attempts finished, and their total so far.

    >>> import mohs
    >>> run = mohs.attack("pocket", "pocket", "random", n=4)
    >>> found = mohs.defend(run, "masking(n=2)", keys=2, draws=3, average=0)
    >>> found.parts[0].defences[0].left.of
    'examples attacked'
    """
    several = [defences] if isinstance(defences, str) or not isinstance(defences, Sequence) else list(defences)
    options = Defending(
        defences=tuple(several),
        keys=keys,
        adaptive_keys=adaptive_keys,
        draws=draws,
        average=average,
        victim=victim,
        other_victim=other_victim,
        victim_options=victim_options,
        device=device,
        workers=workers,
        trust_pickle=trust_pickle,
        trust_code=trust_code,
        again=again,
    )
    return options.carry_out(runs, progress)
