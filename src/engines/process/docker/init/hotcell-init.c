/*
 * The first process of a container: runs one command, carries its files in and out, and passes on the connections that it
 * makes to the proxy on 127.0.0.1. It has no network and no authority of its own; everything goes as frames over its
 * standard input and output, which the daemon holds. When they close, it ends, and the kernel ends all others with it.
 *
 * A frame: type (1 byte), channel (4, little endian), length (4), payload (at most 65536). src/engines/process/docker/frames.ts
 * has the same numbers. Static, without an allocator: it must work in an image that holds nothing else.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXEC = 1, DATA, END, ACK, CLOSE, KILL, FOLDER, FILE_OPEN, FILE_DATA, FILES_DONE, COLLECT, LISTEN };
enum { HELLO = 64, EXIT, ACCEPT, FAILED, ENTRY, ENTRY_DATA, COLLECTED, FILES_OK };

#define PAYLOAD 65536
#define WINDOW 65536
#define CHANNELS 67
#define STRINGS 4096

struct channel {
  uint32_t id;
  int rfd, wfd, ends;
  uint32_t credit, held;
  unsigned char out[WINDOW];
};

static struct channel channels[CHANNELS];
static unsigned char in[9 + PAYLOAD];
static unsigned char frame[PAYLOAD];
static unsigned have;
static uint32_t next_id = 16;
static int listener = -1, child_signals = -1, file = -1, file_errno;
static pid_t command = -1;
static int status, ended;
static struct timespec started;

static void put32(unsigned char *at, uint32_t n) {
  for (int i = 0; i < 4; i++) at[i] = n >> (8 * i);
}

static uint32_t get32(const unsigned char *at) {
  return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static void write_all(const unsigned char *bytes, size_t size) {
  while (size > 0) {
    ssize_t n = write(1, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    bytes += n;
    size -= n;
  }
}

static void send_frame(int type, uint32_t id, const void *payload, uint32_t size) {
  unsigned char head[9] = {type};
  put32(head + 1, id);
  put32(head + 5, size);
  write_all(head, 9);
  write_all(payload, size);
}

static void send_number(int type, uint32_t id, uint32_t number) {
  unsigned char bytes[4];
  put32(bytes, number);
  send_frame(type, id, bytes, 4);
}

static struct channel *find(uint32_t id) {
  for (int i = 0; i < CHANNELS; i++)
    if (channels[i].id == id) return &channels[i];
  return 0;
}

static struct channel *open_channel(uint32_t id, int rfd, int wfd) {
  struct channel *c = find(0);
  if (!c) return 0;
  c->id = id;
  c->rfd = rfd;
  c->wfd = wfd;
  c->ends = c->held = 0;
  c->credit = WINDOW;
  if (rfd >= 0) fcntl(rfd, F_SETFL, O_NONBLOCK);
  if (wfd >= 0) fcntl(wfd, F_SETFL, O_NONBLOCK);
  return c;
}

static void free_channel(struct channel *c) {
  if (c->rfd >= 0) close(c->rfd);
  if (c->wfd >= 0 && c->wfd != c->rfd) close(c->wfd);
  c->id = 0;
  c->rfd = c->wfd = -1;
}

static void end_writing(struct channel *c) {
  if (c->wfd < 0 || c->held > 0 || !c->ends) return;
  if (c->id >= 16) {
    shutdown(c->wfd, SHUT_WR);
    if (c->rfd < 0) return free_channel(c);
    c->wfd = -1;
  } else {
    free_channel(c);
  }
}

static void flush(struct channel *c) {
  while (c->held > 0) {
    ssize_t n = write(c->wfd, c->out, c->held);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      send_frame(CLOSE, c->id, 0, 0);
      return free_channel(c);
    }
    memmove(c->out, c->out + n, c->held - n);
    c->held -= n;
    send_number(ACK, c->id, n);
  }
  end_writing(c);
}

static void pump(struct channel *c) {
  uint32_t most = c->credit < PAYLOAD ? c->credit : PAYLOAD;
  ssize_t n = read(c->rfd, frame, most);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) {
    c->credit -= n;
    return send_frame(DATA, c->id, frame, n);
  }
  send_frame(n == 0 ? END : CLOSE, c->id, 0, 0);
  if (n == 0 && c->id >= 16 && c->wfd >= 0) {
    c->wfd = c->rfd;
    c->rfd = -1;
  } else {
    free_channel(c);
  }
}

static uint32_t count_oom_kills(void) {
  const char *files[] = {"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    int fd = open(files[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = 0;
    char *at = strstr(text, "oom_kill ");
    if (at) return strtoul(at + 9, 0, 10);
  }
  return 0;
}

static void reap(void) {
  struct signalfd_siginfo info;
  int got, how;
  while (read(child_signals, &info, sizeof info) > 0)
    if (info.ssi_signo == SIGTERM) _exit(0);
  while ((got = waitpid(-1, &how, WNOHANG)) > 0) {
    if (got != command) continue;
    command = -1;
    status = how;
    ended = 1;
    /* What it left running must not outlive it. */
    kill(-1, SIGKILL);
  }
}

