"""The organiser's pages: how a study goes, who takes part, and its judgements as files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Cookie, Form, Path
from fastapi.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.requests import Request

from mohs.errors import BadInput
from mohs.studies.item import Annotator, Kind, State
from mohs.studies.study import Invitation
from mohs.studies.web.board import Board, Lately
from mohs.studies.web.refusal import Refusal, forged, unknown
from mohs.studies.web.sessions import HOURS
from mohs.studies.web.site import Site, same
from mohs.studies.web.told import ERRORS, FORM_ERRORS

_MOST_INVITED = 500  # at once
_LARGEST = 2**31 - 1

Seal = Annotated[str, Form(max_length=200, description="The code from the page, against forms of other sites.")]
Who = Annotated[int, Form(ge=1, le=_LARGEST, description="The number of an annotator.")]
Number = Annotated[int, Path(ge=1, le=_LARGEST, description="The number of an annotator.")]

_SIGNED_OUT: dict[int | str, Any] = {401: {"description": "Not signed in"}}
_STEP: dict[int | str, Any] = {303: {"description": "Done; the organiser's page"}, **_SIGNED_OUT, **FORM_ERRORS}


def organising(site: Site) -> APIRouter:
    """The routes of the organiser. All but the sign-in need its cookie."""
    router = APIRouter(prefix="/organiser", tags=["organiser"])
    home, lately = f"{site.prefix}/organiser", Lately(lambda: Board.of(site.study, site.end_code), clock=site.clock)
    cookie = f"mohs_organiser_{site.study.code('cookie')[:8]}"  # studies on other ports have cookies of their own
    kept: Any = Cookie("", alias=cookie, max_length=200, description="The secret of a sign-in.")

    def signed_in(secret: str) -> None:
        if not site.sessions.runs(secret):
            raise Refusal(401, "You are not signed in", "Please open the organiser's page and sign in.")

    def checked(secret: str, csrf: str) -> None:
        signed_in(secret)
        if not same(csrf, site.seal(secret)):
            raise forged()

    def person(number: int) -> Annotator:
        found = next((one for one in site.study.annotators() if one.number == number), None)
        if found is None:
            raise unknown()
        return found

    def shown(request: Request, secret: str, problem: str = "", links: list[Invitation] | None = None) -> Response:
        return site.pages.page(
            "organiser",
            400 if problem else 200,
            board=lately.get(anew=True),
            design=site.study.design,
            practice=site.practice,
            place=site.study.place,
            csrf=site.seal(secret),
            address=site.address(request),
            links=links or [],
            problem=problem,
        )

    @router.get("", summary="How the study goes, or the sign-in form", responses=ERRORS)
    def page(request: Request, secret: str = kept) -> Response:
        if not site.sessions.runs(secret):
            return site.pages.page("sign_in", wrong=False)
        return shown(request, secret, links=site.sessions.shown(secret))

    @router.post(
        "/sign-in",
        summary="Sign in with the organiser's token",
        responses={303: {"description": "Signed in"}, **FORM_ERRORS, 403: {"description": "Another token"}},
    )
    def sign_in(request: Request, token: Annotated[str, Form(max_length=1000)]) -> Response:
        if not site.is_organiser(request, token.strip()):
            return site.pages.page("sign_in", 403, wrong=True)
        answer = RedirectResponse(home, 303)
        answer.set_cookie(
            cookie,
            site.sessions.start(),
            max_age=HOURS * 3600,
            path=home,
            secure=site.address(request).startswith("https://"),
            httponly=True,
            samesite="strict",
        )
        return answer

    @router.post("/sign-out", summary="Sign out", responses=_STEP)
    def sign_out(csrf: Seal, secret: str = kept) -> Response:
        checked(secret, csrf)
        site.sessions.end(secret)
        answer = RedirectResponse(home, 303)
        answer.delete_cookie(cookie, path=home, httponly=True, samesite="strict")
        return answer

    @router.post("/invite", summary="Add annotators; their links are shown once", responses=_STEP)
    def invite(
        request: Request,
        csrf: Seal,
        n: Annotated[int, Form(ge=0, le=_MOST_INVITED, description="How many without a name.")] = 0,
        names: Annotated[str, Form(max_length=50_000, description="Names, one a line.")] = "",
        secret: str = kept,
    ) -> Response:
        checked(secret, csrf)
        wanted = [line.strip() for line in names.splitlines() if line.strip()]
        try:
            if not n and not wanted:
                raise BadInput("Say how many to invite, or give names.")
            if len(wanted) > _MOST_INVITED:
                raise BadInput(f"{len(wanted)} names were given; invite {_MOST_INVITED} at once at most.")
            links = site.study.invite(wanted, n)
        except BadInput as error:
            return shown(request, secret, str(error))
        site.sessions.keep(secret, links)
        return RedirectResponse(home, 303)

    @router.post("/link-again", summary="A new link for somebody who lost theirs", responses=_STEP)
    def link_again(request: Request, csrf: Seal, number: Who, secret: str = kept) -> Response:
        checked(secret, csrf)
        found = person(number)
        if found.kind is not Kind.PERSON:
            return shown(request, secret, f"{found.name} does not judge on these pages and has no link.")
        site.sessions.keep(secret, [site.study.link_again(found.name)])
        return RedirectResponse(home, 303)

    @router.get(
        "/annotator/{number}",
        summary="One annotator: a new link, or stop counting their answers",
        responses={**_SIGNED_OUT, **ERRORS},
    )
    def one(number: Number, secret: str = kept) -> Response:
        signed_in(secret)
        found = next((row for row in lately.get(anew=True).rows if row.work.annotator.number == number), None)
        if found is None:
            raise unknown()
        who = found.work.annotator
        return site.pages.page(
            "annotator",
            row=found,
            who=who,
            has_link=who.kind is Kind.PERSON,
            aside=who.state is State.ASIDE,
            csrf=site.seal(secret),
        )

    @router.post("/set-aside", summary="Stop counting an annotator's answers", responses=_STEP)
    def set_aside(csrf: Seal, number: Who, secret: str = kept) -> Response:
        checked(secret, csrf)
        site.study.set_aside(person(number).name)
        return RedirectResponse(home, 303)

    @router.get("/progress.json", summary="The figures of the page", responses={**_SIGNED_OUT, **ERRORS})
    def progress(secret: str = kept) -> JSONResponse:
        signed_in(secret)
        return JSONResponse(lately.get().to_json())

    @router.get("/export.csv", summary="All judgements, as CSV", responses={**_SIGNED_OUT, **ERRORS})
    def csv_file(secret: str = kept) -> Response:
        from mohs.studies.exporting import csv_text

        signed_in(secret)
        return _file(csv_text(site.study), "text/csv", "csv")

    @router.get("/export.jsonl", summary="All judgements, as JSON Lines", responses={**_SIGNED_OUT, **ERRORS})
    def jsonl_file(secret: str = kept) -> Response:
        from mohs.studies.exporting import jsonl_text

        signed_in(secret)
        return _file(jsonl_text(site.study), "application/x-ndjson", "jsonl")

    def _file(parts: Iterator[str], media: str, suffix: str) -> Response:
        name = re.sub(r"[^A-Za-z0-9._-]", "_", site.study.design.name)
        headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"'}
        encoded = (part.encode("utf-8", "replace") for part in parts)
        return StreamingResponse(encoded, headers=headers, media_type=f"{media}; charset=utf-8")

    return router
