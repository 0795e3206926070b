#!/usr/bin/env bats
# What large compressed weights take while they are decompressed: once what is kept, and no more.
# SPDX-License-Identifier: Apache-2.0

setup() {
    root=$(realpath "$BATS_TEST_DIRNAME/../..")
    cd "${BATS_TEST_TMPDIR:=$(mktemp -d)}" || return
    IRRUN=${IRRUN:-$root/build/irrun}
}

layer() { # ID TYPE OPSET DATA INPUTS TYPE-OF-OUTPUT
    local port
    echo "<layer id='$1' name='layer$1' type='$2' version='opset$3'><data $4/>"
    [ "$5" -eq 0 ] || echo "<input>"
    for ((port = 0; port < $5; port++)); do echo "<port id='$port'/>"; done
    [ "$5" -eq 0 ] || echo "</input>"
    [ -z "$6" ] || echo "<output><port id='9' precision='$6'/></output>"
    echo "</layer>"
}

edge() { # FROM TO PORT
    echo "<edge from-layer='$1' from-port='9' to-layer='$2' to-port='$3'/>"
}

# large TYPE: 32 MB of f32 that come from [4096,16,128] of u4 in groups, for MatMul or Gather.
large() {
    {
        echo "<net name='large' version='11'><layers>"
        layer 0 Const 1 "element_type='u4' shape='4096,16,128' offset='0' size='4194304'" 0 U4
        layer 1 Convert 1 "destination_type='f16'" 1 FP16
        layer 2 Const 1 "element_type='f16' shape='4096,16,1' offset='0' size='131072'" 0 FP16
        layer 3 Multiply 1 "auto_broadcast='numpy'" 2 FP16
        layer 4 Const 1 "element_type='i64' shape='2' offset='4194304' size='16'" 0 I64
        layer 5 Reshape 1 "special_zero='false'" 2 FP16
        layer 6 Convert 1 "destination_type='f32'" 1 FP32
        if [ "$1" = MatMul ]; then
            layer 7 Parameter 1 "element_type='f32' shape='1,2048'" 0 FP32
            layer 8 MatMul 1 "transpose_a='false' transpose_b='true'" 2 FP32
        else
            layer 7 Parameter 1 "element_type='i64' shape='1,2'" 0 I64
            layer 10 Const 1 "element_type='i64' shape='' offset='4194320' size='8'" 0 I64
            layer 8 Gather 8 "batch_dims='0'" 3 FP32
        fi
        layer 9 Result 1 "" 1 ""
        echo "</layers><edges>"
        edge 0 1 0 && edge 1 3 0 && edge 2 3 1 && edge 3 5 0 && edge 4 5 1 && edge 5 6 0
        if [ "$1" = MatMul ]; then
            edge 7 8 0 && edge 6 8 1
        else
            edge 6 8 0 && edge 7 8 1 && edge 10 8 2
        fi
        edge 8 9 0
        echo "</edges></net>"
    } >model.xml
    perl -e 'print "\x21\x43" x 2097152, pack("q<*", 4096, 2048, 0)' >model.bin
}

@test "the weights of a product are decompressed into its pack" {
    large MatMul
    "$IRRUN" model.xml --random -o none: -r report.json
    [ "$(jq .memory_bytes.weights_packed report.json)" -lt 35000000 ]
    [[ ${BUILD-} != *sanitize* ]] || return 0
    [ "$(jq .memory_bytes.peak_rss report.json)" -lt 52000000 ]
}

@test "a table is decompressed into one copy" {
    large Gather
    "$IRRUN" model.xml --random=zeros -o none: -r report.json
    [ "$(jq .memory_bytes.weights_packed report.json)" -lt 35000000 ]
    [[ ${BUILD-} != *sanitize* ]] || return 0
    [ "$(jq .memory_bytes.peak_rss report.json)" -lt 52000000 ]
}

@test "rows of floats in a large file are read as they are stored" {
    local name tolerances
    for name in {1,3,9}_rows_{f16,bf16,f32} plain_f16; do
        cp "$root/tests/cases/compressed/product_$name"/{model.{xml,bin},in.npz,out.npz,args} .
        truncate -s 256M model.bin
        # The model gets a variable: without one, more rows are expected, and matrices are packed.
        sed -i -e 's|</layers>|<layer id="90" name="read" type="ReadValue" version="opset6"><data variable_id="v" variable_type="f32" variable_shape="1"/><output><port id="0" precision="FP32"><dim>1</dim></port></output></layer><layer id="91" name="save" type="Assign" version="opset6"><data variable_id="v" variable_type="f32" variable_shape="1"/><input><port id="0"><dim>1</dim></port></input></layer></layers>|' \
            -e 's|</edges>|<edge from-layer="90" from-port="0" to-layer="91" to-port="0"/></edges>|' model.xml
        read -ra tolerances <args
        run "$IRRUN" model.xml -v -i in.npz --expect=out.npz "${tolerances[@]}"
        [ "$status" -eq 0 ]
        [[ $output == *"reads its weights as they are stored: ${name##*_}"* ]]
        rm model.bin
    done
}
