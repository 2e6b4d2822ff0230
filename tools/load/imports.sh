#!/usr/bin/env bash
# Measures `recado import` of what HubSpot, Chatwoot and Brazilian Excel export, as it is exported and
# with the maps of docs/imports, on both databases, and prints a table in Markdown.
#
# Beside each stands the import of the same people from a file in Recado's own form, by this build and,
# if IMPORT_BEFORE names one, by the binary of an earlier version, which knows no maps.
#
# IMPORT_DIR      where files and databases are kept (default: target/imports)
# IMPORT_ROWS     rows of each export (default: 50000); every fiftieth has no phone and is refused
# IMPORT_BEFORE   another binary
# IMPORT_RECADO   the binary (default: a release build)
# RECADO_POSTGRES_BIN   the directory of other Postgres binaries
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
dir="${IMPORT_DIR:-$target/imports}"
rows="${IMPORT_ROWS:-50000}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
maps="$PWD/docs/imports"
recado="${IMPORT_RECADO:-}"
if [ -z "$recado" ]; then
    cargo build --release -p recado-server
    recado="$(cd "$target" && pwd)/release/recado"
fi

. tools/load/postgres.sh
start_postgres "$dir" "${IMPORT_PORT:-54332}"

# The people: the same with every run.
people() { # hubspot, chatwoot, excel, or own: in Recado's form
    awk -v form="$1" -v rows="$rows" '
    function pick(list, n) { return list[n % list["n"] + 1] }
    function fill(list, text) { list["n"] = split(text, list, "|") }
    # The check digits of a CPF.
    function cpf(n,    digits, i, sum, turn) {
        digits = sprintf("%09d", n)
        for (turn = 0; turn < 2; turn++) {
            sum = 0
            for (i = 1; i <= length(digits); i++) sum += substr(digits, i, 1) * (length(digits) + 2 - i)
            sum = sum * 10 % 11
            digits = digits (sum == 10 ? 0 : sum)
        }
        return substr(digits, 1, 3) "." substr(digits, 4, 3) "." substr(digits, 7, 3) "-" substr(digits, 10)
    }
    BEGIN {
        fill(first, "Ana|João|Conceição|José|Antônio|Márcia|Luís|Íris|Cauã|Zoé|Pedro")
        fill(last, "Souza|da Silva|Gonçalves|Araújo|Leão|Brandão|Pires")
        fill(city, "São Paulo|Uberlândia|Goiânia|Maceió|Belém"); fill(state, "SP|MG|GO|AL|PA")
        if (form == "hubspot") print "\"Record ID\",\"First Name\",\"Last Name\",\"Email\",\"Phone Number\",\"Contact owner\",\"Lead Status\",\"Create Date\",\"Mobile Phone Number\",\"City\",\"State/Region\",\"Job Title\""
        if (form == "chatwoot") print "id,name,email,phone_number,company_name,city,country,created_at"
        if (form == "excel") print "Nome;Celular;E-mail;Data de nascimento;CPF;Cidade;UF;Observações"
        if (form == "own") print "name,phone,email,city,state,birthday,cpf,observation,profissao"
        for (n = 1; n <= rows; n++) {
            f = pick(first, n); l = pick(last, int(n / 11)); c = pick(city, n); s = pick(state, n)
            mail = "p" n "@example.com"
            digits = sprintf("%08d", 10000000 + n)
            local = n % 50 ? substr(digits, 1, 4) "-" substr(digits, 5) : ""
            day = sprintf("%02d/%02d/%04d", n % 28 + 1, n % 12 + 1, 1950 + n % 50)
            born = sprintf("%04d-%02d-%02d", 1950 + n % 50, n % 12 + 1, n % 28 + 1)
            intl = local == "" ? "" : "+55 34 9" local
            if (form == "hubspot") printf "\"%d\",\"%s\",\"%s\",\"%s\",\"\",\"Bia, da loja\",\"NEW\",\"2024-05-17 09:30\",\"%s\",\"%s\",\"%s\",\"Gerente\"\n", n, f, l, mail, intl, c, s
            if (form == "chatwoot") { gsub(/[ -]/, "", intl); printf "%d,%s %s,%s,%s,Padaria,%s,Brasil,2024-05-17 09:30:00 UTC\n", n, f, l, mail, intl, c }
            if (form == "excel") printf "%s %s;%s;%s;%s;%s;%s;%s;\"vem à tarde;\nliga\"\r\n", f, l, local == "" ? "" : "(34) 9" local, mail, day, cpf(n), c, s
            if (form == "own") printf "%s %s,%s,%s,%s,%s,%s,%s,\"vem à tarde;\nliga\",Gerente\n", f, l, intl, mail, c, s, born, cpf(n)
        }
    }'
}
people hubspot >"$dir/hubspot.csv"
people chatwoot >"$dir/chatwoot.csv"
# What the Brazilian Excel of Windows writes.
people excel | iconv -f UTF-8 -t WINDOWS-1252 >"$dir/excel.csv"
people own >"$dir/own.csv"

count=0
measured() { # WHAT BINARY FILE ARGUMENTS…
    local what="$1" binary="$2" file="$3" store database company before after times result
    shift 3
    for store in SQLite Postgres; do
        count=$((count + 1))
        if [ "$store" = SQLite ]; then
            database="sqlite:$dir/$count.db"
            rm -f "$dir/$count.db"*
        else
            sql "$url/postgres" -c "CREATE DATABASE import_$count"
            database="$url/import_$count"
        fi
        "$binary" migrate --database "$database" >/dev/null
        company="$("$binary" company create Padaria --database "$database" --json 2>/dev/null \
            || "$binary" company add --name Padaria --database "$database" --json)"
        company="$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' <<<"$company" | head -n 1)"
        before="$(server_time)"
        TIMEFORMAT='%R %U %S'
        result=0
        times="$({ time "$binary" import --company "$company" --database "$database" "$@" --json \
            --refused "$dir/refused" "$file" >"$dir/out" 2>"$dir/err"; } 2>&1)" || result=$?
        # The time of a connection's process counts once that has ended.
        sleep 1
        after="$(server_time)"
        # 1: rows were refused.
        [ "$result" -le 1 ] || { cat "$dir/err" >&2; exit 1; }
        # shellcheck disable=SC2086
        set -- "$times" "$@"
        awk -v what="$what" -v store="$store" -v times="$1" -v server="$((after - before))" \
            -v out="$(tr -d '\n' <"$dir/out")" '
            function of(name,    text) { text = out; sub(".*\"" name "\": *", "", text); return text + 0 }
            BEGIN {
                split(times, t, " ")
                printf "| %s | %s | %d | %d | %.1f | %.1f | %.1f |\n", what, store, of("imported"), \
                    of("refused"), t[1], t[2] + t[3], server / 1000
            }'
        shift
        [ "$store" = SQLite ] || sql "$url/postgres" -c "DROP DATABASE import_$count"
        rm -f "$dir/$count.db"*
    done
}

echo '| file | database | imported | refused | seconds | processor of recado | processor of Postgres |'
echo '|---|---|---|---|---|---|---|'
for export in hubspot chatwoot excel; do
    measured "$export, as exported" "$recado" "$dir/$export.csv" --map-file "$maps/$export.map"
done
measured "Recado's own form" "$recado" "$dir/own.csv"
[ -z "${IMPORT_BEFORE:-}" ] || measured "the same, before" "$IMPORT_BEFORE" "$dir/own.csv"
