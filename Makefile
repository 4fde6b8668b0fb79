# The commands of the house. Everything they need beyond Go they install
# themselves, under versions that are pinned in the repository.

GO    ?= go
TOOLS := $(GO) tool -modfile=test/tools/go.mod
FUZZ  ?= 30s
CHAOS ?= 30m
# Runs go test, with a line for each package and each long test.
PROGRESS := $(GO) run ./test/progress

.PHONY: help run app screens test modules packages stepwise atonce drivers raced FORCE deps check bench chaos soak soak-chaos soak-web soak-cluster soak-rest soak-random fuzz release

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start a node on http://127.0.0.1:8080 with its data in ./ubl-data
	$(GO) run ./cmd/ubl serve

app: ## build the app that the server embeds, transport/web/dist, from its source
	./transport/web/app/build.sh

SCREENS ?= test/web/screenshots
screens: ## take pictures of the app's screens, in both sizes, all themes and from right to left, into SCREENS
	UBL_SCREENSHOTS=$(abspath $(SCREENS)) $(GO) test ./test/web -count=1 -run 'TestScreens|TestPages|TestWelcome|TestPalette|TestLanguages|TestContrastAndSize'

# What a test needs and doesn't find makes it fail; UBL_NEED_ALL= leaves it out.
test: export UBL_NEED_ALL ?= 1

# What takes longest begins first.
LONGEST := ./cluster ./test/e2e ./portal

# The tests of these mostly ask one thing after another. Those that do something at once run with the
# race detector, and the others of the same packages without it, in a quarter of their time: see
# test/atonce, which tells them apart. LONG are tens of thousands of the same command at once, which
# the detector would take minutes for; shorter tests do that, too. `make soak` gives it to all.
LONG := TestBusyRoomDayAfterDay|TestKeyWindow|TestKeysWithoutFilters|TestLoadAfterABusyDay|TestLongHistory|TestManyOrphans|TestOnceWithinADay|TestPendingHasABound
STEPWISE := ./archive ./test/actors ./actors ./cmd/ubl ./storage ./transport/mcp ./transport/api ./actors/tenant ./transport/oauth ./actors/container \
	./actors/person ./actors/portal ./actors/room ./actors/agreement ./actors/reading . ./blobs/bucket ./cluster/placement ./cluster/wire \
	./confine ./durable ./gateway/check ./office ./portal/openapi ./schemas ./test ./test/atonce ./test/harness ./test/memstore ./test/progress \
	./test/soak ./test/upgrade ./test/verifier ./transport/envelope ./transport/mcp/find ./transport/web

# These have nothing of the house in their own process: nodes, browsers and others' clients run beside
# them. A race detector would see the drivers alone and take half of their time; `make soak` gives it to them.
DRIVERS := ./test/web ./test/chaos ./test/mcp ./test/powerloss ./test/openapi ./test/deploy

# Properties are tried on the same few cases each time. check has vetted everything.
test: export RAPID_SEED ?= 1
test: export RAPID_CHECKS ?= 50
test: deps check ## check the code and run every test with the race detector
	$(MAKE) -k -j 3 drivers packages stepwise atonce modules # and tells of all that fails

# Those that start the program share one.
packages stepwise atonce drivers: export UBL_BIN ?= $(CURDIR)/.cache/ubl
.cache/ubl: FORCE
	GOGC=400 $(GO) build -o $@ ./cmd/ubl

# The detector's form of everything, which a fresh machine compiles first: with the memory that check
# has, too, but without the tests having it.
raced:
	GOGC=400 $(GO) build -race ./...

packages: .cache/ubl raced # the program's own
	$(PROGRESS) -p 2 -race -vet=off -timeout 40m $(LONGEST) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(DRIVERS) $(STEPWISE))")

stepwise: .cache/ubl # what they ask one after another
	$(PROGRESS) -p 2 -vet=off -timeout 40m -skip "$$($(GO) run ./test/atonce names -but='$(LONG)' $(STEPWISE))" $(STEPWISE)

