/* The functions of <dlfcn.h> in a static program, which loads no library. Those of a C library need
 * the shared libraries of the system where the program was linked; --wrap replaces them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stddef.h>

void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlsym(void *handle, const char *symbol);
int __wrap_dladdr(const void *address, Dl_info *info);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *path, int flags)
{
    (void)path, (void)flags;
    return NULL;
}

void *__wrap_dlsym(void *handle, const char *symbol)
{
    (void)handle, (void)symbol;
    return NULL;
}

int __wrap_dladdr(const void *address, Dl_info *info)
{
    (void)address, (void)info;
    return 0;
}

char *__wrap_dlerror(void)
{
    static char why[] = "this program is static, and loads no library";
    return why;
}
