#!/usr/bin/env bats
# What people type by mistake is answered with what they meant, ready to be typed.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2046,SC2154 # common.bash sets them
load common

setup() {
    common_setup
    cp "$data/sum.xml" "$data/pair.xml" "$data/twice.xml" "$data/vad.xml" "$data/vad.bin" .
    npy '<f4' '5, 1' 1 2 3 4 5 >five.npy
    sound='-r RATE -c 1 -t s16 - | irrun' rate='-i s16:-; RATE is what the model was trained with'
}

@test "data in the place of the weights, or of the model" {
    answered 2 "'five.npy' is taken for the weights" "give inputs with -i: irrun sum.xml -i five.npy" sum.xml five.npy
    answered 2 "for the weights" "give inputs with -i: irrun sum.xml -i no.csv" sum.xml no.csv
    answered 2 "for the weights" "give inputs with -i: irrun sum.xml -i raw:x" sum.xml raw:x
    answered 2 "for the model" "give inputs with -i: irrun sum.xml -i five.npy" five.npy sum.xml
    answered 2 "for the weights of sum.xml" "irrun runs one model at a time: irrun pair.xml" sum.xml pair.xml
    answered 2 "'a.WAV' is taken for the weights" "give inputs with -i: irrun sum.xml -i a.WAV" sum.xml a.WAV
    answered 2 "'a.M4A' is taken for the weights" "sox a.M4A $sound sum.xml $rate" sum.xml a.M4A
    answered 2 "a.mp3" "sox a.mp3 $sound MODEL.xml $rate" sum.xml -i a.mp3
    answered 2 "b c.mp3" "sox 'b c.mp3' $sound MODEL.xml $rate" sum.xml -i "b c.mp3"
    run_apart irrun vad.xml vad.bin --random -o none:
    [ "$status" -eq 0 ]
}

@test "the value of an option after a blank, wherever it lands" {
    answered 2 "'5' is taken for the model" "write --reset=5" --reset 5 sum.xml -i five.npy
    irrun --inspect - <sum.xml | grep -q '^model: '
    refused 66 "modle.xml: error: cannot be opened" --low-latency modle.xml -i five.npy
    answered 2 "'5' is taken for the weights" "write --reset=5" sum.xml --reset 5 -i five.npy
    answered 2 "'never' is taken for the weights" "write --reset=never" sum.xml -i five.npy --reset never
    answered 2 "'5' is taken for a file" "write --reset=5" vad.xml vad.bin --random --reset 5
    answered 2 "'ones' is taken" "write --random=ones" sum.xml --stats --random ones --reset
    answered 2 "'x=int(0,3)' is taken" "write '--random=x=int(0,3)'" sum.xml --random 'x=int(0,3)'
    answered 2 "'text' is taken" "write --inspect=text" sum.xml --inspect text
    answered 2 "'all' is taken" "write --help=all" --help all
    answered 2 "'5' is taken" "--stats takes no value" sum.xml --random --stats 5
    run_apart irrun sum.xml --random --inspect nonsense
    [ "$status" -eq 2 ]
    [[ $stderr == *"follows '='"* ]]
}

@test "habits from other programs" {
    answered 2 "unknown option -m" "give the model without an option: irrun vad.xml" -m vad.xml --random
    answered 2 "unknown option --model" "give the model without an option: irrun vad.xml" --model vad.xml
    answered 2 "unknown option --model" "give the model without an option: irrun vad.xml" --random --model=vad.xml
    answered 2 "unknown option -d" "irrun runs on the CPU: omit it" vad.xml -d CPU
    answered 2 "'vad.bin' is taken for the model" "the model comes first: irrun vad.xml vad.bin" vad.bin vad.xml
    answered 2 "unknown option -niter" "-n N runs N iterations" vad.xml --random -niter 10
    answered 2 "unknown option --niter" "-n N runs N iterations" vad.xml --random --niter=10
    answered 2 "unknown option -hint" "--jobs=N runs sequences of a manifest side by side" vad.xml -hint latency
    answered 2 "unknown option -t" "--duration=SEC runs for a time" vad.xml --random -t 3
    answered 2 "unknown option -pc" "--profile shows the time of each operator" vad.xml --random -pc
    answered 2 "unknown option -infer_precision" "--precision=f32|f16|bf16; the default is f32" vad.xml -infer_precision f16
    answered 2 "unknown option -input" "did you mean --input?" sum.xml -input five.npy
    answered 2 "unknown option -random" "did you mean --random?" sum.xml -random=ones
    answered 2 "unknown option --info" "--inspect shows inputs, outputs, variables and operators" --info sum.xml
    answered 2 "-n takes its value without '='" "write -n 5" sum.xml --random -n=5
    answered 2 "-o takes its value without '='" "write -o 'my y.npy'" sum.xml --random -qo="my y.npy"
    [ "$(irrun sum.xml -icsv:- -qocsv:- <<<5)" = 5 ]
}

@test "a directory, a model without its ending, weights for the model" {
    mkdir one two none
    cp sum.xml one/m.xml
    cp sum.xml two/a.xml
    cp sum.xml two/model.xml
    answered 66 "one: error: " "did you mean one/m.xml?" one --random
    answered 66 "two/: error: " "did you mean two/model.xml?" two/ --random
    answered 66 "none: error: " "" none --random
    answered 66 "one: error: " "ls one/* | irrun MODEL.xml --manifest=- runs its files" \
        sum.xml --manifest=one
    mkdir "o ne"
    answered 66 "o ne: error: " "ls 'o ne'/* | irrun MODEL.xml --manifest=- runs its files" \
        sum.xml --manifest="o ne"
    answered 2 '"one" is a directory, not a file; it holds ' "--expect=NAME=FILE compares output NAME with a file" sum.xml -i five.npy --expect=one
    answered 2 '"one" is a directory, not a file; it holds ' "ls one/* | irrun MODEL.xml --manifest=- runs its files" sum.xml -i one
    for destination in one one/; do
        answered 2 "\"$destination\" is a directory, not a file" \
            "-o one/%n.npy writes a file for each output; with --manifest %k.npy one for each sequence" sum.xml -o "$destination"
    done
    answered 2 'the format of "five/" is not known' "-o five/%n.npy writes a file for each output; with --manifest %k.npy one for each sequence" \
        sum.xml -o five/
    answered 2 "the format of" "csv:t.tsv reads columns between tabs" sum.xml -i t.tsv
    answered 2 "the format of" "-o sum.jsonl writes a line of JSON for each record" \
        sum.xml -o sum.json
    ln -s nowhere gone.xml
    answered 66 "gone.xml: error: " "the current directory is $PWD" gone.xml --random
    mkdir many
    cp sum.xml many/q.xml # readdir gives them in an order of its own
    local name
    for name in n z k b y m w; do
        cp sum.xml "many/$name.xml"
    done
    answered 66 "many: error: " "it contains 8 models, for example many/b.xml" many --random
    answered 66 "none: error: " "" none --random
    answered 66 "vad: error: " "did you mean vad.xml?" vad --random
    answered 66 "sum.bin: error: " "did you mean sum.xml?" sum.bin --random
    answered 65 "vad.bin: error: is a binary file" "did you mean vad.xml?" vad.bin --random
}

