/*
 * Records what a program does to the files below $RECORD_ROOT, for tests of power cuts. Loaded with
 * LD_PRELOAD into it and all its children: what they do is done, and then noted in $RECORD_LOG.
 *
 * A record is one line and its data: KIND PID INODE OFFSET LENGTH PATH-BYTES OTHER-BYTES, then PATH,
 * OTHER and the data. Kinds: create, mkdir, write, truncate, rename, link,
 * remove, sync, exit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char*
Root(void)
{
    const char* root = getenv("RECORD_ROOT");
    return root ? root : "/nowhere";
}

static int
IsRecorded(const char* path)
{
    size_t n = strlen(Root());
    return strncmp(path, Root(), n) == 0 && (path[n] == '/' || path[n] == 0);
}

static void
Note(const char* kind, long ino, long offset, const char* path, const char* other, const void* data, size_t n)
{
    int saved = errno;
    const char* name = getenv("RECORD_LOG");
    int log = name ? REAL(open)(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (log >= 0)
    {
        char head[200];
        int length = snprintf(head, sizeof(head), "%s %d %ld %ld %zu %zu %zu\n", kind, (int)getpid(), ino, offset, n,
                              strlen(path), strlen(other));
        struct iovec parts[] = {{head, (size_t)length},
                                {(void*)path, strlen(path)},
                                {(void*)other, strlen(other)},
                                {(void*)data, n}};
        if (REAL(writev)(log, parts, 4) < 0)
        {
            abort();
        }
        close(log);
    }
    errno = saved;
}

/* The absolute path of a name that is given relative to a folder. */
static const char*
Absolute(int dir, const char* path, char* buffer)
{
    char link[64];
    ssize_t n;
    if (path[0] == '/')
    {
        return path;
    }
    snprintf(link, sizeof(link), dir == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dir);
    n = readlink(link, buffer, PATH_MAX);
    snprintf(buffer + (n < 0 ? 0 : n), PATH_MAX - (n < 0 ? 0 : n), "/%s", path);
    return buffer;
}

static int
IsOpenRecorded(int fd, char* path, struct stat* status)
{
    char link[64];
    ssize_t n;
    int saved = errno;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = 0;
    n = n > 0 && IsRecorded(path) && fstat(fd, status) == 0;
    errno = saved;
    return (int)n;
}

static int
Open(int dir, const char* name, int flags, mode_t mode)
{
    char buffer[PATH_MAX];
    struct stat status;
    const char* path = Absolute(dir, name, buffer);
    int recorded = (flags & (O_CREAT | O_TRUNC)) && IsRecorded(path);
    int existed = recorded && stat(path, &status) == 0;
    int fd = REAL(openat)(dir, name, flags, mode);
    if (fd >= 0 && recorded && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
    {
        if (!existed)
        {
            Note("create", (long)status.st_ino, 0, path, "", "", 0);
        }
        else if (flags & O_TRUNC)
        {
            Note("truncate", (long)status.st_ino, 0, path, "", "", 0);
        }
    }
    return fd;
}

#define WITH_MODE(flags, last)                                                                                         \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | __O_TMPFILE))                                                                             \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, last);                                                                                     \
        mode = va_arg(arguments, mode_t);                                                                              \
        va_end(arguments);                                                                                             \
    }

int
open(const char* path, int flags, ...)
{
    WITH_MODE(flags, flags)
    return Open(AT_FDCWD, path, flags, mode);
}

int
open64(const char* path, int flags, ...)
{
    WITH_MODE(flags, flags)
    return Open(AT_FDCWD, path, flags, mode);
}

int
openat(int dir, const char* path, int flags, ...)
{
    WITH_MODE(flags, flags)
    return Open(dir, path, flags, mode);
}

int
openat64(int dir, const char* path, int flags, ...)
{
    WITH_MODE(flags, flags)
    return Open(dir, path, flags, mode);
}