/* The end is told once everything that was written has been passed on. */
static void tell_end(void) {
  unsigned char bytes[8];
  if (!ended || find(2) || find(3)) return;
  ended = 0;
  put32(bytes, status);
  put32(bytes + 4, count_oom_kills());
  send_frame(EXIT, 0, bytes, 8);
}

/* argc, envc, then the folder, the arguments and the environment as strings that end with a zero. */
static void run(unsigned char *payload, uint32_t size) {
  static char *words[STRINGS];
  int stdin_pipe[2], stdout_pipe[2], stderr_pipe[2], failure[2];
  if (command > 0 || size < 8 || payload[size - 1] != 0) return send_number(FAILED, EXEC, EINVAL);
  uint32_t argc = get32(payload), envc = get32(payload + 4), n = 0;
  if (argc < 1 || argc > STRINGS / 2 - 2 || envc > STRINGS / 2 - 2) return send_number(FAILED, EXEC, E2BIG);
  char *cwd = (char *)payload + 8, *at = cwd + strlen(cwd) + 1, *end = (char *)payload + size;
  for (uint32_t i = 0; i < argc + envc && at < end; i++) {
    if (i == argc) n++;
    words[n++] = at;
    at += strlen(at) + 1;
  }
  if (n != argc + envc + (envc > 0)) return send_number(FAILED, EXEC, EINVAL);
  words[argc] = 0;
  words[argc + 1 + envc] = 0;
  if (pipe2(stdin_pipe, O_CLOEXEC) || pipe2(stdout_pipe, O_CLOEXEC) || pipe2(stderr_pipe, O_CLOEXEC) || pipe2(failure, O_CLOEXEC))
    return send_number(FAILED, EXEC, errno);
  clock_gettime(CLOCK_REALTIME_COARSE, &started);
  pid_t pid = fork();
  if (pid < 0) return send_number(FAILED, EXEC, errno);
  if (pid == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, 0);
    setsid();
    prctl(PR_SET_DUMPABLE, 1);
    /* Short of memory, the kernel takes the command, not its first process. */
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, "500", 3) < 0) errno = 0;
    dup2(stdin_pipe[0], 0);
    dup2(stdout_pipe[1], 1);
    dup2(stderr_pipe[1], 2);
    environ = words + argc + 1;
    if (chdir(cwd) == 0) execvp(words[0], words);
    int why = errno;
    if (write(failure[1], &why, sizeof why) < 0) _exit(126);
    _exit(127);
  }
  command = pid;
  close(stdin_pipe[0]);
  close(stdout_pipe[1]);
  close(stderr_pipe[1]);
  close(failure[1]);
  int why = 0;
  ssize_t got = read(failure[0], &why, sizeof why);
  close(failure[0]);
  open_channel(1, -1, stdin_pipe[1]);
  open_channel(2, stdout_pipe[0], -1);
  open_channel(3, stderr_pipe[0], -1);
  if (got == sizeof why) send_number(FAILED, EXEC, why);
}

/* Only below the folder that it is in; the daemon sends parents first. */
static int is_inside(const char *path) {
  if (*path == 0 || *path == '/') return 0;
  for (const char *at = path; at; at = strchr(at, '/'), at = at ? at + 1 : 0)
    if (strncmp(at, "..", 2) == 0 && (at[2] == 0 || at[2] == '/')) return 0;
  return 1;
}

