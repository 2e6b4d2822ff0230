#!/usr/bin/env bash
# Measures how long `recado company move` holds a company that is in use, and prints a table in
# Markdown: into a database that is empty, and into one that has another company. Starts a Postgres for
# each of the two cells, with durability as shipped. They, server and load share the machine.
#
# COMPANY_MOVE_DIR       where it works (default: target/company-move)
# COMPANY_MOVE_CONTACTS  contacts of the company (default: 100000)
# COMPANY_MOVE_MESSAGES  its messages (default: 1000000)
# COMPANY_MOVE_RATE      sends a second while it moves (default: 50)
# COMPANY_MOVE_BUILT     set it if the programs are built
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${COMPANY_MOVE_DIR:-$target/company-move}"
contacts="${COMPANY_MOVE_CONTACTS:-100000}"
messages="${COMPANY_MOVE_MESSAGES:-1000000}"
rate="${COMPANY_MOVE_RATE:-50}"
mkdir -p "$dir/0" "$dir/1"
dir="$(cd "$dir" && pwd)"
if [ -z "${COMPANY_MOVE_BUILT:-}" ]; then
    cargo build --release -p recado-load -p recado-server
fi
target="$(cd "$target" && pwd)"
load="$target/release/recado-load"
recado="$target/release/recado"
export RECADO_OPERATOR_TOKEN="operator-token-of-the-measurement"

. tools/load/postgres.sh
# shellcheck disable=SC2034
more_options="-c wal_level=logical"
port="${COMPANY_MOVE_PORT:-54332}"
start_postgres "$dir/1" "$((port + 1))"
target_url="$url" target_cluster="$cluster"
start_postgres "$dir/0" "$port"
stop_both() {
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null || true
    for data in "$cluster/data" "$target_cluster/data"; do
        as_server "$bin/pg_ctl" -s -m fast -D "$data" stop
    done
}
trap stop_both EXIT

field() { grep -o "\"$1\": *\"\?[^,\"}]*" "$2" | head -1 | sed 's/.*[:"] *//'; }

sql "$url/postgres" -c 'CREATE DATABASE dataset'
"$load" dataset --database "$url/dataset" --contacts "$contacts" --messages "$messages" \
    --manifest "$dir/dataset.json" >"$dir/dataset.log"
company="$(sql "$url/dataset" -c 'SELECT id FROM companies')"

echo '| into a target that | rows | seconds in all | changes repeated | held, seconds |'
echo '|---|---|---|---|---|'
for into in 'is empty' 'has a company'; do
    sql "$url/postgres" -c 'SET client_min_messages = warning' -c 'DROP DATABASE IF EXISTS source' -c 'CREATE DATABASE source TEMPLATE dataset'
    sql "$target_url/postgres" -c 'SET client_min_messages = warning' -c 'DROP DATABASE IF EXISTS target' -c 'CREATE DATABASE target'
    printf '0 = "%s/source"\n1 = "%s/target"\n' "$url" "$target_url" >"$dir/cells.toml"
    if [ "$into" != 'is empty' ]; then
        "$recado" company create First --plan enterprise --database "$url/source" --json >"$dir/first"
        "$recado" company move "$(field id "$dir/first")" --to-cell 1 --cells "$dir/cells.toml" \
            --database "$url/source" --json >"$dir/moved" 2>"$dir/moved.log"
    fi
    sql "$url/source" -c 'VACUUM ANALYZE' -c CHECKPOINT
    "$recado" serve --database "$url/source" --listen 127.0.0.1:18090 --log warn \
        >"$dir/server.log" 2>&1 &
    server=$!
    until curl -sf -o "$dir/ready" http://127.0.0.1:18090/readyz; do sleep 0.1; done
    # Its calls are refused while the company is held, and afterwards.
    "$load" run --url http://127.0.0.1:18090 --manifest "$dir/dataset.json" --scenario send \
        --connections 8 --rate "$rate" --seconds 600 >"$dir/load.log" 2>&1 &
    loading=$!
    sleep 3
    started="$(date +%s.%N)"
    "$recado" company move "$company" --to-cell 1 --cells "$dir/cells.toml" \
        --database "$url/source" --json >"$dir/moved" 2>"$dir/moved.log"
    took="$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN { printf "%.0f", b - a }')"
    kill "$loading" "$server" 2>/dev/null || true
    wait "$loading" "$server" 2>/dev/null || true
    echo "| $into | $(field total_rows "$dir/moved") | $took | $(field repeated "$dir/moved") | $(field held_seconds "$dir/moved") |"
done
