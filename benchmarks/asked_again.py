"""What does it cost to ask a victim again: before a run, at every level of a proof, and at its end?

    python benchmarks/asked_again.py [--victim mohs:my-cnn] [--n 40] [--max-r 2] [--attack textfooler]

The bundled reviews, and the bundled bag of words as a function (so that no closed form spares the questions) or another
victim. Printed for a proof at each r and for an attack, from one run each: the texts put to the victim and the CPU
seconds it took for them, of all, before the run, again at the levels of a proof, and at the end.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from mohs.attacks.verb import AttackVerb
from mohs.bounds.verb import RadiusVerb
from mohs.engine import Service
from mohs.models.bag import pocket_victim
from mohs.models.function import FunctionVictim
from mohs.models.load import victim_from
from mohs.models.wrapper import Wrapper
from mohs.runs.job import job_of
from mohs.runs.settings import Settings


class Clocked(Wrapper):
    """Counts the texts that a victim answers, and the seconds that it takes."""

    def __init__(self, victim: Any) -> None:
        super().__init__(victim)
        self.texts, self.seconds = 0, 0.0

    def launch(self, batch: list[Any]) -> Any:
        started = time.process_time()
        ticket = super().launch(batch)
        self.seconds += time.process_time() - started
        self.texts += len(batch)
        return ticket

    def collect(self, ticket: Any) -> Any:
        started = time.process_time()
        try:
            return super().collect(ticket)
        finally:
            self.seconds += time.process_time() - started


def measure(title: str, model: Any, verb: Any, n: int) -> None:
    """The line of one run."""
    victim, levels = Clocked(model), Clocked(model)
    began = time.process_time()
    job = job_of(Settings(victim=victim, data="pocket", n=n), verb)
    before, before_seconds = victim.texts, victim.seconds
    alone = job.subject.target.alone
    assert isinstance(alone, Service)
    alone.model = levels
    found = [record for _, record in job.records(set())]
    seconds = time.process_time() - began
    end = len(job.subject.target.known) * 2  # alone, and in a batch
    texts, inside = victim.texts + levels.texts, victim.seconds + levels.seconds
    spent = f"{seconds:.2f} s ({inside:.2f} in the victim)"
    parts = [
        f"before the run {before} texts ({before / texts:.1%}), {before_seconds / seconds:.1%} of the time",
        f"again at the levels {levels.texts:,} ({levels.texts / texts:.1%}), {levels.seconds / seconds:.1%}",
        f"at the end {end} ({end / texts:.1%})",
    ]
    print(f"{title}: {len(found)} examples, {texts:,} texts, {spent}; {'; '.join(parts)}", flush=True)
    job.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--victim", default="")
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--max-r", type=int, default=2)
    parser.add_argument("--attack", default="textfooler")
    asked = parser.parse_args()
    bag = pocket_victim()
    model: Any = FunctionVictim(lambda texts: bag.collect(bag.launch([(text,) for text in texts])), name="bag")
    if asked.victim:
        model = victim_from(asked.victim, device="cpu")
    for r in range(1, asked.max_r + 1):
        measure(f"proof, r={r}", model, RadiusVerb(max_r=r), asked.n)
    measure(asked.attack, model, AttackVerb(attacks=(asked.attack,)), asked.n)


if __name__ == "__main__":
    main()