@test "a file that is not there, and one with nearly its name" {
    mkdir in
    cp five.npy in/monday.npy
    answered 66 "in/mondya.npy: error: " "did you mean in/monday.npy?" sum.xml -i in/mondya.npy
    answered 66 "sun.xml: error: " "did you mean sum.xml?" sun.xml --random
    answered 66 "five.npz: error: " "did you mean five.npy?" sum.xml -i five.npz
    answered 66 "inn/monday.npy: error: " "there is no directory inn/" sum.xml -i inn/monday.npy
    answered 66 "sum.xml/monday.npy: error: " "" sum.xml -i sum.xml/monday.npy # no directory, but it is there
    answered 66 "tuesday.npy: error: " "the current directory is $(pwd -P)" sum.xml -i tuesday.npy
    printf 'a\tfiev.npy\n' >list
    answered 66 "fiev.npy: error: " "named in list:1" sum.xml --manifest=list
}

@test "two outputs for one place" {
    answered 2 "two -o write to standard output" "-o text:- writes all outputs; -o %n.npy writes each to its own file" \
        pair.xml --random -o @0=csv:- -o @1=csv:-
    answered 2 "two -o write to y.npy" "text and npz hold several outputs; %n in the file name writes each to its own file" \
        pair.xml --random -o @0=y.npy -o @1=y.npy
}

@test "one file for several outputs" {
    answered 2 "-o csv:-: csv holds one output" \
        "-o all/plus=csv:- writes one of them, -o text:- all of them, -o %n.csv each to its own file" pair.xml --random -o csv:-
    answered 2 "-o y.npy: npy holds one output" \
        "-o all/plus=y.npy writes one of them, -o text:- all of them, -o %n.npy each to its own file" pair.xml --random -o y.npy
    refused 2 "holds one output" pair.xml --random -o d/%k.npy
    [[ $stderr == *", -o d/%n.%k.npy each to its own file"* ]]
    answered 2 "-o raw:y.f32: raw holds one output" \
        "-o all/plus=raw:y.f32 writes one of them, -o text:- all of them, -o %n.raw each to its own file" \
        pair.xml --random -o raw:y.f32
}

@test "an output that is also read" {
    printf '1\n2\n' >rr.csv
    cp rr.csv was.csv
    ln -s rr.csv link.csv
    ln rr.csv hard.csv
    local output elsewhere="write to another file, and rename it after the run"
    for output in rr.csv ./rr.csv link.csv hard.csv sum=rr.csv; do
        answered 2 "irrun: error: -o ${output#sum=} is also an input" "$elsewhere" sum.xml -i rr.csv -o "$output"
    done
    answered 2 "-o rr.csv is also an input" "$elsewhere" sum.xml -i rr.csv -o %k.csv
    ln -s later.csv to_later.csv # a link to a file that does not exist yet
    answered 2 "irrun: error: -o and --report write to to_later.csv" "" sum.xml -i rr.csv -o later.csv --report=to_later.csv
    answered 2 "-o vad.bin is also the model's weights" "" vad.xml --random -o vad.bin
    answered 2 "-o sum.xml is also the model" "" sum.xml --random -o raw:sum.xml
    answered 2 "-o rr.csv is also what --expect compares with" "" sum.xml -i five.npy -o rr.csv --expect=rr.csv
    printf 'a\trr.csv\t>hard.csv\n' >list
    answered 65 "list:1: error: -o hard.csv is also an input" "$elsewhere" sum.xml --manifest=list
    cmp rr.csv was.csv
    cmp vad.bin "$data/vad.bin"
    irrun sum.xml -i raw:/dev/null -o raw:/dev/null -q # what is not a file takes no harm
    irrun sum.xml -i csv:- -o rr.csv <was.csv
}

@test "an axis that is not there, or an array that cannot be cut" {
    answered 2 'input "x" is [1]: its only axis is 0' "write --axis=0:512" sum.xml -i five.npy --axis 1:512
    seq 512 >list
    answered 2 'input "x" is [1,512]: its axes are 0 to 1' "write --axis=1:512" vad.xml -i csv:list --axis -3:512
    answered 2 'its axes are 0 to 1' "write --axis=x=1" vad.xml -i five.npy --axis x=2
    npy '<f4' '512,' $(seq 512) >flat.npy
    answered 65 'but this array is f32 [512]' "--axis needs an array of rank 2: in NumPy x[None] adds an axis in front" \
        vad.xml -i flat.npy --axis 1:512
    npy '<f4' '1, 1, 512' $(seq 512) >stack.npy
    answered 65 'but this array is f32 [1,1,512]' "a stack of records needs no --axis: omit it" \
        vad.xml -i stack.npy --axis 1:512
}

