// Package api is the HTTP edge of the service: it decodes and bounds requests,
// says who asks, hands one target to a Fetcher, or a list of them to a Batches,
// and turns what comes back into a status and a body.
//
//	s := api.New(api.Config{Fetcher: pipeline, Batches: runner, Auth: callers, Log: log})
//	srv := api.NewHTTPServer(s.Handler(), log)
//	srv.RegisterOnShutdown(s.StopWaiting)
//
// JSON, statuses and headers live here and nowhere below. The field table in
// fields.go is what POST and GET of /v1/fetch are decoded with, and each target
// of a batch; the table in status.go is the only place where a failure becomes
// a status, and openapi.yaml describes every answer; the tests hold the three
// together.
package api
