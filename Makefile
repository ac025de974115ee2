# Two commands for a newcomer: `make demo` and `make test`.
# `make check` is quick enough to run before each commit.

SHELL := /bin/bash
GO ?= go
TOOL := $(GO) tool -modfile=tools/tools.mod
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
BUILD := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'

# Concurrency lives in these packages. Of those that compile the SQLite driver
# with -race, which takes minutes on a slow machine, only the pipeline is here.
RACE := ./internal/pipeline ./internal/gate ./internal/fetch ./internal/guard ./internal/auth ./internal/api ./internal/metrics ./internal/client ./internal/child ./internal/fanout ./internal/pdfpool ./internal/batch ./internal/archive

# The files and packages of testdata/questions that are Debian's.
DOCUMENTS := /usr/share/doc/debian-policy/policy.html/ch-archive.html:debian-policy /usr/share/doc/base-passwd/users-and-groups.html:base-passwd

.PHONY: build demo test check lint fmt race fuzz bench soak quality train cross deps clean

build: ## bin/sift
	$(BUILD) -o bin/sift ./cmd/sift

demo: build ## sift at work on a local site of real pages; no network needed
	$(GO) run ./demo -sift bin/sift

test: deps build ## every test, against real SQLite and the real binary
	$(GO) test -timeout 30m ./...

check: fmt lint ## format, lint, vet and the quick tests: run before each commit
	$(GO) test -short ./...

fmt: ## fails when a file is not formatted, and names it
	@test -z "$$(gofmt -l . | tee /dev/stderr)"

lint: ## vet and the linters of .golangci.yml
	$(GO) vet ./...
	cd tools/poolbench && $(GO) vet ./...
	cd tools/extractors && $(GO) vet ./...
	$(TOOL) golangci-lint run

race: ## the race detector where concurrency lives
	$(GO) test -race $(RACE)

fuzz: ## each fuzzer for FUZZTIME (default 20s), those that read pages for FUZZPAGES (default FUZZTIME)
	./tools/fuzz.sh $${FUZZTIME:-20s} $${FUZZPAGES:-$${FUZZTIME:-20s}}

bench: build ## throughput, latency, memory and CPU figures
	$(GO) test -run '^$$' -bench . -benchtime 1s ./internal/...
	cd tools/poolbench && $(GO) run .
	$(GO) run ./tools/bench -sift bin/sift
	@./tools/deps.sh pdftotext:poppler-utils
	$(GO) run ./tools/pdfbench -sift bin/sift

soak: build ## minutes of batches from many callers against a hostile site, beside interactive load
	$(GO) run ./tools/soak -sift bin/sift

quality: ## how well questions find their passages, beside plain BM25, and main content, beside other extractors
	@./tools/deps.sh $(DOCUMENTS)
	$(GO) run ./tools/quality -documents
	@if [ -e $${SIFT_WCXB:-../shared/wcxb}/ground-truth.jsonl.gz ]; then \
		data=$$(realpath $${SIFT_WCXB:-../shared/wcxb}); models=$$(realpath bin/train/models 2>/dev/null || true); \
		cd tools/extractors && $(GO) run . -data $$data -models "$$models"; \
	else echo "main content: not measured; SIFT_WCXB names the folder of the benchmark's pages"; fi

train: ## learn the choice of the main content anew, from the pages in $$SIFT_WCXB, with figures by cross-validation
	@/usr/bin/python3 -c 'import numpy, scipy, xgboost' 2>/dev/null || ./tools/deps.sh /nowhere:python3-numpy /nowhere:python3-scipy /nowhere:python3-xgboost
	$(GO) run ./tools/train -data $${SIFT_WCXB:-../shared/wcxb} -rows bin/train
	/usr/bin/python3 tools/train/train.py bin/train bin/train/models
	cp bin/train/models/model.bin internal/maincontent/model.bin
	$(GO) run ./tools/train -data $${SIFT_WCXB:-../shared/wcxb} -score bin/train/models

cross: ## the platforms of a release
	GOOS=linux GOARCH=amd64 $(BUILD) -o dist/sift-linux-amd64 ./cmd/sift
	GOOS=linux GOARCH=arm64 $(BUILD) -o dist/sift-linux-arm64 ./cmd/sift
	GOOS=darwin GOARCH=amd64 $(BUILD) -o dist/sift-darwin-amd64 ./cmd/sift
	GOOS=darwin GOARCH=arm64 $(BUILD) -o dist/sift-darwin-arm64 ./cmd/sift

deps: ## what the tests need: Go modules, and Debian's tesseract-ocr, jq and debian-policy when there are none
	$(GO) mod download
	@./tools/deps.sh tesseract:tesseract-ocr jq:jq $(DOCUMENTS)

clean:
	rm -rf bin dist