@test "slices that no record takes, and arrays that are longer than one" {
    answered 2 'irrun: error: --axis=1:500: a record of "x" takes 512 numbers along axis 1' \
        "omit --axis, or write --axis=1" vad.xml -i raw:- --axis 1:500 </dev/null
    answered 2 '--axis=x=0:3: a record of "x" takes 1 number along axis 0' "omit --axis, or write --axis=x=0" \
        vad.xml -i csv:- --axis x=0:3 </dev/null
    npy '<f4' '1, 1536' $(seq 1536) >clip.npy
    answered 2 'a record of "x" takes 512 numbers' "write --axis=1" vad.xml -i clip.npy --axis 1:500
    answered 2 'input "x" is [1,512]: its axes are 0 to 1' "write --axis=1:512" vad.xml -i clip.npy --axis 512
    answered 2 'its axes are 0 to 1' "write --axis=1" vad.xml -i raw:- --axis 500 </dev/null
    answered 65 'but this array is f32 [1,1536]' "--axis=1 splits it into 3 records" vad.xml -i clip.npy
    [ "$(irrun vad.xml -i clip.npy --axis=1 -o csv:- | wc -l)" -eq 3 ]
    npy '<f4' '1, 1100' $(seq 1100) >clip.npy
    answered 65 'but this array is f32 [1,1100]' \
        "--axis=1 splits it into 3 records with --partial=pad, 2 with --partial=drop" vad.xml -i clip.npy
    npy '<f4' '1, 12' $(seq 12) >short.npy
    answered 65 'but this array is f32 [1,12]' "--axis=1 --partial=pad adds 500 zeros" vad.xml -i short.npy
    [ "$(irrun vad.xml -i short.npy --axis=1 --partial=pad -o csv:- | wc -l)" -eq 1 ]
    npy '<f4' '512,' $(seq 512) >flat.npy
    answered 65 'but this array is f32 [512]' "a record has rank 2: in NumPy x[None] adds an axis in front" vad.xml -i flat.npy
    npy '<f4' '1536,' $(seq 1536) >flat.npy
    answered 65 'but this array is f32 [1536]' \
        "a record has rank 2: in NumPy x[None] adds an axis in front, --axis=1 then cuts it" vad.xml -i flat.npy
    npy '<i4' '3,' 1 2 3 >three.npy
    sed 's|shape="2"|shape="3,1"|; s|<dim>2</dim>|<dim>3</dim><dim>1</dim>|' "$data/twice_i32.xml" >column.xml
    answered 65 'is i32 [3,1], but this array is i32 [3]' "in NumPy np.expand_dims(x, 1) adds the axis" column.xml -i three.npy
    npy '<f4' '512, 1' $(seq 512) >turned.npy
    answered 65 'but this array is f32 [512,1]' "in NumPy np.moveaxis(x, 1, 0) has the axes in this order" vad.xml -i turned.npy
    npy '<f4' '512, 3' $(seq 1536) >turned.npy
    answered 65 'but this array is f32 [512,3]' "in NumPy np.moveaxis(x, 1, 0) has the axes in this order; --axis=0 then cuts it" vad.xml -i turned.npy
    npy '<f4' '2, 3' $(seq 6) >other.npy
    answered 65 'but this array is f32 [2,3]' \
        "one record has rank 2, a stack of records rank 3; --axis=K splits an array along axis K" vad.xml -i other.npy
    npy '<f4' '8,' $(seq 8) >long.npy
    answered 65 'but this array is f32 [8]' "--axis=b=0 splits it into 4 records" \
        pair.xml -i a=raw:/dev/zero -i b=long.npy
}

@test "an array that --axis cannot make fit" {
    npy '<f4' '2, 512' $(seq 1024) >two.npy
    answered 65 'but this array is f32 [2,512]' "" vad.xml -i two.npy --axis=1
}

@test "--rate" {
    answered 2 "--rate counts frames along --axis" "add --axis=K; 1 is the second axis" \
        vad.xml --random --rate=16000
    refused 2 'no data for input "x"' vad.xml --rate=16000
    run_apart irrun vad.xml --random --rate=16000 --axis=1 -n 10 -s -o none:
    [[ $stderr =~ real-time\ factor\ +[0-9] ]]
}

@test "files of variables are npz" {
    answered 2 "'x.npy' is npy by its name" "write --state-out=x.npz" sum.xml --random -o none: --state-out=x.npy
    answered 2 "--state-in: 's/x.csv' is csv by its name, but must be an npz file" "--state-out=FILE.npz writes a state" sum.xml --random -o none: --state-in=s/x.csv
    answered 2 "'raw:x' is raw by its name" "write --tap-all=x.npz" sum.xml --random -o none: --tap-all=raw:x
    run_apart irrun sum.xml --random -o none: --state-out=state --tap-all=x.y/all.npz
    [ "$status" -eq 73 ] # there is no directory x.y
    [ ! -e x.npy ]
}

@test "a word that an option does not know" {
    answered 2 "--iterations must be a whole number from 0 up, not 'abc'" "for example --iterations=1" sum.xml --random -n abc
    answered 2 "not '1k'" "write --iterations=1000" sum.xml --random -n 1k
    answered 2 "not '2e3'" "write --iterations=2000" sum.xml --random -n 2e3
    answered 2 "not '1.5GiB'" "write --max-memory=1610612736" sum.xml --random --max-memory=1.5GiB
    answered 2 "not '-1'" "for example --iterations=1" sum.xml --random -n -1
    answered 2 "not '1.5'" "for example --iterations=1" sum.xml --random -n 1.5
    answered 2 "--report needs a value: --report=FILE|-" "if it is -a.json: --report=-a.json" sum.xml --random --report -a.json
    refused 2 "--report needs a value: --report=FILE|-" sum.xml --random --report -o none:
    [[ $stderr != *hint* ]]
    answered 2 "--iterations needs a value: --iterations=N" "" sum.xml --random -n
    answered 2 "--reset: unknown value 'foo'" "use never, sequence, iteration, if:NAME, or a number from 1 up" \
        sum.xml --random --reset=foo
    answered 2 "unknown option --stat: options cannot be abbreviated" \
        "--state-in, --state-out, --state-any-model, --stats" sum.xml --random --stat
    answered 2 "irrun: error: --emit takes all, last or none, not 'every'" "" sum.xml --random --emit=every
    answered 2 "irrun: error: --emit takes all, last or none, not 'LAST'" "did you mean --emit=last?" sum.xml --random --emit=LAST
    answered 2 "irrun: error: --reset-to takes init or state, not 'zero'" "" sum.xml --random --reset-to=zero
    answered 2 "irrun: error: --help takes all, not 'axis'" "" --help=axis
}

@test "nothing is said twice" {
    printf '<?xml version="1.0"?>\n<net name="x" version="11">\n  <layers>&</layers></net>\n' >bad.xml
    run_apart irrun bad.xml --random
    [[ $stderr == "bad.xml:3:"*": error: not well-formed XML: a character that is not allowed here"* ]]
    [ "$(grep -o 'not well-formed' <<<"$stderr" | wc -l)" -eq 1 ]
    npy '<f4' '5, 1, 1, 1' 1 2 3 4 5 >deep.npy
    run_apart irrun sum.xml -i five.npy --expect=deep.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *'output "sum" (deep.npy): record 0 is f32 [1], expected f32 [5,1,1,1]'* ]]
    [ "$(grep -o '"sum"' <<<"$stderr" | wc -l)" -eq 1 ]
}

@test "a name of an input or output that is nearly right" {
    answered 2 'no input "frist"' "did you mean first?" pair.xml --random -i frist=five.npy
    answered 2 'no output "mimus"' "did you mean minus?" pair.xml --random -o mimus=csv:-
    answered 2 'no input "firsts_of_all"' "did you mean first?" pair.xml --random -i firsts_of_all=five.npy
    answered 2 'no output "min"' "did you mean minus?" pair.xml --random -o min=csv:-
    answered 2 'no output "nothing"' "--tap=NAME makes a tensor an output; --list-ops lists them" pair.xml --random -o nothing=csv:-
}

