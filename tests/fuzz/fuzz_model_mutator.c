/* Mutates models. Unlike the mutator of libFuzzer, it changes layers, edges, dimensions, attributes
 * and the numbers of the .bin.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#define MAX_SPANS 512
#define MAX_TEXT 1024

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t n_first, const uint8_t *second,
                                 size_t n_second, uint8_t *out, size_t capacity, unsigned seed);

/* The input to mutate. xml_size is the length of the XML, before the NUL. */
struct model_text {
    uint8_t *data;
    size_t size, capacity, xml_size;
};

struct span {
    size_t begin, end; /* bytes of the XML */
};

struct spans {
    struct span items[MAX_SPANS];
    size_t n;
};

static uint64_t state; /* of xorshift64 */

static size_t pick(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n > 0 ? (size_t)((state >> 11) % n) : 0;
}

static size_t find(const uint8_t *data, size_t begin, size_t end, const char *word)
{
    const void *found = begin < end ? memmem(data + begin, end - begin, word, strlen(word)) : NULL;
    return found ? (size_t)((const uint8_t *)found - data) : end;
}

/* Finds all XML elements of a name, nested ones too. */
static void find_elements(const uint8_t *data, size_t size, const char *open, const char *close,
                          struct spans *spans)
{
    spans->n = 0;
    for (size_t at = find(data, 0, size, open); at < size && spans->n < MAX_SPANS;
         at = find(data, at + 1, size, open)) {
        size_t tag_end = find(data, at, size, ">"), end = tag_end;
        if (tag_end == size)
            break;
        int depth = data[tag_end - 1] == '/' ? 0 : 1;
        while (depth > 0 && end < size) {
            size_t next_open = find(data, end + 1, size, open);
            size_t next_close = find(data, end + 1, size, close);
            depth += next_open < next_close ? 1 : -1;
            end = next_open < next_close ? next_open : next_close;
        }
        end = depth == 0 && data[tag_end - 1] != '/' ? find(data, end, size, ">") : end;
        if (end < size)
            spans->items[spans->n++] = (struct span){at, end + 1};
    }
}

/* Finds the text between two words, such as the value of an attribute or a dimension. */
static void find_values(const uint8_t *data, size_t size, const char *open, const char *close,
                        struct spans *spans)
{
    spans->n = 0;
    for (size_t at = find(data, 0, size, open); at < size && spans->n < MAX_SPANS;
         at = find(data, at + 1, size, open)) {
        size_t begin = at + strlen(open), end = find(data, begin, size, close);
        if (end < size)
            spans->items[spans->n++] = (struct span){begin, end};
    }
}

/* Replaces a span with n bytes, unless the text would exceed its capacity. */
static void replace(struct model_text *text, struct span span, const uint8_t *bytes, size_t n)
{
    size_t old = span.end - span.begin;
    if (text->size - old + n > text->capacity)
        return;
    memmove(text->data + span.begin + n, text->data + span.end, text->size - span.end);
    if (n > 0)
        memcpy(text->data + span.begin, bytes, n);
    text->size = text->size - old + n;
    text->xml_size = text->xml_size - old + n;
}

static void replace_text(struct model_text *text, struct span span, const char *word)
{
    replace(text, span, (const uint8_t *)word, strlen(word));
}

static uint8_t *copy_of(const uint8_t *data, struct span span, size_t *n)
{
    *n = span.end - span.begin;
    uint8_t *copy = malloc(*n + 1);
    if (!copy)
        abort();
    memcpy(copy, data + span.begin, *n);
    return copy;
}

/* Replaces a span with a copy of another, or inserts the copy if `to` is empty. */
static void copy_span(struct model_text *text, struct span from, struct span to)
{
    size_t n;
    uint8_t *copy = copy_of(text->data, from, &n);
    replace(text, to, copy, n);
    free(copy);
}

