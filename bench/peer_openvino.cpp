// Times OpenVINO's CPU plugin on one IR, as the peer of `make bench`.
//
//   peer_openvino MODEL.xml ITERATIONS WARMUP THREADS PRECISION INPUT.raw:SHAPE... -- OUTPUT.raw...
//
// One input file per Parameter, in order, with the shape of its numbers (1,512); the outputs of the first inference from
// the initial state are written for comparison. One request, latency hint, one stream. PRECISION is f32 or
// bf16, its default on some CPUs. Prints one JSON object: milliseconds to read, compile and infer first, microseconds per
// iteration, peak memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <openvino/openvino.hpp>

using steady = std::chrono::steady_clock;

static double seconds_since(steady::time_point start)
{
    return std::chrono::duration<double>(steady::now() - start).count();
}

// "in0.raw:1,512": the file and the shape; "in0.raw:" is a scalar.
static ov::Shape shape_of(const std::string &input)
{
    ov::Shape shape;
    std::istringstream words(input.substr(input.rfind(':') + 1));
    for (std::string word; std::getline(words, word, ',');)
        shape.push_back(std::stoul(word));
    return shape;
}

static void read_into(const std::string &path, ov::Tensor &tensor)
{
    std::ifstream file(path, std::ios::binary);
    file.read(static_cast<char *>(tensor.data()), static_cast<std::streamsize>(tensor.get_byte_size()));
    if (!file) {
        std::fprintf(stderr, "%s is shorter than its input\n", path.c_str());
        std::exit(1);
    }
}

static void write_out(const std::string &path, const ov::Tensor &tensor)
{
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char *>(tensor.data()), static_cast<std::streamsize>(tensor.get_byte_size()));
}

// Not getrusage: that counts what the process was before it became this program.
static long peak_rss_kb()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    long kb = 0;
    while (status >> word)
        if (word == "VmHWM:")
            status >> kb;
    return kb;
}

int main(int argc, char **argv)
{
    std::vector<std::string> inputs, outputs;
    bool is_output = false;
    for (int i = 6; i < argc; i++) {
        if (std::strcmp(argv[i], "--") == 0)
            is_output = true;
        else
            (is_output ? outputs : inputs).push_back(argv[i]);
    }
    if (argc < 6)
        return 2;
    const long iterations = std::atol(argv[2]), warmup = std::atol(argv[3]);

    auto start = steady::now();
    ov::Core core;
    auto model = core.read_model(argv[1]);
    const double read_ms = seconds_since(start) * 1e3;
    ov::AnyMap config{{"PERFORMANCE_HINT", "LATENCY"}, {"INFERENCE_NUM_THREADS", std::atoi(argv[4])}, {"NUM_STREAMS", 1},
                      {"ENABLE_CPU_PINNING", false}, {"INFERENCE_PRECISION_HINT", std::string(argv[5])}, {"KV_CACHE_PRECISION", "f32"}};
    auto compiled = core.compile_model(model, "CPU", config);
    auto request = compiled.create_infer_request();
    const double compile_ms = seconds_since(start) * 1e3 - read_ms;
    for (size_t i = 0; i < compiled.inputs().size() && i < inputs.size(); i++) {
        ov::Tensor tensor(compiled.input(i).get_element_type(), shape_of(inputs[i]));
        read_into(inputs[i].substr(0, inputs[i].rfind(':')), tensor);
        request.set_input_tensor(i, tensor);
    }
    auto first = steady::now();
    request.infer();
    const double first_ms = seconds_since(first) * 1e3;
    for (size_t i = 0; i < outputs.size(); i++)
        write_out(outputs[i], request.get_output_tensor(i));
    for (long i = 0; i < warmup; i++)
        request.infer();
    std::vector<double> times(static_cast<size_t>(iterations));
    for (double &time : times) {
        auto begin = steady::now();
        request.infer();
        time = seconds_since(begin) * 1e6;
    }
    std::sort(times.begin(), times.end());
    const double p50 = times.empty() ? 0 : times[times.size() / 2], least = times.empty() ? 0 : times.front();
    std::printf("{\"read_ms\": %.3f, \"compile_ms\": %.3f, \"first_ms\": %.3f, \"min_us\": %.3f, \"p50_us\": %.3f, \"peak_rss_kb\": %ld}\n",
                read_ms, compile_ms, first_ms, least, p50, peak_rss_kb());
}