@test "a format that the file itself contradicts" {
    answered 65 "five.npy: byte 0: error: is an npy document, not raw" "read it as npy:five.npy" sum.xml -i raw:five.npy
    answered 65 "five.npy: byte 0: error: is an npy document, not csv" "read it as npy:five.npy" sum.xml -i csv:five.npy
    answered 65 "five.npy: byte 0: error: is an npy document, not npz" "read it as npy:five.npy" sum.xml -i npz:five.npy
    answered 65 "five.npy: byte 0: error: is an npy document, not ark" "read it as npy:five.npy" sum.xml -i ark:five.npy
    local format
    irrun sum.xml -i five.npy -o y.npz
    for format in npy raw csv ark; do
        answered 65 "y.npz: byte 0: error: is an npz archive, not $format" "read it as npz:y.npz" sum.xml -i $format:y.npz
    done
    answered 65 "standard input: byte 0: error: is an npy document, not raw" "read it as npy:-" sum.xml -i raw:- <five.npy
    printf '1,2\n' >text.npy
    answered 65 "text.npy: byte 0: error: is text, not npy" "if it holds numbers, read it as csv:text.npy" sum.xml -i text.npy
    answered 65 "text.npy: byte 0: error: is text, not npz" "if it holds numbers, read it as csv:text.npy" sum.xml -i npz:text.npy
    answered 65 "standard input: byte 0: error: is text, not npy" "if it holds numbers, read it as csv:-" sum.xml -i npy:- <text.npy
    printf 'RIFF1234WAVEfmt ' >a.wav
    for format in raw csv npy npz ark; do
        answered 65 "a.wav: byte 0: error: is a sound file" "read it as wav:a.wav" \
            sum.xml -i $format:a.wav
    done
    raw 1 2 >short.raw
    [ "$(irrun sum.xml -i short.raw -o csv:- | tail -n 1)" = 3 ]
    printf 'Rome [ 7 ]\n' >keys.ark
    [ "$(irrun sum.xml -i keys.ark -o csv:-)" = 7 ]
    answered 65 'keys.ark:1:1: error: "Rome" is not a number' "if it is a header line: tail -n +2 FILE | irrun ... -i csv:-" \
        sum.xml -i csv:keys.ark
}

@test "csv that is not quite csv" {
    local heading="if it is a header line: tail -n +2 FILE | irrun ... -i csv:-"
    printf '1\nnine\n' >x.csv
    answered 65 'x.csv:2:1: error: "nine" is not a number' \
        "nan stands for a missing number; sed 2d FILE | irrun ... -i csv:- leaves the line out" sum.xml -i x.csv -o none:
    printf '1,"a b"\n' >x.csv
    answered 65 'x.csv:1:3: error: ""a" is not a number' \
        "--columns=A,B,... reads columns of numbers beside text in quotes; a column is a heading, or a number from 0" \
        twice.xml -i x.csv
    printf '"1,5"\n' >x.csv
    answered 65 'x.csv:1:1: error: ""1" is not a number' \
        "decimals have a point: sed -E 's/\"([-+0-9]+),([0-9]+)\"/\\1.\\2/g' FILE | irrun ... -i csv:-" sum.xml -i x.csv
    printf '1,7\n2,8\n' >x.csv
    answered 65 "x.csv:1:2: error: 2 numbers in this line, but the record takes 1" \
        "--columns=1 reads the second, counted from 0; a decimal comma becomes a point: tr , . <FILE | irrun ... -i csv:-" sum.xml -i x.csv
    [ "$(irrun sum.xml -i x.csv --columns=1 -o csv:- | lines)" = "7 15" ]
    printf '1 7 9\n' >x.csv
    answered 65 "3 numbers in this line, but the record takes 1" "a record takes one or more whole lines" sum.xml -i x.csv
    local comma="a line must not end with a comma: sed 's/,[[:space:]]*\$//' FILE | irrun ... -i csv:-"
    printf '1,\n2,\n' >x.csv
    answered 65 "x.csv:1:3: error: a number is missing in column 1, counted from 0" "$comma" sum.xml -i x.csv
    [ "$(sed 's/,[[:space:]]*$//' x.csv | irrun sum.xml -i csv:- -o csv:- | lines)" = "1 3" ]
    printf '1, \r\n' >x.csv
    answered 65 "a number is missing in column 1, counted from 0" "$comma" sum.xml -i x.csv
    printf '1,,\n' >x.csv
    local left_out="nan stands for a missing number; grep -vE '^[[:space:]]*,|,[[:space:]]*,' FILE | irrun ... -i csv:- leaves such lines out"
    answered 65 "x.csv:1:3: error: a number is missing in column 1, counted from 0" "$left_out" sum.xml -i x.csv
    printf '7\n1, ,2\n ,\n8\n' >x.csv
    answered 65 "x.csv:2:4: error: a number is missing in column 1, counted from 0" "$left_out" sum.xml -i x.csv -o none:
    [ "$(grep -vE '^[[:space:]]*,|,[[:space:]]*,' x.csv | irrun sum.xml -i csv:- -o csv:- | lines)" = "7 15" ]
    printf '1,2\n,4\n' >x.csv
    answered 65 "x.csv:2:1: error: a number is missing in column 0, counted from 0" "$left_out" twice.xml -i x.csv -o none:
    printf '1,2\n3,\n' >x.csv
    answered 65 "x.csv:2:3: error: a number is missing in column 1, counted from 0" \
        "nan stands for a missing number; if every line ends with a comma: sed 's/,[[:space:]]*\$//' FILE | irrun ... -i csv:-" \
        twice.xml -i x.csv -o none:
    [ "$(sed '2s/$/nan/' x.csv | irrun twice.xml -i csv:- -o csv:- | lines)" = "2,4 6,nan" ]
    printf 'time temperature\n1 2\n' >x.csv
    answered 65 '"time" is not a number' "$heading" sum.xml -i x.csv
    local columns="if it is a heading, name the columns by it: --columns=time[,NAME]"
    printf 'time,temperature\n1,2\n' >x.csv
    answered 65 '"time" is not a number' "$columns" sum.xml -i x.csv
    printf 'time\n1\n' >x.csv
    answered 65 '"time" is not a number' "$columns" sum.xml -i x.csv
    [ "$(irrun sum.xml -i x.csv --columns=time -o csv:-)" = 1 ]
    printf '1,time\n' >x.csv
    refused 65 "4 numbers in this line, but the record takes 1" sum.xml -i csv:- < <(printf '1,2,' && sleep 0.3 && echo 3,4)
    answered 65 "2 numbers in this line" "--columns=1 reads the second, counted from 0; a decimal comma becomes a point: tr , . <FILE | irrun ... -i csv:-" sum.xml -i x.csv
    printf '\1\2\3\n' >x.csv
    answered 65 'x.csv:1:1: error: ' "" sum.xml -i x.csv
    printf '1\n2\n' | gzip -c >x.csv
    answered 65 "x.csv: byte 0: error: is compressed with gzip, not csv" "gunzip -c x.csv | irrun ... -i csv:-" sum.xml -i x.csv
    answered 65 "is compressed with gzip, not csv" "gunzip -c FILE | irrun ... -i csv:-" sum.xml -i csv:- <x.csv
    answered 65 "is compressed with gzip, not npy" "gunzip -c x.csv | irrun ... -i npy:-" sum.xml -i npy:x.csv
    printf '.5\n' >x.csv
    [ "$(irrun sum.xml -i x.csv -o csv:-)" = 0.5 ]
}