ssize_t
write(int fd, const void* data, size_t n)
{
    char path[PATH_MAX];
    struct stat status;
    ssize_t done = REAL(write)(fd, data, n);
    if (done > 0 && IsOpenRecorded(fd, path, &status) && S_ISREG(status.st_mode))
    {
        Note("write", (long)status.st_ino, lseek(fd, 0, SEEK_CUR) - done, path, "", data, (size_t)done);
    }
    return done;
}

ssize_t
pwrite(int fd, const void* data, size_t n, off_t offset)
{
    char path[PATH_MAX];
    struct stat status;
    ssize_t done = REAL(pwrite)(fd, data, n, offset);
    if (done > 0 && IsOpenRecorded(fd, path, &status))
    {
        Note("write", (long)status.st_ino, offset, path, "", data, (size_t)done);
    }
    return done;
}

ssize_t
pwrite64(int fd, const void* data, size_t n, off_t offset)
{
    return pwrite(fd, data, n, offset);
}

int
ftruncate(int fd, off_t length)
{
    char path[PATH_MAX];
    struct stat status;
    int result = REAL(ftruncate)(fd, length);
    if (result == 0 && IsOpenRecorded(fd, path, &status))
    {
        Note("truncate", (long)status.st_ino, length, path, "", "", 0);
    }
    return result;
}

int
ftruncate64(int fd, off_t length)
{
    return ftruncate(fd, length);
}

static int
Sync(int fd, int result)
{
    char path[PATH_MAX];
    struct stat status;
    if (result == 0 && IsOpenRecorded(fd, path, &status))
    {
        Note("sync", (long)status.st_ino, 0, path, "", "", 0);
    }
    return result;
}

int
fsync(int fd)
{
    return Sync(fd, REAL(fsync)(fd));
}

int
fdatasync(int fd)
{
    return Sync(fd, REAL(fdatasync)(fd));
}

int
mkdirat(int dir, const char* name, mode_t mode)
{
    char buffer[PATH_MAX];
    struct stat status;
    const char* path = Absolute(dir, name, buffer);
    int result = REAL(mkdirat)(dir, name, mode);
    if (result == 0 && IsRecorded(path) && stat(path, &status) == 0)
    {
        Note("mkdir", (long)status.st_ino, 0, path, "", "", 0);
    }
    return result;
}

int
mkdir(const char* path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int
renameat(int from_dir, const char* from, int to_dir, const char* to)
{
    char buffer[PATH_MAX], other_buffer[PATH_MAX];
    const char* path = Absolute(from_dir, from, buffer);
    const char* other = Absolute(to_dir, to, other_buffer);
    int result = REAL(renameat)(from_dir, from, to_dir, to);
    if (result == 0 && IsRecorded(other))
    {
        Note("rename", 0, 0, path, other, "", 0);
    }
    return result;
}

int
rename(const char* from, const char* to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int
link(const char* path, const char* other)
{
    int result = REAL(link)(path, other);
    if (result == 0 && IsRecorded(other))
    {
        Note("link", 0, 0, path, other, "", 0);
    }
    return result;
}

int
linkat(int dir, const char* name, int other_dir, const char* other_name, int flags)
{
    char buffer[PATH_MAX], other_buffer[PATH_MAX];
    const char* path = Absolute(dir, name, buffer);
    const char* other = Absolute(other_dir, other_name, other_buffer);
    int result = REAL(linkat)(dir, name, other_dir, other_name, flags);
    if (result == 0 && IsRecorded(other))
    {
        Note("link", 0, 0, path, other, "", 0);
    }
    return result;
}

int
unlinkat(int dir, const char* name, int flags)
{
    char buffer[PATH_MAX];
    const char* path = Absolute(dir, name, buffer);
    int result = REAL(unlinkat)(dir, name, flags);
    if (result == 0 && IsRecorded(path))
    {
        Note("remove", 0, 0, path, "", "", 0);
    }
    return result;
}

int
unlink(const char* path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int
rmdir(const char* path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

void
_exit(int code)
{
    Note("exit", 0, code, "", "", "", 0);
    REAL(_exit)(code);
    __builtin_unreachable();
}

static void __attribute__((destructor))
NoteEnd(void)
{
    Note("exit", 0, 0, "", "", "", 0);
}
