"""Build src/mohs/pocket/reviews.jsonl.gz from the hand-written reviews in scripts/reviews/*.jsonl.

    python scripts/build_reviews.py

Checks that every text is new and of sensible length, splits each topic and label 4:1 into train and test by a hash
of the text (so adding a review moves no other), balances the labels of each part, and writes the same bytes each time.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent / "reviews"
TARGET = Path(__file__).parent.parent / "src/mohs/pocket/reviews.jsonl.gz"


def main() -> None:
    groups: dict[tuple[str, int], list[dict[str, object]]] = defaultdict(list)
    seen: set[str] = set()
    for path in sorted(SOURCE.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            plain = " ".join(row["text"].lower().split())
            if plain in seen or not 6 <= len(plain.split()) <= 40:
                raise SystemExit(f"{path.name}: repeated, too short or too long: {row['text']}")
            seen.add(plain)
            groups[row["topic"], row["label"]].append(row)
    rows = []
    for (topic, label), members in sorted(groups.items()):
        members.sort(key=lambda row: hashlib.sha256(str(row["text"]).encode()).hexdigest())
        tests = len(members) // 5
        for number, row in enumerate(members):
            split = "test" if number < tests else "train"
            rows.append({"text": row["text"], "label": label, "topic": topic, "split": split})
    rows.sort(key=lambda row: hashlib.sha256(str(row["text"]).encode()).hexdigest()[::-1])
    counters: dict[str, int] = defaultdict(int)
    lines = []
    for row in rows:
        split = str(row["split"])
        lines.append(json.dumps({"id": f"{split}-{counters[split]:04d}", **row}, ensure_ascii=False))
        counters[split] += 1
    TARGET.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    print(f"{TARGET}: {dict(counters)}, {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