@test "a standard stream has one name, after the program's" {
    answered 65 "irrun: standard input: byte 0: error: " "read it as npy:-" sum.xml -i raw:- <five.npy
    head -c 100 "$data/vad.xml" >cut.xml
    run_apart irrun - --random <cut.xml
    [[ $stderr == "irrun: standard input:"*": error: "* ]]
    run_apart irrun sum.xml -i npz:- </dev/null
    [[ $stderr == "irrun: standard input: error: "* ]]
    run_apart irrun - --inspect <"$data/lacking.xml"
    [[ $output != *"<stdin>"* ]]
    # shellcheck disable=SC2016 # the inner shell's
    run_apart bash -c '"$1" sum.xml --random >/dev/full' bash "$IRRUN"
    [[ $stderr == "irrun: standard output: error: "* ]]
}

@test "a pipe whose first bytes contradict what it is read as" {
    printf 'RIFF1234WAVEfmt ' >a.wav
    printf '.snd\0\0\0\30\0\0\0\0' >a.snd
    local file
    for file in a.wav a.snd; do
        answered 65 "standard input: byte 0: error: is a sound file" "sox FILE.wav $sound MODEL.xml $rate" \
            sum.xml -i raw:- -o none: < <(cat $file)
    done
    irrun sum.xml -i five.npy -o y.npz
    answered 65 "is an npy document, not raw" "read it as npy:-" sum.xml -i raw:- -o none: < <(cat five.npy)
    answered 65 "is an npz archive, not raw" "read it as npz:-" sum.xml -i raw:- -o none: < <(cat y.npz)
    # Nothing is waited for: fewer bytes than it takes to tell are answered at once.
    mkfifo questions answers
    irrun sum.xml -i raw:questions -o csv:- --line-buffer >answers &
    exec 8<answers 7>questions
    local answer
    raw 5 >&7
    read -r -t 5 answer <&8
    [ "$answer" = 5 ]
    exec 7>&- 8<&-
    wait
}

@test "a copy that was interrupted" {
    local n
    n=$(wc -c <five.npy)
    head -c $((n - 8)) five.npy >cut.npy
    answered 65 "cut.npy: byte $((n - 8)): error: the file is truncated: 8 of the 20 bytes" \
        "it ends after $((n - 8)) of $n bytes: was a copy interrupted?" sum.xml -i cut.npy
    answered 65 "standard input: byte $((n - 8))" "it ends after $((n - 8)) of $n bytes: was a copy interrupted?" \
        sum.xml -o none: -i npy:- < <(cat cut.npy)
    head -c 60 five.npy >cut.npy
    answered 65 "it ends inside an npy header" "it ends 60 bytes into a header of $((n - 20)): was a copy interrupted?" \
        sum.xml -i cut.npy
    irrun sum.xml -i five.npy -o y.npz
    head -c 100 y.npz >cut.npz
    answered 65 "cut.npz: error: the archive is truncated" "it ends after 100 bytes: was a copy interrupted?" sum.xml -i cut.npz
}

@test "a directory for outputs that is not there" {
    answered 73 "no/such/y.npy: error: cannot be created" "mkdir -p no/such" sum.xml -i five.npy -o no/such/y.npy
    printf 'one\tfive.npy\n' >list
    answered 73 "no/one.npy: error: cannot be created" "mkdir -p no" sum.xml --manifest=list -o no/%k.npy
    answered 73 "no/s.npz: error: cannot be created" "mkdir -p no" sum.xml -i five.npy -o none: --state-out=no/s.npz
    answered 73 "no/r.json: error: cannot be created" "mkdir -p no" sum.xml -i five.npy -o none: --report=no/r.json
    answered 73 "sum.xml/y.npy: error: cannot be created" "" sum.xml -i five.npy -o sum.xml/y.npy
}

# Root without the right to pass over permissions is refused as others are.
as_user() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --bounding-set=-dac_override,-dac_read_search "$IRRUN" "$@"
    else
        "$IRRUN" "$@"
    fi
}

# denied STATUS PLACE ARGUMENT...
denied() {
    run_apart as_user "${@:3}"
    echo "${*:3}: $status, $stderr"
    [ "$status" -eq "$1" ]
    [ "$(sed -n 's/^  hint: //p' <<<"$stderr")" = "ls -ld $2 shows its permissions" ]
}

@test "a permission is missing: of a file, of a directory, on the way to it" {
    mkdir -p "r o" closed/in
    cp sum.xml secret.xml
    cp five.npy secret.npy
    cp five.npy closed/in
    chmod 000 secret.xml secret.npy closed
    chmod 555 "r o"
    printf 'one\tfive.npy\n' >list
    denied 66 secret.xml secret.xml --random
    denied 66 secret.npy sum.xml -i secret.npy
    denied 66 closed sum.xml -i closed/in/five.npy
    denied 73 closed sum.xml -i five.npy -o closed/in/y.npy
    denied 73 "'r o'" sum.xml -i five.npy -o "r o/y.npy"
    denied 73 "'r o'" sum.xml --manifest=list -o "r o/%k.npy"
    denied 73 "'r o'" sum.xml -i five.npy -o none: --state-out="r o/s.npz"
    chmod 755 closed "r o"
}

@test "a stack with --rate and --axis" {
    npy '<f4' '3, 1' 1 2 3 >stack.npy
    answered 65 "this array is f32 [3,1]" \
        "--rate counts along the axis: in NumPy np.concatenate(x, 0) joins the records, which --axis divides again" \
        sum.xml -i stack.npy --rate=10 --axis=0
    answered 65 "this array is f32 [3,1]" "a stack of records needs no --axis: omit it" sum.xml -i stack.npy --axis=0
}

