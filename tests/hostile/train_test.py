# SPDX-License-Identifier: Apache-2.0
"""Runs that are interrupted: every way to be asked to stop leaves a checkpoint of the last update.

Guards: INT, TERM and nohup."""
from support import *

ENDLESS = write_config("endless", steps=1000000, checkpoint={"every": 100000, "keep": 2})


def steps_of(name):
    path = FOLDER / name / "metrics.jsonl"
    return path.read_text().count('"kind":"step"') if path.exists() else 0


def endless(name, **options):
    """A run without an end that has made a few updates, none of them saved."""
    p = start("train", ENDLESS, "--set", f"output={name}", stdin=subprocess.DEVNULL, **options)
    within(60, lambda: p.poll() is not None or steps_of(name) > 3, f"{name}: updates")
    assert p.poll() is None, f"{name}: exit {p.returncode}"
    return p


def check_saved(name):
    assert (FOLDER / name / f"checkpoints/step-{steps_of(name):08}.safetensors").exists(), name


def check_goes_on(p, name, updates):
    """The run makes so many more updates, until it is asked to stop; then it saves the last one."""
    before = steps_of(name)
    within(60, lambda: steps_of(name) > before + updates, f"{name}: the run goes on")
    check_stops(p, name)


def check_stops(p, name):
    p.send_signal(signal.SIGTERM)
    assert p.wait(LONGEST) == 128 + signal.SIGTERM
    check_saved(name)


for s in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU, signal.SIGUSR1):
    with check(f"{s.name} leaves a checkpoint of the last update"):
        p = endless(s.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.send_signal(s)
        p.send_signal(s)  # as timeout(1) and shells do
        o = outcome_of(p, s.name)
        assert o.status == 128 + s and "stopped after" in o.err, o
        check_saved(s.name)

with check("under nohup a terminal that closes ends nothing"):
    p = endless("nohup", before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN), stderr=subprocess.DEVNULL)
    p.send_signal(signal.SIGHUP)
    check_goes_on(p, "nohup", updates=2)

with check("stdout and stderr into a pipe whose reader goes away, as `2>&1 | head -1` does: the run goes on"):
    reader, writer = os.pipe()
    p = endless("head", stdout=writer, stderr=writer)
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    check_goes_on(p, "head", updates=20)

with check("a reader who does not read: the run waits for him, but not when it is asked to stop"):
    pipe = BlockedPipe()
    p = start("train", ENDLESS, "--set", "output=blocked", stdin=subprocess.DEVNULL, stdout=pipe.writer, stderr=pipe.writer)
    within(60, lambda: (FOLDER / "blocked/config.json").exists() and waits_in_a_system_call(p), "it waits")
    check_stops(p, "blocked")
    pipe.close()
