"""What engines do with a pair of tokenizers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import gguf
import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import CatalogError, EvidenceError, UsageError
from specrules.model.fact import Fact
from specrules.model.quantity import Provenance
from specrules.pipeline.tokenizer import EngineAnswer, Pair, tokenizers

TEXTS = ("<|end|>", *(f"word{number}" for number in range(299)))


@cache
def catalog() -> Catalog:
    return Catalog.load()


def model(folder: Path, name: str, *texts: str, table: bool = False) -> str:
    """Write a GGUF file with these tokens; without any it has no tokenizer."""
    import numpy as np

    writer = gguf.GGUFWriter(folder / name, "llama")
    if texts:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("smollm")
        writer.add_token_list(list(texts))
        writer.add_token_types([3, *(1,) * (len(texts) - 1)])
        writer.add_token_merges(["a b"])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(0)
        writer.add_add_bos_token(False)
    if table:
        writer.add_tensor("d2t", np.arange(8, dtype=np.int64))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(folder / name)


def asked(folder: Path, *texts: str, engine: str | None = None, **more: Any) -> Pair:
    target, drafter = model(folder, "target.gguf", *TEXTS), model(folder, "drafter.gguf", *texts)
    return tokenizers(target, drafter, engine, catalog=catalog(), **more)


def only(pair: Pair) -> EngineAnswer:
    (answer,) = pair.answers
    return answer


OTHER = (*TEXTS[:-1], "other")
MORE = (*TEXTS, *(f"more{number}" for number in range(200)))


@pytest.mark.parametrize(
    ("engine", "texts", "answer", "check"),
    [
        ("llama.cpp", TEXTS, "accepted", None),
        ("llama.cpp", OTHER, "refused-silently", "texts"),
        ("llama.cpp", MORE, "refused-silently", "size"),
        ("vllm", TEXTS, "accepted", None),
        ("vllm", OTHER, "accepted-though-wrong", "texts"),
        ("vllm", MORE, "dies-at-load", "size"),
        ("sglang", TEXTS, "accepted", None),
        ("sglang", OTHER, "dies-at-load", "ids"),
        ("sglang", MORE, "dies-at-load", "size"),
        ("mlx-lm", MORE, "accepted-though-wrong", "size"),
        ("tensorrt-llm", OTHER, "accepted-though-wrong", "ids"),
        ("ik-llama.cpp", OTHER, "accepted", None),
        ("lm-studio", TEXTS, "accepted", None),
        ("lm-studio", OTHER, "unknown", None),
        ("tabbyapi", TEXTS, "accepted", None),
        ("tabbyapi", OTHER, "accepted-though-wrong", None),
    ],
)
def test_answers(tmp_path: Path, engine: str, texts: tuple[str, ...], answer: str, check: str | None) -> None:
    found = only(asked(tmp_path, *texts, engine=engine))
    assert (found.engine, found.answer, found.check) == (engine, answer, check)
    assert found.drafts is {"accepted": True, "accepted-though-wrong": True, "unknown": None}.get(answer, False)


def test_a_refusal_says_what_the_engine_logs_and_never_compares(tmp_path: Path) -> None:
    found = only(asked(tmp_path, *MORE, engine="llama.cpp"))
    assert found.reason == "the vocabulary sizes differ by more than 128"
    assert found.log_text == "the target and draft vocabs are not compatible"
    assert found.unchecked.startswith("Ids 0 to 4, the pre-tokenizer, merges")
    assert (found.version, found.methods) == ("b11434", ("draft-simple",))


def test_only_the_checks_of_the_version_count(tmp_path: Path) -> None:
    old = only(asked(tmp_path, *OTHER, engine="sglang", version="0.5.14"))
    assert (old.version, old.answer, old.check) == ("0.5.14", "accepted-though-wrong", "uncompared")
    new = only(asked(tmp_path, *TEXTS, engine="sglang"))
    assert new.reason == "passes size, ids"


def test_without_an_engine_all_of_them_are_asked(tmp_path: Path) -> None:
    found = asked(tmp_path, *OTHER)
    engines = {answer.engine for answer in found.answers}
    methods = [answer.methods for answer in found.answers if answer.engine == "transformers"]
    assert methods == [("assistant-model",), ("universal-assisted",)]
    assert {"llama.cpp", "vllm", "sglang", "tabbyapi", "transformers"} <= engines
    # They take no drafter with a tokenizer of its own.
    assert engines.isdisjoint({"halogen-server", "halogen-flash-server"})


def hf(folder: Path, texts: tuple[str, ...]) -> str:
    """Write a vocabulary without a config.json, so that nobody knows how many rows the model has."""
    path = folder / "hf" / "vocab.json"
    path.parent.mkdir()
    path.write_text(json.dumps({text: number for number, text in enumerate(texts)}))
    return str(path)


def test_a_size_that_is_not_known_leaves_open_how_wrong_texts_end(tmp_path: Path) -> None:
    target = model(tmp_path, "target.gguf", *TEXTS)
    found = only(tokenizers(target, hf(tmp_path, OTHER), "vllm", catalog=catalog()))
    assert (found.answer, found.check, found.drafts) == ("unknown", None, None)
    assert found.reason == (
        "not known: size; if it passes, accepted though wrong: token texts differ at the same size, which nothing "
        "compares; put config.json beside the tokenizer of the drafter"
    )


@pytest.mark.parametrize(("engine", "answer"), [("vllm", "dies-at-load"), ("llama.cpp", "refused-silently")])
def test_more_ids_than_the_other_has_rows_settle_the_size(tmp_path: Path, engine: str, answer: str) -> None:
    target = model(tmp_path, "target.gguf", *TEXTS)
    found = only(tokenizers(target, hf(tmp_path, MORE), engine, catalog=catalog()))
    assert (found.answer, found.check) == (answer, "size")


def test_fewer_ids_than_the_other_has_rows_settle_nothing(tmp_path: Path) -> None:
    target = model(tmp_path, "target.gguf", *MORE)
    found = only(tokenizers(target, hf(tmp_path, TEXTS), "vllm", catalog=catalog()))
    assert found.answer == "unknown"


def test_what_a_user_has_to_bring(tmp_path: Path) -> None:
    target = model(tmp_path, "target.gguf", *TEXTS)
    vocabulary = tmp_path / "hf" / "vocab.json"
    vocabulary.parent.mkdir()
    vocabulary.write_text(json.dumps({text: number for number, text in enumerate(TEXTS)}))
    found = only(tokenizers(target, str(vocabulary), "vllm", catalog=catalog()))
    assert (found.answer, found.reason) == (
        "unknown",
        "not known: size; put config.json beside the tokenizer of the drafter",
    )
    (vocabulary.parent / "config.json").write_text('{"vocab_size": 300}')
    assert only(tokenizers(target, str(vocabulary), "vllm", catalog=catalog())).answer == "accepted"


def test_facts_carry_the_file_and_leave_out_what_is_not_known(tmp_path: Path) -> None:
    facts = asked(tmp_path, *TEXTS, engine="vllm").facts
    path = str(tmp_path / "drafter.gguf")
    assert facts["drafter.tokenizer.size"] == Fact(
        name="drafter.tokenizer.size", value=300.0, provenance=Provenance(kind="from-file", source=path)
    )
    assert type(facts["drafter.tokenizer.size"].value) is float
    assert facts["drafter.tokenizer.add_bos"].value is False
    assert facts["tokenizers.last_differing_id"].value == -1.0
    assert facts["tokenizers.merges_equal"].value is True
    assert set(facts) == {
        f"{side}.tokenizer.{name}"
        for side in ("target", "drafter")
        for name in ("family", "pre", "size", "add_bos", "bos_id", "add_eos", "eos_id")
    } | {"tokenizers.last_differing_id", "tokenizers.merges_equal"}


def test_a_drafter_without_a_tokenizer(tmp_path: Path) -> None:
    found = asked(tmp_path)
    assert found.comparison.kind == "no_tokenizer"
    answers = {answer.engine: answer for answer in found.answers}
    # llama.cpp takes the family for none, and compares families first; the others have nothing to compare.
    assert (answers["llama.cpp"].answer, answers["llama.cpp"].check) == ("refused-silently", "family")
    assert answers["vllm"].answer == "unknown"
    assert answers["tabbyapi"].answer == "unknown"


def test_a_head_with_a_table(tmp_path: Path) -> None:
    target, head = model(tmp_path, "target.gguf", *TEXTS), model(tmp_path, "head.gguf", table=True)
    found = tokenizers(target, head, "llama.cpp", catalog=catalog()).comparison
    assert found.kind == "mapped_d2t"
    assert found.head is not None
    assert found.head.rows == 8


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no engine 'vlm'"):
        asked(tmp_path, *TEXTS, engine="vlm")
    with pytest.raises(UsageError, match="a version needs the engine"):
        asked(tmp_path, *TEXTS, version="1.0")
    with pytest.raises(UsageError, match="not a build number"):
        asked(tmp_path, *TEXTS, engine="llama.cpp", version="1.0")
    with pytest.raises(EvidenceError, match="there is no such file"):
        tokenizers(str(tmp_path / "no.gguf"), str(tmp_path / "no.gguf"), catalog=catalog())
