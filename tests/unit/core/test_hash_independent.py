# SPDX-License-Identifier: Apache-2.0
"""Our hash against the xxhash wheel."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
import xxhash


@pytest.mark.parametrize("size", [0, 1, 3, 16, 17, 128, 129, 240, 241, 1024, 100_003])
def test_hash(core: ModuleType, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    hasher = core.Hash()
    hasher.update(data[: size // 3])
    hasher.update(data[size // 3 :].tobytes())
    assert hasher.hexdigest() == xxhash.xxh3_128(data.tobytes()).hexdigest()


def test_only_contiguous_memory(core: ModuleType) -> None:
    with pytest.raises((BufferError, ValueError)):
        core.Hash().update(np.zeros((4, 4), dtype=np.float32)[:, 1:3])
