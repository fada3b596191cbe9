.DEFAULT_GOAL := help
GO ?= go
SEEDS ?= 2000
BENCHTIME ?= 1s

help: ## what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test: ## everything that tests hotsplit, the nested module devstack/ too
	$(GO) test -timeout 20m ./...
	cd devstack && $(GO) test -timeout 20m ./...

race: ## the tests under the race detector
	$(GO) test -race -short ./...

lint: ## gofmt, go vet, staticcheck, workflowcheck and the import rule
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-clean:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) tool workflowcheck ./renewal/temporalsaga
	$(GO) test -count=1 -run 'TestImports|TestPackageComments' .

sim: ## SEEDS=n whole moves under faults, in virtual time
	$(GO) test -count=1 -timeout 0 -run 'TestSim$$$$' -v ./migrate/proof -args -seeds $(SEEDS)

bench: ## speed as ratios measured in one run
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) ./shard ./fanout ./heat ./emulator/...

generate: ## rewrite generated files and golden texts
	$(GO) generate ./...

verify: generate ## generated files are up to date
	@git diff --exit-code || { echo "generate changed files: commit them"; exit 1; }

.PHONY: help test race lint sim bench generate verify
