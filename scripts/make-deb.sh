#!/bin/sh
# Makes a Debian package of what is built, with dpkg-deb: program, libraries, header, manual, completions, examples.
#
#   scripts/make-deb.sh VERSION
#
# Environment: BUILD, CC, MAKE; DEBFULLNAME and DEBEMAIL, the maintainer; SOURCE_DATE_EPOCH, the time of all files (that of the commit).
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

version=$1
build=${BUILD:-build}
tree=$build/deb
architecture=$(dpkg --print-architecture)
triplet=$(${CC:-cc} -dumpmachine)
package=irrun_$version-1_$architecture.deb
maintainer="${DEBFULLNAME:-irrun} <${DEBEMAIL:-$(git log -1 --format=%ae 2>/dev/null || echo "root@$(hostname -f)")}>"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
umask 022

rm -rf "$tree"
${MAKE:-make} -s BUILD="$build" CC="${CC:-cc}" DESTDIR="$tree" PREFIX=/usr install
# Debian puts libraries into a directory of the architecture. The Python module stays in share, because the program does
# not need Python.
mkdir "$tree/usr/lib/$triplet"
mv "$tree"/usr/lib/lib* "$tree/usr/lib/pkgconfig" "$tree/usr/lib/$triplet"
sed -i "s,^libdir=.*,libdir=\${prefix}/lib/$triplet," "$tree/usr/lib/$triplet/pkgconfig/irrun.pc"
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +

documents=$tree/usr/share/doc/irrun
mkdir -p "$documents" "$tree/DEBIAN"
cp README.md "$documents"
gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
gzip -9nc >"$documents/changelog.Debian.gz" <<CHANGELOG
irrun ($version-1) unstable; urgency=medium

  * Built from the sources by make deb.

 -- $maintainer  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
    printf 'Files: *\nCopyright: 2026 the authors of irrun\nLicense: Apache-2.0\n'
    printf ' On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$documents/copyright"

# The packages of the libraries that the program is linked to; it loads the BLAS and libsndfile when it needs them.
at_least() {
    dpkg-query -W -f '${Version}' "$1" | sed "s/-.*//; s/.*/$1 (>= &)/"
}
cat >"$tree/DEBIAN/control" <<CONTROL
Package: irrun
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f 1)
Depends: $(at_least libc6), $(at_least libexpat1), zlib1g
Recommends: libblas3, libsndfile1
Suggests: python3-numpy
Section: science
Priority: optional
Description: runs OpenVINO IR models that keep state
 Records in, tensors out: irrun runs models with variables (ReadValue and
 Assign) as a filter. With its library, header, Python module, manual,
 completions and a speech detector as an example.
CONTROL
echo 'activate-noawait ldconfig' >"$tree/DEBIAN/triggers"
echo 'libirrun 0 irrun' >"$tree/DEBIAN/shlibs"
# Removes the cache that Python writes when root imports the module.
printf '#!/bin/sh\nset -e\nrm -rf /usr/share/irrun/python/__pycache__\n' >"$tree/DEBIAN/prerm"
chmod 755 "$tree/DEBIAN/prerm"
mkdir -p "$tree/usr/share/lintian/overrides"
cat >"$tree/usr/share/lintian/overrides/irrun" <<'OVERRIDES'
# One package has the program, the library and what is needed to build with it.
irrun: package-name-doesnt-match-sonames
irrun: link-to-shared-library-in-wrong-package
initial-upload-closes-no-bugs
OVERRIDES
(cd "$tree" && find usr -type f ! -name md5sums | LC_ALL=C sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$tree" "$build/$package" >/dev/null
rm -rf "$tree"
echo "  DEB  $build/$package"
