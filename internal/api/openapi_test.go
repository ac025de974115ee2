package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"sift.build/sift/internal/sift"
)

// description loads the document once for all tests.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(openAPI)
})

func loadDescription(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatalf("openapi.yaml does not load: %v", err)
	}
	return doc
}

// checked is a handler whose every answer is held against openapi.yaml before
// the client gets it: the status and the type must be described for that
// operation, required headers present, no X-Sift header undescribed, and the
// body valid, without properties that the schema does not name.
func checked(t testing.TB, h http.Handler) http.Handler {
	doc := loadDescription(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if err := check(doc, r, rec.Result(), rec.Body.Bytes()); err != nil {
			t.Errorf("%s %s: not as openapi.yaml describes it: %v\n%s", r.Method, r.URL.Path, err, rec.Body)
		}
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

func check(doc *openapi3.T, r *http.Request, resp *http.Response, body []byte) error {
	if got := resp.Header.Get("X-Content-Type-Options"); got != "nosniff" {
		return fmt.Errorf("X-Content-Type-Options is %q", got)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		return fmt.Errorf("Cache-Control is %q", got)
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			return fmt.Errorf("there is a CORS header %s", name)
		}
	}
	described, err := describedResponse(doc, r, resp.StatusCode)
	if err != nil {
		return err
	}
	for name, header := range described.Headers {
		text := resp.Header.Get(name)
		if text == "" {
			if header.Value.Required {
				return fmt.Errorf("header %s is missing", name)
			}
			continue
		}
		var v any = text
		if header.Value.Schema.Value.Type.Is("integer") {
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
		}
		if err := header.Value.Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "X-Sift-") && described.Headers[name] == nil {
			return fmt.Errorf("header %s is not described", name)
		}
	}
	typ, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	media := described.Content[typ]
	if media == nil {
		return fmt.Errorf("status %d is not described with type %s", resp.StatusCode, typ)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	if typ != "application/json" {
		return media.Schema.Value.VisitJSON(string(body), openapi3.EnableJSONSchema2020())
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("something follows the JSON: %v", err)
	}
	if err := media.Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020()); err != nil {
		return err
	}
	return undescribed(media.Schema.Value, v, "")
}

func describedResponse(doc *openapi3.T, r *http.Request, status int) (*openapi3.Response, error) {
	path := r.URL.Path
	if strings.HasPrefix(path, pathBatch+"/") && path != pathBatch+"/" {
		path = pathJob
	}
	item := doc.Paths.Value(path)
	if item == nil {
		if status == http.StatusNotFound || status == http.StatusUnauthorized {
			return doc.Components.Responses[map[int]string{404: "NotFound", 401: "Unauthorized"}[status]].Value, nil
		}
		return nil, fmt.Errorf("status %d for a path that does not exist", status)
	}
	m := r.Method
	if m == http.MethodHead {
		m = http.MethodGet
	}
	op := item.Operations()[m]
	if op == nil {
		if status == http.StatusMethodNotAllowed {
			return doc.Components.Responses["MethodNotAllowed"].Value, nil
		}
		if status == http.StatusUnauthorized {
			return doc.Components.Responses["Unauthorized"].Value, nil
		}
		return nil, fmt.Errorf("status %d for a method that does not exist", status)
	}
	resp := op.Responses.Status(status)
	if resp == nil {
		return nil, fmt.Errorf("status %d is not described", status)
	}
	return resp.Value, nil
}

// undescribed finds a property that is sent but not in the schema. The schemas
// do not forbid it, so that a later version may add some.
func undescribed(s *openapi3.Schema, v any, at string) error {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			p := s.Properties[name]
			if p == nil {
				return fmt.Errorf("%s/%s is not described", at, name)
			}
			if err := undescribed(p.Value, inner, at+"/"+name); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := undescribed(s.Items.Value, inner, fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestTheDescriptionIsAValidOpenAPI31Document(t *testing.T) {
	doc := loadDescription(t)
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("openapi is %s, want 3.1", doc.OpenAPI)
	}
	err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation(),
		openapi3.EnableSchemaFormatValidation())
	if err != nil {
		t.Error(err)
	}
}

func TestTheDescriptionsEnumsAreTheClosedLists(t *testing.T) {
	doc := loadDescription(t)
	for name, want := range map[string][]string{
		"Mode":        words(sift.Modes()),
		"Code":        words(sift.Codes()),
		"Hint":        words(sift.Hints()),
		"WarningCode": words(sift.WarningCodes()),
		"JobStatus":   words(sift.JobStatuses()),

		"TargetStatus": words(sift.TargetStatuses()),
	} {
		var got []string
		for _, v := range doc.Components.Schemas[name].Value.Enum {
			got = append(got, v.(string))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-list +description):\n%s", name, diff)
		}
		// Each word is explained too, but for the codes, which have a response each.
		if text := doc.Components.Schemas[name].Value.Description; name != "Code" {
			for _, w := range want {
				if !strings.Contains(text, "`"+w+"`") {
					t.Errorf("%s: %s is not explained", name, w)
				}
			}
		}
	}
}

