# SPDX-License-Identifier: Apache-2.0
"""Standard descriptors that are closed, full, or whose reader has gone: nothing lands in the wrong file, nothing crashes,
the work is done."""
import subprocess

from support import *

CONFIG = write_config("run")


def train(name, **options):
    o = run("train", CONFIG, "--set", f"output={name}", **options)
    for line in (FOLDER / name / "metrics.jsonl").read_text().splitlines():
        assert json.loads(line)["kind"] in ("step", "validation"), line
    assert (FOLDER / name / "checkpoints/step-00000010.safetensors").exists(), o
    return o.status, (FOLDER / name / "metrics.jsonl").read_text().count("\n")


# What is said never lands in a file of the run; a summary that cannot be written is an error, after the run is saved.
whole = train("whole")
assert whole == (0, 12), whole
assert train("no-stderr", closed=[2]) == whole
assert train("no-stdin", closed=[0]) == whole
assert train("no-stdout", closed=[1]) == (2, 12)
assert train("neither", closed=[1, 2]) == (2, 12)
assert train("none", closed=[0, 1, 2]) == (2, 12)
with full() as place:
    assert train("full-stderr", stderr=place) == whole
    assert train("full-stdout", stdout=place) == (2, 12)
    assert train("both-full", stdout=place, stderr=place) == (2, 12)
    # Errors of every command end with their own status, whether or not anybody can be told.
    for where in ({}, {"stderr": place}, {"stdout": place, "stderr": place}, {"closed": [2]}, {"closed": [1, 2]}):
        for args in (["train", "none.json"], ["nonsense"], ["graph", "nothing"], ["stream", "nothing"], ["eval", "none"]):
            expect(args, 2, **where)
    for args in (["--help"], ["info"], ["tasks"], ["info", "--algorithms"]):
        expect(args, 2, err="error:", stdout=place)
        expect(args, 2, err="error:", closed=[1])


# A reader that goes away, as head does, ends neither the run nor its words elsewhere.
def with_lost_reader(*names):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return train("lost-" + "-".join(names), **{n: writer for n in names})
    finally:
        os.close(writer)


assert with_lost_reader("stderr") == with_lost_reader("stdout") == with_lost_reader("stdout", "stderr") == whole
