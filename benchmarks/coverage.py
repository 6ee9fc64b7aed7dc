"""How often do the printed intervals hold the truth, and how often do the printed tests err?

    python benchmarks/coverage.py [--studies 20000] [--bootstraps 1000]

Prints the tables of docs/statistics.md: simulated studies of 6, 10 and 40 units (examples, or sentences), with effects
of mean 0 that are normal, heavy-tailed or skewed, and with sizes that are equal or very uneven. Beside the printed
interval stand the bootstraps that it was chosen against, over fewer studies (--bootstraps, 999 resamples each).
Intervals of shares and of paired differences are worked out exactly. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import norm

from mohs.bounds.intervals import clopper_pearson, hoeffding_interval
from mohs.report.fair import fair_of
from mohs.report.rates import Completed, Rate
from mohs.tasks.inference import Pooled, mcnemar, paired_interval, sign_flip
from mohs.text.calibration import Calibration

UNITS = (6, 10, 40)
TESTED = (8, 10, 40)
RESAMPLES = 999
EFFECTS: dict[str, Callable[[Any, Any], Any]] = {
    "normal": lambda random, shape: random.normal(0, 1, shape),
    "uniform": lambda random, shape: random.random(shape) - 0.5,
    "Laplace": lambda random, shape: random.laplace(0, 1, shape),
    "gamma, shape 2": lambda random, shape: random.gamma(2, 1, shape) - 2,
    "exponential": lambda random, shape: random.exponential(1, shape) - 1,
    "lognormal": lambda random, shape: random.lognormal(0, 1, shape) - math.exp(0.5),
}
SIZES: dict[str, Callable[[Any, Any], Any]] = {
    "equal": lambda random, shape: np.ones(shape),
    "uneven": lambda random, shape: random.lognormal(0, 1, shape),
}


def drawn(effect: str, size: str, n: int, studies: int) -> tuple[Any, Any]:
    """Studies without an effect."""
    random = np.random.default_rng([n, *map(ord, effect + size)])
    return EFFECTS[effect](random, (studies, n)), SIZES[size](random, (studies, n))


def means(studies: int) -> None:
    """The interval and the test of a mean."""
    print("| effects | sizes | interval holds: 6 | 10 | 40 | test errs: 8 | 10 | 40 | sign flips alone: 8 | 10 | 40 |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for effect in EFFECTS:
        for size in SIZES:
            held, errs, flips = [], [], []
            for n in UNITS:
                low, high = Pooled.of(*drawn(effect, size, n, studies)).interval()
                held.append(np.mean((low <= 0) & (high >= 0)))
            for n in TESTED:
                effects, sizes = drawn(effect, size, n, studies)
                some = slice(0, studies if n < 13 else studies // 20)  # drawn signs take long
                first, random = Pooled.of(effects, sizes).cautious_p()[some] <= 0.05, np.random.default_rng(0)
                rows = zip(effects[some] * sizes[some], strict=True)
                second = np.array([sign_flip(row, random) <= 0.05 for (row,) in rows])
                errs.append(np.mean(first & second))
                flips.append(np.mean(second))
            print(f"| {effect} | {size} | {' | '.join(f'{100 * value:.1f}' for value in (*held, *errs, *flips))} |")


def bootstraps(studies: int) -> None:
    """Other intervals of a mean, over fewer studies."""
    print("| effects | sizes | interval | 6 | 10 | 40 |\n|---|---|---|---|---|---|")
    for effect in ("normal", "exponential", "lognormal"):
        for size in SIZES:
            held: dict[str, list[float]] = {}
            for n in UNITS:
                effects, sizes = drawn(effect, size, n, studies)
                random = np.random.default_rng(n)
                rows = [resampled(*row, random) for row in zip(effects, sizes, strict=True)]
                low, high = Pooled.of(effects, sizes).interval()
                held.setdefault("printed", []).append(float(np.mean((low <= 0) & (high >= 0))))
                for name in rows[0]:
                    ends = np.array([row[name] for row in rows])
                    held.setdefault(name, []).append(float(np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0))))
            for name, values in held.items():
                print(f"| {effect} | {size} | {name} | {' | '.join(f'{100 * value:.1f}' for value in values)} |")


def resampled(effects: Any, sizes: Any, random: Any) -> dict[str, tuple[float, float]]:
    """Percentile, BCa and studentised bootstrap of one study."""
    n = len(effects)
    mean, error = linear(effects, sizes)
    at = random.integers(n, size=(RESAMPLES, n))
    found, errors = linear(effects[at], sizes[at])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num((found - mean) / errors, nan=0.0, posinf=1e9, neginf=-1e9)
    z = norm.ppf(np.clip(np.mean(found < mean), 1 / RESAMPLES, 1 - 1 / RESAMPLES))
    left = np.array([np.average(np.delete(effects, i), weights=np.delete(sizes, i)) for i in range(n)])
    apart = left.mean() - left
    bend = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    ends = [norm.cdf(z + (z + q) / (1 - bend * (z + q))) for q in (-1.96, 1.96)]
    high, low = np.quantile(ratios, [0.025, 0.975])
    return {
        "percentile bootstrap": tuple(np.quantile(found, [0.025, 0.975]).tolist()),
        "BCa bootstrap": tuple(np.quantile(found, ends).tolist()),
        "studentised bootstrap": (float(mean - low * error), float(mean - high * error)),
    }


def linear(effects: Any, sizes: Any) -> tuple[Any, Any]:
    """The pooled mean and its linearised error."""
    share = sizes / sizes.sum(-1, keepdims=True)
    mean = (share * effects).sum(-1)
    n = effects.shape[-1]
    return mean, np.sqrt(n / (n - 1) * ((share * (effects - mean[..., None])) ** 2).sum(-1))


def shares() -> None:
    """Wilson, Clopper-Pearson and Hoeffding, exactly, over shares from 0.01 to 0.99."""
    print(
        "| interval of a share | 6: mean | least | 10: mean | least | 40: mean | least |\n|---|---|---|---|---|---|---|"
    )
    kinds: dict[str, Callable[[int, int], Any]] = {
        "Wilson": lambda hits, n: Rate(hits, n, "x").interval,
        "Clopper-Pearson, delta 0.05": lambda hits, n: clopper_pearson(hits, n, 0.05),
        "Hoeffding, delta 0.05": lambda hits, n: hoeffding_interval(hits, n, 0.05),
    }
    for name, interval in kinds.items():
        cells = []
        for n in UNITS:
            ends = [interval(hits, n) for hits in range(n + 1)]
            held = [
                sum(
                    math.comb(n, k) * p**k * (1 - p) ** (n - k)
                    for k, (low, high) in enumerate(ends)
                    if low <= p <= high
                )
                for p in np.linspace(0.01, 0.99, 99).tolist()
            ]
            cells += [f"{100 * np.mean(held):.1f}", f"{100 * min(held):.1f}"]
        print(f"| {name} | {' | '.join(cells)} |")


OTHERS: dict[str, Callable[[Any, Any], Any]] = {  # the caution of the test was not chosen on these
    "lognormal, sigma 0.5": lambda random, shape: random.lognormal(0, 0.5, shape) - math.exp(0.125),
    "chi-squared, 1 degree": lambda random, shape: random.chisquare(1, shape) - 1,
    "Weibull, shape 0.5": lambda random, shape: random.weibull(0.5, shape) - 2,
    "lognormal, sigma 1.5": lambda random, shape: random.lognormal(0, 1.5, shape) - math.exp(1.125),
    "one in ten is 1, with noise": lambda random, shape: (
        (random.random(shape) < 0.1) - 0.1 + random.normal(0, 0.05, shape)
    ),
}


def others(studies: int) -> None:
    """The test, on effects that it was not chosen on; sizes are equal."""
    print("| effects | test errs: 8 | 10 | 40 |\n|---|---|---|---|")
    for name, effect in OTHERS.items():
        errs = []
        for n in TESTED:
            random = np.random.default_rng([n, *map(ord, name)])
            effects = effect(random, (studies if n < 13 else studies // 10, n))
            small = effects[Pooled.of(effects).cautious_p() <= 0.05]  # signs are only asked where they can matter
            errs.append(sum(sign_flip(row, random) <= 0.05 for row in small) / len(effects))
        print(f"| {name} | {' | '.join(f'{100 * value:.1f}' for value in errs)} |")


def late(studies: int) -> None:
    """Accuracy under attack, if 80% of the examples are attacked and some of these end in an error."""
    held_at, off_at = "interval holds: 6 | 10 | 40", "off: 6 | 10 | 40"
    print(f"| errors, of those attacked | withstand | {held_at} | {off_at} | errors left out: 40 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for errors in (0.0, 0.2, 0.5, 0.8):
        for withstand in (0.1, 0.5, 0.9):
            held, off, plain = [], [], 0.0
            for n in UNITS:
                random = np.random.default_rng([n, int(10 * errors), int(10 * withstand)])
                attacked = random.binomial(n, 0.8, studies)
                broken = random.binomial(attacked, errors)
                hits = random.binomial(attacked - broken, withstand)
                rows = zip(attacked.tolist(), broken.tolist(), hits.tolist(), strict=True)
                found = [Completed(k, n - e, "", e, tried=a - e, tried_hits=k, late=e) for a, e, k in rows]
                ends = [one.interval for one in found]
                held.append(np.mean([low <= 0.8 * withstand <= high for low, high in filter(None, ends)]))
                off.append(np.mean([one.value for one in found if one.value is not None]) - 0.8 * withstand)
                plain = np.mean([one.hits / one.total for one in found if one.total]) - 0.8 * withstand
            shown = " | ".join(f"{100 * value:.1f}" for value in held)
            moved = " | ".join(f"{100 * value:+.1f}" for value in (*off, plain))
            print(f"| {errors:.0%} | {withstand:.0%} | {shown} | {moved} |")


def pairs() -> None:
    """Tango's interval and McNemar's test, exactly."""
    print("| only first, only second | interval holds: 6 | 10 | 40 | test errs: 6 | 10 | 40 |")
    print("|---|---|---|---|---|---|---|")
    for a, b in ((0.3, 0.3), (0.1, 0.1), (0.4, 0.1), (0.6, 0.1), (0.05, 0.02)):
        held, errs = [], []
        for n in UNITS:
            covered = rejected = 0.0
            for first in range(n + 1):
                for second in range(n + 1 - first):
                    ways = math.comb(n, first) * math.comb(n - first, second)
                    chance = ways * a**first * b**second * (1 - a - b) ** (n - first - second)
                    low, high = paired_interval(first, second, n) or (2.0, 2.0)
                    covered += chance * (low <= a - b <= high)
                    rejected += chance * (mcnemar(first, second) <= 0.05)
            held.append(f"{100 * covered:.1f}")
            errs.append(f"{100 * rejected:.1f}" if a == b else "-")
        print(f"| {a:.0%}, {b:.0%} | {' | '.join(held + errs)} |")


def fair(studies: int) -> None:
    """Fair success, if the judge errs as its calibration says: one shift and stretch a study."""
    print("| fair success | 6 | 10 | 40 |\n|---|---|---|---|")
    calibration = Calibration((1.0,), 0.1, 0.1, 0.0, 0.3)
    for success in (0.2, 0.6, 0.9):
        cells = []
        for n in UNITS:
            random, held = np.random.default_rng(n), 0
            for _ in range(studies):
                shift = calibration.offset * random.standard_normal() + calibration.spread * random.standard_normal()
                slope = 1 + calibration.slope * random.standard_normal()
                odds = random.normal(0, 1.5, 2000)
                truth = success * float(np.mean(1 / (1 + np.exp(-(shift + slope * odds)))))
                words = 1 / (1 + np.exp(-random.normal(0, 1.5, random.binomial(n, success))))
                low, high = fair_of([[word] for word in words.tolist()], n, "examples", calibration).interval or (2, 2)
                held += low <= truth <= high
            cells.append(f"{100 * held / studies:.1f}")
        print(f"| {success:.0%} of attacks succeed | {' | '.join(cells)} |")


def main() -> None:
    """Print all tables."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--studies", type=int, default=20_000)
    asked.add_argument("--bootstraps", type=int, default=1000)
    given = asked.parse_args()
    for table in (
        lambda: means(given.studies),
        lambda: others(given.studies),
        lambda: bootstraps(given.bootstraps),
        shares,
        lambda: late(given.studies // 4),
        pairs,
    ):
        table()
        print()
    fair(given.bootstraps)


if __name__ == "__main__":
    main()
