#!/usr/bin/env bats
# What is told of a model that is not run: --inspect=json, the numbers of --inspect, --list-ops.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cases=$root/tests/cases
}

# The data of a model with what is said of it by --inspect=json.
inspected() { # filter model
    irrun --inspect=json "$2" | jq -c "$1"
}

@test "--inspect=json has what the text has" {
    irrun --inspect=json "$data/sum.xml" >sum.json
    [ "$(wc -l <sum.json)" -eq 1 ]
    [ "$(jq -r 'keys_unsorted | join(" ")' sum.json)" = "schema name xml ir_version inputs outputs variables feeds ops unsupported weights_bytes parameters unused_weights unused_weights_bytes iteration memory_bytes suspicious hints" ]
    jq -e '.schema == "irrun.inspect/1" and .name == "sum" and .ir_version == 11' sum.json
    jq -e '.inputs == [{name: "x", type: "f32", shape: [1], also: ["x:0", "a"], line: 6}]' sum.json
    jq -e '.variables == [{id: "total", type: "f32", shape: [1], init: "zeros", init_value: null, line: 10}]' sum.json
    jq -e '.ops == {Add: 1, Assign: 1, Parameter: 1, ReadValue: 1, Result: 1} and .unsupported == []' sum.json
    irrun --inspect=json --feed=y=x "$data/chain.xml" |
        jq -e '.feeds == [{id: "x", type: "f32", shape: [2], from: "y", argmax: false, sample: null}]'
    [ "$(inspected '[.unsupported[] | .type] | sort' "$data/lacking.xml")" = '["Defenestrate","Frobnicate"]' ]
    [ "$(inspected '.inputs[0].shape' "$data/twice_any.xml")" = null ]
    [ "$(inspected '.inputs[0].shape' "$data/twice_axis.xml")" = '[2,null]' ]
}

@test "--inspect counts operations, bytes, memory and parameters as the run does" {
    local model n
    for model in convolution/conv2d lstm_sequence/bidirectional lstm_cell/activations; do
        irrun "$cases/$model/model.xml" -i "$cases/$model/in.npz" --no-fuse --profile --report=r.json >/dev/null 2>&1
        n=$(jq '[.ops[] | select(.depth == 0) | .flops] | add' r.json)
        [ "$(inspected .iteration.flops "$cases/$model/model.xml")" = "$n" ]
        n=$(jq '[.ops[] | select(.depth == 0) | .bytes] | add' r.json)
        [ "$(inspected .iteration.bytes "$cases/$model/model.xml")" = "$n" ]
    done
    [ "$(inspected '[.iteration.flops, .iteration.bytes, .iteration.open_ops]' "$data/sum.xml")" = '[1,16,0]' ]
    [ "$(inspected '[.memory_bytes.values, .memory_bytes.state]' "$data/sum.xml")" = '[12,8]' ]
    # 54 filters; the picture of 144 floats and the output of 126 are there at a time
    [ "$(inspected '[.parameters, .weights_bytes, .memory_bytes.values]' "$cases/convolution/conv2d/model.xml")" = '[54,216,1080]' ]
    run_apart irrun --inspect "$cases/convolution/conv2d/model.xml"
    [[ $output == *$'\nparameters: 54\nunused weights: 0 bytes\noperations per iteration: 4536\nbytes per iteration: 1296\nmemory: 1080 bytes of values, 0 of state\n'* ]]
    # four iterations of a body that adds 6 numbers: from slice 2 of 6, to slice 4, by twos from 1
    for model in start_2 end_4 start_1_part_2; do
        [ "$(inspected .iteration.flops "$cases/tensor_iterator/$model/model.xml")" = 24 ]
    done
    [ "$(inspected .iteration.open_ops "$data/twice_any.xml")" = 1 ]
    [[ $(irrun --inspect "$data/twice_any.xml") == *$'\noperations per iteration: at least 0\nbytes per iteration: at least 0\n  not counted: 1 op of dynamic shape\nmemory: at least '* ]]
}

@test "--inspect needs no weights" {
    cp "$root/models/lstm_tagger/model.xml" .
    irrun --inspect=json model.xml | jq 'del(.xml)' >without.json
    irrun --inspect=json "$root/models/lstm_tagger/model.xml" | jq 'del(.xml) | .variables[].init_value = null' >with.json
    jq '.variables[].init_value = null' without.json | diff - with.json
    irrun --list-ops model.xml | diff - <(irrun --list-ops "$root/models/lstm_tagger/model.xml")
}

