"""Compose, systemd, Dockerfiles, presets, llama-swap, configurations, and commands that run containers."""

from __future__ import annotations

import pytest

from tests.unit.evidence.deployments.build import at, one, read, words


class TestCompose:
    def test_lists_and_texts_of_words(self) -> None:
        reading = read(
            """
            services:
              a: {image: i, command: "run --x 'a b' $$HOME ${K:-3}"}
              b: {image: i, entrypoint: [prog], command: ["--k", "${K}", "#no"]}
            """,
            "compose.yaml",
        )
        first, second = reading.launches
        assert reading.format == "compose"
        assert words(first) == ["run", "--x", "a b", "$HOME", "<${K:-3}>"]
        assert (first.entrypoint, second.entrypoint) == (False, True)
        assert words(second) == ["prog", "--k", "<${K}>", "#no"]
        assert [at(word) for word in first.command] == ["2:27", "2:31", "2:36", "2:41", "2:48"]

    def test_environment_as_mapping_and_as_list(self) -> None:
        first, second = read(
            """
            services:
              a: {image: i, environment: {A: 1, B: , C: "${C}"}}
              b: {image: i, environment: ["A=1=2", B]}
            """,
            "c.yml",
        ).launches
        assert {name: (word.text, word.rendered) for name, word in first.environment.items()} == {
            "A": ("1", True), "B": ("B", False), "C": ("${C}", False),
        }  # fmt: skip
        assert {name: (word.text, word.rendered) for name, word in second.environment.items()} == {
            "A": ("1=2", True), "B": ("B", False),
        }  # fmt: skip
        assert at(second.environment["A"]) == "3:34"

    def test_services_extend_each_other(self) -> None:
        launch = read(
            """
            services:
              base: {image: i, command: [--a], environment: {A: 1, B: 2}}
              mine: {extends: {service: base}, environment: {B: 3}}
            """,
            "c.yml",
        ).launches[1]
        assert launch.image is not None
        assert (launch.image.text, words(launch)) == ("i", ["--a"])
        assert {name: word.text for name, word in launch.environment.items()} == {"A": "1", "B": "3"}

    def test_what_other_files_add_is_a_gap(self) -> None:
        launch = one(
            """
            services:
              a: {image: i, env_file: .env, extends: {file: base.yml, service: b}}
            """,
            "c.yml",
        )
        assert [(gap.of, gap.why) for gap in launch.gaps] == [
            ("environment", "variables come from an env_file"),
            ("command", "the service extends one of another file"),
            ("environment", "the service extends one of another file"),
        ]

    def test_a_service_that_extends_itself_ends(self) -> None:
        assert words(one("services: {a: {image: i, extends: a, command: [x]}}", "c.yml")) == ["x"]

    def test_a_shell_in_the_command_is_looked_into(self) -> None:
        launch = one('services: {a: {image: i, command: bash -c "prog --a && echo ok"}}', "c.yml")
        assert words(launch) == ["prog", "--a"]

    def test_configs_with_content_are_files(self) -> None:
        launch = one(
            """
            configs: {c: {content: "k: 1"}}
            services:
              a: {image: i, command: [--config, /etc/c.yaml], configs: [{source: c, target: /etc/c.yaml}]}
            """,
            "c.yml",
        )
        assert launch.documents["/etc/c.yaml"].values["k"].text == "1"


class TestSystemd:
    def test_a_unit(self) -> None:
        launch = one(
            """
            [Unit]
            ExecStart=not this
            [Service]
            Environment=A=1 "B=two words" C='3'
            Environment=A=4
            ExecStart=!-/usr/bin/prog --a $A --b ${B} --c %i --d %% \\
              ; a comment
              $$x "q r"
            """,
            "u.service",
        )
        assert words(launch) == [
            "/usr/bin/prog", "--a", "4", "--b", "two words", "--c", "<%i>", "--d", "%", "$x", "q r",
        ]  # fmt: skip
        assert {name: word.text for name, word in launch.environment.items()} == {"A": "4", "B": "two words", "C": "3"}
        assert at(launch.command[2]) == "5:15"
        assert at(launch.command[-1]) == "8:8"

    def test_a_variable_without_braces_is_split(self) -> None:
        assert words(one('[Service]\nEnvironment="A=x y"\nExecStart=/p $A ${A}\n', "u.service")) == [
            "/p",
            "x",
            "y",
            "x y",
        ]

    def test_an_empty_entry_takes_back_what_was_said(self) -> None:
        assert words(one("[Service]\nExecStart=/a\nExecStart=\nExecStart=/b\n", "u.conf")) == ["/b"]

    def test_environment_files_are_gaps(self) -> None:
        launch = one("[Service]\nEnvironmentFile=-/etc/x\nExecStart=/a\n", "u.service")
        assert [(gap.of, gap.why, at(gap.place)) for gap in launch.gaps] == [
            ("environment", "variables come from /etc/x", "2:18")
        ]

    def test_a_container_unit(self) -> None:
        launch = one("[Container]\nImage=img:2\nExec=--a 'b c'\nEnvironment=K=1\n", "u.container")
        assert launch.image is not None
        assert (launch.image.text, launch.entrypoint, words(launch)) == ("img:2", False, ["--a", "b c"])


