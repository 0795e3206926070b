#!/bin/sh
# Makes a Debian package of what is built, with dpkg-deb: program, libraries, header, manual, completions, examples.
#
#   scripts/make-deb.sh VERSION
#
# Environment: BUILD, CC, MAKE; SOURCE_DATE_EPOCH, the time of all files (that of the commit).
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."

version=$1
build=${BUILD:-build}
tree=$build/deb
architecture=$(dpkg --print-architecture)
triplet=$(${CC:-cc} -dumpmachine)
package=irrun_${version}_$architecture.deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
umask 022

rm -rf "$tree"
${MAKE:-make} -s BUILD="$build" CC="${CC:-cc}" DESTDIR="$tree" PREFIX=/usr install
# Debian has its libraries in a directory of the architecture, its Python modules in one of Python's.
mkdir "$tree/usr/lib/$triplet"
mv "$tree"/usr/lib/lib* "$tree/usr/lib/pkgconfig" "$tree/usr/lib/$triplet"
sed -i "s,^libdir=.*,libdir=\${prefix}/lib/$triplet," "$tree/usr/lib/$triplet/pkgconfig/irrun.pc"
mkdir -p "$tree/usr/lib/python3/dist-packages"
mv "$tree/usr/share/irrun/python/irrun.py" "$tree/usr/lib/python3/dist-packages"
rmdir "$tree/usr/share/irrun/python"
mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +

documents=$tree/usr/share/doc/irrun
mkdir -p "$documents" "$tree/DEBIAN"
cp README.md "$documents"
gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
    printf 'Files: *\nCopyright: the authors of irrun\nLicense: Apache-2.0\n'
    printf ' On Debian systems the text of the licence is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$documents/copyright"

# Of the libraries that the program needs, the packages; the BLAS and libsndfile are loaded when they are asked for.
libc=$(dpkg-query -W -f '${Version}' libc6 | sed 's/-.*//')
cat >"$tree/DEBIAN/control" <<CONTROL
Package: irrun
Version: $version
Architecture: $architecture
Maintainer: the authors of irrun <irrun@localhost>
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f 1)
Depends: libc6 (>= $libc), libexpat1, zlib1g
Recommends: libblas3, libsndfile1
Suggests: python3-numpy
Section: science
Priority: optional
Description: runs OpenVINO IR models that keep state
 Records in, tensors out: irrun runs models with variables (ReadValue and
 Assign) as a filter. With its library, header, Python module, manual,
 completions and a speech detector as an example.
CONTROL
(cd "$tree" && find usr -type f ! -name md5sums | LC_ALL=C sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$tree" "$build/$package" >/dev/null
rm -rf "$tree"
echo "  DEB  $build/$package"
