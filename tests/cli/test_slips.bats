#!/usr/bin/env bats
# Slips of the hand and habits: several files in one option, units, placeholders, words of other programs. Every hint is tried.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154,SC2016 # common.bash sets them; dollar signs are typed by mistake
load common

setup() {
    common_setup
    cp "$data/sum.xml" "$data/pair.xml" "$data/pick.xml" .
    seq 3 >three.csv
    printf '1,2\n3,4\n' >two.csv
}

@test "several files in one option" {
    local two="takes one file, but"
    answered 2 "--output $two 'all/plus=csv:-,minus=csv:m.csv' names several" "write --output=all/plus=csv:- --output=minus=csv:m.csv" \
        pair.xml -i a=two.csv -i b=two.csv -o all/plus=csv:-,minus=csv:m.csv
    irrun pair.xml -i a=two.csv -i b=two.csv --output=all/plus=csv:- --output=minus=csv:m.csv
    answered 2 "--output $two" "write --output=csv:y.csv --output=npy:y.npy" sum.xml -i three.csv -o csv:y.csv,npy:y.npy
    answered 2 "--input $two" "write --input=a=two.csv --input=b=two.csv" pair.xml -i a=two.csv,b=two.csv
    answered 2 "--expect $two" "write --expect=sum=y.csv --expect=x=z.csv" sum.xml -i three.csv --expect=sum=y.csv,x=z.csv
    answered 2 "--input $two 'three.csv,two.csv' names several" "for two inputs -i NAME=three.csv -i NAME=two.csv; for two sequences: printf '%s\\n' three.csv two.csv | irrun ... --manifest=-" sum.xml -i three.csv,two.csv
    [ "$(printf '%s\n' three.csv three.csv | irrun sum.xml --manifest=- -o csv:- | lines)" = "1 3 6 1 3 6" ]
    [ ! -e y.csv ]
    irrun sum.xml -i three.csv -o sum=rate=0.1,size=3.csv # one name
    [ -e rate=0.1,size=3.csv ]
    irrun pair.xml -i a=value:1,2 -i b=value:1 -o none:
}

@test "placeholders of other programs in the name of an output" {
    local fields="the fields are %k, the key of the sequence, %n, the name of the output, and %%, a percent sign" name
    for name in '{}' '*' '$k' '$n' '%s' '%é'; do
        answered 2 "'$name' is not a field" "$fields" sum.xml -i three.csv -o "$name.csv"
        answered 2 "'$name' is not a field" "$fields" sum.xml -i three.csv -o "csv:out$name"
    done
    [ "$(find . -name '*.csv' -o -name 'out*' | wc -l)" -eq 2 ]
    irrun sum.xml -i three.csv -o '{a}$x.csv' -o '%k-%n%%.csv'
    [ -e '{a}$x.csv' ] && [ -e three-sum%.csv ]
}

@test "units after a number" {
    local given
    for given in duration=10s:duration=10 duration=2m:duration=120 timeout=1h:timeout=3600 deadline=20ms:deadline=0.02 \
        rtol=1%:rtol=0.01 rtol=sum=1%:rtol=sum=0.01 outliers=5%:outliers=0.05 rate=16kHz:rate=16000 \
        max-memory=1.5GiB:max-memory=1610612736 iterations=2M:iterations=2000000; do
        answered 2 "irrun: error: --${given%%=*}" "write --${given#*:}" sum.xml --random "--${given%:*}"
    done
    answered 2 "not '50%'" "for example --max-memory=1000000000" sum.xml --random --max-memory=50%
    answered 2 "not '1,000'" "for example --iterations=1" sum.xml --random -n 1,000
    answered 2 "not '5x'" "" sum.xml --random --duration=5x
}