class TestDockerfile:
    def test_the_last_stage_counts_with_what_it_builds_on(self) -> None:
        launch = one(
            """
            # escape=\\
            ARG V=1.2
            FROM --platform=linux/amd64 base:${V} AS first
            ENV A=1 B="two words"
            ENV C three words
            RUN pip install \\
                # a comment
                "engine==0.5" && echo
            ENTRYPOINT ["prog", "--a"]
            FROM other AS unused
            FROM first
            ENV A=$A$V
            CMD ["--k", "$K"]
            """,
            "Dockerfile",
        )
        assert launch.image is not None
        assert (launch.image.text, at(launch.image)) == ("base:1.2", "3:29")
        assert words(launch) == ["prog", "--a", "--k", "<$K>"]
        assert {name: word.text for name, word in launch.environment.items()} == {
            "A": "11.2", "B": "two words", "C": "three words",
        }  # fmt: skip
        assert {name: word.text for name, word in launch.packages.items()} == {"engine": "0.5"}
        assert launch.entrypoint

    @pytest.mark.parametrize(
        ("lines", "expected", "entrypoint"),
        [
            ('CMD ["--a", "b"]', ["--a", "b"], False),
            ("CMD prog --a $A", ["prog", "--a", "1"], True),
            ("ENTRYPOINT prog $A\nCMD ignored", ["prog", "1"], True),
            ('CMD ["x"]\nENTRYPOINT ["y"]', ["y"], True),
            ("CMD exec prog \\\n  # no\n  --b", ["exec", "prog", "--b"], True),
            ("", [], False),
        ],
    )
    def test_entrypoints_and_commands(self, lines: str, expected: list[str], entrypoint: bool) -> None:
        launch = one(f"FROM i\nENV A=1\n{lines}\n", "x.dockerfile")
        assert (words(launch), launch.entrypoint) == (expected, entrypoint)

    def test_an_argument_without_a_value_is_unknown(self) -> None:
        launch = one("ARG V\nFROM i:$V\n", "Containerfile")
        assert launch.image is not None
        assert (launch.image.text, launch.image.rendered) == ("i:$V", False)

    def test_here_documents_are_scripts_and_files(self) -> None:
        written = "FROM i\nRUN <<EOF\npip install e==1.0\nEOF\nCOPY <<EOF /etc/c.yaml\nk: 1\nEOF\n"
        written += 'CMD ["--config", "/etc/c.yaml"]\n'
        launch = one(written, "Dockerfile.gpu")
        assert launch.packages["e"].text == "1.0"
        assert at(launch.documents["/etc/c.yaml"].values["k"]) == "6:4"

    def test_a_file_that_a_run_writes_can_be_named(self) -> None:
        written = 'FROM i\nRUN cat > /etc/c.yaml <<EOF\nk: 1\nEOF\nCMD ["--config", "/etc/c.yaml"]\n'
        assert one(written, "Dockerfile").documents["/etc/c.yaml"].values["k"].text == "1"


class TestPreset:
    def test_sections_share_what_stands_under_the_star(self) -> None:
        first, second = read(
            """
            version = 1
            [*]
            a = 1
            b = 2
            [one]
            b = 3   ; kept
            # a comment
            [two] ; a comment
            """,
            "m.ini",
        ).launches
        assert (first.name, first.format) == ("preset one", "preset")
        assert {name: (word.text, at(word)) for name, word in first.config.values.items()} == {
            "a": ("1", "3:5"), "b": ("3   ; kept", "6:5"),
        }  # fmt: skip
        assert at(first.config.places["b"]) == "6:1"
        assert {name: word.text for name, word in second.config.values.items()} == {"a": "1", "b": "2"}

    def test_a_line_that_is_neither_is_a_problem(self) -> None:
        reading = read("[a]\nb = 1\nnonsense\n", "m.ini")
        (problem,) = reading.problems
        assert problem.where is not None
        assert (problem.message, problem.where.line) == ("neither a [section] nor 'option = value'", 3)


