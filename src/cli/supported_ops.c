/* --supported-ops: the operators with opsets and element types, as text or JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/supported_ops.h"

#include <stdio.h>

#include "cli/json.h"
#include "irrun.h"

static void print_op(const struct irrun_supported_op *op)
{
    const char *separator = "";
    printf("%s\topset%u", op->type, op->opset_first);
    if (op->opset_last != op->opset_first)
        printf("-%u", op->opset_last);
    putchar('\t');
    for (int dtype = IRRUN_BOOLEAN; dtype < IRRUN_N_DTYPES; dtype++) {
        if (!(op->types >> dtype & 1U))
            continue;
        printf("%s%s", separator, irrun_dtype_name((enum irrun_dtype)dtype));
        separator = " ";
    }
    putchar('\n');
}

static void print_text(void)
{
    struct irrun_supported_op op;
    for (size_t i = 0; irrun_supported_op(i, &op); i++)
        print_op(&op);
}

static void add_op(struct json *json, const struct irrun_supported_op *op)
{
    json_open(json, NULL, '{');
    json_string(json, "type", op->type);
    json_count(json, "opset_first", op->opset_first);
    json_count(json, "opset_last", op->opset_last);
    json_open(json, "types", '[');
    for (int dtype = IRRUN_BOOLEAN; dtype < IRRUN_N_DTYPES; dtype++) {
        if (op->types >> dtype & 1U)
            json_string(json, NULL, irrun_dtype_name((enum irrun_dtype)dtype));
    }
    json_close(json, ']');
    json_close(json, '}');
}

static bool print_json(struct irrun_error *err)
{
    struct text text = {0};
    struct json json = {.text = &text};
    struct irrun_supported_op op;
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "irrun.supported-ops/1");
    json_open(&json, "ops", '[');
    for (size_t i = 0; irrun_supported_op(i, &op); i++)
        add_op(&json, &op);
    json_close(&json, ']');
    json_close(&json, '}');
    bool is_whole = text_check(&text, err);
    if (is_whole)
        puts(text.data);
    text_free(&text);
    return is_whole;
}

bool supported_ops_print(bool is_json, struct irrun_error *err)
{
    if (is_json)
        return print_json(err);
    print_text();
    return true;
}