@test "a manifest that is something else" {
    local form="a line is KEY<tab>NAME=FILE<tab>..., or only a file"
    printf 'five.npy\0five.npy\0' >list
    answered 65 "list:1: error: contains a NUL byte" "tr '\\0' '\\n' <FILE | irrun ... --manifest=-" sum.xml --manifest=list -o none:
    [ "$(tr '\0' '\n' <list | irrun sum.xml --manifest=- -o csv:- | wc -l)" -eq 10 ]
    printf '\377\376f\0i\0v\0e\0.\0n\0p\0y\0\n\0' >list
    answered 65 "list:1: error: contains a NUL byte" "iconv -f UTF-16 -t UTF-8 FILE | irrun ... --manifest=-" \
        sum.xml --manifest=list -o none:
    ls -l five.npy >list
    answered 65 "list:1: error: is a line of ls -l, not the name of a file" "ls FOLDER/* | irrun ... --manifest=-" \
        sum.xml --manifest=list -o none:
    sed -i '1i total 4' list
    refused 65 "list:1: error: is a line of ls -l" sum.xml --manifest=list -o none:
    mkdir folder && cp five.npy folder/six.npy
    answered 66 "six.npy: error: cannot be opened" \
        "named in standard input:1; ls FOLDER/* | irrun ... --manifest=- names the folder, too" \
        sum.xml --manifest=- -o none: <<<six.npy
    [ "$(printf '%s\n' folder/* | irrun sum.xml --manifest=- -o csv:- | wc -l)" -eq 5 ]
    echo five >list
    answered 65 'list:1: error: no data for input "x" (f32 [1])' "a line of the manifest names the file: KEY<tab>x=FILE" \
        sum.xml --manifest=list -o none:
    printf '\tx=five.npy\n' >list
    answered 65 "list:1: error: does not start with a key" "$form" sum.xml --manifest=list -o none:
    printf 'a\tx=\n' >list
    answered 65 "list:1: error: a field has no name or no file" "$form" sum.xml --manifest=list -o none:
    printf 'a\tfive.npy\na\tfive.npy\n' >list
    answered 65 'list:2: error: key "a" is already in y.ark (list:1)' \
        "each sequence needs a key of its own: cut -f 1 FILE | sort | uniq -d lists those that occur twice" \
        sum.xml --manifest=list -o y.ark
}

@test "a format without its colon, or that only writes" {
    answered 2 '"csv" has no path' "csv:- is standard output" sum.xml -i five.npy -o sum=csv
    answered 2 '"csv" has no path' "csv:- is standard input" sum.xml -i x=csv
    answered 2 '"npz" has no path' "npz:FILE names a file" sum.xml -i five.npy -o npz
    answered 2 '"none" has no colon' "write none:" sum.xml -i five.npy -o none
    answered 2 '"count" has no colon' "write count:" sum.xml -i count
    answered 2 '"value" has no value' "value:1 is the number 1" sum.xml -i x=value
    answered 2 'format s16 is only for inputs' '' sum.xml -i five.npy -o s16
    answered 2 'format jsonl is only for outputs' "jq -r '.NAME | flatten | @csv' FILE | irrun MODEL.xml -i csv:-" \
        sum.xml -i sum.jsonl
    answered 2 'the format of "a.PNG" is not known' \
        'convert it with Python: numpy.save("x.npy", array) writes an array of the type and shape of the input' sum.xml -i a.PNG
    answered 2 'the format of "a.flac" is not known' 'write FORMAT:a.flac with one of: text npy npz raw csv ark wav jsonl none' \
        sum.xml -i five.npy -o a.flac
}

@test "a number, a text or an action without its prefix; %n in --expect" {
    answered 2 'the format of "7.5" is not known' "did you mean value:7.5?" sum.xml -i 7.5
    [ "$(irrun sum.xml -i value:7.5 -o csv:-)" = 7.5 ]
    answered 2 'value: "it'\''s" is not a number' "printf %s 'it'\\''s' | irrun ... -i x=raw:- reads characters" \
        "$data/twice_u8.xml" -i "value:it's"
    answered 2 "'help' is taken for the model" "did you mean irrun --help?" help
    answered 2 "'inspect' is taken for the model" "did you mean irrun --inspect sum.xml?" inspect sum.xml
    local none="%n is for -o; --expect=NAME=FILE compares one output, --expect=FILE.npz all outputs"
    answered 66 "y_%n.npy: error: cannot be opened" "$none" sum.xml -i five.npy --expect=y_%n.npy
    answered 2 "--expect=%n.npy needs a name" "write --expect=all/plus=FILE" pair.xml --random --expect=%n.npy
}

@test "a directory in the place of a file" {
    mkdir dir
    answered 73 "dir: error: cannot be created" "name a file in it: dir/FILE" sum.xml -i five.npy -o csv:dir
    answered 73 "dir: error: cannot be created" "name a file in it: dir/FILE" sum.xml -i five.npy -o none: --state-out=dir
    answered 66 "dir/: error: cannot be read" "ls dir/* | irrun MODEL.xml --manifest=- runs its files" sum.xml -i csv:dir/
    answered 66 "dir: error: cannot be read" "" sum.xml -i five.npy --state-in=dir
}

@test "a word of --feed" {
    local what="is neither :argmax nor :sample(T,K,P)"
    answered 2 "--feed: ':argmx' $what" "write --feed=sum=x:argmax" sum.xml --feed=sum=x:argmx -n 2 -o x=csv:-
    answered 2 "--feed: ':smaple(1)' $what" "write '--feed=sum=x:sample(1)'" sum.xml '--feed=sum=x:smaple(1)' -n 2
    answered 2 'no input "y"' "" sum.xml --feed=sum=y:argmax -n 2
    answered 2 'no input "y:max"' "" sum.xml --feed=sum=y:max -n 2
}

@test "values of --until, --concat and --shape" {
    answered 2 "--until: '3' is not NAME=NUMBER" "name the output: --until=NAME=3" sum.xml --random --until=3
    answered 2 "--until: 'sum' is not" "the sequence ends when the output equals the number: --until=sum=1" \
        sum.xml --random --until=sum
    answered 2 "--until: 'sum=yes' is not" "the sequence ends when the output equals the number: --until=sum=1" \
        sum.xml --random --until=sum=yes
    answered 2 "--until: 'sum=nan' is not" "the sequence ends when the output equals the number: --until=sum=1" \
        sum.xml --random --until=sum=nan
    answered 2 "--until: 'sum=.' is not" "a character is given by its number: --until=sum=46" sum.xml --random --until=sum=.
    answered 2 "--concat: 'x' is not an axis" "axes are counted from 0, or backwards from -1: --concat=sum=0" \
        sum.xml --random --concat=sum=x
    answered 2 "--axis: 'x' is not an axis" "axes are counted from 0, or backwards from -1: --axis=0" \
        sum.xml --random --axis=x
    answered 2 'output "sum" is [1]: it has no axis 1' "its only axis is 0" sum.xml -i five.npy -o y.npy --concat=1
    answered 2 'it has no axis 2' "its axes are 0 to 1" "$data/twice_open.xml" --random --shape=x=1,2 -o y.npy --concat=2
    answered 2 'input "x" is [?,2], which does not match [2]' "write --shape=x=D,2 with a number for D" \
        "$data/twice_open.xml" --random --shape=x=2
    answered 2 'input "x" is [1], which does not match [2]' "it has no open dimension: omit --shape" \
        sum.xml --random --shape=x=2
    local many=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
    answered 2 "--shape: 'x=$many' is not NAME=D,D,..." \
        "dimensions are numbers separated by commas, at most 16: --shape=x=1,512" "$data/twice_open.xml" --random --shape=x=$many
    answered 2 "--random: 'uniform(-1e308,1e308)' is not a distribution" "uniform(a,b), normal(m,s), int(a,b), zeros, ones or arange, \
with a <= b and s >= 0" sum.xml --random='uniform(-1e308,1e308)'
    answered 2 "--shape: '4,2' is not NAME=D,D,..." "name the input: --shape=x=4,2" "$data/twice_open.xml" --random --shape=4,2
    answered 2 "--shape: 'x=[1,3]' is not" "dimensions are numbers separated by commas, at most 16: --shape=x=1,3" \
        "$data/twice_open.xml" --random '--shape=x=[1,3]'
    answered 2 "--shape: 'x=-1,3' is not" "dimensions are numbers separated by commas, at most 16: --shape=x=1,512" \
        "$data/twice_open.xml" --random --shape=x=-1,3
    answered 2 "--shape: 'x=4x2' is not" "dimensions are numbers separated by commas, at most 16: --shape=x=4,2" \
        "$data/twice_open.xml" --random --shape=x=4x2
}