atonce: .cache/ubl raced # and at once
	$(PROGRESS) -p 2 -race -vet=off -timeout 40m -run "$$($(GO) run ./test/atonce names -but='$(LONG)' $(STEPWISE))" $$($(GO) run ./test/atonce packages -but='$(LONG)' $(STEPWISE))

drivers: .cache/ubl # those that look at it from outside
	$(PROGRESS) -p 3 -vet=off -timeout 40m $(DRIVERS)

modules: # those beside it, while the others wait for clusters and browsers
	cd deploy/release && $(GO) test -vet=off ./...
	cd test/tools/manifests && GOGC=400 $(GO) test -vet=off -short .
	cd test/bench && GOGC=400 $(GO) test -vet=off ./...

# A soak is done whole or part by part, on as many days: each part puts what it did into the same
# file, each package as soon as it has ended. RUN names some of a part's tests, and PACKAGES some of
# the rest, where the whole part takes too long for a machine.
PARTS := chaos web cluster rest random
PART  ?= $(PARTS)
RUN   ?=
SOAK  := $(PROGRESS) -results -p 1 -race -vet=off -timeout $(or $(SOAK_TIMEOUT),170m) $(if $(RUN),-run '$(RUN)')
SOAKS := $(PARTS:%=soak-%)
$(if $(filter-out $(PARTS),$(PART)),$(error PART is some of: $(PARTS)))

soak $(SOAKS): export UBL_SOAK := 1
soak $(SOAKS): export UBL_NEED_ALL ?= 1
soak $(SOAKS): export UBL_SCREENSHOTS ?= $(CURDIR)/test/web/screenshots
soak $(SOAKS): export RAPID_CHECKS ?= 2000
soak: deps check $(PART:%=soak-%) ## run every long matrix with new seeds, or PART="chaos web cluster rest random"; writes SOAK.md

soak-chaos: ; $(SOAK) ./test/chaos
soak-web: ; $(SOAK) ./test/web
soak-cluster: ; $(SOAK) ./cluster
soak-rest:
	$(SOAK) $(or $(PACKAGES),$$($(GO) list ./... | grep -vE '^ubl/(test/chaos|test/web|cluster)$$'))
	for module in deploy/release test/tools/manifests test/bench; do (cd $$module && $(GO) vet ./... && $(GO) test -vet=off ./...) || exit 1; done
soak-random: ; $(MAKE) chaos

deps: # what the tests need beyond Go
	@./test/tools/deps.sh

# What compiles and checks lives for seconds: with more memory it takes two thirds of the time.
check: export GOGC ?= 400
check: ## gofmt, vet, staticcheck, and govulncheck where its database is reachable
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOLS) staticcheck ./...
	@./test/tools/vulncheck.sh

bench: ## measure side by side with peers; writes test/bench/results
	cd test/bench && $(GO) run . $(BENCHFLAGS)

chaos: ## break the nodes of a cluster at random for CHAOS (30m); writes test/chaos/results
	CHAOS_DURATION=$(CHAOS) $(GO) test -run TestChaosLong -count=1 -timeout 0 -v ./test/chaos

fuzz: ## run every fuzz target for FUZZ (30s) each
	@./test/tools/fuzz.sh $(FUZZ)

# A tag vX.Y.Z names a release; any other commit is named after the source's version and itself.
release: export VERSION := $(shell sed -n 's/^const release = "\(.*\)"/\1/p' cmd/ubl/version.go)
release: export COMMIT := $(shell git rev-parse HEAD)
release: export SHORT := $(shell git rev-parse --short=8 HEAD)
release: export COMMIT_SECONDS := $(shell git show -s --format=%ct HEAD)
release: export COMMIT_TIME := $(shell TZ=UTC git show -s --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD)
release: TAGGED := $(shell git describe --exact-match --tags HEAD >/dev/null 2>&1 || echo --snapshot)
release: ## archives, packages, bills of materials, checksums and the container image, in dist/; PUSH=NAME gives the image to a registry
	$(GO) build -C deploy/release -o $(CURDIR)/.cache/release .
	$(GO) tool -modfile=deploy/release/go.mod goreleaser release --config deploy/release/goreleaser.yaml --clean --skip=publish,announce $(TAGGED)
	./deploy/release/image.sh $(PUSH)