@test "an option with two hyphens, or with words of other programs" {
    answered 2 "unknown option --n" "did you mean -n?" sum.xml --random --n 3
    answered 2 "unknown option --json" "--inspect=json describes the model, --report=FILE the run; -o jsonl:FILE writes records" sum.xml --inspect --json
    answered 2 "--jobs must be" '--jobs=$(nproc)' sum.xml --random --jobs=auto
    answered 2 "--threads must be" "--threads=auto" sum.xml --random --threads=all
    answered 2 "--precision takes" "omit it: a quantized model computes in int8" sum.xml --random --precision=int8
    answered 2 "unknown option -e" "irrun runs on the CPU: omit it" sum.xml --random -e cpu
    answered 2 "unknown option -I" "--random generates inputs" sum.xml -I
    answered 2 "unknown option -O" "irrun reads files; curl -LO URL fetches one" -O https://a.org/m.xml
    answered 2 "unknown option -C" "cd DIR && irrun ..." -C dir sum.xml
    answered 2 "unknown option --no-progress" "--progress=never" sum.xml --random --no-progress
    timeout 5 "$IRRUN" sum.xml -i x="value:$(seq 20000 | paste -sd ,)" -o none: || [ $? -lt 124 ]
    irrun sum.xml --random -o none: --progress=never --threads=auto --jobs="$(nproc)"
}

@test "files where they cannot be" {
    answered 2 '"npz:" has no path' "npz:FILE names a file" sum.xml --random -o none: --state-out=npz:
    answered 2 "--manifest takes a list of files, not npy data" "ls x.npy | irrun MODEL.xml --manifest=- runs it" sum.xml --manifest=x.npy
    answered 66 'n*.csv: error: cannot be opened' "ls n*.csv | irrun MODEL.xml --manifest=- runs these files" sum.xml -i 'n*.csv'
    answered 66 "tsv:three.csv: error: cannot be opened" "did you mean three.csv?" sum.xml -i tsv:three.csv
    answered 2 "'-' is taken for the weights" "give inputs with -i: irrun sum.xml -i csv:-" sum.xml -
    [ "$(irrun sum.xml -i csv:- -o csv:- <three.csv | lines)" = "1 3 6" ]
    answered 2 "'inspect' is taken for the weights" "did you mean irrun --inspect sum.xml?" sum.xml inspect
    answered 2 'the format of "-" is not known' "csv:- is numbers as text; write FORMAT:- with one of: npy npz raw csv ark s16 wav" sum.xml -i -
    answered 2 'the format of "tsv:-" is not known' "did you mean csv:-?" sum.xml -i three.csv -o tsv:-
    [ "$(irrun sum.xml -i CSV:three.csv -o Csv:- | lines)" = "1 3 6" ]
}

@test "an empty manifest: a warning, no file, status 0" {
    run_apart irrun sum.xml --manifest=/dev/null -o csv:all.csv
    [ "$status" -eq 0 ]
    [ "$stderr" = "irrun: warning: /dev/null: no sequence is listed" ]
    [ ! -e all.csv ]
}

# fixed TEXT HINT: a csv is refused with the hint.
fixed() {
    printf '%b' "$1" >x.csv
    answered 65 x.csv "$2" sum.xml -i x.csv -o none:
}

@test "text that other programs write for numbers" {
    local read='| irrun ... -i csv:-'
    fixed '1\nNULL\n' "nan stands for a missing number, and a state keeps it: sed 's|\bNULL\b|nan|g' FILE $read"
    [ "$(sed 's|\bNULL\b|nan|g' x.csv | irrun sum.xml -i csv:- -o csv:- | lines)" = "1 nan" ]
    fixed '1\r2\r3\r' "tr '\\r' '\\n' <FILE $read"
    [ "$(tr '\r' '\n' <x.csv | irrun sum.xml -i csv:- -o csv:- | lines)" = "1 3 6" ]
    fixed '[1]\n' "tr -d '[]' <FILE $read"
    fixed '{"a":1}\n' "jq -r '[.[]] | @csv' FILE $read"
    [ "$(jq -r '[.[]] | @csv' x.csv | irrun sum.xml -i csv:- -o csv:-)" = 1 ]
    fixed '50%\n' "tr -d % <FILE $read"
    fixed 'load%,temp[C]\n1,2\n' "if it is a heading, name the columns by it: --columns=load%[,NAME]"
    fixed '\xff\xfe1\0\n\0' "iconv -f UTF-16 -t UTF-8 FILE $read"
    [ "$(iconv -f UTF-16 -t UTF-8 x.csv | irrun sum.xml -i csv:- -o csv:-)" = 1 ]
    fixed 'day,rain\nMon,2\n' "if it is a heading, name the columns by it: --columns=rain[,NAME]"
    [ "$(irrun sum.xml -i x.csv --columns=rain -o csv:-)" = 2 ]
    answered 65 "the line has 2 columns, but column 3" "columns are counted from 0: the last one is 1" sum.xml -i x.csv --columns=3
}

