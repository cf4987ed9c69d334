# SPDX-License-Identifier: Apache-2.0
"""The tables of tailrace-particle take the place of no other file of the run."""

import os
import threading
import time

import pytest
from seism_tool import run, seen
from test_particle import TOOL, check, particle, rows_of

IN_THE_WAY = {  # what would be lost, and where nothing can be written
    "csv_file=./test.h5": "are the same file",
    "csv_file={}/test.h5": "are the same file",
    "csv_file=link": "are the same file",
    "csv_file=hard": "are the same file",
    "csv_file=to_come filename=other.h5": "are the same file",
    "csv_file=test.h5.part": "a name that the run makes beside filename",
    "csv_file=o.csv filename=o.csv.part": "a name that the run makes beside csv_file",
    "csv_file=results.jsonl": 'and results "results.jsonl" are the same file',
    "csv_file=rank_1_test.h5 file_per_proc=yes": 'the file of rank 1 "rank_1_test.h5"',
    "results=rank_1_test.h5 file_per_proc=yes": 'the file of rank 1 "rank_1_test.h5"',
    "read_csv_file=link read_option=full": 'read_csv_file "link" and filename',
    "csv_file=in.cfg --input in.cfg": 'the input file "in.cfg" and csv_file',
    "csv_file=pipe": "it is not a regular file",
    "csv_file=folder": "it is a folder",
    "csv_file=no/o.csv": "the folder no does not exist",
    "csv_file=test.h5/o.csv": "test.h5 is not a folder",
    "csv_file=left": "no run of ours has left it",
}


@pytest.mark.parametrize("words", IN_THE_WAY)
def test_a_table_is_refused_before_it_can_do_harm(tmp_path, words):
    (tmp_path / "test.h5").write_bytes(b"precious")
    (tmp_path / "in.cfg").write_text("DIM_1=4\n")
    (tmp_path / "left.part").write_text("of somebody")
    (tmp_path / "link").symlink_to("test.h5")
    (tmp_path / "to_come").symlink_to("sub/../other.h5")
    os.link(tmp_path / "test.h5", tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    for folder in ("folder", "sub"):
        (tmp_path / folder).mkdir()
    before = seen(tmp_path)
    text = IN_THE_WAY[words]
    arguments = ["dim_1=4", *words.format(tmp_path).split()]
    for ranks, mode in ((2, []), (0, ["--dry-run", "--ranks", "2"])):
        result = run(tmp_path, ranks, *arguments, *mode, program=TOOL)
        assert result.codes == [2] * max(ranks, 1) and text in result.err, result.err
        assert "<command line>" in result.err, result.err
        assert seen(tmp_path) == before and (tmp_path / "hard").read_bytes() == b"precious"


def test_a_table_that_is_a_link_is_replaced_where_it_leads(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/o.csv").write_text("older")
    (tmp_path / "link").symlink_to("sub/o.csv")
    os.link(tmp_path / "sub/o.csv", tmp_path / "second")
    words = ("csv_file=link", "read_csv_file=sub/../sub/o.csv", "read_option=full")
    particle(tmp_path, 2, "dim_1=4", *words)
    rows = rows_of(tmp_path / "sub/o.csv")
    assert [row[1] for row in rows if row[0] == "operation"] == ["write", "read"]
    assert (tmp_path / "link").is_symlink() and seen(tmp_path / "sub") == ["o.csv"]
    assert (tmp_path / "second").read_text() == "older"  # it was not written into


def test_a_table_whose_folder_vanishes_during_the_run(tmp_path):
    (tmp_path / "sub").mkdir()
    words = ["dim_1=4", "timesteps=2", "compute=2 idle", "csv_file=sub/o.csv"]

    def remove():
        while not (tmp_path / "test.h5.part").exists():
            time.sleep(0.01)
        (tmp_path / "sub").rmdir()

    removing = threading.Thread(target=remove)
    removing.start()
    result = run(tmp_path, 2, *words, program=TOOL)
    removing.join()
    assert result.codes == [1, 1], result.err
    assert "sub/o.csv: the run ended well, but this file is not written" in result.err
    check(tmp_path / "test.h5", (8,), 2)
    assert len(result.records) == 1 and result.records[0]["error"] is None
