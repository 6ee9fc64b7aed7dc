"""Texts asked before and after a run."""

from __future__ import annotations

from typing import Any

from mohs.runs.anchors import answers_alone
from tests.toys import WordCount


class Endpoint(WordCount):
    """Answers several requests at once; counts how many wait, and fails on some texts when asked or when answering."""

    def __init__(self) -> None:
        super().__init__({"good": 1.0, "bad": -1.0}, in_flight=3)
        self.waiting = self.most = 0
        self.sizes: list[int] = []

    def launch(self, batch: list[Any]) -> Any:
        if batch[0][0] == "refused":
            raise OSError("refused")
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        self.sizes.append(len(batch))
        return super().launch(batch)

    def collect(self, ticket: Any) -> Any:
        self.waiting -= 1
        if ticket[0][0] == "broken":
            raise OSError("broken")
        return super().collect(ticket)


def test_texts_are_asked_one_by_one_as_many_at_once_as_the_victim_takes() -> None:
    model = Endpoint()
    texts = [(f"good {n}" if n % 2 else f"bad {n}",) for n in range(7)]
    found = answers_alone(model, [*texts[:2], ("refused",), ("broken",), *texts[2:], texts[0]])
    assert list(found) == texts
    assert found == {text: model.scores(text) for text in texts}
    assert (model.most, model.waiting, set(model.sizes)) == (3, 0, {1})
