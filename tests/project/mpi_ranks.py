# SPDX-License-Identifier: Apache-2.0
"""The processes that mpirun started, for tests that harm them."""
import os
import pathlib
import re

# mpirun waits forever for a lock of PMIx that a rank held when it was killed, unless PMIx keeps its data in each process.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PMIX_MCA_gds": "hash"}


def mpirun(processes, *words):
    """mpirun's part of a command; processes may be more than processors."""
    return ["mpirun", "--oversubscribe", "-n", str(processes), *words]


def rank_of(pid):
    try:
        found = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
        return int(found[1]) if found else None
    except OSError:
        return None


def ranks_below(parent):
    """Process ids by rank among the children of mpirun; none when it has ended."""
    try:
        children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except OSError:
        return {}
    return {rank_of(p): int(p) for p in children if rank_of(p) is not None}
