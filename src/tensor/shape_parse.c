/* Parses the partial shapes of the IR's attributes, in any locale.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor/shape.h"

#include <string.h>

#include "base/text.h"

static const char *const why_item =
    "a dimension is a whole number, -1, ?, or a range like 2..8, 3.. or ..5";

/* Parses a size: digits only, and less than INT64_MAX, which means "no bound". */
static bool parse_size(struct slice slice, int64_t *size, const char **why)
{
    *why = why_item;
    slice = slice_trim(slice);
    if (slice.at == slice.end)
        return false;
    for (const char *at = slice.at; at < slice.end; at++)
        if (!text_is_digit(*at))
            return false;
    *why = "a dimension is too large";
    return text_to_i64(slice.at, slice_length(slice), size) && *size < INT64_MAX;
}

static const char *find_dots(struct slice slice)
{
    for (const char *at = slice.at; at + 1 < slice.end; at++)
        if (at[0] == '.' && at[1] == '.')
            return at;
    return NULL;
}

static bool parse_range(struct slice item, const char *dots, int64_t *min, int64_t *max,
                        const char **why)
{
    struct slice low = slice_trim((struct slice){item.at, dots});
    struct slice high = slice_trim((struct slice){dots + 2, item.end});
    *min = 0;
    *max = INT64_MAX;
    if (low.at != low.end && !parse_size(low, min, why))
        return false;
    if (high.at != high.end && !parse_size(high, max, why))
        return false;
    *why = "a range ends below its start";
    return *min <= *max;
}

static bool parse_item(struct slice item, int64_t *min, int64_t *max, const char **why)
{
    item = slice_trim(item);
    size_t length = slice_length(item);
    if (memchr(item.at, '?', length) || (length == 2 && memcmp(item.at, "-1", 2) == 0)) {
        *min = 0;
        *max = INT64_MAX;
        return true;
    }
    const char *dots = find_dots(item);
    if (dots)
        return parse_range(item, dots, min, max, why);
    if (!parse_size(item, min, why))
        return false;
    *max = *min;
    return true;
}

static bool strip_brackets(struct slice *all, const char **why)
{
    bool is_open = all->at < all->end && *all->at == '[';
    bool is_closed = all->at < all->end && all->end[-1] == ']';
    if (is_open != is_closed) {
        *why = "a bracket is not matched";
        return false;
    }
    if (is_open)
        *all = slice_trim((struct slice){all->at + 1, all->end - 1});
    return true;
}

bool partial_shape_parse(const char *text, struct irrun_partial_shape *shape, const char **why)
{
    struct irrun_partial_shape result = {.rank = 0};
    struct slice rest = slice_trim((struct slice){text, text + strlen(text)});
    if (!strip_brackets(&rest, why))
        return false;
    if (slice_length(rest) == 3 && memcmp(rest.at, "...", 3) == 0) {
        *shape = partial_shape_any();
        return true;
    }
    bool is_last = rest.at == rest.end;
    while (!is_last) {
        const char *comma = memchr(rest.at, ',', slice_length(rest));
        is_last = !comma;
        struct slice item = {rest.at, comma ? comma : rest.end};
        if (result.rank == IRRUN_MAX_RANK) {
            *why = "there are more than 16 dimensions";
            return false;
        }
        if (!parse_item(item, &result.min[result.rank], &result.max[result.rank], why))
            return false;
        result.rank++;
        if (comma)
            rest.at = comma + 1;
    }
    *shape = result;
    return true;
}
