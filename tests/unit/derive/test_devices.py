from __future__ import annotations

from typing import Any

import pytest

from specrules.derive import devices
from specrules.derive.methods import Finding, candidate_method
from specrules.model.case import Case

from .build import case, engine


def apart(target: str | None, drafter: str | None, *, on: str = "llama.cpp", **parts: Any) -> Case:
    """A case with target and drafter on two devices."""
    head = {"class": parts.pop("kind", "model"), "device": drafter}
    use = {"id": on, "version": None, **parts.pop("engine", {})}
    return case(target={"device": target}, drafter=head, engine=use, **parts)


class TestBackends:
    @pytest.mark.parametrize(
        ("device", "backend"),
        [
            ("CUDA0", "CUDA"),
            ("ROCm1", "HIP"),
            ("Vulkan0", "Vulkan"),
            ("MTL0", "Metal"),
            ("SYCL2", "SYCL"),
            ("MUSA0", "MUSA"),
            ("RPC0", "RPC"),
            ("CPU", "CPU"),
            ("none", "CPU"),
            ("CUDA0,CUDA1", "CUDA"),
            ("CUDA0, CUDA1", "CUDA"),
            ("CUDA0,ROCm0", None),
            ("CUDA0,RTX 3090", None),
            ("RTX 3090", None),
            ("CUDA", None),
            (None, None),
        ],
    )
    def test_a_devices_name_tells_its_backend(self, device: str | None, backend: str | None) -> None:
        assert devices.backend_of(case(), engine(), device) == backend

    def test_a_stated_backend_goes_first(self) -> None:
        host = {"devices": [{"name": "RTX 3090", "backend": "CUDA"}]}
        assert devices.backend_of(case(host=host), engine(), "RTX 3090") == "CUDA"

    @pytest.mark.parametrize(
        ("stated", "known"),
        [("ROCm", "HIP"), ("rocm", "rocm"), ("hip", "HIP"), ("cuda", "CUDA"), ("MTL", "Metal"), ("TPU", "TPU")],
    )
    def test_backends_are_known_by_their_id_and_by_their_devices(self, stated: str, known: str) -> None:
        assert devices.backend_named(engine(), stated) == known

    def test_a_build_is_told_in_the_words_of_the_engines_file(self) -> None:
        one = case(engine={"backends": ["ROCm", "HIP", "Vulkan"]})
        assert devices.build_backends(one, engine()) == ("HIP", "Vulkan")


class TestRouting:
    def of(self, one: Case, on: str = "llama.cpp") -> Finding:
        return devices.routing(one, engine(on), candidate_method(one, engine(on)))

    def test_one_device_needs_no_routing(self) -> None:
        assert self.of(apart("CUDA0", "CUDA0")).holds is True
        assert self.of(apart("CUDA0", None)).holds is True

    def test_lists_of_devices(self) -> None:
        assert self.of(apart("CUDA0,CUDA1", "CUDA1,CUDA0", kind="eagle-head")).holds is True
        assert self.of(apart("CUDA0,CUDA1", "CUDA1", kind="eagle-head")).holds is None
        assert self.of(apart("CUDA0,CUDA1", "CUDA1")).holds is True
        assert devices.coexistence(apart("CUDA0,ROCm0", "ROCm0"), engine()).note == "one device, one backend"
        assert devices.coexistence(apart("CUDA0,CUDA1", "CUDA2"), engine()).note == "both devices use CUDA"

    def test_a_model_goes_where_the_flag_says(self) -> None:
        found = self.of(apart("CUDA0", "CUDA1"))
        assert found.holds is True
        assert found.note.startswith("--spec-draft-device puts the drafter on CUDA1")
        assert self.of(apart(None, "CUDA1")).holds is True

    @pytest.mark.parametrize(
        ("kind", "method"),
        [
            ("mtp-head", "draft-mtp"),
            ("eagle-head", "draft-eagle3"),
            ("block", "draft-dflash"),
            ("block", "draft-dspark"),
        ],
    )
    def test_whether_a_head_can_leave_the_target_depends_on_its_file(self, kind: str, method: str) -> None:
        found = self.of(apart("CUDA0", "CUDA1", kind=kind, engine={"methods": [method]}))
        assert found.holds is None
        assert found.note.startswith(f"{method} can leave the target's device with some files only")

    def test_without_a_method_nobody_can_tell(self) -> None:
        assert self.of(apart("CUDA0", "CUDA1", kind="block")).holds is None

    def test_on_the_closed_engine_a_drafter_never_sits_on_another_card(self) -> None:
        found = self.of(apart("iGPU", "RTX 3090", on="halogen-flash-server"), "halogen-flash-server")
        assert found == Finding(
            False, "the request's drafter field has no device: a drafter can never sit on another card"
        )

    def test_which_says_nothing_while_the_targets_card_is_not_known(self) -> None:
        found = self.of(apart(None, "RTX 3090", on="halogen-flash-server"), "halogen-flash-server")
        assert found.holds is None

    def test_a_method_that_stays_with_its_target(self) -> None:
        methods = [{**method.model_dump(), "draft_device": "same-device"} for method in engine().methods]
        one = apart("CUDA0", "CUDA1")
        bound = engine(methods=methods)
        found = devices.routing(one, bound, candidate_method(one, bound))
        assert found == Finding(False, "draft-simple drafts on the target's device, not on CUDA1")

    def test_a_routing_claim_that_nobody_verified_is_unknown(self) -> None:
        routes = engine().devices.draft_routing.model_dump()
        for possible in (True, False):
            claim = {**routes, "possible": possible, "known": "unverified"}
            hearsay = engine(devices={**engine().devices.model_dump(), "draft_routing": claim})
            one = apart("CUDA0", "CUDA1")
            assert devices.routing(one, hearsay, candidate_method(one, hearsay)).holds is None


