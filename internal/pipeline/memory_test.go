package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sift.build/sift/internal/sift"
)

func someAnswer(content string) *sift.Answer {
	return &sift.Answer{Content: content, Warnings: []sift.Warning{}, Receipt: sift.Receipt{Hops: []sift.Hop{}}}
}

func someRef(class, key, snapshot string, at int64) copyRef {
	return copyRef{class: class, key: key, finalURL: key, snapshot: snapshot, checkedAt: time.Unix(at, 0)}
}

func TestMemoryNeverHoldsMoreThanItsLimit(t *testing.T) {
	m := newMemory(64 << 10)
	for i := range 500 {
		m.put(someRef("c", fmt.Sprint("k", i), fmt.Sprint("s", i), 1), true, view{mode: sift.ModeClean}, someAnswer(strings.Repeat("x", i*10)))
		if m.bytes > m.limit {
			t.Fatalf("%d bytes held, limit %d", m.bytes, m.limit)
		}
	}
	if len(m.byView) != m.order.Len() || len(m.byView) == 0 || len(m.newest) != len(m.byView) || len(m.held) != len(m.byView) {
		t.Errorf("the indexes differ: %d views, %d in order, %d keys, %d counts", len(m.byView), m.order.Len(), len(m.newest), len(m.held))
	}
}

func TestMemoryDropsTheLeastRecentlyUsedFirst(t *testing.T) {
	m := newMemory(24 << 10)
	v := view{mode: sift.ModeClean}
	for i := range 3 {
		m.put(someRef("c", fmt.Sprint("k", i), fmt.Sprint("s", i), 1), true, v, someAnswer(strings.Repeat("x", 1000)))
	}
	m.latest("c", "k0", v) // now k1 is the oldest
	for i := 3; ; i++ {
		m.put(someRef("c", fmt.Sprint("k", i), fmt.Sprint("s", i), 1), true, v, someAnswer(strings.Repeat("x", 1000)))
		_, _, has0 := m.latest("c", "k0", v)
		if _, ok := m.byView[answerKey{"c", "s1", v}]; !ok {
			if !has0 {
				t.Error("the one used last went before the one used first")
			}
			return
		}
	}
}

func TestMemoryKeepsClassesApart(t *testing.T) {
	m := newMemory(64 << 10)
	v := view{mode: sift.ModeClean}
	m.put(someRef("a", "k", "s", 1), true, v, someAnswer("x"))
	if _, _, ok := m.latest("b", "k", v); ok {
		t.Error("another class found it by key")
	}
	if _, _, ok := m.bySnapshot("b", "s", v); ok {
		t.Error("another class found it by snapshot")
	}
}

func TestMemoryTellsRestrictedViewsApart(t *testing.T) {
	m := newMemory(64 << 10)
	m.put(someRef("a", "k", "s", 1), true, view{mode: sift.ModeClean}, someAnswer("with address"))
	if _, _, ok := m.latest("a", "k", view{mode: sift.ModeClean, restricted: true}); ok {
		t.Error("a restricted caller got the answer that was made for another")
	}
}

func TestACopyThatMayNotBeReusedIsFoundBySnapshotOnly(t *testing.T) {
	m := newMemory(64 << 10)
	v := view{mode: sift.ModeClean}
	m.put(someRef("a", "k", "s", 1), false, v, someAnswer("x"))
	if _, _, ok := m.latest("a", "k", v); ok {
		t.Error("it was found by key")
	}
	if _, _, ok := m.bySnapshot("a", "s", v); !ok {
		t.Error("it was not found by its snapshot")
	}
}

func TestReadingAnOlderCopyDoesNotMakeItTheNewest(t *testing.T) {
	m := newMemory(64 << 10)
	v := view{mode: sift.ModeClean}
	m.put(someRef("a", "k", "new", 10), true, v, someAnswer("new"))
	m.put(someRef("a", "k", "old", 5), true, v, someAnswer("old"))
	a, _, ok := m.latest("a", "k", v)
	if !ok || a.Content != "new" {
		t.Errorf("got %v, %v", a, ok)
	}
}

func TestAnAnswerTooLargeForTheMemoryIsNotKept(t *testing.T) {
	m := newMemory(4 << 10)
	m.put(someRef("a", "k", "s", 1), true, view{}, someAnswer(strings.Repeat("x", 4<<10)))
	if m.order.Len() != 0 {
		t.Error("it pushed everything else out")
	}
	none := newMemory(0)
	none.put(someRef("a", "k", "s", 1), true, view{}, someAnswer("x"))
	if none.order.Len() != 0 {
		t.Error("a memory of no size holds something")
	}
}
