"""A deployment as a case: its own statements above those of a case beside it."""

from __future__ import annotations

from specrules.catalog.catalogue import Catalog
from specrules.derive.deployed.case import case_data
from specrules.evidence.deployments import read_launches_text, recognise
from specrules.model.case import Case
from specrules.model.deployment import Deployment
from specrules.model.engine import Engine

CATALOG = Catalog.load(environ={})


def deployed(written: str, path: str = "run.sh") -> tuple[Deployment, Engine]:
    (launch,) = read_launches_text(written, path).launches
    engines = [CATALOG.engine(name).model for name in ("llama.cpp", "vllm")]
    deployment = recognise(launch, engines)
    assert deployment is not None
    return deployment, CATALOG.engine(deployment.engine).model


LLAMA = "docker run ghcr.io/ggml-org/llama.cpp:server-b11434 -m t.gguf --spec-type draft-simple -md d.gguf"
LLAMA += " --spec-draft-n-max 4 -devd CUDA1 -c 8192 -np 2"


def test_alone_it_is_what_it_states() -> None:
    data = case_data(*deployed(LLAMA))
    assert data == {
        "target": {"name": "t.gguf"},
        "drafter": {"name": "d.gguf", "device": "CUDA1", "class": "model"},
        "engine": {
            "id": "llama.cpp",
            "version": "b11434",
            "methods": ["draft-simple"],
            "draft_length": 4,
            "flags": [
                "-m t.gguf", "--spec-type draft-simple", "-md d.gguf", "--spec-draft-n-max 4", "-devd CUDA1", "-c 8192",
                "-np 2",
            ],
        },
    }  # fmt: skip
    assert Case.model_validate({"schema": 1, **data}).engine.draft_length == 4


def test_a_case_beside_it_keeps_what_the_deployment_does_not_say() -> None:
    base = {
        "schema": 1,
        "target": {"name": "Big", "kind": "dense", "file": "t-here.gguf"},
        "drafter": {"name": "Small", "class": "block", "step_ms": 3.0},
        "engine": {"id": "vllm", "backends": ["CUDA"], "draft_length": 7},
        "workload": {"concurrency": 1},
    }
    data = case_data(*deployed(LLAMA), base)
    assert data["target"] == {"name": "t.gguf", "kind": "dense", "file": "t-here.gguf"}
    assert data["drafter"]["class"] == "block"
    assert data["drafter"]["step_ms"] == 3.0
    assert (data["engine"]["id"], data["engine"]["backends"], data["engine"]["draft_length"]) == (
        "llama.cpp",
        ["CUDA"],
        4,
    )
    assert data["workload"] == {"concurrency": 1}
    assert base["engine"] == {"id": "vllm", "backends": ["CUDA"], "draft_length": 7}


def test_an_engine_by_name_alone_becomes_a_mapping() -> None:
    assert case_data(*deployed(LLAMA), {"engine": "llama.cpp"})["engine"]["methods"] == ["draft-simple"]


def test_what_nobody_rendered_leaves_the_case_as_it_is() -> None:
    data = case_data(
        *deployed("llama-server -m $M --spec-type $T --spec-draft-n-max $K"), {"engine": {"draft_length": 2}}
    )
    assert "target" not in data
    assert data["engine"]["draft_length"] == 2
    assert "methods" not in data["engine"]
    assert "drafter" not in data


def test_variables_and_keys_are_written_as_assignments_and_inner_keys_stay_inside() -> None:
    data = case_data(*deployed("LLAMA_ARG_SPEC_TYPE=draft-mtp llama-server -m x --metrics"))
    assert data["engine"]["flags"] == ["LLAMA_ARG_SPEC_TYPE=draft-mtp", "-m x", "--metrics"]
    assert data["drafter"] == {"class": "mtp-head"}
    data = case_data(*deployed("""vllm serve x --speculative-config '{"method":"ngram","num_speculative_tokens":4}'"""))
    assert data["engine"]["flags"] == ['--speculative-config {"method":"ngram","num_speculative_tokens":4}']


def test_a_secret_is_no_part_of_a_case() -> None:
    data = case_data(*deployed("llama-server -m x --api-key sk-abcdefghijklmnop"))
    assert data["engine"]["flags"] == ["-m x", "--api-key ***"]


def test_methods_of_two_classes_leave_the_class_open() -> None:
    assert "drafter" not in case_data(*deployed("llama-server -m x --spec-type draft-mtp,ngram-mod"))
