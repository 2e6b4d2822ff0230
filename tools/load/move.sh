#!/usr/bin/env bash
# Measures `recado move` from SQLite to Postgres and back, beside COPY alone, and prints a table in
# Markdown.
#
# MOVE_DIR          where the dataset and the databases are kept (default: target/move)
# MOVE_CONTACTS     contacts (default: 100000)
# MOVE_MESSAGES     messages (default: 1000000, a fifth of them on a second connection)
# MOVE_DELIVERIES   deliveries, each with its event (default: 200000)
# RECADO_POSTGRES_BIN   the directory of other Postgres binaries
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${MOVE_DIR:-$target/move}"
contacts="${MOVE_CONTACTS:-100000}"
messages="${MOVE_MESSAGES:-1000000}"
deliveries="${MOVE_DELIVERIES:-200000}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"

cargo build --release -p recado-server -p recado-load
target="$(cd "$target" && pwd)"
load="$target/release/recado-load"
recado="$target/release/recado"

. tools/load/postgres.sh
start_postgres "$dir" "${MOVE_PORT:-54331}"

row() { # WHAT SECONDS CLIENT-SECONDS SERVER-SECONDS
    awk -v what="$1" -v took="$2" -v client="$3" -v server="$4" 'BEGIN {
        printf "| %s | %.1f | %.1f | %.1f | %.1f |\n", what, took, client, server, client + server }'
}

measured() { # WHAT COMMAND…
    local what="$1" before after times
    shift
    before="$(server_time)"
    TIMEFORMAT='%R %U %S'
    if ! times="$({ time "$@" >"$dir/out" 2>"$dir/err"; } 2>&1)"; then
        cat "$dir/err" >&2
        exit 1
    fi
    after="$(server_time)"
    # shellcheck disable=SC2086
    set -- $times
    row "$what" "$1" "$(awk "BEGIN { print $2 + $3 }")" \
        "$(awk "BEGIN { print ($after - $before) / 1000 }")"
}

if [ ! -s "$dir/source.json" ]; then
    rm -f "$dir"/source.db*
    "$load" dataset --database "sqlite:$dir/source.db" --contacts "$contacts" \
        --messages $((messages * 4 / 5)) --deliveries "$deliveries" \
        --manifest "$dir/source.json.part" >/dev/null
    mv "$dir/source.json.part" "$dir/source.json"
fi
cp "$dir/source.db" "$dir/from.db"
rm -f "$dir"/from.db-* "$dir"/back.db*
cd "$dir"

sql "$url/postgres" -c 'CREATE DATABASE moved'
echo '| what | seconds | processor of recado | processor of Postgres | both |'
echo '|---|---|---|---|---|'
measured 'SQLite to Postgres' \
    "$recado" move --from "sqlite:from.db" --to "$url/moved" --json

# COPY alone: the same rows into the same tables without indexes, references and triggers.
tables="$(sql "$url/moved" -c "SELECT relname FROM pg_class WHERE relkind = 'r' \
    AND relnamespace = 'public'::regnamespace AND relpersistence = 'p' ORDER BY 1")"
sql "$url/moved" -c 'CREATE SCHEMA bare'
: >"$dir/copy.sql"
mkdir -p "$cluster/copy"
[ "$(id -u)" != 0 ] || chown "$server_user" "$cluster/copy"
for table in $tables; do
    sql "$url/moved" -c "CREATE TABLE bare.$table (LIKE public.$table INCLUDING GENERATED)" \
        -c "COPY public.$table TO '$cluster/copy/$table' (FORMAT binary)"
    echo "COPY bare.$table FROM '$cluster/copy/$table' (FORMAT binary);" >>"$dir/copy.sql"
done
measured 'COPY alone' "$bin/psql" -q1 -v ON_ERROR_STOP=1 "$url/moved" -f "$dir/copy.sql"
sql "$url/moved" -c 'DROP SCHEMA bare CASCADE' 2>/dev/null
rm -rf "$cluster/copy"

sql "$url/postgres" -c 'CREATE DATABASE again'
measured 'Postgres to Postgres' "$recado" move --from "$url/moved" --to "$url/again" --json
measured 'Postgres to SQLite' "$recado" move --from "$url/again" --to "sqlite:back.db" --json
