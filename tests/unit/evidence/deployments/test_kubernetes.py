"""Containers of Kubernetes objects: found wherever they stand, with what ConfigMaps of the same file give them."""

from __future__ import annotations

import pytest

from tests.unit.evidence.deployments.build import at, one, read, words

POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: c
      image: img:1
"""


def pod(lines: str) -> str:
    return POD.lstrip("\n") + "".join(f"      {line}\n" for line in lines.strip("\n").split("\n"))


def test_a_container_without_a_command_gives_arguments_to_its_image() -> None:
    launch = one(pod("args: [--a, '1']"), "k.yaml")
    assert (launch.name, launch.format, launch.entrypoint) == ("Pod/p, container c", "kubernetes", False)
    assert launch.image is not None
    assert (launch.image.text, at(launch.image)) == ("img:1", "7:14")
    assert [(word.text, at(word)) for word in launch.command] == [("--a", "8:14"), ("1", "8:20")]


def test_a_command_and_its_arguments_are_one() -> None:
    launch = one(pod("command: [prog]\nargs:\n  - --a\n  - |\n    two\n    lines\n"), "k.yaml")
    assert launch.entrypoint
    assert words(launch) == ["prog", "--a", "two\nlines\n"]


def test_a_text_in_place_of_a_list_is_one_word() -> None:
    assert words(one(pod("command: prog --a"), "k.yaml")) == ["prog --a"]


def test_a_shell_string_is_looked_into_with_the_variables_of_the_container() -> None:
    launch = one(
        pod('command: ["/bin/bash", "-c"]\nargs: ["exec prog --k $K --m \\"$M\\" --"]\nenv: [{name: K, value: "3"}]'),
        "k.yaml",
    )
    assert words(launch) == ["exec", "prog", "--k", "3", "--m", "<$M>", "--"]
    assert at(launch.command[3]) == "10:31"


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ("$(K)", "3"),
        ("a-$(K)-b", "a-3-b"),
        ("$(NO)", "<$(NO)>"),
        ("$$(K)", "$(K)"),
        ("$(SECRET)", "<$(SECRET)>"),
        ("$(FIELD)", "<$(FIELD)>"),
        ("${K}", "${K}"),
    ],
)
def test_references_are_filled_in_from_the_container(argument: str, word: str) -> None:
    env = (
        "env:\n  - {name: K, value: '3'}\n"
        "  - {name: SECRET, valueFrom: {secretKeyRef: {name: s, key: k}}}\n"
        "  - {name: FIELD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}"
    )
    found = words(one(pod(f"args: ['{argument}']\n{env}"), "k.yaml"))
    assert found == [word]


def test_an_unset_or_empty_variable_is_empty() -> None:
    launch = one(pod("env: [{name: A}, {name: B, value: ''}, {name: C, value: 'x$(B)y'}]"), "k.yaml")
    assert {name: word.text for name, word in launch.environment.items()} == {"A": "", "B": "", "C": "xy"}


def test_variables_come_from_config_maps_of_the_file() -> None:
    maps = """
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
data: {A: one, K: two}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData: {PASS: hush}
---
"""
    env = "envFrom: [{configMapRef: {name: m}, prefix: P_}, {secretRef: {name: s}}, {secretRef: {name: other}}]\n"
    env += "env: [{name: X, valueFrom: {configMapKeyRef: {name: m, key: K}}}]"
    launch = one(maps + pod(env), "k.yaml")
    known = {name: (word.text, word.rendered) for name, word in launch.environment.items()}
    assert known == {"P_A": ("one", True), "P_K": ("two", True), "PASS": ("***", False), "X": ("two", True)}
    assert at(launch.environment["P_A"]) == "4:11"
    assert [(gap.of, gap.why) for gap in launch.gaps] == [
        ("environment", "variables come from a Secret that is not in this file")
    ]


def test_a_file_of_a_config_map_is_read_where_it_is_mounted() -> None:
    maps = """
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
data:
  start.sh: |
    exec prog --config /etc/c/conf.yaml
  conf.yaml: |
    a: {b: 1}
---
"""
    body = "command: [/scripts/start.sh]\nvolumeMounts: [{name: v, mountPath: /scripts}, {name: v, mountPath: /etc/c}]"
    launch = one(maps + pod(body) + "  volumes: [{name: v, configMap: {name: m}}]\n", "k.yaml")
    assert words(launch) == ["exec", "prog", "--config", "/etc/c/conf.yaml"]
    assert at(launch.command[1]) == "6:10"
    document = launch.documents["/etc/c/conf.yaml"]
    assert {name: (word.text, at(word)) for name, word in document.values.items()} == {
        "a": ('{"b": 1}', "8:8"),
        "a.b": ("1", "8:12"),
    }


def test_one_file_may_be_mounted_under_another_name() -> None:
    maps = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {c.yaml: 'x: 1'}\n---\n"
    body = "args: [--config, /etc/app.yaml]\nvolumeMounts: [{name: v, mountPath: /etc/app.yaml, subPath: other.yaml}]"
    volume = "  volumes: [{name: v, configMap: {name: m, items: [{key: c.yaml, path: other.yaml}]}}]\n"
    assert list(one(maps + pod(body) + volume, "k.yaml").documents) == ["/etc/app.yaml"]


@pytest.mark.parametrize(
    "document",
    [
        "apiVersion: apps/v1\nkind: DaemonSet\nspec: {template: {spec: {containers: [CONTAINER]}}}",
        "apiVersion: batch/v1\nkind: CronJob\nspec: {jobTemplate: {template: {spec: {containers: [CONTAINER]}}}}",
        "apiVersion: x/v1\nkind: LeaderWorkerSet\nspec: {leaderWorkerTemplate: {worker: {containers: [CONTAINER]}}}",
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec: {predictor: {model: CONTAINER}}",
        "apiVersion: made.up/v7\nkind: ModelServer\nspec: {deep: [{down: {main: CONTAINER}}]}",
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, spec: {containers: [CONTAINER]}}]",
        '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [CONTAINER]}}',
    ],
)
def test_a_container_is_found_in_any_kind(document: str) -> None:
    container = '{"name": "c", "image": "i", "args": ["--x"]}'
    launch = one(document.replace("CONTAINER", container), "k.json" if document.startswith("{") else "k.yaml")
    assert words(launch) == ["--x"]


def test_probes_and_hooks_are_no_containers() -> None:
    body = "args: [--a]\nlivenessProbe: {exec: {command: [curl, localhost]}}\n"
    body += "lifecycle: {preStop: {exec: {command: [sleep, '5']}}}"
    assert words(one(pod(body), "k.yaml")) == ["--a"]


def test_templates_leave_what_they_touch_unknown() -> None:
    body = """args:
  - --model
  - {{ .Values.model }}
  {{- if .Values.x }}
  - --x
  {{- end }}"""
    reading = read(pod(body), "k.yaml")
    (launch,) = reading.launches
    assert words(launch) == ["--model", "<{{ .Values.model }}>", "--x"]
    assert [(gap.of, at(gap.place)) for gap in launch.gaps] == [("command", "11:9"), ("environment", "11:9")]
    assert [(place.line, place.end_line) for place in launch.doubtful] == [(11, 13)]


def test_equal_files_are_read_for_every_container_that_names_them() -> None:
    reading = read(pod("args: [--a]") + "    - {name: d, image: j, args: [--b]}\n", "k.yaml")
    assert [launch.name for launch in reading.launches] == ["Pod/p, container c", "Pod/p, container d"]
