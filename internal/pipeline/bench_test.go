package pipeline

import (
	"strings"
	"testing"

	"sift.build/sift/internal/sift"
)

// A repeated request: what it costs before the HTTP edge.
func BenchmarkAnswerFromMemory(b *testing.B) {
	s := newSite(b, serve(page("T", strings.Repeat("<p>A paragraph of a page that is read again and again.</p>", 500))))
	r := newRig(b, s, rigOptions{})
	target := sift.Target{URL: "http://a.example/page?x=1"}
	buf := r.get(b, target).AppendJSON(nil)
	b.ReportAllocs()
	for b.Loop() {
		env, err := r.FetchTarget(b.Context(), alice, target)
		if err != nil || !env.Cache.Hit {
			b.Fatal(err)
		}
		buf = env.AppendJSON(buf[:0])
	}
}

// The same page read from the store, as after a restart.
func BenchmarkAnswerFromStore(b *testing.B) {
	s := newSite(b, serve(page("T", strings.Repeat("<p>A paragraph of a page that is read again and again.</p>", 500))))
	r := newRig(b, s, rigOptions{noMemory: true})
	target := sift.Target{URL: "http://a.example/page?x=1"}
	r.get(b, target)
	b.ReportAllocs()
	for b.Loop() {
		if env, err := r.FetchTarget(b.Context(), alice, target); err != nil || !env.Cache.Hit {
			b.Fatal(err)
		}
	}
}
