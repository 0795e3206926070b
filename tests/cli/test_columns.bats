#!/usr/bin/env bats
# --columns: tables with headings.
# SPDX-License-Identifier: Apache-2.0

# shellcheck disable=SC2154 # common.bash sets them
load common

setup() {
    common_setup
    printf '%s\n' 'id,low,"high, in m",note' 'a,1,2,"x, ""y"", z"' 'b, 3 ,4,' '"c,d",5,6e0,7' >t.csv
}

@test "columns by heading, in the order that is asked for" {
    npy '<f4' '3, 2' 1 4 3 8 5 12 >want.npy
    [ "$(irrun "$data/twice.xml" -i t.csv --columns=low,2 -o csv:- | lines)" = "2,4 6,8 10,12" ]
    [ "$(irrun "$data/twice.xml" -i t.csv --columns=2,low -o csv:- | lines)" = "4,2 8,6 12,10" ]
    [ "$(irrun "$data/sum.xml" -i t.csv --columns=low -o csv:- | lines)" = "1 4 9" ]
    [ "$(irrun "$data/sum.xml" -i csv:- --columns=low -o csv:- <t.csv | lines)" = "1 4 9" ]
    [ "$(irrun "$data/pair.xml" -i a=t.csv -i b=t.csv --columns=a=low,2 --columns=b=2,low -o minus=csv:- | lines)" = \
        "-1,1 -1,1 -1,1" ]
    [ "$(irrun "$data/twice.xml" -i t.csv --columns=low,2 -n 4 --emit=all -o csv:- | lines)" = "2,4 6,8 10,12 2,4" ]
}

@test "columns by number need no heading; tabs; comments; ends of lines; several rows a record" {
    tail -n +2 t.csv >n.csv
    [ "$(irrun "$data/twice.xml" -i n.csv --columns=2,1 -o csv:- | lines)" = "4,2 8,6 12,10" ]
    printf '# c\r\nx\ty\r\n1\t2\r\n\r\n# d\r\n3\t4' >t.txt
    [ "$(irrun "$data/twice.xml" -i t.txt --columns=y,x -o csv:- | lines)" = "4,2 8,6" ]
    printf '\357\273\277x,y\n1,2\n3,4\n' >bom.csv
    [ "$(irrun "$data/twice.xml" -i bom.csv --columns=y,x -o csv:- | lines)" = "4,2 8,6" ]
    [ "$(irrun "$data/twice.xml" -i bom.csv --columns=x -o csv:- | lines)" = "2,6" ]
    [ "$(irrun "$data/twice_open.xml" -i t.csv --columns=low,2 --axis=0:2:1 -o csv:- | lines)" = "2,4 6,8 6,8 10,12" ]
    : >empty.csv
    run_apart irrun "$data/twice.xml" -i empty.csv --columns=x -o csv:-
    [ "$status" -eq 0 ]
    [[ $stderr == *"empty.csv contains no record"* ]]
}

