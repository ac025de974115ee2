package jq

import (
	"testing"

	"go.uber.org/goleak"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/sift"
)

// The children that run programs are this test program.
func TestMain(m *testing.M) {
	child.Main(Workers())
	goleak.VerifyTestMain(m)
}

// newRunner makes a runner with the limits of the product, but for what edit
// changes.
func newRunner(t testing.TB, edit func(*Runner)) *Runner {
	t.Helper()
	r := New(Config{Launcher: child.New(child.Config{Memory: 640 << 20})})
	if edit != nil {
		edit(r)
	}
	return r
}

// result runs a program that must succeed.
func result(t testing.TB, r *Runner, q Query) Result {
	t.Helper()
	res, err := r.Run(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v (cause: %v)", sift.Quote(q.Program), err, sift.AsFailure(err).Cause)
	}
	return res
}

// failure runs a program that must fail.
func failure(t testing.TB, r *Runner, q Query) *sift.Failure {
	t.Helper()
	res, err := r.Run(t.Context(), q)
	if err == nil {
		t.Fatalf("%s gave %s", sift.Quote(q.Program), sift.Quote(res.Content))
	}
	return sift.AsFailure(err)
}
