// Preloaded: while the file that NO_THREAD names exists, no thread can be started.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  const char *file = getenv("NO_THREAD");
  if (file != NULL && access(file, F_OK) == 0) return EAGAIN;
  if (create == NULL) create = dlsym(RTLD_NEXT, "pthread_create");
  return create(thread, attributes, start, argument);
}
