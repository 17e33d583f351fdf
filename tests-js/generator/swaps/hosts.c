// Loaded into a Node process by LD_PRELOAD: a host of addons that refuses buffers over memory of others, as Electron does, or that copies
// what it is given. The environment says which. The addon looks up the calls of its host by name. At its end the process writes as JSON
// how often it was asked for a buffer, and how much of what a refusal left with the addon was not freed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NO_EXTERNAL_BUFFERS = 22, MOST = 64 };
typedef void (*finalizer)(void *env, void *data, void *hint);
extern int napi_create_arraybuffer(void *env, size_t bytes, void **data, void **result);
extern void __libc_free(void *memory);

static atomic_int asked, kept;
static _Atomic(void *) refused[MOST];

static int create(void *env, void *from, size_t bytes, finalizer finalize, void *hint, void **result) {
  int at = atomic_fetch_add(&asked, 1);
  if (strcmp(getenv("FRAZIL_TEST_HOST"), "refuses") == 0) {
    atomic_fetch_add(&kept, 1);
    if (at < MOST) refused[at] = hint;
    return NO_EXTERNAL_BUFFERS;
  }
  void *copy;
  int made = napi_create_arraybuffer(env, bytes, &copy, result);
  if (made != OK) return made;
  memcpy(copy, from, bytes);
  finalize(env, from, hint);
  return OK;
}

void free(void *memory) {
  for (int at = 0; memory != NULL && at < MOST && at < asked; at++) {
    void *expected = memory;
    if (atomic_compare_exchange_strong(&refused[at], &expected, NULL)) atomic_fetch_sub(&kept, 1);
  }
  __libc_free(memory);
}

__attribute__((destructor)) static void report(void) { fprintf(stderr, "{\"asked\":%d,\"kept\":%d}\n", asked, kept); }

void *dlsym(void *library, const char *name) {
  if (strcmp(name, "napi_create_external_arraybuffer") == 0) return create;
  void *(*found)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return found(library, name);
}
