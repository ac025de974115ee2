package child

import (
	"errors"
	"os"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter lets everything pass but what stands here: Go's runtime, code
// made at run time (wazero) and other people's programs need more, and other
// things on each version, than a list of what is allowed could keep up with.
// What is refused fails with EPERM and kills nothing, as libraries try things.

// refusedToAll are the calls that no child needs.
func refusedToAll() []string {
	return []string{
		// The network, and other processes by way of sockets. A child has no
		// socket to begin with; the rest is here in case it is handed one.
		"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
		"sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg", "shutdown", "setsockopt", "getsockopt", "socketcall",
		// Does any of these and more, past this filter.
		"io_uring_setup", "io_uring_enter", "io_uring_register",
		// Other processes of this user, the service among them.
		"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp",
		"pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
		// The process group, by which everything is killed in the end.
		"setsid", "setpgid",
		// Memory that RLIMIT_DATA does not count, beside shared anonymous mappings
		// (below). A file in a memory file system is bounded by RLIMIT_FSIZE.
		"shmget", "shmat", "shmctl", "memfd_create", "memfd_secret",
		"msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semtimedop", "semctl", "mq_open", "mq_unlink",
		// The limits themselves.
		"setrlimit",
		// Large parts of the kernel that a reader of documents has no use for.
		"keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "fanotify_init", "name_to_handle_at", "open_by_handle_at",
		"mount", "umount", "umount2", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "pivot_root", "chroot",
		"statmount", "listmount", "unshare", "setns", "personality", "modify_ldt", "seccomp", "uselib", "acct", "quotactl", "quotactl_fd", "lookup_dcookie", "nfsservctl",
		"init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "syslog", "vhangup",
		"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname", "iopl", "ioperm",
		"capset", "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid",
		"mknod", "mknodat", "lsm_set_self_attr",
	}
}

// conditional are the calls that are refused with some arguments. Those of one
// line must all be so; lines of one call stand beside each other.
func conditional(fork bool) []seccomp.NameWithConditions {
	const (
		tiocsti, tioclinux = 0x5412, 0x541c
		namespaces         = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	)
	when := func(name string, c ...seccomp.Condition) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: c}
	}
	list := []seccomp.NameWithConditions{
		// Words typed into the terminal that started the service.
		when("ioctl", seccomp.Condition{Argument: 1, Operation: seccomp.Equal, Value: tiocsti}),
		when("ioctl", seccomp.Condition{Argument: 1, Operation: seccomp.Equal, Value: tioclinux}),
		// Staying when the parent goes.
		when("prctl", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: unix.PR_SET_PDEATHSIG}),
		// Setting a limit, as root might raise it again; asking for one is fine.
		when("prlimit64", seccomp.Condition{Argument: 2, Operation: seccomp.NotEqual, Value: 0}),
		// Memory that RLIMIT_DATA does not count. Code in WebAssembly cannot ask
		// for it; a native program that was taken over could.
		when("mmap", seccomp.Condition{Argument: 3, Operation: seccomp.BitsSet, Value: unix.MAP_SHARED},
			seccomp.Condition{Argument: 3, Operation: seccomp.BitsSet, Value: unix.MAP_ANONYMOUS}),
		when("clone", seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: namespaces}),
	}
	if !fork {
		list = append(list,
			when("clone", seccomp.Condition{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD}),
			// Go's runtime and abort(3) signal threads of their own process.
			when("tgkill", seccomp.Condition{Argument: 0, Operation: seccomp.NotEqual, Value: uint64(os.Getpid())}))
	}
	return list
}

// policy is the filter of one child. Names that this architecture does not
// have are left out: it does not have the call either.
func policy(info *arch.Info, worker, fork bool) seccomp.Policy {
	refused := refusedToAll()
	if worker {
		refused = append(refused, "execve", "execveat")
	}
	if !fork {
		refused = append(refused, "fork", "vfork")
	}
	known := refused[:0]
	for _, name := range refused {
		if _, ok := info.SyscallNames[name]; ok {
			known = append(known, name)
		}
	}
	return seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionErrno, Names: known, NamesWithCondtions: conditional(fork)},
			// Its flags lie in memory, where a filter cannot look. The C library
			// takes ENOSYS for an older kernel and goes on with clone.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
		},
	}
}

// instructions are the filter as the kernel runs it.
func instructions(worker, fork bool) ([]bpf.Instruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	p := policy(info, worker, fork)
	list, err := p.Assemble()
	if err != nil {
		return nil, err
	}
	// The library lets calls in the ways of another architecture pass with the
	// default action, so that `int 0x80` would lead around a list of refusals.
	return append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4}, // seccomp_data.arch
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
	}, list...), nil
}

// filterCalls installs the filter on every thread of this process.
func filterCalls(o *orders) error {
	list, err := instructions(o.Program == "", o.Fork)
	if err != nil {
		return err
	}
	raw, err := bpf.Assemble(list)
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return errors.New("a thread has a filter of its own")
	}
	return nil
}

// seccompMissing asks the kernel without changing anything.
func seccompMissing() error {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	_, err := arch.GetInfo("")
	return err
}
