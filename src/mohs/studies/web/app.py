"""The pages of a study as an application for any ASGI server."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp

from mohs.errors import MohsError
from mohs.studies.study import Study
from mohs.studies.web.judging import judging
from mohs.studies.web.organising import organising
from mohs.studies.web.refusal import Refusal, unavailable, unknown, wants_json
from mohs.studies.web.shield import Shield
from mohs.studies.web.site import Limits, Site

_ABOUT = """The pages of one study. All of them work in a browser without JavaScript.

A program can judge too: `GET /a/{token}` with `Accept: application/json` says what is to be judged and gives the code
`csrf` for the forms; `POST /a/{token}/answer` with the same header says whether the answer was kept.
"""

_LOG = logging.getLogger(__name__)

Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]


def make_app(
    study: Study,
    *,
    organiser: str | None = None,
    public: str = "",
    limits: Limits | None = None,
    clock: Callable[[], float] = time.time,
) -> ASGIApp:
    """The pages of a study.

    organiser: the secret of the organiser's page; by default `study.code("organiser")`. public: the address under which
    people reach the pages, if a proxy stands before them; it may have a path. clock: seconds since 1970, for tests.
    """
    from mohs import __version__

    site = Site.of(study, organiser, public, limits, clock)
    app = FastAPI(
        title="mohs study",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        servers=[{"url": site.prefix}] if site.prefix else None,
        redirect_slashes=False,
        exception_handlers=_handlers(site),
    )
    for router in (_plain(site), judging(site), organising(site)):
        app.include_router(router)
    return Shield(app, site.public)


def _plain(site: Site) -> APIRouter:
    router = APIRouter(tags=["site"])

    @router.get("/", summary="A page that says nothing about the study")
    def front() -> Response:
        return site.pages.page("message", heading="A study", text="Please open the link that you were given.")

    @router.get("/health", summary="Whether the database answers", responses={503: {"description": "It does not"}})
    def health() -> dict[str, bool]:
        site.study.database.read(lambda cursor: cursor.one("SELECT 1"))
        return {"ok": True}

    @router.get("/static/{name}", summary="Styles and scripts", responses={404: {"description": "No such file"}})
    def static(name: str) -> Response:
        found = site.pages.file(name)
        if found is None:
            raise unknown()
        return found

    return router


def _handlers(site: Site) -> dict[Any, Handler]:
    """What people and programs get instead of an answer. None of it says what happened inside."""

    async def refused(request: Request, refusal: Refusal) -> Response:
        headers = {"retry-after": str(refusal.wait)} if refusal.wait else {}
        if wants_json(request):
            return JSONResponse({"error": refusal.text}, refusal.status, headers)
        return site.pages.page("message", refusal.status, headers, heading=refusal.title, text=refusal.text)

    async def broken(request: Request, error: MohsError) -> Response:
        _LOG.error("%s", error)  # without the address of the request, which may be a secret link
        return await refused(request, unavailable())

    async def incomplete(request: Request, error: RequestValidationError) -> Response:
        if any(one["loc"][0] != "body" for one in error.errors()):
            return await refused(request, unknown())
        return await refused(request, Refusal(422, "The form is incomplete", "Please go back and fill it in again."))

    async def plain(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return await refused(request, unknown())
        found = await refused(
            request, Refusal(error.status_code, "This is not possible", "Please open your link again.")
        )
        found.headers.update(error.headers or {})
        return found

    async def fault(request: Request, error: Exception) -> Response:
        text = "Something went wrong here. Your last step was perhaps not kept; please open your link again."
        return await refused(request, Refusal(500, "A fault", text))

    return {
        Refusal: refused,
        MohsError: broken,
        RequestValidationError: incomplete,
        HTTPException: plain,
        Exception: fault,
    }