@test "an axis beyond the rank, or an unknown name, whether or not something is written" {
    local what name
    for what in "-o none:" --emit=none "-n 0" "-n 0 -o y.npy" "-o y.npy" "-o y.csv" --expect=five.npy "-r report.json -o none:" --check; do
        # shellcheck disable=SC2086 # several words
        {
            answered 2 'output "sum" is [1]: it has no axis -9' "its only axis is 0" sum.xml -i five.npy --concat=-9 $what
            answered 2 'output "sum" is [1]: it has no axis 1' "its only axis is 0" sum.xml -i five.npy --concat=result=1 $what
            answered 2 '--axis=-9: input "x" is [1]: its only axis is 0' "write --axis=0" sum.xml --random --axis=-9 $what
            answered 2 '--axis=2: input "x" is [1]: its only axis is 0' "write --axis=x=0" sum.xml -i five.npy --axis=x=2 $what
            for name in concat atol rtol; do
                answered 2 'no output "nosuch"' "" sum.xml -i five.npy --$name=nosuch=0 $what
            done
            answered 2 'no input "nosuch"' "" sum.xml -i five.npy --axis=nosuch=0 $what
        }
        [ ! -e y.npy ] && [ ! -e y.csv ]
    done
    answered 2 '--axis=1: input "x" is [1]' "write --axis=0" sum.xml --check --axis=1
    answered 2 'output "sum" is [1]: it has no axis 1' "its only axis is 0" sum.xml --check --concat=1
    # A line of a manifest says which data; the shape that only the data tells; an output that is not asked for.
    printf 'a\tfive.npy\t>none:\n' >list
    answered 65 'list:1: error: output "sum" is [1]: it has no axis 1' "its only axis is 0" sum.xml --manifest=list --concat=1
    answered 2 'it has no axis 2' "its axes are 0 to 1" "$data/twice_any.xml" --random --shape=x=1,2 -o none: --concat=2
    irrun "$data/twice_any.xml" --random --shape=x=1,2 -o none: --concat=1
    irrun "$data/copy.xml" --random --shape=a=2 --shape=fresh=1,2 -o fresh=y.npy --concat=1
    answered 2 'output "a" is [2]: it has no axis 1' "its only axis is 0" \
        "$data/copy.xml" --random --shape=a=2 --shape=fresh=1,2 -o none: --concat=1
}

@test "an option that irrun does not support" {
    local option
    for option in qqq zzz; do
        answered 2 "irrun: error: unknown option --${option%=*}" "irrun --help=all lists them" sum.xml --random --$option
    done
    answered 2 "unknown option --axsi" "did you mean --axis?" sum.xml --random --axsi=1
    answered 2 "unknown option --tats" "did you mean --stats?" sum.xml --random --tats
    answered 2 "unknown option --save_state" "--state-in, --state-out, --state-any-model" \
        sum.xml --random --save_state=s.npz
    answered 2 "unknown option --num-threads" "--threads" sum.xml --random --num-threads=2
    answered 2 "unknown option --iters" "-n N runs N iterations" sum.xml --random --iters=2
    answered 2 "unknown option --plot" "irrun --help=all lists them" sum.xml --random --plot
    answered 2 "unknown option -W" "irrun --help=all lists them" sum.xml --random -W
    answered 2 "--inspect takes text or json, not 'jso'" "did you mean --inspect=json?" sum.xml --inspect=jso
}

@test "a member that is not an input" {
    irrun pair.xml --random -o y.npz
    answered 65 'y.npz: error: member: no input "all/plus"; the model has:' \
        "every member must have one of these names; does y.npz belong to another model?" sum.xml -i y.npz
    answered 65 'member: no output "all/plus"; the model has:' \
        "every member must have one of these names; does y.npz belong to another model?" sum.xml --random --expect=y.npz
    [ "$(grep 'error: ' <<<"$stderr" | grep -o 'all/plus' | wc -l)" -eq 1 ]
    irrun sum.xml -i five.npy -o z.npz
    answered 65 'member: no input "sum"; the model has:' 'to read it as "x": -i x=z.npz' sum.xml -i z.npz
    irrun sum.xml -i x=z.npz -o none:
}

@test "models of other programs, and how the very file is converted" {
    printf '\x08\x07\x12\x04test' >m.onnx
    cp m.onnx "a b.onnx"
    printf '\x1c\0\0\0TFL3xx' >n.tflite
    printf '\x01\0\0\0\0\0\0blob' >c.blob
    gzip -c sum.xml >s.xml.gz
    answered 65 "is an ONNX model" "convert it to OpenVINO IR first: ovc m.onnx" m.onnx --random
    answered 65 "is an ONNX model" "convert it to OpenVINO IR first: ovc 'a b.onnx'" "a b.onnx" --random
    answered 65 "is a TensorFlow Lite model" "convert it to OpenVINO IR first: ovc n.tflite" n.tflite
    answered 65 "c.blob: error: " "a .blob is compiled for one device: give the .xml it was made from" c.blob
    answered 65 "is compressed with gzip" "unpack it: gunzip -c s.xml.gz >model.xml" s.xml.gz --random
    answered 2 "must be a number above 0, not '16k'" "write --rate=16000" sum.xml --rate=16k
    answered 2 "must be a number above 0, not '-1k'" "" sum.xml --rate=-1k
    answered 2 'format of "cvs:-" is not known' "did you mean csv:-?" sum.xml -i cvs:-
    answered 2 'format of "x.csv.gz" is not known' "gunzip -c x.csv.gz | irrun MODEL.xml -i csv:-" sum.xml -i x.csv.gz
}

