#!/usr/bin/env python3
"""Shows what OpenVINO's CPU device gives on a case, beside the golden.

  show_departure.py [--irrun PROGRAM] CASE...    CASE: a folder of tests/cases

OpenVINO runs in a process of its own, for some cases end it. If PROGRAM (build/irrun by default) is
there, its numbers stand beside the others. Needs openvino and numpy.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import numpy as np
    import openvino  # noqa: F401
except ImportError as error:
    sys.exit(f"show_departure.py: {error.name} is missing: pip install openvino numpy")

ROWS = 12


def load(path):
    if not os.path.exists(path):
        return {}
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


def read_args(folder):
    with open(os.path.join(folder, "args"), encoding="utf-8") as f:
        return f.read().strip()


def run_openvino(folder, target):
    """In the child: writes OpenVINO's outputs to the npz target."""
    from cases import confirm
    reset = confirm.parse_args(read_args(folder))["reset"]
    want = load(os.path.join(folder, "out.npz"))
    got = confirm.replay(confirm.CORE.read_model(os.path.join(folder, "model.xml")),
                         load(os.path.join(folder, "in.npz")), reset, want)
    np.savez(target, **got)


def ask_openvino(folder, target):
    """'' or why there are no outputs."""
    child = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "--child", target, folder], capture_output=True,
        text=True, check=False)
    if child.returncode < 0:
        return f"its process dies of {signal.Signals(-child.returncode).name}"
    lines = [line.strip() for line in child.stderr.splitlines() if line.strip()]
    return "it says: " + lines[-1] if child.returncode else ""


def ask_irrun(program, folder, target):
    command = [program, "model.xml", "-o", f"npz:{target}"]
    command += ["-i", "in.npz"] if os.path.exists(os.path.join(folder, "in.npz")) else []
    command += [word for word in read_args(folder).split() if word.startswith("--reset")]
    subprocess.run(command, cwd=folder, check=True)


def rows_of(name, columns):
    """Lines of the elements where the columns differ, at most ROWS. columns: title -> array."""
    golden = columns["golden"]
    odd = [t for t, a in columns.items() if a.shape != golden.shape]
    if odd:
        return [
            f"  {name}: " + ", ".join(f"{t} {a.dtype}{list(a.shape)}" for t, a in columns.items())
        ]
    wide = {t: a.astype(np.float64) if a.dtype.kind == "f" else a for t, a in columns.items()}
    with np.errstate(invalid="ignore", over="ignore"):
        differs = np.zeros(golden.shape, bool)
        for a in wide.values():
            same = (a == wide["golden"]) | ((a != a) & (wide["golden"] != wide["golden"]))
            if golden.dtype.kind == "f":
                same |= np.abs(a - wide["golden"]) <= 2e-6 + 2e-5 * np.abs(wide["golden"])
            differs |= ~same
    count = int(differs.sum())
    if not count:
        return [f"  {name}: no difference"]
    lines = [
        f"  {name}: {count} of {golden.size} elements differ",
        "    " + f"{'index':16}" + "".join(f"{t:>22}" for t in columns)
    ]
    for at in list(map(tuple, np.argwhere(differs)))[:ROWS]:
        lines.append("    " + f"{str(list(map(int, at))):16}" +
                     "".join(f"{a[at]:>22.9g}" if a.dtype.kind == "f" else f"{str(a[at]):>22}"
                             for a in columns.values()))
    return lines + (["    ..."] if count > ROWS else [])


def show(folder, program):
    with open(os.path.join(folder, "about"), encoding="utf-8") as f:
        print(f"{folder}\n{f.read().rstrip()}")
    outputs = {"golden": load(os.path.join(folder, "out.npz"))}
    with tempfile.TemporaryDirectory() as temporary:
        target = os.path.join(temporary, "openvino.npz")
        trouble = ask_openvino(folder, target)
        if trouble:
            print(f"  OpenVINO gives nothing: {trouble}")
        else:
            outputs["OpenVINO"] = load(target)
        if os.access(program, os.X_OK):
            target = os.path.join(temporary, "irrun.npz")
            ask_irrun(os.path.abspath(program), folder, target)
            outputs["irrun"] = load(target)
    for name in outputs["golden"]:
        print("\n".join(
            rows_of(name,
                    {title: arrays[name]
                     for title, arrays in outputs.items() if name in arrays})))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--irrun", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build",
                                        "irrun"), metavar="PROGRAM")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="+", metavar="CASE")
    options = parser.parse_args()
    for folder in options.cases:
        if options.child:
            run_openvino(folder, options.child)
        else:
            show(folder.rstrip("/"), options.irrun)


if __name__ == "__main__":
    main()
