/* Suggests what to write instead of an option that does not exist.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/option_internal.h"

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
    unsigned limit = strlen(word) < 4 ? 1 : 2;
    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned distance =
            text_equals_ignore_case(word, words[i]) ? 0 : text_distance(word, words[i], limit);
        bool is_likely = distance < 2 || word[0] == words[i][0];
        if (distance <= limit && is_likely) {
            nearest = words[i];
            limit = distance - (distance > 0);
        }
    }
    return nearest;
}

static const char *nearest_option(const char *name)
{
    const char *names[N_OPTIONS];
    for (size_t i = 0; i < N_OPTIONS; i++)
        names[i] = option_rows[i].name;
    return nearest_word(name, names, N_OPTIONS);
}

/* Returns whether two names have a word of at least four letters in common, such as threads. */
static bool have_common_word(const char *a, const char *b)
{
    for (size_t length; *a != '\0'; a += length + (a[length] != '\0')) {
        length = strcspn(a, "-_");
        for (const char *at = b; at && length >= 4; at = strpbrk(at, "-_")) {
            at += *at == '-' || *at == '_';
            if (strncmp(at, a, length) == 0 && strchr("-_", at[length]))
                return true;
        }
    }
    return false;
}

/* Adds a hint that lists the options whose names begin with the first `length` bytes of `name`, or,
 * if length is 0, share a word with it. Returns whether any option does. */
static bool hint_list(const char *name, size_t length, struct irrun_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const char *other = option_rows[i].name;
        if (length > 0 ? strncmp(other, name, length) != 0 : !have_common_word(name, other))
            continue;
        char list[sizeof err->hint];
        memcpy(list, err->hint, sizeof list);
        replace_hint(err, "%s%s--%s", list, n++ == 0 ? "" : ", ", other);
    }
    return n > 0;
}

/* Options of benchmark_app and of other programs, some with a value, and the hint for each. */
static const struct {
    const char *names, *hint;
} foreign_options[] = {
    {"d,device,e,ep,cpu,gpu,cuda", "irrun runs on the CPU: omit it"},
    {"t", "--duration=SEC runs for a time"},
    {"nthreads,cores,num_threads,workers", "--threads=N sets the number of threads"},
    {"hint,nstreams,nireq,c,parallel", "--jobs=N runs sequences of a manifest side by side"},
    {"infer_precision,fp16,half,bf16,dtype", "--precision=f32|f16|bf16; the default is f32"},
    {"data_shape", "--shape=NAME=D,D,... sets the shape of an input"},
    {"f", "--shape=NAME=D,D,... sets the shape of an input; csv:FILE names a format"},
    {"w,weights,bin", "the weights follow the model: irrun MODEL.xml WEIGHTS.bin"},
    {"api", "omit it: each iteration begins after the previous one ends"},
    {"pc,p,profiling", "--profile shows the time of each operator"},
    {"niter,iters,repeat,max-tokens", "-n N runs N iterations"},
    {"info,describe,summary", "--inspect shows inputs, outputs, variables and operators"},
    {"ops", "--list-ops lists the operators of the model"},
    {"format,type", "-i FORMAT:FILE and -o FORMAT:FILE name a format, for example csv:FILE"},
    {"json",
     "--inspect=json describes the model, --report=FILE the run; -o jsonl:FILE writes records"},
    {"output-dir,outdir,out-dir", "-o DIR/%n.npy writes a file for each output"},
    {"b,batch-size,batch_size", "irrun computes one record at a time; --batch=N is for --key"},
    {"prompt", "printf TEXT | irrun MODEL.xml -i NAME=raw:- reads characters"},
    {"temperature", "--feed=OUT=IN:sample(T) draws with temperature T"},
    {"pad", "--partial=pad adds zeros to the last record"},
    {"last", "--emit=last writes the last record only"},
    {"ar,samplerate,sample-rate,sr,sampling-rate", "--rate=HZ"},
    {"tolerance,eps", "--atol=X and --rtol=X"},
    {"golden,compare", "--expect=FILE compares the outputs with those of a file"},
    {"resume", "--state-in=FILE continues from a state, --checkpoint=FILE after an interruption"},
    {"top-k", "--feed=OUT=IN:sample(T,K) draws from the K most probable"},
    {"dry-run", "--check does everything except the run"},
    {"force,overwrite,y", "omit it: files are overwritten"},
    {"ac,channels", "omit it: the channels of a sound file are averaged"},
    {"header", "--columns=HEADING,... names columns by their headings"},
    {"no-header,noheader", "--columns=0,1,... takes columns of a table without headings"},
    {"field,fields,usecols", "--columns=A,B,... reads columns by heading, or by number from 0"},
    {"skip,skiprows,skip-rows", "tail -n +2 FILE | irrun ... -i csv:- leaves the first line out"},
    {"F,delimiter,sep,separator", "tr ';' ',' <FILE | irrun ... -i csv:-: commas or tabs separate"},
    {"max-time", "--timeout=SEC gives up after SEC seconds"},
    {"I,generate,rand", "--random generates inputs"},
    {"C", "cd DIR && irrun ..."},
    {"silent,no-warnings,k", "-q shows no warnings and no progress"},
    {"debug,log-level,verbosity,loglevel,trace-level", "-v shows what was chosen and why"},
    {"benchmark,bench,time,timing,P", "--stats shows times and memory"},
    {"no-color", "--color=never"},
    {"no-progress", "--progress=never"},
    {"jobs=auto,jobs=all,jobs=max", "--jobs=$(nproc)"},
    {"threads=all,threads=max,threads=0", "--threads=auto"},
    {"precision=int8,precision=i8,precision=INT8", "omit it: a quantized model computes in int8"},
    {"retry,L,O,url", "irrun reads files; curl -LO URL fetches one"},
    {"help-all", "irrun --help=all lists all options"},
    {"exec_graph_path", "--dot draws the model for Graphviz"},
    {"json_stats,report_folder,report_type", "--report=FILE writes a report in JSON"},
    {"ip,op,iop,layout,il,ol", "arrays have the types and the layout of the model: omit it"},
    {"no_warmup", "omit it: --warmup=N runs N iterations first, none by default"},
    {"inference_only", "-o none: writes no outputs"},
    {"latency_percentile", "--stats shows p50, p90 and p99"},
    {"max_irate", "--pace limits how many records start in a second"},
    {"cache_dir,load_config,dump_config,pin", "irrun has no equivalent: omit it"},
};

