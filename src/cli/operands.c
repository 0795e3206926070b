/* Finds the model and its weights on the command line. Errors have hints for common mistakes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/option_internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* ---- Values of options ----------------------------------------------------------------------- */

static bool is_number(const char *word)
{
    double value;
    return text_to_f64(word, strlen(word), &value);
}

/* Returns whether the value of the option is optional and the word is a valid value. */
static bool is_value_of(const struct option_row *row, const char *word)
{
    struct options scratch = {.action = ACTION_RUN};
    struct irrun_error ignored = {.code = IRRUN_OK};
    bool is_value = row->argument == OPTION_MAYBE && row->set(&scratch, row, word, &ignored);
    options_free(&scratch);
    return is_value;
}

/* Rejects an operand that was probably meant as the value of the option, such as 5 in
 * `--reset 5 model.xml`. role: what the operand is taken for. */
static bool check_value(const struct option_row *row, const char *word, const char *role,
                        struct irrun_error *err)
{
    bool is_path = strpbrk(word, "./") != NULL;
    const char *ending = strrchr(word, '.');
    if (strcmp(word, "-") == 0 || access(word, F_OK) == 0 ||
        (ending && (strcmp(ending, ".xml") == 0 || strcmp(ending, ".bin") == 0)))
        return true;
    if (is_value_of(row, word)) {
        char option[TEXT_QUOTED_BYTES], quoted[TEXT_QUOTED_BYTES];
        fail(err, IRRUN_USAGE, "'%s' is taken for %s, and there is no such file", word, role);
        snprintf(option, sizeof option, "--%s=%s", row->name, word);
        return fail_hint(err, "write %s", text_shell_quote(option, quoted));
    }
    if (row->argument == OPTION_FLAG ? !is_number(word) : is_path)
        return true;
    fail(err, IRRUN_USAGE, "'%s' is taken for %s, and there is no such file", word, role);
    if (row->argument == OPTION_FLAG)
        return fail_hint(err, "--%s takes no value", row->name);
    return fail_hint(err, "the value of --%s follows '=': %s", row->name, row->metavar);
}

/* Rejects operands that were probably meant as the value of the option before them. */
static bool check_values(char *const next_words[N_OPTIONS], int n, char **words,
                         struct irrun_error *err)
{
    for (int i = 0; i < n; i++) {
        for (size_t id = 0; id < N_OPTIONS; id++) {
            const char *role = i == 0 ? "the model" : i == 1 ? "the weights" : "a file";
            if (next_words[id] == words[i] && !check_value(&option_rows[id], words[i], role, err))
                return false;
        }
    }
    return true;
}

/* ---- Operands that are other files ----------------------------------------------------------- */

/* Returns whether the name shows that the file is an input. A .bin may be the weights. */
static bool is_input_file(const char *path)
{
    struct format_spec spec;
    struct irrun_error ignored = {.code = IRRUN_OK};
    return format_is_sound(path) ||
           (!text_has_ending(path, ".bin") && !text_has_ending(path, ".xml") &&
            format_parse_source(path, &spec, &ignored));
}

static bool fail_input_file(const char *path, const char *role, const char *model,
                            struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES], quoted_model[TEXT_QUOTED_BYTES];
    fail(err, IRRUN_USAGE, "'%s' is taken for %s", path, role);
    if (strcmp(path, "-") == 0)
        path = "csv:-";
    if (format_is_sound(path))
        return format_hint_sound(err, path, text_shell_quote(model, quoted_model));
    return fail_hint(err, "give inputs with -i: irrun %s -i %s",
                     text_shell_quote(model, quoted_model), text_shell_quote(path, quoted));
}

/* Rejects `irrun my model.xml`, where two words together are the name of a file. */
static bool check_blanks(int n, char **words, struct irrun_error *err)
{
    for (int i = 0; i + 1 < n; i++) {
        if (!option_hint_blank(words[i], words[i + 1], err))
            continue;
        fail(err, IRRUN_USAGE, "'%s' and '%s' are taken for two files", words[i], words[i + 1]);
        /* The first call could not add the hint: there was no error yet. */
        return !option_hint_blank(words[i], words[i + 1], err);
    }
    return true;
}

