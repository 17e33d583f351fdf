// Refuses memory with a name, as some sandboxes do.
#include <errno.h>

int memfd_create(const char *name, unsigned int flags) {
  (void)name, (void)flags;
  errno = ENOSYS;
  return -1;
}
