// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/syscall_filter.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

namespace paddock::sandboxd {

namespace {

/// A call by its name, or by its number where that is the same on all machines and a library may be older than the call.
struct Call {
    const char *name;
    int number = -1;
};

// Nothing that a command in a sandbox has a right to.
constexpr Call refusedCalls[] = {
    // mounts and roots
    {"mount"}, {"umount2"}, {"pivot_root"}, {"chroot"}, {"open_tree", 428}, {"move_mount", 429}, {"fsopen", 430}, {"fsconfig", 431},
    {"fsmount", 432}, {"fspick", 433}, {"mount_setattr", 442}, {"open_tree_attr", 467}, {"statmount", 457}, {"listmount", 458},
    // other namespaces; making new ones is refused by flags
    {"setns"},
    // keys of the user's session on the host
    {"add_key"}, {"request_key"}, {"keyctl"},
    // large and young parts of the kernel that no tool of a developer needs; io_uring also goes around this filter
    {"bpf"}, {"perf_event_open"}, {"userfaultfd"}, {"io_uring_setup", 425}, {"io_uring_enter", 426}, {"io_uring_register", 427},
    {"fanotify_init"},
    // files by number instead of by path
    {"open_by_handle_at"},
    // the machine
    {"syslog"}, {"acct"}, {"reboot"}, {"kexec_load"}, {"kexec_file_load"}, {"init_module"}, {"finit_module"}, {"delete_module"},
    {"swapon"}, {"swapoff"}, {"quotactl"}, {"quotactl_fd", 443}, {"settimeofday"}, {"clock_settime"}, {"stime"}, {"iopl"}, {"ioperm"},
    {"vhangup"}, {"nfsservctl"}, {"lookup_dcookie"}, {"uselib"},
};

// Their arguments are in memory, where a filter cannot look: libc and everybody else goes back to the older call.
constexpr Call absentCalls[] = {{"clone3", 435}, {"openat2", 437}};

constexpr std::uint64_t namespaceFlags[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET};
constexpr std::uint64_t newTime = 0x80; // CLONE_NEWTIME, which only unshare knows: for clone these are bits of the signal

// Typing into a terminal as if a person had.
constexpr std::uint64_t refusedIoctls[] = {TIOCSTI, TIOCLINUX};

#if defined(__s390__)
constexpr unsigned cloneFlags = 1;
#else
constexpr unsigned cloneFlags = 0;
#endif

constexpr std::uint64_t low32 = 0xffffffff; // the kernel reads no more of an int, whatever else the register holds
constexpr std::uint64_t temporaryFile = O_TMPFILE & ~O_DIRECTORY;

class Rules
{
public:
    Rules() : m_context(::seccomp_init(SCMP_ACT_ALLOW))
    {
        if (!m_context)
            m_error = ENOMEM;
        else // calls of another machine, as of 32-bit programs, would go past every rule below
            note(::seccomp_attr_set(m_context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    }

    void refuse(const Call &call, int error = EPERM) { refuse(call, {}, error); }
    void refuse(const Call &call, std::initializer_list<scmp_arg_cmp> when, int error = EPERM)
    {
        const int number = call.number >= 0 ? call.number : ::seccomp_syscall_resolve_name(call.name);
        if (number >= 0 && m_error == 0) // negative: this machine has no such call
            note(::seccomp_rule_add_array(m_context.get(), SCMP_ACT_ERRNO(std::uint16_t(error)), number, unsigned(when.size()), when.begin()));
    }
    int error() const { return m_error; }
    scmp_filter_ctx context() const { return m_context.get(); }

private:
    void note(int result)
    {
        if (result < 0 && m_error == 0)
            m_error = -result;
    }
    struct Release {
        void operator()(void *context) const { ::seccomp_release(context); }
    };
    std::unique_ptr<void, Release> m_context;
    int m_error = 0;
};

scmp_arg_cmp has(unsigned argument, std::uint64_t bits)
{
    return {argument, SCMP_CMP_MASKED_EQ, bits, bits};
}

scmp_arg_cmp is(unsigned argument, std::uint64_t value)
{
    return {argument, SCMP_CMP_MASKED_EQ, low32, value};
}

void refuseNamespaces(Rules &rules)
{
    for (const std::uint64_t flag : namespaceFlags) {
        rules.refuse({"unshare"}, {has(0, flag)});
        rules.refuse({"clone"}, {has(cloneFlags, flag)});
    }
    rules.refuse({"unshare"}, {has(0, newTime)});
}

/// Only Unix sockets, both IPs and netlink. Beside the exotic ones, a network namespace does not hold AF_VSOCK: it reaches a
/// virtual machine's host.
void refuseSockets(Rules &rules)
{
    constexpr int last = AF_NETLINK;
    for (int family = 0; family < last; ++family) {
        if (family != AF_UNSPEC && family != AF_UNIX && family != AF_INET && family != AF_INET6)
            rules.refuse({"socket"}, {is(0, std::uint64_t(family))}, EAFNOSUPPORT);
    }
    rules.refuse({"socket"}, {{0, SCMP_CMP_GT, std::uint64_t(last), 0}}, EAFNOSUPPORT);
}

/// Files of the workspace belong to Paddock's user. With this bit, any other user of the machine could become that one.
void refuseSetUid(Rules &rules)
{
    rules.refuse({"chmod"}, {has(1, S_ISUID)});
    rules.refuse({"fchmod"}, {has(1, S_ISUID)});
    rules.refuse({"fchmodat"}, {has(2, S_ISUID)});
    rules.refuse({"fchmodat2", 452}, {has(2, S_ISUID)});
    rules.refuse({"mknod"}, {has(1, S_ISUID)});
    rules.refuse({"mknodat"}, {has(2, S_ISUID)});
    rules.refuse({"creat"}, {has(1, S_ISUID)});
    for (const std::uint64_t making : {std::uint64_t(O_CREAT), temporaryFile}) { // otherwise the mode is whatever was there
        rules.refuse({"open"}, {has(1, making), has(2, S_ISUID)});
        rules.refuse({"openat"}, {has(2, making), has(3, S_ISUID)});
    }
}

Rules allRules()
{
    Rules rules;
    for (const Call &call : refusedCalls)
        rules.refuse(call);
    for (const Call &call : absentCalls)
        rules.refuse(call, ENOSYS);
    for (const std::uint64_t request : refusedIoctls)
        rules.refuse({"ioctl"}, {is(1, request)});
    refuseNamespaces(rules);
    refuseSockets(rules);
    refuseSetUid(rules);
    return rules;
}

std::unexpected<std::string> failed(const char *what, int error)
{
    return std::unexpected(std::string(what) + ": " + std::strerror(error));
}

} // namespace

std::expected<UniqueFd, std::string> filterProgram()
{
    const Rules rules = allRules();
    if (rules.error() != 0)
        return failed("The filter of system calls could not be made", rules.error());
    UniqueFd memory(::memfd_create("syscall-filter", MFD_CLOEXEC));
    if (!memory)
        return failed("There is no memory for the filter of system calls", errno);
    if (const int result = ::seccomp_export_bpf(rules.context(), memory.get()); result < 0)
        return failed("The filter of system calls could not be written", -result);
    ::lseek(memory.get(), 0, SEEK_SET);
    return memory;
}

std::expected<void, std::string> tryFilter()
{
    const Rules rules = allRules();
    if (rules.error() != 0)
        return failed("the filter could not be made", rules.error());
    if (const int result = ::seccomp_load(rules.context()); result < 0)
        return failed("the kernel does not take the filter", -result);
    const long answer = ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 0);
    if (answer != -1 || errno != EPERM)
        return std::unexpected(std::string("the kernel took the filter and does not obey it"));
    return {};
}

} // namespace paddock::sandboxd
