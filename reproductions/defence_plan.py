"""What defences.py does, in the order of importance: a time limit leaves the first tables complete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from defence_cells import Analyse, Ask, Attack, Cell, Clean, Lexicon, Model, SecondOrder, Train

LONG = ("ag_news", "yelp", "imdb")
PRIMED = ("textfooler:textattack", "pwws:cos50", "bert-attack:cos50")  # Tables 8.1 and 8.3
PLAIN = ("textfooler:textattack", "pwws:textattack", "bert-attack:textattack", "bae:textattack")  # Tables 4.2, 5.1, 5.2
# Table 8.2: attack, and the threshold on words, which augmentation and ensemble share.
THRESHOLDS = {
    "textfooler:cv50": "",
    "textfooler:cv50-use88": "",
    "textfooler:cv70-use85": "cv70",
    "textfooler:cv70-use90": "cv70",
    "textfooler:cv80-use90": "cv80",
}
SHAPES = ("bow", "cnn", "lstm", "transformer")
FIRST, SECOND = ("genetic", "bae:textattack"), ("so-beam", "so-enum", "random")
TABLES = ("8.1", "adaptive", "2", "4.2", "A.1", "A.3", "A.2", "8.2", "8.3", "seeds")


def normal(data: str, arch: str = "minilm") -> Model:
    """N."""
    return Model(data, arch, "N")


def lasting(data: str, arch: str = "minilm") -> Model:
    """N for as many epochs as DA, so that they differ in augmentation alone."""
    return Model(data, arch, "N-long")


def augmented(data: str, arch: str = "minilm", threshold: str = "") -> Model:
    """DA: with the thresholds of an attack."""
    cosine = f",cosine={int(threshold[2:]) / 100}" if threshold else ""
    label = f"DA-{threshold}" if threshold else "DA"
    return Model(data, arch, label, (f"augment:vectors={{vectors}}{cosine}",))


def with_synonyms(data: str, arch: str = "minilm") -> Model:
    """DA with the synonyms of WordNet."""
    return Model(data, arch, "DA-wn", ("augment:words=wordnet",))


def adversarial(data: str, arch: str = "minilm") -> list[Model]:
    """Adversarial training: naive, geometry-inspired (the thesis's ADV), and A2T's on the fly."""
    two = (("epochs", 2),)
    return [
        Model(data, arch, "ADV-naive", ("naive:n=2000",), settings=two),
        Model(data, arch, "ADV", ("geometry:loops=10",), settings=two),
        Model(data, arch, "ADV-a2t", ("onfly",), settings=(("epochs", 4),)),
    ]


def shaped(arch: str, *, robust: bool) -> Model:
    """A victim of SST-2 in the shapes of Jia et al. and of Xu et al., as it is or robustly trained."""
    if not robust:
        return Model("sst2", arch, "base", verifiable=True, settings=(("epochs", 8), ("batch", 64)))
    if arch == "transformer":
        return Model("sst2", arch, "robust", ("lirpa:words={jia}",), verifiable=True)
    settings = (("epochs", 12), ("batch", 64))
    harden = ("ibp:words={jia},weight=0.6",)  # with the 0.8 of Jia et al. much less clean accuracy is left
    return Model("sst2", arch, "robust", harden, verifiable=True, settings=settings)


def plan(tables: Sequence[str], sets: Sequence[str], arch: str = "minilm") -> list[Cell]:
    """The cells of some tables, each once: those of a table after its trainings, whatever they need before them."""
    found: dict[Cell, None] = {Lexicon(): None}
    for table in (one for one in TABLES if one in tables):
        cells = list(of_table(table, sets, arch))
        models = [model for model in dict.fromkeys(map(model_of, cells)) if model is not None]
        found |= dict.fromkeys([*map(Train, models), *cells])
    return list(found)


def model_of(cell: Cell) -> Model | None:
    """The victim of a cell, if it has one."""
    if isinstance(cell, Lexicon):
        return None
    if isinstance(cell, Ask | Analyse):
        return cell.run.model
    assert isinstance(cell, Attack | SecondOrder | Clean | Train)
    return cell.model


def of_table(table: str, sets: Sequence[str], arch: str) -> Iterator[Cell]:
    """The cells of a table, without its trainings."""
    if table == "2":
        if "sst2" in sets:
            yield from second_order()
        return
    long = [data for data in sets if data != "sst2"]
    if table == "adaptive":
        for defence in ("PP", "MA5"):
            for attack in PRIMED:
                for data in long:
                    yield from adaptive(augmented(data, arch), attack, defence)
        for data in long:
            yield from adaptive(normal(data, arch), PRIMED[0], "PP")
        return
    for data in long:
        yield from of_data(table, data, arch)


def of_data(table: str, data: str, arch: str) -> Iterator[Cell]:
    """The cells of a table of the thesis, for one data set."""
    n, da, wn = normal(data, arch), augmented(data, arch), with_synonyms(data, arch)
    if table == "8.1":
        for attack in PRIMED:
            yield from (Attack(n, attack), Attack(da, attack))
            if arch == "minilm":  # word victims have as many epochs either way
                yield Attack(lasting(data, arch), attack)
            yield from (Ask(Attack(da, attack), "PP"), Ask(Attack(da, attack), "MA5"), Ask(Attack(n, attack), "PP"))
        yield from (Clean(da, "PP"), Clean(da, "MA5"), Clean(n, "PP"))
    elif table == "4.2":
        for attack in PLAIN:
            yield from (Attack(n, attack), Analyse(Attack(n, attack)))
    elif table in ("A.1", "A.3"):
        for defence in ("PP4", "PP16", "PP32") if table == "A.1" else ("MA10", "MA20", "MA30"):
            if defence == "PP32" and data == "imdb":
                continue  # as in the thesis
            yield Clean(da, defence)
            yield from (Ask(Attack(da, attack), defence) for attack in PRIMED)
    elif table == "A.2":
        pwws = "pwws:textattack"
        yield from (Attack(wn, pwws), Attack(n, pwws), Clean(wn, "PP-wn"), Ask(Attack(wn, pwws), "PP-wn"))
        yield from adaptive(wn, pwws, "PP-wn")
    elif table == "8.2":
        for attack, threshold in THRESHOLDS.items():
            hard = augmented(data, arch, threshold)
            defence = f"PP-{threshold}" if threshold else "PP"
            yield from (Attack(n, attack), Attack(hard, attack), Ask(Attack(hard, attack), defence))
    elif table == "8.3":
        for model in adversarial(data, arch):
            yield from (Attack(model, attack) for attack in PRIMED)
    elif table == "seeds":
        for seed in (1, 2):
            for model in (n, da):
                again = replace(model, seed=seed)
                yield Attack(again, PRIMED[0])
            yield Ask(Attack(replace(da, seed=seed), PRIMED[0]), "PP")


def adaptive(model: Model, attack: str, defence: str) -> Iterator[Cell]:
    """The defended system as the black box, and whether its successes survive fresh draws."""
    run = Attack(model, attack, defence)
    yield from (run, Ask(run, defence))


def second_order() -> Iterator[Cell]:
    """Table 2 of Zhang et al. 2021."""
    for method in (*SECOND[:1], *FIRST, *SECOND[1:]):
        for robust in (True, False):
            for arch in SHAPES:
                model = shaped(arch, robust=robust)
                yield Attack(model, method) if method in FIRST else SecondOrder(model, method)
