"""Tables 4.2, 8.1 and 8.2 of Hauser et al. 2021, for normally trained victims, beside what the paper prints.

    python reproductions/thresholds.py --assets DIR                                   # 200 examples each, for a GPU
    python reproductions/thresholds.py --assets DIR --victims cnn --n 30 --device cpu  # what a CPU can hold

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
from typing import Any

from first_order import LABELS, LONG, PRINTED, Setting, trained

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
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no attack after so long")
    options = parser.parse_args()
    base = options.base
    if base is None and "minilm" in options.victims:
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