@test "--inspect shows no initial value of a type below 8 bits, which is packed in the .bin" {
    sed -e 's|<layer id="1".*|<layer id="5" name="minus_one" type="Const" version="opset1">\
          <data element_type="i4" shape="1" offset="0" size="1"/><output><port id="0"/></output></layer>\
        <layer id="6" name="cast" type="Convert" version="opset1"><data destination_type="f32"/>\
          <input><port id="0"/></input><output><port id="1"/></output></layer>\
        &<input><port id="1"/></input>|' \
        -e 's|<edges>|&<edge from-layer="5" from-port="0" to-layer="6" to-port="0"/>\
        <edge from-layer="6" from-port="1" to-layer="1" to-port="1"/>|' "$data/sum.xml" >model.xml
    printf '\017' >model.bin
    [ "$(inspected '.variables[0].init_value' model.xml)" = null ]
    sed -i 's/element_type="i4"/element_type="i8"/' model.xml
    [ "$(inspected '.variables[0].init_value' model.xml)" = '"15"' ]
}

@test "--inspect hints at --feed for inputs that look like states, and at --low-latency" {
    local model=$cases/lstm_sequence/forward/model.xml
    [ "$(inspected .hints "$data/sum.xml")" = '[]' ]
    [ "$(inspected .hints "$data/pair.xml")" = '[]' ]
    [[ $(irrun --inspect "$model") == *$'\nhints: 2\n  output "Ho" looks like the next value of "H0": --feed=Ho=H0\n'\
'  output "Co" looks like the next value of "C0": --feed=Co=C0' ]]
    [ "$(irrun --inspect=json "$model" --feed=Ho=H0 | jq -c .hints)" = \
        '["output \"Co\" looks like the next value of \"C0\": --feed=Co=C0"]' ]
    # another shape; nothing in common but the side
    [ "$(sed 's/"H0"/"start"/g' "$model" >m.xml; inspected .hints m.xml)" = \
        '["output \"Co\" looks like the next value of \"C0\": --feed=Co=C0"]' ]
    cp "$cases"/low_latency/two_layers/model.* .
    [ "$(inspected .hints model.xml)" = '["sequences can run in chunks of frames: --low-latency"]' ]
    [ "$(irrun --inspect=json model.xml --low-latency | jq -c .hints)" = '[]' ]
    [ "$(inspected .hints "$cases/low_latency/refused_mean/model.xml")" = '[]' ]
    # what is constant is not known without the weights
    rm model.bin
    [ "$(inspected .hints model.xml)" = '[]' ]
}

@test "--inspect hints at the sources of the usual inputs of a text-generation model" {
    local mask="-i attention_mask=ones:input_ids" beam="-i beam_idx=value:0 --shape=beam_idx=1"
    [[ $(irrun --inspect "$data/openvino_model.xml") == *$'\nhints: 1\n  usual inputs of a text-generation model: '"$mask -i position_ids=count:input_ids $beam" ]]
    [ "$(irrun --inspect=json "$data/openvino_model.xml" --feed=logits=position_ids:argmax | jq -r '.hints[]')" = \
        "usual inputs of a text-generation model: $mask $beam" ]
    sed 's/position_ids/cache_position/g' "$data/openvino_model.xml" >m.xml
    [ "$(inspected .hints m.xml)" = "[\"usual inputs of a text-generation model: $mask -i cache_position=count:input_ids $beam\"]" ]
    # beam_idx alone, without input_ids
    [ "$(inspected .hints "$root/models/tiny_transformer/model.xml")" = '[]' ]
}