static void take_file(int type, unsigned char *payload, uint32_t size) {
  if (file_errno) return;
  if (type == FILE_DATA) {
    for (uint32_t done = 0; done < size;) {
      ssize_t n = write(file, payload + done, size - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        file_errno = errno;
        return;
      }
      done += n;
    }
    return;
  }
  const char *path = (const char *)payload;
  if (file >= 0) close(file);
  file = -1;
  if (size == 0 || payload[size - 1] != 0 || !is_inside(path)) {
    file_errno = EINVAL;
  } else if (type == FOLDER) {
    if (mkdir(path, 0700) && errno != EEXIST) file_errno = errno;
  } else if ((file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0) {
    file_errno = errno;
  }
}

static void send_entry(int kind, int changed, const char *path, uint64_t size) {
  size_t length = strlen(path);
  frame[0] = kind;
  frame[1] = changed;
  put32(frame + 2, size);
  put32(frame + 6, size >> 32);
  memcpy(frame + 10, path, length);
  send_frame(ENTRY, 0, frame, 10 + length);
}

/* Every entry of a folder: files with their bytes where they changed, the rest by name. */
static void walk(int folder, char *path, size_t length, int depth, int *left) {
  DIR *entries = fdopendir(folder);
  if (!entries) return;
  for (struct dirent *each; (each = readdir(entries)) && *left > 0;) {
    size_t size = strlen(each->d_name);
    struct stat facts;
    if (!strcmp(each->d_name, ".") || !strcmp(each->d_name, "..") || length + size + 2 > 4096) continue;
    if (fstatat(folder, each->d_name, &facts, AT_SYMLINK_NOFOLLOW)) continue;
    (*left)--;
    memcpy(path + length, each->d_name, size + 1);
    int changed = facts.st_ctim.tv_sec > started.tv_sec ||
                  (facts.st_ctim.tv_sec == started.tv_sec && facts.st_ctim.tv_nsec >= started.tv_nsec);
    if (S_ISDIR(facts.st_mode)) {
      send_entry('d', changed, path, 0);
      int below = depth < 32 ? openat(folder, each->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
      if (below < 0) continue;
      path[length + size] = '/';
      walk(below, path, length + size + 1, depth + 1, left);
    } else if (!S_ISREG(facts.st_mode)) {
      send_entry('o', changed, path, 0);
    } else {
      int from = changed ? openat(folder, each->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
      send_entry('f', from >= 0, path, facts.st_size);
      for (ssize_t n; from >= 0 && (n = read(from, frame, PAYLOAD)) > 0;) send_frame(ENTRY_DATA, 0, frame, n);
      if (from >= 0) close(from);
    }
  }
  closedir(entries);
}

static void collect(void) {
  static char path[4096];
  int left = 20000;
  /* Nothing may change the files while they are read. */
  while (kill(-1, SIGKILL) == 0 || errno == EPERM)
    if (waitpid(-1, 0, 0) < 0 && errno == ECHILD) break;
  int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) walk(folder, path, 0, 0, &left);
  send_number(COLLECTED, 0, left > 0 ? 0 : E2BIG);
}

static void listen_on(uint32_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) send_number(FAILED, LISTEN, errno);
}

static void take_connection(void) {
  int fd = accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  if (!open_channel(next_id, fd, fd)) {
    close(fd);
    return;
  }
  send_frame(ACCEPT, next_id++, 0, 0);
}

static void take_frame(int type, uint32_t id, unsigned char *payload, uint32_t size) {
  struct channel *c = id ? find(id) : 0;
  switch (type) {
    case EXEC: return run(payload, size);
    case KILL: kill(-1, size >= 4 ? (int)get32(payload) : SIGKILL); return;
    case LISTEN: if (size >= 4) listen_on(get32(payload)); return;
    case FOLDER: case FILE_OPEN: case FILE_DATA: return take_file(type, payload, size);
    case COLLECT: return collect();
    case FILES_DONE:
      if (file >= 0) close(file);
      file = -1;
      send_number(FILES_OK, 0, file_errno);
      file_errno = 0;
      return;
    case ACK: if (c && size >= 4) c->credit += get32(payload); return;
    case CLOSE: if (c) free_channel(c); return;
    case END: if (c) { c->ends = 1; end_writing(c); } return;
    case DATA:
      if (!c || c->wfd < 0) return;
      if (c->held + size > WINDOW) _exit(2);
      memcpy(c->out + c->held, payload, size);
      c->held += size;
      return flush(c);
    default: _exit(2);
  }
}

static void take_input(void) {
  ssize_t n = read(0, in + have, sizeof in - have);
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) _exit(0);
  have += n;
  unsigned at = 0;
  while (have - at >= 9) {
    uint32_t size = get32(in + at + 5);
    if (size > PAYLOAD) _exit(2);
    if (have - at < 9 + size) break;
    take_frame(in[at], get32(in + at + 1), in + at + 9, size);
    at += 9 + size;
  }
  memmove(in, in + at, have - at);
  have -= at;
}

