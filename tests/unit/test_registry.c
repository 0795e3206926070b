/* ops/registry: finds the op of a type and version, and has a consistent list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/internal_ops.h"
#include "ops/op.h"

static void check_found(const char *type, const char *version, const char *name, unsigned opset)
{
    char why[OP_WHY_BYTES] = "";
    const struct op_def *def = op_find(type, version, why);
    if (!def || strcmp(def->type, name) != 0 || def->opset != opset)
        fail_test("%s in %s: %s-%d (%s)\n", type, version, def ? def->type : "none",
                  def ? def->opset : 0, why);
}

static void check_missing(const char *type, const char *version, const char *expected)
{
    char why[OP_WHY_BYTES] = "";
    assert_null(op_find(type, version, why));
    assert_string_equal(why, expected);
}

static void finds_the_newest_meaning_that_the_opset_has(void **state)
{
    (void)state;
    check_found("Parameter", "opset1", "Parameter", 1);
    check_found("Parameter", "opset17", "Parameter", 1);
    check_found("ReadValue", "opset3", "ReadValue", 3);
    check_found("ReadValue", "opset5", "ReadValue", 3);
    check_found("ReadValue", "opset6", "ReadValue", 6);
    check_found("Assign", "opset13", "Assign", 6);
    check_found("LSTMCell", "opset3", "LSTMCell", 1);
    check_found("LSTMCell", "opset4", "LSTMCell", 4);
}

static void knows_aliases_and_any_letter_case(void **state)
{
    (void)state;
    check_found("Constant", "opset1", "Const", 1);
    check_found("const", "opset1", "Const", 1);
    check_found("READVALUE", "opset6", "ReadValue", 6);
    char why[OP_WHY_BYTES];
    assert_ptr_equal(op_find("ReLU", "opset1", why), op_find("Relu", "opset1", why));
    assert_non_null(op_find("PRelu", "opset1", why));
    assert_ptr_equal(op_find("SoftMax", "opset8", why), op_find("Softmax", "opset8", why));
}

static void check_input(const struct op_def *def, uint32_t i, const char *name)
{
    const struct op_input_def *input = i == NO_INPUT ? NULL : op_find_input(def, i);
    assert_string_equal(input ? input->name : "none", name);
}

static void numbers_the_inputs_of_recurrent_ops_as_it_lists_them(void **state)
{
    (void)state;
    const struct op_def *over_time[] = {&op_lstm_over_time, &op_gru_over_time, &op_rnn_over_time};
    size_t n_found = 0;
    for (size_t i = 0; i < n_op_defs + 3; i++) {
        const struct op_def *def = i < n_op_defs ? op_defs[i] : over_time[i - n_op_defs];
        if (def->prepare != recurrent_prepare)
            continue;
        const struct recurrent_family *family = def->family;
        bool has_lengths = strstr(def->type, "Sequence") != NULL;
        check_input(def, family->x, "X");
        check_input(def, family->h0, "initial_hidden_state");
        check_input(def, family->c0,
                    family->kind == RECURRENT_LSTM ? "initial_cell_state" : "none");
        check_input(def, family->lengths, has_lengths ? "sequence_lengths" : "none");
        check_input(def, family->w, "W");
        check_input(def, family->r, "R");
        check_input(def, family->b, "B");
        check_input(def, family->p,
                    family->kind == RECURRENT_LSTM && def->opset_last > 0 ? "P" : "none");
        n_found++;
    }
    assert_int_equal(n_found, 11);
}

/* Old writers use opset1 for ops that were added in opset2. */
static void looks_up_late_ops_in_opset2(void **state)
{
    (void)state;
    char why[OP_WHY_BYTES];
    assert_ptr_equal(op_find("MVN", "opset1", why), op_find("MVN", "opset2", why));
    assert_ptr_equal(op_find("ROIPooling", "opset1", why), op_find("ROIPooling", "opset2", why));
}

static void finds_extensions(void **state)
{
    (void)state;
    size_t n_extensions = 0;
    for (size_t i = 0; i < n_op_defs; i++) {
        const struct op_def *def = op_defs[i];
        char why[OP_WHY_BYTES] = "";
        const struct op_def *found = op_find(def->type, "extension", why);
        assert_ptr_equal(found, op_find(def->type, "experimental", why));
        if (found)
            assert_true(found->is_extension && found->opset <= 6);
        n_extensions += def->is_extension;
    }
    assert_true(n_extensions > 0);
    check_missing("Parameter", "extension", "irrun has Parameter of opset1 to opset17 only");
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    check_missing("Quuxification", "opset1", "irrun has no such op");
    check_missing("Parametr", "opset1", "irrun has no such op; did you mean Parameter?");
    check_missing("ReadValue", "opset2",
                  "irrun has ReadValue of opset3 to opset5 and opset6 to opset17 only");
    check_missing("Parameter", "opset0", "unsupported opset; irrun knows opset1 to opset17");
    check_missing("Parameter", "opset18", "unsupported opset; irrun knows opset1 to opset17");
    check_missing("Parameter", "opset99999999999999999999",
                  "unknown opset; there are opset1 to opset17");
    check_missing("Parameter", "opset", "unknown opset; there are opset1 to opset17");
    check_missing("Parameter", "opset 1", "unknown opset; there are opset1 to opset17");
    check_missing("Parameter", "ops", "unknown opset; there are opset1 to opset17");
    check_missing("", "opset1", "irrun has no such op");
}