@test "a table with headings for --expect" {
    printf 'day,rain\nMon,2\nTue,3\n' >x.csv
    irrun sum.xml -i x.csv --columns=rain --keep-columns=all -o want.csv
    answered 65 '"day" is not a number' "to compare the last column of a table: awk -F, 'NR > 1 {print \$NF}' FILE | irrun ... --expect=[NAME=]csv:-" \
        sum.xml -i x.csv --columns=rain --expect=want.csv
    awk -F, 'NR > 1 {print $NF}' want.csv | irrun sum.xml -i x.csv --columns=rain --expect=csv:-
    printf '2;3\n' >want.csv
    answered 65 'want.csv:1:1' "columns are separated by commas or tabs: sed -E 's/([0-9]),([0-9])/\\1.\\2/g; y/;/\\t/' FILE | irrun ... --expect=csv:-" \
        sum.xml -i x.csv --columns=rain --expect=want.csv
}

@test "spellings of :sample" {
    local how
    npy '<f4' '1, 4' 1 2 3 4 >x.npy
    for how in 'sample 0.4' sample:0.4 sample=0.4 sample0.4 'Sample(0.4)' 'sample[0.4]' 'temperature=0.4'; do
        answered 2 "--feed: ':$how' is neither :argmax nor :sample(T,K,P)" "write '--feed=y=k:sample(0.4)'" \
            pick.xml -i x=x.npy -n 2 --feed=y=k:"$how"
    done
    irrun pick.xml -i x=x.npy -n 2 '--feed=y=k:sample(0.4)' -o none:
    for how in top5 argmax:2 sample0; do
        answered 2 "--feed: ':$how' is neither :argmax nor :sample(T,K,P)" "write --feed=y=k:argmax" \
            pick.xml -i x=x.npy -n 2 --feed=y=k:"$how"
    done
    answered 2 "is an input" "write '--feed=y=k:sample(0.4)'" pick.xml -i x=x.npy -n 2 '--feed=k=y:sample(0.4)'
}

@test "a state with draws for :argmax" {
    npy '<f4' '1, 4' 1 2 3 4 >x.npy
    irrun pick.xml -i x=x.npy -n 2 '--feed=y=k:sample(0.4)' -o none: --state-out=s.npz
    answered 65 'member "k:draws" is not a variable of the model' \
        "it was saved with a different --feed, count: or ones:; use the same ones to continue it" \
        pick.xml -i x=x.npy -n 2 --feed=y=k:argmax -o none: --state-in=s.npz
    irrun pick.xml -i x=x.npy -n 2 '--feed=y=k:sample(0.4)' -o none: --state-in=s.npz
}

@test "control characters of names" {
    sed 's/name="x"/name="x\&#x9B;31m\&#10;\&#9;p"/' sum.xml >odd.xml
    local what
    for what in --inspect --list-ops --dot "--random -o text:-"; do
        # shellcheck disable=SC2086 # words
        irrun $what odd.xml >shown
        ! grep -q $'\302\233' shown
        [ "$(LC_ALL=C tr -d '\n\t -~' <shown)" = "" ]
    done
    irrun --inspect odd.xml | grep -q '^  x?31m??p  f32 \[1\]'
    [ "$(irrun --list-ops odd.xml | wc -l)" -eq "$(irrun --list-ops sum.xml | wc -l)" ]
}

@test "commands that a word processor changed" {
    local open=$'\xe2\x80\x9c' close=$'\xe2\x80\x9d' single=$'\xe2\x80\x98' quotes="the quotes of the shell are \" and '"
    answered 2 "'–iterations' begins with an en dash" "write --iterations" sum.xml --random –iterations 5
    answered 2 "'—random=ones' begins with an em dash" "write --random=ones" sum.xml —random=ones
    answered 2 "'–i' begins with an en dash" "write -i" sum.xml –i three.csv
    answered 2 "'${open}three.csv$close' begins with a curly quote" "$quotes" sum.xml -i "x=${open}three.csv$close"
    answered 2 "'${open}sum.xml$close' begins with a curly quote" "$quotes" "${open}sum.xml$close" --inspect
    cp three.csv "${single}three.csv"
    [ "$(irrun sum.xml -i "${single}three.csv" -o csv:- -o csv:–check.csv | lines)" = "1 3 6" ]
    [ -e –check.csv ]
    answered 2 "'.' is not NAME=NUMBER" "a character is given by its number: --until=NAME=46" sum.xml -i three.csv --until=.
}

