"""What stands beside a deployment: the names of its checkpoints, and a case that gives it its numbers."""

from __future__ import annotations

from specrules.derive.deployed.names import made_for
from specrules.model.case import Case
from specrules.model.deployment import Deployment

Values = dict[str, object]


def beside(deployment: Deployment, values: Values, base: Case | None) -> Values:
    """What the names of the two checkpoints say, and whether a case beside the deployment is about it."""
    head, target = (_name(deployment, "drafter"), _name(deployment, "target"))
    fits, note = _head_fits(values, head, target)
    found: Values = {
        "deployment.drafter_name": head,
        "deployment.target_name": target,
        "deployment.head_fits": fits,
        "deployment.head_note": note,
        "deployment.has_case": base is not None,
    }
    if base is None:
        return found
    wrong = _misfits(values, base)
    return found | {"deployment.case_misfits": float(len(wrong)), "deployment.case_note": "; ".join(wrong) or None}


def _head_fits(values: Values, head: str | None, target: str | None) -> tuple[bool | None, str | None]:
    """Whether a head was made for the target: a case that states both checkpoints stands above what names say."""
    trained, served = values.get("drafter.trained_for"), values.get("target.checkpoint")
    if trained is not None and served is not None:
        return trained == served, f"it was trained for {trained}, and {served} is served"
    told = None if head is None or target is None else made_for(head, target)
    return told, None if told is None else f"their names {'agree' if told else 'contradict each other'}"


def _name(deployment: Deployment, of: str) -> str | None:
    """What a checkpoint is called: its file or repository as the settings name it."""
    names = {fact.name: fact.value for fact in deployment.facts}
    found = names.get(f"{of}.name") or names.get(f"{of}.file")
    return found if isinstance(found, str) else None


def _misfits(values: Values, base: Case) -> list[str]:
    """What a case says otherwise than the deployment that it stands beside."""
    wrong = []
    if base.engine.id != values["engine.id"]:
        wrong.append(f"the case is about {base.engine.id}")
    methods = values.get("engine.methods")
    if base.engine.methods and isinstance(methods, tuple) and set(base.engine.methods) != set(methods):
        wrong.append(
            f"the case switches {', '.join(base.engine.methods)} on, not {', '.join(map(str, methods)) or 'none'}"
        )
    length = values.get("deployment.draft_length")
    if base.engine.draft_length is not None and isinstance(length, float) and base.engine.draft_length != length:
        wrong.append(f"the case drafts {base.engine.draft_length} tokens, not {length:g}")
    version = values.get("deployment.version")
    if base.engine.version is not None and version is not None and base.engine.version != version:
        wrong.append(f"the case is about version {base.engine.version}, not {version}")
    return wrong
