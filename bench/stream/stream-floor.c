/*
 * The lower bound of the stream bench: one loop with one send() per subscriber and event. Its cost is that of the
 * kernel. It keeps no log, checks nothing, and blocks on a subscriber that does not read. Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DESCRIPTORS = 65536, BODY_MAX = 4096, INPUT = 1 << 20 };

static int subscribers[DESCRIPTORS], count;
static char *inputs[DESCRIPTORS];
static size_t held[DESCRIPTORS];

static const char HEAD[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char DONE[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

static void fan_out(const char *body, size_t length) {
  static long seq;
  char frame[BODY_MAX + 64], chunk[BODY_MAX + 128];
  int framed = sprintf(frame, "id: %ld\ndata: %.*s\n\n", ++seq, (int)length, body);
  int size = sprintf(chunk, "%x\r\n%s\r\n", framed, frame);
  for (int i = 0; i < count; i++)
    if (send(subscribers[i], chunk, (size_t)size, MSG_NOSIGNAL) < 0) subscribers[i--] = subscribers[--count];
}

/* Answers every complete request that a connection has sent. */
static void take(int fd) {
  if (inputs[fd] == NULL) inputs[fd] = malloc(INPUT);
  ssize_t got = recv(fd, inputs[fd] + held[fd], INPUT - 1 - held[fd], MSG_DONTWAIT);
  if (got <= 0) {
    for (int i = 0; i < count; i++) if (subscribers[i] == fd) subscribers[i--] = subscribers[--count];
    free(inputs[fd]);
    inputs[fd] = NULL;
    held[fd] = 0;
    close(fd);
    return;
  }
  held[fd] += (size_t)got;
  char *at = inputs[fd], *end = at + held[fd];
  *end = 0;
  for (char *head_end; (head_end = strstr(at, "\r\n\r\n")) != NULL;) {
    char *body = head_end + 4;
    if (*at == 'G') {
      if (send(fd, HEAD, sizeof HEAD - 1, MSG_NOSIGNAL) > 0) subscribers[count++] = fd;
      at = body;
      continue;
    }
    char *length_at = strcasestr(at, "content-length: ");
    long length = length_at == NULL ? 0 : atol(length_at + 16);
    if (length > BODY_MAX) exit(1);
    if (end - body < length) break;
    fan_out(body, (size_t)length);
    if (send(fd, DONE, sizeof DONE - 1, MSG_NOSIGNAL) < 0) exit(1);
    at = body + length;
  }
  held[fd] = (size_t)(end - at);
  memmove(inputs[fd], at, held[fd]);
  if (held[fd] == 0) { free(inputs[fd]); inputs[fd] = NULL; }
}

int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0), polling = epoll_create1(0), one = 1;
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 2048) < 0) return 1;
  getsockname(listener, (struct sockaddr *)&address, &size);
  struct epoll_event event = { .events = EPOLLIN, .data.fd = listener }, events[512];
  epoll_ctl(polling, EPOLL_CTL_ADD, listener, &event);
  printf("listening on http://127.0.0.1:%d\n", ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int n = epoll_wait(polling, events, 512, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      if (fd != listener) { take(fd); continue; }
      int peer = accept(listener, NULL, NULL);
      if (peer < 0 || peer >= DESCRIPTORS) return 1;
      setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      event = (struct epoll_event){ .events = EPOLLIN, .data.fd = peer };
      epoll_ctl(polling, EPOLL_CTL_ADD, peer, &event);
    }
  }
}
