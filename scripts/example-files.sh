#!/usr/bin/env bash
# Makes a directory with the files that the examples of the manual, of the cookbook and of docs/from-*.md use: small models
# under short names, readings of a sensor, a recording.
#
#   scripts/example-files.sh DIR        without sox, a.wav is missing
#
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

root=$(dirname "$0")/..
mkdir -p "$1"
cp "$root"/tests/cli/data/*.xml "$root"/tests/cli/data/*.bin "$1"
for model in sensor_watch lstm_tagger speech_watch tiny_transformer tiny_writer; do
    for ending in xml bin; do
        cp "$root/models/$model/model.$ending" "$1/$model.$ending"
    done
done
cp "$root/tests/cases/low_latency/rnn/model.xml" "$1/rnn.xml"
cp "$root/tests/cases/low_latency/rnn/model.bin" "$1/rnn.bin"
cp "$root"/models/sensor_watch/readings.csv "$root"/models/speech_watch/minute.ogg "$root"/examples/segments.awk "$1"
cp "$root"/tests/data/formats/manual_x.npy "$1/x.npy"
cp "$root"/tests/data/formats/manual_in.npz "$1/in.npz"
# 32 chunks of 512 samples of sound between as much silence.
sox -R -n -r 16000 -c 1 -b 16 "$1/a.wav" synth 1.024 sine 440 vol 0.5 pad 1.024 1.024
