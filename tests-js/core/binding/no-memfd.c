// Refuses memory with a name, as some sandboxes do. The addon calls it by number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (number == SYS_memfd_create) {
    errno = ENOSYS;
    return -1;
  }
  if (next == NULL) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long given[6];
  va_list list;
  va_start(list, number);
  for (int at = 0; at < 6; at++) given[at] = va_arg(list, long);
  va_end(list);
  return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