class TestCoexistence:
    def of(self, target: str | None, drafter: str | None, backends: tuple[str, ...] = ()) -> Finding:
        return devices.coexistence(apart(target, drafter, engine={"backends": list(backends)}), engine())

    @pytest.mark.parametrize(
        ("target", "drafter", "holds"),
        [
            ("CUDA0", "Vulkan0", True),
            ("Vulkan0", "CUDA0", True),
            ("ROCm0", "CUDA0", False),
            ("CUDA0", "ROCm0", False),
            ("ROCm0", "Vulkan1", True),
            ("ROCm0", "RPC0", True),
            ("CUDA0", "RPC0", True),
            ("CUDA0", "CPU", True),
            ("CUDA0", "none", True),
            ("CUDA0", "CUDA1", True),
            ("CUDA0", "MUSA0", None),
            ("ROCm0", "MUSA0", None),
            ("MTL0", "Vulkan0", None),
            ("CUDA0", "RTX 3090", None),
            (None, "CUDA0", None),
            ("CUDA0", None, True),
            ("CUDA0", "CUDA0", True),
        ],
    )
    def test_what_one_process_can_serve(self, target: str | None, drafter: str | None, holds: bool | None) -> None:
        assert self.of(target, drafter).holds is holds

    def test_the_way_out_stands_in_the_note(self) -> None:
        assert "--rpc and -devd RPC0" in self.of("ROCm0", "CUDA0").note

    def test_a_binary_sees_the_devices_of_its_own_backends_only(self) -> None:
        found = self.of("CUDA0", "Vulkan0", ("CUDA",))
        assert found == Finding(False, "this binary was built without Vulkan, so it does not see that device")
        assert self.of("CUDA0", "Vulkan0", ("CUDA", "Vulkan")).holds is True

    def test_every_binary_has_the_cpu(self) -> None:
        assert self.of("CUDA0", "CPU", ("CUDA",)).holds is True

    def test_a_build_with_rocm_sees_rocm_devices(self) -> None:
        found = self.of("ROCm0", "Vulkan0", ("ROCm", "Vulkan"))
        assert found.holds is True
        stated = apart(
            "iGPU",
            "RTX 3090",
            engine={"backends": ["ROCm", "CUDA"]},
            host={"devices": [{"name": "iGPU", "backend": "ROCm"}, {"name": "RTX 3090", "backend": "CUDA"}]},
        )
        assert devices.coexistence(stated, engine()).holds is False

    @pytest.mark.parametrize(("version", "holds"), [("b11000", True), ("b10999", None), (None, None)])
    def test_a_claim_counts_for_its_versions_only(self, version: str | None, holds: bool | None) -> None:
        claim = {
            "backends": ["CUDA", "Vulkan"],
            "status": "works",
            "effect": "It does.",
            "known": "docs-build",
            "since": "b11000",
        }
        newer = engine(devices={**engine().devices.model_dump(), "coexistence": [claim]})
        assert devices.coexistence(apart("CUDA0", "Vulkan0", engine={"version": version}), newer).holds is holds


class TestRowsAndMemory:
    @pytest.mark.parametrize(
        ("device", "rows"), [("CUDA0", 8), ("ROCm0", 8), ("Vulkan0", 8), ("MTL0", None), ("CPU", None), (None, None)]
    )
    def test_the_width_from_which_a_pass_gets_slower(self, device: str | None, rows: int | None) -> None:
        assert devices.row_limit(case(target={"device": device}), engine()) == rows

    def test_a_backend_by_another_name_has_the_same_limit(self) -> None:
        host = {"devices": [{"name": "ROCm0", "backend": "ROCm"}]}
        assert devices.row_limit(case(target={"device": "ROCm0"}, host=host), engine()) == 8

    def test_a_limit_of_every_backend_needs_no_device(self) -> None:
        assert devices.row_limit(case(), engine("halogen-flash-server")) == 8

    def test_free_memory_is_that_of_the_drafters_device_or_the_targets(self) -> None:
        host = {"devices": [{"name": "CUDA0", "free_gib": 2}, {"name": "CUDA1", "free_gib": 20}, {"name": "CUDA2"}]}
        assert devices.free_memory(apart("CUDA0", "CUDA1", host=host)) == 20
        assert devices.free_memory(apart("CUDA0", None, host=host)) == 2
        assert devices.free_memory(apart("CUDA0", "CUDA2", host=host)) is None
        assert devices.free_memory(apart("CUDA0", "CUDA3", host=host)) is None
