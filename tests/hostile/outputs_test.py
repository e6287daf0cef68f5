# SPDX-License-Identifier: Apache-2.0
"""Where a command writes: devices, pipes and links stay what they are, modes stay, and nothing half written is left."""
from support import *


def graph(target, status=0, **options):
    return expect(["graph", MODEL, "--format", "json", "-o", target], status, **options)


# A private device that swallows everything: it is written into, not replaced. The machine's own is never touched.
null = device("null", 1, 3)
if null:
    for _ in range(2):
        graph(null)
    assert stat.S_ISCHR(os.stat(null).st_mode), "the device has become a file"
    graph(device("full", 1, 7), 2, err="No space left")
    assert not list(FOLDER.glob("device-*.tmp"))

# A pipe: what is written comes out at the other end.
pipe = FOLDER / "pipe"
os.mkfifo(pipe)
reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
graph(pipe)
assert json.loads(reader.communicate(timeout=LONGEST)[0])["schema"] and stat.S_ISFIFO(os.stat(pipe).st_mode)

# A link stays a link, also one to a file that is not there yet; the file keeps its mode.
private = FOLDER / "private.json"
private.write_text("before")
private.chmod(0o600)
link, dangling = FOLDER / "link.json", FOLDER / "dangling.json"
link.symlink_to("private.json")
dangling.symlink_to("new.json")
for target in (private, link, dangling):
    graph(target)
assert link.is_symlink() and dangling.is_symlink() and (FOLDER / "new.json").exists()
assert private.stat().st_mode & 0o777 == 0o600 and json.loads(private.read_text())

# Where nothing can be written, the words say why, before or after: never a bug, and what was there stays.
circle = FOLDER / "circle.json"
circle.symlink_to("circle.json")
graph(circle, 2, err="lead in a circle")
graph(FOLDER, 2, err="this is a folder")
graph(FOLDER / "no/such/folder.json", 2, err="No such file")
assert not list(FOLDER.glob("*.tmp"))

# The same writer serves every command.
outs = {"fidelity": ["fidelity", MODEL, "--steps", "2", "--rules", "D_RTRL", "-o", "out.json"],
        "tasks": ["tasks", "copy", "-o", "out.svg"],
        "stream": ["stream", MODEL, "--save", "out.safetensors"]}
for name, args in outs.items():
    target = FOLDER / args[-1]
    (FOLDER / "real").write_text("")
    (FOLDER / "real").chmod(0o640)
    target.symlink_to("real")
    expect(args, 0, text='{"x":[1,2],"y":[1]}\n')
    assert target.is_symlink() and (FOLDER / "real").stat().st_mode & 0o777 == 0o640, name
    assert (FOLDER / "real").stat().st_size > 0, name
    target.unlink()
