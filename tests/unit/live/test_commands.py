"""The commands themselves against servers on this machine: what they print, say, write and leave with."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from specrules.catalog.case import load_case
from specrules.cli.main import run
from specrules.evidence.samples.lines import read_lines
from specrules.evidence.source import read_source

from .halogen import Halogen
from .llama import Llama
from .serving import Reply, Stream, event, serving
from .test_agreement import Model

SECRET = "t0ken-of-nobody"  # noqa: S105


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """An empty folder, and no credentials of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NETRC", str(tmp_path / "no-netrc"))
    monkeypatch.delenv("SPECRULES_TOKEN", raising=False)


def command(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(word) for word in words])
    assert "Traceback" not in err.getvalue()
    assert SECRET not in out.getvalue() + err.getvalue()
    return code, out.getvalue(), err.getvalue()


FEW = ("--requests", 8, "--max-tokens", 9, "--warm-up", 0, "--all")


class TestInit:
    """A case that loads, with what was learned and what was not."""

    def test_a_server_that_drafts(self, tmp_path):
        with serving(Llama(matches=lambda _: (2,))) as running:
            code, out, err = command("init", "--target", running.url, "--now", "2026-11-29", "-o", "case.yaml")
        assert (code, out) == (0, "")
        assert err.startswith(f"asking {running.url} what it is: 12 short GET requests\n  and with 1 small requests")
        text = (tmp_path / "case.yaml").read_text()
        case = load_case("case.yaml").case
        assert case.engine.id == "llama.cpp"
        assert case.engine.version == "b11434"
        assert case.incumbent.drafting is True
        assert case.incumbent.method == "draft-simple"
        assert case.incumbent.url == running.url
        assert case.incumbent.rate_tok_s is None
        assert "# rate_tok_s, rate_kind: specrules measure http://127.0.0.1" in text
        assert "#   slots: A drafting method is alive in that slot." in text
        assert "# kind: dense | moe | hybrid | hybrid-moe" in text

    def test_counters_over_enough_tokens_are_used(self):
        busy = Llama(matches=lambda _: (2,))
        busy.counts |= {"tokens": 5000.0, "seconds": 100.0, "drafted": 3000.0, "accepted": 2000.0, "rounds": 1000.0}
        with serving(busy) as running:
            command("init", "--target", running.url, "--now", "2026-11-29", "-o", "case.yaml")
        incumbent = load_case("case.yaml").case.incumbent
        assert incumbent.rate_tok_s.value == 50.0
        assert incumbent.rate_tok_s.kind == "measured"
        assert incumbent.rate_tok_s.source.endswith("/metrics:4 (+1 more line), since the server started")
        assert incumbent.rate_kind == "decode"
        assert incumbent.tokens_per_round.value == 3.0

    def test_counters_over_a_handful_of_tokens_are_not(self):
        with serving(Llama(matches=lambda _: (2,))) as running:
            command("init", "--target", running.url, "-o", "a.yaml")
            busy = Llama(matches=lambda _: (2,))
        busy.counts |= {"tokens": 50.0, "seconds": 1.0, "drafted": 30.0, "accepted": 20.0, "rounds": 10.0}
        with serving(busy) as running:
            command("init", "--target", running.url, "-o", "b.yaml")
        text = Path("b.yaml").read_text()
        assert "# rate_tok_s: 50 over 50 tokens, which is too few" in text
        assert load_case("b.yaml").case.incumbent.rate_tok_s is None

    def test_a_drafter_that_another_server_serves(self):
        with serving(Llama()) as one, serving(Llama()) as other:
            command("init", "--target", one.url, "--drafter", other.url, "-o", "case.yaml")
        case = load_case("case.yaml").case
        assert (case.drafter.name, case.drafter.drafter_class) == ("tiny.gguf", "model")
        assert case.engine.methods == ("draft-simple",)
        assert f"specrules measure drafter={other.url}" in Path("case.yaml").read_text()

    def test_halogen(self):
        with serving(Halogen.flash()) as running:
            command("init", "--target", running.url + "/v1/", "-o", "case.yaml")
        case = load_case("case.yaml").case
        assert case.engine.id == "halogen-flash-server"
        assert case.incumbent.drafting is True
        assert case.incumbent.url == running.url

    def test_a_log_alone_is_evidence_of_the_case(self, tmp_path):
        line = "0.01.000.000 I slot print_timing: id  0 | task 0 |        eval time =    1000.00 ms /    51 tokens "
        line += "(   20.00 ms per token,    50.00 tokens per second)\n"
        (tmp_path / "server.log").write_text(line)
        code, _, _ = command("init", "--log", "server.log", "--engine", "llama.cpp", "-o", "case.yaml")
        assert code == 0
        (item,) = load_case("case.yaml").case.evidence
        assert (item.path, item.arm) == ("server.log", "incumbent")

    def test_metrics_of_a_url(self):
        busy = Llama(matches=lambda _: (2,))
        busy.counts |= {"tokens": 5000.0, "seconds": 100.0, "drafted": 3000.0, "accepted": 2000.0, "rounds": 1000.0}
        with serving(busy) as running:
            command("init", "--metrics", running.url + "/metrics", "--engine", "llama.cpp", "-o", "case.yaml")
            assert running.paths() == ["/metrics"]
        assert load_case("case.yaml").case.incumbent.rate_tok_s.value == 50.0

    def test_nothing_to_learn_from(self):
        code, out, err = command("init")
        assert (code, out) == (2, "")
        assert err == "nothing to learn from (name a server with --target URL, or a file with --log or --metrics)\n"

    def test_a_name_that_is_no_yaml(self):
        fake = Llama()
        name = 'a: "b"\n# c'
        answers = lambda asked: Reply({"data": [{"id": name}]}) if asked.path == "/v1/models" else fake(asked)  # noqa: E731
        with serving(answers) as running:
            command("init", "--target", running.url, "--no-requests", "-o", "case.yaml")
        assert load_case("case.yaml").case.target.name == name


