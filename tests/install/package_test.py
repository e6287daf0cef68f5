# SPDX-License-Identifier: Apache-2.0
"""cpack: both packages have everything, and what they hold runs.  Usage: package_test.py BUILD VERSION
The packages of a release are built and tried on a bare Debian by tools/try_package.sh."""
import pathlib
import subprocess
import sys
import tempfile

BUILD, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
WANTED = ["bin/braintrace", "include/braintrace/braintrace.h", "share/doc/braintrace/CITATION.cff",
          "share/man/man1/braintrace.1", "share/man/man1/braintrace-train.1",
          "share/bash-completion/completions/braintrace", "share/zsh/site-functions/_braintrace",
          "share/fish/vendor_completions.d/braintrace.fish"]


def output(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    output("cpack", "-G", "TGZ;DEB", "--config", BUILD / "CPackConfig.cmake", "-B", work)
    (deb,), (tar,) = work.glob("*.deb"), work.glob("*.tar.gz")
    fields = dict(line.split(": ", 1) for line in output("dpkg-deb", "--field", deb).splitlines() if ": " in line)
    assert fields["Package"] == "braintrace" and fields["Version"] == VERSION, fields
    assert "libc6" in fields["Depends"] and "gcc" in fields["Recommends"], fields
    (work / "tar").mkdir()
    output("dpkg-deb", "--extract", deb, work / "deb")
    output("tar", "-xzf", tar, "-C", work / "tar", "--strip-components=1")
    for root in (work / "deb/usr", work / "tar"):
        missing = [w for w in WANTED if not (root / w).is_file()]
        assert not missing, f"{root}: {missing}"
        assert len(list(root.rglob("libbraintrace.*"))) == 1 and list(root.rglob("braintraceConfig.cmake")), root
        assert output(root / "bin/braintrace", "--version").strip() == f"braintrace {VERSION}"
