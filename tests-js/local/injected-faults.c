/* A library for LD_PRELOAD that makes flushes fail, and stops the process while it opens or flushes a state file.
 *
 * FLUSH is the path of a file. If it exists, the next flush of a file fails with EIO and removes it. The path with `.directory`
 * appended does the same for flushes of directories. While the path with `.forbidden` appended exists, no flush is allowed (EPERM), as in
 * a sandbox.
 * PAUSE is the path of a file. If it exists with `.opened` appended, the process stops itself (SIGSTOP) right after it opens a
 * state file; with `.read` appended, right after it reads the last record of one; with `.flush` appended, before it flushes a file. The
 * file is removed, so this happens once.
 *
 * The functions make the system calls directly, so they need not find the C library's functions that they replace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int flush_fails(int fd) {
  const char *path = getenv("FLUSH");
  struct stat what;
  char name[4096];
  if (path == NULL || fstat(fd, &what) != 0) return 0;
  snprintf(name, sizeof name, "%s.forbidden", path);
  if (access(name, F_OK) == 0) {
    errno = EPERM;
    return 1;
  }
  snprintf(name, sizeof name, "%s%s", path, S_ISDIR(what.st_mode) ? ".directory" : "");
  if (unlink(name) != 0) return 0;
  errno = EIO;
  return 1;
}

int fsync(int fd) { return flush_fails(fd) ? -1 : (int)syscall(SYS_fsync, fd); }

static void pause_after(const char *what) {
  const char *path = getenv("PAUSE");
  char name[4096];
  if (path == NULL) return;
  snprintf(name, sizeof name, "%s.%s", path, what);
  if (unlink(name) == 0) raise(SIGSTOP);
}

int fdatasync(int fd) {
  pause_after("flush");
  return flush_fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  const char *end = strrchr(path, '.');
  if (fd >= 0 && !(flags & O_CREAT) && end != NULL && strcmp(end, ".frazil") == 0) pause_after("opened");
  return fd;
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) {
  ssize_t got = syscall(SYS_pread64, fd, bytes, count, at);
  /* The copy of the odd record is the last that an opening reads. */
  if (got == 512 && at == 8192 + 16384) pause_after("read");
  return got;
}
