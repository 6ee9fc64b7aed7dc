"""Human studies: ask people about the texts of a run, and say what they answered.

From Python, on the first use of each name:

    study, notes = mohs.studies.new_study("my-study", ["mohs-runs/RUN"], "fragments")
    mohs.studies.imported(study, "answers.csv")
    found = mohs.studies.analyse_study(study)  # found.groups, found.to_json(), found.page()

What there is stands in __init__.pyi beside this file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
