"""One job of benchmarks/versus.py in this package, and the limit that its models set.

The limit is what the models alone would need for the texts that were asked: tensors made beforehand, texts of one
length together, no Python around them but a loop, the best of several batch sizes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from job import Figures, Job, answer, module_of, rows_of

# Of transformers, and of others: batch sizes to try, and on about how many texts.
SIZES = {True: (4, 8, 16, 32, 64), False: (16, 32, 64, 128, 256, 512, 1024)}
SAMPLE = {True: 192, False: 5_000}
RUN = 32


def method(job: Job) -> Any:
    """The attack: the preset `textattack` with the constraints that all tools can have.

    OpenAttack's BERT-Attack is the authors' code in another coat, so beside it stands the preset `released`.
    """
    from mohs.attacks.catalogue import CATALOGUE
    from mohs.space import Constraint, SamePos, SentenceSimilarity, Synonyms, UnmaskedWords, WordsBeyond

    name = job.attack
    family, _, extra = name.partition("+")
    made: Any = CATALOGUE["sememe-pso" if family == "pso" else family]["textattack"]()
    kinds = {"pos": SamePos, "encoder": SentenceSimilarity}
    unwanted = tuple(kind for key, kind in kinds.items() if key != extra)
    if family == "textfooler":
        kept = tuple(c for c in made.constraints if not isinstance(c.measure, unwanted))
        return replace(made, constraints=kept, similarity=made.similarity if extra == "encoder" else None)
    if family == "textbugger":
        return replace(made, constraints=(), similarity=None)
    if family == "genetic":
        return replace(made, constraints=tuple(c for c in made.constraints if isinstance(c.measure, WordsBeyond)))
    if family == "pso":
        return replace(made, source=Synonyms())
    if name == "bert-attack+released":
        cap = Constraint(WordsBeyond(share=0.2, up=True), at_most=0)
        source = UnmaskedWords(k=8, min_logit=0.3)
        released: Any = CATALOGUE[family]["released"]()
        return replace(released, source=source, constraints=(cap,), stopwords=frozenset(job.stopwords))
    if family == "bert-attack":
        return replace(made, source=replace(made.source, k=8, width=8, products=8))
    if family == "bae":
        alike = tuple(c for c in made.constraints if isinstance(c.measure, SentenceSimilarity))
        return replace(made, constraints=alike)
    return made


class Watched:
    """Notes on a model in its place: what is asked, and the CPU seconds that its own methods take."""

    def __init__(self, model: Any) -> None:
        self.asked: list[Any] = []
        self.seconds = 0.0
        plan, launch, collect = model.plan, model.launch, model.collect

        def noted(items: Any) -> Any:
            self.asked.extend(items)
            return self._timed(plan, items)

        model.plan = noted
        model.launch = lambda batch: self._timed(launch, batch)
        model.collect = lambda ticket: self._timed(collect, ticket)

    def _timed(self, function: Any, argument: Any) -> Any:
        started = time.process_time()
        try:
            return function(argument)
        finally:
            self.seconds += time.process_time() - started


def limit(model: Any, texts: Sequence[tuple[str, ...]], spec: str) -> dict[str, Any]:
    """Texts a CPU second through the network alone, all of them, at the batch size that is best on a part of them.

    The part is taken in runs of neighbours by length, so that batches fill as they would with all.
    """
    import torch

    network = module_of(model)
    rows = sorted(rows_of(model, spec)(sorted(texts)), key=len)
    runs = [rows[start : start + RUN] for start in range(0, len(rows), RUN)]
    transformer = not hasattr(model, "vocabulary")
    step = -(-len(rows) // SAMPLE[transformer])
    part = [row for run in runs[step // 2 :: step] for row in run]

    def rate(rows: list[Any], size: int) -> float:
        groups: dict[int, list[Any]] = defaultdict(list)
        for row in rows:
            groups[len(row)].append(row)
        batches = [torch.tensor(g[at : at + size]) for g in groups.values() for at in range(0, len(g), size)]
        with torch.inference_mode():
            network(batches[0])
            started = time.process_time()
            for batch in batches:
                network(batch)
            return len(rows) / (time.process_time() - started)

    tried = {size: rate(part, size) for size in SIZES[transformer]}
    best = max(tried, key=tried.__getitem__)
    return {"rate": rate(rows, best), "size": best, "texts": len(rows), "tried": tried}


def masked_limit(model: Any, questions: Sequence[Any]) -> dict[str, Any]:
    """Tokens a CPU second through a masked language model alone; `narrow`: its head only at the places asked about.

    Tokens and not rows, since the pieces of one word, read alone, are a row as well as a whole text is.
    """
    import torch

    network = module_of(model)
    # Questions with one row are one reading of it: that it can be read once is part of the limit.
    rows_read: dict[tuple[tuple[int, ...], tuple[int, ...]], set[int]] = defaultdict(set)
    for reading in model._reader(list(questions)):
        if reading.places:
            rows_read[tuple(reading.ids), tuple(reading.types or ())].update(reading.places)
    groups: dict[int, list[tuple[tuple[int, ...], list[int]]]] = defaultdict(list)
    for (ids, _), wanted in rows_read.items():
        groups[len(ids)].append((ids, sorted(wanted)))

    def whole(ids: Any, at: Any) -> None:
        network(ids)

    def narrow(ids: Any, at: Any) -> None:
        network.cls(network.base_model(ids).last_hidden_state[at].unsqueeze(1))

    def rate(forward: Any, size: int) -> float:
        batches = []
        for group in groups.values():
            for batch in (group[start : start + size] for start in range(0, len(group), size)):
                places = [(row, place) for row, (_, wanted) in enumerate(batch) for place in wanted]
                batches.append((torch.tensor([ids for ids, _ in batch]), tuple(torch.tensor(places).T)))
        with torch.inference_mode():
            forward(*batches[0])
            started = time.process_time()
            for ids, at in batches:
                forward(ids, at)
            return sum(ids.numel() for ids, _ in batches) / (time.process_time() - started)

    tried = {size: rate(whole, size) for size in SIZES[True]}
    best = max(tried, key=tried.__getitem__)
    rows = sum(map(len, groups.values()))
    tokens = sum(length * len(group) for length, group in groups.items())
    near = max(rate(narrow, size) for size in SIZES[True])
    return {"rate": tried[best], "narrow": near, "size": best, "texts": rows, "tokens": tokens, "tried": tried}


def run(job: Job) -> Figures:
    import mohs
    from mohs.models.encoder import load_encoder
    from mohs.models.load import load_victim
    from mohs.models.masked_lm import load_masked_lm
    from mohs.text.vectors import read_vectors
    from mohs.text.wordnet import WordNet

    victim: Any = load_victim(job.victim, device="cpu")
    encoder: Any = load_encoder(job.encoder, "cpu") if job.encoder else None
    masked: Any = load_masked_lm(f"hf:{job.masked_lm}", "cpu") if job.masked_lm else None
    services = {
        "vectors": read_vectors(job.vectors),
        "wordnet": WordNet(Path(job.wordnet)),
        "masked_lm": masked,
        "encoder": encoder,
        "tagger": "pocket",
        "device": "cpu",
    }
    made = method(job)

    def attacked(rows: list[dict[str, Any]]) -> Any:
        examples = [mohs.Example.of(row["text"], row["label"], id=row["id"]) for row in rows]
        return mohs.attack(victim, examples, [made], change_placeholders=True, **services)  # as the others do

    attacked(job.warm).close()
    of_victim = Watched(victim)
    of_encoder = Watched(encoder) if encoder is not None else None
    of_masked = Watched(masked) if masked is not None else None
    found = Figures()
    with attacked(job.examples) as done:
        effort = done.effort()
        found.wall, found.cpu = effort["seconds"], effort["cpu_seconds"]
        found.forwards, found.in_victim = int(effort["forwards"]), of_victim.seconds
        for record in done.records():
            success = str(record.outcome) == "success"
            text = (record.perturbed or record.original)[0]
            found.rows.append(
                {"id": record.example_id, "success": success, "text": text, "queries": record.queries}
                | ({"error": record.error} if getattr(record, "error", None) else {})
            )
    found.limits["victim"] = limit(victim, list(dict.fromkeys(of_victim.asked)), job.victim)
    if of_encoder is not None:
        found.encodings, found.in_encoder = len(of_encoder.asked), of_encoder.seconds
        if job.encoder.startswith("hf:"):
            found.limits["encoder"] = limit(encoder, list(dict.fromkeys(of_encoder.asked)), job.encoder)
    if of_masked is not None:
        questions = list(dict.fromkeys(of_masked.asked))
        found.limits["masked_lm"] = masked_limit(masked, questions)
        found.masked_rows, found.in_masked = found.limits["masked_lm"]["texts"], of_masked.seconds
        found.masked_tokens = found.limits["masked_lm"]["tokens"]
    return found


if __name__ == "__main__":
    answer(run)
