# Each target is one line of go, so that nobody needs make to run it.
# .ci/run does all of it and more.

PKG   ?= ./provisioning
FUZZ  ?= Fuzz
BENCH ?= .
SIZES ?= full
PROBLEMS ?= 700
TOOL  := go tool -modfile=internal/tools/go.mod

.PHONY: test laws race lint generate fuzz bench compare plans plans-check plans-gate plans-base passes measures api examples vuln sbom consumer reproducible ci

test: ## all tests
	go test ./...

laws: ## all tests, each law at all of its seeds: a quarter of an hour
	DOVETAIL_LONG=all GOGC=400 go test -timeout 60m ./...

race: ## all packages under the race detector, also those that .ci/run leaves out
	DOVETAIL_LONG=0 GOGC=400 go test -race -timeout 60m ./...

lint: ## vet, staticcheck and the rules of the repository
	go vet ./... && $(TOOL) staticcheck ./... && go test ./internal/policy

generate: ## the deep copies of the wire types
	$(TOOL) deepcopy-gen --output-file zz_generated.deepcopy.go ./api/v1 ./aws/api/v1

# Inputs stay as they were found: to make one smaller takes a minute that reaches nothing.
fuzz: ## one target: make fuzz PKG=./provisioning/requirements FUZZ=FuzzParse
	go test -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime 60s -fuzzminimizetime 0x $(PKG)

bench: ## six runs, for benchstat: make bench BENCH=Solve > new.txt
	@go test -run '^$$' -bench '$(BENCH)' -benchmem -count 6 $(PKG)

compare: ## against Karpenter, into benchmarks/RESULTS.md: make compare SIZES=small
	go -C benchmarks run ./compare -sizes $(SIZES) -o RESULTS.md

plans: ## write the fingerprints of plans and proposals, for a change that is meant to change them
	go test -run TestCorpus ./provisioning ./disruption -timeout 30m -plans=write
	go -C benchmarks test -run TestCorpus ./dovetail -timeout 30m -plans=write

plans-check: ## compare all of them, and say what differs
	go test -run TestCorpus ./provisioning ./disruption -timeout 30m -plans=check
	go -C benchmarks test -run TestCorpus ./dovetail -timeout 30m -plans=check

# The commit with which the gate compares. Move it when a change is meant to make plans dearer, and
# say why: write the hash into the files base.txt, and run make plans-base.
BASE := $(shell sed -n 's/^commit //p' provisioning/testdata/plans/base.txt)
TURNS ?= 3
CLUSTERS ?= 20,50,100,200,500
plans-gate: ## judge a change of the engine: pods left, cost, faults, proven, time, proposals, against commit BASE
	@table=$$(mktemp); failed=0; \
	go test -run TestCorpus ./provisioning ./disruption -timeout 60m -plans=gate -v > $$table 2>&1 || failed=1; \
	go -C benchmarks test -run TestCorpus ./dovetail -timeout 60m -plans=gate -v >> $$table 2>&1 || failed=1; \
	sed -n -E 's/^ +corpus_test\.go:[0-9]+: //p; /^(FAIL|panic)/p' $$table; rm $$table; \
	go -C benchmarks run ./gate -base $(BASE) -turns $(TURNS) -clusters "$(CLUSTERS)" && exit $$failed

plans-base: ## write how many answers are proven to be the best into the files base.txt
	go test -parallel 1 -run TestCorpus ./provisioning ./disruption -timeout 60m -plans=base
	go -C benchmarks test -parallel 1 -run TestCorpus ./dovetail -timeout 60m -plans=base

passes: ## what each strategy and pass of the engine is worth: make passes PROBLEMS=1000
	@go test -run TestPassesAreWorth ./provisioning -timeout 60m -v -passes=$(PROBLEMS)

OF ?= engine
measures: ## how large the packages of the engine are, and what hangs together: make measures OF=internal/engine/solve
	@go test ./internal/policy -run TestMeasures -v -measures=$(OF)

api: ## rewrite the files of the exported API and the code in Markdown
	go test ./internal/policy -update

examples: ## run every example with its defaults
	go list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./examples/... | xargs -n 1 go run

vuln: ## what the Go vulnerability database knows of what is imported; needs the network
	$(TOOL) govulncheck ./...

sbom: ## a CycloneDX bill of materials, with licenses, into dovetail.cdx.json
	$(TOOL) cyclonedx-gomod mod -licenses -json -output dovetail.cdx.json .

VERSION ?= v0.0.0
consumer: ## what a user gets who requires the commit at hand: make consumer VERSION=v0.1.0
	.ci/consumer $(VERSION)

# A copy of the tree elsewhere is built as well: neither paths nor times get into a program.
BUILD := go build -trimpath -buildvcs=false -o
reproducible: ## the examples, built in two places, are the same bytes
	@tree=$$(mktemp -d) && trap 'rm -rf "$$tree"' EXIT && mkdir "$$tree/here" "$$tree/there" && \
	  cp -r . "$$tree/copy" && $(BUILD) "$$tree/here" ./examples/... && \
	  (cd "$$tree/copy" && GOCACHE="$$tree/cache" $(BUILD) "$$tree/there" ./examples/...) && \
	  diff -r "$$tree/here" "$$tree/there" && ls "$$tree/here" | wc -l | xargs echo programs are the same:

ci: ## what has to pass before a change goes in
	.ci/run

MINOR ?= 1.37
PAIRS ?= 1000000
.PHONY: kubescheduler
kubescheduler: ## kube-scheduler judges the referee: make kubescheduler MINOR=1.36 PAIRS=5000
	benchmarks/kubescheduler/build $(MINOR) $${TMPDIR:-/tmp}/kubescheduler-$(MINOR)
	go test ./provisioning/verify -run KubeScheduler -timeout 60m -v -kubescheduler $(MINOR)=$${TMPDIR:-/tmp}/kubescheduler-$(MINOR) -pairs $(PAIRS)
	go test ./provisioning -run KubeSchedulerBinds -timeout 60m -v -kubescheduler $(MINOR)=$${TMPDIR:-/tmp}/kubescheduler-$(MINOR)
	DOVETAIL_LONG=1 go -C benchmarks test ./dovetail -run KubeScheduler -timeout 60m -v -kubescheduler $(MINOR)=$${TMPDIR:-/tmp}/kubescheduler-$(MINOR)

# A control plane is built the first time, which takes ten minutes or more.
E2E ?= Test.*
.PHONY: e2e
e2e: ## the controller on a real control plane: make e2e E2E=TestBurst
	DOVETAIL_E2E=build DOVETAIL_E2E_RESULTS=RESULTS.md go -C examples/controller test ./e2e -run '^($(E2E))$$' -count 1 -parallel 4 -timeout 90m -v

COMPARE ?= .*
.PHONY: e2e-compare
e2e-compare: ## both on a control plane, into benchmarks/RESULTS.md: make e2e-compare COMPARE=churn KARPENTER=1.15.0
	DOVETAIL_E2E=build DOVETAIL_E2E_COMPARE="$(CURDIR)/benchmarks/RESULTS.md" DOVETAIL_E2E_KARPENTER="$(KARPENTER)" go -C examples/controller test ./e2e -run '^TestCompare$$/^($(COMPARE))$$' -count 1 -timeout 180m -v
