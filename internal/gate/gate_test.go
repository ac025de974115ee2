package gate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sift.build/sift/internal/sift"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func acquire(t *testing.T, g *Gate, caller, host string) *Slot {
	t.Helper()
	s, err := g.Acquire(caller, host)
	if err != nil {
		t.Fatalf("Acquire(%q, %q): %v", caller, host, err)
	}
	return s
}

func wantBusy(t *testing.T, err error, word string) {
	t.Helper()
	f, ok := errors.AsType[*sift.Failure](err)
	if !ok || f.Code != sift.CodeBusy {
		t.Fatalf("got %v, want a busy failure", err)
	}
	if !strings.Contains(f.Message, word) {
		t.Errorf("message %q does not name the limit (%q)", f.Message, word)
	}
	if f.RetryAfter <= 0 {
		t.Error("a busy failure must say when to come back")
	}
}

func TestTheNinthFetchInAllIsRefusedAtOnce(t *testing.T) {
	g := New(Config{Global: 8, PerHost: 2, PerCaller: 4})
	var slots []*Slot
	for i := range 8 {
		slots = append(slots, acquire(t, g, fmt.Sprint("caller", i/4), fmt.Sprint("host", i)))
	}
	_, err := g.Acquire("caller9", "host9")
	wantBusy(t, err, "all 8")
	slots[3].Release()
	acquire(t, g, "caller9", "host9")
}

func TestTheThirdFetchFromAHostIsRefusedWhoeverAsks(t *testing.T) {
	g := New(Config{Global: 8, PerHost: 2, PerCaller: 4})
	a := acquire(t, g, "a", "h")
	acquire(t, g, "b", "h")
	_, err := g.Acquire("c", "h")
	wantBusy(t, err, "host")
	acquire(t, g, "c", "other")
	a.Release()
	acquire(t, g, "c", "h")
}

func TestTheFifthFetchOfACallerIsRefusedWhateverTheHost(t *testing.T) {
	g := New(Config{Global: 8, PerHost: 2, PerCaller: 4})
	for i := range 4 {
		acquire(t, g, "a", fmt.Sprint("h", i))
	}
	_, err := g.Acquire("a", "h9")
	wantBusy(t, err, "you have 4")
	acquire(t, g, "b", "h9")
}

func TestARedirectMovesTheHostPlaceAndFreesTheOldOne(t *testing.T) {
	g := New(Config{Global: 8, PerHost: 1, PerCaller: 4})
	s := acquire(t, g, "a", "h1")
	full := acquire(t, g, "b", "h2")
	wantBusy(t, s.Move("h2"), "host")
	_, err := g.Acquire("c", "h1")
	wantBusy(t, err, "host") // a refused move leaves the slot where it was
	full.Release()
	if err := s.Move("h2"); err != nil {
		t.Fatal(err)
	}
	acquire(t, g, "c", "h1")
	s.Release()
	acquire(t, g, "b", "h2")
}

func TestReleasingTwiceGivesOneSlotBack(t *testing.T) {
	g := New(Config{Global: 2, PerHost: 2, PerCaller: 2})
	s := acquire(t, g, "a", "h")
	acquire(t, g, "a", "h")
	s.Release()
	s.Release()
	if err := s.Move("elsewhere"); err != nil {
		t.Fatal(err)
	}
	acquire(t, g, "a", "h")
	_, err := g.Acquire("b", "x")
	wantBusy(t, err, "all 2")
}

func TestTheZeroGateAdmitsNothing(t *testing.T) {
	_, err := New(Config{}).Acquire("a", "h")
	wantBusy(t, err, "all 0")
}

func TestNoLimitIsEverExceededAndNothingIsLeftBehind(t *testing.T) {
	var taken atomic.Int64
	refused := map[Refusal]int{}
	g := New(Config{Global: 5, PerHost: 2, PerCaller: 3, Refused: func(r Refusal) { refused[r]++ }})
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range 2000 {
				s, err := g.Acquire(fmt.Sprint("c", r.IntN(4)), fmt.Sprint("h", r.IntN(5)))
				if err != nil {
					continue
				}
				taken.Add(1)
				_ = s.Move(fmt.Sprint("h", r.IntN(5)))
				if n := g.InUse(); n > 5 || n < 1 {
					t.Errorf("%d slots are out, limit 5", n)
				}
				g.mu.Lock()
				for h, n := range g.hosts {
					if n > 2 {
						t.Errorf("%d slots at %s", n, h)
					}
				}
				for c, n := range g.callers {
					if n > 3 {
						t.Errorf("%d slots for %s", n, c)
					}
				}
				g.mu.Unlock()
				runtime.Gosched() // or a slot would be given back before anybody else asks
				s.Release()
			}
		})
	}
	wg.Wait()
	if taken.Load() == 0 || len(refused) != len(Refusals()) {
		t.Errorf("%d slots were taken, refusals %v: the test tried too little", taken.Load(), refused)
	}
	if g.inUse != 0 || len(g.hosts) != 0 || len(g.callers) != 0 {
		t.Errorf("left behind: %d slots, hosts %v, callers %v", g.inUse, g.hosts, g.callers)
	}
}

func TestLargePagesTakeTurnsInTheParser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewParse(256)
		large, err := p.Enter(t.Context(), 200)
		if err != nil {
			t.Fatal(err)
		}
		small, err := p.Enter(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		second := make(chan struct{})
		go func() {
			leave, err := p.Enter(t.Context(), 10_000) // heavier than the gate: must get it alone, not never
			if err != nil {
				t.Error(err)
			} else {
				leave()
			}
			close(second)
		}()
		synctest.Wait()
		large()
		synctest.Wait()
		select {
		case <-second:
			t.Fatal("the page heavier than the gate did not wait to be alone")
		default:
		}
		small()
		<-second
	})
}

func TestWaitingForTheParserEndsWithTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewParse(100)
		leave, err := p.Enter(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Enter(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the deadline", err)
		}
		if bytes, waiting := p.Load(); bytes != 100 || waiting != 0 {
			t.Errorf("%d bytes are in use and %d pages wait", bytes, waiting)
		}
		leave()
		leave() // a second call must not free what another page holds
		again, err := p.Enter(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		again()
	})
}