class TestLlamaSwap:
    def test_macros_are_filled_in(self) -> None:
        launch = one(
            """
            macros:
              base: "server --port ${PORT} ${ctx}"
              ctx: "-c 1"
            models:
              m:
                macros: {ctx: "-c 2"}
                env: ["A=${ctx}"]
                cmd: |
                  ${base} \\
                  # a comment
                  --x 'y z'
            """,
            "swap.yaml",
        )
        assert (launch.name, launch.format) == ("model m", "llama-swap")
        assert words(launch) == ["server", "--port", "<${PORT}>", "-c", "2", "--x", "y z"]
        assert launch.environment["A"].text == "-c 2"
        assert at(launch.command[4]) == "6:23"

    def test_a_macro_that_holds_itself_ends(self) -> None:
        launch = one("macros: {a: 'x ${a}'}\nmodels: {m: {cmd: '${a}'}}", "swap.yaml")
        assert words(launch)[0] == "x"
        assert not launch.command[-1].rendered

    def test_a_container_is_looked_into(self) -> None:
        launch = one("models: {m: {cmd: 'docker run --rm -v /m:/m img --a'}}", "swap.yaml")
        assert launch.image is not None
        assert (launch.image.text, words(launch), launch.entrypoint) == ("img", ["--a"], False)


class TestConfig:
    def test_keys_are_dotted_and_blocks_are_json_too(self) -> None:
        launch = one("a:\n  b: 1\n  c: [1, {d: x}]\ne: text\n", "c.yaml")
        assert (launch.name, launch.format) == ("configuration", "config")
        assert {name: word.text for name, word in launch.config.values.items()} == {
            "a": '{"b": 1, "c": [1, {"d": "x"}]}', "a.b": "1", "a.c": '[1, {"d": "x"}]', "e": "text",
        }  # fmt: skip
        assert at(launch.config.places["a.c"]) == "3:3"

    def test_a_template_line_leaves_the_file_open(self) -> None:
        launch = one("a: 1\n{{ include `x` . }}\nb: {{ .y }}\n", "c.yaml")
        assert [(gap.of, at(gap.place)) for gap in launch.gaps] == [("config", "2:1")]
        assert not launch.config.values["b"].rendered


class TestContainers:
    @pytest.mark.parametrize(
        ("command", "image", "rest", "own"),
        [
            ("docker run img", "img", [], False),
            ("docker run --rm -it -p 1:1 --name=x -e A=1 img --a", "img", ["--a"], False),
            ("sudo -E docker run -d --gpus all img:1 serve", "img:1", ["serve"], False),
            ("podman --log-level debug run --replace img --a", "img", ["--a"], False),
            ("docker run --entrypoint /bin/prog img --a", "img", ["/bin/prog", "--a"], True),
            ("docker container run --network host img", "img", [], False),
            ("nerdctl run --ipc=host img x", "img", ["x"], False),
            ("apptainer exec --nv -B /m:/m img.sif prog --a", "img.sif", ["prog", "--a"], True),
            ("singularity run img.sif --a", "img.sif", ["--a"], False),
            ("docker run $OPTS img --a", "img", ["--a"], False),
        ],
    )
    def test_images_and_arguments(self, command: str, image: str, rest: list[str], own: bool) -> None:
        launch = one(command, "x.sh")
        assert launch.image is not None
        assert (launch.image.text, words(launch), launch.entrypoint) == (image, rest, own)

    def test_only_the_variables_that_are_handed_on_count(self) -> None:
        launch = one("export A=1 B=2\ndocker run -e A -e C=3 --env D --env-file .env img", "x.sh")
        assert {name: (word.text, word.rendered) for name, word in launch.environment.items()} == {
            "A": ("1", True), "C": ("3", True), "D": ("D", False),
        }  # fmt: skip
        assert [gap.why for gap in launch.gaps] == ["variables come from .env"]

    def test_a_shell_inside_a_container_is_looked_into(self) -> None:
        launch = one("docker run img bash -c 'prog --a $B'", "x.sh")
        assert launch.image is not None
        assert words(launch) == ["prog", "--a", "<$B>"]

    def test_other_commands_of_a_runtime_are_left_alone(self) -> None:
        assert words(one("docker build -t x .", "x.sh")) == ["docker", "build", "-t", "x", "."]