const char *option_find_foreign(const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (size_t i = 0; i < sizeof foreign_options / sizeof foreign_options[0]; i++)
        if (text_list_has(foreign_options[i].names, word))
            return foreign_options[i].hint;
    return NULL;
}

bool option_check_characters(char **words, struct irrun_error *err)
{
    for (; *words && strcmp(*words, "--") != 0; words++) {
        const char *word = *words, *mark = strpbrk(word, "=:"), *value = mark ? mark + 1 : word;
        bool is_en = strncmp(word, "\xe2\x80\x93", 3) == 0;
        bool is_dash = is_en || strncmp(word, "\xe2\x80\x94", 3) == 0;
        bool is_quote =
            strncmp(value, "\xe2\x80\x9c", 3) == 0 || strncmp(value, "\xe2\x80\x98", 3) == 0;
        size_t length = is_dash ? strcspn(word + 3, "=") : 0;
        bool is_letter = length == 1 && option_find_letter(word[3]) < N_OPTIONS;
        bool is_option = is_letter || (length > 1 && option_find(word + 3, length) < N_OPTIONS);
        if (is_option && access(word, F_OK) != 0) {
            fail(err, IRRUN_USAGE, "'%s' begins with an e%c dash", word, is_en ? 'n' : 'm');
            return fail_hint(err, "write %s%s", is_letter ? "-" : "--", word + 3);
        }
        if (is_quote && access(value, F_OK) != 0) {
            fail(err, IRRUN_USAGE, "'%s' begins with a curly quote", value);
            return fail_hint(err, "the quotes of the shell are \" and '");
        }
    }
    return true;
}

/* Adds a hint for an option of another program: -m model.xml, --model=, -d CPU. */
static void hint_foreign(const char *name, const char *word, const char *next,
                         struct irrun_error *err)
{
    const char *foreign = option_find_foreign(name, strlen(name));
    const char *equals = strchr(word, '=');
    bool is_attached = word[1] != '-' && word[2] != '\0';
    const char *value = equals ? equals + 1 : is_attached ? word + 2 : next;
    bool is_model = strcmp(name, "m") == 0 || strncmp(name, "model", 5) == 0;
    char quoted[TEXT_QUOTED_BYTES];
    if (is_model)
        fail_hint(err, "give the model without an option: irrun %s",
                  value && *value != '-' ? text_shell_quote(value, quoted) : "MODEL.xml");
    else if (foreign)
        fail_hint(err, "%s", foreign);
}

bool option_fail_unknown(const char *word, const char *name, size_t length, const char *next,
                         struct irrun_error *err)
{
    bool is_long = word[1] == '-';
    if (length == 0)
        return fail(err, IRRUN_USAGE, "%s names no option", word);
    fail(err, IRRUN_USAGE, "unknown option %s%.*s", is_long ? "--" : "-", (int)length, name);
    char whole[64];
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(name, "="), name);
    hint_foreign(whole, word, next, err);
    if (!is_long && name[1] != '\0')
        hint_foreign((char[]){*name, '\0'}, word, next, err);
    if (err->hint[0] != '\0')
        return false;
    if (is_long && length == 1 && option_find_letter(*name) < N_OPTIONS)
        return fail_hint(err, "did you mean -%c?", *name);
    if (is_long && hint_list(name, length, err))
        return fail_append(err, ": options cannot be abbreviated");
    const char *nearest = nearest_option(whole);
    if (nearest)
        return fail_hint(err, "did you mean --%s?", nearest);
    hint_list(whole, 0, err);
    return fail_hint(err, "irrun --help=all lists them");
}
