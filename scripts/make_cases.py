#!/usr/bin/env python3
"""Writes the conformance cases of tests/cases.

  make_cases.py [FAMILY...]           write these families (default: all); OpenVINO must confirm
  make_cases.py --check [FAMILY...]   write nothing; fail if what is there is not what would be
  make_cases.py --list [FAMILY...]    one line a case: name, file of scripts/cases, what it proves
  make_cases.py --remove [FAMILY...]  also remove folders that no code makes any more
  make_cases.py --departures          write docs/openvino-departures.md
  make_cases.py -v [FAMILY...]        name each case first: the last one, where OpenVINO crashes

A golden is computed with NumPy; OpenVINO's CPU device must agree with it, unless the case says why
it does not. Without OpenVINO new cases are written too: their `about` says that they are not
confirmed, and their ports have no shapes. A case that is there keeps what OpenVINO said of it.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib
import io
import os
import pkgutil
import re
import shutil
import sys

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
from cases import common, departures  # noqa: E402

try:
    from cases import confirm
except ModuleNotFoundError as error:
    if error.name != "openvino":
        raise
    confirm = None

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "cases")


def all_cases(families):
    """Every case of the modules of the package that have a function cases(), sorted by folder."""
    found = []
    names = {info.name for info in pkgutil.iter_modules(cases.__path__)} - {"confirm"}
    for name in sorted(names):
        module = importlib.import_module(f"cases.{name}")
        for case in module.cases() if hasattr(module, "cases") else ():
            if not families or case.family in families:
                case.source = f"{name}.py"
                found.append(case)
    folders = [c.folder for c in found]
    doubles = sorted({f for f in folders if folders.count(f) > 1})
    if doubles:
        sys.exit(f"two cases of one name: {doubles}")
    return sorted(found, key=lambda c: c.folder)


def judge(case):
    """Runs OpenVINO; returns (trouble, note)."""
    if case.exit or not confirm:
        return "", ""
    if case.stand_in and (said := confirm.confirm(case, case.stand_in)):
        return f"OpenVINO does not confirm the equivalent model: {said}", ""
    if not case.runs_openvino:
        return "", ""
    said = confirm.confirm(case, case.net)
    if said and not case.openvino:
        return f"OpenVINO does not confirm: {said}", ""
    if not said and case.openvino:
        return f"said to differ ({case.openvino}), but OpenVINO agrees", ""
    return "", f"differs as known: {said}" if said else ""


def read_folder(path):
    if not os.path.isdir(path):
        return None
    files = {}
    for name in os.listdir(path):
        with open(os.path.join(path, name), "rb") as f:
            files[name] = f.read()
    return files


def close_in_last_digits(old, new):
    """Whether two out.npz differ in the last digits of f64 at most. NumPy and its BLAS choose their
    functions by the CPU, so these digits depend on it; f32 has been rounded from them."""
    with np.load(io.BytesIO(old)) as a, np.load(io.BytesIO(new)) as b:
        return a.files == b.files and all(
            a[n].dtype == b[n].dtype and a[n].shape == b[n].shape and
            (np.allclose(a[n], b[n], 1e-14, 1e-14, equal_nan=True)
             if a[n].dtype == np.float64 else a[n].tobytes() == b[n].tobytes()) for n in a.files)


def without_openvino(name, data):
    """A file without what only OpenVINO can fill in: the shapes of ports, what it says of a
    golden."""
    if name == "model.xml":
        return re.sub(rb'<dim>[^<]*</dim>(<!--[^<]*-->)?|</port>|precision="\w+"|[\s/>]', b"",
                      data.replace(b"\0", b""))  # of UTF-16
    return data.split(b"\n")[0] if name == "about" else data


def keep_what_stands(files, old):
    """Takes from the folder as it is what need not be written again."""
    if not old or files.keys() != old.keys():
        return
    if "out.npz" in files and close_in_last_digits(old["out.npz"], files["out.npz"]):
        files["out.npz"] = old["out.npz"]
    if not confirm and all(
            without_openvino(n, files[n]) == without_openvino(n, old[n]) for n in files):
        files.update(old)


def write_folder(path, files):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    for name, data in files.items():
        with open(os.path.join(path, name), "wb") as f:
            f.write(data)


def extra_folders(found, families):
    """Folders under tests/cases that no case wants, in the families asked for."""
    wanted = {c.folder for c in found}
    there = []
    for family in sorted(os.listdir(ROOT)) if os.path.isdir(ROOT) else []:
        path = os.path.join(ROOT, family)
        if os.path.isdir(path) and (not families or family in families):
            there += [os.path.join(family, name) for name in sorted(os.listdir(path))]
    return [f for f in there if f not in wanted]


def write_departures(found):
    for case in found:
        case.reference_agrees = bool(case.openvino) and confirm.reference_agrees(case)
    text = departures.sections_text(found, confirm.ov.__version__.split("-")[0])
    path = os.path.join(ROOT, "..", "..", "docs", "openvino-departures.md")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("--departures", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    options = parser.parse_args()
    found = all_cases(options.families)
    if options.departures:
        if not confirm:
            parser.error("--departures needs openvino: pip install openvino")
        write_departures(found)
        return 0
    troubles, confirmed, through, differing, written = [], 0, 0, 0, 0
    for case in found:
        if options.list:
            print(f"{case.folder} ({case.source}): {case.about}")
            continue
        if options.verbose:
            print(case.folder, flush=True)
        case.is_judged = bool(confirm)
        if confirm:
            confirm.fill_types(case)
            case.reference_agrees = bool(case.openvino) and confirm.reference_agrees(case)
        path = os.path.join(ROOT, case.folder)
        files, old = common.case_files(case), read_folder(path)
        keep_what_stands(files, old)
        trouble, note = ("", "") if options.check else judge(case)
        confirmed += not case.exit and not case.openvino
        through += bool(case.stand_in)
        differing += bool(case.openvino)
        if options.check and files != old:
            trouble = "differs from what would be written"
        elif files != old:
            write_folder(path, files)
            written += not confirm and not case.exit
        if trouble:
            troubles.append(case.folder)
        if trouble or (note and options.verbose):
            print(f"{case.folder}: {trouble or note}", flush=True)
    for folder in [] if options.list else extra_folders(found, options.families):
        if options.remove:
            shutil.rmtree(os.path.join(ROOT, folder))
        else:
            troubles.append(folder)
            print(f"{folder}: nobody makes this case (--remove removes it)")
    if not options.list and not confirm:
        print(f"{len(found)} cases, {len(troubles)} in trouble; no OpenVINO here: "
              f"{written} cases written that it has yet to confirm")
    elif not options.list:
        print(
            f"{len(found)} cases: OpenVINO confirms {confirmed}, differs in {differing} ("
            f"it confirms {through} of these through an equivalent model), "
            f"{len(found) - confirmed - differing} are errors; "
            f"{len(troubles)} in trouble")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