class TestMeasure:
    """Announced, kept, shown."""

    def test_two_servers(self):
        with serving(Llama(pass_s=0.004)) as one, serving(Llama(matches=lambda _: (3,), pass_s=0.004)) as other:
            code, out, err = command("measure", one.url, other.url, *FEW, "-o", "pair.jsonl")
        assert code == 0
        assert (
            "measuring: up to 8 requests to each arm, after 0 for warm-up, each of at most 9 tokens, 1 at a time" in err
        )
        assert err.index("measuring: up to") < err.index("8/8 at concurrency 1")
        assert f"  candidate: {other.url} (llama.cpp, chat)" in err
        lines = out.splitlines()
        assert lines[0] == "16 requests, 0 failed; all requests were sent"
        assert "incumbent (8 requests)" in lines
        assert "  drafting: no, not one token was drafted" in lines
        assert "  tokens per drafting round (A): 4 tokens (4 to 4)" in lines
        assert any(
            line.startswith("candidate against the first arm: ") and line.endswith("faster by more than the margin")
            for line in lines
        )
        samples, _ = read_lines(read_source("pair.jsonl"))
        assert len(samples) == 16

    def test_its_file_is_evidence_and_can_be_read(self, tmp_path):
        with serving(Llama(pass_s=0.004)) as one, serving(Llama(matches=lambda _: (3,), pass_s=0.004)) as other:
            command("measure", one.url, other.url, *FEW, "-o", "pair.jsonl")
        (tmp_path / "case.yaml").write_text(
            "schema: 1\ntarget: {name: t, kind: dense}\ndrafter: {name: d, class: model}\n"
            "engine: {id: llama.cpp, methods: [draft-simple], draft_length: 3}\n"
            "workload: {concurrency: 1, temperature: 0}\n"
            "evidence:\n  - {path: pair.jsonl, arm: incumbent}\n  - {path: pair.jsonl, arm: candidate}\n"
        )
        code, out, _ = command("triage", "case.yaml", "--format", "json", "--now", "2026-11-30")
        verdict = json.loads(out)
        assert code == 0
        assert verdict["incumbent"]["drafting"] is False
        assert verdict["incumbent"]["rate_tok_s"] > 0
        speedup = next(item for item in verdict["projection"] if item["draft_length"] == 3)["speedup"]
        assert speedup["mid"] > 1.5
        code, out, _ = command("read", "pair.jsonl")
        assert code == 0
        assert "candidate.tokens_per_round" in out

    def test_json(self):
        with serving(Llama()) as one:
            code, out, _ = command("measure", one.url, *FEW, "--format", "json", "-o", "s.jsonl")
        data = json.loads(out)
        assert (code, data["schema"], data["requests"], data["failed"], data["lost"]) == (0, 1, 8, 0, None)
        assert {"incumbent.rate_tok_s", "incumbent.time_to_first_token_ms"} <= {fact["name"] for fact in data["facts"]}

    def test_a_server_that_dies_leaves_what_was_measured(self):
        dying = Llama(dies_after=3)
        with serving(dying) as one:
            dying.on_death = one.stop
            code, out, err = command("measure", one.url, *FEW, "-o", "s.jsonl")
        assert code == 2
        assert err.splitlines()[-1].startswith("the server of incumbent was lost: the answer was cut off after ")
        assert err.splitlines()[-1].endswith("; 4 samples are kept in s.jsonl")
        assert "incumbent (3 requests)" in out
        samples, _ = read_lines(read_source("s.jsonl"))
        assert [bool(item.error) for item in samples] == [False, False, False, True]

    def test_an_interruption_leaves_what_was_measured(self):
        interrupted = Llama(dies_after=3)
        interrupted.on_death = lambda: os.kill(os.getpid(), signal.SIGINT)
        with serving(interrupted) as one:
            code, out, err = command("measure", one.url, *FEW, "-o", "s.jsonl")
        assert (code, out) == (130, "")
        assert err.endswith("\nwhat was measured until now is kept in s.jsonl: specrules read s.jsonl\n\ninterrupted\n")
        samples, _ = read_lines(read_source("s.jsonl"))
        assert [bool(item.error) for item in samples][:3] == [False, False, False]

    def test_on_and_off_by_request(self):
        fake = Halogen.flash(pass_s=0.004)
        with serving(fake) as one:
            code, out, err = command("measure", one.url, "--on-off", *FEW, "-o", "s.jsonl")
        assert code == 0
        assert ", requests ask for the drafter serial" in err
        assert set(fake.asked_for) == {None, "serial"}
        assert "off against the first arm: " in out

    def test_requests_that_cannot_choose(self):
        with serving(Llama()) as one:
            code, out, err = command("measure", one.url, "--on-off", "-o", "s.jsonl")
            assert one.paths("POST") == []
        assert (code, out) == (2, "")
        assert "requests to llama.cpp cannot choose a drafter (give a second URL" in err

    def test_a_file_that_exists_is_never_overwritten(self, tmp_path):
        (tmp_path / "s.jsonl").write_text("mine\n")
        with serving(Llama()) as one:
            code, _, err = command("measure", one.url, *FEW, "-o", "s.jsonl")
            again, _, more = command("measure", one.url, *FEW, "--append", "-o", "s.jsonl")
        assert (code, again) == (2, 2)
        assert "s.jsonl: exists: samples are never overwritten (name another file, or add to it with --append)" in err
        assert "s.jsonl: is no samples file: samples are never overwritten" in more
        assert (tmp_path / "s.jsonl").read_text() == "mine\n"

    def test_samples_can_be_added_to(self):
        with serving(Llama()) as one:
            command("measure", f"off={one.url}", *FEW, "-o", "s.jsonl")
            code, _, _ = command("measure", f"candidate={one.url}", *FEW, "--append", "-o", "s.jsonl")
        assert code == 0
        samples, _ = read_lines(read_source("s.jsonl"))
        assert [item.arm for item in samples] == ["off"] * 8 + ["candidate"] * 8

    def test_metrics_that_are_off_are_said_once_and_in_one_line(self):
        with serving(Llama(has_metrics=False)) as one:
            code, _, err = command("measure", one.url, *FEW, "-o", "s.jsonl")
        assert code == 0
        assert err.count("(no metrics: start the server with --metrics)") == 1

    def test_prompts_of_the_user(self, tmp_path):
        (tmp_path / "ours.jsonl").write_text(
            "".join(json.dumps({"prompt": f"question {index}"}) + "\n" for index in range(8))
        )
        fake = Llama()
        with serving(fake) as one:
            command("measure", one.url, "--prompts", "ours.jsonl", *FEW, "-o", "s.jsonl")
        assert fake.requests[0]["messages"][-1]["content"] == "question 0"
        samples, _ = read_lines(read_source("s.jsonl"))
        assert all(item.own_prompts for item in samples)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--budget", "soon"], "--budget 'soon' is neither a time such as 90s, 5m or 1h nor a number of requests"),
            (["--concurrency", "1,x"], "--concurrency '1,x' is no list of numbers such as 1,2,4"),
            (["--tasks", "chta"], "no prompts for the task 'chta'"),
            (["--endpoint", "chad"], "llama.cpp has no endpoint 'chad'; known are chat, completion"),
            (["--engine", "lama.cpp"], "no engine 'lama.cpp'"),
            (
                ["candidat=http://h"],
                "no arm 'candidat'; known are incumbent, off, candidate, drafter (did you mean 'candidate'?)",
            ),
            (["incumbent=http://h"], "the arm incumbent is named twice"),
        ],
    )
    def test_words_that_make_no_sense(self, words, said):
        with serving(Llama()) as one:
            code, out, err = command("measure", one.url, *words, "-o", "s.jsonl")
            assert one.paths("POST") == []
        assert (code, out) == (2, "")
        assert said in err


