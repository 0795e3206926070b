/* Loads libsndfile.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats/sound_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define LIBRARY "libsndfile.so.1"

/* Set once; the library is never closed. */
static struct sound_library library;
static char problem[256];

/* Sets *function to the address of the symbol. Returns false if the library does not have it. */
static bool find(void *handle, const char *symbol, void *function)
{
    void *address = dlsym(handle, symbol);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static void load(void)
{
    void *handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (handle && find(handle, "sf_open_fd", &library.open_fd) &&
        find(handle, "sf_readf_float", &library.read_frames) &&
        find(handle, "sf_error", &library.error) && find(handle, "sf_strerror", &library.message) &&
        find(handle, "sf_close", &library.close))
        return;
    const char *why = dlerror();
    snprintf(problem, sizeof problem, "%s", why ? why : LIBRARY);
}

const struct sound_library *sound_library_load(const char *path, struct irrun_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!problem[0])
        return &library;
    char quoted[TEXT_QUOTED_BYTES];
    fail(err, IRRUN_SYSTEM, "cannot load libsndfile, which reads %s: %s", path, problem);
    fail_hint(err,
              "install it (libsndfile1 on Debian, libsndfile on Fedora and Alpine), or: sox %s "
              "-t f32 - | irrun ... -i raw:-",
              text_shell_quote(path, quoted));
    return NULL;
}
