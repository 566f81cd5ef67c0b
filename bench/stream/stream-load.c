/*
 * The subscribers and the publisher of the stream bench, in one process that is faster than every candidate. Each
 * subscriber checks that it sees every seq once and in order. Linux only.
 *
 *   stream-load PORT SUBSCRIBERS REQUEST PUBLISH_PORT PUBLISH_HEAD BODIES
 *
 * REQUEST is a whole request, PUBLISH_HEAD a head without its length and last line. BODIES is a file of lines, of which each
 * becomes an event. Prints `ready`, and for each line `EVENTS_PER_SECOND MILLISECONDS` of its input a line of JSON, after it
 * has published one event at a time on that schedule.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 18, CARRY = 48, SOCKETS_OF_ADDRESS = 10, OPENING_MAX = 100 };
/* Time limit for the delivery of a slice's events. */
static const int64_t DRAIN_NS = 20LL * 1000000000;

struct subscriber { int fd; int open; int64_t next; int carried; char carry[CARRY]; };

static struct subscriber *subscribers;
static int count, opened, polling, timer;
static char scratch[CARRY + READ_BYTES];

static char **bodies;
static int bodies_count;
static int64_t published; /* bodies written to the publisher's socket */

static int publisher, publish_port;
static const char *publish_head;
static char *pending;
static size_t pending_size, pending_sent, pending_room;
static char answer_carry[16];
static int answer_carried;
static int64_t unanswered;

static int64_t deliveries, lost, repeated, closed, refused;

static void die(const char *what) { perror(what); exit(1); }

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Ten connections per address, because a service may allow no more. */
static int connect_from(int index, int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (fd < 0) die("socket");
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  uint32_t address = 0x7f010001u + (uint32_t)(index / SOCKETS_OF_ADDRESS);
  struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };
  if (bind(fd, (struct sockaddr *)&from, sizeof from) < 0) die("bind");
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
  return fd;
}

static void watch(int fd, uint32_t events, int index, int change) {
  struct epoll_event event = { .events = events, .data.u32 = (uint32_t)index };
  if (epoll_ctl(polling, change, fd, &event) < 0) die("epoll_ctl");
}

/* An event's line begins with its seq and its type. Other lines with a seq are no events. */
static void take_event(struct subscriber *who, int64_t seq) {
  if (seq < who->next) { repeated++; return; }
  if (seq > who->next) lost += seq - who->next;
  who->next = seq + 1;
  deliveries++;
  if (seq > published) repeated++;
}

/* A line has one opening brace only, so memchr skips most bytes fast. */
static char *next_line(char *from, char *end) {
  while ((from = memchr(from, '{', (size_t)(end - from))) != NULL) {
    if (end - from < 7) return NULL;
    if (memcmp(from, "{\"seq\":", 7) == 0) return from;
    from++;
  }
  return NULL;
}

static void read_subscriber(struct subscriber *who) {
  memcpy(scratch, who->carry, (size_t)who->carried);
  ssize_t got = read(who->fd, scratch + who->carried, READ_BYTES);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0 && !who->open) { fprintf(stderr, "a subscriber was closed before its answer\n"); exit(1); }
  if (got <= 0) { closed++; close(who->fd); who->fd = -1; return; }
  char *end = scratch + who->carried + got, *rest = scratch;
  if (!who->open) {
    char *body = memmem(scratch, (size_t)(end - scratch), "\r\n\r\n", 4);
    if (body != NULL) {
      if (memcmp(scratch, "HTTP/1.1 200", 12) != 0) { fprintf(stderr, "%.200s\n", scratch); exit(1); }
      who->open = 1; opened++; rest = body + 4;
    } else { fprintf(stderr, "a head in pieces\n"); exit(1); }
  }
  for (char *found; (found = next_line(rest, end)) != NULL;) {
    char *digit = found + 7;
    int64_t seq = 0;
    while (digit < end && *digit >= '0' && *digit <= '9') seq = seq * 10 + (*digit++ - '0');
    if (end - digit < 3) { rest = found; break; }
    if (digit[2] == 't') take_event(who, seq);
    rest = digit;
  }
  long keep = end - rest;
  /* Without a line's beginning, only the last bytes can be a part of one. */
  if (keep > 6 && next_line(rest, end) == NULL) { rest = end - 6; keep = 6; }
  if (keep > CARRY) { fprintf(stderr, "a line's beginning is too long\n"); exit(1); }
  memcpy(who->carry, rest, (size_t)keep);
  who->carried = (int)keep;
}

static void flush_publisher(void) {
  while (pending_sent < pending_size) {
    ssize_t sent = write(publisher, pending + pending_sent, pending_size - pending_sent);
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) die("publish");
    pending_sent += (size_t)sent;
  }
  if (pending_sent == pending_size) pending_sent = pending_size = 0;
  watch(publisher, pending_size > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN, count, EPOLL_CTL_MOD);
}

