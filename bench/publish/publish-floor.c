/*
 * The bare loop with which durable publishing is compared: it appends lines to a file and calls fdatasync after each write.
 *
 *   publish-floor FILE LINES_FILE LINES_PER_SYNC MILLISECONDS
 *
 * Writes the lines of LINES_FILE again and again. Prints the lines a second.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 22 };
static char text[TEXT_MAX];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

int main(int count, char **values) {
  if (count != 5) return 2;
  int from = open(values[2], O_RDONLY), to = open(values[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  ssize_t length = read(from, text, TEXT_MAX);
  if (to < 0 || length <= 0) fail(values[2]);
  long lines = 0, per_sync = atol(values[3]);
  double began = now(), until = began + atof(values[4]) / 1000;
  for (char *at = text; now() < until;) {
    char *end = at;
    for (long line = 0; line < per_sync; line++) {
      char *found = memchr(end, '\n', (size_t)(text + length - end));
      if (found == NULL) break;
      end = found + 1;
      lines++;
    }
    if (end == at) { at = text; continue; }
    if (write(to, at, (size_t)(end - at)) != end - at || fdatasync(to) != 0) fail(values[1]);
    at = end;
  }
  printf("%.3f\n", (double)lines / (now() - began));
  return 0;
}