class TestAgree:
    """The estimate, and a case's lines for it."""

    def test_two_servers(self):
        with (
            serving(Model()) as one,
            serving(Model(next_id=lambda ids: (3 * ids[-1] + len(ids) + (len(ids) % 4 == 0)) % 50)) as other,
        ):
            code, out, err = command(
                "agree",
                one.url,
                other.url,
                "--number",
                8,
                "--max-tokens",
                30,
                "--draft-length",
                2,
                "--now",
                "2026-11-29",
            )
        assert code == 0
        assert "up to 8 prompts: " in err
        assert "An estimate for such prompts: engines accept that or less on them, on others more or less." in out
        assert "    kind: tokens_per_round\n    draft_length: 2\n" in out
        assert "tokenizers: the same ids on " in out

    def test_json(self):
        with serving(Model()) as one, serving(Model()) as other:
            _, out, _ = command("agree", one.url, other.url, "--number", 8, "--max-tokens", 20, "--format", "json")
        data = json.loads(out)
        assert data["basis"] == "greedy agreement"
        assert "chat" in data["tasks"]
        assert data["tokens_per_round"]["value"] == 5.0
        assert len(data["prompts"]) == 8

    def test_other_tokenizers(self):
        with serving(Model()) as one, serving(Model(shift=1)) as other:
            code, out, err = command("agree", one.url, other.url)
        assert (code, out) == (2, "")
        assert "the tokenizers differ: " in err


