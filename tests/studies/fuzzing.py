"""For `.ci/pages-check`: a toy study on a free port, and hooks for schemathesis, which send valid secrets mostly.

python -m tests.studies.fuzzing FOLDER     serve a study in FOLDER until it is ended; FOLDER/told.json says where
SCHEMATHESIS_HOOKS=tests.studies.fuzzing   with MOHS_FUZZED=FOLDER; FOLDER/answers.json counts what was answered
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any


def serve_a_study(folder: Path) -> None:
    """Serve a study without limits, so that schemathesis is not held up."""
    import socket

    import uvicorn

    from mohs.studies.web.limits import Limit
    from mohs.studies.web.site import Limits
    from tests.studies.visiting import LABELS, SECRET, Visited, labels

    none = Limit(10**9, 1e9)
    site = Visited.of(folder, replace(LABELS, judges=5), labels(100), limits=Limits(none, none, none))
    links = []
    for number in range(40):
        ada = site.visitor(f"ada {number}")
        links.append((ada.token, ada.told()["csrf"]))
        if number % 2:
            ada.step("agree")
    organisers = []
    for _ in range(20):
        client = site.signed_in()
        page = client.get("/organiser").text
        ((name, secret),) = client.cookies.items()
        organisers.append((f"{name}={secret}", page.partition('name="csrf" value="')[2].partition('"')[0]))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        told = {"address": address, "secret": SECRET, "links": links, "organisers": organisers}
        ready = folder / "told.json.new"
        ready.write_text(json.dumps(told), "utf-8")
        ready.rename(folder / "told.json")
        uvicorn.Server(uvicorn.Config(site.app, log_level="warning", lifespan="off", ws="none")).run([listener])


def add_hooks(folder: Path) -> None:
    """In three of four requests: a link or a sign-in that exists, the code of its page, and numbers that exist."""
    import schemathesis  # an extra, which only `.ci/pages-check` needs

    told = json.loads((folder / "told.json").read_text("utf-8"))
    random = Random(1)
    answers: dict[str, Counter[str]] = defaultdict(Counter)

    def before_call(context: Any, case: Any, kwargs: Any) -> None:
        if random.random() < 0.25:
            return
        if "token" in (case.path_parameters or {}):
            case.path_parameters["token"], csrf = random.choice(told["links"])
        else:
            sign_in, csrf = random.choice(told["organisers"])
            name, _, secret = sign_in.partition("=")
            case.cookies = {**(case.cookies or {}), name: secret}
        if "number" in (case.path_parameters or {}):
            case.path_parameters["number"] = random.randint(1, 50)
        if "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = random.choice(("style.css", "judge.js", "icon.svg"))
        if isinstance(case.body, dict):
            known: dict[str, Any] = {"csrf": csrf, "token": told["secret"], "value": random.randint(0, 1)}
            known |= {"item": random.randint(1, 104), "number": random.randint(1, 50), "n": random.randint(0, 2)}
            case.body |= {key: known[key] for key in case.body if key in known}
        if random.random() < 0.5:
            case.headers = {**(case.headers or {}), "accept": "application/json"}

    def after_call(context: Any, case: Any, response: Any) -> None:
        if response.status_code != 405:  # schemathesis also tries methods that a page does not have
            answers[f"{case.operation.method.upper()} {case.path}"][str(response.status_code)] += 1

    for hook in (before_call, after_call):
        schemathesis.hook(hook)
    atexit.register(lambda: (folder / "answers.json").write_text(json.dumps(answers, indent=1), "utf-8"))


def check(folder: Path) -> None:
    """Say what was answered. Ends with 1 if some operation never got behind its secrets, or there was a 5xx."""
    answers = json.loads((folder / "answers.json").read_text("utf-8"))
    bad = []
    for name, counts in sorted(answers.items()):
        print(f"{name}: {', '.join(f'{count} x {status}' for status, count in sorted(counts.items()))}")
        if any(status[0] == "5" for status in counts) or not any(status[0] in "23" for status in counts):
            bad.append(name)
    if bad or not answers:
        sys.exit(f"A 5xx, or never a success: {', '.join(bad) or 'nothing was asked'}")


if folder := os.environ.get("MOHS_FUZZED"):
    add_hooks(Path(folder))
if __name__ == "__main__":
    (check if sys.argv[1] == "check" else serve_a_study)(Path(sys.argv[-1]))
