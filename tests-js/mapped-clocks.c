/* A library for LD_PRELOAD that shows the wall clock and the boot clock ahead of the real ones, or behind.
 *
 * CLOCKS is the path of a file with two 64-bit numbers: by how many nanoseconds the wall clock and the boot clock are ahead.
 *
 * The functions make the system calls directly, so they need not find the C library's functions that they replace. They take no
 * lock and no memory: a handler of a signal may call them at any time, and so may a process that another one forked.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *ahead;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CLOCKS");
  int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void *numbers = mmap(NULL, 16, PROT_READ, MAP_SHARED, fd, 0);
  if (numbers != MAP_FAILED) ahead = numbers;
  close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = (int)syscall(SYS_clock_gettime, clock, now);
  int which = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? 0 : clock == CLOCK_BOOTTIME ? 1 : 2;
  if (status == 0 && ahead != NULL && which < 2) {
    long long nanos = now->tv_sec * 1000000000LL + now->tv_nsec + ahead[which];
    now->tv_sec = nanos / 1000000000;
    now->tv_nsec = nanos % 1000000000;
  }
  return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  if (now != NULL) *now = exact.tv_sec;
  return exact.tv_sec;
}
