/* The list of all ops, and functions that find the op of a layer by its type and version.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/op_state.h"

#define OP(name) extern const struct op_def op_##name;
#include "ops/ops.def"
#undef OP

#define OP(name) &op_##name,
const struct op_def *const op_defs[] = {
#include "ops/ops.def"
};
#undef OP

const size_t n_op_defs = sizeof op_defs / sizeof op_defs[0];

/* What the attribute `version` of a layer holds. */
enum version_kind { VERSION_NONE, VERSION_OPSET, VERSION_EXTENSION, VERSION_UNKNOWN };

/* The versions "extension" and "experimental" mean this opset, as in OpenVINO. */
#define OPSET_OF_EXTENSIONS 6

static enum version_kind parse_version(const char *version, int64_t *opset)
{
    *opset = 0;
    if (*version == '\0')
        return VERSION_NONE;
    if (strcmp(version, "extension") == 0 || strcmp(version, "experimental") == 0) {
        *opset = OPSET_OF_EXTENSIONS;
        return VERSION_EXTENSION;
    }
    if (strncmp(version, "opset", 5) == 0 && version[5] >= '0' && version[5] <= '9' &&
        text_to_i64(version + 5, strlen(version + 5), opset))
        return VERSION_OPSET;
    return VERSION_UNKNOWN;
}

static unsigned last_opset(const struct op_def *def)
{
    return def->opset_last ? def->opset_last : OPSET_LAST;
}

static bool is_type(const struct op_def *def, const char *type)
{
    return ((def->type[0] ^ type[0]) & 0x1f) == 0 && text_equals_ignore_case(def->type, type);
}

/* Lists the versions of an op: "Gather of opset1 to opset6 and opset8 to opset17". */
static void list_versions(const char *type, char *out, size_t size_bytes)
{
    size_t length = 0;
    for (size_t i = 0; i < n_op_defs && length < size_bytes; i++) {
        const struct op_def *def = op_defs[i];
        if (!is_type(def, type))
            continue;
        char last[24] = "";
        if (last_opset(def) != def->opset)
            snprintf(last, sizeof last, " to opset%u", last_opset(def));
        int n = snprintf(out + length, size_bytes - length, "%s%s opset%u%s",
                         length ? " and" : def->type, length ? "" : " of", def->opset, last);
        length += n > 0 ? (size_t)n : 0;
    }
}

static const char *find_similar_type(const char *type)
{
    const char *similar = NULL;
    unsigned nearest = strlen(type) < 8 ? 2 : 3;
    for (size_t i = 0; i < n_op_defs; i++) {
        unsigned distance = text_distance(type, op_defs[i]->type, nearest);
        if (distance < nearest) {
            nearest = distance;
            similar = op_defs[i]->type;
        }
    }
    return similar;
}

static void explain(const char *type, enum version_kind kind, int64_t opset, size_t n_of_type,
                    char why[OP_WHY_BYTES])
{
    char versions[OP_WHY_BYTES - 80] = "";
    list_versions(type, versions, sizeof versions);
    const char *similar = n_of_type == 0 ? find_similar_type(type) : NULL;
    if (kind == VERSION_UNKNOWN)
        snprintf(why, OP_WHY_BYTES, "unknown opset; there are opset1 to opset%d", OPSET_LAST);
    else if (kind == VERSION_OPSET && (opset < 1 || opset > OPSET_LAST))
        snprintf(why, OP_WHY_BYTES, "unsupported opset; irrun knows opset1 to opset%d", OPSET_LAST);
    else if (similar)
        snprintf(why, OP_WHY_BYTES, "irrun has no such op; did you mean %s?", similar);
    else if (n_of_type == 0)
        snprintf(why, OP_WHY_BYTES, "irrun has no such op");
    else if (kind == VERSION_NONE)
        snprintf(why, OP_WHY_BYTES, "the layer must have a version: irrun has %s", versions);
    else
        snprintf(why, OP_WHY_BYTES, "irrun has %s only", versions);
}

const struct op_def *op_find(const char *type, const char *version, char why[OP_WHY_BYTES])
{
    int64_t opset;
    enum version_kind kind = parse_version(version, &opset);
    if (text_equals_ignore_case(type, "Constant")) /* the name of OpenVINO's C++ class for Const */
        type = "Const";
    if (opset == 1 && text_equals_ignore_case(type, "MVN")) /* in old IRs, this is MVN of opset2 */
        opset = 2;

    const struct op_def *found = NULL;
    size_t n_of_type = 0;
    for (size_t i = 0; i < n_op_defs; i++) {
        const struct op_def *def = op_defs[i];
        if (!is_type(def, type))
            continue;
        n_of_type++;
        bool matches = kind == VERSION_NONE ||
                       (def->opset <= opset && opset <= last_opset(def) && opset <= OPSET_LAST &&
                        (kind == VERSION_OPSET || def->is_extension));
        if (matches)
            found = def;
    }
    if (found && (kind != VERSION_NONE || n_of_type == 1))
        return found;
    explain(type, kind, opset, n_of_type, why);
    return NULL;
}

static bool comes_before(const struct op_def *a, const struct op_def *b)
{
    int order = strcmp(a->type, b->type);
    return order < 0 || (order == 0 && a->opset < b->opset);
}

const struct op_def *op_def_sorted(size_t index)
{
    for (size_t i = 0; i < n_op_defs; i++) {
        size_t n_before = 0;
        for (size_t k = 0; k < n_op_defs; k++)
            n_before += comes_before(op_defs[k], op_defs[i]);
        if (n_before == index)
            return op_defs[i];
    }
    return NULL;
}

const struct op_input_def *op_find_input(const struct op_def *def, uint32_t i)
{
    uint32_t n = def->n_inputs;
    if (i >= n && n > 0 && def->inputs[n - 1].is_repeated)
        i = n - 1;
    return i < n ? &def->inputs[i] : NULL;
}

bool op_input_is_index(const struct op_def *def, uint32_t i)
{
    const struct op_input_def *input = op_find_input(def, i);
    /* All index inputs allow i64. An integer input that does not, for example a u8 input, is
     * data. */
    return input && !(def->flags & OP_ELEMENTWISE) && (input->types & TYPE_BIT(IRRUN_I64)) &&
           !(input->types & ~(TYPES_INTEGER | TYPES_BOOLEAN));
}

const void *op_attr(const struct op *op, const char *name)
{
    for (uint32_t i = 0; i < op->def->n_attrs; i++)
        if (strcmp(op->def->attrs[i].name, name) == 0)
            return (const char *)op->attrs + op->def->attrs[i].offset;
    return NULL;
}

uint32_t op_types(const struct op_def *def)
{
    const struct op_input_def *inputs = def->inputs;
    uint32_t i = 0;
    if (def->n_inputs == 0)
        return TYPES_ANY;
    while (i + 1 < def->n_inputs && !inputs[i].same && inputs[i].types != TYPES_ANY &&
           inputs[i + 1].same)
        i++;
    return inputs[i].types;
}
