# Each target brings its own set-up on a bare Debian 12 machine with Rust (see scripts/setup),
# reaches only the package registries for it, and otherwise stays on the loopback interface.
#
#   make build    the release binary: target/release/halyard
#   make test     format, lints, the house's rules, every test, end to end: what a change must pass
#   make check    what needs no running program: format, lints, rules, dependencies and licences
#   make demo     the guide's story, played on an empty directory        (ARGS="--keep" and others)
#   make bench    the speed of this machine and of Halyard on it, then Halyard beside its peers
#   make bench-server    the first of the two alone                      (ARGS="--quick" and others)
#   make bench-peers     the second alone, with what it needs            (ARGS="…")
#   make bench-dashboard     the pages, with a million jobs, about 15 minutes
#   make bench-postgres  the first on a PostgreSQL of its own, which syncs (ARGS="--quick" and others)
#   make clean    all that was built here
#
# A stage is one line: $(STAGE) name command. It can be run by itself as it stands.

SHELL := /bin/bash
export PATH := $(CURDIR)/.tools/node/node_modules/.bin:$(PATH):$(HOME)/.cargo/bin
export CARGO_TARGET_DIR ?= $(CURDIR)/target
export STAGES = $(CARGO_TARGET_DIR)/stages/$@

BINARY := $(CARGO_TARGET_DIR)/release/halyard
SETUP := @scripts/setup
STAGE := @scripts/stage run
BEGIN := @scripts/stage begin
END := @scripts/stage end

BUILD := cargo build --release --locked --quiet -p halyard-server --bin halyard
# Runs a stage beside a Redis and a PostgreSQL of its own, or beside the services that it names.
BESIDE := scripts/services run
# One choice of packages and features, so that nothing is compiled a second time with others.
ALL := --locked --workspace --features halyard/redis,halyard/postgres
CRATES := $(ALL) --exclude halyard-house --exclude halyard-tests
END_TO_END := cargo test --locked -p halyard-tests
# Biome finds its settings from the folder it runs in.
BIOME := env -C examples ../sdk/node/node_modules/.bin/biome ci
SDK_PYTHON := sdk/python/scripts
BILLING_PYTHON := examples/billing/python/scripts
FRAMEWORKS := examples/frameworks/scripts

.PHONY: help build test test-release test-lints test-crates test-sdks test-postgres test-cases
.PHONY: check demo bench bench-server bench-peers bench-dashboard bench-postgres clean python-requirements
ifndef LANES
.NOTPARALLEL:
endif

help:
	@sed -n 's/^#   make/make/p' Makefile

build:
	$(SETUP) dashboard
	$(BUILD)
	@echo "built $(BINARY)"

test: export HALYARD_BIN = $(BINARY)
# Where the runners of sdk/scenarios record what passed.
test: export SCENARIO_RESULTS = $(STAGES)/scenarios
# Two lanes side by side, since many stages wait more than they compute: each target below is one
# piece of a lane, which begins when what it builds on is there.
test:
	$(BEGIN)
	$(SETUP) build
	$(SETUP) python
	$(SETUP) sdk-python
	$(SETUP) curl
	$(SETUP) faketime
	$(SETUP) services
	$(SETUP) node
	$(SETUP) dashboard
	$(SETUP) chromium
	$(SETUP) billing-node
	$(SETUP) billing-python
	$(SETUP) lesson
	$(SETUP) frameworks
	@$(MAKE) --no-print-directory -j2 LANES=1 STAGES=$(STAGES) \
		test-release test-lints test-crates test-sdks test-postgres test-cases
	$(STAGE) scenarios scripts/scenario-table $(SCENARIO_RESULTS)
	$(END)

test-release:
	$(STAGE) release $(BUILD)

test-lints:
	$(STAGE) format cargo fmt --all --check
	$(STAGE) house cargo test --locked -p halyard-house
	$(STAGE) lints cargo clippy $(ALL) --all-targets -- -D warnings
	$(STAGE) sdk-node-lints npm --prefix sdk/node run lint
	$(STAGE) dashboard-lints npm --prefix dashboard run lint
	$(STAGE) examples-lints $(BIOME) billing/node lesson/node frameworks
	$(STAGE) sdk-python-lints $(SDK_PYTHON)/check
	$(STAGE) billing-python-lints $(BILLING_PYTHON)/check
	$(STAGE) lesson-lints examples/lesson/check
	$(STAGE) frameworks-lints $(FRAMEWORKS)/check
	$(STAGE) bench-peers-lints bench/peers/check
	$(STAGE) dashboard npm --prefix dashboard test

test-crates: test-release test-lints
	$(STAGE) tests $(BESIDE) --redis --postgres --pgbouncer cargo test $(CRATES)
	$(STAGE) planted-bugs $(BESIDE) --postgres cargo test $(CRATES) --features halyard-store/planted-bugs --test planted

