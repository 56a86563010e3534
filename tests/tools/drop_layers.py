"""Copy a GGUF model without some of its layers: a drafter that shares the tokenizer and is right rather often.

    python tests/tools/drop_layers.py SOURCE DESTINATION LAYER[,LAYER...]

Everything but the dropped blocks and their count stays byte for byte as it was. A model that lacks one middle layer
still predicts most of the target's tokens, but costs nearly as much: drafting with it cannot pay, and a verdict has to
see that.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gguf import GGUFReader, GGUFValueType, GGUFWriter


def drop_layers(source: Path, destination: Path, dropped: set[int]) -> int:
    """Write a copy without the `dropped` layers; return how many are left. ValueError for a layer that is not there."""
    reader = GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    count_key = f"{architecture}.block_count"
    count = int(reader.fields[count_key].contents())
    if not dropped < set(range(count)):
        raise ValueError(f"layers to drop must be some of 0..{count - 1}, got {sorted(dropped)}")
    kept = [layer for layer in range(count) if layer not in dropped]
    renumbered = {old: new for new, old in enumerate(kept)}
    writer = GGUFWriter(destination, architecture)
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        value = len(kept) if key == count_key else field.contents()
        if field.types[0] == GGUFValueType.ARRAY:
            writer.add_key_value(key, value, field.types[0], sub_type=field.types[-1])
        else:
            writer.add_key_value(key, value, field.types[0])
    for tensor in reader.tensors:
        name = tensor.name
        if name.startswith("blk."):
            _, layer, rest = name.split(".", 2)
            if int(layer) in dropped:
                continue
            name = f"blk.{renumbered[int(layer)]}.{rest}"
        writer.add_tensor(name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return len(kept)


def main(arguments: list[str]) -> int:
    """Run the command line."""
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)  # noqa: T201
        return 2
    source, destination, layers = arguments
    left = drop_layers(Path(source), Path(destination), {int(layer) for layer in layers.split(",")})
    print(f"{destination}: {left} layers")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