static void swap_spans(struct model_text *text, struct span a, struct span b)
{
    size_t n_a, n_b;
    if (a.begin > b.begin) {
        struct span c = a;
        a = b;
        b = c;
    }
    if (a.end > b.begin)
        return;
    uint8_t *copy_a = copy_of(text->data, a, &n_a), *copy_b = copy_of(text->data, b, &n_b);
    replace(text, b, copy_a, n_a);
    replace(text, a, copy_b, n_b);
    free(copy_a);
    free(copy_b);
}

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "4",
                                      "7",
                                      "8",
                                      "16",
                                      "17",
                                      "64",
                                      "-1",
                                      "-2",
                                      "255",
                                      "65536",
                                      "2147483648",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "1e30",
                                      "0.5",
                                      "nan",
                                      "",
                                      "1,1",
                                      "0,0,0",
                                      "2,2",
                                      "-1,-1",
                                      "1..3",
                                      "?"};
static const char *const types[] = {"f32",    "f16",     "bf16",   "f64", "i64", "i32", "i16",
                                    "i8",     "u8",      "u1",     "i4",  "u4",  "nf4", "boolean",
                                    "string", "dynamic", "f8e4m3", "u64", "u16", "u32"};
static const char *const attributes[] = {"id=\"",
                                         "type=\"",
                                         "version=\"",
                                         "shape=\"",
                                         "element_type=\"",
                                         "offset=\"",
                                         "size=\"",
                                         "axis=\"",
                                         "axes=\"",
                                         "strides=\"",
                                         "pads_begin=\"",
                                         "pads_end=\"",
                                         "kernel=\"",
                                         "dilations=\"",
                                         "auto_pad=\"",
                                         "mode=\"",
                                         "transpose_a=\"",
                                         "transpose_b=\"",
                                         "keep_dims=\"",
                                         "hidden_size=\"",
                                         "direction=\"",
                                         "activations=\"",
                                         "clip=\"",
                                         "variable_id=\"",
                                         "variable_shape=\"",
                                         "variable_type=\"",
                                         "external_port_id=\"",
                                         "internal_layer_id=\"",
                                         "part_size=\"",
                                         "stride=\"",
                                         "start=\"",
                                         "end=\"",
                                         "purpose=\"",
                                         "destination_type=\"",
                                         "special_zero=\"",
                                         "levels=\"",
                                         "batch_dims=\"",
                                         "equation=\"",
                                         "group=\"",
                                         "precision=\"",
                                         "begin_mask=\"",
                                         "end_mask=\"",
                                         "shrink_axis_mask=\"",
                                         "new_axis_mask=\"",
                                         "ellipsis_mask=\"",
                                         "auto_broadcast=\"",
                                         "rounding_type=\"",
                                         "num_splits=\"",
                                         "block_size=\"",
                                         "sort=\"",
                                         "linear_before_reset=\"",
                                         "output_padding=\"",
                                         "reverse=\"",
                                         "exclusive=\"",
                                         "from-layer=\"",
                                         "from-port=\"",
                                         "to-layer=\"",
                                         "to-port=\""};

#define N(array) (sizeof(array) / sizeof(array)[0])

static void change_layer(struct model_text *text, struct spans *spans)
{
    find_elements(text->data, text->xml_size, "<layer ", "</layer>", spans);
    if (spans->n == 0)
        return;
    struct span one = spans->items[pick(spans->n)], other = spans->items[pick(spans->n)];
    switch (pick(4)) {
    case 0:
        replace(text, one, NULL, 0);
        break;
    case 1:
        copy_span(text, one, (struct span){other.begin, other.begin});
        break;
    default:
        swap_spans(text, one, other);
    }
}

static void change_edge(struct model_text *text, struct spans *spans)
{
    static const char *const ends[] = {"from-layer=\"", "from-port=\"", "to-layer=\"",
                                       "to-port=\""};
    if (pick(3) == 0) {
        find_elements(text->data, text->xml_size, "<edge ", "</edge>", spans);
        if (spans->n == 0)
            return;
        struct span one = spans->items[pick(spans->n)];
        bool is_more = pick(2) == 0;
        copy_span(text, spans->items[pick(spans->n)],
                  is_more ? (struct span){one.begin, one.begin} : one);
        return;
    }
    find_values(text->data, text->xml_size, ends[pick(4)], "\"", spans);
    if (spans->n > 1)
        copy_span(text, spans->items[pick(spans->n)], spans->items[pick(spans->n)]);
}

