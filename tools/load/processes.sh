#!/usr/bin/env bash
# Measures many processes on one Postgres, and prints three tables in Markdown: what so many carry
# together, with the processor time of a call; what one carries with so many connections; and what
# they cost while nothing is to be done. Starts a Postgres of its own, with durability as shipped.
#
# PROCESSES_ONLY     one of the tables: load, connections or idle
# PROCESSES_DIR      where it works (default: target/processes)
# PROCESSES_SECONDS  how long each measurement takes (default: 8)
# PROCESSES_ROUNDS   how often each is taken, in turns (default: 2)
# PROCESSES_IDLE     how many processes stand idle (default: 100)
# PROCESSES_PORT     the port of Postgres (default: 54330)
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${PROCESSES_DIR:-$target/processes}"
seconds="${PROCESSES_SECONDS:-8}"
rounds="${PROCESSES_ROUNDS:-2}"
idle="${PROCESSES_IDLE:-100}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
if [ -z "${PROCESSES_BUILT:-}" ]; then
    cargo build --release -p recado-load -p recado-server
fi
target="$(cd "$target" && pwd)"
load="$target/release/recado-load"
server="$target/release/recado"
export RECADO_OPERATOR_TOKEN="operator-token-of-the-measurement"

. tools/load/postgres.sh
more_options="-c max_connections=$((idle * 18 + 100))"
start_postgres "$dir" "${PROCESSES_PORT:-54330}"

pids=()
# Starts so many servers on a database, one after the other. Each listens on a port of its own, from
# 18001 on.
serve() { # COUNT DATABASE OPTIONS…
    local count="$1"
    local database="$2"
    shift 2
    pids=()
    local number
    for number in $(seq 1 "$count"); do
        "$server" serve --database "$url/$database" --listen "127.0.0.1:$((18000 + number))" --log warn "$@" \
            >"$dir/server.$number.log" 2>&1 &
        pids+=($!)
        until curl -sf -o "$dir/ready" "http://127.0.0.1:$((18000 + number))/readyz"; do
            kill -0 "${pids[-1]}" || { cat "$dir/server.$number.log" >&2; exit 1; }
            sleep 0.1
        done
    done
}
stop() {
    kill "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null || true
}
# The processor time of all servers, in milliseconds.
servers_time() {
    for pid in "${pids[@]}"; do
        sed 's/^\([0-9]*\) (.*) /\1 /' "/proc/$pid/stat"
    done | awk -v ticks="$(getconf CLK_TCK)" '{ sum += $13 + $14 } END { printf "%d", sum * 1000 / ticks }'
}
# The load of 32 clients in all, shared out among so many servers. Prints how many calls they made.
calls() { # COUNT SCENARIO SECONDS
    local number clients=()
    for number in $(seq 1 "$1"); do
        "$load" run --url "http://127.0.0.1:$((18000 + number))" --manifest "$dir/data.json" \
            --operator-token "$RECADO_OPERATOR_TOKEN" --scenario "$2" --connections $((32 / $1)) \
            --seconds "$3" --json >"$dir/load.$number.json" &
        clients+=($!)
    done
    wait "${clients[@]}"
    sed 's/.*"requests":\([0-9]*\).*/\1/' "$dir"/load.*.json | awk '{ sum += $1 } END { print sum }'
    rm -f "$dir"/load.*.json
}

sql "$url/postgres" -c "CREATE DATABASE data"
"$load" dataset --database "$url/data" --contacts 10000 --messages 100000 --manifest "$dir/data.json" >/dev/null
sql "$url/data" -c "VACUUM ANALYZE"

# Prints what so many servers carry on a fresh copy of the data: a line of a table.
carried() { # NUMBER_SHOWN SCENARIO COUNT OPTIONS…
    local shown="$1" scenario="$2" count="$3" before after made
    shift 3
    sql "$url/postgres" -c "DROP DATABASE IF EXISTS run WITH (FORCE)" -c "CREATE DATABASE run TEMPLATE data"
    serve "$count" run "$@"
    calls "$count" "$scenario" 3 >/dev/null
    before="$(server_time) $(servers_time)"
    made="$(calls "$count" "$scenario" "$seconds")"
    after="$(server_time) $(servers_time)"
    echo "$before $after $made" | awk -v name="$scenario" -v shown="$shown" -v seconds="$seconds" '{
        printf "| %s | %d | %d | %.2f ms | %.2f ms |\n",
            name, shown, $5 / seconds, ($4 - $2) / $5, ($3 - $1) / $5 }'
    stop
}
# Whether a table is wanted: NAME
wanted() { [ "${PROCESSES_ONLY:-$1}" = "$1" ]; }
table() { # WHAT
    echo "| call | $1 | calls/s | server, each call | Postgres, each call |"
    echo "|---|---|---|---|---|"
}
if wanted load; then
    table processes
    for scenario in send create events page; do
        for _ in $(seq 1 "$rounds"); do
            for count in 1 2 4 8; do carried "$count" "$scenario" "$count"; done
        done
    done
    echo
fi
if wanted connections; then
    table connections
    for scenario in send create events page; do
        for _ in $(seq 1 "$rounds"); do
            for connections in 4 6 8 16 32; do
                carried "$connections" "$scenario" 1 --database-connections "$connections"
            done
        done
    done
    echo
fi
wanted idle || exit 0

sql "$url/postgres" -c "DROP DATABASE IF EXISTS run WITH (FORCE)" -c "CREATE DATABASE run TEMPLATE data"
sql "$url/run" -c "INSERT INTO companies SELECT (jsonb_populate_record(NULL::companies, to_jsonb(c) \
|| jsonb_build_object('id', gen_random_uuid()))).* FROM companies AS c, generate_series(1, 100000)"
sql "$url/run" -c "VACUUM ANALYZE"
# Each process sweeps uploads once in this time.
idle_seconds=70
echo "| idle processes | all of them | each | Postgres |"
echo "|---|---|---|---|"
for count in 1 8 "$idle"; do
    serve "$count" run
    sleep 20
    before="$(server_time) $(servers_time)"
    sleep "$idle_seconds"
    after="$(server_time) $(servers_time)"
    echo "$before $after" | awk -v count="$count" -v seconds="$idle_seconds" '{
        printf "| %d | %.2f cores | %.2f %% | %.2f cores |\n", count, ($4 - $2) / seconds / 1000,
            ($4 - $2) / seconds / 10 / count, ($3 - $1) / seconds / 1000 }'
    stop
done
