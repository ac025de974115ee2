package pipeline

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sift.build/sift/internal/child"
	"sift.build/sift/internal/jq"
	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) {
	child.Main(jq.Workers()) // jq programs run in this very program
	goleak.VerifyTestMain(m)
}

type work = func(context.Context) (*copied, error)

func starting(w work) func() (work, error) { return func() (work, error) { return w, nil } }

func TestCallersOfTheSameDownloadShareOneAndGetTheSameResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		defer f.close()
		want := &copied{}
		runs := 0
		release := make(chan struct{})
		var wg sync.WaitGroup
		shared := make([]bool, 5)
		for i := range 5 {
			wg.Go(func() {
				got, s, err := f.do(t.Context(), copyKey{"c", "k"}, starting(func(context.Context) (*copied, error) {
					runs++
					<-release
					return want, nil
				}))
				if got != want || err != nil {
					t.Errorf("got %v, %v", got, err)
				}
				shared[i] = s
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		started := 0
		for _, s := range shared {
			if !s {
				started++
			}
		}
		if runs != 1 || started != 1 {
			t.Errorf("%d runs, %d callers believe they started it", runs, started)
		}
	})
}

func TestAnImpatientStarterDoesNotEndTheDownloadForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		defer f.close()
		want := &copied{}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := f.do(impatient, copyKey{"c", "k"}, starting(func(ctx context.Context) (*copied, error) {
				select {
				case <-time.After(5 * time.Second):
					return want, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the impatient one got %v", err)
			}
		})
		synctest.Wait()
		got, shared, err := f.do(t.Context(), copyKey{"c", "k"}, func() (work, error) {
			t.Error("a second download was started")
			return nil, errors.New("no")
		})
		if got != want || !shared || err != nil {
			t.Errorf("got %v, %v, %v", got, shared, err)
		}
		wg.Wait()
	})
}

func TestADownloadNobodyWaitsForIsCancelledAndItsKeyIsFreeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		defer f.close()
		cancelled := make(chan struct{})
		mayEnd := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := f.do(ctx, copyKey{"c", "k"}, starting(func(ctx context.Context) (*copied, error) {
			<-ctx.Done()
			close(cancelled)
			<-mayEnd // tearing down takes its time
			return nil, ctx.Err()
		}))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		<-cancelled
		want := &copied{}
		got, shared, err := f.do(t.Context(), copyKey{"c", "k"}, starting(func(context.Context) (*copied, error) { return want, nil }))
		if got != want || shared || err != nil {
			t.Errorf("a new caller joined what was being torn down: %v, %v, %v", got, shared, err)
		}
		close(mayEnd)
	})
}

func TestTheEndOfAnAbandonedDownloadDoesNotForgetItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		defer f.close()
		oldMayEnd, newMayEnd := make(chan struct{}), make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, _ = f.do(ctx, copyKey{"c", "k"}, starting(func(context.Context) (*copied, error) {
			<-oldMayEnd
			return nil, errors.New("old")
		}))
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, _ = f.do(t.Context(), copyKey{"c", "k"}, starting(func(context.Context) (*copied, error) {
				<-newMayEnd
				return &copied{}, nil
			}))
		})
		synctest.Wait()
		close(oldMayEnd)
		synctest.Wait()
		wg.Go(func() {
			_, shared, err := f.do(t.Context(), copyKey{"c", "k"}, func() (work, error) { return nil, errors.New("started another") })
			if !shared || err != nil {
				t.Errorf("the running download was forgotten: %v, %v", shared, err)
			}
		})
		synctest.Wait()
		close(newMayEnd)
		wg.Wait()
	})
}

func TestAPanicOrGoexitInADownloadIsAnErrorForEverySharer(t *testing.T) {
	for name, end := range map[string]func(){
		"panic":  func() { panic("boom with http://secret.example/") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlights()
				defer f.close()
				release := make(chan struct{})
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						_, _, err := f.do(t.Context(), copyKey{"c", "k"}, starting(func(context.Context) (*copied, error) {
							<-release
							end()
							return nil, nil
						}))
						fail := sift.AsFailure(err)
						if err == nil || fail.Code != sift.CodeInternal {
							t.Errorf("got %v", err)
						} else if strings.Contains(fail.Error(), "secret") {
							t.Errorf("the panic's text reaches the caller: %v", fail)
						}
					})
				}
				synctest.Wait()
				close(release)
				wg.Wait()
				if _, shared, err := f.do(t.Context(), copyKey{"c", "k"}, starting(func(context.Context) (*copied, error) { return &copied{}, nil })); shared || err != nil {
					t.Errorf("the key was not freed: %v, %v", shared, err)
				}
			})
		})
	}
}

func TestCloseCancelsWhatIsUnderWayAndRefusesMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlights()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := f.do(t.Context(), copyKey{"c", "k"}, starting(func(ctx context.Context) (*copied, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		f.close()
		wg.Wait()
		if _, _, err := f.do(t.Context(), copyKey{"c", "k"}, starting(nil)); sift.AsFailure(err).Code != sift.CodeCancel {
			t.Errorf("got %v after close", err)
		}
	})
}

func TestARefusedStartReachesTheCallerAndLeavesNothing(t *testing.T) {
	f := newFlights()
	defer f.close()
	busy := sift.Fail(sift.CodeBusy, "full")
	if _, _, err := f.do(t.Context(), copyKey{"c", "k"}, func() (work, error) { return nil, busy }); !errors.Is(err, busy) {
		t.Errorf("got %v", err)
	}
	if len(f.byKey) != 0 {
		t.Error("the refused download is still known")
	}
}
