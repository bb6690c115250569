# Each target is one line of go, so that nobody needs make to run it.
# .ci/run does all of it and more.

PKG   ?= ./provisioning
FUZZ  ?= Fuzz
BENCH ?= .
SIZES ?= full
TOOL  := go tool -modfile=internal/tools/go.mod

.PHONY: test lint fuzz bench compare api examples ci

test: ## all tests
	go test ./...

lint: ## vet, staticcheck and the rules of the repository
	go vet ./... && $(TOOL) staticcheck ./... && go test ./internal/policy

fuzz: ## one target: make fuzz PKG=./provisioning/requirements FUZZ=FuzzParse
	go test -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime 60s $(PKG)

bench: ## six runs, for benchstat: make bench BENCH=Solve > new.txt
	@go test -run '^$$' -bench '$(BENCH)' -benchmem -count 6 $(PKG)

compare: ## against Karpenter, into benchmarks/RESULTS.md: make compare SIZES=small
	go -C benchmarks run ./compare -sizes $(SIZES) -o RESULTS.md

api: ## rewrite the files of the exported API and the code in Markdown
	go test ./internal/policy -update

examples: ## run every example with its defaults
	go list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./examples/... | xargs -n 1 go run

ci: ## what has to pass before a change goes in
	.ci/run
