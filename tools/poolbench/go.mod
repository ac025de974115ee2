module sift.build/sift/tools/poolbench

go 1.26.0

replace sift.build/sift => ../..

require (
	github.com/alitto/pond/v2 v2.7.1
	github.com/sourcegraph/conc v0.3.0
	golang.org/x/sync v0.25.0
	sift.build/sift v0.0.0-00010101000000-000000000000
)

require (
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.9.0 // indirect
)
