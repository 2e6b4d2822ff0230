# A Postgres of a measurement's own, with durability as shipped: sourced by the scripts beside it.
#
#   start_postgres DIR PORT     starts it below DIR; its URL is in $url, and it stops with the script
#   server_time                 the processor time of all its processes, in milliseconds
#
# RECADO_POSTGRES_BIN names the directory of other binaries. A script may set $more_options before.

start_postgres() {
    local dir="$1" port="$2" options
    bin="${RECADO_POSTGRES_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -rn | head -1)}"
    if [ ! -x "$bin/initdb" ]; then
        echo "no Postgres found: install the package 'postgresql' or set RECADO_POSTGRES_BIN" >&2
        exit 1
    fi
    server_user=postgres
    id -u postgres >/dev/null 2>&1 || server_user=nobody

    # Memory for a machine of a few gigabytes.
    cluster="$dir/postgres"
    if as_server "$bin/pg_ctl" -s -D "$cluster/data" status >/dev/null 2>&1; then
        echo "another measurement is under way in $dir" >&2
        exit 1
    fi
    rm -rf "$cluster"
    mkdir -p "$cluster"
    chmod 755 "$dir"
    [ "$(id -u)" != 0 ] || chown "$server_user" "$cluster"
    as_server "$bin/initdb" -U postgres -A trust -E UTF8 --locale=C -D "$cluster/data" >/dev/null
    options="-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories='$cluster'"
    options="$options -c shared_buffers=512MB -c max_wal_size=4GB ${more_options:-}"
    as_server "$bin/pg_ctl" -s -w -D "$cluster/data" -l "$cluster/log" -o "$options" start
    trap 'as_server "$bin/pg_ctl" -s -m fast -D "$cluster/data" stop' EXIT
    url="postgres://postgres@127.0.0.1:$port"
}

# Postgres refuses to run as root.
as_server() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && exec runuser -u "$server_user" -- "$@")
    else
        (cd / && exec "$@")
    fi
}

sql() { "$bin/psql" -qAt -v ON_ERROR_STOP=1 "$@"; }

server_time() {
    local postmaster
    postmaster="$(head -1 "$cluster/data/postmaster.pid")"
    # Without the name, the parent is the third field, the process's own times are the 13th and
    # 14th, and those of its ended children the next two.
    for stat in /proc/[0-9]*/stat; do
        sed 's/^\([0-9]*\) (.*) /\1 /' "$stat" 2>/dev/null || true
    done | awk -v postmaster="$postmaster" -v ticks="$(getconf CLK_TCK)" '
        $1 == postmaster { sum += $13 + $14 + $15 + $16 }
        $3 == postmaster { sum += $13 + $14 }
        END { printf "%d", sum * 1000 / ticks }'
}
