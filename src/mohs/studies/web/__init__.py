"""The pages of a study, for those who judge and for the organiser. Needs the extra `studies`."""

from mohs.studies.web.app import make_app
from mohs.studies.web.serving import serve

__all__ = ["make_app", "serve"]