@test "--inspect says what is suspicious, and which weights nothing needs" {
    [ "$(inspected .suspicious "$data/sum.xml")" = '[]' ]
    # without Assign
    sed '/<layer id="3"/,/<\/layer>/d; /to-layer="3"/d' "$data/sum.xml" >m.xml
    [ "$(inspected .suspicious m.xml)" = '["variable \"total\" (line 10) has no Assign: it never changes"]' ]
    [[ $(irrun --inspect m.xml) == *$'\nsuspicious: 1\n  variable "total" (line 10) has no Assign: it never changes' ]]
    # the output is the input: the sum is of no use
    sed 's/from-layer="2" from-port="2" to-layer="4"/from-layer="0" from-port="0" to-layer="4"/' "$data/sum.xml" >m.xml
    [ "$(inspected .suspicious m.xml)" = '["no output depends on variable \"total\" (line 10)"]' ]
    # the output is the variable, which only itself adds up: it depends on the input of the iterations before
    sed 's/from-layer="2" from-port="2" to-layer="4"/from-layer="1" from-port="0" to-layer="4"/' "$data/sum.xml" >m.xml
    [ "$(inspected .suspicious m.xml)" = '[]' ]
    # an input that nothing reads, an output of constants alone
    local model=$cases/convolution/conv2d/model.xml
    [ "$(inspected '[.suspicious, .unused_weights]' "$model")" = '[[],[]]' ]
    sed 's/from-layer="2" from-port="[0-9]*" to-layer="3"/from-layer="1" from-port="0" to-layer="3"/' "$model" >m.xml
    inspected .suspicious m.xml | grep -F 'depends on no input and no variable'
    inspected .suspicious m.xml | grep -F 'no output depends on input'
    sed 's/from-layer="2" from-port="[0-9]*" to-layer="3"/from-layer="0" from-port="0" to-layer="3"/' "$model" >m.xml
    [ "$(inspected '[.unused_weights_bytes, (.unused_weights | length), .parameters]' m.xml)" = '[216,1,0]' ]
    [[ $(irrun --inspect m.xml) == *$'\nunused weights: 216 bytes\n  '*" (line "* ]]
}

@test "--list-ops: a line for each op, whose names --tap takes" {
    diff <(irrun --list-ops "$data/sum.xml" | tr '\t' '|') - <<END
x|Parameter|opset1|6|f32[1]|x:0|a|x
read|ReadValue|opset6|10|f32[1]|read
add|Add|opset1|14|f32[1]|sum|add
save|Assign|opset6|19|dynamic[...]|save
result|Result|opset1|23|
END
    irrun --list-ops "$root/models/lstm_tagger/model.xml" >list
    grep -qxF $'lstm\tLSTMSequence\topset5\t169\tf32[1,1,16,8] f32[1,1,8] f32[1,1,8]\tlstm:0\tlstm:1\tlstm:2' list
    local name
    cut -f 6- list | tr '\t' '\n' | grep . >names
    [ "$(wc -l <names)" -gt 10 ]
    while read -r name; do
        irrun "$root/models/lstm_tagger/model.xml" --random --tap="$name" -o none:
    done <names
    irrun --list-ops "$cases/loop/nested/model.xml" | grep -qxF $'Loop_4/body/Loop_3/body/Multiply_2\tMultiply\topset1\t112\tf32[2]'
    answered 2 'called "nosuch"' "irrun --list-ops lists all names" "$data/sum.xml" --random --tap=nosuch
}

@test "--inspect and --list-ops of models that cannot run" {
    local model
    for model in error_xml/element_type_unknown error_xml/shape_text error_graph/result_of_none error_graph/assign_of_none; do
        irrun --inspect=json "$cases/$model/model.xml" | jq -e '.schema == "irrun.inspect/1"'
        irrun --list-ops "$cases/$model/model.xml" >list
        [ -s list ]
    done
    # an op without the inputs that it takes, a shape of more elements than there can be
    perl -0pe 's/<edge [^>]*to-layer="2" to-port="1"[^>]*>//; s/(type="Convolution".*?)<port id="1".*?<\/port>/$1/s' \
        "$cases/convolution/conv2d/model.xml" >m.xml
    [ "$(inspected .iteration.open_ops m.xml)" = 1 ]
    sed 's/<dim>9</<dim>9000000000000000000</; s/<dim>7</<dim>0</' "$cases/convolution/conv2d/model.xml" >m.xml
    [ "$(inspected '.iteration | [.flops, .open_ops]' m.xml)" = '[0,1]' ]
}

# ---- --dot -----------------------------------------------------------------------------------------

# renders FILE.dot: Graphviz, where it is installed, takes it.
renders() {
    [ "$(head -c 9 "$1")" = 'digraph "' ]
    ! command -v dot >/dev/null || dot -Tsvg "$1" >picture.svg
}

