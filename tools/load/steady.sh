#!/usr/bin/env bash
# Sends at a steady rate for half an hour, and prints a table in Markdown: how long calls took in each
# period, what they cost, and how large the tables became. Every send has its reports, and everything is
# told to one webhook. Starts a Postgres of its own, with durability as shipped. It, the server, the
# receiver and the load share the machine.
#
# STEADY_DIR       where it works (default: target/steady)
# STEADY_MINUTES   how long it takes (default: 30)
# STEADY_PERIOD    minutes of a period, at most 10 (default: 3)
# STEADY_RATE      sends a second (default: 50)
# STEADY_PORT      the port of Postgres; the receiver has the next one, the server the one after
#                  (default: 54340)
# STEADY_BUILT     set it if the programs are built
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${STEADY_DIR:-$target/steady}"
minutes="${STEADY_MINUTES:-30}"
period="${STEADY_PERIOD:-3}"
rate="${STEADY_RATE:-50}"
port="${STEADY_PORT:-54340}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
if [ -z "${STEADY_BUILT:-}" ]; then
    cargo build --release -p recado-load -p recado-server -p webhook-receiver
fi
target="$(cd "$target" && pwd)"
export RECADO_OPERATOR_TOKEN="operator-token-of-the-measurement"
export WEBHOOK_SECRET="whsec_c3RlYWR5LXN0ZWFkeS1zdGVhZHktc3RlYWR5"

. tools/load/postgres.sh
start_postgres "$dir" "$port"
stop_all() {
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null || true
    as_server "$bin/pg_ctl" -s -m fast -D "$cluster/data" stop
}
trap stop_all EXIT

sql "$url/postgres" -c 'CREATE DATABASE steady'
"$target/release/recado-load" dataset --database "$url/steady" --contacts 10000 --messages 100000 \
    --manifest "$dir/data.json" >"$dir/dataset.log"
sql "$url/steady" -c 'VACUUM ANALYZE'

LISTEN="127.0.0.1:$((port + 1))" "$target/release/webhook-receiver" >/dev/null 2>"$dir/receiver.log" &
"$target/release/recado" serve --database "$url/steady" --listen "127.0.0.1:$((port + 2))" --log warn \
    --allow-private-destinations >"$dir/server.log" 2>&1 &
server=$!
base="http://127.0.0.1:$((port + 2))"
until curl -sf -o "$dir/ready" "$base/readyz"; do
    kill -0 "$server" || { cat "$dir/server.log" >&2; exit 1; }
    sleep 0.1
done
company="$(sql "$url/steady" -c 'SELECT id FROM companies')"
curl -sf -o "$dir/webhook.json" -H "authorization: Bearer $RECADO_OPERATOR_TOKEN" \
    -H 'content-type: application/json' "$base/operator/v1/companies/$company/webhooks" \
    -d "{\"url\": \"http://127.0.0.1:$((port + 1))/\", \"events\": [\"*\"], \"secret\": \"$WEBHOOK_SECRET\"}"

# Bytes of some tables with their indexes.
size() { # TABLE…
    printf "'%s'::regclass," "$@" | sed 's/,$//; s/.*/SELECT sum(pg_total_relation_size(t)) FROM unnest(ARRAY[&]) AS t/' |
        sql "$url/steady"
}
# What grows with messages; what should only grow with contacts; what should not grow at all.
kept() { size messages message_refs message_texts messages_left_sent events audit_entries deliveries; }
people() { size contacts contact_orders contact_listings contact_search contact_sets conversations; }
working() {
    size messages_in_flight message_count_deltas contact_facet_deltas contact_set_count_deltas \
        message_counts contact_facets contact_totals jobs workers routes shards
}
server_cpu() {
    sed 's/^\([0-9]*\) (.*) /\1 /' "/proc/$server/stat" |
        awk -v ticks="$(getconf CLK_TCK)" '{ printf "%d", ($13 + $14) * 1000 / ticks }'
}
field() { sed "s/.*\"$1\": *\([0-9.]*\).*/\1/" "$dir/calls.json"; }

echo -n "| minutes | sends/s | p50 | p99 | longest | server, each send | Postgres, each send | memory "
echo "| written, each send | contacts | working | deliveries that wait |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
for from in $(seq 0 "$period" "$((minutes - period))"); do
    before="$(server_cpu) $(server_time) $(kept)"
    "$target/release/recado-load" run --url "$base" --manifest "$dir/data.json" \
        --operator-token "$RECADO_OPERATOR_TOKEN" --scenario send-reported --connections 16 \
        --rate "$rate" --seconds "$((period * 60))" --json >"$dir/calls.json"
    waiting="$(sql "$url/steady" -c 'SELECT count(*) FROM deliveries WHERE queued_at IS NOT NULL')"
    after="$(server_cpu) $(server_time) $(kept)"
    memory="$(awk '/^VmRSS/ { print $2 }' "/proc/$server/status")"
    echo "$before $after $(field requests) $(field per_second) $(field p50_us) $(field p99_us) \
$(field max_us) $memory $(people) $(working) $waiting" | awk -v from="$from" -v to="$((from + period))" '{
        printf "| %d–%d | %.0f | %.1f ms | %.1f ms | %.0f ms ", from, to, $8, $9 / 1000, $10 / 1000, $11 / 1000
        printf "| %.2f ms | %.2f ms | %.0f MB ", ($4 - $1) / $7, ($5 - $2) / $7, $12 / 1024
        printf "| %.1f kB | %.1f MB | %.1f MB | %d |\n", ($6 - $3) / $7 / 1000, $13 / 1e6, $14 / 1e6, $15 }'
done
