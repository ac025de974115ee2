// Package child runs work on hostile input in a process that can be killed: a
// worker of this same program, found by its name, or another program by its
// path. A Launcher starts it, feeds it, bounds it, kills it and reaps it.
//
// The program calls Main first thing in its main function:
//
//	func main() {
//		child.Main(map[string]child.Worker{"count": count})
//		…
//	}
//
// and runs a worker wherever it needs one:
//
//	l := child.New(child.Config{Memory: 640 << 20})
//	usage, err := l.Run(ctx, child.Spec{
//		Worker: "count", Config: config, Input: file,
//		Memory: 320 << 20, CPU: 20 * time.Second, Wall: 20 * time.Second, MaxOutput: 8 << 20,
//	}, func(stdout io.Reader) error { … })
//
// What holds for a child, before it has seen a byte of its input:
//
//   - its memory, processor time, written files, descriptors and core dumps are
//     bounded by the kernel, and the kernel's out-of-memory killer takes it
//     before it takes the service;
//   - it has an environment of only what its Spec names, and no descriptors but
//     its input, its output and standard error;
//   - no privileges to gain (no_new_privs), no sockets, no tracing or signalling
//     of others, no other program and no second process (seccomp), no files but
//     those that its Spec names (Landlock);
//   - it dies with the process that started it, however that ends.
//
// When Run returns, the process and its whole group are gone and reaped, and no
// goroutine or descriptor of it is left.
//
// That is Linux. On other systems there is no bound on memory, no filter and
// no confinement to named files: Limited says so, for the service to tell at
// its start. The same goes for a Linux that refuses seccomp or Landlock (some
// containers do). The child is then run all the same: the kernel's limits still
// hold, and they are what keeps the host alive.
package child