/* What the container is, as the kernel says: the daemon does not take the runtime's word for it. */
static void say_hello(void) {
  const char *files[] = {"/proc/self/status", "/proc/net/dev"};
  unsigned size = 0;
  struct statfs facts;
  for (int i = 0; i < 2; i++) {
    int fd = open(files[i], O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && size < 16384 && (n = read(fd, frame + size, 8192)) > 0;) size += n;
    if (fd >= 0) close(fd);
  }
  const char *folders[] = {"/", "/tmp", "/workspace"};
  for (int i = 0; i < 3; i++) {
    memcpy(frame + size, "\nMount:\t", 8);
    size += 8;
    memcpy(frame + size, folders[i], strlen(folders[i]));
    size += strlen(folders[i]);
    frame[size++] = ' ';
    if (statfs(folders[i], &facts)) facts.f_flags = 0;
    for (int bit = 0; bit < 4; bit++) frame[size++] = facts.f_flags & (1 << bit) ? '1' : '0';
  }
  frame[size++] = '\n';
  send_frame(HELLO, 0, frame, size);
}

int main(void) {
  static struct pollfd waits[3 + 2 * CHANNELS];
  static struct channel *owners[3 + 2 * CHANNELS];
  sigset_t mask;
  for (int i = 0; i < CHANNELS; i++) channels[i].rfd = channels[i].wfd = -1;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigaddset(&mask, SIGTERM);
  sigprocmask(SIG_BLOCK, &mask, 0);
  signal(SIGPIPE, SIG_IGN);
  child_signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  /* Other processes of the container may not reach into this one. */
  prctl(PR_SET_DUMPABLE, 0);
  /* Some runtimes give the folders the mode that they have in the image. */
  chmod("/tmp", 01777);
  chmod("/workspace", 0700);
  if (chdir("/workspace")) _exit(3);
  say_hello();
  for (;;) {
    int n = 0;
    waits[n++] = (struct pollfd){0, POLLIN, 0};
    waits[n++] = (struct pollfd){child_signals, POLLIN, 0};
    waits[n++] = (struct pollfd){find(0) ? listener : -1, POLLIN, 0};
    for (int i = 0; i < CHANNELS; i++) {
      struct channel *c = &channels[i];
      if (!c->id) continue;
      owners[n] = c;
      waits[n++] = (struct pollfd){c->rfd >= 0 && c->credit > 0 ? c->rfd : -1, POLLIN, 0};
      owners[n] = c;
      waits[n++] = (struct pollfd){c->wfd >= 0 && c->held > 0 ? c->wfd : -1, POLLOUT, 0};
    }
    if (poll(waits, n, -1) < 0 && errno != EINTR) _exit(4);
    for (int i = 3; i < n; i++) {
      if (!waits[i].revents) continue;
      struct channel *c = owners[i];
      if (waits[i].events == POLLIN && c->rfd == waits[i].fd) pump(c);
      else if (waits[i].events == POLLOUT && c->wfd == waits[i].fd) flush(c);
    }
    if (waits[2].revents) take_connection();
    if (waits[1].revents) reap();
    tell_end();
    if (waits[0].revents) take_input();
    tell_end();
  }
}
