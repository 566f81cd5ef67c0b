/*
 * A library for LD_PRELOAD that stands between a program and the files of one folder. It counts the program's calls on
 * those files, over all threads. It can record each change, and fail the k-th call. Calls on other files, sockets and pipes pass through. Linux with glibc.
 *
 *   SHIM_ROOT    absolute path of the folder
 *   SHIM_CALLS   names of the calls that count, with a comma after each, such as "pwrite,fsync,". Changes when unset:
 *                create pwrite ftruncate fallocate fsync fdatasync rename link unlink mkdir rmdir.
 *                Others: open pread mmap fcntl (locks)
 *   SHIM_FILES   endings of the paths that count, with a comma after each; all when unset
 *   SHIM_WHILE   file: calls count only while it exists
 *   SHIM_FAIL    "K ERRNO TIMES": the calls K to K + TIMES - 1 fail with this error. The number of the first is 1. With
 *                the error 0 they write or read only half of the bytes
 *   SHIM_TRACE   file to which a record of each change is appended: a line "CALL OFFSET LENGTH PATH [TARGET]" with
 *                paths below the folder, and the bytes of a write after it. "." is the folder. The OFFSET of ftruncate
 *                is the new size. An answer of an HTTP server with the status 200 is recorded too, as it is sent, as
 *                "answer 0 LENGTH ." with its bytes. A test may append lines of its own
 *   SHIM_REPORT  file to which a line "CALL NUMBER PATH" is appended for each counted call that failed, and,
 *                with "all " before its path, for each counted call
 *
 * Every way to write is called pwrite, every way to read pread. An open that makes a file is create, one that empties a
 * file is recorded as ftruncate. Copies inside the kernel are refused, so that programs read and write instead. Changes
 * of a file through mmap are not seen: only SQLite's -shm has them.
 */
#include "io-shim.h"

static int opened(int at, const char *path, int flags, mode_t mode) {
  char whole[PATH_LENGTH_MAX];
  const char *name = named(at, path, whole);
  int is_new = name != NULL && (flags & O_CREAT) != 0 && raw(SYS_faccessat, at, path, F_OK) != 0;
  int fd = -1;
  if (name == NULL && (fd = raw(SYS_openat, at, path, flags, mode)) >= 0) remember(fd, NULL);
  if (name == NULL) return fd;
  THROUGH(int, is_new ? "create" : "open", name, raw(SYS_openat, at, path, flags, mode), {
    remember(result, name);
    if (is_new) record("create", 0, NULL, 0, 0, name, NULL);
    else if (flags & O_TRUNC) record("ftruncate", 0, NULL, 0, 0, name, NULL);
  });
}

/* The argument after the last named one. */
#define NEXT(type, name, last) \
  va_list list; \
  va_start(list, last); \
  type name = va_arg(list, type); \
  va_end(list);
#define OPEN(name, extra, at) \
  int name(extra const char *path, int flags, ...) { \
    NEXT(mode_t, mode, flags) \
    return opened(at, path, flags | O_LARGEFILE, flags & O_CREAT ? mode : 0); \
  }
#define FOLDER int folder,
OPEN(open, , AT_FDCWD) OPEN(open64, , AT_FDCWD) OPEN(openat, FOLDER, folder) OPEN(openat64, FOLDER, folder)

static size_t length_of(const struct iovec *parts, int count) {
  size_t all = 0;
  for (int i = 0; i < count; i += 1) all += parts[i].iov_len;
  return all;
}

/* Writes or reads the parts, at an offset or, when it is -1, where the descriptor stands. */
static ssize_t moved(int writes, int fd, const struct iovec *parts, int count, off_t offset, size_t limit) {
  struct iovec cut[PARTS_MAX];
  int used = 0;
  for (size_t left = limit; used < count && used < PARTS_MAX && (left > 0 || used == 0); used += 1) {
    cut[used] = (struct iovec){parts[used].iov_base, parts[used].iov_len < left ? parts[used].iov_len : left};
    left -= cut[used].iov_len;
  }
  if (offset < 0) return raw(writes ? SYS_writev : SYS_readv, fd, cut, used);
  return raw(writes ? SYS_pwritev : SYS_preadv, fd, cut, used, offset, 0);
}

