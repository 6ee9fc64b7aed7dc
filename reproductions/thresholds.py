"""Tables 4.2, 8.1 and 8.2 of Hauser et al. 2021, for normally trained victims, beside what the paper prints.

    python reproductions/thresholds.py --assets DIR                                   # 200 examples each, for a GPU
    python reproductions/thresholds.py --assets DIR --victims cnn --n 30 --device cpu  # what a CPU can hold
    python reproductions/thresholds.py --assets DIR --swaps 0.05  # no victim: random swaps, whole texts and windows

DIR is that of first_order.py. AG News, IMDB and Yelp (reviews of at most 80 words) are attacked with every attack of
the three tables, with MiniLM and with the Universal Sentence Encoder behind the thresholds on sentences. `whole` is
TextFooler with the thresholds on whole texts instead of windows, to see what the window does, and `scaled` with the
cosines of words that correspond to the printed ones by reproductions/cosines.py. A second call goes on where the first
stopped.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from first_order import LABELS, LONG, PRINTED, Setting, trained

WINDOW = 15
DATA = ("ag_news", "yelp", "imdb")
BASE = ("textfooler:textattack", "pwws:textattack", "bert-attack:textattack", "bae:textattack")  # table 4.2
PRIMED = ("pwws:cos50", "bert-attack:cos50", "bae:cos50")  # table 8.1, and BAE' in the text below it
COLUMNS = {"cv50-use88": (0.5, 0.88), "cv70-use85": (0.7, 0.85), "cv70-use90": (0.7, 0.9), "cv80-use90": (0.8, 0.9)}
SCALED = {0.5: 0.5, 0.7: 0.63, 0.8: 0.76}  # as many of the eight nearest words pass: reproductions/cosines.py
ATTACKS = (
    "textfooler:cv50",
    *(f"textfooler:{name}" for name in COLUMNS),
    *PRIMED,
    *BASE,
    *(f"{kind}:{name}" for kind in ("whole", "scaled") for name in COLUMNS if (kind, name) != ("scaled", "cv50-use88")),
)


def made(attack: str) -> Any:
    """An attack of the catalogue, or TextFooler with thresholds on whole texts, or on a matched scale."""
    from mohs.attacks.textfooler import with_thresholds
    from mohs.space import Neighbours, SentenceSimilarity

    kind, _, name = attack.partition(":")
    if kind not in ("whole", "scaled"):
        return attack
    method = with_thresholds(*COLUMNS[name])
    if kind == "scaled":
        return replace(method, source=Neighbours(k=50, min_cosine=SCALED[COLUMNS[name][0]]))
    *others, near = method.constraints
    whole = SentenceSimilarity(angular=False)
    return replace(method, constraints=(*others, replace(near, measure=whole)), similarity=whole)


def needs_encoder(attack: str) -> bool:
    """Whether sentences are compared."""
    from mohs.attacks.catalogue import find_attack
    from mohs.attacks.method import needs

    found = made(attack)
    return "encoder" in needs(find_attack(found)[1] if isinstance(found, str) else found)


def attacked(data: str, arch: str, victim: str, attack: str, setting: Setting, budget: int) -> str:
    """The row of one attack on one victim: success with its interval, words changed and queries."""
    import mohs

    folder = setting.out / f"{data}-{arch}-{attack.replace(':', '-')}-{setting.n}"
    with mohs.attack(
        victim,
        setting.test(data, setting.n),
        [made(attack)],
        labels=LABELS[data],
        out=folder,
        budget=budget if data in LONG else None,
        change_placeholders=True,
        device=setting.device,
        no_judge=True,
        **setting.services(),
    ) as run:
        (summary,) = run.summary()
    rate = summary.success
    low, high = (f"{100 * side:.0f}" for side in rate.interval)
    words, queries = summary.share_changed.value, summary.queries.value
    printed = PRINTED.get((data, f"textfooler:{attack.partition(':')[2]}" if made(attack) != attack else attack), "")
    return (
        f"| {data} | {arch} | {attack} | {100 * (rate.value or 0):.1f} ({rate.hits}/{rate.total}) [{low}, {high}] "
        f"| {'-' if words is None else f'{100 * words:.1f}'} | {0 if queries is None else queries:.0f} "
        f"| {printed.partition(' ')[0]} |"
    )


def swapped(data: str, share: float, setting: Setting) -> str:
    """How many texts with some words swapped at random pass a threshold as a whole, and in every window."""
    from mohs.models.bag import pocket_victim
    from mohs.space import SentenceSimilarity
    from mohs.tasks.services import load_services
    from mohs.text.vectors import read_vectors

    loaded = load_services(["encoder"], {"encoder": setting.encoder}, victim=pocket_victim(), device=setting.device)
    encoder, alike = loaded["encoder"].model, SentenceSimilarity(angular=False).of_vectors
    vectors = read_vectors(setting.services()["vectors"])
    random, values = Random(0), []
    for example in setting.test(data, setting.n):
        x = example.text
        near = dict(zip(x.words, vectors.near([word.lower() for word in x.words], 50, 0.5), strict=True))
        places = [place for place, word in enumerate(x.words) if near[word]]
        if len(x) < WINDOW or not places:
            continue
        drawn = random.sample(places, min(len(places), max(1, round(share * len(x)))))
        y = x.replace_all({place: random.choice(near[x.words[place]])[0] for place in drawn})
        views = [(str(x),), (str(y),), *((text.around(place, WINDOW),) for place in drawn for text in (x, y))]
        vectors_of: dict[Any, Any] = {}
        for batch in encoder.plan(list(dict.fromkeys(views))):
            vectors_of |= dict(zip(tuple(batch), encoder.collect(encoder.launch(batch)), strict=True))
        pairs = [alike(vectors_of[one], vectors_of[other]) for one, other in zip(views[::2], views[1::2], strict=True)]
        values.append((pairs[0], min(pairs[1:])))
    cells = [
        f"{100 * sum(row[side] >= least for row in values) / len(values):.0f}"
        for least in (0.85, 0.88, 0.9)
        for side in (0, 1)
    ]
    return f"| {data} ({len(values)} texts) | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/ and models/")
    parser.add_argument("--out", type=Path, default=Path("mohs-reproductions"))
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--victims", nargs="+", default=["minilm"], help="minilm, cnn, bilstm ...")
    parser.add_argument("--attacks", nargs="+", default=ATTACKS)
    parser.add_argument("--encoders", nargs="+", default=["minilm", "use"], help="assets, hf:PATH or pocket")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--budget", type=int, default=5_000, help="queries for an example of IMDB")
    parser.add_argument("--rows", type=int, help="to train on; by default 8,000 to 12,000, or all")
    parser.add_argument("--tested", type=int, help="test rows for the accuracy; by default all")
    parser.add_argument("--base", help="folder of the encoder that becomes the victim minilm; by default the asset")
    parser.add_argument("--swaps", type=float, help="instead: swap this share of the words at random")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no attack after so long")
    options = parser.parse_args()
    base = options.base
    if base is None and "minilm" in options.victims and not options.swaps:
        import mohs.assets

        base = str(mohs.assets.path("minilm"))
    setting = Setting(
        options.assets,
        options.out,
        options.n,
        None,
        "",
        None,
        base,
        options.device,
        False,
        options.rows,
        options.tested,
    )
    started = time.perf_counter()
    if options.swaps:
        for encoder in options.encoders:
            print(f"| {encoder} | whole >= 0.85 | windows | whole >= 0.88 | windows | whole >= 0.9 | windows |")
            print("|---|---|---|---|---|---|---|")
            for data in options.data:
                print(swapped(data, options.swaps, replace(setting, encoder=encoder)), flush=True)
        return
    for data in options.data:
        for arch in options.victims:
            victim, about = trained(data, arch, setting)
            print(about, flush=True)
            for number, encoder in enumerate(options.encoders):
                print(f"| data | victim | attack ({encoder}) | success, % [95%] | words, % | queries | printed, % |")
                print("|---|---|---|---|---|---|---|")
                here = replace(setting, encoder=encoder, out=options.out / Path(encoder).name)
                for attack in options.attacks:
                    if number and not needs_encoder(attack):
                        continue
                    if time.perf_counter() - started > 60 * options.minutes:
                        print(f"{attack} was not begun in {options.minutes:g} minutes", flush=True)
                        continue
                    print(attacked(data, arch, victim, attack, here, options.budget), flush=True)


if __name__ == "__main__":
    main()
