package api

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.yaml
var openAPI []byte

func (s *Server) getOpenAPI(w http.ResponseWriter, _ *http.Request, x *exchange) error {
	w.Header()["Content-Type"] = []string{"application/yaml"}
	s.write(w, x, http.StatusOK, openAPI)
	return nil
}
