# SPDX-License-Identifier: Apache-2.0
"""Environment variables whose value means nothing: every command says so, whether or not it would need them."""
from support import *

GOOD = write_config("good", steps=1)
BAD = {"BRAINTRACE_NUM_THREADS": ["0", "-3", "abc", "1.5", "2x", " 2", "257", "9" * 30],
       "BRAINTRACE_PIN": ["2", "-1", "yes"],
       "BRAINTRACE_CACHE_MIB": ["-1", "abc", "1e3", "9" * 30], "BRAINTRACE_CC_SECONDS": ["0", "-1", "abc", "nan", "inf", "1s"],
       "BRAINTRACE_BACKEND": ["abc", "CPU", "cpu "]}

for name, values in BAD.items():
    for value in values:
        with check(f"{name}={value}"):
            for args in (["train", GOOD, "--overwrite"], ["stream", MODEL], ["info"]):
                o = expect(args, 2, err=name, env={name: value})
                assert f"'{value}'" in o.err and ("expected a" in o.err or "known: reference, cpu" in o.err), o

with check("values that mean something, and empty ones"):
    for env in ({name: "" for name in BAD}, {"BRAINTRACE_NUM_THREADS": "2", "BRAINTRACE_CACHE_MIB": "0",
                                             "BRAINTRACE_CC_SECONDS": "0.5", "BRAINTRACE_BACKEND": "reference"}):
        expect(["stream", MODEL], 0, out="prediction", env=env, text='{"x": [1, 2], "y": [1]}\n')
