# The conformance cases of tests/cases, one file per family; see scripts/README.md.
# SPDX-License-Identifier: Apache-2.0