test-sdks: test-release
	$(STAGE) schemathesis scripts/schemathesis/run
	$(STAGE) dashboard-browser env SCREENSHOTS=$(STAGES)/screenshots npm --prefix dashboard run test:browser
	$(STAGE) sdk-node $(BESIDE) npm --prefix sdk/node test
	$(STAGE) sdk-python $(BESIDE) $(SDK_PYTHON)/test
	$(STAGE) billing-node $(BESIDE) npm --prefix examples/billing/node test
	$(STAGE) billing-python $(BESIDE) $(BILLING_PYTHON)/test
	$(STAGE) lesson examples/lesson/test
	$(STAGE) frameworks $(FRAMEWORKS)/test

test-postgres: test-release test-lints
	$(STAGE) end-to-end $(END_TO_END) --lib
	$(STAGE) postgres $(BESIDE) --postgres --postgres18 --pgbouncer $(END_TO_END) --test postgres
	$(STAGE) postgres-many $(BESIDE) --postgres $(END_TO_END) --test postgres_many
	$(STAGE) postgres-failures $(BESIDE) --postgres $(END_TO_END) --test postgres_failures -- --test-threads 2
	$(STAGE) upgrades $(BESIDE) --postgres $(END_TO_END) --test upgrades

test-cases: test-release test-lints
	$(STAGE) power-cut $(END_TO_END) --test power_cut
	$(STAGE) cli $(END_TO_END) --test cli
	$(STAGE) docs $(BESIDE) --postgres $(END_TO_END) --test docs
	$(STAGE) cases $(END_TO_END) --test cases -- --test-threads 12
	$(STAGE) cases-postgres $(BESIDE) --postgres --pgbouncer env HALYARD_TEST_STORE=pgbouncer $(END_TO_END) --test cases -- --test-threads 12 --skip clock:: --skip disk_full::
	$(STAGE) workers $(END_TO_END) --test workers -- --test-threads 12
	$(STAGE) kill $(END_TO_END) --test kill killed_under_load_it
	$(STAGE) kill-postgres $(BESIDE) --postgres $(END_TO_END) --test kill killed_under_load_three
	$(STAGE) demo $(END_TO_END) --test demo

check:
	$(BEGIN)
	$(SETUP) deny
	$(SETUP) node
	$(SETUP) dashboard
	$(SETUP) billing-python
	$(SETUP) frameworks
	$(STAGE) format cargo fmt --all --check
	$(STAGE) house cargo test --locked -p halyard-house
	$(STAGE) lints cargo clippy $(ALL) --all-targets -- -D warnings
	$(STAGE) dependencies scripts/check-dependencies
	$(STAGE) sdk-node-lints npm --prefix sdk/node run lint
	$(STAGE) dashboard-lints npm --prefix dashboard run lint
	$(STAGE) examples-lints $(BIOME) billing/node lesson/node frameworks
	$(STAGE) sdk-python-lints $(SDK_PYTHON)/check
	$(STAGE) billing-python-lints $(BILLING_PYTHON)/check
	$(STAGE) lesson-lints examples/lesson/check
	$(STAGE) frameworks-lints $(FRAMEWORKS)/check
	$(STAGE) bench-peers-lints bench/peers/check
	$(END)

demo: build
	@$(BINARY) demo $(ARGS)

bench:
	@$(MAKE) --no-print-directory bench-server
	@$(MAKE) --no-print-directory bench-peers ARGS=

bench-server: build
	@$(BINARY) bench $(ARGS)

bench-dashboard: build
	$(SETUP) chromium
	HALYARD_BIN=$(BINARY) npm --prefix dashboard run bench

# Shared memory and checkpoints as its documentation advises for many writes; everything is synced.
# `sslmode=disable`: what is measured is the database, over loopback.
BENCH_POSTGRES := fsync=on synchronous_commit=on shared_buffers=1GB max_wal_size=4GB checkpoint_timeout=15min
# On the disk: the temporary folder of a system may lie in memory.
bench-postgres: export TMPDIR = /var/tmp
bench-postgres: export HALYARD_TEST_POSTGRES_SETTINGS = $(BENCH_POSTGRES)
bench-postgres: build
	$(SETUP) services
	@$(BESIDE) --postgres bash -c '"$$0" bench --database-url "$$HALYARD_TEST_POSTGRES_URL?sslmode=disable" "$$@"' $(BINARY) $(ARGS)

bench-peers: build
	$(SETUP) peers
	@HALYARD_BIN=$(BINARY) bench/peers/run $(ARGS)

clean:
	cargo clean
	rm -rf .tools dashboard/built/dist dashboard/node_modules sdk/node/dist sdk/node/node_modules examples/*/node/node_modules
	rm -rf examples/frameworks/{node_modules,.next,next/.next}

# The compiler of requirements; used by hand only.
UV := 0.13.9

# Pins the Python tools anew from each python-requirements.in, for every Python from 3.11 on.
python-requirements:
	$(SETUP) python
	@.tools/py/bin/pip install --quiet uv==$(UV)
	@for folder in scripts sdk/python bench/peers examples/billing/python \
	    examples/frameworks; do \
	    (cd $$folder && $(CURDIR)/.tools/py/bin/uv pip compile --quiet --universal \
	        --python-version 3.11 --generate-hashes --no-header python-requirements.in \
	        --output-file python-requirements.txt && \
	    sed -i '1i # Made from python-requirements.in by: make python-requirements' \
	        python-requirements.txt) || exit 1; \
	done
