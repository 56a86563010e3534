"""`specrules fit`: target and drafter on named devices."""

from __future__ import annotations

from pathlib import Path

import click

from specrules.cli import options
from specrules.cli.main import EXIT_COULD_NOT_JUDGE, EXIT_OK


@click.command(name="fit")
@click.argument("target")
@click.argument("drafter", required=False)
@click.option(
    "--context",
    type=click.IntRange(1, 1 << 28),
    required=True,
    metavar="N",
    help="Tokens of all slots together, as -c.",
)
@click.option("--slots", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N", help="As -np.")
@click.option("--unified", is_flag=True, help="Slots share one pool of cells, as -kvu and as llama-server without -np.")
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="NAME=GiB",
    help="Free memory of a device before anything is loaded, or FREE/TOTAL; CPU is the host. Repeatable. "
    "Without one this machine is asked.",
)
@click.option("--list-devices", "listing", metavar="FILE", help="Output of llama-server --list-devices, or - .")
@click.option(
    "--target-device", "target_devices", multiple=True, metavar="NAME", help="Where the target goes. Repeatable."
)
@click.option(
    "--drafter-device", "drafter_devices", multiple=True, metavar="NAME", help="Where the drafter goes. Repeatable."
)
@click.option("--class", "drafter_class", metavar="ID", help="Drafter class, where the drafter's file does not tell.")
@click.option("--own-heads", is_flag=True, help="Prediction layers inside the target draft.")
@click.option("--draft-length", type=click.IntRange(1, 1024), metavar="K", help="Tokens drafted per round.")
@click.option("--cache-type-k", default="f16", show_default=True, metavar="TYPE")
@click.option("--cache-type-v", default="f16", show_default=True, metavar="TYPE")
@click.option(
    "--draft-cache-type-k", default="f16", show_default=True, metavar="TYPE", help="Not taken over from the target."
)
@click.option("--draft-cache-type-v", default="f16", show_default=True, metavar="TYPE")
@click.option("--batch", type=click.IntRange(1, 1 << 16), default=512, show_default=True, metavar="N", help="As -ub.")
@click.option("--swa-full", is_flag=True, help="Layers with a window keep every token.")
@click.option("--no-flash-attention", is_flag=True, help="As -fa off.")
@click.option(
    "--headroom", type=click.FloatRange(0, 1 << 20), metavar="GiB", help="Has to stay free; the policy's otherwise."
)
@click.option("--no-engine", is_flag=True, help="Do not ask llama-fit-params, where there is one.")
@click.option("--format", "format_name", type=click.Choice(["md", "json"]), default="md", show_default=True)
@options.output
@options.layers
def command(
    target: str,
    drafter: str | None,
    context: int,
    slots: int,
    unified: bool,
    devices: tuple[str, ...],
    listing: str | None,
    target_devices: tuple[str, ...],
    drafter_devices: tuple[str, ...],
    drafter_class: str | None,
    own_heads: bool,
    draft_length: int | None,
    cache_type_k: str,
    cache_type_v: str,
    draft_cache_type_k: str,
    draft_cache_type_v: str,
    batch: int,
    swa_full: bool,
    no_flash_attention: bool,
    headroom: float | None,
    no_engine: bool,
    format_name: str,
    output: Path | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> int:
    """Say whether TARGET and DRAFTER fit on the devices as llama.cpp allots memory, and what drafting takes.

    Both are GGUF files or http(s) addresses of such; of a split model any part will do. Weights and caches are exact,
    buffers an interval. Where llama-fit-params is on PATH or in SPECRULES_LLAMA_BIN it is asked as well. Leaves with 0
    where every device was judged, whatever came out, and with 2 where a size or the free memory stays open.

    \b
    Examples:
      specrules fit target.gguf drafter.gguf --context 32768 --slots 4 --device CUDA0=24
      specrules fit target.gguf --own-heads --context 65536 --device CUDA0=22.5/24 --device CPU=64
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.fetching import bar
    from specrules.cli.writing import write
    from specrules.evidence.memory.request import Request
    from specrules.pipeline.fitting import Machine, fit_files
    from specrules.report.fitting import render_fit

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    request = Request(
        context=context,
        slots=slots,
        unified=unified,
        batch=batch,
        cache_types=(cache_type_k, cache_type_v),
        draft_cache_types=(draft_cache_type_k, draft_cache_type_v),
        full_window=swa_full,
        flash_attention=not no_flash_attention,
        draft_length=draft_length,
        drafter_class=drafter_class,
        heads=own_heads,
        target_devices=target_devices,
        drafter_devices=drafter_devices,
    )
    found = fit_files(
        target,
        drafter,
        request,
        Machine(devices, listing),
        catalog=catalog,
        headroom_gib=headroom,
        ask_engine=not no_engine,
        watch=bar,
    )
    write(render_fit(found, format_name, catalog.template_folders), output)
    return EXIT_COULD_NOT_JUDGE if found.state == "unknown" else EXIT_OK
