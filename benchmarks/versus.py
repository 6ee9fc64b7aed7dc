"""The same attacks in mohs, TextAttack and OpenAttack, beside the limit that the victim itself sets.

    python benchmarks/versus.py --assets DIR [--quick] [--attacks textfooler pwws ...] [--victims cnn minilm] [--n N]

DIR holds data/mr, lexical/ and models/ (see docs/reproductions.md). On first use the environments of the peers are made
and the victims trained, a word CNN on MR and models/minilm-mlm fine-tuned on 2,000 sentences of it; both are kept in
$MOHS_CACHE, or in the folder of --out. textfooler+encoder also wants the asset minilm. Every tool has the same victim,
the first n test sentences that it reads correctly, the same candidate words, stopwords and constraints; what a tool
cannot have is left out for all of them (see NOTES). One torch thread; figures are in CPU seconds of each process,
because wall time is also that of whoever shares the machine. --quick: within five minutes once the environments and
the victims exist.

Columns: examples and forwards (texts through the victim) a second; `limit` is the share of the pure-forward limit:
the seconds that the models alone (victim, sentence encoder, masked language model) would take for what was asked, at
the best batch size, over the seconds taken; queries are distinct texts an example; `x` says how many times as many
examples, and forwards, a second mohs does.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import pickle
import shutil
import subprocess
import sys
import venv
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
TOOLS = ("mohs", "textattack", "openattack")
ATTACKS = (
    "textfooler textfooler+pos textfooler+encoder pwws deepwordbug textbugger genetic pso "
    "bert-attack bert-attack+released bae"
).split()
QUICK = ("textfooler", "pwws", "genetic", "pso")
SLOW = ("textfooler+encoder", "genetic", "pso", "bert-attack", "bert-attack+released", "bae")  # half as many examples
# TextAttack reads the masked language model afresh after each change, OpenAttack (and the authors) once a text: there
# is a preset for each, and a comparison.
LIKE = {"bert-attack": ("mohs", "textattack"), "bert-attack+released": ("mohs", "openattack")}
MASKED = ("bert-attack", "bert-attack+released", "bae")
TRAINED_ON = 2_000  # sentences for MiniLM, twice: some two minutes of one core
NOTES = {
    "textfooler": "no part-of-speech and no sentence constraint",
    "textfooler+pos": "each tool with a tagger of its own (mohs: pocket, the peers: NLTK's)",
    "textfooler+encoder": "MiniLM similarity, 15 words against the text before; no part-of-speech constraint",
    "deepwordbug": "random letters, so texts differ; OpenAttack's has homoglyphs in five words and asks no more",
    "textbugger": "no sentence constraint; random letters; OpenAttack's asks texts one by one",
    "genetic": "no language model; random; OpenAttack's has no cap on the words changed",
    "pso": "words from WordNet, since sememes cannot be had offline by the peers; random",
    "bert-attack": "8 candidates, read after each change; sentences by the bundled encoder, which is not in the limit",
    "bert-attack+released": "8 candidates, read once; no sentences; OpenAttack also replaces punctuation",
    "bae": "no part-of-speech constraint; sentences by the bundled encoder, which is not in the limit; "
    "OpenAttack masks by the original text, and takes the first winner",
}
SAME_TEXTS = ("textfooler", "textfooler+encoder", "pwws", "bert-attack", "bae")  # nothing random in them
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONHASHSEED": "0",
    "PYTHONWARNINGS": "ignore",
}
WARM = 3  # further examples, before the clock starts


@dataclass(frozen=True)
class Setting:
    """Where things are, and how long a tool may take."""

    assets: Path
    out: Path
    cache: Path  # environments and victims
    given_encoder: str | None
    seconds: float

    def encoder_of(self, attack: str) -> str:
        """The sentence encoder that an attack wants, or none; BadInput says how to get one that is not there."""
        if attack in ("bert-attack", "bae"):
            return "pocket"
        if attack != "textfooler+encoder":
            return ""
        import mohs.assets

        return f"hf:{Path(self.given_encoder or mohs.assets.path('minilm')).resolve()}"

    @property
    def vectors(self) -> Path:
        return self.assets / "lexical" / "counter-fitted-glove-100d"

    @property
    def wordnet(self) -> Path:
        return self.assets / "lexical" / "wordnet-3.0.tar.gz"


def python_of(tool: str, setting: Setting) -> str:
    """The interpreter of a tool's environment, which is made now if it is not there yet."""
    if tool == "mohs":
        return sys.executable
    pins = HERE / "peers" / f"{tool}.txt"
    folder = setting.cache / f"{tool}-environment"
    python, stamp = folder / "bin" / "python", folder / "pins.txt"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        print(f"making the environment of {tool} in {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run([*pip, "-r", str(pins)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"pip could not install {tool}: {done.stderr.strip().splitlines()[-1]}")
        for package in folder.glob("lib/*/site-packages/textattack"):
            (package / "shared" / "intentional_homoglyphs.txt").touch()  # missing in the wheel, and read but not used
        shutil.copy(pins, stamp)
    return str(python)


class Plain(pickle.Unpickler):
    """Reads a pickle of plain values; anything else in it is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if name != "set":
            raise pickle.UnpicklingError(f"{module}.{name} in a tagger's weights")
        return set


def nltk_data(setting: Setting) -> Path:
    """What TextAttack wants of NLTK: stopwords on import, and the tagger in the form that NLTK reads today."""
    folder, given = setting.cache / "nltk_data", setting.assets / "lexical" / "nltk_data"
    name = "averaged_perceptron_tagger_eng"
    if not (folder / "taggers" / name).exists():
        shutil.rmtree(folder, ignore_errors=True)
        for kind, archive in (("corpora", "stopwords"), ("taggers", "universal_tagset")):
            shutil.unpack_archive(given / kind / f"{archive}.zip", folder / kind)
        with zipfile.ZipFile(given / "taggers" / "averaged_perceptron_tagger.zip") as file:
            content = file.read("averaged_perceptron_tagger/averaged_perceptron_tagger.pickle")
        parts = zip(("weights", "tagdict", "classes"), Plain(io.BytesIO(content)).load(), strict=True)
        (folder / "taggers" / name).mkdir()
        for part, value in parts:
            path = folder / "taggers" / name / f"{name}.{part}.json"
            path.write_text(json.dumps(sorted(value) if isinstance(value, set) else value), "utf-8")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)  # NLTK refuses what others may write
    return folder


def trained(victim: str, setting: Setting) -> str:
    """The name of a victim, trained now if it is not there yet."""
    from mohs.text.dataset import Dataset
    from mohs.training.train import train

    data = setting.assets / "data" / "mr"
    learned, options = Dataset(str(data / "train.jsonl.gz")), dict[str, Any]()
    if victim == "minilm":
        kind, learned = f"hf:{setting.assets / 'models' / 'minilm-mlm'}", replace(learned, n=TRAINED_ON, sample=0)
        options = {"lr": 1e-4, "epochs": 2, "max_words": 64}
    else:
        kind, options = victim, {"vectors": str(setting.assets / "lexical" / "glove-100d")}
    folder = setting.cache / "victims" / f"mr-{victim}"
    if not _finished(folder):
        size = f"on {TRAINED_ON:,} sentences, about two minutes" if victim == "minilm" else "about a minute"
        print(f"training the victim {victim} into {folder}: {size}", flush=True)
    done = train(
        kind,
        learned,
        folder,
        dev=str(data / "dev.jsonl.gz"),
        labels=("negative", "positive"),
        device="cpu",
        **options,
    )
    if done.fresh:
        print(
            f"{victim}: {done.metrics['dev']['right']} of {done.metrics['dev']['of']} dev sentences right", flush=True
        )
    return done.victim


def _finished(folder: Path) -> bool:
    """Whether a training left its model there."""
    record = folder / "training.json"
    return record.exists() and json.loads(record.read_text("utf-8"))["finished"] is not None


def correct(spec: str, setting: Setting, n: int) -> list[dict[str, Any]]:
    """The first n test sentences that a victim reads correctly."""
    from mohs.models.load import load_victim

    model = load_victim(spec, device="cpu")
    found: list[dict[str, Any]] = []
    with gzip.open(setting.assets / "data" / "mr" / "test.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            (scores,) = model.collect(model.launch([(row["text"],)]))
            if max(range(len(scores)), key=scores.__getitem__) == row["label"]:
                found.append({"id": str(row.get("id", number)), "text": row["text"], "label": row["label"]})
            if len(found) == n:
                break
    return found


def space_of(attack: str, rows: Sequence[dict[str, Any]], setting: Setting) -> tuple[dict[str, list[str]], list[str]]:
    """The candidates of each word by mohs' own sources, for all tools, and the stopwords."""
    from mohs.attacks.catalogue import CATALOGUE
    from mohs.engine import run
    from mohs.space import Neighbours, Services, Synonyms, build_space
    from mohs.text import Text
    from mohs.text.vectors import read_vectors
    from mohs.text.wordnet import WordNet

    family = attack.partition("+")[0]
    made: Any = CATALOGUE["sememe-pso" if family == "pso" else family]["textattack"]()
    own = {"textfooler": made.source, "genetic": made.source, "textbugger": Neighbours(k=5, min_cosine=-1.0)}
    source = own.get(family, Synonyms() if family in ("pwws", "pso") else None)
    stopwords = sorted(made.stopwords)
    if source is None:
        return {}, stopwords
    ask = Services({"vectors": read_vectors(str(setting.vectors)), "wordnet": WordNet(setting.wordnet)}, Random(0))
    texts = [Text(row["text"]) for row in rows]
    spaces = ((text, build_space(text, source, (), made.stopwords, range(len(text)), ask)) for text in texts)
    found: dict[str, list[str]] = {}
    for ended in run(spaces, []):
        if ended.error is not None or ended.result is None:
            raise ended.error or AssertionError("no space")
        for position, words in ended.result.choices.items():
            found[ended.key.words[position].lower()] = list(words)
    return found, stopwords


def neighbour_table(rows: Sequence[dict[str, Any]], setting: Setting) -> Path:
    """For each vector of a word in the examples its 50 nearest, as TextAttack keeps them; fills our cache as well."""
    import numpy as np

    from mohs.text.text import words_of
    from mohs.text.vectors import read_vectors

    vectors = read_vectors(str(setting.vectors))
    words = sorted({word for row in rows for word in words_of((row["text"],)) if word in vectors.index})
    table = np.repeat(np.arange(len(vectors.words), dtype=np.int32)[:, None], 51, axis=1)
    for word, near in zip(words, vectors.near(words, 50, -1.0), strict=True):
        table[vectors.index[word], 1 : len(near) + 1] = [vectors.index[other] for other, _ in near]
    vectors.near_by_distance(words, 8)
    path = setting.out / "neighbours.npy"
    np.save(path, table)
    return path


def done(tool: str, job: dict[str, Any], name: str, setting: Setting) -> dict[str, Any]:
    """What a tool found, from a process of its own; a crash or a long silence becomes a reason."""
    folder = setting.out / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    answer = folder / f"{name}.answer.json"
    answer.unlink(missing_ok=True)
    question = folder / f"{name}.json"
    question.write_text(json.dumps(job | {"answer": str(answer)}), "utf-8")
    log = folder / f"{name}.log"
    home = setting.out / "textattack-cache"
    home.mkdir(exist_ok=True)
    (home / "post_install_check_3").touch()  # else it would download on import
    paths = os.pathsep.join([str(HERE.parent / "src"), str(HERE / "peers")])
    environment = (
        os.environ
        | ENVIRONMENT
        | {
            "PYTHONPATH": paths,
            "TA_CACHE_DIR": str(home),
            "NLTK_DATA": str(nltk_data(setting)),
        }
    )
    try:
        command = [python_of(tool, setting), str(HERE / "peers" / f"with_{tool}.py"), str(question)]
        with log.open("w") as file:
            subprocess.run(
                command,
                env=environment,
                cwd=folder,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=10 * setting.seconds + 120,
                check=False,
            )
    except (subprocess.TimeoutExpired, RuntimeError) as error:
        return {"not_run": " ".join(str(error).split())[-200:]}
    if not answer.exists():
        lines = log.read_text(errors="replace").strip().splitlines()
        return {"not_run": lines[-1][:200] if lines else "ended without a word"}
    found: dict[str, Any] = json.loads(answer.read_text("utf-8"))
    return found


def line(tool: str, found: dict[str, Any], ours: dict[str, Any], originals: dict[str, str]) -> dict[str, Any]:
    """The figures of one row of the table."""
    from mohs.space.extent import words_changed
    from mohs.text import Text

    rows, cpu, limits = found["rows"], found["cpu"], ours["limits"]
    won = [row for row in rows if row["success"]]
    models = found["forwards"] / limits["victim"]["rate"]
    if "encoder" in limits:
        models += found["encodings"] / limits["encoder"]["rate"]
    nearer = models
    if "masked_lm" in limits:
        models += found["masked_tokens"] / limits["masked_lm"]["rate"]
        nearer += found["masked_tokens"] / limits["masked_lm"]["narrow"]
    count = max(1, len(rows))
    return {
        "tool": tool,
        "examples": len(rows),
        "cpu": cpu,
        "wall": found["wall"],
        "examples_per_s": len(rows) / cpu,
        "forwards_per_s": found["forwards"] / cpu,
        "encodings_per_s": found["encodings"] / cpu,
        "share_of_limit": models / cpu,
        "share_of_narrow_limit": nearer / cpu,  # with the masked language model's head only at the places asked about
        "in_victim": found["in_victim"] / cpu,
        "in_masked": found["in_masked"] / cpu,
        "forwards": found["forwards"] / count,
        "masked_rows": found["masked_rows"] / count,
        "masked_tokens": found["masked_tokens"] / count,
        "queries": sum(row["queries"] for row in rows) / count,
        "success": len(won) / count,
        "words_changed": sum(words_changed(Text(originals[row["id"]]), Text(row["text"])) for row in won)
        / max(1, len(won)),
        "errors": sum("error" in row for row in rows),
        "times_examples": (len(ours["rows"]) / ours["cpu"]) / (len(rows) / cpu),
        "times_forwards": (ours["forwards"] / ours["cpu"]) / (found["forwards"] / cpu),
    }


def differences(
    ours: dict[str, Any], theirs: dict[str, Any], rows: Sequence[dict[str, Any]], spec: str
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many texts are equal, and for the others what kind of difference it is."""
    from mohs.models.load import load_victim
    from mohs.text import Text

    model = load_victim(spec, device="cpu")
    mine = {row["id"]: row for row in ours["rows"]}
    label = {row["id"]: row for row in rows}
    kinds = {"equal": 0, "another outcome": 0, "a tie": 0, "other places": 0, "another word": 0, "both failed": 0}
    shown = []
    for other in theirs["rows"]:
        one, original = mine[other["id"]], label[other["id"]]
        if one["success"] and other["success"] and one["text"] == other["text"]:
            kinds["equal"] += 1
            continue
        if not one["success"] and not other["success"]:
            kinds["both failed"] += 1
            continue
        scores = [model.collect(model.launch([(text,)]))[0][original["label"]] for text in (one["text"], other["text"])]
        places = [_places(original["text"], row["text"]) for row in (one, other)]
        if one["success"] != other["success"]:
            kind = "another outcome"
        elif abs(scores[0] - scores[1]) < 1e-5:
            kind = "a tie"
        elif places[0] != places[1]:
            kind = "other places"
        else:
            kind = "another word"
        kinds[kind] += 1
        shown.append(
            {
                "kind": kind,
                "why": theirs["reasons"].get(other["id"], ""),
                "original": str(Text(original["text"])),
                "mohs": one["text"],
                "textattack": other["text"],
                "scores of the true label": scores,
            }
        )
    return kinds, shown


def _places(original: str, text: str) -> list[int]:
    one, other = original.split(), text.split()
    return [place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]


HEAD = (
    f"| {'victim':6} | {'attack':20} | {'tool':10} | {'n':>4} | {'CPU s':>7} | {'wall s':>7} | {'ex/s':>7} "
    f"| {'fwd/s':>7} | {'limit':>6} | {'queries':>7} | {'success':>7} | {'words':>5} | {'x ex':>6} | {'x fwd':>6} |"
)


def shown(victim: str, attack: str, row: dict[str, Any]) -> str:
    """A row as one reads it."""
    if row.get("not_run"):
        return f"| {victim:6} | {attack:20} | {row['tool']:10} | not run: {row['not_run']} |"
    ratios = "|      - |      - |" if row["tool"] == "mohs" else ""
    ratios = ratios or f"| {row['times_examples']:6.1f} | {row['times_forwards']:6.1f} |"
    share = f"{row['share_of_limit']:6.3f}"
    return (
        f"| {victim:6} | {attack:20} | {row['tool']:10} | {row['examples']:4} | {row['cpu']:7.2f} | {row['wall']:7.2f} "
        f"| {row['examples_per_s']:7.2f} | {row['forwards_per_s']:7.0f} | {share} | {row['queries']:7.1f} "
        f"| {row['success']:7.1%} | {row['words_changed']:5.2f} {ratios}"
    )


def limit_told(kind: str, value: dict[str, Any]) -> str:
    """What a model alone can do, in words."""
    if kind != "masked_lm":
        return f"{kind} {value['rate']:,.0f} texts/s at batch {value['size']} on {value['texts']:,} texts"
    return (
        f"masked LM {value['rate']:,.0f} tokens/s at batch {value['size']} on {value['texts']:,} rows of "
        f"{value['tokens']:,} ({value['narrow']:,.0f} with its head only where asked)"
    )


def masked_told(row: dict[str, Any]) -> str:
    """What went through the two models, and the share of time that the masked language model took."""
    return (
        f"{row['tool']} {row['forwards']:.1f} texts to the victim, {row['masked_rows']:.1f} rows "
        f"({row['masked_tokens']:.0f} tokens) to the masked LM, {row['in_masked']:.0%} of the time in it, "
        f"{row['share_of_narrow_limit']:.2f} of the limit with its head only where asked"
    )


def plan(options: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Victims, attacks and numbers of examples, in the order of running."""
    for victim in options.victims:
        wanted = options.attacks or (QUICK if options.quick else ATTACKS)
        for attack in dict.fromkeys(a for one in wanted for a in (LIKE if one == "bert-attack" else (one,))):
            if options.quick and victim == "minilm" and attack != "textfooler" and not options.attacks:
                continue
            n = options.n or (40 if options.quick else 200)
            less = (2 if attack in SLOW else 1) * ((10 if options.quick else 5) if victim == "minilm" else 1)
            yield victim, attack, max(1, n // less)


def main() -> None:
    from mohs.errors import BadInput

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True, help="folder with data/, lexical/ and models/")
    parser.add_argument("--out", type=Path, default=Path("mohs-versus"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--attacks", nargs="+", choices=ATTACKS)
    parser.add_argument("--victims", nargs="+", default=["cnn", "minilm"], choices=("cnn", "minilm"))
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=TOOLS, help="mohs is always there")
    parser.add_argument("--n", type=int, help="examples; half of them for slow attacks, a fifth for MiniLM")
    parser.add_argument("--cnn", help="a victim to take instead of training one, as mohs names it")
    parser.add_argument("--minilm", help="likewise")
    parser.add_argument("--encoder", help="folder of the MiniLM sentence encoder; by default the asset minilm")
    parser.add_argument("--seconds", type=float, help="a peer begins no example after so long")
    options = parser.parse_args()
    for part in ("data/mr", "lexical", "models/minilm-mlm"):
        if not (options.assets / part).exists():
            parser.error(f"{options.assets} has no {part}")
    try:
        compare(options)
    except BadInput as error:
        raise SystemExit(str(error)) from None


def compare(options: argparse.Namespace) -> None:
    """All victims and attacks, one table."""
    from mohs.errors import BadInput

    os.environ.update(ENVIRONMENT)
    cache = Path(os.environ.get("MOHS_CACHE", options.out)).resolve()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    seconds = options.seconds or (8 if options.quick else 300)
    setting = Setting(options.assets.resolve(), out, cache, options.encoder, seconds)
    every: list[dict[str, Any]] = []
    victims: dict[str, str] = {}
    rows: dict[str, list[dict[str, Any]]] = {}
    tasks = list(plan(options))
    for victim, _, n in tasks:
        victims.setdefault(victim, getattr(options, victim) or trained(victim, setting))
        if len(rows.get(victim, [])) < n + WARM:
            rows[victim] = correct(victims[victim], setting, n + WARM)
    neighbours = neighbour_table([row for found in rows.values() for row in found], setting)
    for tool in TOOLS:
        if tool in options.tools:
            try:
                python_of(tool, setting)
            except RuntimeError as error:
                print(error, flush=True)
    print(HEAD, flush=True)
    for victim, attack, n in tasks:
        try:
            encoder = setting.encoder_of(attack)
        except BadInput as error:
            print(shown(victim, attack, {"tool": "all", "not_run": str(error)}), flush=True)
            continue
        candidates, stopwords = space_of(attack, rows[victim], setting)
        job = {
            "attack": attack,
            "victim": victims[victim],
            "examples": rows[victim][:n],
            "warm": rows[victim][n : n + WARM],
            "stopwords": stopwords,
            "candidates": candidates,
            "vectors": str(setting.vectors),
            "neighbours": str(neighbours),
            "wordnet": str(setting.wordnet),
            "masked_lm": str(setting.assets / "models" / "minilm-mlm") if attack in MASKED else "",
            "encoder": encoder,
            "seconds": setting.seconds,
            "ours": {},
        }
        originals = {row["id"]: row["text"] for row in rows[victim]}
        found: dict[str, dict[str, Any]] = {}
        table: dict[str, dict[str, Any]] = {}
        for tool in LIKE.get(attack, TOOLS):
            if tool != "mohs" and tool not in options.tools:
                continue
            reason = "" if tool == "mohs" else found["mohs"].get("not_run")
            job["ours"] = {row["id"]: row["text"] for row in found.get("mohs", {}).get("rows", ())}
            found[tool] = {"not_run": reason} if reason else done(tool, job, f"{victim}-{attack}-{tool}", setting)
            if found[tool].get("not_run") or not found[tool]["rows"]:
                row = {"tool": tool, "not_run": found[tool].get("not_run") or "no example ended in time"}
            else:
                row = line(tool, found[tool], found["mohs"], originals)
            table[tool] = {"victim": victim, "attack": attack, **row}
            print(shown(victim, attack, row), flush=True)
        if found["mohs"].get("limits"):
            table["mohs"]["limits"] = found["mohs"]["limits"]
            told = "; ".join(starmap(limit_told, found["mohs"]["limits"].items()))
            print(f"    limit: {told}. {NOTES.get(attack, '')}".rstrip(), flush=True)
        if attack in MASKED:
            print(
                f"    an example: {'; '.join(masked_told(row) for row in table.values() if 'cpu' in row)}", flush=True
            )
        theirs = found.get("textattack", {})
        if attack in SAME_TEXTS and theirs.get("rows") and found["mohs"].get("rows"):
            kinds, examples = differences(found["mohs"], theirs, rows[victim], victims[victim])
            reasons = Counter(one["why"] for one in examples if one["why"])
            table["textattack"] |= {"texts": kinds, "why the others differ": reasons}
            path = out / f"differences-{victim}-{attack}.json"
            path.write_text(json.dumps(examples, indent=2, ensure_ascii=False), "utf-8")
            told = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
            where = f" (see {path})" if examples else ""
            print(f"    adversarial texts of mohs and TextAttack: {told}{where}", flush=True)
            for reason, count in reasons.most_common():
                print(f"    why the others differ: {count}, in TextAttack {reason}", flush=True)
        every.extend(table.values())
        (out / "figures.json").write_text(json.dumps(every, indent=1), "utf-8")


if __name__ == "__main__":
    main()
