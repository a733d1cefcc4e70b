// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// What tst_isolation runs inside a sandbox where no ready-made program tries what is to be tried. Prints "open" when it got
// through, else the name of the error. Nothing of it is dangerous where it gets through.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/tiocl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr const char *file = "/mnt/user-data/workspace/probe.file";

long connectUnix(const char *name, bool abstract)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path + (abstract ? 1 : 0), name, sizeof address.sun_path - 2);
    const auto length = socklen_t(offsetof(sockaddr_un, sun_path) + std::strlen(name) + 1);
    return ::connect(::socket(AF_UNIX, SOCK_STREAM, 0), reinterpret_cast<sockaddr *>(&address), length);
}

long connectTcp(const char *port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(std::atoi(port)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(::socket(AF_INET, SOCK_STREAM, 0), reinterpret_cast<sockaddr *>(&address), sizeof address);
}

/// A child that only ends, with flags of a new namespace.
long cloned(unsigned long flags)
{
    const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0)
        ::_exit(0);
    return pid;
}

long cloned3(std::uint64_t flags)
{
    std::uint64_t arguments[8] = {flags, 0, 0, 0, SIGCHLD, 0, 0, 0};
    const long pid = ::syscall(SYS_clone3, arguments, sizeof arguments);
    if (pid == 0)
        ::_exit(0);
    return pid;
}

long typed()
{
    char letter = 'x';
    return ::ioctl(::open("/dev/tty", O_RDWR), TIOCSTI, &letter);
}

long pasted()
{
    char selection[] = {TIOCL_PASTESEL};
    return ::ioctl(::open("/dev/tty", O_RDWR), TIOCLINUX, selection);
}

/// The kernel looks at 32 bits of the request: what is above them must not hide it.
long typedInDisguise()
{
    char letter = 'x';
    return ::syscall(SYS_ioctl, ::open("/dev/tty", O_RDWR), 0x100000000UL | TIOCSTI, &letter);
}

long measured()
{
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

long madeSetUid(int flags, const char *path)
{
    ::unlink(file);
    const long fd = ::open(path, flags | O_WRONLY, 04755);
    struct stat facts {};
    if (fd >= 0 && ::fstat(int(fd), &facts) == 0 && !(facts.st_mode & S_ISUID))
        errno = ENOMSG;
    return fd;
}

long changedToSetUid()
{
    ::close(::open(file, O_CREAT | O_WRONLY, 0755));
    return ::chmod(file, 04755);
}

std::uint64_t zeroes[32];

struct Call {
    const char *name;
    long (*make)();
};

// Each an independent way.
constexpr Call calls[] = {
    {"mount", [] { return long(::mount("none", "/tmp", "tmpfs", 0, nullptr)); }},
    {"remount", [] { return long(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr)); }},
    {"umount", [] { return long(::umount2("/proc", MNT_DETACH)); }},
    {"chroot", [] { return long(::chroot("/tmp")); }},
    {"open_tree", [] { return long(::syscall(428, AT_FDCWD, "/", 1)); }},
    {"fsopen", [] { return long(::syscall(430, "tmpfs", 0)); }},
    {"listmount", [] { return long(::syscall(458, zeroes, zeroes, 0, 0)); }},
    {"setns", [] { return long(::setns(::open("/proc/self/ns/net", O_RDONLY), 0)); }},
    {"unshare-user", [] { return long(::unshare(CLONE_NEWUSER)); }},
    {"unshare-more", [] { return long(::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_FS)); }},
    {"clone-user", [] { return long(cloned(CLONE_NEWUSER)); }},
    {"clone-plain", [] { return long(cloned(0)); }},
    {"clone3-user", [] { return long(cloned3(CLONE_NEWUSER)); }},
    {"keyctl", [] { return long(::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0)); }},
    {"add_key", [] { return long(::syscall(SYS_add_key, "user", "paddock-probe", "x", 1, KEY_SPEC_PROCESS_KEYRING)); }},
    {"request_key", [] { return long(::syscall(SYS_request_key, "user", "paddock-probe", nullptr, 0)); }},
    {"bpf", [] { return long(::syscall(SYS_bpf, 0, zeroes, sizeof zeroes)); }},
    {"io_uring", [] { return long(::syscall(425, 1, zeroes)); }},
    {"perf", [] { return long(measured()); }},
    {"userfaultfd", [] { return long(::syscall(SYS_userfaultfd, 1)); }},
    {"fanotify", [] { return long(::syscall(SYS_fanotify_init, 0x200, 0)); }},
    {"handle", [] { return long(::syscall(SYS_open_by_handle_at, AT_FDCWD, zeroes, 0)); }},
    {"syslog", [] { return long(::syscall(SYS_syslog, 10, nullptr, 0)); }},
    {"module", [] { return long(::syscall(SYS_finit_module, -1, "", 0)); }},
    {"swapoff", [] { return long(::syscall(SYS_swapoff, "/nowhere")); }},
    {"vsock", [] { return long(::socket(40, SOCK_STREAM, 0)); }},
    {"alg", [] { return long(::socket(AF_ALG, SOCK_SEQPACKET, 0)); }},
    {"xdp", [] { return long(::socket(44, SOCK_RAW, 0)); }},
    {"can", [] { return long(::socket(AF_CAN, SOCK_RAW, 1)); }},
    {"packet", [] { return long(::socket(AF_PACKET, SOCK_RAW, 0)); }},
    {"raw", [] { return long(::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP)); }},
    {"netlink", [] { return long(::socket(AF_NETLINK, SOCK_RAW, 0)); }},
    {"tiocsti", [] { return long(typed()); }},
    {"tiocsti-disguised", [] { return long(typedInDisguise()); }},
    {"tioclinux", [] { return long(pasted()); }},
    {"setuid-chmod", [] { return long(changedToSetUid()); }},
    {"setuid-create", [] { return long(madeSetUid(O_CREAT, file)); }},
    {"setuid-nameless", [] { return long(madeSetUid(O_TMPFILE, "/mnt/user-data/workspace")); }},
    {"openat2", [] { return long(::syscall(437, AT_FDCWD, "/", zeroes, 24)); }},
    {"mknod", [] { return long(::mknod("/tmp/probe.device", S_IFBLK | 0600, dev_t(0xfe00))); }},
};

