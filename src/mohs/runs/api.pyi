# Written by scripts/build_stubs.py from the options of the verbs; do not edit.
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.attacks.method import Attack
from mohs.attacks.named_entities import NamedEntities
from mohs.bias.pairs import Pairs
from mohs.bounds.share import Share
from mohs.models.load import AnyVictim
from mohs.runs.carry_out import Progress as Progress
from mohs.runs.run import Run
from mohs.second_order.searches import SecondOrder
from mohs.space import Constraint, Measure, Source
from mohs.tasks.plan import Verb
from mohs.text.dataset import AnyExamples

def function_of(verb: type[Verb]) -> Callable[..., Run]: ...
def signature_of(verb: type[Verb]) -> inspect.Signature: ...
def docstring_of(verb: type[Verb]) -> str: ...
def attack(
    victim: AnyVictim,
    examples: AnyExamples,
    attacks: str | Attack | Sequence[str | Attack] = ("textfooler",),
    *,
    budget: int | None = None,
    goal: str = "untargeted",
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    measures: Sequence[str | Measure] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    keep: str | Path | Iterable[str] | None = None,
    change_placeholders: bool = False,
    entities: str | Path | NamedEntities | None = None,
    fair: bool | None = None,
    no_judge: bool = False,
    encoder: Any = None,
    token_encoder: Any = None,
    masked_lm: Any = None,
    lm: Any = None,
    tagger: Any = None,
    parser: Any = None,
    paraphraser: Any = None,
    autoencoder: Any = None,
    grammar: Any = None,
    judge: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    n: int | None = None,
    sample: int | None = None,
    least_words: int | None = None,
    most_words: int | None = None,
    fields: Sequence[str] = (),
    label_field: str = "label",
    id_field: str = "id",
    encoding: str = "utf-8",
    device: str = "auto",
    labels: str | Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    seed: int = 0,
    shard: str | None = None,
    at_once: int | None = None,
    workers: int | str | None = None,
    on: str | None = None,
    most_memory: float | None = None,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Attack a classifier and report how often it was fooled.

    The run folder gets a page (report.html), the adversarial examples (adversarial.jsonl) and everything needed to
    resume or repeat the run. Running the same command again resumes it.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    attacks: An attack (see `mohs attacks`), standard (a battery of attacks), or FILE.py:CLASS, each also with +fair
        (see --fair); repeat for several.
    budget: The most queries per example.
    goal: untargeted; targeted:CLASS (name or number); below:P (the label's probability falls below P); reduced:N (at
        most N words left, for input-reduction).
    source: Source of the substitutes, instead of the attack's own: see `mohs spaces`, or FILE.py:CLASS.
    constraints: An additional constraint (see `mohs spaces`); repeat for several.
    measures: An additional measure of the final texts (see `mohs spaces`); repeat for several.
    stopwords: Words that never change, instead of the attack's own list: a file, none, english or nltk.
    keep: More words that never change, in addition to the attack's own list: a file, one word per line.
    change_placeholders: Also change words in placeholders (@USER, [NAME], URL), links and tags (<br />).
    entities: Replacements for named entities, for pwws: a file made by `mohs entities`.
    fair: Only changes that people would likely accept: acceptable>=0.5, no antonyms, no new grammar error. By default
        the battery standard is run both without and with it, other attacks without.
    no_judge: Leave fair success out of the report.
    encoder: Sentence encoder: pocket (default), use, hf:PATH_OR_ID, or an asset such as minilm.
    token_encoder: Token vectors for BERTScore: pocket (default), hf:PATH_OR_ID, or an asset.
    masked_lm: Masked language model: hf:PATH_OR_ID, or an asset such as minilm-mlm.
    lm: Causal language model: hf:PATH_OR_ID, gguf:FILE, or an asset such as smollm2.
    tagger: Part-of-speech tagger: auto (default: spaCy if installed), pocket or spacy:NAME.
    parser: Dependency parser: auto (default: spaCy's small English model), spacy:NAME or parses:FILE.
    paraphraser: Paraphraser: hf:PATH_OR_ID, a sequence-to-sequence model; no default.
    autoencoder: Tree auto-encoder for t3, made by `mohs train --task t3`; no default.
    grammar: Grammar checker: harper (default) or languagetool:URL.
    judge: Judge of substitutions: pocket (default), refit:FOLDER (see `mohs study calibrate`) or hf:PATH_OR_ID (see
        `mohs train --task`).
    vectors: Word vectors: pocket (default), a file or folder, or an asset (see `mohs assets`).
    wordnet: WordNet's database files; by default the asset wordnet.
    sememes: Table of sememe substitutes; by default the asset hownet.
    n: Use the first N examples, or draw N with --sample; by default all.
    sample: Draw the N examples of --n at random with this seed, instead of the first N.
    least_words: Leave out texts with fewer words, before --n counts.
    most_words: Leave out texts with more words, before --n counts.
    fields: Text column, or two columns for text pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, if there is one.
    encoding: Encoding of the data file.
    device: Device for the models: auto, cpu, cuda or cuda:N; several, such as cuda:0,1 or cuda:all, share the examples.
    labels: Class names in the victim's order, such as negative,positive.
    victim_options: A setting of the victim: output=logits, batch=64, dtype=bf16, rate=10 ...; repeat for several.
    trust_pickle: Allow sklearn: files, which can run code when loaded.
    trust_code: Run the code that comes with an hf: model.
    seed: Random seed.
    shard: Only part K of N of the examples, by a hash of their ids: for many machines. `mohs merge` joins the parts.
    at_once: How many searches run at once; by default what suits the command and the victim's device.
    workers: Processes that share the examples, or auto (auto:N: at most N), as many as are measured to help; with
        several devices auto is the default. On a CPU each has its own copy of the models.
    on: Share the examples among the machines of a Ray cluster: ray:HOST:PORT or ray:auto; ray alone starts one here.
    most_memory: The most memory, in GB, that the candidates of one example may take; by default half of what is free,
        divided by the workers. A longer text ends in an error.
    cache: Keep the victim's answers to searches in this file, for later runs; verdicts, proofs and bias are asked anew.
    change: For text pairs: the columns that may change; by default the last.
    out: A run folder; the run can then be resumed. By default the run stays in memory.
    progress: Called with the newest record, the number finished, and the total.
    said: Called with each note of the run before the first search, and with the number of workers that auto took.

    >>> import mohs
    >>> run = mohs.attack("pocket", "pocket", ["random"], n=5)
    >>> len(list(run.records()))
    5
    """

def second_order_attack(
    victim: AnyVictim,
    examples: AnyExamples,
    method: str | SecondOrder = "so-beam",
    *,
    masked_lm: Any = None,
    k: int | None = None,
    beam: int | None = None,
    synonyms: str | Source | None = None,
    patch_stopwords: bool = False,
    blacklist: str | Path | Iterable[str] | None = None,
    floor: float | None = None,
    change_placeholders: bool = False,
    no_judge: bool = False,
    most: int = 1000000,
    lm: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    budget: int | None = None,
    n: int | None = None,
    sample: int | None = None,
    least_words: int | None = None,
    most_words: int | None = None,
    fields: Sequence[str] = (),
    label_field: str = "label",
    id_field: str = "id",
    encoding: str = "utf-8",
    device: str = "auto",
    labels: str | Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    seed: int = 0,
    shard: str | None = None,
    at_once: int | None = None,
    workers: int | str | None = None,
    on: str | None = None,
    most_memory: float | None = None,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Search near each example for a text that one synonym tips over.

    A masked language model rewrites up to k words of each example. Of the synonym pairs that fit the text, the search
    uses the one whose words the victim scores most differently. Method: Zhang et al. 2021 (Double Perturbation).
    Running the same command again resumes the run.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    masked_lm: Masked language model: hf:PATH_OR_ID, or an asset such as minilm-mlm.
    method: so-enum, so-beam or random; append :released for the settings of the released code.
    k: The most words to rewrite; by default 2 for so-enum, else 6.
    beam: The beam width of so-beam; by default 20.
    synonyms: Source of the synonyms (see `mohs spaces`), such as thesaurus:FILE or wordnet; by default the eight
        nearest word vectors.
    patch_stopwords: Allow stopwords as patch words (is, now); methods with :released always do.
    blacklist: Words that are never inserted, one per line.
    floor: Leave out texts whose perplexity under --lm is more than R times the original's.
    change_placeholders: Also change words in placeholders (@USER, [NAME], URL), links and tags (<br />).
    no_judge: Leave fair success out of the report.
    most: Refuse so-enum if it would check more texts per example.
    lm: Causal language model: hf:PATH_OR_ID, gguf:FILE, or an asset such as smollm2.
    vectors: Word vectors: pocket (default), a file or folder, or an asset (see `mohs assets`).
    wordnet: WordNet's database files; by default the asset wordnet.
    sememes: Table of sememe substitutes; by default the asset hownet.
    budget: The most queries per example.
    n: Use the first N examples, or draw N with --sample; by default all.
    sample: Draw the N examples of --n at random with this seed, instead of the first N.
    least_words: Leave out texts with fewer words, before --n counts.
    most_words: Leave out texts with more words, before --n counts.
    fields: Text column, or two columns for text pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, if there is one.
    encoding: Encoding of the data file.
    device: Device for the models: auto, cpu, cuda or cuda:N; several, such as cuda:0,1 or cuda:all, share the examples.
    labels: Class names in the victim's order, such as negative,positive.
    victim_options: A setting of the victim: output=logits, batch=64, dtype=bf16, rate=10 ...; repeat for several.
    trust_pickle: Allow sklearn: files, which can run code when loaded.
    trust_code: Run the code that comes with an hf: model.
    seed: Random seed.
    shard: Only part K of N of the examples, by a hash of their ids: for many machines. `mohs merge` joins the parts.
    at_once: How many searches run at once; by default what suits the command and the victim's device.
    workers: Processes that share the examples, or auto (auto:N: at most N), as many as are measured to help; with
        several devices auto is the default. On a CPU each has its own copy of the models.
    on: Share the examples among the machines of a Ray cluster: ray:HOST:PORT or ray:auto; ray alone starts one here.
    most_memory: The most memory, in GB, that the candidates of one example may take; by default half of what is free,
        divided by the workers. A longer text ends in an error.
    cache: Keep the victim's answers to searches in this file, for later runs; verdicts, proofs and bias are asked anew.
    change: For text pairs: the columns that may change; by default the last.
    out: A run folder; the run can then be resumed. By default the run stays in memory.
    progress: Called with the newest record, the number finished, and the total.
    said: Called with each note of the run before the first search, and with the number of workers that auto took.
    """

def token_bias(
    victim: AnyVictim,
    examples: AnyExamples,
    pairs: str | Path | Pairs = "gender",
    *,
    masked_lm: Any = None,
    k: int = 2,
    label: str | int | None = None,
    epsilon: float = 0.005,
    preset: str | None = None,
    both_directions: bool = False,
    blacklist: str | Path | Iterable[str] | None = None,
    floor: float | None = None,
    change_placeholders: bool = False,
    most: int = 10000,
    breadth: int | None = None,
    by_sample: bool = False,
    lm: Any = None,
    budget: int | None = None,
    n: int | None = None,
    sample: int | None = None,
    least_words: int | None = None,
    most_words: int | None = None,
    fields: Sequence[str] = (),
    label_field: str = "label",
    id_field: str = "id",
    encoding: str = "utf-8",
    device: str = "auto",
    labels: str | Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    seed: int = 0,
    shard: str | None = None,
    at_once: int | None = None,
    workers: int | str | None = None,
    on: str | None = None,
    most_memory: float | None = None,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Measure how words such as he and she change predictions.

    A masked language model rewrites up to k other words of each sentence that contains the first word of a pair. The
    bias is the mean change of a class's probability when the second word replaces the first (the counterfactual token
    bias of Zhang et al. 2021). Running the same command again resumes the run. `mohs report A --against B` compares two
    runs.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    masked_lm: Masked language model: hf:PATH_OR_ID, or an asset such as minilm-mlm.
    pairs: Word pairs: gender, nationality, religion, sexual-orientation, country, a file with two words per row, or a
        .json file with groups of words, of which FILE.json:GROUP takes one.
    k: The most words to rewrite; 0 uses the sentences unchanged and needs no --masked-lm.
    label: The class whose probability is measured, by name or number; by default the last.
    epsilon: The filtered set: sentences whose own bias, without rewriting, is below this.
    preset: paper (default), or released: one pair per sentence, the first of the list that fits, in either direction,
        if it leaves a text of up to 20 words plausible; implies --by-sample and a breadth of 800.
    both_directions: Also use sentences that contain the second word of a pair.
    blacklist: Words that are never inserted, one per line.
    floor: Leave out texts whose perplexity under --lm is more than R times the original's.
    change_placeholders: Also change words in placeholders (@USER, [NAME], URL), links and tags (<br />).
    most: Sample a distance, instead of measuring all its texts, if it is expected to have more than this.
    breadth: For sampling: take the neighbours of this many texts one step nearer; by default 100, with --preset
        released 800.
    by_sample: Weigh sampled texts and sentences by how often they were drawn, not by the size of the neighbourhood (as
        earlier versions did).
    lm: Causal language model: hf:PATH_OR_ID, gguf:FILE, or an asset such as smollm2.
    budget: The most queries per example.
    n: Use the first N examples, or draw N with --sample; by default all.
    sample: Draw the N examples of --n at random with this seed, instead of the first N.
    least_words: Leave out texts with fewer words, before --n counts.
    most_words: Leave out texts with more words, before --n counts.
    fields: Text column, or two columns for text pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, if there is one.
    encoding: Encoding of the data file.
    device: Device for the models: auto, cpu, cuda or cuda:N; several, such as cuda:0,1 or cuda:all, share the examples.
    labels: Class names in the victim's order, such as negative,positive.
    victim_options: A setting of the victim: output=logits, batch=64, dtype=bf16, rate=10 ...; repeat for several.
    trust_pickle: Allow sklearn: files, which can run code when loaded.
    trust_code: Run the code that comes with an hf: model.
    seed: Random seed.
    shard: Only part K of N of the examples, by a hash of their ids: for many machines. `mohs merge` joins the parts.
    at_once: How many searches run at once; by default what suits the command and the victim's device.
    workers: Processes that share the examples, or auto (auto:N: at most N), as many as are measured to help; with
        several devices auto is the default. On a CPU each has its own copy of the models.
    on: Share the examples among the machines of a Ray cluster: ray:HOST:PORT or ray:auto; ray alone starts one here.
    most_memory: The most memory, in GB, that the candidates of one example may take; by default half of what is free,
        divided by the workers. A longer text ends in an error.
    cache: Keep the victim's answers to searches in this file, for later runs; verdicts, proofs and bias are asked anew.
    change: For text pairs: the columns that may change; by default the last.
    out: A run folder; the run can then be resumed. By default the run stays in memory.
    progress: Called with the newest record, the number finished, and the total.
    said: Called with each note of the run before the first search, and with the number of workers that auto took.
    """

def radius(
    victim: AnyVictim,
    examples: AnyExamples,
    *,
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    change_placeholders: bool = False,
    attacks: str | Attack | Sequence[str | Attack] = (),
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    tagger: Any = None,
    encoder: Any = None,
    max_r: int = 2,
    most: int = 1000000,
    bounds: bool = True,
    gradients: bool = True,
    time_limit: float | None = None,
    share: Share | str | int | Sequence[Share | str | int] | None = None,
    pac: bool = False,
    r: str | int | Sequence[str | int] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    together: bool = False,
    interval: str | None = None,
    draws: int | None = None,
    decide: float | None = None,
    draw: str | None = None,
    n: int | None = None,
    sample: int | None = None,
    least_words: int | None = None,
    most_words: int | None = None,
    fields: Sequence[str] = (),
    label_field: str = "label",
    id_field: str = "id",
    encoding: str = "utf-8",
    device: str = "auto",
    labels: str | Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    seed: int = 0,
    shard: str | None = None,
    at_once: int | None = None,
    workers: int | str | None = None,
    on: str | None = None,
    most_memory: float | None = None,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Prove how many word substitutions each prediction withstands.

    The victim is asked about every text with 1, 2 ... substitutions, until one changes the label or --max-r is reached.
    For the bundled bag of words, a closed form gives the exact answer. The proofs are written to certificates.jsonl;
    `mohs verify` checks them. Beyond the proof, --pac estimates the share of texts that keep the label. Method: Yang et
    al. 2022. Running the same command again resumes the run.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    source: Source of the substitutes (see `mohs spaces`); by default the five nearest word vectors.
    constraints: A constraint on the substitutes; repeat for several.
    stopwords: Words that never change: a file, none, english (default) or nltk.
    change_placeholders: Also change words in placeholders (@USER, [NAME], URL), links and tags (<br />).
    attacks: An attack that gives an upper bound on the radius; repeat for several.
    vectors: Word vectors: pocket (default), a file or folder, or an asset (see `mohs assets`).
    wordnet: WordNet's database files; by default the asset wordnet.
    sememes: Table of sememe substitutes; by default the asset hownet.
    tagger: Part-of-speech tagger: auto (default: spaCy if installed), pocket or spacy:NAME.
    encoder: Sentence encoder: pocket (default), use, hf:PATH_OR_ID, or an asset such as minilm.
    max_r: Prove up to this many substitutions.
    most: The most texts that a proof may ask per example.
    bounds: Skip texts that a sound bound proves (word CNNs only), or ask about all.
    gradients: Try the words first at which the victim's gradient is largest, if it has gradients, or go by the text.
    time_limit: Time limit for the proof of one example; by default none.
    share: The shares to estimate, as objects or radii; on the command line use --pac, --r and so on.
    pac: Estimate the share of texts within radius --r that keep the label.
    r: The radius for --pac: a number of substitutions, or a share of the words; repeat for several.
    epsilon: Half the width of the confidence interval.
    delta: The probability that an interval misses the true share.
    together: Make delta the probability that any interval of the run misses.
    interval: Kind of interval: clopper-pearson, hoeffding, or sequential (stops early).
    draws: Texts to draw; by default as many as epsilon and delta need.
    decide: Stop drawing once the interval shows whether the share is above LEVEL; makes the interval sequential.
    draw: How texts are drawn: uniform (each text alike), or independent (each word by itself; not uniform).
    n: Use the first N examples, or draw N with --sample; by default all.
    sample: Draw the N examples of --n at random with this seed, instead of the first N.
    least_words: Leave out texts with fewer words, before --n counts.
    most_words: Leave out texts with more words, before --n counts.
    fields: Text column, or two columns for text pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, if there is one.
    encoding: Encoding of the data file.
    device: Device for the models: auto, cpu, cuda or cuda:N; several, such as cuda:0,1 or cuda:all, share the examples.
    labels: Class names in the victim's order, such as negative,positive.
    victim_options: A setting of the victim: output=logits, batch=64, dtype=bf16, rate=10 ...; repeat for several.
    trust_pickle: Allow sklearn: files, which can run code when loaded.
    trust_code: Run the code that comes with an hf: model.
    seed: Random seed.
    shard: Only part K of N of the examples, by a hash of their ids: for many machines. `mohs merge` joins the parts.
    at_once: How many searches run at once; by default what suits the command and the victim's device.
    workers: Processes that share the examples, or auto (auto:N: at most N), as many as are measured to help; with
        several devices auto is the default. On a CPU each has its own copy of the models.
    on: Share the examples among the machines of a Ray cluster: ray:HOST:PORT or ray:auto; ray alone starts one here.
    most_memory: The most memory, in GB, that the candidates of one example may take; by default half of what is free,
        divided by the workers. A longer text ends in an error.
    cache: Keep the victim's answers to searches in this file, for later runs; verdicts, proofs and bias are asked anew.
    change: For text pairs: the columns that may change; by default the last.
    out: A run folder; the run can then be resumed. By default the run stays in memory.
    progress: Called with the newest record, the number finished, and the total.
    said: Called with each note of the run before the first search, and with the number of workers that auto took.

    >>> import mohs
    >>> run = mohs.radius("pocket", "pocket", n=3)
    >>> all(row["exact"] for row in run.radii())
    True
    """

def certify(
    victim: AnyVictim,
    examples: AnyExamples,
    *,
    budget: str | int | Sequence[str | int] | None = None,
    attacks: str | Attack | Sequence[str | Attack] = ("greedy", "genetic"),
    every: int = 1000,
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    change_placeholders: bool = False,
    draws: int | None = None,
    alpha: float | None = None,
    published: bool = False,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    tagger: Any = None,
    n: int | None = None,
    sample: int | None = None,
    least_words: int | None = None,
    most_words: int | None = None,
    fields: Sequence[str] = (),
    label_field: str = "label",
    id_field: str = "id",
    encoding: str = "utf-8",
    device: str = "auto",
    labels: str | Sequence[str] = (),
    victim_options: Mapping[str, str] | None = None,
    trust_pickle: bool = False,
    trust_code: bool = False,
    seed: int = 0,
    shard: str | None = None,
    at_once: int | None = None,
    workers: int | str | None = None,
    on: str | None = None,
    most_memory: float | None = None,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Print certified accuracy beside accuracy under attack over the same space, and clean accuracy.

    An example is certified if a bound proves that no text of its space, with at most --budget changed words, changes
    the prediction. Such bounds exist for safer(V) and ranmask(V), which make a certificate for any victim V by
    smoothing, for the bundled bag of words, and for networks of `mohs train`. The attack searches the same space, so
    certified <= robust <= clean; an example that is both certified and fooled is reported and ends with exit code 1.
    Running the same command again resumes the run.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    budget: How many words may change: numbers, or all; several as 1,2,all. By default all, and 1 for ranmask and lirpa.
    attacks: An attack over the same space; the worst of all counts, so repeat for several.
    every: Ask about every text of a space that has at most so many texts, instead of the attacks.
    source: Source of the substitutes (see `mohs spaces`); by default the five nearest word vectors. A safer victim has
        its own.
    constraints: A constraint on the substitutes; repeat for several.
    stopwords: Words that never change: a file, none, english (default) or nltk.
    change_placeholders: Also change words in placeholders (@USER, [NAME], URL), links and tags (<br />).
    draws: Versions to draw of each text, for safer and ranmask; default 1000.
    alpha: The greatest probability that the certificate of one example is wrong, for safer and ranmask; default 0.001.
    published: Take the bounds of the papers on safer and ranmask, which are estimates and not certificates.
    vectors: Word vectors: pocket (default), a file or folder, or an asset (see `mohs assets`).
    wordnet: WordNet's database files; by default the asset wordnet.
    sememes: Table of sememe substitutes; by default the asset hownet.
    tagger: Part-of-speech tagger: auto (default: spaCy if installed), pocket or spacy:NAME.
    n: Use the first N examples, or draw N with --sample; by default all.
    sample: Draw the N examples of --n at random with this seed, instead of the first N.
    least_words: Leave out texts with fewer words, before --n counts.
    most_words: Leave out texts with more words, before --n counts.
    fields: Text column, or two columns for text pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, if there is one.
    encoding: Encoding of the data file.
    device: Device for the models: auto, cpu, cuda or cuda:N; several, such as cuda:0,1 or cuda:all, share the examples.
    labels: Class names in the victim's order, such as negative,positive.
    victim_options: A setting of the victim: output=logits, batch=64, dtype=bf16, rate=10 ...; repeat for several.
    trust_pickle: Allow sklearn: files, which can run code when loaded.
    trust_code: Run the code that comes with an hf: model.
    seed: Random seed.
    shard: Only part K of N of the examples, by a hash of their ids: for many machines. `mohs merge` joins the parts.
    at_once: How many searches run at once; by default what suits the command and the victim's device.
    workers: Processes that share the examples, or auto (auto:N: at most N), as many as are measured to help; with
        several devices auto is the default. On a CPU each has its own copy of the models.
    on: Share the examples among the machines of a Ray cluster: ray:HOST:PORT or ray:auto; ray alone starts one here.
    most_memory: The most memory, in GB, that the candidates of one example may take; by default half of what is free,
        divided by the workers. A longer text ends in an error.
    cache: Keep the victim's answers to searches in this file, for later runs; verdicts, proofs and bias are asked anew.
    change: For text pairs: the columns that may change; by default the last.
    out: A run folder; the run can then be resumed. By default the run stays in memory.
    progress: Called with the newest record, the number finished, and the total.
    said: Called with each note of the run before the first search, and with the number of workers that auto took.

    >>> import mohs
    >>> run = mohs.certify("pocket", "pocket", n=3)
    >>> [found.budget for found in run.certified()]
    ['all']
    """
