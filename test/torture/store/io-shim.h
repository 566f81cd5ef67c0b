/* Counting, verdicts and records of io-shim.c, whose comment tells the environment and the format of a trace. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FD_MAX 65536
#define PATH_LENGTH_MAX 1024
#define PARTS_MAX 1024
#define CHANGES "create,pwrite,ftruncate,fallocate,fsync,fdatasync,rename,link,unlink,mkdir,rmdir,"

/* Path below the folder of each open file of the folder. The texts are never freed: they are few, and threads race. */
static const char *paths[FD_MAX];
static char root[PATH_LENGTH_MAX];
static size_t root_length;
static const char *wanted = CHANGES, *files, *only_while;
static long fail_at, fail_times, fail_errno, counted;
static int trace_fd = -1, report_fd = -1, reports_all;
/* Held during a counted call or a change: the trace then has the order of the changes. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

#define SIX_ARGUMENTS \
  va_list list; \
  va_start(list, number); \
  long a[6]; \
  for (int i = 0; i < 6; i += 1) a[i] = va_arg(list, long); \
  va_end(list);
/* System calls that no function of this file intercepts. */
static long raw(long number, ...) {
  static long (*real)(long, ...);
  if (real == NULL) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  SIX_ARGUMENTS
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int open_own(const char *name) {
  const char *path = getenv(name);
  if (path != NULL && strncmp(path, "all ", 4) == 0) reports_all = 1, path += 4;
  if (path == NULL || *path == 0) return -1;
  int low = raw(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  /* High, so that programs which close all low descriptors keep it. */
  int high = raw(SYS_fcntl, low, F_DUPFD_CLOEXEC, 900);
  raw(SYS_close, low);
  return high;
}

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("SHIM_ROOT"), *fail = getenv("SHIM_FAIL");
  if (folder == NULL || strlen(folder) >= sizeof root) return;
  strcpy(root, folder);
  if (getenv("SHIM_CALLS") != NULL) wanted = getenv("SHIM_CALLS");
  files = getenv("SHIM_FILES");
  only_while = getenv("SHIM_WHILE");
  if (fail != NULL && sscanf(fail, "%ld %ld %ld", &fail_at, &fail_errno, &fail_times) != 3) abort();
  trace_fd = open_own("SHIM_TRACE");
  report_fd = open_own("SHIM_REPORT");
  root_length = strlen(folder);
}

static const char *of_fd(int fd) { return fd >= 0 && fd < FD_MAX ? paths[fd] : NULL; }

static void remember(int fd, const char *path) {
  if (fd >= 0 && fd < FD_MAX && paths[fd] != path) paths[fd] = path == NULL ? NULL : strdup(path);
}

/* Path below the folder of a name relative to a descriptor; NULL for one outside of it. `whole` has room for it. */
static const char *named(int at, const char *path, char *whole) {
  if (root_length == 0 || path == NULL || *path == 0) return NULL;
  const char *base = of_fd(at);
  char cwd[PATH_LENGTH_MAX];
  if (path[0] == '/') snprintf(whole, PATH_LENGTH_MAX, "%s", path);
  else if (base != NULL) snprintf(whole, PATH_LENGTH_MAX, "%s/%s/%s", root, base, path);
  else if (at == AT_FDCWD && getcwd(cwd, sizeof cwd)) snprintf(whole, PATH_LENGTH_MAX, "%s/%s", cwd, path);
  else return NULL;
  /* Parts ".", ".." and empty parts go away. */
  char *to = whole;
  for (const char *from = whole; *from != 0;) {
    if (from[0] == '/' && from[1] == '.' && (from[2] == '/' || from[2] == 0)) from += 2;
    else if (strncmp(from, "/..", 3) == 0 && (from[3] == '/' || from[3] == 0)) {
      for (from += 3; to > whole && *--to != '/';) {}
    }
    else if (from[0] == '/' && (from[1] == '/' || from[1] == 0)) from += 1;
    else *to++ = *from++;
  }
  *to = 0;
  if (strncmp(whole, root, root_length) != 0) return NULL;
  if (whole[root_length] == 0) return ".";
  return whole[root_length] == '/' ? whole + root_length + 1 : NULL;
}

/* Whether a list with a comma after each name has the name, or, for files, an ending of the path. */
static int lists(const char *list, const char *name, int endings) {
  for (const char *at = list, *comma; (comma = strchr(at, ',')) != NULL; at = comma + 1) {
    size_t part = comma - at, whole = strlen(name);
    if ((endings ? part <= whole : part == whole) && strncmp(name + whole - part, at, part) == 0) return 1;
  }
  return 0;
}

static void report(const char *call, const char *path) {
  char line[PATH_LENGTH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %ld %s\n", call, counted, path);
  if (report_fd >= 0) raw(SYS_write, report_fd, line, length);
}

static void die(void) {
  raw(SYS_kill, raw(SYS_getpid), SIGKILL);
  for (;;) pause();
}

enum verdict { PASS, FAIL, SHORT };

/* Counts a call on a file of the folder, and decides what becomes of it. Called in turn. */
static enum verdict judge(const char *call, const char *path) {
  if (!lists(wanted, call, 0) || (files != NULL && !lists(files, path, 1))) return PASS;
  if (only_while != NULL && raw(SYS_faccessat, AT_FDCWD, only_while, F_OK) != 0) return PASS;
  counted += 1;
  int fails = fail_at > 0 && counted >= fail_at && counted < fail_at + fail_times;
  if (reports_all || fails) report(call, path);
  if (fails && fail_errno == 0) return SHORT;
  return fails ? FAIL : PASS;
}

/* Appends a change to the trace, with the first `length` bytes of the parts. */
static void record(const char *call, long offset, const struct iovec *parts, int count, size_t length, const char *path,
                   const char *target) {
  if (trace_fd < 0) return;
  char line[2 * PATH_LENGTH_MAX + 64];
  struct iovec all[PARTS_MAX + 1];
  int head = snprintf(line, sizeof line, "%s %ld %zu %s%s%s\n", call, offset, length, path, target ? " " : "", target ? target : "");
  all[0] = (struct iovec){line, head};
  size_t left = length;
  for (int i = 0; i < count; i += 1) {
    size_t part = parts[i].iov_len < left ? parts[i].iov_len : left;
    all[i + 1] = (struct iovec){parts[i].iov_base, part};
    left -= part;
  }
  if (raw(SYS_writev, trace_fd, all, count + 1) != (long)(head + length)) die();
}

/* Judges a call of this name, makes it, and runs `done` after a success. Calls outside the folder are only made. */
#define THROUGH(type, call, path, make, done) \
  do { \
    enum verdict verdict = PASS; \
    const char *own = path; \
    if (own == NULL) return (type)make; \
    pthread_mutex_lock(&turn); \
    verdict = judge(call, own); \
    type result; \
    if (verdict == FAIL) { \
      result = (type)-1; \
      errno = (int)fail_errno; \
    } else { \
      result = (type)make; \
      int error = errno; \
      if (result != (type)-1) { done; } \
      errno = error; \
    } \
    pthread_mutex_unlock(&turn); \
    return result; \
  } while (0)