@test "headings in quotes" {
    printf '%s\n' '"a,b","c ""d""",e,"f' '1,2,3,4' >quoted.csv
    [ "$(irrun "$data/twice.xml" -i quoted.csv --columns='"a,b",e' -o csv:- | lines)" = "2,6" ]
    [ "$(irrun "$data/twice.xml" -i quoted.csv --columns='c "d","e"' -o csv:- | lines)" = "4,6" ]
    [ "$(irrun "$data/sum.xml" -i quoted.csv --columns='"c ""d"""' -o csv:- | lines)" = "2" ]
    printf 'a;b\n1;2\n' >semicolons.csv
    answered 65 'no column "a"' "columns are separated by commas or tabs: sed -E 's/([0-9]),([0-9])/\\1.\\2/g; y/;/\\t/' FILE | irrun ... -i csv:-" \
        "$data/sum.xml" -i semicolons.csv --columns=a -o none:
    refused 65 'no column "a"' "$data/sum.xml" -i quoted.csv --columns=a -o none:
    printf '%s\n' '"f' 4 >open.csv
    refused 65 'no column "f"' "$data/sum.xml" -i open.csv --columns=f -o none:
}

@test "numbers in quotes" {
    printf '%s\n' '"a","n, m",b' '"1.5","x, y","2"' '"3", ,"-4e0"' >q.csv
    [ "$(irrun "$data/twice.xml" -i q.csv --columns=a,b -o csv:- | lines)" = "3,4 6,-8" ]
    irrun "$data/sum.xml" -i q.csv --columns=b --keep-columns=all -o csv:- | tail -n 2 >got
    printf '%s\n' '"1.5","x, y","2",2' '"3", ,"-4e0",-2' | cmp - got
    printf '%s\n' '"1.5"' 2 '"3"' | irrun "$data/sum.xml" -i csv:- -o csv:- | lines | grep -qx '1.5 3.5 6.5'
    answered 65 'q.csv:1:1: error: ""a"" is not a number' 'if it is a heading, name the columns by it: --columns=a[,NAME]' \
        "$data/sum.xml" -i q.csv
    answered 65 'q.csv:1:6: error: "n, m" is not a number' \
        "if it is a heading, name the columns by it: --columns='\"n, m\"'[,NAME]" "$data/sum.xml" -i q.csv --columns=1
    printf '%s\n' '"a ""b""",c' 1,2 >inner.csv
    answered 65 'inner.csv:1:2: error: "a ""b""" is not a number' \
        "if it is a heading, name the columns by it: --columns='\"a \"\"b\"\"\"'[,NAME]" "$data/sum.xml" -i inner.csv --columns=0
    [ "$(irrun "$data/sum.xml" -i inner.csv '--columns="a ""b"""' -o csv:-)" = 1 ]
    sed '2s/x, y/7/' q.csv >gap.csv
    answered 65 'gap.csv:3:5: error: a number is missing in column 1' \
        'nan stands for a missing number, and a state keeps it; sed 3d FILE | irrun ... -i csv:- leaves the line out' \
        "$data/sum.xml" -i gap.csv --columns='"n, m"' -o none:
}

@test "a decimal comma" {
    local point=': error: "1,5" is not a number' rest='FILE | irrun ... -i csv:-'
    printf '%s\n' a,b '"1,5","-2"' '"-2,5",7' >c.csv
    answered 65 "c.csv:2:2$point" "decimals have a point: sed -E 's/\"([-+0-9]+),([0-9]+)\"/\\1.\\2/g' $rest" \
        "$data/twice.xml" -i c.csv --columns=a,b -o none:
    [ "$(sed -E 's/"([-+0-9]+),([0-9]+)"/\1.\2/g' c.csv | irrun "$data/twice.xml" -i csv:- --columns=a,b -o csv:- | lines)" = "3,-4 -5,14" ]
    printf 'a, in m\tb\n1,5\t2\n' >c.txt
    answered 65 "c.txt:2:1$point" "decimals have a point: sed -E 's/([-+0-9]+),([0-9]+)/\\1.\\2/g' $rest" \
        "$data/twice.xml" -i c.txt --columns=0,b -o none:
    [ "$(sed -E 's/([-+0-9]+),([0-9]+)/\1.\2/g' c.txt | irrun "$data/twice.xml" -i csv:- --columns=0,b -o csv:-)" = "3,4" ]
    printf 'Ort;Wert\n"Ulm, Donau";1,5\n' >c.csv
    sed -E 's/([0-9]),([0-9])/\1.\2/g; y/;/\t/' c.csv |
        irrun "$data/sum.xml" -i csv:- --columns=Wert --keep-columns=all -o csv:- | lines | grep -qx 'Ort,Wert,sum "Ulm, Donau",1.5,1.5'
}

@test "tabs between headings with commas" {
    printf 'temp, C\thumid, %%\n1\t2\n' >t.txt
    [ "$(irrun "$data/twice.xml" -i t.txt --columns='"humid, %","temp, C"' -o csv:-)" = "4,2" ]
    irrun "$data/sum.xml" -i t.txt --columns=1 --keep-columns='"temp, C"' -o csv:- | lines | grep -qx '"temp, C",sum 1,2'
    local columns='the columns are "temp, C","humid, %"'
    answered 65 't.txt:1: error: no column "temp C"' "did you mean '\"temp, C\"'? $columns" "$data/sum.xml" -i t.txt '--columns=temp C'
    answered 65 't.txt:1: error: no column "x"' "$columns" "$data/sum.xml" -i t.txt --columns=x
    answered 65 't.txt:1:1: error: "temp" is not a number' \
        "if it is a heading, name the columns by it: --columns='\"temp, C\"'[,NAME]" "$data/sum.xml" -i t.txt
    printf '"a,b"\t"c,d"\n1\t2\n' >t.txt
    [ "$(irrun "$data/sum.xml" -i t.txt --columns='"c,d"' -o csv:-)" = 2 ]
    printf 'a,\tb,\tc\n1,\t2,\t3\n' >t.txt
    [ "$(irrun "$data/twice.xml" -i t.txt --columns=c,b -o csv:-)" = "6,4" ]
    printf 'temp C,b\n1,2\n' >blank.csv
    answered 65 'no column "temp"' "did you mean 'temp C'? the columns are temp C,b" "$data/sum.xml" -i blank.csv --columns=temp
    answered 65 'blank.csv:1:1: error: "temp" is not a number' \
        "if it is a heading, name the columns by it: --columns='temp C'[,NAME]" "$data/twice.xml" -i blank.csv
}

@test "a heading that is not there" {
    local columns='the columns are id,low,"high, in m",note'
    answered 65 't.csv:1: error: no column "lwo"' "did you mean low? $columns" "$data/sum.xml" -i t.csv --columns=lwo -o none:
    answered 65 'no column "LOW"' "did you mean low? $columns" "$data/sum.xml" -i t.csv --columns=LOW -o none:
    answered 65 'no column ""high, in n""' "did you mean '\"high, in m\"'? $columns" "$data/sum.xml" -i t.csv '--columns="high, in n"' -o none:
    answered 65 'no column "ntoe"' "did you mean note? $columns" \
        "$data/sum.xml" -i t.csv --columns=low --keep-columns=ntoe -o csv:-
    answered 65 'no column "x"' "$columns" "$data/sum.xml" -i t.csv --columns=x -o none:
    printf '1,nan\n2,3\n' >n.csv
    answered 65 'n.csv:1: error: no column "low"' \
        'the first line has numbers, not headings: 1,nan; --columns=0,... takes columns by number' \
        "$data/sum.xml" -i n.csv --columns=low -o none:
}

@test "what is refused" {
    npy '<f4' '3, 1' 1 2 3 >x.npy
    usage_error '--columns: no csv is read' "$data/sum.xml" -i x.npy --columns=low
    usage_error '--columns: no csv is read' "$data/sum.xml" --random --columns=low
    printf '#id,v\n1,2\n' >comment.csv
    answered 65 'comment.csv:2: error: no column "w"; lines that begin with # are skipped' \
        "the first line has numbers, not headings: 1,2; --columns=0,... takes columns by number" "$data/sum.xml" -i comment.csv --columns=w
    answered 65 't.csv:1: error: no column "middle"' 'the columns are id,low,"high, in m",note' \
        "$data/sum.xml" -i t.csv --columns=middle -o none:
    refused 65 't.csv:2:1: error: "a" is not a number' "$data/sum.xml" -i t.csv --columns=id -o none:
    refused 65 't.csv:2:8: error: "x, ""y"", z" is not a number' "$data/twice.xml" -i t.csv --columns=low,note -o none:
    sed -i 2s/\".*\"/9/ t.csv
    local left_out
    left_out=$'nan stands for a missing number, and a state keeps it; awk -F \',\' \'/"/ || $4 ~ /[^ ]/\' FILE | irrun ... -i csv:- leaves such lines out'
    answered 65 't.csv:3:9: error: a number is missing in column 3, counted from 0' "$left_out" \
        "$data/twice.xml" -i t.csv --columns=low,note -o none:
    printf 'land,b\nNA,2\nDE,NA\n' >na.csv
    left_out=$'nan stands for a missing number, and a state keeps it; awk -F \',\' \'/"/ || $2 != "NA"\' FILE | irrun ... -i csv:- leaves such lines out'
    answered 65 'na.csv:3:4: error: "NA" is not a number' "$left_out" \
        "$data/sum.xml" -i na.csv --columns=b -o none:
    printf 'a,b\n1,2\n3, \n4,5\n' >gap.csv
    [ "$(awk -F ',' '/"/ || $2 ~ /[^ ]/' gap.csv | irrun "$data/twice.xml" -i csv:- --columns=a,b -o csv:- | lines)" = "2,4 8,10" ]
    printf 'x\ty\n\t2\n' >t.txt
    answered 65 't.txt:2:1: error: a number is missing in column 0' \
        $'nan stands for a missing number, and a state keeps it; awk -F \'\\t\' \'/"/ || $1 ~ /[^ ]/\' FILE | irrun ... -i csv:- leaves such lines out' \
        "$data/twice.xml" -i t.txt --columns=x,y -o none:
    answered 65 't.csv:1:4: error: "low" is not a number' "if it is a heading, name the columns by it: --columns=low[,NAME]" \
        "$data/sum.xml" -i t.csv --columns=1 -o none:
    answered 65 't.csv:2:1: error: "a" is not a number' "--columns reads numbers; --keep-columns copies text" \
        "$data/sum.xml" -i t.csv --columns=id -o none:
    printf 'x\n1\n300\n' >large.csv
    answered 65 'large.csv:3:1: error: "300" does not fit' '' "$data/twice_u8.xml" -i large.csv --columns=x -o none:
    printf 'x,y\n1,2\n3\n' >short.csv
    answered 65 'short.csv:3:2: error: the line has 1 column, but the headings are 2' \
        $'awk -F \',\' \'/"/ || NF == 2\' FILE | irrun ... -i csv:- leaves such lines out' "$data/twice.xml" -i short.csv --columns=x,y -o none:
    refused 65 'short.csv:1: error: the line has 2 columns, but column 2, counted from 0, is to be read' \
        "$data/sum.xml" -i short.csv --columns=2 -o none:
    local commas="columns are separated by commas or tabs: sed -E 's/([0-9]),([0-9])/\\1.\\2/g; y/;/\\t/' FILE | irrun ... -i csv:-"
    printf '1;2\n' >semicolons.csv
    answered 65 'semicolons.csv:1:1: error: "1;2" is not a number' "$commas" \
        "$data/sum.xml" -i semicolons.csv --columns=0 -o none:
    answered 65 'semicolons.csv:1: error: the line has 1 column' "$commas" \
        "$data/sum.xml" -i semicolons.csv --columns=1 -o none:
    refused 65 'ends 1 number into record 1, which takes 2' "$data/twice.xml" -i t.csv --columns=low -o none:
    usage_error "rows of 2 numbers do not fill a record of 1" "$data/sum.xml" -i t.csv --columns=low,2 -o none:
    usage_error "names a column twice" "$data/twice.xml" -i t.csv --columns=low,1 -o none:
    usage_error "--columns: ',a' is not A,B,..." "$data/sum.xml" -i t.csv --columns=,a
    usage_error 'no input "q"' "$data/sum.xml" -i t.csv --columns=q=low
    npy '<f4' '1,' 1 >x.npy
    usage_error "is read from x.npy, which is not csv" "$data/sum.xml" -i x.npy --columns=x=low
    perl -e 'print "x,y\n1,", "2" x 200000, "\n"' >long.csv
    refused 65 "long.csv:2: error: the line has at least 131072 bytes" "$data/sum.xml" -i long.csv --columns=x -o none:
}

@test "an interrupted run continues in a table" {
    { echo x,y && seq 30000 | awk '{ print $1 % 7 ",a" }'; } >t.csv
    irrun "$data/sum.xml" -i t.csv --columns=x -o want.csv
    local seconds
    for seconds in 0.02 0.05 0.1 0.2 0.5 1 2 5 20; do
        status=0
        "$IRRUN" "$data/sum.xml" -i t.csv --columns=x -o got.csv --checkpoint=ck --checkpoint-every=50 \
            --timeout="$seconds" 2>stderr || status=$?
        [ "$status" -eq 75 ] || break
    done
    [ "$status" -eq 0 ]
    cmp want.csv got.csv
}

@test "--keep-columns: the table comes out longer by its scores" {
    local kept=(-i t.csv --columns=low)
    irrun "$data/sum.xml" "${kept[@]}" --keep-columns=id,note -o csv:- >got
    printf '%s\n' 'id,note,sum' 'a,"x, ""y"", z",1' 'b,,4' '"c,d",7,9' | cmp - got
    sed 's/names="sum"/names="su\\,m"/' "$data/sum.xml" >comma.xml
    irrun comma.xml "${kept[@]}" --keep-columns=note -o csv:- | head -n 1 | grep -qx 'note,"su,m"'
    irrun "$data/sum.xml" "${kept[@]}" --keep-columns=all -o got.csv
    { head -n 1 t.csv | sed 's/$/,sum/' && tail -n +2 t.csv | paste -d, - <(printf '%s\n' 1 4 9); } | cmp - got.csv
    irrun "$data/twice.xml" -i t.csv --columns=2,low --keep-columns=3,id -o csv:- >got
    printf '%s\n' 'note,id,y_0,y_1' '"x, ""y"", z",a,4,2' ',b,8,6' '7,"c,d",12,10' | cmp - got
    # Without headings; from a pipe; more than is held in memory, in any number of records.
    tail -n +2 t.csv | irrun "$data/sum.xml" -i csv:- --columns=1 --keep-columns=0 -o csv:- >got
    printf '%s\n' a,1 b,4 '"c,d",9' | cmp - got
    seq 40000 | sed 's/.*/row &,1/' >long.csv
    irrun "$data/sum.xml" -i long.csv --columns=1 --keep-columns=all -o csv:- >got
    seq 40000 | sed 's/.*/row &,1,&/' | cmp - got
    irrun "$data/sum.xml" -i long.csv --columns=1 --keep-columns=0 -n 40002 --emit=all --warmup=2 -o csv:- | tail -n 3 >got
    printf '%s\n' 'row 40000,40000' 'row 1,40001' 'row 2,40002' | cmp - got
    # Tabs become commas.
    printf 'x\tname\n1\tb, "c"\n2\td\n' >t.txt
    irrun "$data/sum.xml" -i t.txt --columns=x --keep-columns=all -o csv:- >got
    printf '%s\n' 'x,name,sum' '1,"b, ""c""",1' '2,d,3' | cmp - got
    # Two outputs; a table without rows.
    irrun "$data/pair.xml" -i a=t.csv -i b=t.csv --columns=a=low,2 --columns=b=2,low --keep-columns=id -o minus=m.csv -o @0=csv:- >got
    [ "$(cut -d, -f1 m.csv | lines)" = 'id a b "c' ]
    [ "$(cut -d, -f1 got | lines)" = 'id a b "c' ]
    head -n 1 t.csv >head.csv
    irrun "$data/sum.xml" -q -i head.csv --columns=low --keep-columns=id -o csv:- >got
    echo 'id,sum' | cmp - got
}

@test "--keep-columns with --key and --batch keeps the order" {
    seq 60 | awk '{ print "n" $1 "," $1 % 7 "," $1 }' >keyed.csv
    local how=("$data/sum_open.xml" -i x=keyed.csv "--columns=x=2" "--shape=x=1,1" -i id=id.csv --key=id -o sum=csv:-)
    cut -d, -f2 keyed.csv >id.csv
    irrun "${how[@]}" --keep-columns=0,1 >one
    irrun "${how[@]}" --keep-columns=0,1 --batch=4 | cmp - one
    irrun "${how[@]}" | paste -d, <(cut -d, -f1,2 keyed.csv) - | cmp - one
}

@test "--keep-columns that cannot be" {
    local how=("$data/sum.xml" -i t.csv --columns=low)
    answered 2 '--keep-columns needs an output in csv' '-o sum=csv:- writes one to standard output' "${how[@]}" --keep-columns=id
    answered 2 '--keep-columns: no csv is read with --columns' '-i FILE.csv --columns=A,B selects the columns that the model gets' \
        "$data/sum.xml" -i t.csv --keep-columns=id -o csv:-
    answered 2 '--keep-columns needs every record to be written' '--emit=all writes every record' \
        "${how[@]}" --keep-columns=id -o csv:- -n 2
    usage_error '--keep-columns takes one table, and u.csv is not t.csv' \
        "$data/pair.xml" -i a=t.csv -i b=u.csv --columns=a=low,2 --columns=b=low,2 --keep-columns=id -o minus=csv:-
    printf 'k \0B\004\001\0\0\0\004\001\0\0\0' >z.ark # many sequences, by their keys
    usage_error '--keep-columns takes one sequence' "$data/pair.xml" -i a=t.csv --columns=a=low,2 -i b=z.ark --keep-columns=id -o minus=csv:-
    usage_error '--keep-columns and --concat cannot be used together' "${how[@]}" --keep-columns=id -o csv:- --concat=0
    usage_error "--keep-columns: 'id,' is not A,B,..." "${how[@]}" --keep-columns=id, -o csv:-
    refused 65 'no column "nosuch"' "${how[@]}" --keep-columns=nosuch -o csv:-
    usage_error '--keep-columns: a record takes 2 rows of the table, but must take one' \
        "$data/twice.xml" -i t.csv --columns=low --keep-columns=id -o csv:-
}

@test "a field in quotes ends in its line" {
    printf '%s\n' id,note '1,"hello' '7,world"' 3,b >broken.csv
    answered 65 "broken.csv:2: error: a quoted field does not end in its line" \
        "a record is one line: remove line breaks from the fields" "$data/sum.xml" -i broken.csv --columns=id -o none:
    printf '%s\n' id,note '1,say "hello' '2,"a ""quote"", b"' >whole.csv
    [ "$(irrun "$data/sum.xml" -i whole.csv --columns=id -o csv:- | lines)" = "1 3" ]
}

@test "--keep-columns=all keeps columns in their places" {
    printf 'n\tname\tnote\n1\ta\t\n2\t\tz\n' >t.tsv
    irrun "$data/sum.xml" -i csv:t.tsv --columns=n --keep-columns=all -o sum=csv:- >table
    [ "$(lines <table)" = "n,name,note,sum 1,a,,1 2,,z,3" ]
    printf 'n\tname\n1\t"a, b\n2\t"a" b\n3\t"\n' >t.tsv
    [ "$(irrun "$data/sum.xml" -i csv:t.tsv --columns=n --keep-columns=name -o sum=csv:- | tail -n +2)" = '"""a, b",1
"""a"" b",3
"""",6' ]
    printf 'a,b,c\n1,x,y\n2,x\n' >ragged.csv
    refused 65 "ragged.csv:3:4: error: the line has 2 columns, but the headings are 3" \
        "$data/sum.xml" -i ragged.csv --columns=a --keep-columns=all -o csv:ragged.out
    usage_error "--keep-columns and --feed cannot be used together" \
        "$data/sum.xml" -i csv:t.tsv --columns=n --keep-columns=all --feed=sum=x -n 4 --emit=all -o csv:-
}

@test "a line has as many columns as the first: a comma in a field moves none" {
    printf '%s\n' id,name,x,y '1,a,2,3' '2,Smith, John,4,5' '3,b,6,7' >moved.csv
    local quotes="a field with a comma needs double quotes around it; " condition
    condition=$'awk -F \',\' \'/"/ || NF == 4\' FILE | irrun ... -i csv:- leaves such lines out'
    answered 65 "moved.csv:3:17: error: the line has 5 columns, but the headings are 4" "$quotes$condition" \
        "$data/sum.xml" -i moved.csv --columns=y -o none:
    answered 65 "moved.csv:3:17: error:" "$quotes$condition" "$data/sum.xml" -i moved.csv --columns=x --keep-columns=id -o csv:got.csv
    [ "$(awk -F ',' '/"/ || NF == 4' moved.csv | irrun "$data/sum.xml" -i csv:- --columns=y -o csv:- | lines)" = "3 10" ]
    sed -i '1d; 3s/Smith, John/"Smith, John"/' moved.csv
    [ "$(irrun "$data/sum.xml" -i moved.csv --columns=3 -o csv:- | lines)" = "3 8 15" ]
    sed -i '2s/$/,9/' moved.csv
    answered 65 "moved.csv:2:21: error: the line has 5 columns, but the first line has 4" \
        "${quotes}sed 2d FILE | irrun ... -i csv:- leaves the line out" "$data/sum.xml" -i moved.csv --columns=3 -o none:
    [ "$(sed 2d moved.csv | irrun "$data/sum.xml" -i csv:- --columns=3 -o csv:- | lines)" = "3 10" ]
    printf 'x,y\n1,2,\n' >last.csv
    answered 65 "last.csv:2:5: error: the line has 3 columns, but the headings are 2" \
        "lines must not end with a separator: sed 's/,[[:space:]]*$//' FILE | irrun ... -i csv:-" "$data/sum.xml" -i last.csv --columns=y
    [ "$(sed 's/,[[:space:]]*$//' last.csv | irrun "$data/sum.xml" -i csv:- --columns=y -o csv:-)" = 2 ]
}

@test "headings that begin with #, and rows that do" {
    printf '# made by hand\n# id,v\n1,2\n# note\n3,4\n' >h.csv
    run_apart irrun "$data/sum.xml" -i h.csv --columns=v --keep-columns=id -o csv:-
    [ "$(lines <<<"$output")" = "# id,sum 1,2 3,6" ]
    [ "$stderr" = "" ]
    [ "$(irrun "$data/sum.xml" -i h.csv --columns=1 --keep-columns=id -o csv:- | lines)" = "# id,sum 1,2 3,6" ]
    [ "$(irrun "$data/sum.xml" -i h.csv --columns='# id' -o csv:- | lines)" = "1 4" ]
    [ "$(irrun "$data/sum.xml" -i h.csv --columns=1 -o csv:- | lines)" = "2 6" ] # by number: no headings
    printf '#\tv\n1\t2\n#3\t4\n' >h.txt
    run_apart irrun "$data/sum.xml" -i h.txt --columns=v --keep-columns='#' -o csv:-
    [ "$(lines <<<"$output")" = "#,sum 1,2" ]
    [ "$stderr" = "irrun: warning: h.txt: lines that begin with # are skipped, including 1 with as many columns as the headings; sed 's/^#//' turns them into rows" ]
    [ "$(sed 's/^#//' h.txt | irrun "$data/sum.xml" -i csv:- --columns=v -o csv:- | lines)" = "2 6" ]
}

@test "a heading that occurs twice" {
    printf 'v,w,"v"\n1,2,3\n' >d.csv
    local hint='tail -n +2 FILE | irrun ... -i csv:- --columns=0 takes it by number'
    answered 65 'd.csv:1: error: column 0 and column 2, counted from 0, are both "v"' "$hint" "$data/sum.xml" -i d.csv --columns=v
    answered 65 'd.csv:1: error: column 0 and column 2' "$hint" "$data/sum.xml" -i d.csv --columns=w --keep-columns=v -o csv:-
    [ "$(irrun "$data/sum.xml" -i d.csv --columns=w -o csv:-)" = 2 ]
    [ "$(tail -n +2 d.csv | irrun "$data/sum.xml" -i csv:- --columns=0 -o csv:-)" = 1 ]
}

@test "data in the place of headings" {
    printf '2024-01-01,1.5,ok\n2024-01-02,2.5,ok\n' >log.csv
    local numbers="--columns=1 takes columns of numbers, counted from 0" columns="the columns are 2024-01-01,1.5,ok"
    answered 65 'log.csv:1: error: no column "value"' "$columns; if this line is data, $numbers" "$data/sum.xml" -i log.csv --columns=value
    answered 65 'no column "1.6"' "$columns; if this line is data, $numbers" "$data/sum.xml" -i log.csv --columns=1.6
    answered 65 'log.csv:1:1: error: "2024-01-01" is not a number' "$numbers" "$data/sum.xml" -i log.csv
    printf 'ok,1.5\n' >log.csv
    answered 65 'log.csv:1:1: error: "ok" is not a number' "if this line is data, $numbers" "$data/sum.xml" -i log.csv
}

@test "UTF-16" {
    local utf8='iconv -f UTF-16 -t UTF-8 FILE | irrun ... -i csv:-' code
    for code in UTF-16 UTF-16LE; do
        printf 'day,temp\nMon,2\n' | iconv -t "$code" >u.csv
        answered 65 'u.csv:1: error: no column "temp"' "$utf8" "$data/sum.xml" -i u.csv --columns=temp
        answered 65 'is not a number' "$utf8" "$data/sum.xml" -i u.csv --columns=1
        answered 65 'is not a number' "$utf8" "$data/sum.xml" -i u.csv
    done
    [ "$(iconv -f UTF-16 -t UTF-8 u.csv | irrun "$data/sum.xml" -i csv:- --columns=temp -o csv:-)" = 2 ]
}

@test "a kept column with the name of the output" {
    printf 'sum,"a, b",x\n1,"p, q",2\n' >t.csv
    answered 2 '--keep-columns: the table has a column "sum" already' "--keep-columns='\"a, b\",x' leaves it out" \
        "$data/sum.xml" -i t.csv --columns=x --keep-columns=all -o csv:scored.csv
    [ ! -e scored.csv ]
    irrun "$data/sum.xml" -i t.csv --columns=x --keep-columns='"a, b",x' -o csv:- | lines | grep -qx '"a, b",x,sum "p, q",2,2'
    answered 2 'a column "sum" already' '' "$data/sum.xml" -i t.csv --columns=x --keep-columns=sum -o csv:-
}
