package model

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAClientGoesWhereItIsToldToAndNowhereElse(t *testing.T) {
	m, err := New(Config{ChatURL: "https://models.example/v1/", ChatModel: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.transport.Proxy != nil || m.client.Jar != nil || m.client.CheckRedirect(nil, nil) != http.ErrUseLastResponse {
		t.Error("there is a proxy, a cookie jar, or a redirect is followed")
	}
	if m.transport.ResponseHeaderTimeout != DefaultTimeout || m.transport.MaxResponseHeaderBytes != headersMax || !m.transport.DisableCompression {
		t.Errorf("%v to the first header, %d bytes of headers", m.transport.ResponseHeaderTimeout, m.transport.MaxResponseHeaderBytes)
	}
	if m.chat.url != "https://models.example/v1/chat/completions" || cap(m.slots) != DefaultRequests {
		t.Errorf("%s, %d at once", m.chat.url, cap(m.slots))
	}
}

// bad makes what heard is told of.
func bad(o Outcome, cause error) error { return fail(o, "failed").because(cause) }

func TestAnEndpointIsLeftAloneForAsLongAsItAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{}
		e.heard(bad(OutcomeLimited, restError(30*time.Second)), true)
		err := e.rest(t.Context(), false)
		if f, ok := errors.AsType[*failure](err); !ok || f.outcome != OutcomeResting || !strings.Contains(f.words, "asked again in 31s") {
			t.Errorf("%v", err)
		}
		if err := e.rest(t.Context(), true); err.(*failure).outcome != OutcomeLimited {
			t.Errorf("%v", err)
		}
		time.Sleep(29 * time.Second)
		start := time.Now()
		if err := e.rest(t.Context(), false); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v: a short rest is waited for", err, time.Since(start))
		}
		if err := e.rest(t.Context(), false); err != nil {
			t.Error(err)
		}

		// An hour is not believed.
		e.heard(bad(OutcomeLimited, restError(time.Hour)), true)
		time.Sleep(longestOne)
		if err := e.rest(t.Context(), false); err != nil {
			t.Error(err)
		}

		// A rest that leaves no time to answer is not waited for.
		e.heard(bad(OutcomeLimited, restError(time.Second)), true)
		ctx, done := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer done()
		if start := time.Now(); e.rest(ctx, false) == nil || time.Since(start) != 0 {
			t.Errorf("waited %v", time.Since(start))
		}
	})
}

func TestAFailureIsForgottenWhenAnAnswerComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{}
		for range 2 {
			for range failureMax - 1 {
				e.heard(bad(OutcomeServer, nil), true)
			}
			if err := e.rest(t.Context(), false); err != nil {
				t.Error(err)
			}
			e.heard(nil, true)
		}
		for range failureMax {
			e.heard(bad(OutcomeTimeout, nil), true)
		}
		if err := e.rest(t.Context(), false); err == nil {
			t.Error("it is asked on and on")
		}
		time.Sleep(afterThree)
		if err := e.rest(t.Context(), false); err != nil {
			t.Error(err)
		}
		e.heard(bad(OutcomeUnreachable, nil), true) // once more, and at once
		if err := e.rest(t.Context(), false); err == nil {
			t.Error("it is asked on and on")
		}
	})
}

func TestWhoHasLittleTimeOrAnOddPageDoesNotSpeakForOthers(t *testing.T) {
	e := &endpoint{}
	for range 2 * failureMax {
		e.heard(bad(OutcomeTimeout, nil), false)
	}
	for range 2 * failureMax {
		e.heard(bad(OutcomeRefused, nil), true)
		e.heard(fail(OutcomeBad, "failed").ofContent(), true)
	}
	if err := e.rest(t.Context(), false); err != nil {
		t.Error(err)
	}
}

func TestARequestWaitsForASlotOnlySoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Models{slots: make(chan struct{}, 1)}
		m.slots <- struct{}{}
		start := time.Now()
		_, err := m.askOnce(t.Context(), &endpoint{}, nil, 1, false, nil)
		if f, ok := errors.AsType[*failure](err); !ok || f.outcome != OutcomeBusy || time.Since(start) != slotWait {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if _, err := m.askOnce(ctx, &endpoint{}, nil, 1, false, nil); err.(*failure).outcome != OutcomeTimeout || !strings.Contains(err.Error(), "other requests took the time") {
			t.Error(err)
		}
	})
}

func TestRetryAfterIsReadInItsForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name, value string
			want        time.Duration
		}{
			{"Retry-After", "7", 7 * time.Second},
			{"Retry-After", " 0.5 ", 500 * time.Millisecond},
			{"Retry-After", "0", 50 * time.Millisecond},
			{"Retry-After", "-3", firstRest},
			{"Retry-After", "soon", firstRest},
			{"Retry-After", "1e300", firstRest},
			{"Retry-After", "NaN", firstRest},
			{"Retry-After", "", firstRest},
			{"Retry-After", time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat), 9 * time.Second},
			{"Retry-After", "Fri, 01 Jan 1999 00:00:00 GMT", 50 * time.Millisecond},
			{"Retry-After-Ms", "250", 250 * time.Millisecond},
		} {
			if got := retryAfter(http.Header{http.CanonicalHeaderKey(c.name): {c.value}}, firstRest); got != c.want {
				t.Errorf("%s: %s is %v, want %v", c.name, c.value, got, c.want)
			}
		}
	})
}
