#!/usr/bin/env bash
# Makes the Debian package, has lintian look at it, installs it into a bare system of this machine's
# release, uses what is in it, and removes it: nothing may be left.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2154 # root.sh sets dir; os-release
set -euo pipefail
. "$(dirname "$0")/root.sh"
command -v dpkg-deb >/dev/null || skip "skipped: no dpkg-deb"

package=$(make -s deb | sed -n 's/^  DEB  //p')
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "$package"
else
    echo "lintian is not there: not checked by it"
fi
make_root "$(. /etc/os-release && echo "$VERSION_CODENAME")" libexpat1 libsndfile1 man-db bash-completion python3-numpy
find "$dir/system"/{etc,usr,var/lib/dpkg/info} ! -name '*cache*' | sort >"$dir/before"
cp "$package" "$dir/system/irrun.deb"
cp tests/cli/data/sum.xml "$dir/system/srv"
inside dpkg -i /irrun.deb

echo "== the program, the detector that comes with it"
[ "$(seq 3 | inside irrun /srv/sum.xml -i csv:- -o csv:- | tail -n 1)" = 6 ]
watch=/usr/share/irrun/models/speech_watch
[ "$(inside irrun $watch/model.xml -i $watch/minute.ogg --rate=16000 --partial=pad -o probability=csv:- |
    inside awk -f /usr/share/irrun/examples/segments.awk | wc -l)" -eq 9 ]

echo "== manual"
[[ $(inside man irrun) == *'NAME'*'irrun'* ]]
[[ $(inside man irrun-formats) == *libsndfile* ]]

echo "== completion"
# shellcheck disable=SC2016 # expanded inside
[ "$(inside bash -c '
    . /usr/share/bash-completion/bash_completion
    compopt() { :; }
    _completion_loader irrun || :
    COMP_LINE="irrun --precis" COMP_POINT=14 COMP_WORDS=(irrun --precis) COMP_CWORD=1
    _irrun irrun
    echo "${COMPREPLY[*]}"')" = --precision= ]

echo "== Python"
[ "$(inside env PYTHONPATH=/usr/share/irrun/python python3 -c '
import irrun, numpy as np
session = irrun.Session("/srv/sum.xml")
print([float(session.run({"x": np.float32([k])})["sum"][0]) for k in (1, 2, 3)][-1])')" = 6.0 ]

echo "== removal"
inside dpkg --purge irrun
rm "$dir/system/irrun.deb"
find "$dir/system"/{etc,usr,var/lib/dpkg/info} ! -name '*cache*' | sort >"$dir/after"
diff "$dir/before" "$dir/after"
[ "$(inside ldconfig -p | grep -c libirrun)" = 0 ]
echo "deb: installed, used and removed"
