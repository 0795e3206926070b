#!/usr/bin/env bats
# python/irrun.py: arrays in and out, the state as a dict, errors as exceptions.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    local build
    build=$(dirname "$IRRUN")
    [[ $(<"$build/flags") != *' -static '* ]] || skip "a static program loads no library"
    [[ $(<"$build/flags") != *' -fsanitize='* ]] || skip "sanitizers come before any preloaded library"
    export IRRUN_LIBRARY=$build/libirrun.so.0 PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
    for python in python3 /usr/bin/python3 none; do
        ! "$python" -c 'import numpy' 2>/dev/null || break
    done
    [ "$python" != none ] || skip "no NumPy for this example"
}

@test "records go in, outputs come out, the state is a dict that can be read, set and reset" {
    "$python" - "$root/models/speech_watch" <<'PYTHON'
import sys
import irrun, numpy as np
folder = sys.argv[1]
model = irrun.Model(folder + "/model.xml", threads=1)
assert model.inputs == {"samples": ("f32", (1, 512))}, model.inputs
assert list(model.outputs) == ["probability", "speech"]
assert set(model.variables) == {"context", "mean", "hidden", "cell", "speech", "quiet"}
session, other = model.session(), model.session()
x, want = np.load(folder + "/in.npz")["samples"], np.load(folder + "/out.npz")
got = [session.run({"samples": chunk}) for chunk in x]
for name in want.files:
    assert np.allclose([out[name] for out in got], want[name], 1e-4, 1e-4), name
state = session.state
first = session.run({"@0": x[0]})
session.state = state
assert session.run()["probability"] == first["probability"]  # the input is kept, the state was set
other.state = {"hidden": state["hidden"]}  # the others keep their initial values
assert set(other.state) == {"hidden"}
session.reset()
assert session.state == {}
assert session.run({"samples": x[0].astype(np.float64)})["probability"] == got[0]["probability"]
assert session.run({"samples": np.asfortranarray(x[1][:, ::1])})["probability"] == got[1]["probability"]
PYTHON
}

@test "an error has the message, the hint and the status of the program" {
    "$python" - "$root/models/speech_watch/model.xml" <<'PYTHON'
import sys
import irrun, numpy as np
def raised(kind, words, what):
    try:
        what()
    except kind as error:
        assert words in str(error), error
        return error
    raise AssertionError(words)
session = irrun.Session(sys.argv[1])
raised(ValueError, "f32 cannot hold every value of float64", lambda: session.run({"samples": np.full((1, 512), 1e300)}))
raised(ValueError, "gemm must be one of auto, plain, cblas, packed, not 'x'", lambda: irrun.Model("m.xml", gemm="x"))
assert raised(irrun.Error, "is given f32 [1,3]", lambda: session.run({"samples": np.zeros((1, 3))})).code == 65
assert raised(irrun.Error, "sample", lambda: session.run({"sample": np.zeros((1, 512))})).code == 2
assert raised(irrun.Error, "missing.xml", lambda: irrun.Model("missing.xml")).code == 66
raised(ValueError, "f32 cannot hold every value of float64",
       lambda: session.run({"samples": np.array([[np.inf, 1e300] + [0] * 510])}))
assert raised(irrun.Error, "\ufffd.xml", lambda: irrun.Model(b"\xff.xml")).code == 66
raised(KeyError, "context", lambda: setattr(session, "state", {"x": 1}))
raised(TypeError, "complex", lambda: session.run({"samples": np.zeros((1, 512), complex)}))
assert irrun.version() == irrun._library.irrun_version().decode()
PYTHON
}

@test "scalars, integers, booleans and growing shapes keep their type and shape" {
    "$python" - "$data" "$root" <<'PYTHON'
import sys
import irrun, numpy as np
total = irrun.Session(sys.argv[1] + "/sum.xml")
assert [float(total.run({"x": [k]})["sum"][0]) for k in range(1, 5)] == [1, 3, 6, 10]
tagger = irrun.Session(sys.argv[2] + "/models/lstm_tagger/model.xml")
codes = np.load(sys.argv[2] + "/models/lstm_tagger/in.npz")["codes"]
assert tagger.run({"codes": codes[0]})["tags"].shape == (1, 16, 4)
writer = irrun.Session(sys.argv[2] + "/models/tiny_transformer/model.xml")
given = {name: np.load(sys.argv[2] + "/models/tiny_transformer/in.npz")[name] for name in writer.model.inputs
         if name in np.load(sys.argv[2] + "/models/tiny_transformer/in.npz").files}
assert writer.model.variables and all(dims is None or None in dims for _, dims in writer.model.variables.values())
PYTHON
}

@test "a model can be rounded, or computed in f64" {
    "$python" - "$root/tests/cases/precision/f16_lstm_one_row" <<'PYTHON'
import sys
import irrun, numpy as np
record = dict(np.load(sys.argv[1] + "/in.npz"))
def results(**options):
    return irrun.Session(sys.argv[1] + "/model.xml", **options).run(record)
exact = results(f64=True)
assert all(array.dtype == np.float64 for array in exact.values())
for precision, least, most in ("f32", 0, 5e-6), ("f16", 5e-6, 1e-3), ("bf16", 1e-4, 5e-2):
    error = max(np.max(np.abs(array - exact[name])) for name, array in results(precision=precision).items())
    assert least < error <= most, (precision, error)
PYTHON
}

@test "outputs of one name keep their own values" {
    sed 's|names="minus,diff"|names="all/plus"|' "$data/pair.xml" >same.xml
    "$python" - <<'PYTHON'
import irrun, numpy as np
session = irrun.Session("same.xml")
out = session.run({"@0": np.float32([5, 7]), "@1": np.float32([1, 2])})
assert {name: list(value) for name, value in out.items()} == {"all/plus": [6, 9], "all/plus~2": [4, 5]}, out
PYTHON
    sed -i 's|names="first"|names="all/plus~2"|' same.xml
    "$python" - <<'PYTHON'
import irrun
model = irrun.Model("same.xml", taps=["all/plus~2"])
assert list(model.outputs) == ["all/plus", "all/plus~3", "all/plus~2"], model.outputs
PYTHON
}

@test "the example of the README runs where make has built the library, without IRRUN_LIBRARY" {
    mkdir python
    cp "$root/python/irrun.py" python/
    ln -s "$root/models" models
    ln -s "$(dirname "$IRRUN")" build
    awk '/^```/ { is_in = /python/; next } is_in' "$root/README.md" >example.py
    unset IRRUN_LIBRARY
    PYTHONPATH=python "$python" example.py >out
    [ "$(head -n 1 out)" = "{'samples': ('f32', (1, 512))}" ]
    [ "$(wc -l <out)" -eq 11 ]
}