@test "a URL, and weights under another name" {
    answered 66 "https://a.org/m.xml: error: " "irrun reads files; to fetch it: curl -LO https://a.org/m.xml" \
        https://a.org/m.xml --random
    answered 66 "https://a.org/x.npy: error: " "irrun reads files; to fetch it: curl -LO https://a.org/x.npy" \
        sum.xml -i https://a.org/x.npy
    mkdir w && cp vad.xml w
    answered 66 "w/vad.bin: error: cannot be opened" "Const \"axis\" (w/vad.xml:18) needs the weights; give another file as the second argument" \
        w/vad.xml --random
    cp vad.bin w/other.bin
    answered 66 "w/vad.bin: error: cannot be opened" \
        "there is another .bin in its directory; to use it: irrun w/vad.xml w/other.bin" w/vad.xml --random
    irrun w/vad.xml w/other.bin --random -o none:
}

@test "names with blanks, without quotes and in hints" {
    cp sum.xml "my sum.xml"
    echo 1 >"my clip.csv"
    mkdir "o ne"
    answered 2 '"o ne" is a directory' "-o 'o ne'/%n.npy writes a file for each output; with --manifest %k.npy one for each sequence" sum.xml -o "o ne"
    answered 2 "'sum.bin' is taken for the model" "the model comes first: irrun 'my sum.xml' sum.bin" sum.bin "my sum.xml"
    answered 2 "unknown option -m" "give the model without an option: irrun 'my sum.xml'" -m "my sum.xml"
    answered 2 "'my' and 'sum.xml' are taken for two files" "quote a name with blanks: 'my sum.xml'" my sum.xml --random
    answered 2 'format of "my" is not known' "quote a name with blanks: 'my clip.csv'" sum.xml -i my clip.csv
    answered 2 'format of "my" is not known' "quote a name with blanks: 'x=my clip.csv'" sum.xml -i x=my clip.csv
    answered 66 "my smu.xml: error: " "did you mean 'my sum.xml'?" "my smu.xml" --random
    answered 2 "is taken for the weights" "give inputs with -i: irrun sum.xml -i 'my clip.csv'" sum.xml "my clip.csv"
}

@test "two sources for one input, one record beside a stack, a stack of other records" {
    echo 1 >a.csv
    echo 2 >b.csv
    answered 2 'input "x" has two sources, a.csv and b.csv' \
        "printf '%s\\n' a.csv b.csv | irrun MODEL.xml --manifest=- runs them as two sequences" sum.xml -i a.csv -i b.csv
    npy '<f4' '3, 2' 1 2 3 4 5 6 >stack.npy
    npy '<f4' '1, 2' 1 2 >one.npy
    answered 65 'input "b" (one.npy) has 1 record, but input "a" (stack.npy) has more' \
        "it is a stack of length 1, so its one record is not repeated; an array of shape [2] (in NumPy, x[0]) would be" \
        pair.xml -i a=stack.npy -i b=one.npy -o none:
    npy '<f4' '4, 2, 256' $(seq 2048) >s.npy
    answered 65 'input "x" is f32 [1,512], but this array is f32 [4,2,256]' \
        "it is a stack of 4 records [2,256]; in NumPy x.reshape(-1,1,512) gives 4 that fit" vad.xml -i s.npy
}

@test "two inputs that are swapped" {
    npy '<f4' '2, 4' $(seq 8) >x.npy
    npy '<i8' '1,' 1 >k.npy
    local swapped=': are two inputs swapped?'
    answered 65 'input "x" is f32, but this array is i64' "it fits input \"k\"$swapped" \
        "$data/pick.xml" -i x=k.npy -i k=x.npy
    answered 65 'input "k" is i64, but this array is f32' "it fits input \"x\"$swapped" \
        "$data/pick.xml" -i k=x.npy -i x=k.npy
}

@test "--check says what it cannot check" {
    run_apart irrun --check "$data/twice_open.xml"
    [ "$status" -eq 0 ]
    [[ $stderr == *'input "x" is [?,2]: shapes, types and memory are not checked'*"--random with --shape=x=D,2, sets"* ]]
    run_apart irrun --check "$root/models/tiny_transformer/model.xml"
    [[ $stderr == *'input "tokens" is [?,?], "beam_idx" is [?]: '*"--random with --shape=tokens=D,D --shape=beam_idx=D, sets"* ]]
    run_apart irrun --check "$data/twice_open.xml" --random --shape=x=3,2
    [ "$stderr" = "" ]
    run_apart irrun --check -q "$data/twice_open.xml"
    [ "$stderr" = "" ]
}

@test "--check reads the inputs of a manifest" {
    printf '1,2\n' >good.csv
    printf 'a\ta=good.csv\nb\ta=bad.csv\n' >list
    answered 66 "bad.csv: error: cannot be opened" "named in list:2" --check "$data/pair.xml" --random --manifest=list
    printf '1,2\n' >bad.csv
    run_apart irrun --check "$data/pair.xml" --random --manifest=list
    [ "$status" -eq 0 ] && [ "$stderr" = "" ]
}

@test "an input that is named in capitals, or not at all; a pipe that is read twice" {
    answered 2 'no input "A"; the model has:' "did you mean a?" pair.xml -i A=five.npy
    answered 2 'no input "c"; the model has:' '' pair.xml -i c=five.npy
    answered 2 'no input "c"; the model has:' "did you mean x?" sum.xml -i c=five.npy
    answered 2 'no data for input "b" (f32 [2])' "-i b=FILE reads an input, --random generates one" pair.xml -i a=value:1
    answered 2 'no data for input "x" (f32 [1])' "-i FILE reads an input, --random generates one" sum.xml
    seq 2 | answered 65 'cannot be read again (ended after 2 records)' "records are repeated from a file, but not from a pipe" sum.xml -i csv:- -n 5 -o none:
}

@test "inputs of a text-generation model without data: the hint fills those that are missing" {
    local model=$data/openvino_model.xml mask="-i attention_mask=ones:input_ids"
    local others="-i position_ids=count:input_ids -i beam_idx=value:0 --shape=beam_idx=1"
    printf '5\n7\n' >prompt.csv
    set -- "$model" -i input_ids=prompt.csv --shape=input_ids=1,1
    answered 2 'no data for input "input_ids"' "add -i input_ids=FILE $mask $others" "$model"
    answered 2 'no data for input "attention_mask"' "add $mask $others" "$@"
    answered 2 'no data for input "position_ids"' "add $others" "$@" -i attention_mask=ones:input_ids
    printf 'a\tinput_ids=prompt.csv\n' >list
    answered 65 'list:1: error: no data for input "attention_mask"' "add $mask $others" "$model" --manifest=list --shape=input_ids=1,1
    # shellcheck disable=SC2086 # several options
    [ "$(irrun "$@" $mask $others --feed=logits=input_ids:argmax -n 3 -o input_ids=csv:-)" = 77 ]
    answered 2 'no data for input "beam_idx"' "-i beam_idx=FILE reads an input, --random generates one" \
        "$root/models/tiny_transformer/model.xml" --random=tokens=zeros --shape=tokens=1,1
}