static ssize_t move(int writes, int fd, const struct iovec *parts, int count, off_t offset) {
  size_t all = length_of(parts, count);
#define LIMIT (verdict == SHORT ? (all + 1) / 2 : all)
  THROUGH(ssize_t, writes ? "pwrite" : "pread", of_fd(fd), moved(writes, fd, parts, count, offset, LIMIT), {
    long from = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR) - result;
    if (writes) record("pwrite", from, parts, count, result, own, NULL);
  });
}

/*
 * Writes to a descriptor of no file of the folder. An answer is recorded first, because its client may kill the program,
 * and in turn, so that it stands between the changes before and after it.
 */
static ssize_t send_parts(int fd, const struct iovec *parts, int count) {
  static const char OK[] = "HTTP/1.1 200";
  size_t length = sizeof OK - 1;
  int answers = trace_fd >= 0 && count > 0 && parts[0].iov_len > length && memcmp(parts[0].iov_base, OK, length) == 0;
  if (!answers) return raw(SYS_writev, fd, parts, count);
  size_t all = length_of(parts, count);
  pthread_mutex_lock(&turn);
  record("answer", 0, parts, count, all, ".", NULL);
  ssize_t result = raw(SYS_writev, fd, parts, count);
  int error = errno;
  pthread_mutex_unlock(&turn);
  errno = error;
  return result;
}

#define ONE &(struct iovec){(void *)bytes, length}, 1
ssize_t write(int fd, const void *bytes, size_t length) { return of_fd(fd) ? move(1, fd, ONE, -1) : send_parts(fd, ONE); }
ssize_t read(int fd, void *bytes, size_t length) { return of_fd(fd) ? move(0, fd, ONE, -1) : raw(SYS_read, fd, bytes, length); }
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return move(1, fd, ONE, offset); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) { return move(1, fd, ONE, offset); }
ssize_t pread(int fd, void *bytes, size_t length, off_t offset) { return move(0, fd, ONE, offset); }
ssize_t pread64(int fd, void *bytes, size_t length, off_t offset) { return move(0, fd, ONE, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return of_fd(fd) ? move(1, fd, parts, count, -1) : send_parts(fd, parts, count); }
ssize_t readv(int fd, const struct iovec *parts, int count) { return of_fd(fd) ? move(0, fd, parts, count, -1) : raw(SYS_readv, fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return move(1, fd, parts, count, offset); }
ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) { return move(0, fd, parts, count, offset); }

/* Calls on a descriptor, recorded with a number. */
#define ON_FD(type, call, make, number) THROUGH(type, call, of_fd(fd), make, record(call, number, NULL, 0, 0, own, NULL))
int ftruncate(int fd, off_t size) { ON_FD(int, "ftruncate", raw(SYS_ftruncate, fd, size), size); }
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }
int fallocate64(int fd, int mode, off_t from, off_t length) { ON_FD(int, "fallocate", raw(SYS_fallocate, fd, mode, from, length), from + length); }
int fsync(int fd) { ON_FD(int, "fsync", raw(SYS_fsync, fd), 0); }
int fdatasync(int fd) { ON_FD(int, "fdatasync", raw(SYS_fdatasync, fd), 0); }
void *mmap64(void *to, size_t length, int guard, int flags, int fd, off_t offset) { THROUGH(void *, "mmap", flags & MAP_ANONYMOUS ? NULL : of_fd(fd), (void *)raw(SYS_mmap, to, length, guard, flags, fd, offset), ); }
void *mmap(void *to, size_t length, int guard, int flags, int fd, off_t offset) { return mmap64(to, length, guard, flags, fd, offset); }

/* Calls on a name. */
#define ON_NAME(call, at, path, make, number) \
  char whole[PATH_LENGTH_MAX]; \
  THROUGH(int, call, named(at, path, whole), make, record(call, number, NULL, 0, 0, own, NULL))
