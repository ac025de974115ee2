package pdf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sift.build/sift/internal/child"
)

// What recognising a page may take. At 200 dpi a page of text takes 1 to 2 s.
const (
	ocrDPI    = 200
	maxPixels = 16 << 20 // of a painted page
	ocrPages  = 10       // of one file at once
	ocrTime   = 15 * time.Second
	ocrMemory = 256 << 20 // of tesseract
	ocrText   = 1 << 20   // bytes of one page
	ocrLangs  = 4         // languages looked for at once; each costs as much as the first
)

// tesseract is one that was found on this host.
type tesseract struct {
	path      string
	languages []string // as tesseract names them, sorted
}

// Languages lists the languages that pages are recognised in, as tesseract
// names them. The error says what to install.
func (r *Reader) Languages(ctx context.Context) ([]string, error) {
	t, err := r.tesseract(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(t.languages), nil
}

// tesseract gives the one of this host, which is looked for until it is there.
func (r *Reader) tesseract(ctx context.Context) (*tesseract, error) {
	if t := r.tool.Load(); t != nil {
		return t, nil
	}
	t, err := findTesseract(ctx, r.cfg.Launcher)
	if err == nil {
		r.tool.Store(t)
	}
	return t, err
}

// findTesseract looks for tesseract in $PATH and asks which languages it has.
func findTesseract(ctx context.Context, l *child.Launcher) (*tesseract, error) {
	path, err := exec.LookPath("tesseract")
	if err != nil {
		return nil, errors.New("no program tesseract is found in $PATH; on Debian it is in the package tesseract-ocr")
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	o := &tesseract{path: path}
	var list []byte
	_, err = l.Run(ctx, o.spec("--list-langs"), func(stdout io.Reader) (err error) {
		list, err = io.ReadAll(stdout)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask tesseract for its languages: %w", err)
	}
	name := regexp.MustCompile(`^[A-Za-z_]{2,32}$`)
	_, rest, _ := strings.Cut(string(list), "\n") // the first line is a sentence
	for word := range strings.FieldsSeq(rest) {
		if name.MatchString(word) && word != "osd" && word != "equ" { // these two find lines and formulas
			o.languages = append(o.languages, word)
		}
	}
	slices.Sort(o.languages)
	if len(o.languages) == 0 {
		return nil, errors.New("tesseract has no language; on Debian the package tesseract-ocr-eng has English")
	}
	return o, nil
}

func (o *tesseract) spec(args ...string) child.Spec {
	return child.Spec{
		Program: o.path, Args: args, Env: []string{"OMP_THREAD_LIMIT=1", "LC_ALL=C.UTF-8"},
		Memory: ocrMemory, CPU: ocrTime, Wall: 2 * ocrTime, MaxOutput: ocrText, Nice: 5,
	}
}

// codes are the names that tesseract has for the languages of the web.
func codes() map[string]string {
	return map[string]string{
		"ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa",
		"et": "est", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "id": "ind",
		"it": "ita", "ja": "jpn", "ko": "kor", "lt": "lit", "lv": "lav", "nb": "nor", "nl": "nld", "no": "nor", "pl": "pol",
		"pt": "por", "ro": "ron", "ru": "rus", "sk": "slk", "sl": "slv", "sr": "srp", "sv": "swe", "th": "tha", "tr": "tur",
		"uk": "ukr", "vi": "vie", "zh": "chi_sim",
	}
}

// choose gives the languages to look for in a document: its own, English, and
// the others that are installed.
func (o *tesseract) choose(language string) string {
	own, _, _ := strings.Cut(strings.ToLower(language), "-")
	var list []string
	for _, l := range append([]string{codes()[own], "eng"}, o.languages...) {
		if slices.Contains(o.languages, l) && !slices.Contains(list, l) && len(list) < ocrLangs {
			list = append(list, l)
		}
	}
	return strings.Join(list, "+")
}

// ocrOutcome is what became of the pages without a text layer.
type ocrOutcome struct {
	on     bool
	pages  []int // that were recognised
	failed error // the first failure
}

// advice ends the sentence about pages that are pictures.
func (o *ocrOutcome) advice() string {
	if !o.on {
		return "; OCR, which would read them, is off ([pdf] ocr)"
	}
	if o.failed != nil {
		return "; OCR could not read them"
	}
	return "; OCR found no text in them"
}

// recognise reads the pages that are pictures, those of o.First first. Pages
// that it does not get to are taken out of c, so that they are not taken for
// empty and can be asked for.
func (r *Reader) recognise(ctx context.Context, file *os.File, o order, c *contents) {
	c.ocr.on = true
	var scans []*readPage
	for _, p := range c.pages {
		if p.scanned() {
			scans = append(scans, p)
		}
	}
	if len(scans) == 0 {
		return
	}
	select {
	case <-r.ocr:
		defer func() { r.ocr <- struct{}{} }()
	case <-ctx.Done():
		c.ocr.failed = ctx.Err()
		return
	}
	tool, err := r.tesseract(ctx)
	if err != nil {
		c.ocr.failed = err
		return
	}
	languages := tool.choose(c.info.Language)
	deadline := time.Now().Add(ocrTime)
	unread := make(map[*readPage]bool)
	slices.SortStableFunc(scans, func(a, b *readPage) int {
		first := func(p *readPage) int {
			if o.First.Has(p.Number) {
				return 0
			}
			return 1
		}
		return first(a) - first(b)
	})
	for i, p := range scans {
		if i >= ocrPages || i > 0 && time.Now().After(deadline) {
			unread[p] = true
			continue
		}
		o.Page, o.DPI = p.Number, ocrDPI
		text, err := r.recognisePage(ctx, file, o, tool, languages)
		if err != nil {
			if c.ocr.failed == nil {
				c.ocr.failed = err
			}
			continue
		}
		if p.OCR = text; text != "" {
			c.ocr.pages = append(c.ocr.pages, p.Number)
		}
	}
	slices.Sort(c.ocr.pages)
	if len(unread) > 0 {
		c.pages = slices.DeleteFunc(c.pages, func(p *readPage) bool { return unread[p] })
		if c.stopped == "" {
			c.stopped = "the others are pictures, of which only a few are read by OCR at once"
		}
	}
}

// recognisePage paints a page and reads it, each in a child of its own.
func (r *Reader) recognisePage(ctx context.Context, file *os.File, o order, tool *tesseract, languages string) (string, error) {
	config, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode order: %w", err)
	}
	var picture, text []byte
	_, err = r.cfg.Launcher.Run(ctx, child.Spec{
		Worker: workerRender, Config: config, Input: file, ReadPaths: []string{o.CacheDir},
		Memory: r.cfg.Memory, CPU: r.cfg.CPU, Wall: r.cfg.Wall, MaxOutput: maxPixels + 64, Nice: 5,
	}, func(stdout io.Reader) (err error) {
		picture, err = io.ReadAll(stdout)
		return err
	})
	if err != nil {
		return "", err
	}
	s := tool.spec("stdin", "stdout", "-l", languages, "--dpi", strconv.Itoa(ocrDPI))
	s.Data = picture
	_, err = r.cfg.Launcher.Run(ctx, s, func(stdout io.Reader) (err error) {
		text, err = io.ReadAll(stdout)
		return err
	})
	return paragraphs(string(text)), err
}

// paragraphs joins the lines of what tesseract writes, whose paragraphs are
// separated by blank lines.
func paragraphs(text string) string {
	var out []string
	for para := range strings.SplitSeq(strings.ToValidUTF8(text, ""), "\n\n") {
		var b strings.Builder
		for l := range strings.Lines(para) {
			l = strings.TrimSpace(strings.ReplaceAll(l, "\f", ""))
			if l == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(l)
		}
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return strings.Join(out, "\n\n")
}