long call(const char *name)
{
    for (const Call &known : calls) {
        if (std::strcmp(known.name, name) == 0)
            return known.make();
    }
    errno = EINVAL;
    return -1;
}

/// More open files than the hard limit.
long raised(pid_t pid)
{
    rlimit limit{};
    if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0)
        return -1;
    ++limit.rlim_max;
    return ::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
}

long descriptorOf(pid_t pid)
{
    const long process = ::syscall(SYS_pidfd_open, pid, 0);
    return process < 0 ? process : ::syscall(SYS_pidfd_getfd, process, 3, 0);
}

long memoryOf(pid_t pid)
{
    char byte = 0;
    const iovec here{&byte, 1}, there{reinterpret_cast<void *>(0x400000), 1};
    return ::process_vm_readv(pid, &here, 1, &there, 1, 0);
}

/// So many processes that only wait; how many there could be, and what the kernel said to the next.
void multiply(int most)
{
    ::setpgid(0, 0);
    int count = 0, error = 0;
    for (; count < most; ++count) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::alarm(60);
            ::pause();
            ::_exit(0);
        }
        error = errno;
        if (pid < 0)
            break;
    }
    ::signal(SIGTERM, SIG_IGN);
    ::kill(0, SIGTERM);
    while (::wait(nullptr) > 0) { }
    std::printf("%s %s\n", count < most ? "bounded" : "unbounded", count < most ? ::strerrorname_np(error) : "");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const char *what = argv[1], *value = argv[2];
    const auto is = [what](const char *other) { return std::strcmp(what, other) == 0; };
    if (is("fork")) {
        multiply(std::atoi(value));
        return 0;
    }
    long result = -1;
    errno = EINVAL;
    if (is("call"))
        result = call(value);
    else if (is("tcp"))
        result = connectTcp(value);
    else if (is("abstract"))
        result = connectUnix(value, true);
    else if (is("unix"))
        result = connectUnix(value, false);
    else if (is("trace"))
        result = ::ptrace(PTRACE_ATTACH, std::atoi(value), nullptr, nullptr);
    else if (is("memory"))
        result = memoryOf(std::atoi(value));
    else if (is("descriptor"))
        result = descriptorOf(std::atoi(value));
    else if (is("limit"))
        result = raised(std::atoi(value));
    else if (is("kill"))
        result = ::kill(std::atoi(value), SIGKILL);
    std::printf("%s\n", result >= 0 ? "open" : ::strerrorname_np(errno));
    return 0;
}