@test "files of other programs" {
    local name
    for name in a.xlsx a.ODS; do
        answered 2 "the format of \"$name\" is not known" "a spreadsheet: save it as CSV" sum.xml -i $name
    done
    answered 2 "a.parquet" 'a table of pandas: DataFrame.to_csv("x.csv", index=False) writes it as csv' sum.xml -i a.parquet
    answered 2 "a.MP4" "ffmpeg -i FILE -ac 1 -ar 8000 -f s16le - | irrun MODEL.xml -i s16:-" sum.xml --rate=8000 -i a.MP4
    printf 'PK\003\004\024\000 and so on' >z.csv
    answered 65 "z.csv: byte 0: error: is an npz archive, not csv" "read it as npz:z.csv; if it is a spreadsheet, save it as CSV" sum.xml -i z.csv
}

@test "the text of several outputs is not for --expect" {
    irrun pair.xml -i a=two.csv -i b=two.csv >gold.txt
    answered 2 "--expect=gold.txt needs a name" "-o FILE.npz saves all outputs for --expect=FILE.npz; if the file holds one: --expect=all/plus=gold.txt" \
        pair.xml -i a=two.csv -i b=two.csv --expect=gold.txt
    irrun pair.xml -i a=two.csv -i b=two.csv -o gold.npz
    irrun pair.xml -i a=two.csv -i b=two.csv --expect=gold.npz
}

@test "files of one name in two folders" {
    mkdir d e && cp three.csv d && cp two.csv e/three.csv
    local own="the key is the name without its folder; to make it the whole name: awk -F '\\t' '{ print \$NF \"\\t\" \$NF }' LIST | irrun ... --manifest=-"
    printf '%s\n' d/three.csv e/three.csv >list
    answered 65 "list:2: error: -o three.npy is also written by -o (list:1)" "$own" sum.xml --manifest=list -o %k.npy
    answered 65 'list:2: error: key "three" is already in all.ark' "$own" sum.xml --manifest=list --concat=0 -o all.ark
    cp three.csv e
    awk -F '\t' '{ print $NF "\t" $NF }' list | irrun sum.xml --manifest=- -o csv:%k
    [ "$(lines <e_three.csv)" = "1 3 6" ]
}

@test "options and shapes of other programs" {
    answered 2 "unknown option -ar" "--rate=HZ" sum.xml --random -ar 16000
    answered 2 "unknown option -y" "omit it: files are overwritten" sum.xml --random -y
    answered 2 "unknown option -x" "irrun --help=all lists them" sum.xml --random -x
    answered 2 "unknown option --skip" "tail -n +2 FILE | irrun ... -i csv:- leaves the first line out" sum.xml -i three.csv --skip=1
    answered 2 "unknown option --weights" "the weights follow the model: irrun MODEL.xml WEIGHTS.bin" sum.xml --weights=sum.bin
    answered 2 "'y.csv' is taken for the weights" "give outputs with -o: -o y.csv" sum.xml -i three.csv y.csv
    answered 2 "/dev/null" "-o none: writes no outputs" sum.xml --random -o /dev/null
    local given
    for given in 'sum>6' sum==6; do
        answered 2 "--until: '$given'" "the sequence ends when the output equals the number: --until=sum=6" sum.xml -i three.csv "--until=$given"
    done
    answered 2 "format value is only for inputs" "echo 15 | irrun ... --expect=csv:-" sum.xml -i three.csv --expect=value:15
}

@test "an archive with more than the input" {
    sed 's,all/plus,x,' pair.xml >x.xml
    irrun x.xml -i a=two.csv -i b=two.csv -o x.npz
    answered 65 'x.npz: error: member: no input "' "to read one member only: -i x=x.npz" "$data/twice.xml" -i x.npz
    irrun "$data/twice.xml" -i x=x.npz -o none:
}