static void takes_a_layer_without_version_if_there_is_one_meaning(void **state)
{
    (void)state;
    check_found("Parameter", "", "Parameter", 1);
    check_missing(
        "ReadValue", "",
        "the layer must have a version: irrun has ReadValue of opset3 to opset5 and opset6 "
        "to "
        "opset17");
}

static void cuts_no_reason_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_op_defs; i++) {
        char why[OP_WHY_BYTES] = "";
        if (!op_find(op_defs[i]->type, "", why))
            assert_true(strlen(why) < OP_WHY_BYTES - 20);
    }
}

/* No two rows may mean the same type in the same opset. */
static void rows_do_not_overlap(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_op_defs; i++) {
        const struct op_def *a = op_defs[i];
        unsigned a_last = a->opset_last ? a->opset_last : OPSET_LAST;
        assert_true(a->opset >= 1 && a->opset <= a_last && a_last <= OPSET_LAST);
        for (size_t k = 0; k < i; k++) {
            const struct op_def *b = op_defs[k];
            unsigned b_last = b->opset_last ? b->opset_last : OPSET_LAST;
            if (text_equals_ignore_case(a->type, b->type) && a->opset <= b_last &&
                b->opset <= a_last)
                fail_test("%s-%d and %s-%d overlap\n", a->type, a->opset, b->type, b->opset);
        }
    }
}

static bool has_opset(const struct op_def *def, unsigned opset)
{
    return def->opset <= opset && opset <= (def->opset_last ? def->opset_last : OPSET_LAST);
}

static void finds_every_row_in_each_of_its_opsets(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_op_defs; i++) {
        for (unsigned opset = 2; opset <= OPSET_LAST; opset++) {
            char version[20], why[OP_WHY_BYTES];
            snprintf(version, sizeof version, "opset%u", opset);
            const struct op_def *found = op_find(op_defs[i]->type, version, why);
            assert_int_equal(found == op_defs[i], has_opset(op_defs[i], opset));
        }
    }
}

static void tables_are_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_op_defs; i++) {
        const struct op_def *def = op_defs[i];
        for (uint32_t k = 0; k < def->n_attrs; k++) {
            const struct attr_def *attr = &def->attrs[k];
            assert_true(attr->offset < def->attrs_size);
            assert_true((attr->choices != NULL) == (attr->kind == ATTR_KIND_CHOICE));
        }
        bool is_optional = false, is_repeated = false;
        for (uint32_t k = 0; k < def->n_inputs; k++) {
            const struct op_input_def *input = &def->inputs[k];
            if (is_repeated || (is_optional && !input->is_optional))
                fail_test("%s-%d: input %s\n", def->type, def->opset, input->name);
            is_optional = input->is_optional;
            is_repeated = input->is_repeated;
        }
    }
}

static void check_default(const struct op_def *def, const struct attr_def *attr)
{
    struct op_def one = *def;
    one.attrs = attr;
    one.n_attrs = 1;
    struct arena arena = {NULL, 0};
    struct irrun_error err;
    error_clear(&err);
    void *attrs = arena_alloc(&arena, def->attrs_size, &err);
    assert_non_null(attrs);
    bool is_read = attrs_read(&one, NULL, attrs, &arena, "x", (struct place){NULL, 0, 0}, &err);
    if (is_read != (attr->default_text != NULL))
        fail_test("%s-%d: %s\n", def->type, def->opset, err.message);
    arena_free(&arena);
}

/* A default is parsed like an attribute of a model, so it must be valid. */
static void defaults_are_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_op_defs; i++)
        for (uint32_t k = 0; k < op_defs[i]->n_attrs; k++)
            check_default(op_defs[i], &op_defs[i]->attrs[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_newest_meaning_that_the_opset_has),
        cmocka_unit_test(knows_aliases_and_any_letter_case),
        cmocka_unit_test(numbers_the_inputs_of_recurrent_ops_as_it_lists_them),
        cmocka_unit_test(looks_up_late_ops_in_opset2),
        cmocka_unit_test(finds_extensions),
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(takes_a_layer_without_version_if_there_is_one_meaning),
        cmocka_unit_test(cuts_no_reason_short),
        cmocka_unit_test(rows_do_not_overlap),
        cmocka_unit_test(finds_every_row_in_each_of_its_opsets),
        cmocka_unit_test(tables_are_well_formed),
        cmocka_unit_test(defaults_are_good),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
