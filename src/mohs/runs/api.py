"""From a victim, examples and attacks to a run: the Python face of the package, and what the command line calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from mohs.attack_job import attack_job
from mohs.attacks.goal import UNTARGETED
from mohs.attacks.method import Attack
from mohs.attacks.named_entities import NamedEntities
from mohs.bias import Pairs
from mohs.bias_job import bias_job
from mohs.bounds import Certificate, Checked, Points, Share, check, read_certificates
from mohs.engine import Service
from mohs.errors import BadInput
from mohs.job import Examples, Job, alike, answered, short, victim_of
from mohs.models.sheets import sheets_of
from mohs.models.victim import Fields, Scores, Victim
from mohs.radius_job import radius_job
from mohs.records import Record, RunStore
from mohs.run import Run
from mohs.second_order import SecondOrder
from mohs.second_order_job import second_order_job
from mohs.space import Constraint, Measure, Services, Source, Space
from mohs.workers import Plan, spread

if TYPE_CHECKING:
    pass

Progress = Callable[[Record | None, int, int], None]  # the newest record, how many are finished, of how many


def attack(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    attacks: str | Sequence[str | Attack] = ("textfooler",),
    *,
    seed: int = 0,
    goal: str = UNTARGETED,
    n: int | None = None,
    budget: int | None = None,
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    measures: Sequence[str | Measure] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    entities: str | Path | NamedEntities | None = None,
    encoder: Any = None,
    token_encoder: Any = None,
    masked_lm: Any = None,
    lm: Any = None,
    tagger: Any = None,
    grammar: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    out: str | Path | None = None,
    device: str = "auto",
    labels: Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Attack every example with every attack and return the run.

    victim: a name (`pocket`, `hf:...`, see the README), a victim object, or a function from texts to probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    attacks: names as on the command line, or attack objects.
    out: a run folder, which makes the run resumable; without one it lives in memory.
    goal: `untargeted`, `targeted:CLASS` or `below:PROBABILITY`; for input-reduction, whose own is `reduced:1`, also
    `reduced:WORDS`.
    budget: the most distinct texts one search may ask the victim.
    source: where replacement words come from, instead of each attack's own; constraints: in addition to each attack's
    own; stopwords: words left alone, instead of each attack's own ("none", a file, or words); all as objects of
    mohs.space, or as on the command line ("wordnet", "similarity>=0.9").
    entities: what replaces named entities, for pwws: a file as `mohs entities` writes it.
    measures: taken of each final text, beside those of the constraints ("grammar-errors", "perplexity").
    encoder, token_encoder, masked_lm, lm, tagger, grammar, vectors, wordnet, sememes: the models and word books that
    attacks ask, by name as on the command line, or the object itself.
    at_once: how many searches are alive at a time; by default as many as the victim's device likes.
    workers: processes that share the examples, each with its own copy of the models; the records do not depend on it.
    cache: a file of the victim's answers, shared between runs.

    >>> import mohs
    >>> run = mohs.attack("pocket", "pocket", ["random"], n=5)
    >>> len(list(run.records()))
    5
    """
    _positive(n=n, budget=budget, at_once=at_once, workers=workers)
    models = {
        "encoder": encoder,
        "token_encoder": token_encoder,
        "masked_lm": masked_lm,
        "lm": lm,
        "tagger": tagger,
        "grammar": grammar,
        "vectors": vectors,
        "wordnet": wordnet,
        "sememes": sememes,
    }
    options: dict[str, Any] = {
        "seed": seed,
        "goal": goal,
        "n": n,
        "budget": budget,
        "source": source,
        "constraints": constraints,
        "measures": measures,
        "stopwords": stopwords,
        "entities": entities,
        "models": models,
        "device": device,
        "labels": labels,
        "victim_options": victim_options,
        "trust_pickle": trust_pickle,
        "trust_code": trust_code,
        "at_once": at_once,
        "cache": cache,
    }
    job = attack_job(victim, examples, attacks, **options)
    return _run("attack", job, attack_job, (victim, job.data, attacks), options, workers, out, progress)


