package sift

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON writes v as compact JSON, without the escapes that only HTML needs
// and without a line end. It is the form of everything that is sent or stored.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