@test "--dot: a node for each op, chains as one, state edges dashed, no constants" {
    irrun --dot "$data/sum.xml" >sum.dot
    renders sum.dot
    diff <(grep -E '^  n[0-9]' sum.dot) - <<END
  n0 [label="x\nParameter", shape=ellipse];
  n1 [label="read\nReadValue", shape=cylinder];
  n2 [label="add\nAdd"];
  n3 [label="save\nAssign", shape=cylinder];
  n4 [label="result\nResult", shape=ellipse];
  n0 -> n2 [label="f32 [1]"];
  n1 -> n2 [label="f32 [1]"];
  n2 -> n3 [label="f32 [1]"];
  n2 -> n4 [label="f32 [1]"];
  n3 -> n1 [style=dashed, constraint=false, label="total"];
END
    irrun --dot "$data/chain.xml" >chain.dot
    renders chain.dot
    grep -qxF '  n3 [label="last\nAdd, Multiply, Subtract"];' chain.dot
    [ "$(grep -c -- '->' chain.dot)" -eq 2 ]
    sed 's/name="square"/name="a \&quot;b\\c"/' "$data/chain.xml" >odd.xml
    irrun --dot odd.xml >odd.dot
    renders odd.dot
    sed 's/type="Add"/type="A\&quot;dd"/' "$data/chain.xml" >odd.xml
    irrun --dot odd.xml >odd.dot
    renders odd.dot
    # A ReadValue without its variable is shown beside the others.
    sed '0,/<layer /s//<layer id="99" name="r" type="ReadValue" version="opset6"><output><port id="0"\/><\/output><\/layer>\n&/' \
        "$data/sum.xml" >no_variable.xml
    irrun --dot no_variable.xml >no_variable.dot
    renders no_variable.dot
    irrun --dot "$root/models/lstm_tagger/model.xml" >tagger.dot
    renders tagger.dot
    [ "$(grep -c Const tagger.dot)" -eq 0 ]
}

@test "--dot: bodies are clusters, blocks that repeat are shown once" {
    irrun --dot "$cases/loop/nested/model.xml" >nested.dot
    renders nested.dot
    [ "$(grep -c 'subgraph cluster_b' nested.dot)" -eq 2 ]
    grep -qF 'label="Loop_4/body/Loop_3/body/"' nested.dot
    [ "$(grep -c 'style=dotted, arrowhead=none' nested.dot)" -eq 2 ]
    irrun --dot "$root/models/tiny_transformer/model.xml" >transformer.dot
    renders transformer.dot
    grep -qE 'subgraph cluster_r0 .*' transformer.dot
    grep -qF 'label="4 times"' transformer.dot
    [ "$(grep -cE '^  n[0-9]+ \[' transformer.dot)" -lt 200 ] # of 642 ops
    # Six times SoftMax and TensorIterator: one body is shown, and every node has its label.
    six=$(port() { echo "<port id=\"$1\" precision=\"FP32\"><dim>2</dim><dim>2</dim></port>"; }
        layer() { echo "<layer id=\"$1\" name=\"$2\" type=\"$3\" version=\"opset1\">$4</layer>"; }
        edge() { echo "<edge from-layer=\"$1\" from-port=\"$2\" to-layer=\"$3\" to-port=\"0\"/>"; }
        through="<input>$(port 0)</input><output>$(port 1)</output>"
        x=$(layer 0 x Parameter "<data shape=\"2,2\" element_type=\"f32\"/><output>$(port 1)</output>")
        axis='<data axis="1"/>'
        body="<layers>$x$(layer 1 s SoftMax "$axis$through")$(layer 2 y Result "<input>$(port 0)</input>")</layers>
            <edges>$(edge 0 1 1)$(edge 1 1 2)</edges>"
        map='<port_map><input external_port_id="0" internal_layer_id="0"/><output external_port_id="1" internal_layer_id="2"/></port_map>'
        layers=$x edges=
        for ((i = 1; i < 13; i += 2)); do
            layers+=$(layer $i "s$i" SoftMax "$axis$through")
            layers+=$(layer $((i + 1)) "t$i" TensorIterator "$through$map<body>$body</body>")
            edges+=$(edge $((i - 1)) 1 $i)$(edge $i 1 $((i + 1)))
        done
        layers+=$(layer 13 y Result "<input>$(port 0)</input>") edges+=$(edge 12 1 13)
        echo "<net name=\"six\" version=\"11\"><layers>$layers</layers><edges>$edges</edges></net>")
    echo "$six" >six.xml
    irrun --dot six.xml >six.dot
    renders six.dot
    grep -qF 'label="6 times"' six.dot
    [ "$(grep -c 'subgraph cluster_b' six.dot)" -eq 1 ]
    [ "$(grep -c 'style=dotted, arrowhead=none' six.dot)" -eq 1 ]
    diff <(grep -oE 'n[0-9]+' six.dot | sort -u) <(grep -oE '^  n[0-9]+ \[label' six.dot | grep -oE 'n[0-9]+' | sort -u)
    usage_error "--dot" --dot --check "$data/sum.xml"
    cp "$root/models/lstm_tagger/model.xml" nowhere.xml
    irrun --dot nowhere.xml | cmp - <(irrun --dot "$root/models/lstm_tagger/model.xml")
}
