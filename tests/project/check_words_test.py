# SPDX-License-Identifier: Apache-2.0
"""Negative controls of tools/check_words.py: each phrase and spelling must be found, plain words must pass."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).parents[2] / "tools/check_words.py"


def check(text, name="docs/page.md"):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
        run = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
        return run.returncode, run.stdout


PLAIN = """A weight that is not a parameter fails with an error; there is no other. The recent loss is 0.12, the initial weights are
normalized, neighbors share a color, centered and labeled. 87.5% are right. It is no longer than four hours, our analysis shows.
"""
assert check(PLAIN) == (0, "the words are plain\n"), check(PLAIN)
BAD = [
    "dot is no trainable operation", "loss 0.1 of late", "the first weights", "other types are refused", "below what is asked",
    "credit behind the window", "unbiased at any price", "gradient of the present step", "a time that cannot be meant",
    "99 % are right.", "behaviour", "Colours", "normalised", "initialiser", "num_neighbours", "the centre", "labelled", "whilst",
    "a grey box", "Optimisers", "analysed", "100 steps unless given", "known are: a, b", "more memory than there is",
    "reached by way of a sum", "the model answers with f32[3]", "it is of another model", "has another type than x",
    "10 units cannot be cut into 3 groups", "Tried and taken back: one launch",
    "a rule of one's own", "what simple answers reach", "made-up recordings", "used as they stand", "the value of the turn before",
    "names with commas between", "sequences of differing length", "frames weighed by a window", "One size may be -1: it is what remains",
    "Throws UserError naming the field", "the nudged weights", "no better than a guess", "D-RTRL in these letters"]
status, said = check("\n".join(BAD), "braintrace/viz/words.h")
for number, text in enumerate(BAD, 1):
    assert f"braintrace/viz/words.h:{number}: " in said, (text, said)
assert status == 1
BAD = ["kept for the way back", "created anew", "the hook hears of it", "a smooth stand-in", "replays stand in for it", "whoever asks",
       "until somebody reads it", "the stream goes on", "known are a and b", "records as they come", "files that were passed over",
       "its losses beside ours", "a program of yours", "inside of a loop", "programs run side by side", "names are taken by `advise`"]
status, said = check("\n".join(BAD))
for number, text in enumerate(BAD, 1):
    assert f"docs/page.md:{number}: " in said, (text, said)
assert status == 1
