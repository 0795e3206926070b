/* Recognizes files that users pass as a model by mistake.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/sniff.h"

#include <string.h>

static bool has_at(const unsigned char *head, size_t n, size_t offset, const char *bytes,
                   size_t n_bytes)
{
    return n >= offset + n_bytes && memcmp(head + offset, bytes, n_bytes) == 0;
}

#define HAS_AT(offset, bytes) has_at(head, n, offset, bytes, sizeof(bytes) - 1)

bool sniff_is_lfs_pointer(const unsigned char *head, size_t n)
{
    return HAS_AT(0, "version https://git-lfs.github.com/spec/");
}

bool sniff_is_xml(const unsigned char *head, size_t n)
{
    return HAS_AT(0, "<?xml") || HAS_AT(0, "\xef\xbb\xbf<?xml") || HAS_AT(0, "<net ");
}

/* Returns whether the bytes begin an ONNX file: a protobuf message whose field 1 (ir_version) is a
 * small number, followed by a length-delimited field: the name or version of the producer, the
 * opset imports or the graph. */
static bool is_onnx(const unsigned char *head, size_t n)
{
    return n > 3 && head[0] == 0x08 && head[1] < 0x20 &&
           (head[2] == 0x12 || head[2] == 0x1a || head[2] == 0x3a || head[2] == 0x42);
}

static bool has_control_bytes(const unsigned char *head, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (head[i] < ' ' && head[i] != '\t' && head[i] != '\n' && head[i] != '\r')
            return true;
    return false;
}

const char *sniff(const unsigned char *head, size_t n, const char **hint)
{
    static const char convert[] = "convert it to OpenVINO IR first: ovc %s";
    *hint = NULL;
    if (sniff_is_lfs_pointer(head, n)) {
        *hint = "fetch the real file: git lfs pull";
        return "a git-LFS pointer";
    }
    if (HAS_AT(0, "PK\003\004")) {
        *hint = "unpack it; a PyTorch or Keras model must be converted to OpenVINO IR";
        return "a zip archive";
    }
    if (HAS_AT(0, "\x1f\x8b")) {
        *hint = "unpack it: gunzip -c %s >model.xml";
        return "compressed with gzip";
    }
    *hint = convert;
    if (HAS_AT(4, "TFL3"))
        return "a TensorFlow Lite model";
    if (HAS_AT(0, "\x89HDF"))
        return "an HDF5 file";
    if (is_onnx(head, n))
        return "an ONNX model";
    *hint = "give the .xml of the model";
    if (HAS_AT(0, "\x93NUMPY"))
        return "a NumPy array";
    if (HAS_AT(0, "{"))
        return "JSON";
    if (has_control_bytes(head, n)) {
        *hint = "give the .xml of the model; irrun finds its .bin next to it";
        return "a binary file, such as the weights of a model";
    }
    *hint = NULL;
    return NULL;
}
