# SPDX-License-Identifier: GPL-2.0
"""What a node's logs say.  Pure: text in, findings out."""

import re

RESULT = re.compile(r"^( *)(not )?ok\b(?: +(\d+))?[ -]*([^#]*)(?:# *(\w+)(.*))?$")
PLAN = re.compile(r"^( *)1\.\.(\d+)\s*(#.*)?$")
VERSION = re.compile(r"^( *)(?:K?TAP) version \d+")
MARK = re.compile(r"peerlane-test: (.*)")
EXPECT = re.compile(r"peerlane-(expect|allow): (.*)")
BANNER = "Linux version "

# Bits of /proc/sys/kernel/tainted that an out-of-tree, unsigned module sets.
ALLOWED_TAINT = (1 << 12) | (1 << 13)


class Document:
    """One plan and its results, at one depth."""

    def __init__(self):
        self.plan = None
        self.numbers = []
        self.versioned = False

    def findings(self, where):
        if self.plan is None:
            if self.numbers or self.versioned:
                yield f"{where}: results without a plan (1..N)"
            return
        expected = set(range(1, self.plan + 1))
        seen = set(self.numbers)
        missing = sorted(expected - seen)
        if missing:
            names = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
            yield f"{where}: {len(missing)} of {self.plan} planned tests did not report: {names}"
        if len(self.numbers) != len(seen):
            yield f"{where}: a test number was reported twice"
        if seen - expected:
            yield f"{where}: more results than the plan of {self.plan}"


class Ktap:
    """Reads KTAP and TAP, nested by spaces; other lines are passed over."""

    def __init__(self, where):
        self.where = where
        self.findings = []
        self.open = {}
        self.plans = 0
        self.passed = self.failed = self.skipped = self.todo = 0

    def close(self, depth):
        for level in sorted((d for d in self.open if d >= depth), reverse=True):
            self.findings += self.open.pop(level).findings(self.where)

    def document(self, depth):
        self.close(depth + 1)
        return self.open.setdefault(depth, Document())

    def line(self, text):
        text = text.rstrip("\r\n")
        if match := VERSION.match(text):
            self.close(len(match[1]))
            self.document(len(match[1])).versioned = True
        elif match := PLAN.match(text):
            depth = len(match[1])
            if depth in self.open and self.open[depth].plan is not None:
                self.close(depth)
            self.document(depth).plan = int(match[2])
            self.plans += 1
        elif match := RESULT.match(text):
            self.result(match)
        elif text.startswith("Bail out!"):
            self.findings.append(f"{self.where}: {text}")

    def result(self, match):
        depth = len(match[1])
        if not match[3] and not match[2] and depth not in self.open:
            return  # prose that begins with "ok"
        nested = any(level > depth for level in self.open)
        document = self.document(depth)
        document.numbers.append(int(match[3]) if match[3] else len(document.numbers) + 1)
        directive = (match[5] or "").upper()
        name = match[4].strip() or f"test {document.numbers[-1]}"
        if match[2] and directive == "TODO":
            self.todo += 1
        elif match[2]:
            self.failed += not nested
            self.findings.append(f"{self.where}: not ok: {name}")
        elif directive == "SKIP":
            self.skipped += 1
        elif not nested:
            # A parent's line only repeats what its children said.
            self.passed += 1

    def end(self):
        self.close(0)
        return self


def read_ktap(text, where="script"):
    ktap = Ktap(where)
    for line in text.splitlines():
        ktap.line(line)
    return ktap.end()


