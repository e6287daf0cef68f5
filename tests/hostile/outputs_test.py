# SPDX-License-Identifier: Apache-2.0
"""Where a command writes: devices, pipes and links stay what they are, modes stay, and nothing half written is left."""
from support import *


def graph(target, status=0, **options):
    return expect(["graph", MODEL, "--format", "json", "-o", target], status, **options)


null = device("null", 1, 3)  # a private one that swallows everything. The machine's own is never touched.
if null:
    with check("a device is written into, not replaced"):
        for _ in range(2):
            graph(null)
        assert stat.S_ISCHR(os.stat(null).st_mode), "the device has become a file"
    with check("a device without room is an error"):
        graph(device("full", 1, 7), 2, err="No space left")
        assert not list(FOLDER.glob("device-*.tmp"))

with check("a pipe: what is written comes out at the other end"):
    pipe = FOLDER / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    started.append(reader)
    graph(pipe)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode), "the pipe has become a file"
    assert json.loads(reader.communicate(timeout=LONGEST)[0])["schema"]

private = FOLDER / "private.json"
private.write_text("before")
private.chmod(0o600)
link, dangling = FOLDER / "link.json", FOLDER / "dangling.json"
link.symlink_to("private.json")
dangling.symlink_to("new.json")
with check("a file keeps its mode"):
    graph(private)
    assert private.stat().st_mode & 0o777 == 0o600 and json.loads(private.read_text())
with check("a link stays a link, also one to a file that is not there yet"):
    for target in (link, dangling):
        graph(target)
    assert link.is_symlink() and dangling.is_symlink() and (FOLDER / "new.json").exists()
    assert private.stat().st_mode & 0o777 == 0o600 and json.loads(private.read_text())

with check("where nothing can be written, the words say why, and what was there stays"):
    circle = FOLDER / "circle.json"
    circle.symlink_to("circle.json")
    graph(circle, 2, err="form a cycle")
    graph(FOLDER, 2, err="this is a folder")
    graph(FOLDER / "no/such/folder.json", 2, err="No such file")
    assert circle.is_symlink() and not list(FOLDER.glob("*.tmp"))

# The same writer serves every command.
for args in (["fidelity", MODEL, "--steps", "2", "--rules", "D_RTRL", "-o", "out.json"], ["tasks", "copy", "-o", "out.svg"],
             ["stream", MODEL, "--save", "out.safetensors"]):
    with check(f"{args[0]} writes through a link into a file that keeps its mode"):
        target, real = FOLDER / args[-1], FOLDER / f"real-{args[0]}"
        real.write_text("")
        real.chmod(0o640)
        target.symlink_to(real.name)
        expect(args, 0, text='{"x":[1,2],"y":[1]}\n')
        assert target.is_symlink() and real.stat().st_mode & 0o777 == 0o640 and real.stat().st_size > 0
