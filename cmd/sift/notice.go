package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// noticeHandler prints what other packages log, warnings and errors only, as
// this program's own notices. The same one a hundred times, once a URL, is
// printed once.
type noticeHandler struct {
	w     io.Writer
	attrs []slog.Attr

	mu   sync.Mutex
	seen map[string]bool
}

// maxNotices bounds what is remembered; past it everything is printed.
const maxNotices = 100

func (*noticeHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

func (h *noticeHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("sift: " + r.Message)
	add := func(a slog.Attr) bool {
		if a.Key == "error" {
			fmt.Fprintf(&b, ": %v", a.Value)
		} else {
			fmt.Fprintf(&b, " %s=%v", a.Key, a.Value)
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(add)
	b.WriteByte('\n')

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seen[b.String()] {
		return nil
	}
	if h.seen == nil {
		h.seen = make(map[string]bool)
	}
	if len(h.seen) < maxNotices {
		h.seen[b.String()] = true
	}
	_, err := io.WriteString(h.w, b.String())
	return err
}

func (h *noticeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &noticeHandler{w: h.w, attrs: append(slices.Clip(h.attrs), attrs...)}
}

// WithGroup has nothing to do: nobody here reads the names of groups.
func (h *noticeHandler) WithGroup(string) slog.Handler { return h }
