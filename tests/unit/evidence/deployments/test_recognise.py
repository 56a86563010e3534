"""Engines give themselves away, and their settings are read as they would read them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.deployments import recognise
from specrules.model.deployment import Deployment, Setting
from specrules.model.engine import Engine
from tests.unit.evidence.deployments.build import at, one, span

_BARE: dict[str, Any] = {
    "schema": 1,
    "title": "Engine",
    "description": "An engine.",
    "sources": [{"id": "ran", "by": "run", "title": "ran it", "on": "2026-11-01"}],
    "version": {"scheme": "dotted", "facts_from": "1.0", "how_to_find": "ask"},
    "methods": [{"id": "draft", "title": "D", "drafter_class": "model", "draft_device": "routable", "known": "ran"}],
    "devices": {"draft_routing": {"possible": True, "effect": "any", "known": "ran"}},
}


@cache
def shipped() -> tuple[Engine, ...]:
    catalog = Catalog.load(environ={})
    return tuple(catalog.engine(name).model for name in catalog.engine_ids)


def engine(name: str, launch: dict[str, Any], *flags: dict[str, Any], **more: Any) -> Engine:
    """An engine of a few flags; flags are known and documented by themselves."""
    described = [{"doc": "a flag", "known": "ran", **flag} for flag in flags]
    return Engine.model_validate(
        {**_BARE, "id": name, "launch": {"known": "ran", **launch}, "flags": described, **more}, strict=False
    )


def known(written: str, path: str = "run.sh", *engines: Engine) -> Deployment:
    deployment = recognise(one(written, path), engines or shipped())
    assert deployment is not None
    return deployment


def rows(deployment: Deployment) -> list[tuple[str, str | None, str | None]]:
    return [(item.written, item.name, item.value) for item in deployment.settings]


def setting(deployment: Deployment, written: str) -> Setting:
    return next(item for item in deployment.settings if item.written == written)


class TestWhatGivesAnEngineAway:
    @pytest.mark.parametrize(
        ("command", "name", "by"),
        [
            ("vllm serve m", "vllm", "the command vllm serve"),
            ("/opt/venv/bin/vllm serve m", "vllm", "the command vllm serve"),
            ("python3.12 -u -m vllm.entrypoints.openai.api_server --model m", "vllm",
             "the command python -m vllm.entrypoints.openai.api_server"),
            ("uv run --with vllm vllm serve m", "vllm", "the command vllm serve"),
            ("torchrun --nproc-per-node 2 -m sglang.launch_server", "sglang",
             "the command python -m sglang.launch_server"),
            ("nohup taskset -c 0-7 ./llama-server -m x", "llama.cpp", "the command llama-server"),
            ("/src/ik_llama.cpp/build/bin/llama-server -m x", "ik-llama.cpp", "the command llama-server"),
            ("llama-server -m x -rtr", "ik-llama.cpp", "the command llama-server"),
            ("mpirun -n 4 trtllm-llmapi-launch trtllm-serve m", "tensorrt-llm", "the command trtllm-serve"),
            ("mlx_lm.server --model x", "mlx-lm", "the command mlx_lm.server"),
            ("python tests/testbed.py --target x", "sequoia", "the command python testbed.py"),
            ("lms load big --yes", "lm-studio", "the command lms load"),
            ("./server --speculative-config '{}' --gpu-memory-utilization 1", "vllm", "the flag --speculative-config"),
            ("./my-server --speculative_num_steps 3", "sglang", "the flag --speculative_num_steps"),
        ],
    )  # fmt: skip
    def test_commands_and_flags(self, command: str, name: str, by: str) -> None:
        deployment = known(command)
        assert (deployment.engine, deployment.recognised_by) == (name, by)

    @pytest.mark.parametrize(
        ("image", "name", "version"),
        [
            ("vllm/vllm-openai:v0.33.0", "vllm", "0.33.0"),
            ("registry.corp:5000/mirror/vllm/vllm-openai:v0.11.2-cu128", "vllm", "0.11.2"),
            ("vllm/vllm-openai@sha256:abc", "vllm", None),
            ("vllm/vllm-openai:latest", "vllm", None),
            ("vllm/vllm-openai:${TAG}", "vllm", None),
            ("ghcr.io/ggml-org/llama.cpp:server-cuda-b11434", "llama.cpp", "b11434"),
            ("ghcr.io/ggml-org/llama.cpp:server-cuda", "llama.cpp", None),
            ("nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc5", "tensorrt-llm", "1.3.0rc5"),
            ("lmsysorg/sglang:v0.5.6.post1-cu126", "sglang", "0.5.6.post1"),
            ("ghcr.io/theroyallab/tabbyapi:cu13", "tabbyapi", None),
            ("ghcr.io/peonist-ai/halogen-flash-server:0.17.3", "halogen-flash-server", "0.17.3"),
            ("ghcr.io/peonist-ai/halogen:0.1.3", "halogen-server", "0.1.3"),
        ],
    )
    def test_images_and_their_versions(self, image: str, name: str, version: str | None) -> None:
        deployment = known(f"services: {{a: {{image: '{image}'}}}}", "c.yml")
        assert (deployment.engine, deployment.version) == (name, version)
        assert (deployment.version_place is None) == (version is None)

    def test_a_program_counts_above_the_image_it_runs_in(self) -> None:
        deployment = known("docker run vllm/vllm-openai:v0.33.0 sglang serve --model-path x")
        assert (deployment.engine, deployment.version) == ("sglang", None)

    def test_a_pinned_package_counts_above_the_tag(self) -> None:
        written = 'FROM vllm/vllm-openai:v0.33.0\nRUN pip install vllm==0.34.1\nCMD ["x"]\n'
        deployment = known(written, "Dockerfile")
        assert deployment.version == "0.34.1"
        assert deployment.version_place is not None
        assert span(deployment.version_place) == "2:23-2:29"

    def test_a_version_that_a_wrapper_is_given(self) -> None:
        assert known("uvx --from vllm==0.33.0 vllm serve m").version == "0.33.0"

    def test_an_image_whose_program_is_hidden_is_open(self) -> None:
        deployment = known(
            "services: {a: {image: 'vllm/vllm-openai:v0.33.0', entrypoint: [/start.sh], command: [x]}}", "c.yml"
        )
        assert [gap.why for gap in deployment.launch.gaps] == [
            "/start.sh runs, and what it starts is not part of this file"
        ]
        assert not deployment.is_complete("command")
        assert deployment.is_complete("environment")

    @pytest.mark.parametrize(
        ("written", "path"),
        [
            ("hf download x", "a.sh"),
            ("docker run --entrypoint nvidia-smi vllm/vllm-openai", "a.sh"),
            ("nginx --speculative x", "a.sh"),
            ("a: 1", "c.yaml"),
        ],
    )
    def test_what_gives_nothing_away(self, written: str, path: str) -> None:
        assert recognise(one(written, path), shipped()) is None

    @pytest.mark.parametrize(
        ("keys", "name"),
        [
            ("speculative_config: {decoding_type: MTP, max_draft_len: 2}", "tensorrt-llm"),
            ("speculative_config: {method: mtp, num_speculative_tokens: 2}", "vllm"),
            ('speculative-config: \'{"method": "mtp"}\'\nmax-num-seqs: 3', "vllm"),
            ("{method: eagle3, model: x, num_speculative_tokens: 3}", "vllm"),
            ("speculative-algorithm: NEXTN", "sglang"),
            ("draft_model: {draft_model_name: x}", "tabbyapi"),
            ("{num_assistant_tokens: 3}", "transformers"),
        ],
    )
    def test_keys_of_configurations(self, keys: str, name: str) -> None:
        assert known(keys, "c.yaml").engine == name

    def test_two_engines_that_claim_as_much_leave_it_open(self) -> None:
        engines = [engine(name, {"flags": ["--same-*"]}) for name in ("one", "two")]
        assert recognise(one("x --same-flag", "a.sh"), engines) is None


class TestSettings:
    def test_aliases_joined_values_and_switches(self) -> None:
        deployment = known(
            "vllm serve m -tp 2 --max_num_seqs=8 --enforce-eager --no-async-scheduling --own-flag v rest"
        )
        assert rows(deployment) == [
            ("-tp", "--tensor-parallel-size", "2"),
            ("--max_num_seqs", "--max-num-seqs", "8"),
            ("--enforce-eager", "--enforce-eager", None),
            ("--no-async-scheduling", "--async-scheduling", None),
            ("--own-flag", None, "v"),
        ]
        assert span(setting(deployment, "--max_num_seqs").place) == "1:20-1:34"
        joined = setting(deployment, "--max_num_seqs").value_place
        assert joined is not None
        assert span(joined) == "1:35-1:36"

    def test_a_flag_in_place_of_a_value_leaves_it_out(self) -> None:
        assert rows(known("llama-server --spec-type --metrics")) == [
            ("--spec-type", "--spec-type", None),
            ("--metrics", "--metrics", None),
        ]

    def test_a_negative_number_is_a_value(self) -> None:
        assert rows(known("llama-server --spec-synth-len -1 --own -0.5")) == [
            ("--spec-synth-len", "--spec-synth-len", "-1"),
            ("--own", None, "-0.5"),
        ]

    def test_flags_may_be_cut_short_where_the_engine_allows_it(self) -> None:
        deployment = known("sglang serve --speculative-algo EAGLE --speculative-num 3 --max-run 4")
        assert [item.name for item in deployment.settings] == ["--speculative-algorithm", None, None]

    def test_keys_of_json_are_settings_with_places_of_their_own(self) -> None:
        written = (
            """vllm serve m -sc '{"method": "eagle3",\n  "num-speculative-tokens": 3, "made_up": {"a": [1, 2]}}'"""
        )
        deployment = known(written)
        assert rows(deployment)[1:] == [
            ("-sc.method", "--speculative-config.method", "eagle3"),
            ("-sc.num-speculative-tokens", "--speculative-config.num_speculative_tokens", "3"),
            ("-sc.made_up", None, '{"a": [1, 2]}'),
            ("-sc.made_up.a", None, "[1, 2]"),
        ]
        inner = setting(deployment, "-sc.num-speculative-tokens")
        assert inner.inside
        assert inner.value_place is not None
        assert (span(inner.place), span(inner.value_place)) == ("2:4-2:26", "2:29-2:30")

    def test_dotted_flags_are_the_same_keys(self) -> None:
        deployment = known("vllm serve m --speculative-config.method ngram -sc.num_speculative_tokens=4")
        assert [item.name for item in deployment.settings] == [
            "--speculative-config.method",
            "--speculative-config.num_speculative_tokens",
        ]

    def test_json_that_cannot_be_read_says_where(self) -> None:
        item = setting(known("vllm serve m --speculative-config '{\"a\": 1,}'"), "--speculative-config")
        assert item.fault == "not JSON: a ',' stands before '}'"
        assert item.value_place is not None
        assert at(item.value_place) == "1:44"

    def test_keys_behind_a_word(self) -> None:
        deployment = known("llama-server -rtr --spec-type mtp:n_max=2,p_min=0.5 --spec-type ngram-mod")
        assert rows(deployment)[1:] == [
            ("--spec-type", "--spec-type", "mtp"),
            ("--spec-type.n_max", "--spec-type.n_max", "2"),
            ("--spec-type.p_min", "--spec-type.p_min", "0.5"),
            ("--spec-type", "--spec-type", "ngram-mod"),
        ]

    def test_what_nobody_rendered_has_no_value(self) -> None:
        deployment = known('llama-server --spec-type $T -md "m/$X.gguf" --spec-draft-n-max 4 $MORE')
        assert [(item.value, item.rendered) for item in deployment.settings] == [
            (None, False),
            (None, False),
            ("4", True),
        ]
        assert [(gap.of, gap.why, at(gap.place)) for gap in deployment.launch.gaps] == [
            ("command", "$MORE may hold more arguments", "1:66")
        ]

    def test_a_flag_that_is_no_flag_until_it_is_rendered_is_a_gap(self) -> None:
        deployment = known("llama-server --spec-$X 3 -m y")
        assert [gap.why for gap in deployment.launch.gaps] == ["--spec-$X may hold more arguments"]

    def test_flags_stand_above_variables_and_later_ones_above_earlier_ones(self) -> None:
        deployment = known("LLAMA_ARG_CTX_SIZE=1 llama-server -c 2 --ctx-size 3")
        assert [(item.value, item.effective) for item in deployment.settings] == [
            ("1", False),
            ("2", False),
            ("3", True),
        ]
        counted = deployment.setting("--ctx-size")
        assert counted is not None
        assert counted.value == "3"

    def test_what_stands_in_a_value_that_does_not_count_does_not_count(self) -> None:
        deployment = known("""vllm serve m -sc '{"method":"ngram","prompt_lookup_max":4}' -sc '{"method":"mtp"}'""")
        counted = {item.name: item.value for item in deployment.settings if item.effective}
        assert counted == {"--speculative-config": '{"method":"mtp"}', "--speculative-config.method": "mtp"}

    def test_files_that_flags_name_are_read_or_missed(self) -> None:
        written = "cat > c.yaml <<E\nspeculative_config: {decoding_type: MTP}\nE\ntrtllm-serve m --config c.yaml\n"
        assert setting(known(written), "speculative_config.decoding_type").value == "MTP"
        missed = known("trtllm-serve m --extra_llm_api_options=elsewhere.yaml")
        assert [(gap.of, gap.why) for gap in missed.launch.gaps] == [
            ("config", "settings come from elsewhere.yaml, which is not part of this file")
        ]

    def test_flags_stand_above_files(self) -> None:
        written = "cat > c.yaml <<E\nmax-num-seqs: 1\nE\nvllm serve m --max-num-seqs 2 --config c.yaml\n"
        counted = known(written).setting("--max-num-seqs")
        assert counted is not None
        assert counted.value == "2"

    def test_keys_that_no_engine_knows_are_kept_as_they_may_be_misspelt(self) -> None:
        deployment = known(
            "speculative_config: {decoding_type: MTP, draft_len_schedule: {4: 3}, max_draftlen: 2}", "c.yaml"
        )
        assert [(item.written, item.name is not None) for item in deployment.settings] == [
            ("speculative_config", True),
            ("speculative_config.decoding_type", True),
            ("speculative_config.draft_len_schedule", True),
            ("speculative_config.max_draftlen", False),
        ]

    def test_presets_take_flags_without_dashes_and_variables(self) -> None:
        deployment = known(
            "[m]\nc = 1\nspec-draft-n-max = 2\nLLAMA_ARG_SPEC_TYPE = draft-mtp\nmodel-draft = x\n", "p.ini"
        )
        assert [item.name for item in deployment.settings] == [
            "--ctx-size", "--spec-draft-n-max", "--spec-type", "--spec-draft-model",
        ]  # fmt: skip

    def test_variables_of_the_engine_that_nobody_described_are_kept(self) -> None:
        assert rows(known("LLAMA_ARG_MADE_UP=1 HOME=/x llama-server -m y"))[0] == ("LLAMA_ARG_MADE_UP", None, "1")

    def test_a_secret_has_no_value_in_a_setting(self) -> None:
        item = setting(known("vllm serve m --api-key sk-abcdefghijklmnop"), "--api-key")
        assert (item.secret, item.value) == (True, "***")

    def test_json_that_holds_a_secret_is_read_around_it(self) -> None:
        secret = "hf_abcdefghijklmnopqrst"  # noqa: S105
        written = f"""vllm serve m -sc '{{"method": "eagle3", "hf_token": "{secret}", "num_speculative_tokens": 3}}'"""
        deployment = known(written)
        assert rows(deployment)[1:] == [
            ("-sc.method", "--speculative-config.method", "eagle3"),
            ("-sc.hf_token", None, "***"),
            ("-sc.num_speculative_tokens", "--speculative-config.num_speculative_tokens", "3"),
        ]
        assert [item.secret for item in deployment.settings] == [True, False, True, False]
        assert [at(item.place) for item in deployment.settings] == ["1:14", "1:21", "1:41", "1:19"]
        assert deployment.is_complete()

    def test_a_value_that_is_a_secret_as_a_whole_is_a_gap(self) -> None:
        deployment = known("vllm serve m -sc sk-abcdefghijklmnop")
        assert setting(deployment, "-sc").fault == ""
        assert not deployment.is_complete("command")
        assert deployment.is_complete("environment", "config")

    def test_settings_in_a_branch_of_a_template_are_unknown(self) -> None:
        written = "model: x\nmax-num-seqs: 3\n{{ if .x }}\nspeculative-config: {method: mtp}\n{{ end }}\n"
        values = {item.written: (item.value, item.rendered) for item in known(written, "c.yaml").settings}
        assert values["max-num-seqs"] == ("3", True)
        assert values["speculative-config.method"] == (None, False)


class TestFacts:
    def test_settings_state_facts_with_their_place(self) -> None:
        written = (
            "llama-server -m t.gguf --spec-type draft-simple,ngram-mod -md d.gguf --spec-draft-n-max 4 -c 8k -np 2"
        )
        facts = {fact.name: (fact.value, at(fact.place)) for fact in known(written).facts}
        assert facts == {
            "target.name": ("t.gguf", "1:17"),
            "target.file": ("t.gguf", "1:17"),
            "engine.methods": (("draft-simple", "ngram-mod"), "1:36"),
            "drafter.name": ("d.gguf", "1:63"),
            "drafter.file": ("d.gguf", "1:63"),
            "engine.draft_length": (4.0, "1:89"),
            "workload.context_tokens": (8000.0, "1:94"),
            "workload.concurrency": (2.0, "1:101"),
        }

    @pytest.mark.parametrize(
        ("arguments", "methods"),
        [
            ("--spec-type none", ()),
            ("--spec-type none,draft-mtp", ("draft-mtp",)),
            ("--spec-type ngram-mod --spec-type draft-mtp", ("ngram-mod", "draft-mtp")),
            ("--spec-type $T", None),
        ],
    )
    def test_methods_add_up_and_none_is_none(self, arguments: str, methods: tuple[str, ...] | None) -> None:
        facts = {fact.name: fact.value for fact in known(f"llama-server {arguments}").facts}
        assert facts["engine.methods"] == methods

    @pytest.mark.parametrize("value", ["0", "x", "9" * 60])
    def test_a_value_that_states_nothing(self, value: str) -> None:
        facts = {fact.name: fact.value for fact in known(f"llama-server -c {value}").facts}
        assert facts.get("workload.context_tokens") is None

    def test_the_first_argument_is_the_target(self) -> None:
        fact = known("vllm serve org/big --max-num-seqs 1 other").facts[-1]
        assert (fact.name, fact.value, at(fact.place)) == ("target.name", "org/big", "1:12")

    def test_of_two_flags_for_one_fact_the_one_described_first_counts(self) -> None:
        ours = engine(
            "ours",
            {"programs": [{"words": ["serve"]}]},
            {"name": "--first", "states": ["drafter.name"]},
            {"name": "--second", "states": ["drafter.name", "incumbent.drafting"]},
        )
        facts = {fact.name: fact.value for fact in known("serve --second yes --first a", "a.sh", ours).facts}
        assert facts == {"drafter.name": "a", "incumbent.drafting": True}

    def test_switches_state_true_and_their_opposite_false(self) -> None:
        ours = engine(
            "ours",
            {"programs": [{"words": ["serve"]}]},
            {"name": "--on", "aliases": ["--no-on"], "takes_value": False, "states": ["incumbent.drafting"]},
        )
        for written, value in {"--on": True, "--no-on": False}.items():
            assert known(f"serve {written}", "a.sh", ours).facts[0].value is value

    def test_what_is_set_elsewhere_is_a_gap(self) -> None:
        deployment = known("ollama serve")
        assert [gap.why for gap in deployment.launch.gaps] == [
            "which model drafts stands in its Modelfile and in requests"
        ]