/* Rejects a model or weights whose name shows that the file is something else. */
static bool check_files(const char *model, const char *weights, struct irrun_error *err)
{
    if (weights && (strcmp(weights, "-") == 0 || is_input_file(weights)))
        return fail_input_file(weights, "the weights", model, err);
    if (weights && is_input_file(model) && text_has_ending(weights, ".xml"))
        return fail_input_file(model, "the model, which comes first", weights, err);
    if (!weights || !text_has_ending(weights, ".xml"))
        return true;
    char quoted[TEXT_QUOTED_BYTES], place[TEXT_QUOTED_BYTES];
    const char *quoted_weights = text_shell_quote(weights, place);
    if (text_has_ending(model, ".bin")) {
        fail(err, IRRUN_USAGE, "'%s' is taken for the model, which comes first", model);
        return fail_hint(err, "the model comes first: irrun %s %s", quoted_weights,
                         text_shell_quote(model, quoted));
    }
    fail(err, IRRUN_USAGE, "'%s' is taken for the weights of %s", weights, model);
    return fail_hint(err, "irrun runs one model at a time: irrun %s", quoted_weights);
}

/* Rejects `irrun inspect model.xml`. */
static bool check_action(int n, char **words, struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES];
    for (size_t id = 0; id < N_OPTIONS; id++) {
        bool is_last = n > 1 && strcmp(option_rows[id].name, words[1]) == 0;
        const char *word = words[is_last], *other = n > 1 ? words[!is_last] : "";
        if (strcmp(option_rows[id].name, word) != 0 || access(word, F_OK) == 0)
            continue;
        fail(err, IRRUN_USAGE, "'%s' is taken for the %s, and there is no such file", word,
             is_last ? "weights" : "model");
        return fail_hint(err, "did you mean irrun --%s%s%s?", word, n > 1 ? " " : "",
                         *other ? text_shell_quote(other, quoted) : "");
    }
    return true;
}

bool operands_parse(struct options *options, char *const next_words[N_OPTIONS], int n, char **words,
                    struct irrun_error *err)
{
    char quoted[TEXT_QUOTED_BYTES];
    if (!check_values(next_words, n, words, err))
        return false;
    if (!action_needs_model(options->action)) {
        if (n == 0 || options->action == ACTION_HELP || options->action == ACTION_HELP_ALL)
            return true;
        fail(err, IRRUN_USAGE, "--%s takes no file: '%s'", options->action_name, words[0]);
        return fail_hint(err, "irrun --%s", options->action_name);
    }
    if (n == 0) {
        fail(err, IRRUN_USAGE, "no model is given");
        return fail_hint(err, "irrun [options] MODEL.xml [WEIGHTS.bin]; irrun --help");
    }
    if (!check_blanks(n, words, err) || !check_action(n, words, err))
        return false;
    if (n == 2 && options->inputs.n > 0 && is_input_file(words[1]) && access(words[1], F_OK) != 0) {
        fail(err, IRRUN_USAGE, "'%s' is taken for the weights, and there is no such file",
             words[1]);
        return fail_hint(err, "give outputs with -o: -o %s", text_shell_quote(words[1], quoted));
    }
    if (n > 1 && options->inputs.n > 0 && is_input_file(words[n - 1])) { /* -i *.wav */
        fail(err, IRRUN_USAGE, "too many files: '%s'", words[n - 1]);
        return fail_hint(err, "-i takes one file: ls FILE... | irrun %s --manifest=- runs many",
                         text_shell_quote(words[0], quoted));
    }
    if (n > 2) {
        fail(err, IRRUN_USAGE, "too many files: '%s'", words[2]);
        return fail_hint(err, "irrun takes one model and its weights; give inputs with -i");
    }
    options->model_path = words[0];
    options->weights_path = n == 2 ? words[1] : NULL;
    return check_files(options->model_path, options->weights_path, err);
}