@test "lines of a manifest" {
    local read='| irrun ... --manifest=-'
    printf '# list\nthree.csv\n' >list
    answered 65 "list:1" "a manifest has no comments: grep -v '^#' FILE $read" sum.xml --manifest=list
    [ "$(grep -v '^#' list | irrun sum.xml --manifest=- -o csv:- | lines)" = "1 3 6" ]
    printf 'k\tthree.csv\t> y.csv\n' >list
    answered 65 "list:1: error: a blank follows '>'" "write >y.csv" sum.xml --manifest=list
    echo sum.xml >list
    answered 65 "list:1" "its format is not known: write FORMAT:sum.xml" sum.xml --manifest=list
}

@test "--checkpoint-every without --checkpoint" {
    run_apart irrun sum.xml -i three.csv -o none: --checkpoint-every=5
    [ "$status" -eq 0 ]
    [ "$stderr" = "irrun: warning: --checkpoint-every is not used: there is no --checkpoint" ]
}

@test "a name, and data in the place of the model" {
    answered 2 'the format of "sum:csv:-" is not known' "a name ends with '=': sum=csv:-" sum.xml -i three.csv -o sum:csv:-
    answered 2 'the format of "" is not known' "the file follows '=' without a blank: NAME=FILE" sum.xml -i x= three.csv
    printf 'k\tx=%s\n' "$(printf '%015000d' 0 | sed 's/0/zq:/g')" >colons
    run_apart irrun sum.xml --manifest=colons -o none:
    [ "$status" -eq 65 ]
    answered 65 "three.csv:1:1: error: not well-formed XML" "give inputs with -i: irrun MODEL.xml -i FILE.csv" three.csv
}

@test "an index out of range gives zeros, and is told of once" {
    local tagger=$root/models/lstm_tagger/model.xml writer=$root/models/tiny_transformer of
    run_apart irrun "$tagger" -i codes=value:128 -n 3 -o csv:y.csv
    [ "$status" -eq 0 ]
    [ "$stderr" = "irrun: warning: $tagger:28:3: Gather \"Gather_8341\": index 128 at [0,0] of Parameter \"codes\" is out of range 0..127: the result is 0 (record 0)" ]
    run_apart irrun "$tagger" -i codes=value:127 -n 3 -o none:
    [ "$stderr" = "" ]
    run_apart irrun "$tagger" -i codes=value:-129 -q -o none:
    [ "$stderr" = "" ]
    for of in "" _int8 _int4; do
        run_apart irrun "${writer}$of/model.xml" -i tokens=value:97 --shape=tokens=1,3 -i beam_idx=value:0 --shape=beam_idx=1 -n 3 -o none:
        [[ $stderr == *'index 97 at [0,0] of Parameter "tokens" is out of range 0..96: the result is 0 (record 0)' ]]
    done
    run_apart irrun "$writer/model.xml" -i tokens=value:5 --shape=tokens=1,3 -i beam_idx=value:1 --shape=beam_idx=1 -n 9 -o none:
    [[ $stderr == *'Gather "Gather_13840": index 1 at [0] of Parameter "beam_idx" is out of range 0..0: the result is 0 (record 1)' ]]
    [ "$(wc -l <stderr)" -eq 1 ]
}

@test "a wav file of what is not a sound" {
    run_apart irrun "$data/vad.xml" "$data/vad.bin" --random -n 2 --axis=1 --rate=16000 -o p.wav
    [ "$status" -eq 0 ]
    [ "$stderr" = 'irrun: warning: output "p" has 1 number for 512 samples of the input: p.wav is too short at this --rate' ]
    run_apart irrun sum.xml --random -n 2 --axis=0 --rate=16000 -o p.wav
    [ "$status" -eq 0 ] && [ "$stderr" = "" ]
}

@test "--check reads the first record" {
    printf 'a\n' >words.csv
    answered 65 'words.csv:1:1: error: "a" is not a number' "if it is a heading, name the columns by it: --columns=a[,NAME]" --check sum.xml -i words.csv
    irrun --check sum.xml -i three.csv
    : >empty.csv
    run_apart irrun --check sum.xml -i empty.csv
    [ "$stderr" = 'irrun: warning: input "x": empty.csv contains no record' ]
}

@test "several names in --tap" {
    answered 2 'is called "read,add"' "use an option for each: --tap=read --tap=add" sum.xml -i three.csv --tap=read,add
}
