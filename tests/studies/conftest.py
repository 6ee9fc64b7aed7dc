from tests.studies.toys import make

__all__ = ["make"]
