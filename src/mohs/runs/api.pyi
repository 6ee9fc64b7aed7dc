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
    attacks: str | Sequence[str | Attack] = ("textfooler",),
    *,
    budget: int | None = None,
    goal: str = "untargeted",
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    measures: Sequence[str | Measure] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    entities: str | Path | NamedEntities | None = None,
    encoder: Any = None,
    token_encoder: Any = None,
    masked_lm: Any = None,
    lm: Any = None,
    tagger: Any = None,
    grammar: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    n: int | None = None,
    sample: int | None = None,
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
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Attack a classifier and report how often it was fooled.

    The run folder gets the page (report.html), the adversarial examples (adversarial.jsonl) and everything needed to
    resume or repeat the run: running the same command again resumes it.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    attacks: An attack (see `mohs attacks`), standard for a battery, or FILE.py:CLASS; repeat for several.
    budget: The most queries for one example.
    goal: untargeted; targeted:CLASS (name or number); below:P, the label's probability; for input-reduction reduced:N,
        at most N words left.
    source: Where words come from instead: see `mohs spaces`, or FILE.py:CLASS.
    constraints: A further constraint; repeat for several: see `mohs spaces`.
    measures: Measure the final texts by this too: see `mohs spaces`.
    stopwords: Words left alone, instead of the attack's own: a file, none, english or nltk.
    entities: What replaces named entities, for pwws: a file of `mohs entities`.
    encoder: Sentence encoder: pocket (default), use or hf:PATH_OR_ID.
    token_encoder: Token vectors for BERTScore: pocket (default) or hf:PATH_OR_ID.
    masked_lm: Masked language model: hf:PATH_OR_ID.
    lm: Causal language model: hf:PATH_OR_ID or gguf:FILE.
    tagger: Tagger: auto (default: spaCy if installed), pocket, spacy:NAME.
    grammar: Grammar checker: harper (default) or languagetool:URL.
    vectors: Word vectors: pocket (default), a file or folder, or an asset.
    wordnet: WordNet's database files; by default the asset.
    sememes: Table of sememe substitutes; by default the asset hownet.
    n: The first N examples, or see --sample; all if not given.
    sample: Draw the N examples of --n at random with this seed; by default the first.
    fields: Text column, or two for pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, where there is one.
    encoding: Encoding of the data file.
    device: auto, cpu, cuda or cuda:N.
    labels: Class names in the victim's order: negative,positive.
    victim_options: output=logits, batch=64, dtype=bf16, rate=10 ...
    trust_pickle: Open sklearn: files, which can run code.
    trust_code: Run code that an hf: model brings along.
    seed: Seed of everything random.
    at_once: How many searches are alive at once; by default as many as suit the verb and the victim's device.
    workers: Processes that share the examples, each with its own copy of the models.
    cache: Keep the victim's answers here, for later runs too.
    change: Of a pair, the columns that may change; by default the last.
    out: A run folder, which makes the run resumable; without one it lives in memory.
    progress: Called with the newest record, how many are finished, and of how many.
    said: Called with each sentence that is known before the first search.

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
    blacklist: str | Path | Iterable[str] | None = None,
    floor: float | None = None,
    most: int = 1000000,
    lm: Any = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    budget: int | None = None,
    n: int | None = None,
    sample: int | None = None,
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
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Look near each example for a natural text whose prediction one synonym changes.

    A masked language model rewrites up to k words of each example. Of the pairs of synonyms that fit the text, the one
    is taken whose words the victim scores most differently. Zhang et al. 2021 (Double Perturbation). Running the same
    command again resumes the run.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    masked_lm: Masked language model: hf:PATH_OR_ID.
    method: so-enum, so-beam or random; so-beam:released as the released code has it.
    k: The most words that change; by default 2 for so-enum, else 6.
    beam: Texts that so-beam goes on from; by default 20.
    synonyms: Where patch words come from: a source, see `mohs spaces`, such as thesaurus:FILE or wordnet; by default
        the eight nearest word vectors.
    blacklist: Words that are never brought in, one a line.
    floor: Leave out texts more than R times as perplexing to --lm as the original.
    most: Refuse so-enum where it would look at more texts an example.
    lm: Causal language model: hf:PATH_OR_ID or gguf:FILE.
    vectors: Word vectors: pocket (default), a file or folder, or an asset.
    wordnet: WordNet's database files; by default the asset.
    sememes: Table of sememe substitutes; by default the asset hownet.
    budget: The most queries for one example.
    n: The first N examples, or see --sample; all if not given.
    sample: Draw the N examples of --n at random with this seed; by default the first.
    fields: Text column, or two for pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, where there is one.
    encoding: Encoding of the data file.
    device: auto, cpu, cuda or cuda:N.
    labels: Class names in the victim's order: negative,positive.
    victim_options: output=logits, batch=64, dtype=bf16, rate=10 ...
    trust_pickle: Open sklearn: files, which can run code.
    trust_code: Run code that an hf: model brings along.
    seed: Seed of everything random.
    at_once: How many searches are alive at once; by default as many as suit the verb and the victim's device.
    workers: Processes that share the examples, each with its own copy of the models.
    cache: Keep the victim's answers here, for later runs too.
    change: Of a pair, the columns that may change; by default the last.
    out: A run folder, which makes the run resumable; without one it lives in memory.
    progress: Called with the newest record, how many are finished, and of how many.
    said: Called with each sentence that is known before the first search.
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
    both_directions: bool = False,
    blacklist: str | Path | Iterable[str] | None = None,
    floor: float | None = None,
    most: int = 10000,
    breadth: int = 100,
    lm: Any = None,
    budget: int | None = None,
    n: int | None = None,
    sample: int | None = None,
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
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Measure how pairs of words such as he and she move a classifier, in natural neighbourhoods.

    A masked language model rewrites up to k other words of each sentence that has the first word of a pair. The mean
    change of the label's probability from the first word to the second is the counterfactual token bias of Zhang et
    al. 2021. Running the same command again resumes the run; `mohs report A --against B` compares two runs.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    masked_lm: Masked language model: hf:PATH_OR_ID.
    pairs: gender, nationality, religion, sexual-orientation, country, or a file with two words a row.
    k: The most words that change; 0 takes the sentences as they are and needs no --masked-lm.
    label: The class looked at, by name or number; by default the last.
    epsilon: Sentences that the pair itself moves by less than this are the filtered set.
    both_directions: Use sentences with a pair's second word as well.
    blacklist: More words that are never brought in, one a line.
    floor: Leave out texts more than R times as perplexing to --lm as the original.
    most: A distance expected to have more texts than this is sampled ...
    breadth: ... from the neighbours of this many texts one step nearer; released code: 800.
    lm: Causal language model: hf:PATH_OR_ID or gguf:FILE.
    budget: The most queries for one example.
    n: The first N examples, or see --sample; all if not given.
    sample: Draw the N examples of --n at random with this seed; by default the first.
    fields: Text column, or two for pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, where there is one.
    encoding: Encoding of the data file.
    device: auto, cpu, cuda or cuda:N.
    labels: Class names in the victim's order: negative,positive.
    victim_options: output=logits, batch=64, dtype=bf16, rate=10 ...
    trust_pickle: Open sklearn: files, which can run code.
    trust_code: Run code that an hf: model brings along.
    seed: Seed of everything random.
    at_once: How many searches are alive at once; by default as many as suit the verb and the victim's device.
    workers: Processes that share the examples, each with its own copy of the models.
    cache: Keep the victim's answers here, for later runs too.
    change: Of a pair, the columns that may change; by default the last.
    out: A run folder, which makes the run resumable; without one it lives in memory.
    progress: Called with the newest record, how many are finished, and of how many.
    said: Called with each sentence that is known before the first search.
    """

def radius(
    victim: AnyVictim,
    examples: AnyExamples,
    *,
    source: str | Source | None = None,
    constraints: Sequence[str | Constraint] = (),
    stopwords: str | Path | Iterable[str] | None = None,
    attacks: str | Sequence[str | Attack] = (),
    max_r: int = 2,
    most: int = 1000000,
    bounds: bool = True,
    time_limit: float | None = None,
    share: Share | str | int | Sequence[Share | str | int] | None = None,
    pac: bool = False,
    r: str | int | Sequence[str | int] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    together: bool = False,
    interval: str | None = None,
    draws: int | None = None,
    vectors: Any = None,
    wordnet: Any = None,
    sememes: Any = None,
    tagger: Any = None,
    encoder: Any = None,
    n: int | None = None,
    sample: int | None = None,
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
    at_once: int | None = None,
    workers: int = 1,
    cache: str | Path | None = None,
    change: Sequence[str] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """How many substitutions does each prediction withstand, proven; and beyond that, which share still holds?

    Every text with 1, 2 ... substitutions is put to the victim, until one changes the label or --max-r is reached. The
    bundled bag of words is worked out in closed form. Certificates are written to certificates.jsonl, for `mohs
    verify`. Yang et al. 2022. Running the same command again resumes the run.

    victim: a name, a victim object, a model with its tokenizer, a pipeline, an estimator, or a function from texts to
        probabilities.
    examples: a file, `pocket`, a Dataset, or an iterable of Examples, (text, label) pairs or rows.
    source: Where words come from, see `mohs spaces`; by default the five nearest vectors.
    constraints: A constraint on words; repeat for several.
    stopwords: Words left alone: a file, none, english (default) or nltk.
    attacks: An attack that bounds the radius from above; repeat.
    max_r: Prove up to this many substitutions.
    most: Texts an example that the prover may ask.
    bounds: Leave out what a sound bound settles (word CNNs), or ask all.
    time_limit: Time for proving one example; by default no limit.
    share: The shares to estimate, as an object or a radius; on the command line --pac with --r and so on.
    pac: Estimate which share of the space keeps the label.
    r: The radius of that space: a number, or a share of the words; repeat.
    epsilon: Half the width of its interval.
    delta: The chance that an interval misses.
    together: Make delta the chance that any interval of the run misses.
    interval: clopper-pearson, hoeffding, or sequential, which stops early.
    draws: Texts drawn; by default by epsilon and delta.
    vectors: Word vectors: pocket (default), a file or folder, or an asset.
    wordnet: WordNet's database files; by default the asset.
    sememes: Table of sememe substitutes; by default the asset hownet.
    tagger: Tagger: auto (default: spaCy if installed), pocket, spacy:NAME.
    encoder: Sentence encoder: pocket (default), use or hf:PATH_OR_ID.
    n: The first N examples, or see --sample; all if not given.
    sample: Draw the N examples of --n at random with this seed; by default the first.
    fields: Text column, or two for pairs: premise,hypothesis.
    label_field: Label column.
    id_field: Id column, where there is one.
    encoding: Encoding of the data file.
    device: auto, cpu, cuda or cuda:N.
    labels: Class names in the victim's order: negative,positive.
    victim_options: output=logits, batch=64, dtype=bf16, rate=10 ...
    trust_pickle: Open sklearn: files, which can run code.
    trust_code: Run code that an hf: model brings along.
    seed: Seed of everything random.
    at_once: How many searches are alive at once; by default as many as suit the verb and the victim's device.
    workers: Processes that share the examples, each with its own copy of the models.
    cache: Keep the victim's answers here, for later runs too.
    change: Of a pair, the columns that may change; by default the last.
    out: A run folder, which makes the run resumable; without one it lives in memory.
    progress: Called with the newest record, how many are finished, and of how many.
    said: Called with each sentence that is known before the first search.

    >>> import mohs
    >>> run = mohs.radius("pocket", "pocket", n=3)
    >>> all(row["exact"] for row in run.radii())
    True
    """
