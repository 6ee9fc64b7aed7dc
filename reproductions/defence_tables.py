"""The tables and claims of defences.py, from the results that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import defence_printed as printed
from defence_cells import Analyse, Ask, Attack, Clean, Model, SecondOrder, Train
from defence_plan import (
    FIRST,
    PLAIN,
    PRIMED,
    SHAPES,
    THRESHOLDS,
    adversarial,
    augmented,
    lasting,
    normal,
    shaped,
    with_synonyms,
)
from sst2 import share, table

Found = Mapping[str, dict[str, Any]]
Rows = list[list[str]]
DEFENCES = (("N", ""), ("N-long", ""), ("DA", ""), ("DA", "PP"), ("DA", "MA5"), ("N", "PP"))


def tables(found: Found, sets: Sequence[str], arch: str) -> list[tuple[str, str]]:
    """Titles and tables, those with a row."""
    long = [data for data in sets if data != "sst2"]
    made = [
        (
            "Tables 8.1 and the adaptive columns: success, %",
            "data,method,clean [95%] or ± over keys,paper,attack,on finished texts,paper,adaptive [95%],"
            "adaptive and fools most fresh draws",
            [row for data in long for row in defended(found, data, arch)],
        ),
        (
            "Table 2 of Zhang et al.: success, %",
            "victim,trained,clean [95%],Genetic,paper,BAE,paper,SO-Enum,paper,SO-Beam,paper,random,paper",
            list(second_order(found)),
        ),
        (
            "Table 4.2: success on N, %",
            "data,attack,success [95%],paper,words changed,queries,one or two words",
            [row for data in long for row in plain(found, data, arch)],
        ),
        (
            "Tables 5.1 and 5.2: words of N's adversarial texts in the training data",
            "data,attack,median count of original → attack words,paper,more frequent in another class: original → "
            "attack words %,paper",
            [row for data in long for row in words(found, data, arch)],
        ),
        (
            "Tables A.1 and A.3: reverted attacks on DA, % (mean ± standard deviation over keys)",
            "data,defence,clean,paper,TextFooler,paper,PWWS',paper,BERT-Attack',paper",
            [row for data in long for row in reverted(found, data, arch)],
        ),
        (
            "Table A.2: PWWS and the synonyms of WordNet",
            "data,method,clean,paper,on finished texts,paper,adaptive [95%],adaptive and fools most fresh draws",
            [row for data in long for row in synonyms(found, data, arch)],
        ),
        (
            "Table 8.2: TextFooler with thresholds: success, %",
            "data,method," + ",".join(f"{name.partition(':')[2]},paper" for name in THRESHOLDS),
            [row for data in long for row in thresholds(found, data, arch)],
        ),
        (
            "Table 8.3: augmentation and adversarial training: success, %",
            "data,method,clean [95%],paper,seconds an epoch × epochs,paper,TextFooler,paper,PWWS',paper,BERT-Attack',"
            "paper",
            [row for data in long for row in trained(found, data, arch)],
        ),
        (
            "TextFooler on other seeds of the training: success, %",
            "data,method,seeds 0; 1; 2,mean ± standard deviation",
            [row for data in long for row in seeds(found, data, arch)],
        ),
    ]
    return [(title, table(heads.split(","), rows)) for title, heads, rows in made if rows]


def model_of(label: str, data: str, arch: str) -> Model:
    """N, DA or adversarially trained."""
    known = [normal(data, arch), lasting(data, arch), augmented(data, arch), *adversarial(data, arch)]
    return next(one for one in known if one.label == label)


def rate(result: dict[str, Any] | None) -> str:
    """Success of a run, with its interval."""
    return share(result["successes"], result["attacked"]) if result else ""


def spread(counts: Sequence[float], total: int) -> str:
    """Mean and standard deviation over keys, in percent."""
    if not total:
        return "-"
    values = [100 * count / total for count in counts]
    return f"{fmean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def clean(found: Found, model: Model, defence: str = "") -> str:
    """Clean accuracy: with its interval, or mean and spread over keys."""
    if not defence:
        result = found.get(Train(model).name)
        return share(result["right"], result["of"]) if result else ""
    result = found.get(Clean(model, defence).name)
    return f"{spread(result['right'], result['of'])} (of {result['of']})" if result else ""


def finished(found: Found, run: Attack, defence: str) -> str:
    """Success that is left on finished texts: of the examples that were attacked."""
    result = found.get(Ask(run, defence).name)
    return f"{spread(result['fooled'], result['attacked'])} (of {result['attacked']})" if result else ""


def fresh(found: Found, run: Attack) -> str:
    """Adaptive successes that fool most of fresh draws."""
    result = found.get(Ask(run, run.defence).name)
    return share(result["most"], result["attacked"]) if result else ""


def defended(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each method and attack."""
    for label, defence in DEFENCES:
        model, method = model_of(label, data, arch), label + (f"+{defence}" if defence else "")
        paper = printed.DEFENDED[data].get(method, ("",) * 4)
        for number, attack in enumerate(PRIMED, 1):
            run = Attack(model, attack)
            done = finished(found, run, defence) if defence else rate(found.get(run.name))
            against = Attack(model, attack, defence)
            known = rate(found.get(against.name)) if defence else "the same"
            if done or (defence and known):
                first = [data, method, clean(found, model, defence), paper[0]]
                kept = fresh(found, against) if defence else ""
                yield [*first, attack, done, paper[number], known, kept]


