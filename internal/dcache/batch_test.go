package dcache

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/batch"
	"sift.build/sift/internal/batch/storetest"
	"sift.build/sift/internal/sift"
)

func TestTheStoreKeepsTheContractOfBatches(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) batch.Store {
		db := openStore(t, Config{MaxBytes: 1 << 20})
		t.Cleanup(func() { checkSound(t, db) })
		return db
	})
}

const testTTL = 24 * time.Hour

// leaseAt is the lease clock of these tests, d after its start.
func leaseAt(d time.Duration) batch.Lease {
	return batch.Lease{Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(d), TTL: testTTL}
}

// Bounds that are in nobody's way.
func noCaps() batch.Caps { return batch.Caps{PerCaller: 1 << 20, Total: 1 << 20, MaxBytes: 1 << 40} }

func testJob(caller, id string, n int) batch.NewJob {
	j := batch.NewJob{ID: id, Caller: sift.Caller{Name: caller, Class: "default"}, IdemKey: fmt.Sprintf("%064s", id), CreatedAt: leaseAt(0).Now}
	for i := range n {
		j.Targets = append(j.Targets, batch.NewTarget{URL: fmt.Sprintf("https://example.org/%d", i), Options: json.RawMessage(`{"mode":"clean"}`)})
	}
	return j
}

func createJob(t testing.TB, db *DB, caller string, n int) string {
	t.Helper()
	c, err := db.CreateJob(t.Context(), testJob(caller, NewSnapshot(), n), noCaps(), leaseAt(0))
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func claimJob(t testing.TB, db *DB) batch.Claimed {
	t.Helper()
	c, ok, err := db.ClaimJob(t.Context())
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	return c
}

// envelopeOf is a result of n bytes.
func envelopeOf(n int) json.RawMessage {
	return json.RawMessage(`{"content":"` + strings.Repeat("x", n-14) + `"}`)
}

func runTarget(t testing.TB, db *DB, c batch.Claim, idx, n int, l batch.Lease) batch.Finished {
	t.Helper()
	if ok, err := db.StartTarget(t.Context(), c, idx); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f, err := db.FinishTarget(t.Context(), c, batch.Outcome{Idx: idx, Result: envelopeOf(n), MaxBytes: 1 << 40}, l)
	if !f.Stored || err != nil {
		t.Fatal(f, err)
	}
	return f
}