/* Every answer must be a success. Bodies contain no status line. */
static void read_publisher(void) {
  memcpy(scratch, answer_carry, (size_t)answer_carried);
  ssize_t got = read(publisher, scratch + answer_carried, READ_BYTES);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) { fprintf(stderr, "the publisher's connection was closed\n"); exit(1); }
  char *end = scratch + answer_carried + got, *rest = scratch;
  for (char *found; (found = memmem(rest, (size_t)(end - rest), "HTTP/1.1 ", 9)) != NULL && end - found >= 10; rest = found + 10) {
    unanswered--;
    if (found[9] != '2') { if (refused++ == 0) fprintf(stderr, "refused: %.400s\n", found); }
  }
  answer_carried = end - rest < 9 ? (int)(end - rest) : 9;
  memcpy(answer_carry, end - answer_carried, (size_t)answer_carried);
}

/* Publishes the next body. */
static int publish(void) {
  if (published == bodies_count) return 0;
  const char *body = bodies[published];
  size_t room = pending_size + strlen(body) + strlen(publish_head) + 64;
  if (room > pending_room) {
    pending_room = room * 2;
    pending = realloc(pending, pending_room);
    if (pending == NULL) die("realloc");
  }
  pending_size += (size_t)sprintf(pending + pending_size, "%sContent-Length: %zu\r\n\r\n%s", publish_head, strlen(body), body);
  published++;
  unanswered++;
  flush_publisher();
  return 1;
}

/* A new connection for each slice, because a service may close an idle one. */
static void open_publisher(void) {
  publisher = connect_from(count + SOCKETS_OF_ADDRESS, publish_port);
  fcntl(publisher, F_SETFL, O_NONBLOCK);
  watch(publisher, EPOLLIN, count, EPOLL_CTL_ADD);
  pending_size = pending_sent = 0;
  answer_carried = 0;
}

static int all_delivered(void) {
  for (int i = 0; i < count; i++) if (subscribers[i].fd >= 0 && subscribers[i].next <= published) return 0;
  return 1;
}

static void set_timer(int64_t at) {
  struct itimerspec spec = { .it_value = { .tv_sec = at / 1000000000, .tv_nsec = at % 1000000000 } };
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static int has_input;

static void poll_once(int timeout_ms) {
  static struct epoll_event events[512];
  int n = epoll_wait(polling, events, 512, timeout_ms);
  for (int i = 0; i < n; i++) {
    int index = (int)events[i].data.u32;
    if (index < count) read_subscriber(&subscribers[index]);
    else if (index == count) { if (events[i].events & EPOLLOUT) flush_publisher(); read_publisher(); }
    else if (index == count + 1) { uint64_t expired; if (read(timer, &expired, 8) < 0 && errno != EAGAIN) die("timer"); }
    else has_input = 1;
  }
}

static void run(const char *command) {
  double rate = 0;
  int ms = 0;
  if (sscanf(command, "%lf %d", &rate, &ms) != 2) { fprintf(stderr, "unknown: %s", command); exit(1); }
  open_publisher();
  int64_t before = deliveries, first = published;
  int64_t began = now_ns(), until = began + ms * 1000000LL, at = began;
  for (; at < until; at = now_ns()) {
    int64_t due = began + (int64_t)((double)(published - first) * 1e9 / rate);
    if (due <= at) { if (!publish()) break; continue; }
    set_timer(due < until ? due : until);
    poll_once(-1);
  }
  int64_t last = now_ns() + DRAIN_NS;
  while ((unanswered > 0 || !all_delivered()) && now_ns() < last) poll_once(100);
  close(publisher);
  int64_t missing = 0;
  for (int i = 0; i < count; i++) if (subscribers[i].fd >= 0 && subscribers[i].next <= published) missing += published + 1 - subscribers[i].next;
  printf("{\"deliveries\":%ld,\"lost\":%ld,\"repeated\":%ld,\"closed\":%ld,\"refused\":%ld}\n",
    (long)(deliveries - before), (long)(lost + missing), (long)repeated, (long)closed, (long)refused);
  fflush(stdout);
}

static void read_bodies(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) die(path);
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  for (int space = 0; (length = getline(&line, &room, file)) > 0;) {
    if (bodies_count == space) bodies = realloc(bodies, sizeof(char *) * (size_t)(space = space * 2 + 1024));
    line[length - 1] = 0;
    bodies[bodies_count++] = strdup(line);
  }
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  int port = atoi(argv[1]);
  count = atoi(argv[2]);
  publish_port = atoi(argv[4]);
  publish_head = argv[5];
  read_bodies(argv[6]);
  subscribers = calloc((size_t)count, sizeof *subscribers);
  polling = epoll_create1(0);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  watch(timer, EPOLLIN, count + 1, EPOLL_CTL_ADD);
  for (int i = 0; i < count; i++) {
    struct subscriber *who = &subscribers[i];
    who->fd = connect_from(i, port);
    who->next = 1;
    if (write(who->fd, argv[3], strlen(argv[3])) < 0) die("request");
    fcntl(who->fd, F_SETFL, O_NONBLOCK);
    watch(who->fd, EPOLLIN, i, EPOLL_CTL_ADD);
    while (i + 1 - opened > OPENING_MAX) poll_once(1000);
  }
  while (opened < count) poll_once(1000);
  watch(0, EPOLLIN, count + 2, EPOLL_CTL_ADD);
  printf("ready\n");
  fflush(stdout);
  for (char command[256];;) {
    while (!has_input) poll_once(-1);
    has_input = 0;
    if (fgets(command, sizeof command, stdin) == NULL) return 0;
    run(command);
  }
}
