#!/usr/bin/env bash
# Measures what traces cost: the processor time of a server for each request, of the same binary
# without a collector and with one, in turn, and prints a table in Markdown.
#
# TRACES_DIR      where the datasets are (default: target/traces)
# TRACES_SECONDS  how long each measurement takes (default: 5)
# TRACES_ROUNDS   how often each is taken; the middle one counts (default: 5)
# TRACES_PLAIN    a binary without the feature, to be measured too
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${TRACES_DIR:-$target/traces}"
seconds="${TRACES_SECONDS:-5}"
rounds="${TRACES_ROUNDS:-5}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"

cargo build --release -p recado-load
cargo build --release -p recado-server --features otlp
target="$(cd "$target" && pwd)"
load="$target/release/recado-load"
token="operator-token-of-the-measurement"

work="$(mktemp -d "$dir/run.XXXXXX")"
pids=()
finish() {
    kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# A collector that takes everything and looks at nothing.
python3 -c '
import http.server, sys
class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
print(server.server_port, flush=True)
server.serve_forever()
' >"$work/collector" &
pids+=($!)
until [ -s "$work/collector" ]; do sleep 0.05; done
collector="http://127.0.0.1:$(cat "$work/collector")"

# Starts a server on a dataset of its own. Sets `pid_of` and `url_of`.
declare -A pid_of url_of
serve() {
    local name="$1" binary="$2"
    shift 2
    mkdir -p "$work/$name"
    "$load" dataset --database "sqlite:$work/$name/r.db" --contacts 10000 --messages 20000 \
        --manifest "$work/$name/manifest.json" >/dev/null 2>&1
    "$binary" serve --database "sqlite:$work/$name/r.db" --documents "file:$work/$name/documents" \
        --listen 127.0.0.1:0 --operator-token "$token" --log warn "$@" \
        >"$work/$name/out" 2>"$work/$name/log" &
    pid_of[$name]=$!
    pids+=($!)
    until grep -qs '^listening on ' "$work/$name/out"; do sleep 0.05; done
    url_of[$name]="$(sed -n 's/^listening on //p' "$work/$name/out")"
}

# Milliseconds of processor time that a process has used.
used() {
    sed 's/^.*) //' "/proc/$1/stat" \
        | awk -v ticks="$(getconf CLK_TCK)" '{ printf "%d", ($12 + $13) * 1000 / ticks }'
}

answered() {
    curl -sf "$1/metrics" | awk '/^recado_http_requests_total/ { sum += $NF } END { printf "%d", sum }'
}

servers=(off on)
serve off "$target/release/recado"
serve on "$target/release/recado" --otlp-endpoint "$collector"
if [ -n "${TRACES_PLAIN:-}" ]; then
    servers=(plain off on)
    serve plain "$TRACES_PLAIN"
fi

middle() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

printf '| what | %s |\n' "$(printf '%s | ' "${servers[@]}" | sed 's/ | $//')"
printf '|---|%s\n' "$(printf -- '---|%.0s' "${servers[@]}")"
for scenario in page send; do
    for ((round = 0; round < rounds; round++)); do
        for name in "${servers[@]}"; do
            pid="${pid_of[$name]}" url="${url_of[$name]}"
            cpu="$(used "$pid")" calls="$(answered "$url")"
            "$load" run --url "$url" --manifest "$work/$name/manifest.json" --scenario "$scenario" \
                --connections 8 --seconds "$seconds" >/dev/null
            cpu=$(($(used "$pid") - cpu)) calls=$(($(answered "$url") - calls))
            echo $((cpu * 1000 / calls)) >>"$work/$name/$scenario"
        done
    done
    printf '| %s |' "$scenario"
    for name in "${servers[@]}"; do
        printf ' %s µs |' "$(middle <"$work/$name/$scenario")"
    done
    printf '\n'
done
grep -h 'traces' "$work/on/log" >&2 || true
