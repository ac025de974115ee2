package child

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock calls the ways to use a file.
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execRights  = readRights | unix.LANDLOCK_ACCESS_FS_EXECUTE
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	deviceRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	// fileRights are those that make sense for what is not a folder.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// knownRights are all that a version of Landlock can refuse. Version 4 also
// knows TCP, and 6 signals: both are refused by the filter of system calls,
// and signals of a thread to another of its own process, which Go lives by,
// were refused too until Linux 6.15.
func knownRights(version int) uint64 {
	rights := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1)
	if version >= 2 {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// programPaths are where systems keep programs, libraries and what these look
// at when they start; those that a system does not have are left out.
func programPaths() (folders, devices []string) {
	return []string{
			"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
			"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path",
			"/etc/localtime", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu",
		}, []string{
			os.DevNull, "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
		}
}

// ruleset is what a child may do with files.
type ruleset struct {
	fd    int
	known uint64 // rights that this kernel can refuse
}

func landlockVersion() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(v), nil
}

// newRuleset makes one that allows nothing. Its error says that this system
// has no Landlock.
func newRuleset() (*ruleset, error) {
	version, err := landlockVersion()
	if err != nil {
		return nil, err
	}
	known := knownRights(version)
	attr := unix.LandlockRulesetAttr{Handled_access_fs: known}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, errno
	}
	unix.CloseOnExec(int(fd))
	return &ruleset{fd: int(fd), known: known}, nil
}

// allowAll allows what the child was given. A path that was named and is not
// there is the fault of who named it.
func (r *ruleset) allowAll(o *orders) error {
	for _, p := range o.Read {
		if err := r.allow(string(p), readRights); err != nil {
			return err
		}
	}
	for _, p := range o.Write {
		if err := r.allow(string(p), writeRights); err != nil {
			return err
		}
	}
	if o.Program == "" {
		return nil
	}
	folders, devices := programPaths()
	for _, p := range folders {
		if err := r.allow(p, execRights); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, p := range devices {
		if err := r.allow(p, deviceRights); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return r.allow(o.Program, execRights)
}

func (r *ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.known, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return &os.PathError{Op: "allow", Path: path, Err: errno}
	}
	return nil
}

// enforce puts the rules on every thread, or on this one alone, which becomes
// another program.
func (r *ruleset) enforce(everywhere bool) error {
	defer func() { _ = unix.Close(r.fd) }()
	if !everywhere {
		if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
			return errno
		}
		return nil
	}
	// Needs no_new_privs on every thread, which the filter of system calls has
	// spread; without a filter it is spread here. With cgo Go cannot reach the
	// threads: such a build (the race detector's, say) is told as missing it.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("built with cgo: %w", errno)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}
