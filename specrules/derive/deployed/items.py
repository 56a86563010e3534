"""The settings and methods of a deployment, one by one, as rules read them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from specrules.catalog.setting_symbols import flag_type
from specrules.derive.combinations import pair_claim
from specrules.derive.deployed.claims import Settled
from specrules.derive.deployed.removed import is_gone, removed_flag
from specrules.derive.deployed.settings import is_no_number
from specrules.derive.flags import is_misspelt, names
from specrules.derive.methods import applies_to_version, is_verified, method_named
from specrules.errors import did_you_mean
from specrules.expressions import Type
from specrules.model.deployment import Deployment, Setting
from specrules.model.engine import Engine, Method
from specrules.model.flag import Flag
from specrules.model.item import Item

_MOST_MEANT = 3


def setting_items(settled: Settled, deployment: Deployment) -> tuple[Item, ...]:
    """Every setting that the engine's file describes or nearly so. Others are out of its scope and left alone."""
    return tuple(item for setting in deployment.settings if (item := _setting(settled, setting)) is not None)


def _setting(settled: Settled, setting: Setting) -> Item | None:
    engine = settled.engine
    wanted = {setting.written, setting.name} - {None}
    removed = removed_flag(engine, setting)
    flag = next((one for one in engine.flags if wanted & {one.name, one.env, *one.aliases}), None)
    values: dict[str, object] = {
        "setting.name": setting.written,
        "setting.value": None if setting.secret else setting.value,
        "setting.accepted": None,
        "setting.gone": False,
        "setting.takes": None,
        "setting.instead": None,
        "setting.effect": None,
        "setting.since": None,
        "setting.until": None,
    }
    above = setting.written.rpartition(".")[0]
    parent = next((one for one in engine.flags if above and above in {one.name, *one.aliases}), None)
    gone = False if removed is None else is_gone(engine, removed, settled.version)
    if removed is not None and gone is not False:
        values |= {
            "setting.state": "removed",
            "setting.gone": gone,
            "setting.instead": " or ".join(removed.replaced_by) or None,
            "setting.effect": removed.effect,
            "setting.until": removed.until,
        }
    elif flag is not None:
        in_version = applies_to_version(engine, flag, settled.version)
        values |= {
            "setting.state": "other-version" if in_version is False else "current",
            "setting.since": flag.since,
            "setting.until": flag.until,
            "setting.accepted": _accepted(flag, setting),
            "setting.takes": _takes(flag, setting),
        }
    elif removed is not None:
        values |= {"setting.state": "current", "setting.until": removed.until, "setting.accepted": True}
    elif parent is not None and parent.closed:
        values |= {"setting.state": "unlisted", "setting.takes": _keys(engine, parent)}
    else:
        instead = _meant(engine, setting)
        if not instead:
            return None
        values |= {"setting.state": "misspelt", "setting.instead": instead}
    place = setting.value_place if setting.fault else None
    return Item(values, key=setting.written, place=place or setting.place)


def _meant(engine: Engine, setting: Setting) -> str:
    """The names that an unknown one may stand for: those it begins, where flags may be cut short, or one close by."""
    written = setting.written
    prefixes = () if engine.launch is None else engine.launch.abbreviations
    if written.startswith(prefixes or ("\0",)):
        longer = sorted(
            (name for name in names(engine) if name.startswith(written)), key=lambda name: (len(name), name)
        )
        if longer:
            return " or ".join(longer[:_MOST_MEANT])
    spelt = {name: name for name in names(engine)}
    if setting.kind == "config":
        written = written.replace("_", "-")
        spelt = {name.lstrip("-").replace("_", "-"): name.lstrip("-") for name in spelt}
    near = {name: known for name, known in spelt.items() if is_misspelt(written, name)}
    hint = did_you_mean(written, list(near)).removeprefix("did you mean ").strip("'?")
    return near.get(hint, hint)


def _keys(engine: Engine, parent: Flag) -> str | None:
    """The keys that a flag whose value is an object takes."""
    return ", ".join(one.name.rpartition(".")[2] for one in engine.flags if one.name.startswith(f"{parent.name}."))


def _takes(flag: Flag, setting: Setting) -> str | None:
    """What the flag takes, or what is wrong with a value that cannot be read."""
    if setting.fault:
        _, broken, why = setting.fault.partition("not JSON: ")
        return f"JSON ({why})" if broken else setting.fault
    if _has_blanks(flag, setting):
        return "names joined by commas without blanks"
    return ", ".join(flag.values) or ("a number" if flag_type(flag) is Type.NUMBER else None)


def _has_blanks(flag: Flag, setting: Setting) -> bool:
    """Whether a list of known words has blanks around its commas, which makes other words of them."""
    entries = (setting.value or "").split(",") if flag.list_valued and flag.values else []
    return setting.kind == "flag" and any(entry != entry.strip() for entry in entries)


def _accepted(flag: Flag, setting: Setting) -> bool | None:
    """Whether the engine takes the value. None: nobody rendered it."""
    if setting.fault or _has_blanks(flag, setting):
        return False
    if not setting.effective or "engine.methods" in flag.states:
        return True  # what does not count, and methods, which are judged one by one
    if not setting.rendered:
        return None if flag.values else True
    if setting.value is None:
        return not flag.takes_value
    if flag_type(flag) is Type.NUMBER and is_no_number(setting.value):
        return False
    given = setting.value.split(",") if flag.list_valued else [setting.value]
    return not flag.values or all(entry in flag.values for entry in given if entry)


def method_items(settled: Settled) -> tuple[Item, ...]:
    """Every method that is switched on."""
    place = settled.place(("engine.methods",))
    return tuple(Item(_method(settled, name), key=name, place=place) for name in _methods(settled))


def _method(settled: Settled, name: str) -> dict[str, object]:
    engine = settled.engine
    method = method_named(engine, name)
    current = [item.id for item in engine.methods if not item.removed]
    return {
        "method.id": name,
        "method.known": method is not None,
        "method.in_version": None if method is None else _in_version(settled, method),
        "method.lossless": None if method is None else method.lossless,
        "method.lossless_note": None if method is None else " ".join(method.lossless_note.split()) or None,
        "method.since": None if method is None else method.since,
        "method.until": None if method is None else method.until,
        "method.others": ", ".join(current) or None,
        "method.title": None if method is None else method.title,
    }


def _in_version(settled: Settled, method: Method) -> bool | None:
    """A removed method exists in no version but those that it names."""
    applies = applies_to_version(settled.engine, method, settled.version)
    return applies is True and method.until is not None if method.removed else applies


def pair_items(settled: Settled) -> tuple[Item, ...]:
    """Every two methods that are switched on together."""
    return tuple(_pairs(settled))


def _pairs(settled: Settled) -> Iterator[Item]:
    engine, place = settled.engine, settled.place(("engine.methods",))
    for first, second in combinations(_methods(settled), 2):
        claim = pair_claim(engine, (first, second), settled.version)
        values: dict[str, object] = {
            "pair.first": first,
            "pair.second": second,
            "pair.status": None if claim is None else claim.status,
            "pair.works": None
            if claim is None or claim.status == "untested" or not is_verified(engine, claim)
            else claim.status == "works",
            "pair.effect": "Nobody wrote down what they do together."
            if claim is None
            else " ".join(claim.effect.split()),
        }
        yield Item(values, key=f"{first}+{second}", place=place)


def _methods(settled: Settled) -> tuple[str, ...]:
    methods = settled.values.get("engine.methods")
    return tuple(str(name) for name in methods) if isinstance(methods, tuple) else ()


def _number(value: int | None) -> float | None:
    return None if value is None else float(value)