def second_order_attack(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    method: str | SecondOrder = "so-beam",
    *,
    masked_lm: Any = None,
    k: int | None = None,
    beam: int | None = None,
    synonyms: str | Source | None = None,
    blacklist: str | Path | Iterable[str] | None = None,
    floor: float | None = None,
    most: int = 1_000_000,
    lm: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    seed: int = 0,
    n: int | None = None,
    budget: int | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    labels: Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Look, near every example, for a natural text whose prediction one synonym changes (Zhang et al. 2021).

    method: `so-enum`, `so-beam` or `random`, as in the paper or `so-beam:released`; or a SecondOrder.
    masked_lm: what writes the neighbours: `hf:PATH_OR_ID`, or the model itself.
    k: how many words may change, by default the method's own (2; 6 for so-beam and random).
    synonyms: where the patch words come from, as on the command line; by default the eight nearest word vectors.
    blacklist: words that are never brought in: a file, or words.
    floor: leave out neighbours whose perplexity to `lm` is more than so many times the original's.
    most: texts an example that so-enum may be expected to look at; more is refused.
    said: called with what is known before the first search, sentence by sentence: how many texts to expect, and such.
    The other arguments are those of `mohs.attack`.
    """
    _positive(n=n, budget=budget, at_once=at_once, workers=workers, k=k, beam=beam, most=most)
    models = {"masked_lm": masked_lm, "lm": lm, "vectors": vectors, "wordnet": wordnet, "sememes": sememes}
    options: dict[str, Any] = {
        "k": k,
        "beam": beam,
        "synonyms": synonyms,
        "blacklist": blacklist,
        "floor": floor,
        "most": most,
        "seed": seed,
        "n": n,
        "budget": budget,
        "models": models,
        "device": device,
        "labels": labels,
        "victim_options": victim_options,
        "trust_pickle": trust_pickle,
        "trust_code": trust_code,
        "at_once": at_once,
        "cache": cache,
    }
    job = second_order_job(victim, examples, method, **options)
    _say(job, said)
    return _run("second-order", job, second_order_job, (victim, job.data, method), options, workers, out, progress)


def token_bias(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    pairs: str | Path | Pairs = "gender",
    *,
    masked_lm: Any = None,
    k: int = 2,
    label: str | int | None = None,
    epsilon: float = 0.005,
    both_directions: bool = False,
    blacklist: str | Path | Iterable[str] | None = None,
    floor: float | None = None,
    most: int = 10_000,
    breadth: int = 100,
    lm: Any = None,
    seed: int = 0,
    n: int | None = None,
    budget: int | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    labels: Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Measure how a pair of words such as he and she moves the victim, in natural neighbourhoods (Zhang et al. 2021).

    pairs: `gender`, `nationality`, `religion`, `sexual-orientation`, `country`, or a file with two words a row.
    masked_lm: what writes the neighbours: `hf:PATH_OR_ID`, or the model itself; not needed with k=0.
    k: how far to walk from each sentence; 0 measures the sentences as they are.
    label: the class whose probability is looked at, by name or number; by default the last.
    epsilon: the filtered set is of sentences that the pair itself moves by less than this.
    both_directions: use sentences with a pair's second word as well.
    most, breadth: a level that is expected to have more texts than `most` is sampled, by the neighbours of `breadth`
    texts of the level before (the released code: 800).
    blacklist, floor, said: as in `second_order_attack`; the other arguments are those of `mohs.attack`.
    """
    _positive(n=n, budget=budget, at_once=at_once, workers=workers, most=most, breadth=breadth)
    if k < 0:
        raise BadInput(f"k is {k}; it must be at least 0.")
    options: dict[str, Any] = {
        "k": k,
        "label": label,
        "epsilon": epsilon,
        "both_directions": both_directions,
        "blacklist": blacklist,
        "floor": floor,
        "most": most,
        "breadth": breadth,
        "seed": seed,
        "n": n,
        "budget": budget,
        "models": {"masked_lm": masked_lm, "lm": lm},
        "device": device,
        "labels": labels,
        "victim_options": victim_options,
        "trust_pickle": trust_pickle,
        "trust_code": trust_code,
        "at_once": at_once,
        "cache": cache,
    }
    job = bias_job(victim, examples, pairs, **options)
    _say(job, said)
    return _run("bias", job, bias_job, (victim, job.data, pairs), options, workers, out, progress)


def radius(
    victim: str | Victim | Callable[[list[Any]], Any],
    examples: Examples,
    *,
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    attacks: str | Sequence[str | Attack] = (),
    max_r: int = 2,
    most: int = 1_000_000,
    time_limit: float | None = None,
    bounds: bool = True,
    share: Share | str | int | Sequence[Share | str | int] | None = None,
    together: bool = False,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    tagger: Any = None,
    encoder: Any = None,
    seed: int = 0,
    n: int | None = None,
    out: str | Path | None = None,
    device: str = "auto",
    labels: Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """How many substitutions each prediction withstands: L <= R < U, proven (Yang et al. 2022).

    source, constraints, stopwords: the space; by default the five nearest vectors of each word that is no stopword.
    attacks: what bounds the radius from above, in that space; the prover itself does so too.
    max_r, most, time_limit: how far to prove: substitutions, texts an example, seconds an example.
    bounds: leave out texts of which a sound bound says that they keep the label, where there is one (word CNNs).
    share: also estimate which share of a larger space keeps the label: "25%", a number of words, or
    `mohs.bounds.Share`; several for several r.
    together: delta is the chance that any interval of the run misses, instead of each: it is divided among them.
    The other arguments are those of `mohs.attack`.

    >>> import mohs
    >>> run = mohs.radius("pocket", "pocket", n=3)
    >>> all(row["exact"] for row in run.radii())
    True
    """
    _positive(n=n, at_once=at_once, workers=workers, most=most)
    models = {"vectors": vectors, "wordnet": wordnet, "sememes": sememes, "tagger": tagger, "encoder": encoder}
    options: dict[str, Any] = {
        "source": source,
        "constraints": constraints,
        "stopwords": stopwords,
        "attacks": [attacks] if isinstance(attacks, str) else attacks,
        "max_r": max_r,
        "most": most,
        "seconds": time_limit,
        "bounds": bounds,
        "share": share,
        "all_together": together,
        "seed": seed,
        "n": n,
        "models": models,
        "device": device,
        "labels": labels,
        "victim_options": victim_options,
        "trust_pickle": trust_pickle,
        "trust_code": trust_code,
        "at_once": at_once,
        "cache": cache,
    }
    job = radius_job(victim, examples, **options)
    return _run("radius", job, radius_job, (victim, job.data), options, workers, out, progress)


def verify(
    certificates: str | Path,
    victim: str | Victim,
    *,
    sample: int | None = None,
    bounds: bool = True,
    seed: int | None = None,
    example: str | None = None,
    device: str = "auto",
    labels: Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
) -> list[tuple[Certificate, Checked]]:
    """Check certificates against a victim, by asking it again: everything, or `sample` texts of each level.

    certificates: a run folder, or a file. Gives each certificate with what came out of checking it (`sound`, `why`).
    bounds: texts that a bound settled are settled by it again; False: these are asked too.
    seed: of the sample; by default other texts each time.
    """
    _positive(sample=sample)
    found = _certificates(Path(certificates))
    if example is not None:
        found = [certificate for certificate in found if certificate.example == example]
        if not found:
            raise BadInput(f"{certificates} has no certificate of the example {example!r}.")
    model = victim_of(victim, device, labels, victim_options, trust_pickle, trust_code)
    final: Victim = getattr(model, "verdict", model)
    judge: Service[Fields, Scores] = Service(final, alone=not final.exact)
    many: Service[Fields, Scores] = Service(final)
    sheets = sheets_of(final)
    services: list[Service[Any, Any]] = [judge, many, *([] if sheets is None else [sheets])]

    def points(space: Space) -> Points:
        return Points(space, many, judge, final, sheets)

    checks = [
        answered(check(certificate, model, points, judge, sample, bounds, seed), Services({}, Random(0)), *services)
        for certificate in found
    ]
    return list(zip(found, checks, strict=True))


def _certificates(path: Path) -> list[Certificate]:
    if not path.is_dir():
        return read_certificates(path)
    with Run.open(path) as run:
        rows = [row["certificate"] for row in run.radii() if "certificate" in row]
    if not rows:
        raise BadInput(f"{path} has no certificates: nothing was proven in it, or nothing finished.")
    return [Certificate.from_json(row) for row in rows]


def _run(
    command: str,
    job: Job,
    make: Callable[..., Job],
    given: tuple[Any, ...],
    options: Mapping[str, Any],
    workers: int,
    out: str | Path | None,
    progress: Progress | None,
) -> Run:
    """Carry a job out, in this process or in several that make the same job."""
    try:
        plan = None
        if workers > 1:
            named = given[0] if job.lender is None else None
            plan = Plan(make, (named, *given[1:]), options, workers).checked()
        return _carried_out(command, job, plan, out, progress)
    finally:
        job.close()


def _say(job: Job, said: Callable[[str], None] | None) -> None:
    if said is not None:
        for note in job.facts["notes"]:
            said(note)


def _positive(**numbers: int | None) -> None:
    for name, value in numbers.items():
        if value is not None and value < 1:
            raise BadInput(f"{name} is {value}; it must be at least 1.")


def _carried_out(command: str, job: Job, plan: Plan | None, out: str | Path | None, progress: Progress | None) -> Run:
    """Open the run folder, or go on with it, and do what is not done yet."""
    manifest = {"command": command, "config": job.config, "facts": job.facts}
    store = RunStore.open(Path(out) if out is not None else None, manifest, job.identity)
    try:
        if job.steady:
            _same_as_before(store, job.judge)
        _drive(store, job, plan, progress)
    except BaseException:
        store.close()
        raise
    return Run(store)


def _drive(store: RunStore, job: Job, plan: Plan | None, progress: Progress | None) -> None:
    done = store.done()
    finished, total = len(done), job.examples * len(job.tasks)
    if progress is not None:
        progress(None, finished, total)
    helpers: dict[str, float] = {}  # what other processes spent
    records = job.records(done) if plan is None else spread(plan, done, job.at_once, helpers, job.lender)
    started, cpu = time.perf_counter(), time.process_time()
    try:
        for number, record in records:
            store.add(number, record)
            finished += 1
            if progress is not None:
                progress(record, finished, total)
    finally:
        spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu, **job.effort()}
        store.spend(**{name: value + helpers.get(name, 0.0) for name, value in spent.items()})


def _same_as_before(store: RunStore, judge: Service[Fields, Scores]) -> None:
    """Before going on with a run, ask one of its originals again: a changed victim must not be mixed in."""
    record = next((r for r in store.records() if r.scores_before), None)
    if record is not None:
        (answer,) = judge.prove([record.original])
        if not alike(record.scores_before, answer):
            raise BadInput(
                f"{judge.model.name} no longer answers as it did when {store.folder} was begun: example "
                f"{record.example_id} had {short(record.scores_before)} and now has {short(answer)}; "
                "choose another --out."
            )
