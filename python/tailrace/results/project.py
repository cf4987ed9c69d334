# SPDX-License-Identifier: Apache-2.0
"""From what was decoded to the Record that is kept; what many of them share is held once."""

from __future__ import annotations

import math
import re
from array import array
from pathlib import Path
from typing import Any

import msgspec

from tailrace.results.model import Arm, Json, Record, Settings, keys_without_effect, lasting_context
from tailrace.results.raw import RawLimit, RawPhase, RawRecord, RawWriters

# Numbers of jobs, lists of nodes and the like: other in every run. What Tailrace itself takes from
# the environment stands in the configuration.
_passing_variables = re.compile(
    r"SLURM_(JOB_?ID|JOB_NODELIST|STEP_ID)|PBS_JOBID|LSB_(JOBID|MCPU_HOSTS)|TAILRACE_.*"
    r"|OMPI_MCA_(orte|ess|plm|shmem|initial|pmix|mpi_yield|state|schizo|routed|prte)(_.*)?"
    r"|PMIX_MCA_.*|PRTE_MCA_.*"
)
_no_limit = array("d")
_texts_of_context = ("striping", "environment")


class Projector:
    """Makes Records of one reading."""

    def __init__(self) -> None:
        self._settings: dict[tuple[Any, ...], Settings] = {}
        self._equal_settings: dict[bytes, Settings] = {}
        self._names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._texts: dict[str, str] = {}
        self._filenames: dict[bytes, str] = {}

    def record(self, raw: RawRecord, source: Path, line: int, offset: int, length: int) -> Record:
        """Raises msgspec.MsgspecError where a map is none."""
        context, elapsed, rates = raw.context, raw.elapsed, raw.rates
        names, seconds = self._phases(raw.phases)
        limit_names, limits = self._limits(raw.limit)
        ranks_that_wrote, calls, done, smallest, largest = _writers(raw.writers)
        return Record(
            source=source, line=line, offset=offset, length=length,
            settings=self._settings_of(raw),
            run_id=self._shared(raw.run_id),
            repetition=raw.repetition,
            warm_up=raw.warm_up,
            status=self._shared(raw.status),
            error=f"{raw.error.code}: {raw.error.message}" if raw.error else None,
            started=raw.started,
            arm=(
                Arm(*(getattr(raw.arm, name) for name in raw.arm.__struct_fields__))
                if raw.arm
                else None
            ),
            filename=self._filenames[bytes(raw.configuration)],
            load_1m=context.load_1m,
            dirty_bytes=context.dirty_bytes,
            page_cache_bytes=context.page_cache_bytes,
            memory_available_bytes=context.memory_available_bytes,
            file_system_free_bytes=context.file_system_free_bytes,
            logical_bytes=raw.bytes.logical,
            stored_bytes=raw.bytes.stored,
            allocated_bytes=raw.bytes.allocated,
            durable_s=elapsed.durable_s,
            write_s=elapsed.write_s,
            aggregate_s=elapsed.aggregate_s,
            durable_bytes_per_s=rates.durable_bytes_per_s,
            write_bytes_per_s=rates.write_bytes_per_s,
            aggregate_bytes_per_s=rates.aggregate_bytes_per_s,
            phase_names=names,
            phase_s=seconds,
            limit_names=limit_names,
            limit_bytes_per_s=limits,
            ranks_that_wrote=ranks_that_wrote,
            calls=calls, bytes_done=done, smallest_bytes=smallest, largest_bytes=largest,
            steps=sum([step.steps for step in raw.steps]),
            collective_actual=raw.transfers.collective_actual,
            verification=self._shared(raw.verification.status),
            peak_above_init_bytes=raw.memory.peak_above_init_bytes_max,
            read_bytes_per_s=raw.read_back.rate_bytes_per_s if raw.read_back else None,
            stall_s=raw.serving.stall_s.max if raw.serving else None,
        )  # fmt: skip

    def _settings_of(self, raw: RawRecord) -> Settings:
        """One object for equal settings, so that Records can be grouped by it."""
        context, configuration = raw.context, bytes(raw.configuration)
        written_the_same = (
            raw.kernel, configuration, bytes(raw.mpi_io.hints_requested),
            context.host, context.os_kernel, context.cores, context.memory_bytes,
            context.file_system, context.mount_point, context.mount_options,
            context.file_system_source, context.file_system_total_bytes,
            bytes(context.striping), bytes(context.environment), context.mpi_library,
            context.mpi_io, context.hdf5_version, context.compiler, context.tailrace_version,
            context.commit, context.ranks, context.nodes, context.ranks_per_node,
        )  # fmt: skip
        found = self._settings.get(written_the_same)
        if found is None:
            found = self._settings[written_the_same] = self._parsed_settings(raw, configuration)
        return found

    def _parsed_settings(self, raw: RawRecord, text: bytes) -> Settings:
        configuration = _map(text)
        self._filenames[text] = str(configuration.get("filename", ""))
        context = {
            key: _map(getattr(raw.context, key))
            if key in _texts_of_context
            else getattr(raw.context, key)
            for key in lasting_context
        }
        environment = _map(raw.context.environment)
        made = Settings(
            kernel=raw.kernel,
            configuration={k: v for k, v in configuration.items() if k not in keys_without_effect},
            context=context,
            environment={k: v for k, v in environment.items() if not _passing(k)},
            hints_requested=_map(raw.mpi_io.hints_requested),
        )
        return self._equal_settings.setdefault(msgspec.json.encode(made, order="sorted"), made)

    def _phases(self, phases: dict[str, RawPhase]) -> tuple[tuple[str, ...], array[float]]:
        names = tuple(sorted(phases))
        seconds = array("d")
        noted = any(phase.path_s is not None for phase in phases.values())
        for name in names:
            phase = phases[name]
            path_s = phase.path_s or 0.0 if noted else phase.mean_s
            seconds.extend((phase.min_s, phase.mean_s, phase.max_s, path_s))
        return self._names.setdefault(names, names), seconds

    def _limits(self, limit: RawLimit | None) -> tuple[tuple[str, ...], array[float]]:
        if limit is None:
            return (), _no_limit
        names = tuple(sorted(limit.arms))
        rates = (limit.arms[name].rate_bytes_per_s for name in names)
        values = array("d", (math.nan if rate is None else rate for rate in rates))
        return self._names.setdefault(names, names), values

    def _shared(self, text: str) -> str:
        return self._texts.setdefault(text, text)


def _map(text: msgspec.Raw | bytes) -> Json:
    return msgspec.json.decode(text, type=dict[str, Any])


def _passing(variable: str) -> bool:
    return _passing_variables.fullmatch(variable) is not None


def _writers(writers: RawWriters) -> tuple[int | None, int, int, int, int]:
    """Ranks that wrote, calls, bytes, the smallest and the largest call."""
    if not writers.measured:
        return None, 0, 0, 0, 0
    calls = done = largest = 0
    smallest = None
    for writer in writers.per_rank:
        calls += writer.calls
        done += writer.bytes_done
        largest = max(largest, writer.largest_bytes)
        if writer.calls and (smallest is None or writer.smallest_bytes < smallest):
            smallest = writer.smallest_bytes
    return writers.ranks_that_wrote, calls, done, smallest or 0, largest
