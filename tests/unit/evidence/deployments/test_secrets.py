"""No secret survives the reading of a file, wherever it stands and however often."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.deployments.nodes import Malformed
from specrules.evidence.deployments.secrets import is_secret_name, masked, masked_text
from tests.unit.evidence.deployments.build import at, one, read, words

SECRET = "Tr0ub4dor-and-3"  # noqa: S105


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "--api-key",
        "--hf-token",
        "-hft",
        "VLLM_API_KEY",
        "db.password",
        "AWS_SECRET_ACCESS_KEY",
        "api_keys",
        "GH_PAT",
        "--admin-api-key",
        "PGPASSWORD",
        "LICENSE_KEY",
        "PGPASSWORD_BASE64",
        "app.secrets",
        "CLIENT_SECRET",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "--max-tokens",
        "--max-num-batched-tokens",
        "num_speculative_tokens",
        "--speculative-token-map",
        "mask_token_id",
        "eos_token",
        "--tokenizer",
        "--spec-tokens",
        "draft_num_tokens",
        "--ssl-keyfile",
        "tokens",
        "AWS_ACCESS_KEY_ID",
        "token_count",
        "key",
    ],
)
def test_names_that_only_look_like_it(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hf_QmVzdE5vdEFSZWFsVG9rZW4x", "***"),
        ("x ghp_abcdefghijklmnopqrstuvwxyz012345 y", "x *** y"),
        ("https://me:pass@host/x", "https://***@host/x"),
        ("-H 'Authorization: Bearer abcdefgh12345'", "-H 'Authorization: ***'"),
        ('{"hf_token": "a \\" b", "num_speculative_tokens": 3}', '{"hf_token": "***", "num_speculative_tokens": 3}'),
        ("curl host?api_key=abc&x=1", "curl host?api_key=***&x=1"),
        ("max_tokens: 5, password = 'p w'", "max_tokens: 5, password = '***'"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n", "***"),
        ("nothing secret here", "nothing secret here"),
        ('{"num_speculative_token": 4, "use_token":true}', '{"num_speculative_token": 4, "use_token":true}'),
        ('{"password": 4711}', '{"password": ***}'),
        ("password=123", "password=***"),
    ],
)
def test_secrets_by_shape_and_by_the_name_before_them(text: str, shown: str) -> None:
    assert masked_text(text) == shown


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (f"run --api-key {SECRET} --other x", "a.sh"),
        (f"run --api-key={SECRET}", "a.sh"),
        (f"HF_TOKEN={SECRET} run", "a.sh"),
        (f"export MY_SECRET={SECRET}\nrun --x $MY_SECRET", "a.sh"),
        (f"export MY_SECRET={SECRET}\nrun --url http://host/{SECRET}/x", "a.sh"),
        (f"docker run -e HF_TOKEN={SECRET} img", "a.sh"),
        (f"""run --config '{{"api_key": "{SECRET}", "k": 1}}'""", "a.sh"),
        (f"services: {{a: {{image: i, environment: {{API_KEY: {SECRET}}}, command: [--k, {SECRET}]}}}}", "c.yml"),
        (f"services: {{a: {{image: 'https://u:{SECRET}@reg/i', command: [x]}}}}", "c.yml"),
        (f"[Service]\nEnvironment=DB_PASSWORD={SECRET}\nExecStart=/x --p ${{DB_PASSWORD}}\n", "u.service"),
        (f'FROM i\nENV NGC_API_KEY={SECRET}\nCMD ["x"]\n', "Dockerfile"),
        (f"[m]\napi-key = {SECRET}\n", "p.ini"),
        (f"model: x\napi-key: [{SECRET}]\n", "c.yaml"),
        (f"models: {{m: {{cmd: 'run --api-key {SECRET}', env: ['HF_TOKEN={SECRET}']}}}}", "s.yaml"),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {anything: " + SECRET + "}\n---\n"
            "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, image: i, args: [--a, $(B)],"
            " envFrom: [{secretRef: {name: s}}], env: [{name: B, value: $(anything)}]}]}",
            "k.yaml",
        ),
    ],
)
def test_a_secret_is_nowhere_in_what_is_read(written: str, path: str) -> None:
    reading = read(written, path)
    assert reading.launches
    shown = repr(reading) + "".join(launch.model_dump_json() for launch in reading.launches)
    assert SECRET not in shown
    assert "***" in shown


def test_a_problem_does_not_show_the_line_it_stands_on() -> None:
    reading = read(f'a: "x\nHF_TOKEN: {SECRET}\n', "c.yaml")
    assert reading.problems
    assert SECRET not in "".join(problem.render() for problem in reading.problems)


def test_masking_keeps_places_and_what_is_not_secret() -> None:
    launch = one(f"run --a 1 --api-key={SECRET} --b 2", "a.sh")
    assert words(launch) == ["run", "--a", "1", "--api-key=***", "--b", "2"]
    assert [word.secret for word in launch.command] == [False, False, False, True, False, False]
    assert at(launch.command[3]) == "1:11"
    assert at(launch.command[3].at(0, 9)) == "1:11"


def test_short_values_are_masked_under_their_name_only() -> None:
    launch = one("API_KEY=12 run --k 12 --api-key 12", "a.sh")
    assert words(launch) == ["run", "--k", "12", "--api-key", "***"]
    assert launch.environment["API_KEY"].text == "***"


def test_a_secret_that_nobody_rendered_is_shown_as_written() -> None:
    assert words(one("run --api-key $KEY", "a.sh")) == ["run", "--api-key", "<$KEY>"]


def test_a_flag_behind_a_flag_is_no_value() -> None:
    assert words(one("run --api-key --verbose", "a.sh")) == ["run", "--api-key", "--verbose"]


def test_more_secrets_than_can_be_looked_for_are_refused() -> None:
    word = one("run", "a.sh").command[0]
    hidden = {f"S{i}_TOKEN": word.model_copy(update={"text": f"longvalue{i}"}) for i in range(1100)}
    lines = "".join(f"S{i}_TOKEN=longvalue{i} run\n" for i in range(1100))
    with pytest.raises(Malformed, match="more than 1000 secrets"):
        masked([one("run", "a.sh").model_copy(update={"environment": hidden})])
    assert "longvalue" not in repr(read(lines, "a.sh"))


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_masking_twice_changes_nothing_more(text: str) -> None:
    assert masked_text(masked_text(text)) == masked_text(text)
