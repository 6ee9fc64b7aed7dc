"""The pages of an annotator: each step is a form, and each answer is kept before the next page is shown."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Query
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.requests import Request

from mohs.studies.desk import Feedback, Phase, Standing, Taken, Task
from mohs.studies.item import Annotator, State
from mohs.studies.platforms import noun_of
from mohs.studies.web.refusal import unknown, wants_json
from mohs.studies.web.site import Site
from mohs.studies.web.told import ERRORS, FORM_ERRORS, Answered, Asked, Choice, Shown

_LARGEST = 2**31 - 1  # a whole number of PostgreSQL

Token = Annotated[str, Path(max_length=200, description="The secret part of an annotator's link.")]
Number = Annotated[int, Path(ge=1, le=_LARGEST, description="The number of the item.")]
Seal = Annotated[str, Form(max_length=200, description="The code from the page, against forms of other sites.")]
ItemNumber = Annotated[int, Form(ge=1, le=_LARGEST, description="The number of the item.")]
Value = Annotated[int, Form(ge=-1000, le=1000, description="The value of an answer.")]

_SAID: dict[str, str] = {
    str(Taken.CHANGED): "Your answer was changed.",
    str(Taken.REPEATED): "This answer was there already. It counts once.",
    str(Taken.GONE): "That item was open for so long that it went to somebody else, so that answer does not count.",
    str(Taken.REFUSED): "That answer could not be taken, because the item was not yours at the time.",
    "fixed": "That answer can no longer be changed.",
}


def judging(site: Site) -> APIRouter:
    """The routes of annotators."""
    router = APIRouter(prefix="/a/{token}", tags=["annotator"])
    about_page: dict[int | str, Any] = {
        200: {"model": Shown, "content": {"text/html": {}}, "description": "What comes next"},
        **ERRORS,
    }
    about_step: dict[int | str, Any] = {
        200: {"model": Shown, "description": "With `Accept: application/json`: what comes next"},
        303: {"description": "Done; the next page"},
        **FORM_ERRORS,
    }

    def shown(name: str, token: str, told: dict[str, Any] | None = None) -> Response:
        known: dict[str, Any] = {"token": token, "csrf": site.seal(token), "design": site.study.design}
        return site.pages.page(name, practice=site.practice, **known, **(told or {}))

    def back(token: str, said: str = "") -> Response:
        return RedirectResponse(f"{site.prefix}/a/{quote(token, safe='')}{said and f'?said={said}'}", 303)

    def step(request: Request, token: str, standing: Standing) -> Response:
        return _json(site, token, standing) if wants_json(request) else back(token)

    def checked(request: Request, token: str, csrf: str) -> Annotator:
        person = site.person(request, token)
        site.check(csrf, token)
        return person

    @router.get("", summary="What an annotator does next", responses=about_page)
    def page(
        request: Request, token: Token, said: Annotated[str, Query(max_length=20)] = "", paused: bool = False
    ) -> Response:
        person = site.person(request, token)
        if paused and not wants_json(request):
            return shown("paused", token)
        standing = site.desk.at(person.number)
        if wants_json(request):
            return _json(site, token, standing)
        told = _values(site, standing) | {"notice": _SAID.get(said, ""), "again": False}
        return shown(str(standing.phase), token, told)

    @router.post("/agree", summary="Agree to take part", responses=about_step)
    def agree(request: Request, token: Token, csrf: Seal) -> Response:
        return step(request, token, site.desk.agree(checked(request, token, csrf).number))

    @router.post("/more", summary="Ask for the next batch", responses=about_step)
    def more(request: Request, token: Token, csrf: Seal) -> Response:
        return step(request, token, site.desk.more(checked(request, token, csrf).number))

    @router.post(
        "/answer",
        summary="Judge an item",
        responses={
            **about_step,
            200: {"model": Answered, "description": "With `Accept: application/json`: the answer was kept"},
            409: {"model": Answered, "description": "The same: it was not kept, the item is not this annotator's"},
        },
    )
    def answer(request: Request, token: Token, csrf: Seal, item: ItemNumber, value: Value) -> Response:
        person = checked(request, token, csrf)
        taken = site.desk.answer(person.number, item, value)
        if wants_json(request):
            lost = taken in (Taken.GONE, Taken.REFUSED)
            return JSONResponse({"taken": str(taken), "item": item}, 409 if lost else 200)
        return back(token, "" if taken is Taken.KEPT else str(taken))

    @router.post("/pause", summary="Stop the clock until the next visit", responses=about_step)
    def pause(request: Request, token: Token, csrf: Seal) -> Response:
        site.desk.pause(checked(request, token, csrf).number)
        if wants_json(request):
            return JSONResponse({"paused": True})
        return RedirectResponse(f"{site.prefix}/a/{quote(token, safe='')}?paused=1", 303)

    @router.post("/withdraw", summary="Leave the study", responses=about_step)
    def withdraw(request: Request, token: Token, csrf: Seal) -> Response:
        person = checked(request, token, csrf)
        site.desk.withdraw(person.number)
        return step(request, token, site.desk.at(person.number))

    @router.get(
        "/item/{number}",
        summary="Look at an answer of the current batch again, to change it",
        responses={303: {"description": "It can no longer be changed"}, **ERRORS},
    )
    def again(request: Request, token: Token, number: Number) -> Response:
        person = site.person(request, token)
        task = site.desk.look_back(person.number, number)
        if task is None:
            if wants_json(request):
                raise unknown()
            return back(token, "fixed")
        earlier = site.desk.before(person.number, number)
        standing = Standing(Phase.TASK, person, task, earlier)
        if wants_json(request):
            return _json(site, token, standing)
        return shown("task", token, _values(site, standing) | {"notice": "", "again": True})

    return router


def _values(site: Site, standing: Standing) -> dict[str, Any]:
    """What the templates need."""
    design, task, person = site.study.design, standing.task, standing.annotator
    question = design.question(task.item.question) if task else None
    training = person.state is State.TRAINING
    told: dict[str, Any] = {
        "standing": standing,
        "person": person,
        "task": task,
        "question": question,
        "statement": question.statements[task.statement].text if question and task else "",
        "back": None if training else standing.back,
        "training": training,
        "noun": noun_of(design),
        "examples": site.study.source.get("examples") or [],
        "feedback": _feedback(site, _heard(standing)),
        "code": "",
    }
    if standing.phase is Phase.END and person.state is not State.ASIDE:
        told["code"] = site.end_code(person)
    return told


def _heard(standing: Standing) -> Feedback | None:
    """Feedback to show. It ends with the practice, also if the last answer was given there."""
    main = standing.phase is Phase.TASK and standing.annotator.state is not State.TRAINING
    return None if main else standing.feedback


def _feedback(site: Site, feedback: Feedback | None) -> dict[str, Any] | None:
    if feedback is None:
        return None
    question = site.study.design.question(feedback.item.question)
    return {
        "right": feedback.right,
        "answer": question.label(feedback.answer),
        "expected": " or ".join(question.label(value) for value in feedback.item.expected),
        "texts": feedback.item.texts,
    }


def _json(site: Site, token: str, standing: Standing) -> Response:
    """What an annotator sees, for a program."""
    values = _values(site, standing)
    feedback = _heard(standing)
    shown = Shown(
        phase=str(standing.phase),
        state=str(standing.annotator.state),
        csrf=site.seal(token),
        done=standing.done,
        item=_asked(values, standing.task),
        back=values["back"],
        right=None if feedback is None else feedback.right,
        code=values["code"],
    )
    return Response(shown.model_dump_json().encode("utf-8", "replace"), media_type="application/json")


def _asked(values: dict[str, Any], task: Task | None) -> Asked | None:
    if task is None:
        return None
    return Asked(
        number=task.number,
        place=task.place,
        of=task.of,
        texts=[text.encode("utf-8", "replace").decode() for text in task.texts],
        statement=values["statement"],
        answers=[Choice(value=one.value, label=one.label) for one in values["question"].answers],
        answer=task.answer,
    )
