# SPDX-License-Identifier: Apache-2.0
"""Standard descriptors that are closed, full, or whose reader has gone: nothing lands in the wrong file, nothing crashes,
the work is done.

Guards: all descriptors open, only stdin or stdout closed, one of stdout and stderr full."""
from support import *

CONFIG = write_config("run")


def train(name, **options):
    o = run("train", CONFIG, "--set", f"output={name}", **options)
    for line in (FOLDER / name / "metrics.jsonl").read_text().splitlines():
        assert json.loads(line)["kind"] in ("step", "validation"), line
    assert (FOLDER / name / "checkpoints/step-00000010.safetensors").exists(), o
    return o.status, (FOLDER / name / "metrics.jsonl").read_text().count("\n")


# What is said never lands in a file of the run; a summary that cannot be written is an error, after the run is saved.
for closed, status in ([], 0), ([0], 0), ([2], 0), ([1], 2), ([1, 2], 2), ([0, 1, 2], 2):
    with check(f"train with the descriptors {closed} closed"):
        got = train("closed" + "".join(map(str, closed)), closed=closed)
        assert got == (status, 12), got

with full() as place:
    for name, status in ({"stderr"}, 0), ({"stdout"}, 2), ({"stdout", "stderr"}, 2):
        with check(f"train with {sorted(name)} full"):
            got = train("full-" + "-".join(name), **{n: place for n in name})
            assert got == (status, 12), got
    for name, where in {"as usual": {}, "full stderr": {"stderr": place}, "both full": {"stdout": place, "stderr": place},
                        "closed stderr": {"closed": [2]}, "both closed": {"closed": [1, 2]}}.items():
        with check(f"errors end with their own status, whether or not anybody can be told: {name}"):
            for args in (["train", "none.json"], ["nonsense"], ["graph", "nothing"], ["stream", "nothing"], ["eval", "none"]):
                expect(args, 2, **where)
    with check("an answer that cannot be written is an error"):
        for args in (["--help"], ["info"], ["tasks"], ["info", "--algorithms"]):
            expect(args, 2, err="error:", stdout=place)
            expect(args, 2, err="error:", closed=[1])

for names in (["stderr"], ["stdout"], ["stdout", "stderr"]):
    with check(f"a reader of {names} that goes away, as head does, ends neither the run nor its words elsewhere"):
        reader, writer = os.pipe()
        os.close(reader)
        got = train("lost-" + "-".join(names), **{n: writer for n in names})
        os.close(writer)
        assert got == (0, 12), got
