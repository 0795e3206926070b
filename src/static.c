/* Replaces the functions of <dlfcn.h> in a static program, by the linker option --wrap. They always
 * fail. Those of glibc would need, at run time, the shared glibc that the program was linked with.
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
