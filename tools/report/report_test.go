package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMediansAndPercentilesAreValuesThatWereMeasured(t *testing.T) {
	if got := Median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("median of three: %v", got)
	}
	if got := Median([]int64{4, 1, 3, 2}); got != 3 {
		t.Errorf("median of four: %v", got)
	}
	values := make([]time.Duration, 200)
	for i := range values {
		values[len(values)-1-i] = time.Duration(i + 1)
	}
	for p, want := range map[float64]time.Duration{99: 198, 50: 100, 100: 200, 0.1: 1} {
		if got := Percentile(values, p); got != want {
			t.Errorf("percentile %v: %d, want %d", p, got, want)
		}
	}
	if got := Percentile([]time.Duration{7}, 99); got != 7 {
		t.Errorf("of one value: %d", got)
	}
}

func TestTheTableIsAligned(t *testing.T) {
	var out bytes.Buffer
	Print(&out, []Figure{
		{What: "ratio", Value: "0.71", Bar: "≥ 0.5", Word: OK, How: "710/s ÷ 1000/s"},
		{What: "a longer one", Value: "12.3 ms", Bar: "< 10.0 ms", Word: Over},
		{What: "size", Value: "9.9 MB"},
	})
	want := "" +
		"what           figure        bar\n" +
		"ratio            0.71      ≥ 0.5  ok    710/s ÷ 1000/s\n" +
		"a longer one  12.3 ms  < 10.0 ms  over\n" +
		"size           9.9 MB\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatStandsBehindAFigureMayTakeSeveralLines(t *testing.T) {
	var out bytes.Buffer
	Print(&out, []Figure{
		{What: "ratio", Value: "0.71", Bar: "≤ 2", Word: OK, How: "7 ms ÷ 10 ms"},
		{What: "a longer one", Value: "12", Bar: "0 wrong", Word: "WRONG", How: "1 of them:\n    this"},
	})
	want := "" +
		"what          figure      bar\n" +
		"ratio           0.71      ≤ 2  ok     7 ms ÷ 10 ms\n" +
		"a longer one      12  0 wrong  WRONG  1 of them:\n    this\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
