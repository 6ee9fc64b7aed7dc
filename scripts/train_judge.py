"""Train and measure the bundled judge: would people accept one word for another where it stands?

    python -m scripts.train_judge --assets DIR [--encoder hf:PATH] [--asked FILE.npz] [--measure]

DIR holds `human/swords` (SWORDS 1.1), `lexical` (WordNet 3.0, GloVe 100d) and `models/minilm-mlm`. The trees are fitted
on the dev part; settings and calibration come from cross-validation there, by target. The test part is measured once,
at the end. With --encoder a second form is trained that also hears a masked language model and that sentence encoder;
their answers take long and are kept in --asked. Without it only the bundled form is made. --measure fits nothing and
measures the judge that ships.

Substitutes are base forms in SWORDS; here they take the form of the word they stand for.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from mohs.models.tagger import PocketTagger
from mohs.text import Text, pocket
from mohs.text.judge import FEATURES, Judge, Place, reversal
from mohs.text.questions import Spot
from mohs.text.relations import CLASSES
from mohs.text.trees import Trees
from mohs.text.wordnet import WordNet
from scripts import judge_texts, swords
from scripts.judge_calibration import calibration, slices
from scripts.judge_models import asked
from scripts.judge_tables import tables

Rows = npt.NDArray[Any]

FOLDS = 5
SETTINGS = {
    "small": {"max_iter": 110, "learning_rate": 0.07, "min_samples_leaf": 60, "l2_regularization": 20.0},
    "large": {"max_iter": 200, "learning_rate": 0.04, "min_samples_leaf": 60, "l2_regularization": 20.0},
}
COMMON = {"max_depth": 4, "max_leaf_nodes": 16, "max_features": 0.25, "early_stopping": False, "random_state": 0}
REVERSALS = Path(__file__).parent.parent / "tests" / "space" / "reversals.txt"


def place_of(target: swords.Target) -> Place:
    """A target of SWORDS as a text and a position."""
    text = Text(target.context)
    spans = text.spans()
    position = next((n for n, (_, start, end) in enumerate(spans) if end > target.start), len(spans) - 1)
    words = list(text.words)
    words[position] = target.word
    return Place(tuple(words), position, target.tag)


def features(judge: Judge, targets: list[swords.Target], rows: list[swords.Row]) -> Rows:
    found = np.empty((len(rows), len(FEATURES)), np.float32)
    by_target: list[list[int]] = [[] for _ in targets]
    for number, row in enumerate(rows):
        by_target[row.target].append(number)
    for target, numbers in zip(targets, by_target, strict=True):
        found[numbers] = judge.features(place_of(target), [rows[number].word for number in numbers])
    return found


def fit(x: Rows, share: Rows, settings: dict[str, Any]) -> HistGradientBoostingClassifier:
    """Each row counts as accepted by the share of people who accepted it, and as not accepted by the rest."""
    labels = np.repeat([1, 0], len(share))
    weights = np.concatenate([share, 1 - share])
    kept = weights > 0
    model = HistGradientBoostingClassifier(**COMMON, **settings)
    return model.fit(np.concatenate([x, x])[kept], labels[kept], sample_weight=weights[kept])


def exported(model: HistGradientBoostingClassifier) -> Trees:
    """The trees of a fitted model, each pair of children side by side."""
    feature: list[int] = []
    threshold: list[float] = []
    missing: list[bool] = []
    left: list[int] = []
    value: list[float] = []
    roots = []
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        roots.append(len(feature))
        order = [0]
        first = len(feature)
        for place in order:  # grows while it is walked
            node = nodes[place]
            leaf = bool(node["is_leaf"])
            feature.append(-1 if leaf else int(node["feature_idx"]))
            threshold.append(0.0 if leaf else float(node["num_threshold"]))
            missing.append(bool(node["missing_go_to_left"]))
            value.append(float(node["value"]) if leaf else 0.0)
            left.append(0 if leaf else first + len(order))
            if not leaf:
                order += [int(node["left"]), int(node["right"])]
    return Trees(
        np.array(roots),
        np.array(feature),
        np.array(threshold, np.float32),
        np.array(missing),
        np.array(left),
        np.array(value, np.float32),
        float(model._baseline_prediction[0, 0]),
    )


def cross_validated(x: Rows, share: Rows, groups: Rows, settings: dict[str, Any]) -> Rows:
    """Scores of each row by trees that saw no row of its target."""
    fold = np.random.default_rng(0).integers(0, FOLDS, groups.max() + 1)[groups]
    scores = np.empty(len(share))
    for number in range(FOLDS):
        inside = fold == number
        scores[inside] = exported(fit(x[~inside], share[~inside], settings))(x[inside].astype(np.float32))
    return scores


def curve(scores: Rows, accepted: Rows) -> tuple[Rows, Rows]:
    """A calibration: isotonic regression, its steps joined at their middles."""
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, accepted).predict(scores)
    points, values = [], []
    for value in np.unique(fitted):
        inside = np.sort(scores[fitted == value])
        if len(inside) >= 30:  # a short step at an end says little
            points.append(float(inside.mean()))
            values.append(float(value))
    return np.array(points, np.float32), np.array(values, np.float32)


def held_out(scores: Rows, accepted: Rows, groups: Rows) -> Rows:
    """The probability of each row by a calibration that saw no row of its target."""
    fold = np.random.default_rng(0).integers(0, FOLDS, groups.max() + 1)[groups]
    found = np.empty(len(scores))
    for number in range(FOLDS):
        inside = fold == number
        found[inside] = np.interp(scores[inside], *curve(scores[~inside], accepted[~inside]))
    return found


def calibration_error(
    probability: Rows, accepted: Rows, bins: int = 15
) -> tuple[float, list[tuple[float, float, int]]]:
    """The expected calibration error over bins of equal mass, and the curve."""
    parts = np.array_split(np.argsort(probability, kind="stable"), bins)
    points = [(float(probability[part].mean()), float(accepted[part].mean()), len(part)) for part in parts]
    return sum(abs(a - b) * n for a, b, n in points) / len(probability), points


def average_precision(scores: Rows, gold: Rows) -> float:
    """Generalised average precision of a ranking against weights (Kishida 2005), as lexical substitution uses it."""

    def total(weights: Rows) -> float:
        means = np.cumsum(weights) / np.arange(1, len(weights) + 1)
        return float(means[weights > 0].sum())

    return total(gold[np.argsort(-scores, kind="stable")]) / total(np.sort(gold)[::-1])


def measure(title: str, probability: Rows, share: Rows, groups: Rows, ten: Rows) -> None:
    accepted = share >= 0.5
    error, points = calibration_error(probability, accepted)
    wanted = [number for number in np.unique(groups) if (share[groups == number] > 0).any()]
    gap = np.mean([average_precision(probability[groups == n], share[groups == n]) for n in wanted])
    nine = ten & (share >= 0.9)
    print(f"\n{title}: {len(share)} substitutes, {accepted.sum()} accepted by half of the people or more")
    print(f"  AUC {roc_auc_score(accepted, probability):.4f}   ECE {error:.4f} (15 bins of equal mass)   GAP {gap:.4f}")
    print(f"  accepted by nine of ten and over 0.5: {(probability[nine] > 0.5).mean():.3f} of {nine.sum()}", end="; ")
    print(f"mean {probability[nine].mean():.3f}; over 0.5 in all {(probability > 0.5).sum()}", end=", ")
    print(f"of which accepted {accepted[probability > 0.5].mean():.3f}")
    print("  reliability (said, found):", "  ".join(f"{a:.3f} {b:.3f}" for a, b, _ in points))
    for low, high in ((0.0, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (0.6, 1.01)):
        inside = (probability >= low) & (probability < high)
        if inside.any():
            print(f"    {low:.1f} to {min(high, 1.0):.1f}: {inside.sum():6d}  {accepted[inside].mean():.3f}")


def measure_reversals(judge: Judge, folder: Path) -> None:
    """Pairs in the place of a word in a plain sentence, both ways."""
    frames = {
        "a": "the food was {} again",
        "n": "it was a {} to me",
        "v": "they will {} it",
        "r": "it was done {} today",
    }
    tags = {"a": "JJ", "n": "NN", "v": "VB", "r": "RB"}
    lists = {"written by hand": [tuple(line.split()) for line in REVERSALS.read_text("utf-8").splitlines()]}
    wordnet = WordNet(folder / "lexical" / "wordnet-3.0.tar.gz")
    known = pocket.lexicon().index
    for letter in tags:
        lists[f"WordNet antonyms, {letter}"] = [
            (word, other, letter)
            for word in known
            for other in wordnet.antonyms(word, letter)
            if other in known and wordnet.lemma(word, letter) == word
        ]
    lists["WordNet antonyms"] = [
        pair for title, pairs in lists.items() if title.startswith("WordNet") for pair in pairs
    ]
    lists["both lists together"] = lists["written by hand"] + lists["WordNet antonyms"]
    kinds = judge.relations.kinds
    with gzip.open(folder / "lexical" / "counter-fitting" / "ppdb_antonyms.txt.gz", "rt", encoding="utf-8") as lines:
        pairs = [(one, other) for one, other in map(str.split, lines) if kinds(one) and kinds(other)]
    lists["PPDB antonyms"] = [(*pair, CLASSES[kinds(pair[0])[0]]) for pair in pairs]
    tagger = PocketTagger()
    print()
    for title, pairs in lists.items():
        values, over = [], []
        for one, other, letter in pairs:
            frame = frames[letter]
            words = tuple(frame.format(one).split())
            position = frame.split().index("{}")
            start = frame.index("{}")
            (tag,) = tagger.collect([Spot(frame.format(one), start, start + len(one))])
            place = Place(words, position, tag.tag if tag.tag[0] == tags[letter][0] else tags[letter])
            values.append(float(judge(place, [other])[0]))
            if values[-1] >= 0.2:
                over.append(f"{one}/{other} {values[-1]:.2f}")
        share = np.mean(np.array(values) < 0.2)
        print(f"{title}: {len(values)} pairs, {share:.4f} under 0.2, mean {np.mean(values):.3f}; over: {over[:12]}")


def unknown(judge: Judge, targets: list[swords.Target], rows: list[swords.Row]) -> int:
    """Of how many substitutes the judge has no opinion."""
    by_target: dict[int, list[str]] = {}
    for row in rows:
        by_target.setdefault(row.target, []).append(row.word)
    return sum(int(np.isnan(judge(place_of(targets[at]), words)).sum()) for at, words in by_target.items())


def measure_time(judge: Judge, targets: list[swords.Target], rows: list[swords.Row]) -> None:
    by_target: dict[int, list[str]] = {}
    for row in rows[:8000]:
        by_target.setdefault(row.target, []).append(row.word)
    places = {number: place_of(targets[number]) for number in by_target}
    for title in ("words met for the first time", *["words met before"] * 3):
        start = time.process_time()
        for number, words in by_target.items():
            judge(places[number], words)
        print(f"{title}: {(time.process_time() - start) / 8000 * 1e6:.1f} µs a candidate")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True)
    parser.add_argument("--encoder", default="")
    parser.add_argument("--asked", type=Path, default=None)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--settings", choices=SETTINGS, default=None)
    parser.add_argument("--out", type=Path, default=Path("src/mohs/pocket/judge.npz"))
    options = parser.parse_args()
    data = {part: swords.read(options.assets / f"human/swords/swords-v1.1_{part}.json.gz") for part in ("dev", "test")}
    share = {part: np.array([row.score for row in rows]) for part, (_, rows) in data.items()}
    groups = {part: np.array([row.target for row in rows]) for part, (_, rows) in data.items()}
    if options.measure:
        with np.load(options.out) as file:
            parts = {name: file[name] for name in file.files}
    else:
        parts = tables(options.assets)
    judge = _judge(parts, options.out, write=False)
    x = {part: features(judge, *pair) for part, pair in data.items()}
    forms = {"bundled": x}
    if options.encoder or (options.asked and options.asked.exists()):
        more = asked(data, options.assets, options.encoder, options.asked)
        forms["asked"] = {part: np.column_stack([x[part], more[part]]).astype(np.float32) for part in data}
    if not options.measure:
        accepted, honest = share["dev"] >= 0.5, {}
        for form, rows in forms.items():
            tried = {}
            for name in [options.settings] if options.settings else SETTINGS:
                tried[name] = cross_validated(rows["dev"], share["dev"], groups["dev"], SETTINGS[name])
                print(f"{form}, {name}: AUC {roc_auc_score(accepted, tried[name]):.4f} cross-validated", flush=True)
            best = max(tried, key=lambda name: roc_auc_score(accepted, tried[name]))
            trees = exported(fit(rows["dev"], share["dev"], SETTINGS[best]))
            points, values = curve(tried[best], accepted)
            found = {**trees.arrays(), "scores": points, "probabilities": values}
            parts |= {f"{form}_{name}": part for name, part in found.items()}
            honest[form] = held_out(tried[best], accepted, groups["dev"])
        turned = reversal(x["dev"])
        print(f"reversals in dev: {turned.sum()}, accepted {(share['dev'][turned] >= 0.5).mean():.3f}")
        parts["ceiling"] = np.array(min(0.15, float((share["dev"][turned] >= 0.5).mean())))
        judge = _judge(parts, options.out, write=False)
        sources = np.array([data["dev"][0][number].source for number in groups["dev"]])
        sliced = slices(lambda name: x["dev"][:, FEATURES.index(name)], sources)
        people = judge_texts.people(options.assets / "human", judge)
        for form in reversed(honest):  # the bundled form comes last, and its numbers are stored
            print(f"\ncalibration of the form {form}")
            found = np.where(turned, np.minimum(honest[form], judge.ceiling), honest[form])
            known = calibration(found, accepted, groups["dev"], sliced, people)
        parts |= {f"calibration_{name}": part for name, part in known.arrays().items()}
        judge = _judge(parts, options.out, write=True)
        print(f"{options.out}: {options.out.stat().st_size / 1e6:.2f} MB, reversals get at most {judge.ceiling:.3f}")
    ten = np.array([len(row.labels) == 10 for row in data["test"][1]])
    for form, rows in forms.items():
        if form in judge.trees:
            kept = np.isfinite(rows["test"][:, -1]) if form == "asked" else np.ones(len(ten), bool)
            found = judge.judged(form, rows["test"][kept])
            measure(f"SWORDS test, {form}", found, share["test"][kept], groups["test"][kept], ten[kept])
    print(f"\nsubstitutes of SWORDS test that no table knows: {unknown(judge, *data['test'])}")
    measure_reversals(judge, options.assets)
    measure_time(_judge(parts, options.out, write=False), *data["test"])


def _judge(parts: dict[str, Any], path: Path, *, write: bool) -> Judge:
    if write:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **parts)
        return Judge.read(path.read_bytes())
    import io

    file = io.BytesIO()
    np.savez(file, **parts)
    return Judge.read(file.getvalue())


if __name__ == "__main__":
    main()
