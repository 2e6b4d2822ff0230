#!/usr/bin/env bash
# Measures everything in docs/benchmarks.md in one run and prints tables in Markdown.
#
#   tools/load/bench.sh [sqlite] [postgres]      both without arguments
#
# BENCH_ONLY      one of baseline, messaging, deliveries, console (default: all of them)
# BENCH_DIR       where datasets and results are kept (default: target/bench); datasets that are
#                 there already are used again, so delete the directory to make new ones
# BENCH_LARGE     contacts of the large company (default: 1000000)
# BENCH_MESSAGES  messages of the company whose messages are measured (default: 1000000)
# BENCH_SECONDS   how long each measurement takes (default: 4; 10 where deliveries are measured)
# BENCH_DELIVERIES   scenarios of `deliveries`, such as "one latency" (default: all of them)
# BENCH_CLIENTS   clients that make events happen (default: 32)
# RECADO_POSTGRES_BIN   the directory of other Postgres binaries
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${BENCH_DIR:-$target/bench}"
large="${BENCH_LARGE:-1000000}"
messages="${BENCH_MESSAGES:-1000000}"
seconds="${BENCH_SECONDS:-4}"
only="${BENCH_ONLY:-}"
case "$only" in
'' | baseline | messaging | deliveries | console) ;;
*)
    echo "unknown measurement $only" >&2
    exit 2
    ;;
esac
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"

cargo build --release -p recado-server -p recado-load
load="$target/release/recado-load"
server="$target/release/recado"

find_binaries() {
    local candidate
    for candidate in "${RECADO_POSTGRES_BIN:-}" \
        "$(dirname "$(command -v initdb 2>/dev/null || true)")" \
        $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -rn); do
        if [ -x "$candidate/initdb" ] && [ -x "$candidate/createdb" ]; then
            echo "$candidate"
            return
        fi
    done
    echo "no Postgres found: install the package 'postgresql' or set RECADO_POSTGRES_BIN" >&2
    exit 1
}

# Postgres refuses to run as root.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && exec runuser -u "$server_user" -- "$@")
    else
        (cd / && exec "$@")
    fi
}

# As shipped but for its memory. Durability stays on: fsync, full_page_writes and synchronous_commit are
# what they are in production.
start_postgres() {
    bin="$(find_binaries)"
    server_user=postgres
    id -u postgres >/dev/null 2>&1 || server_user=nobody
    cluster="$dir/postgres"
    if [ ! -d "$cluster/data" ]; then
        mkdir -p "$cluster"
        [ "$(id -u)" != 0 ] || chown "$server_user" "$cluster"
        as_server "$bin/initdb" -U postgres -A trust -E UTF8 --locale=C -D "$cluster/data" >/dev/null
    fi
    port="${BENCH_PORT:-54329}"
    local options="-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories='$cluster'"
    options="$options -c shared_buffers=1GB -c max_wal_size=4GB -c max_connections=200"
    as_server "$bin/pg_ctl" -s -w -D "$cluster/data" -l "$cluster/log" -o "$options" start
    trap 'as_server "$bin/pg_ctl" -s -m fast -D "$cluster/data" stop' EXIT
}

dataset() { # NAME DATABASE CONTACTS MESSAGES
    if [ ! -s "$dir/$1.json" ]; then
        echo "making $3 contacts and $4 messages in $2" >&2
        "$load" dataset --database "$2" --contacts "$3" --messages "$4" --manifest "$dir/$1.json.part" >/dev/null
        mv "$dir/$1.json.part" "$dir/$1.json"
    fi
}

is_wanted() { # MEASUREMENT
    [ -z "$only" ] || [ "$only" = "$1" ]
}

# The datasets that are needed: NAME:CONTACTS:MESSAGES
datasets() {
    ! is_wanted baseline || echo small:10000:0 large:"$large":0 scratch:1000:0
    ! is_wanted messaging || echo messaging:10000:"$messages"
}

measure() { # STORE DATABASE-OF-DELIVERIES DATABASE-OF-THE-CONSOLE
    printf '\n## %s\n\n' "$1"
    if is_wanted baseline; then
        "$load" baseline --server "$server" --seconds "$seconds" \
            --small "$dir/$1-small.json" --large "$dir/$1-large.json" \
            --scratch "$dir/$1-scratch.json" --json "$dir/$1-results.json"
    fi
    if is_wanted messaging; then
        "$load" messaging --server "$server" --seconds "$seconds" --data "$dir/$1-messaging.json" \
            --json "$dir/$1-messaging-results.json"
    fi
    if is_wanted deliveries; then
        local scenario scenarios=()
        for scenario in ${BENCH_DELIVERIES:-}; do
            scenarios+=(--scenario "$scenario")
        done
        "$load" deliveries --server "$server" --database "$2" --clients "${BENCH_CLIENTS:-32}" \
            --seconds "${BENCH_SECONDS:-10}" ${scenarios[@]+"${scenarios[@]}"} \
            --json "$dir/$1-deliveries-results.json"
    fi
    if is_wanted console; then
        "$load" console --server "$server" --database "$3"
    fi
}

stores=("$@")
[ "${#stores[@]}" -gt 0 ] || stores=(sqlite postgres)

printf '%s, %s cores, %s\n' "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)" \
    "$(nproc)" "$(date -u +%Y-%m-%dT%H:%MZ)"
for store in "${stores[@]}"; do
    case "$store" in
    sqlite)
        for data in $(datasets); do
            IFS=: read -r name contacts messaging <<<"$data"
            # An interrupted run leaves half a dataset.
            [ -s "$dir/sqlite-$name.json" ] || rm -f "$dir/sqlite-$name.db"*
            dataset "sqlite-$name" "sqlite:$dir/sqlite-$name.db" "$contacts" "$messaging"
        done
        # What deliveries leave behind is not worth keeping.
        rm -f "$dir/sqlite-deliveries.db"* "$dir/sqlite-console.db"*
        deliveries="sqlite:$dir/sqlite-deliveries.db"
        console="sqlite:$dir/sqlite-console.db"
        ;;
    postgres)
        start_postgres
        for data in $(datasets); do
            IFS=: read -r name contacts messaging <<<"$data"
            url="postgres://postgres@127.0.0.1:$port/recado_$name"
            if [ ! -s "$dir/postgres-$name.json" ]; then
                "$bin/dropdb" -h 127.0.0.1 -p "$port" -U postgres --if-exists "recado_$name"
                "$bin/createdb" -h 127.0.0.1 -p "$port" -U postgres -T template0 "recado_$name"
            fi
            dataset "postgres-$name" "$url" "$contacts" "$messaging"
        done
        for name in deliveries console; do
            "$bin/dropdb" -h 127.0.0.1 -p "$port" -U postgres --if-exists "recado_$name"
            "$bin/createdb" -h 127.0.0.1 -p "$port" -U postgres -T template0 "recado_$name"
        done
        deliveries="postgres://postgres@127.0.0.1:$port/recado_deliveries"
        console="postgres://postgres@127.0.0.1:$port/recado_console"
        ;;
    *)
        echo "unknown store $store" >&2
        exit 2
        ;;
    esac
    measure "$store" "$deliveries" "$console"
done
