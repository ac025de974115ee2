package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary plays sift: with FAKE_SIFT set it does what it says there
// instead of running tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("FAKE_SIFT"); role != "" {
		os.Exit(fake(role))
	}
	os.Exit(m.Run())
}

func fake(role string) int {
	if role == "broken" {
		os.Stderr.WriteString("line 3: unknown key\n")
		return 2
	}
	text, err := os.ReadFile(os.Args[len(os.Args)-1])
	if err != nil {
		return 1
	}
	_, address, _ := strings.Cut(string(text), `listen = "`)
	address, _, _ = strings.Cut(address, `"`)
	asked := 0
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/leave", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	return map[bool]int{true: 0, false: 1}[http.ListenAndServe(address, nil) == nil]
}

func start(t *testing.T, role, settings string) (*Server, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE_SIFT", role)
	s, err := Start(t.Context(), Config{Binary: self, Dir: t.TempDir(), Settings: settings})
	if err == nil {
		t.Cleanup(func() { _ = s.Stop() })
	}
	return s, err
}

func TestAServerIsReadyWhenStartReturnsAndGoneAfterStop(t *testing.T) {
	s, err := start(t, "well", "[guard]\nallow = []")
	if err != nil {
		t.Fatal(err)
	}
	if s.FirstByte <= 0 || s.Ready < s.FirstByte {
		t.Errorf("first byte after %s, ready after %s", s.FirstByte, s.Ready)
	}
	text, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`data_dir = "` + filepath.Dir(s.File) + `/data"`, "[guard]\nallow = []"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the configuration lacks %q:\n%s", want, text)
		}
	}
	// The fake does not handle SIGTERM, so that it dies of it: not a good end.
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("Stop: %v", err)
	}
	if _, err := http.Get(s.URL + "/readyz"); err == nil {
		t.Error("it still answers")
	}
}

func TestAServerThatCannotStartIsQuoted(t *testing.T) {
	_, err := start(t, "broken", "")
	if err == nil || !strings.Contains(err.Error(), "line 3: unknown key") || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatLeavesByItselfIsAnError(t *testing.T) {
	s, err := start(t, "well", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(s.URL + "/leave"); err == nil {
		t.Fatal("it answered instead of leaving")
	}
	<-s.ended
	if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "ended early") {
		t.Errorf("Stop: %v", err)
	}
}

func TestAPersonsOwnSettingsDoNotReachTheServer(t *testing.T) {
	t.Setenv("SIFT_FETCH_TIMEOUT", "1ms")
	for _, e := range Environment() {
		if strings.HasPrefix(e, "SIFT_") {
			t.Errorf("%s is passed on", e)
		}
	}
}