func words[S ~string](list []S) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

func TestTheDescribedTargetIsTheFieldTable(t *testing.T) {
	doc := loadDescription(t)
	target := doc.Components.Schemas["Target"].Value
	var inTable, inQuery []string
	for _, f := range fields() {
		inTable = append(inTable, f.name)
		p := target.Properties[f.name]
		if p == nil {
			t.Errorf("%s is not described", f.name)
			continue
		}
		want := map[kind]string{kindText: "string", kindWhole: "integer", kindNumber: "number", kindFlag: "boolean"}[f.kind]
		if !p.Value.Type.Is(want) {
			t.Errorf("%s is described as %v, want %s", f.name, p.Value.Type, want)
		}
		if f.required != slices.Contains(target.Required, f.name) {
			t.Errorf("%s: required is %v in the table and not in the description, or the other way round", f.name, f.required)
		}
		if f.kind == kindWhole && (p.Value.Min == nil || *p.Value.Min != f.low || p.Value.Max == nil || *p.Value.Max != f.high) {
			t.Errorf("%s is bounded by %v and %v in the description, want %v and %v", f.name, p.Value.Min, p.Value.Max, f.low, f.high)
		}
		if f.kind == kindNumber && (p.Value.Min == nil || *p.Value.Min != f.low) {
			t.Errorf("%s is bounded by %v in the description, want %v", f.name, p.Value.Min, f.low)
		}
	}
	for _, p := range doc.Paths.Value(pathFetch).Get.Parameters {
		inQuery = append(inQuery, p.Value.Name)
	}
	if diff := cmp.Diff(inTable, inQuery); diff != "" {
		t.Errorf("parameters of GET (-table +description):\n%s", diff)
	}
	if len(target.Properties) != len(inTable) {
		t.Errorf("%d properties are described, the table has %d", len(target.Properties), len(inTable))
	}
}

func TestTheDescribedRoutesAreTheRoutes(t *testing.T) {
	doc := loadDescription(t)
	var want, got []string
	for _, rt := range routes() {
		for _, m := range rt.methods {
			want = append(want, m.name+" "+rt.path)
			op := doc.Paths.Value(rt.path).GetOperation(m.name)
			if open := op != nil && op.Security != nil && len(*op.Security) == 0; open != rt.open {
				t.Errorf("%s %s: described as open: %v; is open: %v", m.name, rt.path, open, rt.open)
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for m := range item.Operations() {
			got = append(got, m+" "+path)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-routes +description):\n%s", diff)
	}
}

func TestEveryFailureOfAFetchIsDescribed(t *testing.T) {
	doc := loadDescription(t)
	for _, op := range doc.Paths.Value(pathFetch).Operations() {
		for _, code := range sift.Codes() {
			if s := Status(&sift.Failure{Code: code}); op.Responses.Status(s) == nil {
				t.Errorf("%s: %s is a %d, which is not described", op.OperationID, code, s)
			}
		}
	}
}

// A client that follows the description must be served, and what is served
// must follow the description.
func TestTheDecoderTakesWhatTheDescriptionAllows(t *testing.T) {
	target := loadDescription(t).Components.Schemas["Target"].Value
	values := []string{
		`""`, `"x"`, `"clean"`, `"raw"`, `"markdown"`, `true`, `false`, `0`, `1`, `-1`, `-0`, `1.0`, `1.5`, `1e2`, `0.001`, `0.0009`,
		`10000000`, `10000001`, `1000000000`, `1000000001`, `2000000000`, `2000000001`, `1e300`, `[]`, `{}`, `[1]`, `{"url":"x"}`,
	}
	names := []string{"nothing", "URL", ""}
	for _, f := range fields() {
		names = append(names, f.name)
	}
	for _, name := range names {
		for _, v := range values {
			body := fmt.Sprintf(`{"url":"u",%q:%s}`, name, v)
			if name == "url" {
				body = fmt.Sprintf(`{"url":%s}`, v)
			}
			var decoded any
			if err := json.Unmarshal([]byte(body), &decoded); err != nil {
				t.Fatal(err)
			}
			described := target.VisitJSON(decoded, openapi3.EnableJSONSchema2020()) == nil
			_, err := decodeJSON(fields(), []byte(body))
			if described != (err == nil) {
				t.Errorf("%s: allowed by the description: %v; decoder: %v", body, described, err)
			}
		}
	}
}