def second_order(found: Found) -> Iterator[list[str]]:
    """A row for each victim."""
    for trained_as, robust in (("base", False), ("robust", True)):
        for arch in SHAPES:
            model, row = shaped(arch, robust=robust), list[str]()
            methods = [*FIRST, "so-enum", "so-beam", "random"]
            for method, paper in zip(methods, printed.SECOND_ORDER[trained_as][arch], strict=True):
                cell = Attack(model, method) if method in FIRST else SecondOrder(model, method)
                row += [rate(found.get(cell.name)), paper]
            if any(row[::2]):
                yield [arch, trained_as, clean(found, model), *row]


def plain(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each attack."""
    for attack, paper in zip(PLAIN, printed.PLAIN[data], strict=True):
        result = found.get(Attack(normal(data, arch), attack).name)
        if result:
            changed = "-" if result["words"] is None else f"{100 * result['words']:.1f}%"
            few = share(result["few"], result["successes"])
            yield [data, attack, rate(result), f"{paper}", changed, f"{result['queries'] or 0:.0f}", few]


def words(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each attack."""
    for number, attack in enumerate(PLAIN):
        result = found.get(Analyse(Attack(normal(data, arch), attack)).name)
        if not result or not result["frequencies"]:
            continue
        seen = result["frequencies"]
        medians = [ranged(seen[name], 1, 0) for name in ("old_median", "new_median")]
        wrong = [ranged(seen[name], 100, 1) for name in ("old_wrong", "new_wrong")]
        paper = [" → ".join(map(str, known[data][number])) for known in (printed.WORDS, printed.WRONG)]
        yield [data, attack, " → ".join(medians), paper[0], " → ".join(wrong), paper[1]]


def ranged(figure: dict[str, Any], times: int, digits: int) -> str:
    """A value and its interval."""
    if figure["value"] is None:
        return "-"
    low, high = figure.get("interval") or (figure.get("low"), figure.get("high"))
    said = f"{times * figure['value']:.{digits}f}"
    return said if low is None or high is None else f"{said} [{times * low:.{digits}f}, {times * high:.{digits}f}]"


def reverted(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each defence."""
    model = augmented(data, arch)
    papers = {name: ("", *cells) for name, cells in printed.VERSIONS[data].items()} | printed.MASKED[data]
    papers["PP"] = (printed.DEFENDED[data]["DA+PP"][0], *papers["PP"][1:])
    for defence, paper in papers.items():
        row = []
        for attack, number in zip(PRIMED, paper[1:], strict=True):
            result = found.get(Ask(Attack(model, attack), defence).name)
            back = [result["successes"] - count for count in result["fooled"]] if result else []
            row += [f"{spread(back, result['successes'])} (of {result['successes']})" if result else "", number]
        if any(row[::2]):
            yield [data, defence, clean(found, model, defence), paper[0], *row]


def synonyms(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each method."""
    attack, hard = "pwws:textattack", with_synonyms(data, arch)
    rows = ((normal(data, arch), "", "N"), (hard, "", "DA-wn"), (hard, "PP-wn", "DA-wn+PP-wn"))
    for (model, defence, name), paper in zip(rows, printed.SYNONYMS[data], strict=True):
        run, against = Attack(model, attack), Attack(model, attack, defence)
        done = finished(found, run, defence) if defence else rate(found.get(run.name))
        if done:
            known = (rate(found.get(against.name)), fresh(found, against)) if defence else ("the same", "")
            yield [data, name, clean(found, model, defence), paper[0], done, paper[1], *known]


def thresholds(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each method."""
    for method, papers in zip(("N", "DA", "DA+PP"), printed.THRESHOLDS[data], strict=True):
        row = []
        for (attack, threshold), paper in zip(THRESHOLDS.items(), papers, strict=True):
            run = Attack(normal(data, arch) if method == "N" else augmented(data, arch, threshold), attack)
            defence = f"PP-{threshold}" if threshold else "PP"
            done = finished(found, run, defence) if method == "DA+PP" else rate(found.get(run.name))
            row += [done, paper]
        if any(row[::2]):
            yield [data, method, *row]


def trained(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each way of training."""
    for label, paper in {**printed.TRAINED[data], "ADV-a2t": ("",) * 5}.items():
        model = model_of(label, data, arch)
        runs = [rate(found.get(Attack(model, attack).name)) for attack in PRIMED]
        result = found.get(Train(model).name)
        if result and any(runs):
            seconds = result["seconds"]
            took = f"{fmean(seconds):.1f} × {len(seconds)}" if seconds else ""
            cells = [cell for pair in zip(runs, paper[2:], strict=True) for cell in pair]
            yield [data, label, clean(found, model), paper[0], took, paper[1], *cells]


def seeds(found: Found, data: str, arch: str) -> Iterator[list[str]]:
    """A row for each way of training, if other seeds were trained."""
    for label in ("N", "DA"):
        model = model_of(label, data, arch)
        models = [Model(data, arch, label, model.harden, seed=seed) for seed in range(3)]
        results = [found.get(Attack(one, PRIMED[0]).name) for one in models]
        values = [100 * one["successes"] / one["attacked"] for one in results if one and one["attacked"]]
        if len(values) > 1:
            yield [data, label, "; ".join(f"{v:.1f}" for v in values), f"{fmean(values):.1f} ± {stdev(values):.1f}"]


def claims(found: Found, sets: Sequence[str], arch: str) -> str:
    """Each headline claim, with what was found: the difference and its 95% interval."""
    rows: Rows = []
    for data in (one for one in sets if one != "sst2"):
        rows += claims_on(found, data, arch)
    for arch_of in SHAPES:
        result = found.get(SecondOrder(shaped(arch_of, robust=True), "so-beam").name)
        if result:
            low = interval(result["successes"], result["attacked"])[0]
            said = "holds" if low > 0.5 else "not shown"
            rows.append(["sst2", f"the robust {arch_of} stays open to SO-Beam (over half)", rate(result), said])
    return table(["data", "claim", "found", ""], rows) if rows else "None can be checked yet."


def claims_on(found: Found, data: str, arch: str) -> Rows:
    """The claims of the thesis on one data set."""
    n, da, rows = normal(data, arch), augmented(data, arch), list[list[str]]()
    one, other = found.get(Train(n).name), found.get(Train(da).name)
    if one and other:
        (low, high), change = difference(other["right"], other["of"], one["right"], one["of"])
        said = "holds" if low > -0.02 else "fails" if high < 0 else "open"
        shown = f"{100 * change:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
        rows.append([data, "augmentation does not cost clean accuracy (at most 2 points)", shown, said])
    for attack in PRIMED:
        base, hard = found.get(Attack(n, attack).name), found.get(Attack(da, attack).name)
        long = found.get(Attack(lasting(data, arch), attack).name)
        asked = found.get(Ask(Attack(da, attack), "PP").name)
        black = found.get(Attack(da, attack, "PP").name)
        kept = found.get(Ask(Attack(da, attack, "PP"), "PP").name)
        counts = {
            "N": base and (base["successes"], base["attacked"]),
            "N-long": long and (long["successes"], long["attacked"]),
            "DA": hard and (hard["successes"], hard["attacked"]),
            "finished": asked and (round(fmean(asked["fooled"])), asked["attacked"]),
            "adaptive": black and (black["successes"], black["attacked"]),
            "fresh": kept and (kept["most"], kept["attacked"]),
        }
        for claim, less, more in (
            ("augmentation lowers success", "DA", "N"),
            ("augmentation lowers success at equal epochs", "DA", "N-long"),
            ("the ensemble lowers it further, on finished texts", "finished", "DA"),
            ("the ensemble lowers it further, adaptively", "adaptive", "DA"),
            ("the same, if a success must fool most fresh draws", "fresh", "DA"),
            ("finished texts flatter the ensemble: fewer successes than adaptively", "finished", "adaptive"),
        ):
            if counts[less] and counts[more]:
                rows.append([data, f"{attack}: {claim}", *lower(counts[less], counts[more])])
    return rows


def lower(less: Any, more: Any) -> tuple[str, str]:
    """Whether a share is lower than another."""
    (low, high), change = difference(*less, *more)
    said = "holds" if high < 0 else "the other way" if low > 0 else "open"
    return f"{100 * change:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]", said


def interval(hits: int, total: int) -> tuple[float, float]:
    """Wilson's, of 95%."""
    from mohs.report.rates import Rate

    return Rate(hits, total, "").interval or (0.0, 1.0)


def difference(hits: int, total: int, others: int, of: int) -> tuple[tuple[float, float], float]:
    """A difference of two shares with Newcombe's 95% interval, as if their examples were not the same."""
    one, other = hits / max(1, total), others / max(1, of)
    (low, high), (least, most) = interval(hits, total), interval(others, of)
    change = one - other
    down = ((one - low) ** 2 + (most - other) ** 2) ** 0.5
    up = ((high - one) ** 2 + (other - least) ** 2) ** 0.5
    return (change - down, change + up), change
