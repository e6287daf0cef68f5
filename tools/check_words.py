#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a text of the project uses a phrase that readers of English stumble over, or a British spelling.
Usage: check_words.py [ROOT]"""
import functools
import os
import pathlib
import re
import sys

# A text that has the first string is searched for the pattern; the third string is what to write instead.
PHRASES = [
    (" no ", r"(?<!there )\b(is|are) no (?!longer|more|larger|use|such|better)\w+", "is not a …, are not …"),
    ("of late", r"\bof late\b", "recent"),
    ("first weights", r"\bfirst weights\b", "initial weights"),
    ("refused", r"\b(is|are|was|were|be) refused\b", "fails with an error, is not supported, is skipped"),
    ("asked", r"\bwhat is asked\b|\basked at (the|every)\b", "target"),
    ("behind", r"\bbehind (the|a|each|every) (window|step|loop|call|end|last)\b", "after"),
    ("price", r"\bat any price\b", "if you can accept …"),
    ("present step", r"\bpresent step\b", "current step"),
    ("be meant", r"\bcannot be meant\b", "is out of range, expected …"),
    ("unless given", r"\bunless given\b", "default: …, by default"),
    ("known are", r"\bknown are:", "known:"),
    ("than there is", r"\bmore memory than there is\b", "not enough memory"),
    ("by way of", r"\bby way of\b", "through"),
    ("answer", r"\bthe (model|network) answers with\b", "returns"),
    ("other", r"\bis of another \w+|\bhas another \w+ than\b", "belongs to a different …, has a different …"),
    ("cut into", r"\bcannot be cut into\b", "cannot be divided into"),
    ("taken back", r"\btried and taken back\b", "we also tried …"),
    ("one's own", r"\bone's own\b", "your own, custom"),
    ("simple answers", r"\bsimple answers\b", "baselines"),
    ("made-up", r"\bmade-up\b", "synthetic"),
    ("stand", r"\bas (it stands|they stand)\b(?! for)", "unchanged"),
    ("turn before", r"\bthe turn before\b", "the previous iteration"),
    ("commas between", r"\bwith commas between\b", "separated by commas"),
    ("differing", r"\bof differing \w+", "of different …"),
    ("weighed", r"\bweighed (by|with)\b", "weighted by"),
    ("what remains", r"\bit is what remains\b", "inferred from the others"),
    ("usererror", r"\bthrows usererror (naming|listing)\b", "throws a UserError that names …, that lists …"),
    (" % ", r"[\d}] % (?=(of|are|is|more|less|right)\b)", "87.5%, without a space"),
    ("nudged", r"\bnudged\b", "perturbed"),
    ("a guess", r"\b(better than|as good as|below|above) a guess\b", "chance"),
    ("in these letters", r"\bin these letters\b", "in this notation"),
    ("anew", r"\banew\b", "again, a new …"),
    ("hear", r"\bhears?\b", "receives, is called with"),
    ("stand", r"\bstand-ins?\b|\bstands? in for\b", "surrogate, replaces"),
    ("whoever", r"\bwhoever\b", "name who: the caller, the user, a thread"),
    ("somebody", r"\bsomebody\b", "name who: the caller, the user, a thread"),
    ("known are", r"\bknown are\b(?! checked)", "known:"),
    ("as they come", r"\bas they come\b", "as they arrive"),
    ("passed over", r"\bpassed over\b", "skipped"),
]
# The same for documents only.
DOCUMENT_PHRASES = [
    ("way back", r"\b(the|its) way back\b", "the backward pass, the inverse of"),
    (" on", r"\b(go|goes|going|went) on\b", "continue, resume, advance"),
    ("beside", r"\bbeside\b", "next to, compared with"),
    ("of yours", r"\bof yours\b", "your …"),
    ("inside of", r"\binside of\b", "inside"),
    ("side by side", r"\brun side by side\b", "run in parallel"),
    ("taken by", r"\b(is|are) taken by `", "also work in, is accepted by"),
]
SPELLINGS = {
    r"(behavi|^col|fav|neighb|hon|lab|flav|rum|vap|harb|hum|rig|vig)our": r"\1or",
    r"(initial|normal|optim|serial|factor|summar|general|standard|regular|recogn|canonical|synthes|organ|minim|maxim|vector|"
    r"parallel|quant|discret|character|visual|special|final|penal|local|global|random)is(?=e|ing|ation)": r"\1iz",
    r"(analy|cataly)s(?=ed|ing)": r"\1z",
    r"^(cent|fib|lit)re": r"\1er",
    r"(label|model|travel|cancel|signal|level|channel|tunnel)l(?=ed|ing|er)": r"\1",
    r"^whilst$": "while",
    r"^amongst$": "among",
    r"^learnt$": "learned",
    r"^grey$": "gray",
    r"^(licen|defen|offen)ce$": r"\1se",
    r"artefact": "artifact",
    r"^programme(?!d|r)": "program",
    r"judgement": "judgment",
    r"^spoilt$": "spoiled",
}
FOLDERS = ["braintrace", "cli", "python", "docs", "examples", "tests", "benchmarks", "tools", "cmake", ".github"]
ENDINGS = {".md", ".cpp", ".h", ".py", ".pyi", ".js", ".css", ".c", ".txt", ".cmake", ".sh", ".yml", ".json", ""}
# Recorded by others, data, names that others chose, lists of such words, and pages whose scripts are not prose.
LEFT_OUT = {
    "tests/data", "tests/fuzz/corpus", "python/build", "braintrace/tasks/text_data.cpp", "tests/project/cortex_m_start.c",
    "braintrace/verify/graph_facts.cpp", "tools/check_words.py", "tests/project/check_words_test.py"}
ALLOWED = re.compile(r"optimiser.*did you mean|replaces `learnt`|--grey")


def texts(root):
    yield from (path for path in sorted(root.iterdir()) if path.is_file() and path.suffix in ENDINGS)
    for folder in FOLDERS:
        for where, inner, files in os.walk(root / folder):
            here = pathlib.Path(where)
            inner[:] = sorted(d for d in inner if d != "__pycache__" and str((here / d).relative_to(root)) not in LEFT_OUT)
            yield from (here / f for f in sorted(files) if pathlib.Path(f).suffix in ENDINGS)


@functools.cache
def american(word):
    """The American spelling of a word, or None where it is American already."""
    for pattern, instead in SPELLINGS.items():
        word, changed = re.subn(pattern, instead, word)
        if changed:
            return word
    return None


def problems(root):
    for path in texts(root):
        name = str(path.relative_to(root))
        try:
            text = "" if name in LEFT_OUT else path.read_text().lower()
        except UnicodeDecodeError:  # data
            continue
        searched = PHRASES + DOCUMENT_PHRASES if path.suffix == ".md" else PHRASES
        phrases = [(pattern, instead) for anchor, pattern, instead in searched if anchor in text]
        words = {word: american(word) for word in set(re.findall(r"[a-z]+", text))}
        phrases += [(rf"(?<![a-z]){word}(?![a-z])", better) for word, better in words.items() if better]
        for pattern, instead in phrases:
            for found in re.finditer(pattern, text):
                line = text.count("\n", 0, found.start())
                if not ALLOWED.search(text.splitlines()[line]):
                    yield f"{name}:{line + 1}: '{found.group()}': write '{instead}'"


root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
found = list(problems(root))
print("\n".join(found) or "the words are plain")
sys.exit(1 if found else 0)
