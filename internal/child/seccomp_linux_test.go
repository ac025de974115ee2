package child

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func TestEveryRefusedCallIsOneThatSomeArchitectureKnows(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range refusedToAll() {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
		known := false
		for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64, arch.I386} {
			_, ok := info.SyscallNames[name]
			known = known || ok
		}
		if !known {
			t.Errorf("no architecture has a call %s", name)
		}
	}
}

// Numbers from the kernel's tables of system calls.
func TestTheFilterLetsNobodyAround(t *testing.T) {
	const (
		allow = uint32(unix.SECCOMP_RET_ALLOW)
		eperm = uint32(unix.SECCOMP_RET_ERRNO) | 1
		nosys = uint32(unix.SECCOMP_RET_ERRNO) | 38
		kill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)

		amd64, arm64, i386 = 0xc000003e, 0xc00000b7, 0x40000003
	)
	for _, c := range []struct {
		what         string
		on           string
		worker, fork bool
		arch, nr     uint32
		want         uint32
	}{
		{"read", "amd64", true, false, amd64, 0, allow},
		{"socket", "amd64", true, false, amd64, 41, eperm},
		{"socket of a program", "amd64", false, false, amd64, 41, eperm},
		{"socket of a program that forks", "amd64", false, true, amd64, 41, eperm},
		{"socket by the x32 way", "amd64", true, false, amd64, 0x40000000 | 41, nosys},
		{"read by the x32 way", "amd64", true, false, amd64, 0x40000000, nosys},
		{"socketcall by the i386 way", "amd64", true, false, i386, 102, kill},
		{"read by the i386 way", "amd64", false, true, i386, 3, kill},
		{"execve", "amd64", true, false, amd64, 59, eperm},
		{"execve of a program", "amd64", false, false, amd64, 59, allow},
		{"vfork", "amd64", false, false, amd64, 58, eperm},
		{"vfork of a program that forks", "amd64", false, true, amd64, 58, allow},
		{"clone3", "amd64", false, true, amd64, 435, nosys},
		{"setsid of a program that forks", "amd64", false, true, amd64, 112, eperm},
		{"read", "arm64", true, false, arm64, 63, allow},
		{"socket", "arm64", true, false, arm64, 198, eperm},
		{"execve", "arm64", true, false, arm64, 221, eperm},
		{"socket by another way", "arm64", true, false, 0x40000028, 281, kill},
	} {
		if c.on != runtime.GOARCH {
			continue // the library makes filters for where it runs
		}
		list, err := instructions(c.worker, c.fork)
		if err != nil {
			t.Fatal(err)
		}
		vm, err := bpf.NewVM(list)
		if err != nil {
			t.Fatal(err)
		}
		// seccomp_data: number, architecture, instruction, six arguments. The
		// machine of package bpf reads what comes from a network.
		data := make([]byte, 64)
		binary.BigEndian.PutUint32(data, c.nr)
		binary.BigEndian.PutUint32(data[4:], c.arch)
		got, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		if uint32(got) != c.want {
			t.Errorf("%s %s: %#x, want %#x", c.on, c.what, got, c.want)
		}
	}
}
