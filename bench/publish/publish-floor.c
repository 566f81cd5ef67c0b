/*
 * The bare loop with which durable publishing is compared. It appends lines to a file and calls fdatasync after each
 * write.
 *
 *   publish-floor FILE LINES_FILE LINES_PER_SYNC MILLISECONDS
 *
 * Writes the lines of LINES_FILE repeatedly. Prints the number of fdatasyncs, the number of lines, the seconds, and the
 * longest fdatasync in milliseconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Reads a whole file into memory. The caller never frees it. */
static char *whole(const char *path, size_t *length) {
  struct stat state;
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &state) != 0) fail(path);
  char *text = malloc((size_t)state.st_size);
  if (text == NULL || read(fd, text, (size_t)state.st_size) != state.st_size) fail(path);
  close(fd);
  *length = (size_t)state.st_size;
  return text;
}

int main(int count, char **values) {
  if (count != 5) {
    fprintf(stderr, "publish-floor FILE LINES_FILE LINES_PER_SYNC MILLISECONDS\n");
    return 2;
  }
  size_t length;
  char *text = whole(values[2], &length);
  long per_sync = atol(values[3]);
  double until = now() + atof(values[4]) / 1000;
  int fd = open(values[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0) fail(values[1]);

  char *from = text;
  long syncs = 0, lines = 0;
  double began = now(), last = began, longest = 0;
  while (last < until) {
    char *to = from;
    for (long line = 0; line < per_sync; line++) {
      char *end = memchr(to, '\n', (size_t)(text + length - to));
      if (end == NULL) break;
      to = end + 1;
      lines++;
    }
    if (to == from) {
      from = text;
      continue;
    }
    if (write(fd, from, (size_t)(to - from)) != to - from) fail("write");
    if (fdatasync(fd) != 0) fail("fdatasync");
    syncs++;
    from = to;
    double at = now();
    if (at - last > longest) longest = at - last;
    last = at;
  }
  printf("%ld %ld %.6f %.3f\n", syncs, lines, last - began, longest * 1000);
  return 0;
}
