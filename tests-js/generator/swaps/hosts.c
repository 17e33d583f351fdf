// Loaded into a Node process by LD_PRELOAD: a host of addons that refuses buffers over memory of others, as Electron does, or that copies
// what it is given. The environment says which. The addon looks up the calls of its host by name.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NO_EXTERNAL_BUFFERS = 22 };
typedef void (*finalizer)(void *env, void *data, void *hint);
extern int napi_create_arraybuffer(void *env, size_t bytes, void **data, void **result);

static int create(void *env, void *from, size_t bytes, finalizer finalize, void *hint, void **result) {
  if (strcmp(getenv("FRAZIL_TEST_HOST"), "refuses") == 0) return NO_EXTERNAL_BUFFERS;
  void *copy;
  int made = napi_create_arraybuffer(env, bytes, &copy, result);
  if (made != OK) return made;
  memcpy(copy, from, bytes);
  finalize(env, from, hint);
  return OK;
}

void *dlsym(void *library, const char *name) {
  if (strcmp(name, "napi_create_external_arraybuffer") == 0) return create;
  void *(*found)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return found(library, name);
}
