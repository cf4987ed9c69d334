# SPDX-License-Identifier: Apache-2.0
"""Prints what a repack would change, what it costs, and what was done."""

from __future__ import annotations

from typing import Any

from tailrace.cli.output import Output
from tailrace.repack import Report
from tailrace.repack.layout import Change, shown
from tailrace.repack.price import Price
from tailrace.repack.sample import DatasetPrice
from tailrace.repack.survey import Storage
from tailrace.units import mib, plural, span

_most = 12


def show(output: Output, report: Report) -> None:
    """What would change, and the price; said before the work."""
    for note in report.notes:
        output.note(note)
    if report.nothing_to_do:
        output.line(f"{report.path}: nothing to do: every dataset has the wanted layout already")
        return
    for change in report.changes[:_most]:
        output.line(_changed(change))
    if len(report.changes) > _most:
        output.line(f"  ... and {plural(len(report.changes) - _most, 'dataset')} more")
    for key, value in report.file_settings.items():
        output.line(f"{report.path}: {key} = {value}")
    if report.price is not None:
        _show_price(output, report.price)


def show_done(output: Output, report: Report) -> None:
    output.json(as_json(report))
    if not report.done or report.verified is None or report.bytes_after is None:
        return
    output.line(
        f"copied in {span(report.copy_s)}, compared in {span(report.verify_s)}: "
        f"{plural(report.verified.objects, 'object')}, "
        f"{plural(report.verified.attributes, 'attribute')}, {mib(report.verified.read_bytes)} "
        "of elements"
    )
    output.line(
        f"{report.out}: same content, {mib(report.bytes_after)} (was {mib(report.bytes_before)})",
        "green",
    )


def _show_price(output: Output, price: Price) -> None:
    measured = f"estimates, from a sample of {mib(price.sampled_bytes)}"
    output.line(f"price ({measured}, with the page cache as it is):")
    output.line(
        f"  to repack and compare: {_time(price.repack_s)}, {mib(price.need_bytes)} of free disk"
    )
    shown_ones = [one for one in price.datasets if one.sampled_bytes][:_most]
    for one in shown_ones:
        output.line(f"  {one.path}: a read of {shown(one.piece)}: {_both(one, 1)}")
        output.line(f"    all of it by {plural(one.pieces, 'such read')}: {_both(one, one.pieces)}")
        both = f"{_time(one.read_now_s)} now, {_time(one.read_after_s)} after"
        output.line(f"    all of it in the order of the file: {both}")
    unmeasured = len(price.datasets) - len([one for one in price.datasets if one.sampled_bytes])
    if unmeasured:
        output.line(f"  {plural(unmeasured, 'dataset')} not measured: estimated from the others")
    output.line(f"  {_verdict(price, shown_ones)}")


def _verdict(price: Price, measured: list[DatasetPrice]) -> str:
    passes = price.reads_to_pay()
    if not measured:
        return "the gain of a read is not known"
    if passes is None:
        return "such reads become no faster: it does not pay (--read names other reads)"
    if len(measured) == 1 and measured[0].saved_s > 0:
        reads = -(-price.repack_s // measured[0].saved_s)
        if reads < measured[0].pieces:
            saving = plural(max(1, int(reads)), "such read")
            return f"it pays after {saving}: together they save the time that it takes"
    return f"it pays after all of it was read {plural(passes, 'time')} by such reads"


def _both(one: DatasetPrice, reads: int) -> str:
    return f"{_time(one.piece_now_s * reads)} now, {_time(one.piece_after_s * reads)} after"


def _changed(change: Change) -> str:
    dataset = change.dataset
    assert dataset.shape is not None
    why = f"  [{', '.join(change.why)}]" if change.why else ""
    what = f"{dataset.path}: {shown(dataset.shape)} {dataset.type.describe()[:40]}"
    return f"{what}: {storage_text(dataset.storage)} -> {storage_text(change.new)}{why}"


def storage_text(storage: Storage) -> str:
    """`chunks of 1 x 3000, shuffle, deflate 4`."""
    where = f"chunks of {shown(storage.chunk)}" if storage.chunk else storage.layout
    names = {1: "deflate", 2: "shuffle", 3: "fletcher32"}
    words = []
    for one in storage.filters:
        name = names.get(one.code) or one.name or f"filter {one.code}"
        words.append(f"{name} {one.values[0]}" if one.code == 1 and one.values else name)
    return ", ".join([where, *words])


def _time(seconds: float) -> str:
    """As a person reads it, also where it is short."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else span(seconds)


def as_json(report: Report) -> dict[str, Any]:
    """The documented keys."""
    compared = report.verified
    return {
        "command": "repack",
        "file": str(report.path),
        "output": str(report.out),
        "done": report.done,
        "nothing_to_do": report.nothing_to_do,
        "datasets": [
            {
                "path": change.dataset.path,
                "bytes": change.dataset.bytes,
                "stored_bytes": change.dataset.stored_bytes,
                "from": _storage_json(change.dataset.storage),
                "to": _storage_json(change.new),
                "why": list(change.why),
            }
            for change in report.changes
        ],
        "file_settings": report.file_settings,
        "notes": report.notes,
        "price": None if report.price is None else _price_json(report.price),
        "bytes_before": report.bytes_before,
        "bytes_after": report.bytes_after,
        "copy_s": report.copy_s,
        "verify_s": report.verify_s,
        "elapsed_s": report.elapsed_s,
        "verified": None
        if compared is None
        else {
            "ok": compared.ok,
            "objects": compared.objects,
            "attributes": compared.attributes,
            "read_bytes": compared.read_bytes,
        },
    }


def _storage_json(storage: Storage) -> dict[str, Any]:
    filters = [{"id": one.code, "values": list(one.values)} for one in storage.filters]
    return {"layout": storage.layout, "chunk": list(storage.chunk), "filters": filters}


def _price_json(price: Price) -> dict[str, Any]:
    return {
        "repack_s": price.repack_s,
        "need_bytes": price.need_bytes,
        "sampled_bytes": price.sampled_bytes,
        "measuring_s": price.measuring_s,
        "passes_to_pay": price.reads_to_pay(),
        "datasets": [
            {
                "path": one.path,
                "sampled_bytes": one.sampled_bytes,
                "read_now_s": one.read_now_s,
                "read_after_s": one.read_after_s,
                "stored_after_bytes": one.stored_after,
                "piece": list(one.piece),
                "pieces": one.pieces,
                "piece_now_s": one.piece_now_s,
                "piece_after_s": one.piece_after_s,
                "saved_s_per_read": one.saved_s,
            }
            for one in price.datasets
        ],
    }
