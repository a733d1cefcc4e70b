// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

namespace paddock::test {

/// One way out that is tried inside a sandbox. docs/isolation.md has the same rows and says what stops each.
struct Attempt {
    const char *name;
    const char *command; ///< bash, with the variables that TestIsolation::values names
    const char *seen;    ///< what its output must match, wholly, with white space at both ends cut off
    bool asRoot = true;  ///< false: not enforced where root itself runs Paddock
};

#define PROBE "/mnt/user-data/workspace/probe "
#define SERVER "$(pgrep -o paddock-sandbo)"

inline constexpr Attempt attempts[] = {
    // what the host has: files, variables, sockets, programs
    {"home of the host", "cat $HOST_HOME/secret.txt", "cat: .*: No such file or directory"},
    {"folder of another thread", "cat $OTHER_THREAD/secret.txt; cat ../../../other/user-data/workspace/secret.txt; cat $DATA/journal.db",
     "(cat: .*: No such file or directory\\s*){3}"},
    {"system files", "cat /etc/shadow /etc/machine-id /etc/hostname /var/log/*; ls -A /root /home/* /boot /srv /media /sys 2>/dev/null | grep -v :$",
     "(cat: .*: No such file or directory\\s*){4}"},
    {"writing to the system", "for f in /x /usr/x /usr/bin/x /etc/x /mnt/x /mnt/skills/x /mnt/acp-workspace/x; do touch $f; done",
     "(touch: .*: (Read-only file system|Permission denied)\\s*){7}"},
    {"link out of the workspace", "ln -sfn $HOST_HOME out; cat out/secret.txt; ls /proc/self/root/proc/1/root$HOST_HOME",
     "(cat|ls): .*\\s+ls: .*"},
    {"environment", "env; tr '\\0' '\\n' < /proc/1/environ; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'", "(?!.*tell-tale)(?=.*\\bHOME=/home/gem\\b).*"},
    {"ssh agent", "echo \"[$SSH_AUTH_SOCK]\"; " PROBE "unix $HOST_HOME/agent.socket", "\\[\\]\\s+ENOENT"},
    {"D-Bus", "echo \"[$DBUS_SESSION_BUS_ADDRESS]\"; " PROBE "unix $HOST_RUN/bus; ls /run/dbus /run/user", "\\[\\]\\s+ENOENT\\s+(ls: .*\\s*){2}"},
    {"X11 and Wayland", "echo \"[$DISPLAY$WAYLAND_DISPLAY$XAUTHORITY]\"; ls -d /tmp/.X11-unix /run/user; " PROBE "abstract /tmp/.X11-unix/X0",
     "\\[\\]\\s+(ls: .*\\s*){2}ECONNREFUSED"},
    {"abstract sockets", PROBE "abstract $ABSTRACT; cat /proc/net/unix | grep -c @$ABSTRACT", "ECONNREFUSED\\s+0"},
    {"loopback of the host", PROBE "tcp $PORT; cat /proc/net/tcp | wc -l", "ECONNREFUSED\\s+1"},
    {"network", "bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'; ls /sys/class/net; grep -c : /proc/net/dev", "bash: .*Network is unreachable\\s+(bash: .*\\s+)?ls: .*\\s+1"},

    // the server of the sandbox and its limits
    {"control socket", "find / -xdev -type s; find /run -type s; ls /run/paddock; grep -c paddock /proc/net/unix", "(find: .*\\s+)*paddock-sandboxd\\s+0"},
    {"server's descriptors", "cat /proc/" SERVER "/fd/3 /proc/" SERVER "/environ; readlink /proc/" SERVER "/exe || echo no; " PROBE "descriptor " SERVER,
     "cat: .*: Permission denied\\s+cat: .*: Permission denied\\s+no\\s+EPERM"},
    {"server's memory", PROBE "trace " SERVER "; " PROBE "memory " SERVER "; cat /proc/" SERVER "/mem", "EPERM\\s+EPERM\\s+cat: .*: Permission denied"},
    {"server's program", "echo x >> /run/paddock/paddock-sandboxd; mv /run/paddock/paddock-sandboxd /run/x",
     "\\S+ line 1: .*: (Read-only file system|Permission denied|Text file busy)\\s+mv: .*: Device or resource busy"},
    {"raising its own limits", PROBE "limit 0; " PROBE "limit " SERVER "; ulimit -c; (ulimit -f unlimited; ulimit -n unlimited) 2>&1 | grep -c 'Operation not permitted'",
     "EPERM\\s+EPERM\\s+0\\s+2"},
    {"first to go when memory runs out", "cat /proc/self/oom_score_adj; echo 0 > /proc/self/oom_score_adj", "[5-9]\\d\\d\\s+.*: Read-only file system"},

    // processes
    {"processes outside", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c \"[${VICTIM_MARK%\"${VICTIM_MARK#?}\"}]${VICTIM_MARK#?}\"; kill -0 $VICTIM", "0\\s+.*No such process"},
    {"signals to outside", PROBE "kill $VICTIM; kill -9 $VICTIM", "ESRCH\\s+.*No such process"},
    {"tracing a process outside", PROBE "trace $VICTIM; " PROBE "memory $VICTIM", "ESRCH\\s+ESRCH"},
    {"first process is filtered", "grep -E '^(Seccomp|NoNewPrivs):' /proc/1/status /proc/self/status | tr '\\t' ' '",
     "/proc/1/status:NoNewPrivs: 1\\s+/proc/1/status:Seccomp: 2\\s+/proc/self/status:NoNewPrivs: 1\\s+/proc/self/status:Seccomp: 2"},
    {"processes at once", PROBE "fork 6000", "bounded EAGAIN", false},

    // more privileges
    {"capabilities", "grep ^Cap /proc/self/status | cut -f 2 | sort -u; " PROBE "call mknod", "0000000000000000\\s+EPERM"},
    {"set-user-ID programs", "find /usr/bin /usr/sbin -perm -4000 -exec true {} +; mount | grep -vc nosuid; su -c id </dev/null 2>&1 | grep uid=0", "0"},
    {"leaving a set-user-ID file", PROBE "call setuid-chmod; " PROBE "call setuid-create; " PROBE "call setuid-nameless; cp /usr/bin/id id; chmod u+s id; ls -l id | cut -c 4",
     "EPERM\\s+EPERM\\s+(EPERM|EOPNOTSUPP)\\s+chmod: .*: Operation not permitted\\s+x"},
    {"paths that no filter can read", PROBE "call openat2", "ENOSYS"},
    {"nested user namespaces", PROBE "call unshare-user; " PROBE "call unshare-more; " PROBE "call clone-user; " PROBE "call clone3-user; unshare -Ur true; bwrap --ro-bind / / true",
     "EPERM\\s+EPERM\\s+EPERM\\s+ENOSYS\\s+unshare: .*Operation not permitted\\s+bwrap: .*"},
    {"entering a namespace", PROBE "call setns; nsenter -t 1 -n true", "EPERM\\s+nsenter: .*"},
    {"mounting", PROBE "call mount; " PROBE "call remount; " PROBE "call umount; " PROBE "call open_tree; " PROBE "call fsopen; " PROBE "call listmount; " PROBE "call chroot",
     "(EPERM\\s*){7}"},
    {"keys", PROBE "call keyctl; " PROBE "call add_key; " PROBE "call request_key; cat /proc/keys", "(EPERM\\s+){3}cat: .*: Permission denied"},
    {"bpf", PROBE "call bpf", "EPERM"},
    {"io_uring", PROBE "call io_uring", "EPERM"},
    {"perf_event_open", PROBE "call perf", "EPERM"},
    {"userfaultfd", PROBE "call userfaultfd; ls /dev/userfaultfd", "EPERM\\s+ls: .*: No such file or directory"},
    {"fanotify and file handles", PROBE "call fanotify; " PROBE "call handle", "EPERM\\s+EPERM"},
    {"modules, swap, kernel log", PROBE "call module; " PROBE "call swapoff; " PROBE "call syslog; dmesg", "EPERM\\s+EPERM\\s+EPERM\\s+dmesg: .*"},
    {"AF_VSOCK", PROBE "call vsock", "EAFNOSUPPORT"},
    {"other socket families", PROBE "call alg; " PROBE "call xdp; " PROBE "call can; " PROBE "call packet; " PROBE "call raw", "(EAFNOSUPPORT\\s+){4}EPERM"},
    {"terminal injection", PROBE "call tiocsti; " PROBE "call tiocsti-disguised; " PROBE "call tioclinux; tty < /dev/tty", "EPERM\\s+EPERM\\s+EPERM\\s+/dev/(pts/\\d+|tty)"},

    // /proc and /dev
    {"settings of the kernel", "for f in kernel/core_pattern kernel/hostname vm/drop_caches user/max_user_namespaces; do echo x > /proc/sys/$f; done",
     "(\\S+ line 1: /proc/sys/\\S+: Read-only file system\\s*){4}"},
    {"/proc of the machine", "for f in kcore kmsg kallsyms slabinfo timer_list sysrq-trigger; do cat /proc/$f 2>&1 | head -c 200; done; ls /proc/acpi /proc/bus /proc/irq /proc/scsi 2>/dev/null | grep -v :",
     "(cat: .*: (Permission denied|No such file or directory|Operation not permitted)\\s*){6}"},
    {"devices", "ls /dev; touch /dev/x; mkdir /dev/y",
     "core\\s+fd\\s+full\\s+null\\s+ptmx\\s+pts\\s+random\\s+shm\\s+stderr\\s+stdin\\s+stdout\\s+tty\\s+urandom\\s+zero\\s+touch: .*: Read-only file system\\s+mkdir: .*: Read-only file system"},
    {"names of other folders", "grep -c -e /other/ -e secret /proc/self/mountinfo", "0"},
    {"names of shown folders (not hidden)", "grep -c \"${WORKSPACE##*/} /mnt/user-data/workspace \" /proc/self/mountinfo", "1"},

    // space
    {"size of /tmp", "fallocate -l 2200M /tmp/x; fallocate -l 2200M /var/tmp/x", "(fallocate: .*: No space left on device\\s*){2}"},
    {"size of /dev/shm", "fallocate -l 600M /dev/shm/x", "fallocate: .*: No space left on device"},
    {"size of home and /run", "fallocate -l 1100M ~/x; fallocate -l 20M /run/x", "(fallocate: .*: No space left on device\\s*){2}"},
    {"size of one file", "truncate -s 17G big; rm -f big", ".*(File too large|File size limit exceeded).*"},

    // and what must work
    {"works: git", "rm -rf g && git init -q g && cd g && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline | wc -l", "1"},
    {"works: make and gcc", "printf '#include <stdio.h>\\nint twice(int x) { return 2 * x; }\\nint main(void) { printf(\"%%d\\\\n\", twice(21)); }\\n' > p.c; "
                            "printf 'p: p.c\\n\\tgcc -g -pthread -o $@ $<\\n' > Makefile; { if command -v make > /dev/null; then make -s p; else gcc -pthread -o p p.c; fi; } && ./p", "42"},
    {"works: gdb on its own child", "gcc -g -o q p.c && gdb -batch -ex 'break twice' -ex 'run' -ex 'print x = 4' -ex 'continue' ./q 2>&1 | grep -E '^(\\$1|8)'", "\\$1 = 4\\s+8"},
    {"works: gdb on a running process", "sleep 20 & sleep 0.2; gdb -p $! -batch -ex 'info threads' 2>&1 | grep -c sleep", "[1-9]\\d*"},
    {"works: strace", "strace -f -e trace=execve true 2>&1 | grep -c execve", "1"},
    {"works: python", "python3 -c 'import threading, multiprocessing as m, subprocess as s, tempfile, socket\n"
                      "t = threading.Thread(target=print, args=(1,)); t.start(); t.join()\n"
                      "v = m.Value(\"i\", 6); print(v.value, s.check_output([\"echo\", \"x\"]))\n"
                      "a, b = socket.socketpair(); a.send(b\"y\"); print(b.recv(1))\n"
                      "with m.Pool(2) as p: print(p.map(abs, [-3]))'", "1\\s+6 b'x\\\\n'\\s+b'y'\\s+\\[3\\]"},
    {"works: node", "command -v node > /dev/null || { echo 7; exit; }; node -e 'require(\"fs\").promises.readFile(\"/etc/hosts\").then(() => console.log(7))'", "7"},
    {"works: a terminal", "python3 -c 'import pty; pty.spawn([\"tty\"])'", "/dev/pts/\\d+"},
    {"works: loopback inside", "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); socket.create_connection(s.getsockname()); print(1)'; " PROBE "call netlink",
     "1\\s+open"},
    {"works: clone", PROBE "call clone-plain; chmod g+s . && chmod g-s . && umask 077 && touch ok && echo ok", "open\\s+ok"},
};

#undef PROBE
#undef SERVER

} // namespace paddock::test
