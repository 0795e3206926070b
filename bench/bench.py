#!/usr/bin/env python3
"""irrun beside OpenVINO, in one run: bench.py [--part ops|models|grid]... [--irrun PATH] [--rounds N] [--threads 1,2] [--models DIR]... [NAME-PATTERN...]

Compares the outputs of both sides on the same inputs first (a cell that is wrong is not a cell), then times them in turn and prints
a Markdown table for each part, the worst ratio first. README.md says what the parts are and how to read the tables. Parts that were
measured whole, without patterns, are kept in results.json.
Without OpenVINO's Python package it says so and stops: there is nothing to compare with.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import fnmatch
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PARTS = ("ops", "models", "grid")
DIFFERENT = 1e-4  # of the largest number of an output, or of 1: worth saying
WRONG = 0.1       # two computations have nothing in common


def find_openvino():
    try:
        import openvino
    except ImportError:
        print("bench: skipped: no Python package openvino (pip install openvino in a virtual environment, and run with its python)")
        sys.exit(0)
    return Path(openvino.__file__).parent


def build_peer(openvino, out):
    library = sorted((openvino / "libs").glob("libopenvino.so.*"))[0]
    program = out / "peer_openvino"
    source = HERE / "peer_openvino.cpp"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-O2", "-std=c++17", f"-I{openvino / 'include'}", source, "-o", program, library,
                        f"-Wl,-rpath,{openvino / 'libs'}"], check=True)
    return program


def first_records(model, inputs):
    """The first record of the in.npz beside a model, by friendly name; empty if there is none."""
    import numpy as np
    if not (model.parent / "in.npz").exists():
        return {}
    records = {}
    with np.load(model.parent / "in.npz") as archive:
        for port in inputs:
            member = next((name for name in [port.node.friendly_name, *sorted(port.names)] if name in archive), None)
            if member is None:
                continue
            data, rank = archive[member], port.partial_shape.rank
            is_stack = rank.is_static and data.ndim > rank.get_length()
            records[port.node.friendly_name] = data[0] if is_stack else data
    return records


def make_inputs(model, folder):
    """A .npy and a .raw file per Parameter, the same numbers for both sides: of the case's in.npz, else drawn.
    Returns (name, path without its ending, shape) of each."""
    import numpy as np
    import openvino as ov
    rng = np.random.default_rng(7)
    inputs = ov.Core().read_model(model).inputs
    records, files = first_records(model, inputs), []
    for index, port in enumerate(inputs):
        name, dtype = port.node.friendly_name, port.element_type.to_dtype()
        if name not in records and not port.partial_shape.is_static:
            raise ValueError("open dimensions and no in.npz")
        if name in records:
            data = np.asarray(records[name], dtype, order="C")  # ascontiguousarray makes a vector of a scalar
        elif dtype == np.bool_:
            data = rng.integers(0, 2, tuple(port.shape)).astype(dtype)
        elif np.issubdtype(dtype, np.integer):
            data = np.zeros(tuple(port.shape), dtype)
        else:
            data = rng.uniform(-1, 1, tuple(port.shape)).astype(dtype)
        path = folder / f"in{index}"
        np.save(f"{path}.npy", data)
        Path(f"{path}.raw").write_bytes(data.tobytes())
        files.append((name, path, data.shape))
    return files


def name_of(model):
    return model.parent.name if model.name == "model.xml" else model.stem


class Cell:
    def __init__(self, model, args, peer, work):
        self.model, self.args, self.peer, self.work = model, args, peer, work
        self.name = name_of(model)
        self.files = make_inputs(model, work)
        self.iterations, self.warmup = 50, 10

    def irrun_command(self, n, *more):
        inputs = [word for name, path, _ in self.files for word in ("-i", f"{name}={path}.npy")]
        return [str(self.args.irrun), str(self.model), f"--precision={self.args.precision}", *inputs, "-n", str(n), *more]

    def peer_command(self, n, warmup, threads, outputs=()):
        inputs = [f"{path}.raw:{','.join(map(str, shape))}" for _, path, shape in self.files]
        precision = "bf16" if self.args.precision == "bf16" else "f32"
        return [str(self.peer), str(self.model), str(n), str(warmup), str(threads), precision, *inputs, "--", *map(str, outputs)]

    def compare(self):
        import numpy as np
        import openvino as ov
        ports = ov.Core().read_model(self.model).outputs
        raw = [self.work / f"peer{i}.raw" for i in range(len(ports))]
        subprocess.run(self.peer_command(0, 0, 2, raw), check=True, capture_output=True)
        ours = self.work / "ours.npz"
        subprocess.run(self.irrun_command(1, "-o", f"npz:{ours}"), check=True, capture_output=True)
        worst = 0.0
        with np.load(ours) as archive:
            for path, member in zip(raw, archive.files):
                got = archive[member].astype(np.float64)
                want = np.frombuffer(path.read_bytes(), archive[member].dtype).reshape(got.shape).astype(np.float64)
                if (np.isnan(got) != np.isnan(want)).any():
                    return np.inf
                scale = max(1.0, float(np.nanmax(np.abs(want), initial=0)))
                worst = max(worst, float(np.nanmax(np.abs(got - want), initial=0)) / scale)
        return worst

    def time_irrun(self, threads):
        extra = ["-o", "none:", "-s"] + (["--threads", str(threads)] if threads > 1 else [])
        text = subprocess.run(self.irrun_command(self.iterations + self.warmup, *extra), check=True, capture_output=True,
                              text=True).stderr
        number, unit = re.search(r"p50\s+([\d.]+) (ns|us|ms|s)\b", text).groups()
        peak = re.search(r"peak RSS\s+([\d.]+) (KB|MB|GB)", text).groups()
        return {"p50_us": float(number) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[unit],
                "peak_mb": float(peak[0]) * {"KB": 1e-3, "MB": 1, "GB": 1e3}[peak[1]]}

    def time_peer(self, threads):
        out = subprocess.run(self.peer_command(self.iterations, self.warmup, threads), check=True, capture_output=True, text=True)
        return json.loads(out.stdout)

    def tune(self):
        """As many iterations as fill about half a second on the slower side."""
        per = max(self.time_peer(1)["p50_us"], self.time_irrun(1)["p50_us"])
        self.iterations = int(min(max(5e5 / max(per, 0.01), 5), 20000))
        self.warmup = min(20, self.iterations)

    def whole_process(self):
        def once(command):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            return (time.perf_counter() - start) * 1e3
        ours = [once(self.irrun_command(1, "-o", "none:")) for _ in range(5)]
        theirs = [once(self.peer_command(0, 0, 2)) for _ in range(3)]
        return statistics.median(ours), statistics.median(theirs)

    def measure_threads(self, threads):
        ours, theirs = [], []
        for _ in range(self.args.rounds):
            ours.append(self.time_irrun(threads))
            theirs.append(self.time_peer(threads))
        a, b = [r["p50_us"] for r in ours], [r["p50_us"] for r in theirs]
        ratios = [y / x for x, y in zip(a, b)]
        return {"threads": threads, "us": [min(a), min(b)], "ratio": min(b) / min(a), "spread": [min(ratios), max(ratios)],
                "peak_mb": [ours[0]["peak_mb"], theirs[0]["peak_rss_kb"] / 1e3]}

    def measure(self):
        """Pairs are of irrun and OpenVINO."""
        worst = self.compare()
        if worst > WRONG:
            raise ValueError(f"outputs differ by {worst:.1e}")
        self.tune()
        return {"model": self.name, "difference": worst, "runs": [self.measure_threads(n) for n in self.args.threads],
                "process_ms": self.whole_process()}


def row_of(result):
    name = result["model"] + (f" (outputs differ by {result['difference']:.1e})" if result["difference"] > DIFFERENT else "")
    columns = [f"{run['us'][0]:.4g} | {run['us'][1]:.4g} | **{run['ratio']:.2f}** ({run['spread'][0]:.2f}-{run['spread'][1]:.2f})"
               for run in result["runs"]]
    start, memory = result["process_ms"], result["runs"][-1]["peak_mb"]
    return (f"| {name} | {' | '.join(columns)} | {start[0]:.1f} / {start[1]:.0f} ({start[1] / start[0]:.0f}x) | "
            f"{memory[0]:.1f} / {memory[1]:.0f} |")


def generated(args, generator):
    """The models that a program writes, made again if it is younger."""
    folder, program = args.out / generator, HERE / f"make_{generator}.py"
    stamp = folder / "made"
    if not stamp.exists() or stamp.stat().st_mtime < program.stat().st_mtime:
        subprocess.run([sys.executable, program, folder], check=True)
        stamp.touch()
    return sorted(folder.glob("*.xml"))


def models_of(part, args):
    if part == "ops":
        return generated(args, "op_models")
    if part == "grid":
        return generated(args, "bench_models")
    folders = [ROOT / "models", *args.models]
    return [model for folder in folders for model in sorted(map(Path, glob.glob(f"{folder}/**/*.xml", recursive=True)))]


def measure_part(part, args, peer):
    """The results of a part, and a row for each model that gives none."""
    results, refused = [], []
    for model in models_of(part, args):
        if args.patterns and not any(fnmatch.fnmatch(name_of(model), p) for p in args.patterns):
            continue
        print(f"\r\033[K{part}: {name_of(model)}", end="", file=sys.stderr, flush=True)
        try:
            results.append(Cell(model, args, peer, args.out / "work").measure())
        except (ValueError, AttributeError, subprocess.CalledProcessError) as error:
            refused.append(f"| {name_of(model)} | not a cell: {error} |")
    print("\r\033[K", end="", file=sys.stderr, flush=True)
    return sorted(results, key=lambda result: result["runs"][0]["ratio"]), refused


def print_table(part, args, results, refused):
    heads = [f"irrun {t}T | OpenVINO {t}T | ratio (spread)" for t in args.threads]
    print(f"\n## {part}\n\n| model | {' | '.join(heads)} | process to first result, ms | peak MB |")
    print("|---" * (3 + 3 * len(args.threads)) + "|")
    for row in [row_of(result) for result in results] + sorted(refused):
        print(row, flush=True)


def keep(part, machine, results):
    """Writes the results of a part; those of other parts stay."""
    path = HERE / "results.json"
    parts = json.loads(path.read_text()) if path.exists() else {}
    parts[part] = {"machine": machine, "date": time.strftime("%Y-%m-%d"), "results": results}
    path.write_text(json.dumps(parts, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--irrun", type=Path, default=ROOT / "build/irrun")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2])
    parser.add_argument("--part", choices=PARTS, action="append", default=[])
    parser.add_argument("--models", type=Path, action="append", default=[])
    parser.add_argument("--precision", choices=["f32", "f16", "bf16"], default="f32")  # of both sides; f16: OpenVINO computes in f32
    parser.add_argument("patterns", nargs="*")
    args = parser.parse_args()
    openvino = find_openvino()
    (args.out / "work").mkdir(parents=True, exist_ok=True)
    peer = build_peer(openvino, args.out)
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    machine = f"{cpu}, {os.cpu_count()} CPUs"
    print(f"{machine}; {args.precision}; {args.rounds} rounds in turn; times in us are the best p50 of the rounds")
    for part in args.part or PARTS:
        results, refused = measure_part(part, args, peer)
        print_table(part, args, results, refused)
        if not args.patterns and args.precision == "f32":
            keep(part, machine, results)


if __name__ == "__main__":
    main()
