/* ir: every XML file of the project gives the same graph, or the same error, whether it is parsed
 * as a whole or byte by byte. Runs in the root of the project.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <ftw.h>

#include "base/text.h"
#include "graph_dump.h"
#include "ir_text.h"
#include "plan/passes.h"

static size_t n_files;

/* Writes the graph, or the error, to `text`. */
static void read_as_text(const char *path, size_t piece_bytes, struct text *text)
{
    struct ir_model model;
    struct irrun_error err;
    char message[4096];
    error_clear(&err);
    bool is_read = ir_load(path, NULL, true, piece_bytes, &model, &err);
    if (is_read && toposort(model.graph, &model.arena, &err))
        graph_dump(model.graph, text);
    else
        text_add(text, "%s", error_format(&err, message, sizeof message));
    if (is_read)
        ir_free(&model);
    assert_false(text->is_failed);
}

static void compare(const char *path, size_t piece_bytes)
{
    struct text whole = {0}, pieces = {0};
    read_as_text(path, 0, &whole);
    read_as_text(path, piece_bytes, &pieces);
    if (strcmp(whole.data, pieces.data) != 0)
        fail_test("%s differs in pieces of %zu bytes\nwhole:  %s\npieces: %s\n", path, piece_bytes,
                  whole.data, pieces.data);
    text_free(&whole);
    text_free(&pieces);
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)place;
    size_t length = strlen(path);
    if (type == FTW_F && length > 4 && strcmp(path + length - 4, ".xml") == 0) {
        compare(path, 1);
        n_files++;
    }
    return 0;
}

static void every_xml_reads_the_same_byte_by_byte(void **state)
{
    (void)state;
    static const char *const directories[] = {"models", "tests"};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        assert_int_equal(nftw(directories[i], visit, 16, FTW_PHYS), 0);
    print_message("%zu files\n", n_files);
    assert_true(n_files >= 40);
}

static void bad_texts_fail_the_same_in_pieces(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "PK\003\004",
        "\x93NUMPY",
        "{\"version\": 11}",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "<net version=\"11\"><layers></layers></net",
        "<net version=\"11\"><layers><layer name=\"\xc3",
        "<net version=\"11\"><layers>",
        "<net version=\"11\"><layers></net>",
        "<!DOCTYPE net><net/>",
        NET(PARAMETER("0", "x") PARAMETER("0", "y"), ""),
        NET(PARAMETER("0", "x"), EDGE("0", "0", "1", "0")),
        NET(ADD("0", "x"), EDGE("0", "2", "0", "0") EDGE("0", "2", "0", "1")),
        NET(LAYER("0", "gr\xc3\xbc\xc3\x9f", "Result", "opset1", "<input><port id=\"x\"/></input>"),
            ""),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char path[TEXT_PATH_BYTES];
        write_temporary(texts[i], strlen(texts[i]), path);
        compare(path, 1);
        compare(path, 7);
        unlink(path);
    }
}

/* Tokens that are much longer than a piece. */
static void reads_tokens_longer_than_a_piece(void **state)
{
    (void)state;
    enum { LENGTH = 3000000 };
    char *xml = malloc(2 * LENGTH + 1000), *name = malloc(LENGTH + 1);
    assert_true(xml && name);
    memset(name, 'n', LENGTH);
    name[LENGTH] = '\0';
    sprintf(xml,
            "<!--%s-->\n<net version=\"11\"><layers><layer id=\"0\" name=\"%s\" "
            "type=\"Parameter\"><data shape=\"\" element_type=\"f32\"/></layer></layers></net>",
            name, name);
    struct ir_model model;
    struct graph *graph = load_good(xml, &model);
    assert_string_equal(graph->ops[0].name, name);
    assert_int_equal(graph->ops[0].line, 2);
    ir_free(&model);
    free(name);
    free(xml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_xml_reads_the_same_byte_by_byte),
        cmocka_unit_test(bad_texts_fail_the_same_in_pieces),
        cmocka_unit_test(reads_tokens_longer_than_a_piece),
    };
    return cmocka_run_group_tests_name("ir_pieces", tests, NULL, NULL);
}
