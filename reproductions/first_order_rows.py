"""First-order attacks on the victims of second_order.py (Table 2, left half, and Table 8), and Genetic restarted.

The restart (section 3.3.2): Genetic starts from the vulnerable neighbours that SO-Beam found, to change the prediction
there. One word is enough by construction, the patch word, wherever the attack may use that pair. It is not an option of
`mohs second-order`, because the record of a vulnerable example already says all of this but one thing: how often an
attack that does not know the pair finds it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from sst2 import DEV, LABELS, Setting, finished, keep, share, table

# Table 2, base models: success of Genetic and BAE in percent. Table 8: perplexity before and after, words changed.
PRINTED = {
    "bow": ((57.0, "145 → 258", 3.3), (69.7, "192 → 268", 1.6)),
    "cnn": ((62.0, "146 → 282", 3.0), (71.0, "186 → 254", 1.5)),
    "lstm": ((60.0, "131 → 238", 2.9), (68.3, "190 → 263", 1.6)),
    "transformer": ((73.0, "137 → 232", 2.8), (74.3, "185 → 254", 1.4)),
    "minilm": ((41.0, "201 → 342", 3.4), (61.5, "189 → 277", 1.6)),
    "sbert": ((41.0, "201 → 342", 3.4), (61.5, "189 → 277", 1.6)),
}
FIRST = ("genetic", "bae")
WITHOUT_LM = "genetic:textattack-no-lm"
HEADS = "victim,attack,fooled of those read right (%) [95%],paper,of all,words,paper,queries,seconds".split(",")
RESTARTED = (
    "victim,vulnerable neighbours,fooled from there (%) [95%],words from there,by one word,pair within reach,"
    "fooled of those within reach,words from the originals"
).split(",")


def attack(
    arch: str, victim: str, kind: str, name: str, n: int, models: dict[str, Any], setting: Setting, data: Any = None
) -> Any:
    """A run of Genetic within the synonyms of Jia et al., or of BAE; name: attack and preset."""
    import mohs

    options = {"source": setting.synonyms} if kind == "genetic" and name != WITHOUT_LM else {}
    wanted = {"masked_lm": ("bae",), "encoder": ("bae",), "lm": ("genetic",)}
    needed = {key: model for key, model in models.items() if kind in wanted.get(key, ())}
    if not name.endswith((":paper", ":textattack")):
        needed.pop("lm", None)
    return mohs.attack(
        victim,
        setting.dev if data is None else data,
        [without_lm(setting) if name == WITHOUT_LM else name],
        **({"n": n} if data is None else {}),
        labels=LABELS,
        out=setting.run(f"{arch}-{name.replace(':', '-')}-{n}{'' if data is None else '-restarted'}"),
        device=setting.device_of(arch),
        no_judge=True,
        **options,
        **needed,
    )


def without_lm(setting: Setting) -> Any:
    """TextAttack's genetic search, weak parents and all, within the synonyms and without its language model."""
    from mohs.attacks.genetic import genetic_textattack
    from mohs.space import parse_source

    recipe = genetic_textattack()
    kept = tuple(one for one in recipe.constraints if "lm" not in one.measure.needs)
    return replace(recipe, source=parse_source(setting.synonyms), constraints=kept)


def first_order(
    names: dict[str, str], attacks: dict[str, tuple[str, int]], models: dict[str, Any], setting: Setting
) -> None:
    """A row for each victim and attack. attacks: kind -> name with preset, number of examples."""
    rows = []
    for kind, (name, n) in attacks.items():
        for arch, victim in names.items():
            key = ("first-order", arch, name, n, setting.mark)
            if key not in finished(setting.out):
                started = time.perf_counter()
                with attack(arch, victim, kind, name, n, models, setting) as run:
                    (summary,) = run.summary()
                    words = [len(record.edits) for record in run.records() if record.outcome == "success"]
                printed = PRINTED[arch][FIRST.index(kind)]
                fooled = summary.success
                cells = [
                    arch,
                    name,
                    share(fooled.hits, fooled.total),
                    f"{printed[0]:.1f}",
                    f"{100 * fooled.hits / min(n, DEV):.1f}",
                    f"{fmean(words):.2f}" if words else "-",
                    str(printed[2]),
                    f"{summary.queries.value:.0f}" if summary.queries.value is not None else "-",
                    f"{(time.perf_counter() - started) / min(n, DEV):.2f}",
                ]
                keep(setting.out, key, " | ".join(cells))
            rows.append(finished(setting.out)[key].split(" | "))
            print(" | ".join(rows[-1]), flush=True)
    print(f"\nFirst-order attacks (Table 2, left half; words of Table 8):\n\n{table(HEADS, rows)}")


def restarted(
    names: dict[str, str], found: dict[str, Any], name: str, n: int, models: dict[str, Any], setting: Setting
) -> None:
    """Genetic from the vulnerable neighbours of the first n examples. found: the folder of SO-Beam for each victim."""
    import mohs

    rows = []
    for arch, victim in names.items():
        with mohs.Run.open(found[arch]) as run:
            hits = [record for record in run.records() if record.outcome == "success"]
        wanted = set(first_ids(setting, n))
        hits = [record for record in hits if record.example_id in wanted]
        with attack(arch, victim, "genetic", name, n, models, setting, [vulnerable(hit) for hit in hits]) as run:
            after = {record.example_id: record for record in run.records()}
        with attack(arch, victim, "genetic", name, n, models, setting) as run:
            before = [len(record.edits) for record in run.records() if record.outcome == "success"]
        rows.append([arch, *restart_cells(hits, after, before, offered(setting))])
        print(" | ".join(rows[-1]), flush=True)
    print(
        f"\nGenetic from the vulnerable neighbours (3.3.2; the robust CNN: 2.7 words → 1):\n\n{table(RESTARTED, rows)}"
    )


def restart_cells(hits: Sequence[Any], after: dict[str, Any], before: Sequence[int], book: Any) -> list[str]:
    """The figures of a restart. before: words that the attack changes in originals; book: what replaces a word."""
    fooled = {key: len(record.edits) for key, record in after.items() if record.outcome == "success"}
    near = [hit for hit in hits if hit.finding.patch.new.lower() in book(hit.finding.patch.old.lower())]
    return [
        str(len(hits)),
        share(len(fooled), len(after)),
        f"{fmean(fooled.values()):.2f}" if fooled else "-",
        share(sum(words == 1 for words in fooled.values()), len(fooled)),
        f"{len(near)}/{len(hits)}",
        share(sum(hit.example_id in fooled for hit in near), len(near)),
        f"{fmean(before):.2f} ({len(before)} fooled)" if before else "-",
    ]


def vulnerable(record: Any) -> Any:
    """A vulnerable neighbour as an example, whose label is what the victim predicts for it."""
    from mohs.text import Example

    label = max(range(len(record.scores_after)), key=record.scores_after.__getitem__)
    return Example.of(record.perturbed[0], label, id=record.example_id)


def first_ids(setting: Setting, n: int) -> list[str]:
    """The ids of the first examples."""
    from mohs.text.dataset import Dataset

    return [example.id for example in Dataset(setting.dev, n=n)]


def offered(setting: Setting) -> Any:
    """What the list of synonyms offers for a word; unlike a patch, an attack reads the list in one direction."""
    from mohs.space import parse_source
    from mohs.text.stopwords import ENGLISH

    book: Any = parse_source(setting.synonyms)
    lists = {word.lower(): {other.lower() for other in others} for word, others in book.book.table.items()}
    return lambda word: lists.get(word, set()) if word not in ENGLISH else set()