int unlinkat(int at, const char *path, int flags) { ON_NAME(flags & AT_REMOVEDIR ? "rmdir" : "unlink", at, path, raw(SYS_unlinkat, at, path, flags), 0); }
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int mkdirat(int at, const char *path, mode_t mode) { ON_NAME("mkdir", at, path, raw(SYS_mkdirat, at, path, mode), mode); }
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int truncate64(const char *path, off_t size) { ON_NAME("ftruncate", AT_FDCWD, path, raw(SYS_truncate, path, size), size); }
int truncate(const char *path, off_t size) { return truncate64(path, size); }
int remove(const char *path) { return unlinkat(AT_FDCWD, path, 0) == 0 ? 0 : errno == EISDIR ? rmdir(path) : -1; }

/* Calls on two names, of which one may be outside the folder: it is then recorded as it is. */
#define ON_NAMES(call, make, done) \
  char whole[PATH_LENGTH_MAX], other[PATH_LENGTH_MAX]; \
  const char *first = named(at, from, whole), *second = named(to_at, to, other); \
  THROUGH(int, call, first ? first : second ? from : NULL, make, { \
    done; \
    record(call, 0, NULL, 0, 0, own, second ? second : to); \
  })
/* Open files keep the name in the trace that they have now. */
static void move_name(const char *from, const char *to) {
  for (int fd = 0; from != NULL && to != NULL && fd < FD_MAX; fd += 1)
    if (paths[fd] != NULL && strcmp(paths[fd], from) == 0) remember(fd, to);
}
int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) { ON_NAMES("rename", raw(SYS_renameat2, at, from, to_at, to, flags), move_name(first, second)); }
int renameat(int at, const char *from, int to_at, const char *to) { return renameat2(at, from, to_at, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int at, const char *from, int to_at, const char *to, int flags) { ON_NAMES("link", raw(SYS_linkat, at, from, to_at, to, flags), ); }
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

/* Descriptors that come and go. */
int close(int fd) { return remember(fd, NULL), raw(SYS_close, fd); }
int dup3(int fd, int to, int flags) { return remember(to, of_fd(fd)), raw(SYS_dup3, fd, to, flags); }
int dup2(int fd, int to) { return fd == to ? to : dup3(fd, to, 0); }
int fcntl64(int fd, int command, ...) {
  NEXT(long, value, command)
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
    int copy = raw(SYS_fcntl, fd, command, value);
    if (copy >= 0) remember(copy, of_fd(fd));
    return copy;
  }
  int locks = command == F_SETLK || command == F_GETLK || command == F_OFD_SETLK || command == F_OFD_GETLK;
  THROUGH(int, "fcntl", locks ? of_fd(fd) : NULL, raw(SYS_fcntl, fd, command, value), );
}
int fcntl(int fd, int command, ...) {
  NEXT(long, value, command)
  return fcntl64(fd, command, value);
}
int dup(int fd) { return fcntl64(fd, F_DUPFD, 0L); }
int closedir(DIR *folder) {
  static int (*real)(DIR *);
  if (real == NULL) real = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
  return remember(dirfd(folder), NULL), real(folder);
}

/* Copies inside the kernel, which programs replace by reading and writing. */
ssize_t sendfile64(int to, int from, off_t *offset, size_t length) { return of_fd(to) ? (errno = EINVAL, -1) : raw(SYS_sendfile, to, from, offset, length); }
ssize_t sendfile(int to, int from, off_t *offset, size_t length) { return sendfile64(to, from, offset, length); }
ssize_t copy_file_range(int from, off_t *at, int to, off_t *to_at, size_t length, unsigned flags) { return of_fd(to) ? (errno = EXDEV, -1) : raw(SYS_copy_file_range, from, at, to, to_at, length, flags); }
int ioctl(int fd, unsigned long request, ...) {
  NEXT(long, value, request)
  return request == FICLONE && of_fd(fd) ? (errno = EOPNOTSUPP, -1) : raw(SYS_ioctl, fd, request, value);
}
long syscall(long number, ...) {
  SIX_ARGUMENTS
  if (number == SYS_close) return close(a[0]);
  if (number == SYS_copy_file_range) return copy_file_range(a[0], (off_t *)a[1], a[2], (off_t *)a[3], a[4], a[5]);
  if (number == SYS_renameat2) return renameat2(a[0], (const char *)a[1], a[2], (const char *)a[3], a[4]);
  if (number == SYS_pwritev2) return move(1, a[0], (const struct iovec *)a[1], a[2], a[3]);
  return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
