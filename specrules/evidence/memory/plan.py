"""What every layer of a model keeps: rows per token, states per slot, nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from specrules.economics.memory import Cache, State
from specrules.evidence.gguf import Header
from specrules.evidence.memory.keys import MAX_LAYERS, CannotSizeError, Keys
from specrules.evidence.memory.windows import window_sizes
from specrules.expressions import Expression, Type, compile_expression, is_unknown
from specrules.model.memory import Architecture, Indexer, MemoryFile


@dataclass(frozen=True, slots=True)
class Plan:
    """The layers of a model. `trunk` serves without drafting, `heads` are its prediction layers where they draft.

    `layers` counts the trunk, `all_layers` the prediction layers as well.
    """

    architecture: str
    layers: int
    all_layers: int
    trunk: tuple[Cache, ...]
    heads: tuple[Cache, ...]
    states: tuple[State, ...] = ()
    uses_target_cache: bool = False
    flash_attention: bool = True
    embedding_twice: bool = False
    open_buffers: bool = False

    @property
    def snapshots(self) -> bool:
        """Tell whether drafting with trained heads multiplies states of this model."""
        return any(state.snapshots for state in self.states)


@dataclass(frozen=True, slots=True)
class _Widths:
    """Elements per token and layer."""

    keys: tuple[int, ...]
    values: tuple[int, ...]
    heads: tuple[int, ...]


def plan(header: Header, rules: MemoryFile) -> Plan:
    """Return what the layers of a model keep.

    Raises CannotSizeError for an architecture that is not described, a header that lacks a key, and one with a key that
    the description does not cover.
    """
    keys = Keys(header, rules.defaults)
    entry = rules.architecture(keys.architecture)
    if entry is None:
        raise CannotSizeError(f"nobody has described what {keys.architecture!r} models keep in memory")
    for key in entry.unsettled_by:
        if keys.has(key):
            raise CannotSizeError(f"what {keys.architecture!r} models with {key} keep in memory is not described")
    layers, every = layer_counts(keys, loops=entry.loops)
    if not entry.cached:
        return Plan(keys.architecture, layers, every, (), (), (), entry.uses_target_cache)
    recurrent = _recurrent(keys, entry, layers, every)
    widths = _widths(keys, entry, every)
    windows = window_sizes(keys, entry, layers, every, recurrent)
    stored = _stored(keys, entry, every)
    widest = max(widths.values)
    rows = [
        Cache(layer, widths.keys[layer], widths.values[layer], widest, windows[layer], 1, entry.split_slots)
        for layer in range(stored)
        if widths.keys[layer] or widths.values[layer]
    ]
    attends = _attending(keys, entry, recurrent, every)
    trunk = [row for row in rows if attends[row.layer] and (row.layer < layers or entry.heads_in_trunk or not layers)]
    heads = [row for row in rows if row.layer >= layers]
    if entry.indexer is not None:
        trunk += _index_rows(keys, entry.indexer, layers, widths, attends)
    states = _states(keys, entry, rules, recurrent)
    if entry.compressed:
        more, folding = _compressed(keys, entry, rules, layers)
        trunk += more
        states += folding
    return Plan(
        keys.architecture,
        layers,
        every,
        tuple(trunk),
        tuple(heads),
        tuple(states),
        flash_attention=entry.flash_attention,
        embedding_twice=entry.embedding_twice,
        open_buffers=entry.open_buffers,
    )


def layer_counts(keys: Keys, *, loops: bool = False) -> tuple[int, int]:
    """Return the layers of the trunk, and those of trunk and prediction layers together."""
    every = keys.needed("block_count") * (max(keys.number("num_loops") or 1, 1) if loops else 1)
    ahead = keys.number("nextn_predict_layers") or 0
    if not 0 < every <= MAX_LAYERS or ahead > every:
        raise CannotSizeError(f"no model has {every} layers of which {ahead} predict ahead")
    return every - ahead, every


def full_rows(keys: Keys) -> tuple[Cache, ...]:
    """Return plain keys and values in every layer, whatever the architecture: as much as attention can take."""
    _, every = layer_counts(keys)
    widths = _widths(keys, None, every)
    widest = max(widths.values)
    return tuple(Cache(layer, widths.keys[layer], widths.values[layer], widest) for layer in range(every))


def unlisted_keys(keys: Keys, rules: MemoryFile) -> tuple[str, ...]:
    """Return the keys of a header of which it is not known that they leave caches alone."""
    return tuple(name for name in keys.names if not any(fnmatchcase(name, plain) for plain in rules.plain_keys))


def _widths(keys: Keys, entry: Architecture | None, every: int) -> _Widths:
    heads = keys.per_layer("attention.head_count", every) or (0,) * every
    kv_heads = keys.per_layer("attention.head_count_kv", every) or heads
    first = heads[0]
    own = keys.needed("embedding_length") // first if first else 0
    key = (keys.number("attention.key_length") or own) if first else 0
    value = (keys.number("attention.value_length") or own) if first else 0
    windowed = entry is not None and entry.window is not None
    key_window = keys.number("attention.key_length_swa") if windowed else None
    value_window = keys.number("attention.value_length_swa") if windowed else None
    latent = entry is not None and _latent(keys, entry)
    flags = _swa_flags(keys, entry, every) if key_window is not None or value_window is not None else (False,) * every
    wide = [(key_window or key) if flag else key for flag in flags]
    tall = [0 if latent else (value_window or value) if flag else value for flag in flags]
    return _Widths(
        tuple(width * count for width, count in zip(wide, kv_heads, strict=True)),
        tuple(width * count for width, count in zip(tall, kv_heads, strict=True)),
        kv_heads,
    )


def _swa_flags(keys: Keys, entry: Architecture | None, every: int) -> tuple[bool, ...]:
    if entry is None:
        return (False,) * every
    layers, _ = layer_counts(keys, loops=entry.loops)
    return tuple(size is not None for size in window_sizes(keys, entry, layers, every, (False,) * every))


def _latent(keys: Keys, entry: Architecture) -> bool:
    if entry.latent == "by-keys":
        return keys.has("attention.key_length_mla") and keys.has("attention.value_length_mla")
    return entry.latent == "always"


def _stored(keys: Keys, entry: Architecture, every: int) -> int:
    """How many layers from the start have rows of their own."""
    if entry.cached_layers is not None:
        return min(entry.cached_layers, every)
    if not entry.shared_key:
        return every
    shared = keys.number("attention.shared_kv_layers") or 0
    if shared > every:
        raise CannotSizeError(f"{shared} of {every} layers are said to share their rows")
    return every - shared


def _recurrent(keys: Keys, entry: Architecture, layers: int, every: int) -> tuple[bool, ...]:
    how = entry.recurrent
    if how is None:
        return (False,) * every
    if how.layers == "all":
        return tuple(layer < layers for layer in range(every))
    if how.layers == "interval":
        given = keys.per_layer("attention.recurrent_layers", every)
        if given is not None:
            return tuple(bool(flag) for flag in given)
        step = keys.number("full_attention_interval") or how.interval or 1
        return tuple(layer < layers and (layer + 1) % step != 0 for layer in range(every))
    kv_heads = keys.per_layer("attention.head_count_kv", every) or keys.per_layer("attention.head_count", every)
    if kv_heads is None:
        raise CannotSizeError("the header lacks the heads of each layer, which tell recurrent layers from others")
    none = [layer < layers and not count for layer, count in enumerate(kv_heads)]
    if how.layers == "without-kv-heads-and-feed-forward":
        inner = keys.per_layer("feed_forward_length", every) or (0,) * every
        return tuple(flag and not width for flag, width in zip(none, inner, strict=True))
    return tuple(none)


def _attending(keys: Keys, entry: Architecture, recurrent: tuple[bool, ...], every: int) -> tuple[bool, ...]:
    how = entry.recurrent
    if how is None or how.attends_too:
        return (True,) * every
    if how.layers == "without-kv-heads-and-feed-forward":
        inner = keys.per_layer("feed_forward_length", every) or (0,) * every
        return tuple(not flag and not width for flag, width in zip(recurrent, inner, strict=True))
    return tuple(not flag for flag in recurrent)


def _index_rows(keys: Keys, indexer: Indexer, layers: int, widths: _Widths, attends: tuple[bool, ...]) -> list[Cache]:
    if indexer.optional and not keys.has("attention.indexer.top_k"):
        return []
    width = keys.needed("attention.indexer.key_length") * indexer.rows
    if indexer.layers == "full-types":
        types = keys.per_layer("attention.indexer.types", layers)
        if types is None:
            below = indexer.full_below_context
            if below is None or keys.needed("context_length") >= below:
                raise CannotSizeError("the header does not say which layers have an indexer of their own")
        chosen = (True,) * layers if types is None else tuple(bool(flag) for flag in types)
    elif indexer.layers == "after-leading-dense":
        dense = keys.number("leading_dense_block_count") or 0
        chosen = tuple(layer >= dense for layer in range(layers))
    else:
        chosen = (True,) * layers
    value = [
        wide // max(count, 1) if indexer.values else 0 for wide, count in zip(widths.values, widths.heads, strict=True)
    ]
    return [
        Cache(layer, width, value[layer], max(value)) for layer in range(layers) if chosen[layer] and attends[layer]
    ]


def _states(keys: Keys, entry: Architecture, rules: MemoryFile, recurrent: tuple[bool, ...]) -> list[State]:
    how = entry.recurrent
    if how is None:
        return []
    elements = evaluated(how.elements, keys, rules)
    return [State(layer, elements, how.snapshots) for layer, flag in enumerate(recurrent) if flag]


def _compressed(keys: Keys, entry: Architecture, rules: MemoryFile, layers: int) -> tuple[list[Cache], list[State]]:
    ratios = keys.per_layer("attention.compress_ratios", layer_counts(keys)[1])
    if ratios is None:
        raise CannotSizeError(f"the header lacks {keys.architecture}.attention.compress_ratios")
    rows, states = [], []
    for kind in entry.compressed:
        width, state = evaluated(kind.width, keys, rules), evaluated(kind.state, keys, rules)
        for layer in range(layers):
            if ratios[layer] == kind.ratio:
                rows.append(Cache(layer, width, 0, 0, None, kind.ratio, entry.split_slots))
                states.append(State(layer, state, True))
    return rows, states


def evaluated(text: str, keys: Keys, rules: MemoryFile) -> int:
    """Return the value of an expression over keys. Raises CannotSizeError that names the keys that are missing."""
    expression = _compiled(text, rules.numbers)
    values: Mapping[str, object] = {name: keys.number(name) for name in expression.names}
    result = expression.evaluate(values)
    if is_unknown(result):
        missing = ", ".join(f"{keys.architecture}.{name}" for name in sorted(result.missing))
        raise CannotSizeError(f"the header lacks {missing}" if missing else "; ".join(result.reasons))
    number = float(result)  # type: ignore[arg-type]
    if number < 0 or number != int(number):
        raise CannotSizeError(f"{text} gives {number:g}, which is no count")
    return int(number)


@lru_cache(maxsize=128)
def _compiled(text: str, names: tuple[str, ...]) -> Expression:
    return compile_expression(text, dict.fromkeys(names, Type.NUMBER), expect=Type.NUMBER)
