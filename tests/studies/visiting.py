"""A study on the web, and people who visit its pages without a browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from mohs.studies.design import Answer, Design, Question, Statement, Training
from mohs.studies.item import Item, Role
from mohs.studies.study import Study
from mohs.studies.web import make_app
from mohs.studies.web.site import Limits
from tests.studies.toys import Clock, design, items

HOST = "http://127.0.0.1:8000"
SECRET = "the organiser's own secret"

LABELS = Design(
    name="toy-labels",
    title="Good or bad?",
    about="A toy.",
    items="labels",
    questions=(
        Question("label", (Statement("Which fits?"),), (Answer(0, "bad"), Answer(1, "good")), statistic="majority"),
    ),
    judges=2,
    batch=3,
    minutes=1,
    training=Training(4, 0.75),
    instructions="Read each text.\n\nChoose what fits.",
    consent="You can stop at any time.",
)


def labels(main: int = 7, practice: int = 4) -> list[Item]:
    """Main items, whose label is their number's last bit, and items for practice, which name their label."""
    names = ("bad", "good")
    return [
        *(Item(f"main/{n}", "label", (f"text {n}",), "attack", Role.MAIN, (n % 2,)) for n in range(main)),
        *(
            Item(f"practice/{n}", "label", (f"a {names[n % 2]} one, {n}",), "", Role.TRAINING, (n % 2,))
            for n in range(practice)
        ),
    ]


class Seen(HTMLParser):
    """What a page holds: its elements, hidden fields, and the texts to judge as a reader gets them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.fields: dict[str, str] = {}
        self.shown: list[str] = []
        self.words = ""
        self._depth = 0  # inside of a text to judge
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag == "input" and found.get("type") == "hidden":
            self.fields[str(found["name"])] = found.get("value") or ""
        if self._depth and tag != "br":
            self._depth += 1
        elif tag == "div" and found.get("class") == "text":
            self._depth = 1
            self.shown.append("")

    def handle_endtag(self, tag: str) -> None:
        self._depth = max(0, self._depth - 1)

    def handle_data(self, data: str) -> None:
        self.words += data
        if self._depth:
            self.shown[-1] += data


@dataclass
class Visitor:
    """Somebody with a link."""

    client: TestClient
    token: str

    def page(self, path: str = "") -> Seen:
        """A page of theirs."""
        answer = self.client.get(f"/a/{self.token}{path}")
        assert answer.status_code == 200
        return Seen(answer.text)

    def told(self) -> dict[str, Any]:
        """What the same page tells a program."""
        answer = self.client.get(f"/a/{self.token}", headers={"accept": "application/json"})
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()
        return found

    def step(self, name: str, **fields: Any) -> Seen:
        """Send a form; the page after it."""
        answer = self.client.post(f"/a/{self.token}/{name}", data={"csrf": self.told()["csrf"], **fields})
        assert answer.status_code == 200
        return Seen(answer.text)

    def judge(self, value: int | Callable[[str], int]) -> Seen:
        """Answer the item that is shown. value: the answer, or what makes it from the text."""
        page = self.page()
        chosen = value if isinstance(value, int) else value(page.shown[-1])
        return self.step("answer", item=page.fields["item"], value=chosen)


def good(text: str) -> int:
    """The label of an item for practice."""
    return int("good" in text)


@dataclass
class Visited:
    """A study on the web, its clock, and a browser for everybody."""

    study: Study
    clock: Clock = field(default_factory=Clock)
    organiser: str | None = SECRET
    public: str = ""
    limits: Limits | None = None

    def __post_init__(self) -> None:
        self.app = make_app(
            self.study, organiser=self.organiser, public=self.public, limits=self.limits, clock=self.clock
        )

    @classmethod
    def of(cls, folder: Path, of: Design | None = None, of_items: list[Item] | None = None, **more: Any) -> Visited:
        """With a new study in a folder."""
        return cls(Study.create(folder / "study", of or design(), of_items or items(7)), **more)

    @classmethod
    def labels(cls, folder: Path, **design: Any) -> Visited:
        """With a study that begins with practice."""
        return cls.of(folder, replace(LABELS, **design), labels())

    def client(self, **more: Any) -> TestClient:
        """A browser that knows nothing yet."""
        return TestClient(self.app, base_url=HOST, **more)

    def visitor(self, name: str = "ada") -> Visitor:
        """Somebody new with a link."""
        return Visitor(self.client(), self.study.invite([name])[0].token)

    def signed_in(self) -> TestClient:
        """The organiser's browser."""
        client = self.client()
        assert client.post("/organiser/sign-in", data={"token": self.organiser}).status_code == 200
        return client