static void change_dimension(struct model_text *text, struct spans *spans)
{
    bool is_shape = pick(2) == 0;
    find_values(text->data, text->xml_size, is_shape ? "shape=\"" : "<dim>",
                is_shape ? "\"" : "</dim>", spans);
    if (spans->n == 0)
        return;
    if (pick(2) == 0)
        replace_text(text, spans->items[pick(spans->n)], numbers[pick(N(numbers))]);
    else
        copy_span(text, spans->items[pick(spans->n)], spans->items[pick(spans->n)]);
}

/* Replaces the value of an attribute with its value elsewhere, or with a number. */
static void change_attribute(struct model_text *text, struct spans *spans)
{
    for (int tries = 0; tries < 20; tries++) {
        find_values(text->data, text->xml_size, attributes[pick(N(attributes))], "\"", spans);
        if (spans->n > 0)
            break;
    }
    if (spans->n == 0)
        return;
    struct span to = spans->items[pick(spans->n)];
    if (spans->n > 1 && pick(2) == 0)
        copy_span(text, spans->items[pick(spans->n)], to);
    else
        replace_text(text, to, numbers[pick(N(numbers))]);
}

static void change_type(struct model_text *text, struct spans *spans)
{
    struct irrun_supported_op op;
    size_t n_ops = 0;
    if (pick(3) == 0) {
        find_values(text->data, text->xml_size, "element_type=\"", "\"", spans);
        if (spans->n > 0)
            replace_text(text, spans->items[pick(spans->n)], types[pick(N(types))]);
        return;
    }
    while (irrun_supported_op(n_ops, &op))
        n_ops++;
    find_values(text->data, text->xml_size, " type=\"", "\"", spans);
    if (spans->n > 0 && irrun_supported_op(pick(n_ops), &op))
        replace_text(text, spans->items[pick(spans->n)], op.type);
}

/* Replaces a number of the .bin with an index, a length or a float. */
static void change_weights(struct model_text *text)
{
    static const int64_t integers[] = {0,
                                       1,
                                       2,
                                       3,
                                       -1,
                                       -2,
                                       5,
                                       64,
                                       1 << 16,
                                       INT32_MAX,
                                       INT64_MAX,
                                       INT64_MIN,
                                       0x7fc000007fc00000,
                                       0x7f8000003f800000};
    size_t begin = text->xml_size + 1, width = pick(2) == 0 ? 8 : 4;
    if (begin >= text->size)
        return;
    size_t n = text->size - begin;
    if (n < width || pick(4) == 0) {
        text->size = begin + LLVMFuzzerMutate(text->data + begin, n, text->capacity - begin);
        return;
    }
    memcpy(text->data + begin + pick(n / width) * width, &integers[pick(N(integers))], width);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
    static struct spans spans;
    const uint8_t *end = memchr(data, 0, size);
    struct model_text text = {data, size, capacity, end ? (size_t)(end - data) : size};
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t n = 1 + pick(3); n > 0; n--) {
        switch (pick(16)) {
        case 0:
        case 1:
            change_layer(&text, &spans);
            break;
        case 2:
        case 3:
            change_edge(&text, &spans);
            break;
        case 4:
        case 5:
        case 6:
            change_dimension(&text, &spans);
            break;
        case 7:
        case 8:
        case 9:
        case 10:
            change_attribute(&text, &spans);
            break;
        case 11:
        case 12:
            change_type(&text, &spans);
            break;
        case 13:
        case 14:
            change_weights(&text);
            break;
        default:
            return LLVMFuzzerMutate(data, text.size, capacity);
        }
    }
    return text.size;
}

/* Inserts a layer of the second model into the first, or replaces one with it. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t n_first, const uint8_t *second,
                                 size_t n_second, uint8_t *out, size_t capacity, unsigned seed)
{
    static struct spans own, others;
    const uint8_t *end = memchr(first, 0, n_first);
    struct model_text text = {out, n_first, capacity, end ? (size_t)(end - first) : n_first};
    state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (n_first > capacity)
        return 0;
    memcpy(out, first, n_first);
    find_elements(out, text.xml_size, "<layer ", "</layer>", &own);
    find_elements(second, find(second, 0, n_second, "<edges>"), "<layer ", "</layer>", &others);
    if (own.n == 0 || others.n == 0)
        return n_first;
    struct span to = own.items[pick(own.n)], from = others.items[pick(others.n)];
    if (pick(2) == 0)
        to.end = to.begin;
    replace(&text, to, second + from.begin, from.end - from.begin);
    return text.size;
}