def read_patterns(text):
    """Compile a pattern file; raises on one that is empty or malformed."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise ValueError("the pattern file has no patterns")
    return re.compile("|".join(f"(?:{line})" for line in lines))


class Expected:
    """A splat that a test said it would bring about: it is none, but it must come;
    or, if it is only allowed, may."""

    def __init__(self, text, must=True):
        self.text = text.strip()
        self.came = not must
        try:
            self.pattern = re.compile(self.text)
        except re.error:
            self.pattern = re.compile("(?!)")

    def excuses(self, line):
        # What matches everything would excuse everything.
        came = bool(self.pattern.search(line)) and not self.pattern.search("")
        self.came |= came
        return came

    def findings(self):
        return [] if self.came else [f"expected, but did not come: {self.text}"]


def splats(console, patterns, allow):
    """(test, line) for each splat; the first line of one speaks for it all,
    so a trace that follows within the same test is not counted again."""
    found = []
    test = "(before any test)"
    expected = []
    quiet = 0
    for line in [*console.splitlines(), "peerlane-test: (the end)"]:
        if match := MARK.search(line):
            found += [(test, text) for one in expected for text in one.findings()]
            test = match[1].strip()
            expected = []
            quiet = 0
            continue
        if match := EXPECT.search(line):
            expected.append(Expected(match[2], match[1] == "expect"))
            continue
        quiet -= 1
        if [one for one in expected if one.excuses(line)]:
            continue
        if patterns.search(line) and not allow.search(line):
            if quiet <= 0:
                found.append((test, line.strip()))
            quiet = 60
        if "end trace" in line:
            quiet = 0
    return found


def taint_finding(before, after, allowed=()):
    """allowed: bits that this run may set besides."""
    added = after & ~before & ~ALLOWED_TAINT & ~sum(1 << bit for bit in set(allowed))
    if added:
        bits = ", ".join(str(bit) for bit in range(32) if added >> bit & 1)
        return f"the kernel became tainted: {before} -> {after} (bits {bits})"
    return None


class Control:
    """What a node said on its control port."""

    def __init__(self, nonce):
        self.nonce = nonce
        self.said = {}
        self.errors = []
        self.foreign = []

    def line(self, text):
        """The words of a genuine line, else None."""
        words = text.strip("\r\n\0 ").split(" ", 2)
        if words == [""]:
            return None
        if words[0] != self.nonce:
            self.foreign.append(text.strip())
            return None
        verb = words[1] if len(words) > 1 else ""
        rest = words[2] if len(words) > 2 else ""
        if verb == "error":
            self.errors.append(rest)
        self.said[verb] = rest
        return verb, rest

    def has(self, verb):
        return verb in self.said


def judge_control(control, allowed_taint=()):
    """Findings from the control port alone."""
    findings = list(control.errors)
    findings += [f"the control port carried a token that is not this run's: {text!r}"
                 for text in control.foreign[:3]]
    if control.has("exit") and control.said["exit"] != "0":
        findings.append(f"the script exited {control.said['exit']}")
    if control.has("unload"):
        findings.append(f"the module did not unload: {control.said['unload']}")
    if control.has("taint"):
        before, after = map(int, control.said["taint"].split())
        finding = taint_finding(before, after, allowed_taint)
        findings += [finding] if finding else []
    if control.has("passed"):
        if not findings and not (control.has("exit") and control.has("taint")):
            findings.append("the token came without the steps before it")
    elif not control.has("hello"):
        findings.append("the node never came up (infrastructure)")
    elif control.errors:
        pass  # it said itself why it gave up
    elif not control.has("start"):
        findings.append("the node ended before the script began")
    elif not control.has("exit"):
        findings.append("the node ended before the script did (panic, power-off or kill)")
    elif not findings:
        findings.append("the node ended before its token")
    return findings


def judge_console(console, nonce, finished, patterns, allow):
    """Findings from the kernel log; finished: the node wrote its end mark."""
    if console is None or BANNER not in console:
        return ["no kernel log"]
    findings = [f"splat during test {test}: {line}"
                for test, line in splats(console, patterns, allow)]
    if f"peerlane-rig: start {nonce}" not in console:
        findings.append("the kernel log has no start mark")
    elif finished and f"peerlane-rig: end {nonce}" not in console:
        findings.append("the kernel log has no end mark, so it may be cut short")
    return findings
