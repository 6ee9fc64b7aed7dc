"""Tiny models, as the tests of the models build them."""

from tests.models.conftest import bert_folder

__all__ = ["bert_folder"]