class TestWhatGoesWrong:
    """One line for each failure, exit code 2, nothing on stdout, and no secret anywhere."""

    def line(self, *words, code=2):
        found, out, err = command(*words)
        assert (found, out) == (code, "")
        return err.splitlines()[-1]

    def test_nobody_listens(self):
        with serving(Llama()) as one:
            url = one.url
        assert self.line("init", "--target", url).endswith(": the connection was refused: nothing listens there")
        assert self.line("measure", url).endswith(": the connection was refused: nothing listens there")

    def test_no_url(self):
        assert self.line("measure", "localhost:8080") == "only http and https URLs can be asked"

    def test_a_password_in_the_url(self):
        line = self.line("measure", f"http://me:{SECRET}@127.0.0.1:1/")
        assert line.startswith("http://127.0.0.1:1: user and password in a URL end up in lists of processes")

    def test_tls_that_is_not_there(self):
        with serving(Llama()) as one:
            line = self.line("init", "--target", one.url.replace("http:", "https:"))
        assert ": TLS failed: " in line

    @pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
    def test_a_certificate_that_nobody_vouches_for(self, tmp_path):
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=127.0.0.1",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                "key.pem",
                "-out",
                "cert.pem",
            ],
            check=True,
            capture_output=True,
            cwd=tmp_path,
        )

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_error(404)

            def log_message(self, *_):
                pass

        class Server(HTTPServer):
            def handle_error(self, *_):
                pass

        server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("cert.pem", "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            line = self.line("init", "--target", f"https://127.0.0.1:{server.server_address[1]}")
        finally:
            server.shutdown()
            server.server_close()
        assert "TLS failed: certificate verify failed: self-signed certificate" in line
        assert "SSL_CERT_FILE" in line

    def test_a_key_is_wanted(self):
        with serving(lambda _: Reply({}, 401)) as one:
            assert "401: the server wants credentials (put a token into the environment" in self.line(
                "init", "--target", one.url
            )

    def test_a_key_that_is_wrong(self, monkeypatch):
        monkeypatch.setenv("SPECRULES_TOKEN", SECRET)
        with serving(lambda _: Reply({"error": {"message": f"bad key {SECRET}"}}, 401)) as one:
            _, out, _ = command("measure", one.url, "--engine", "llama.cpp", *FEW, "-o", "s.jsonl")
            assert one.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
        assert "401: the server does not accept the credentials: bad key ***" in out
        assert SECRET not in Path("s.jsonl").read_text()

    def test_a_token_from_a_variable_of_ones_own(self, monkeypatch):
        monkeypatch.setenv("MY_KEY", SECRET)
        with serving(Llama()) as one:
            command("measure", one.url, "--token-env", "MY_KEY", *FEW, "-o", "s.jsonl")
            assert {item.headers.get("Authorization") for item in one.asked} == {f"Bearer {SECRET}"}
        assert SECRET not in Path("s.jsonl").read_text()

    def test_a_token_from_netrc(self, tmp_path, monkeypatch):
        file = tmp_path / "netrc"
        file.write_text(f"machine 127.0.0.1 login bearer password {SECRET}\n")
        file.chmod(0o600)
        monkeypatch.setenv("NETRC", str(file))
        with serving(Llama()) as one:
            command("init", "--target", one.url, "-o", "case.yaml")
            assert {item.headers.get("Authorization") for item in one.asked} == {f"Bearer {SECRET}"}

    def test_a_page_instead_of_json(self):
        with serving(lambda _: Reply("<!doctype html><p>log in", kind="text/html")) as one:
            line = self.line("init", "--target", one.url)
        assert "no known engine answers like this server" in line

    def test_a_page_instead_of_an_answer(self):
        fake = Llama()
        page = Reply("<html>gateway</html>", kind="text/html")
        with serving(lambda asked: page if asked.method == "POST" else fake(asked)) as one:
            code, out, err = command("measure", one.url, *FEW, "-o", "s.jsonl")
        assert code == 2
        assert out.splitlines()[-1] == (
            "no request succeeded, so nothing is known: the stream holds what is no JSON: <html>gateway</html>"
        )
        assert "the server of incumbent was lost" in err

    def test_streams_that_are_cut(self):
        fake = Llama()
        cut = Stream([event({"choices": [{"delta": {"content": "a"}}]})], breaks=True)
        with serving(lambda asked: cut if asked.method == "POST" else fake(asked)) as one:
            code, out, _ = command("measure", one.url, *FEW, "-o", "s.jsonl")
        assert code == 2
        assert "no request succeeded, so nothing is known: the answer was cut off after " in out

    def test_a_request_that_is_moved_elsewhere(self):
        fake = Llama()
        with serving(Llama()) as other:
            moved = Reply(status=302, headers={"Location": other.url + "/v1/chat/completions"})
            kept = Reply(status=307, headers={"Location": other.url + "/v1/chat/completions"})
            with serving(lambda asked: moved if asked.method == "POST" else fake(asked)) as one:
                code, _, err = command("measure", one.url, *FEW, "-o", "a.jsonl")
            assert code == 2
            assert (
                f"redirects the request to where it would be another one (name the address behind it: {other.url}"
                in err
            )
            assert other.paths("POST") == []
            with serving(lambda asked: kept if asked.method == "POST" else fake(asked)) as one:
                code, _, _ = command("measure", one.url, "--no-metrics", *FEW, "-o", "b.jsonl")
            assert code == 0
            assert len(other.paths("POST")) == 8

    def test_a_redirect_to_another_scheme(self):
        moved = Reply(status=302, headers={"Location": "https://127.0.0.1:1/"})
        with serving(lambda _: moved) as one:
            assert "redirects to another scheme, https" in self.line("init", "--target", one.url)
