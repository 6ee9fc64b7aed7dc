"""A language model as a judge of a study. It is no person: its answers are kept apart, and take nobody's place."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from mohs.errors import BadInput, ServiceFailed
from mohs.models.chat import ChatModel, Declined, Said
from mohs.studies.asked_models import Asked, forget_unreadable, keep_unreadable, model_name, registered, unreadable
from mohs.studies.heard import valid
from mohs.studies.item import Item, Judgement, Kind, Role
from mohs.studies.prompts import Prompt, prompt
from mohs.studies.study import Study

ROLES = (Role.MAIN, Role.ACCURACY, Role.CONTROL)  # what a model is asked; training is for people
_TELLING = 5  # questions that are all declined say that the endpoint is at fault
_KEPT = 300  # characters of a reply that could not be read

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Replies:
    """What became of a model's questions, of this call and those before."""

    annotator: str
    items: int  # that it is to judge
    answered: int
    unreadable: int  # replies that were no answer; they are kept, and not asked about again
    declined: int  # questions that the endpoint did not answer in this call; the next one asks them again
    new: int  # answered in this call
    retried: int  # requests sent again in this call

    @property
    def left(self) -> int:
        """Items without an answer or an unreadable reply."""
        return self.items - self.answered - self.unreadable

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "left": self.left}


@dataclass(frozen=True)
class _Reply:
    """What came back for one item: an answer, a reply that is none, or a reason why there is nothing."""

    item: Item
    statement: int
    swapped: bool
    value: int | None = None
    unread: str = ""
    declined: str = ""
    failed: Exception | None = None


def ask_model(
    study: Study,
    model: ChatModel,
    *,
    name: str = "",
    n: int | None = None,
    statement: int | None = None,
    concurrency: int = 4,
    again: bool = False,
    progress: Progress | None = None,
) -> Replies:
    """Ask a model about the items of a study that it has not answered yet, and keep each answer as it comes.

    name: what it is called in the study; by default `model:` and its own name. n: only the first so many main items.
    statement: the number of the statement it reads, where a question has two; by default models read them in turn.
    again: also ask again where the reply could not be read.
    progress: called with the number of items done and of all.
    """
    if concurrency < 1 or (n is not None and n < 1):
        raise BadInput(f"The model cannot be asked {min(concurrency, n or 1)} questions; give 1 or more.")
    name = model_name(study, name or f"model:{model.model}")
    asked = registered(study, name, model, statement)
    items = _wanted(study, n)
    if again:
        forget_unreadable(study, name)
    answered = {one.item for one in study.judgements() if one.annotator == name}
    unread = set(unreadable(study, name))
    keys = {item.key for item in items}
    open_items = [item for item in items if item.key not in answered | unread]
    done, new, declined = len(keys & (answered | unread)), 0, 0
    first_reason = ""
    if progress is not None:
        progress(done, len(items))
    asking = _Asking(study, model, name, asked, open_items, concurrency)
    heard, pending = bool(answered or unread), list[_Reply]()
    try:
        for replies in asking:
            pending = replies  # stored again at the end if an interrupt ends the transaction
            _keep(study, name, replies)
            new += sum(one.value is not None for one in replies)
            declined += sum(bool(one.declined) for one in replies)
            first_reason = first_reason or next((one.declined for one in replies if one.declined), "")
            done += sum(one.value is not None or bool(one.unread) for one in replies)
            if progress is not None:
                progress(done, len(items))
            if failed := next((one.failed for one in replies if one.failed is not None), None):
                raise failed
            heard = heard or any(one.value is not None or one.unread for one in replies)
            if declined >= min(_TELLING, len(open_items)) and not heard:
                raise ServiceFailed(f"{model.url} answers no question ({first_reason}).")
    except Exception:  # the questions under way were asked as well; they end soon after the one that failed
        pending = [*pending, *asking.stop(wait=True)]
        raise
    finally:
        _keep(study, name, [*pending, *asking.stop()])
    answered = {one.item for one in study.judgements() if one.annotator == name}
    return Replies(
        name,
        len(items),
        len(keys & answered),
        len(keys & set(unreadable(study, name)) - answered),
        declined,
        new,
        model.retried,
    )


class _Asking:
    """Questions in several threads. Iterating gives what has come back, as many as there are at a time."""

    def __init__(
        self, study: Study, model: ChatModel, name: str, asked: Asked, items: Sequence[Item], concurrency: int
    ) -> None:
        self._design, self._seed = study.design, study.seed
        self._examples = study.source.get("examples") or ()
        self._model, self._name, self._asked = model, name, asked
        self._left = iter(items)
        self._gate = threading.Lock()
        self._over = threading.Event()
        self._found: queue.SimpleQueue[_Reply | None] = queue.SimpleQueue()
        self._running = min(concurrency, len(items))
        for _ in range(self._running):
            threading.Thread(target=self._work, name="mohs-ask", daemon=True).start()

    def __iter__(self) -> Iterator[list[_Reply]]:
        while self._running:
            replies = self._came([self._found.get()])
            if replies:
                yield replies

    def stop(self, wait: bool = False) -> list[_Reply]:
        """Ask nothing more, and give what has come back. wait: until all threads have ended."""
        self._over.set()
        found = self._came([])
        while wait and self._running:
            found += self._came([self._found.get()])
        return found

    def _came(self, first: list[_Reply | None]) -> list[_Reply]:
        """What has come back; None is the end of a thread."""
        found = first
        while True:
            try:
                found.append(self._found.get_nowait())
            except queue.Empty:
                break
        self._running -= found.count(None)
        return [one for one in found if one is not None]

    def _work(self) -> None:
        try:
            while not self._over.is_set():
                with self._gate:
                    item = next(self._left, None)
                if item is None:
                    return
                self._found.put(self._ask(item))
        finally:
            self._found.put(None)

    def _ask(self, item: Item) -> _Reply:
        question = self._design.question(item.question)
        statement = self._asked.statement % len(question.statements)
        chance = Random(f"{self._seed}/model/{self._name}/{item.key}")
        swapped = self._design.shuffled and len(item.texts) == 2 and chance.random() < 0.5
        reply = _Reply(item, statement, swapped)
        try:
            asked = prompt(self._design, item, statement, swapped, self._examples)
            return _read(reply, asked, self._model(asked.system, asked.user))
        except Declined as error:
            return replace(reply, declined=str(error))
        except Exception as error:  # told by the thread that waits
            self._over.set()
            return replace(reply, failed=error)


def _read(reply: _Reply, asked: Prompt, said: Said) -> _Reply:
    value = asked.answer(said)
    if value is not None:
        return replace(reply, value=value)
    cut = "" if said.whole else " (cut off)"
    return replace(reply, unread=f"{valid(said.text)[:_KEPT]}{cut}" or "(nothing)")


def _wanted(study: Study, n: int | None) -> list[Item]:
    """The items to ask about, in the study's order: the first n main items, and all others but training."""
    items = [item for item in study.items() if item.role in ROLES]
    if n is None:
        return items
    main = {item.key for item in [item for item in items if item.role is Role.MAIN][:n]}
    return [item for item in items if item.key in main or item.role is not Role.MAIN]


def _keep(study: Study, name: str, replies: Sequence[_Reply]) -> None:
    """Store answers, and replies that are none."""
    answers = [
        Judgement(one.item.key, name, one.value, one.statement, one.swapped) for one in replies if one.value is not None
    ]
    if answers:
        study.add(answers, Kind.MODEL)
    keep_unreadable(study, name, {one.item.key: one.unread for one in replies if one.unread})
