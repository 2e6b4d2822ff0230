"""Generates the clients in TypeScript and Python from the document that a running server answers, writes the
calls of `calls.jsonl` as programs of both, checks their types, and runs them against that server.

    run.py SERVER TARGET [typescript] [python]

Each operation of the document has to be called. A call gets its body from the line, or else the example of the
document; `$name` in it is a value that an earlier call kept. What a line may have beside `call`:

    id, path, query, header, body, raw   what is sent; `id` names a kept value
    status                               the accepted statuses, if others than those of a success
    keep                                 names, and where in the answer their values are
    repeat_on, repeat_until              a status, or a place in the answer: the call is repeated for some time"""

import inspect
import json
import os
import re
import subprocess
import sys
import time
import typing
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = "an-operator-token-of-at-least-32-characters"
SECRET = "the-secret-of-the-endpoint"
# The ids in examples, and the records that they stand for.
EXAMPLES = {
    f"01939b5e-0000-7000-8000-{number:012}": f"${name}"
    for number, name in enumerate(
        ["contact", "connection", "debit", "member", "template", "list", "other"], 1
    )
}


def started(binary, target):
    """A server on a new database, and its address."""
    database = os.path.join(target, "clients.db")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(database + suffix):
            os.remove(database + suffix)
    options = ["--database", f"sqlite:{database}", "--documents", f"file:{target}/documents"]
    options += ["--listen", "127.0.0.1:0", "--operator-token", TOKEN, "--allow-private-destinations"]
    log = os.path.join(target, "server.log")
    with open(log, "w", encoding="utf-8") as output:
        server = subprocess.Popen([binary, "serve", *options], stdout=output, stderr=output)
    for _ in range(300):
        with open(log, encoding="utf-8") as output:
            found = re.search(r"listening on (http://[0-9.:]+)", output.read())
        if found:
            return server, found[1]
        if server.poll() is not None:
            break
        time.sleep(0.1)
    server.kill()
    sys.exit("the server does not start:\n" + open(log, encoding="utf-8").read())


class Operation:
    """An operation of the document."""

    def __init__(self, method, path, document):
        self.method, self.path, self.document = method, path, document
        self.id, self.tag = document["operationId"], document["tags"][0]
        content = document.get("requestBody", {}).get("content", {})
        body = content.get("application/json", {})
        examples = [one["value"] for one in body.get("examples", {}).values()]
        self.example = body.get("example", examples[0] if examples else None)
        answers = document["responses"]
        success = next((answers[status] for status in answers if status.startswith("2")), {})
        self.is_json = "application/json" in success.get("content", {})

    def token(self):
        """The kept value that authorizes it."""
        schemes = [name for one in self.document["security"] for name in one]
        return {"operator_token": "$operator", "api_key": "$key"}.get((schemes or [None])[0])


def operations(document):
    return {
        made.id: made
        for path, item in document["paths"].items()
        for method, operation in item.items()
        for made in [Operation(method, path, operation)]
    }


def calls(known):
    """The lines of `calls.jsonl` with their operations; all operations are among them."""
    with open(os.path.join(HERE, "calls.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    named = {line["call"] for line in lines}
    missing, unknown = sorted(known.keys() - named), sorted(named - known.keys())
    if missing or unknown:
        sys.exit(f"calls.jsonl lacks {missing} and has {unknown}, which the document has not")
    for line in lines:
        operation = known[line["call"]]
        names = re.findall(r"{(\w+)}", operation.path)
        path = {name: f"${name.removesuffix('_id')}" for name in names} | line.get("path", {})
        if "id" in path:
            path["id"] = f"${line['id']}"
        body = line.get("body", operation.example)
        text = json.dumps(body, ensure_ascii=False)
        for example, name in EXAMPLES.items():
            text = text.replace(example, name)
        yield operation, line | {"path": path, "body": json.loads(text)}


def javascript(value):
    """A JSON value as an expression of TypeScript, with the kept values in it."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r'"((?:[^"\\]|\\.)*\$(?:[^"\\]|\\.)*)"', in_template, text)


def in_template(found):
    return "`" + re.sub(r"\$(\w+)", r"${kept.\1}", found[1]) + "`"


def place(text):
    """`data.0.id` as a path of TypeScript, of what may not be there yet."""
    parts = [f"?.[{part}]" if part.isdigit() else f"?.{part}" for part in text.split(".")]
    return "answer.data" + "".join(parts)


def typescript(every):
    """The program that makes all calls with the types of the document."""
    lines = [
        "// Made by tests/clients/run.py from calls.jsonl.",
        'import createClient from "openapi-fetch";',
        'import type { paths } from "./api.js";',
        'import { kept, keep, checked, again } from "./checks.js";',
        "",
        'const client = createClient<paths>({ baseUrl: kept.base, redirect: "manual" });',
        "",
    ]
    for operation, line in every:
        headers = dict(line.get("header", {}))
        token = operation.token()
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if operation.tag == "inbound":
            headers["X-Service-Secret"] = "$secret"
        params = {"path": line["path"], "query": line.get("query"), "header": line.get("header")}
        params = {name: value for name, value in params.items() if value}
        options = [f"headers: {javascript(headers)}"]
        if params:
            options.append(f"params: {javascript(params)}")
        if "raw" in line:
            options += [f"body: {javascript(line['raw'])}", "bodySerializer: (body) => body"]
            options[0] = f"headers: {javascript(headers | {'Content-Type': 'application/octet-stream'})}"
        elif line["body"] is not None:
            options.append(f"body: {javascript(line['body'])}")
        if not operation.is_json:
            options.append('parseAs: "text"')
        method = operation.method.upper()
        call = f'client.{method}("{operation.path}", {{ {", ".join(options)} }})'
        statuses = json.dumps(line.get("status"))
        wanted = line.get("repeat_on", "null")
        until = line.get("repeat_until")
        until = f"(answer) => {place(until)}" if until else "undefined"
        lines += [f"await again({wanted}, {until}, () => {call}).then((answer) => {{"]
        lines += [f'  checked("{operation.id}", answer, {statuses});']
        for name, where in line.get("keep", {}).items():
            lines.append(f'  keep("{name}", {place(where)});')
        lines += ["});"]
    return "\n".join(lines) + "\n"


def python_value(value):
    """A JSON value as an expression of Python, with the kept values in it."""
    if isinstance(value, dict):
        inner = (f"{name!r}: {python_value(one)}" for name, one in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(python_value, value)) + "]"
    if isinstance(value, str) and "$" in value:
        return "f" + repr(re.sub(r"\$(\w+)", r"{kept['\1']}", value)).replace("\\'", "'")
    return repr(value)


class Python:
    """The program that makes all calls with the generated client."""

    def __init__(self):
        from openapi_python_client.strings import PythonIdentifier

        self.identifier = lambda name: PythonIdentifier(name, prefix="field_")
        self.imports = set()

    def program(self, every):
        lines = []
        for operation, line in every:
            lines += self.call(operation, line)
        return "\n".join(
            ["# Made by tests/clients/run.py from calls.jsonl.", *sorted(self.imports)]
            + ["from checks import again, checked, client, keep, kept", "", *lines, ""]
        )

    def call(self, operation, line):
        tag, name = self.identifier(operation.tag), self.identifier(operation.id)
        module = __import__(f"client.api.{tag}.{name}", fromlist=["x"])
        self.imports.add(f"from client.api.{tag} import {name}")
        wanted = inspect.signature(module.sync_detailed).parameters
        hints = typing.get_type_hints(module.sync_detailed)
        given = line["path"] | line.get("query", {}) | line.get("header", {})
        given = {self.identifier(key): value for key, value in given.items()}
        arguments = [f"client=client({python_value(operation.token())})"]
        for key, value in given.items():
            assert key in wanted, f"{operation.id} has no argument {key}"
            arguments.append(f"{key}={self.typed(hints[key], value)}")
        if "raw" in line:
            self.imports.add("from io import BytesIO")
            self.imports.add("from client.types import File")
            arguments.append(f"body=File(payload=BytesIO({line['raw'].encode()!r}))")
        elif line["body"] is not None:
            arguments.append(f"body={self.typed(hints['body'], line['body'])}")
        statuses, until = line.get("status"), line.get("repeat_until")
        repeat = f"{line.get('repeat_on')!r}, {until!r}"
        yield f"answer = again({repeat}, lambda: {name}.sync_detailed({', '.join(arguments)}))"
        yield f"checked({operation.id!r}, answer, {statuses!r}, {operation.is_json!r})"
        for key, where in line.get("keep", {}).items():
            yield f"keep({key!r}, answer, {where!r})"

    def typed(self, hint, value):
        """An expression for a value where the client has this type."""
        origin = typing.get_origin(hint)
        if origin is list:
            (item,) = typing.get_args(hint)
            return "[" + ", ".join(self.typed(item, one) for one in value) + "]"
        options = typing.get_args(hint) if origin is not None else [hint]
        for option in options:
            if hasattr(option, "from_dict") and isinstance(value, dict):
                self.imports.add(f"from {option.__module__} import {option.__name__}")
                return f"{option.__name__}.from_dict({python_value(value)})"
        for option in options:
            is_word = isinstance(option, type) and option.__module__.startswith("client.models")
            if (is_word and isinstance(value, str)) or option.__name__ == "UUID":
                self.imports.add(f"from {option.__module__} import {option.__name__}")
                return f"{option.__name__}({python_value(value)})"
        return python_value(value)


def run(*command, **more):
    done = subprocess.run(command, text=True, capture_output=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def drive_typescript(document, target, environment):
    into = os.path.join(target, "typescript")
    modules = os.path.join(into, "node_modules", ".bin")
    run(f"{modules}/openapi-typescript", document, "-o", f"{into}/api.ts")
    every = list(calls(operations(json.load(open(document, encoding="utf-8")))))
    with open(f"{into}/calls.ts", "w", encoding="utf-8") as file:
        file.write(typescript(every))
    run(f"{modules}/tsc", "--project", into)
    print("typescript:", run("node", f"{into}/made/calls.js", env=environment).strip())


def drive_python(document, target, environment):
    into = os.path.join(target, "python")
    client, tools = f"{into}/client", f"{into}/venv/bin"
    settings = f"{HERE}/python/config.yaml"
    generate = [f"{tools}/openapi-python-client", "generate", "--path", document, "--config", settings]
    told = run(*generate, "--meta", "none", "--output-path", client, "--overwrite")
    if "Unable" in told or "missing" in told:
        sys.exit(f"the client in Python is not whole:\n{told}")
    import_unset(client)
    run(f"{tools}/python", __file__, "--write-python", document, into)
    run(f"{tools}/mypy", "--no-error-summary", "calls.py", "checks.py", cwd=into)
    print("python:", run(f"{tools}/python", "calls.py", env=environment, cwd=into).strip())


def import_unset(client):
    """Adds an import that the generator leaves out where a body has several types and no other argument
    may be absent (openapi-python-client, issue 1451). docs/clients.md tells users so."""
    for folder, _, names in os.walk(f"{client}/api"):
        for name in names:
            path = os.path.join(folder, name)
            text = open(path, encoding="utf-8").read()
            if "| Unset" in text:
                text = text.replace("import Response, UNSET\n", "import Response, UNSET, Unset\n")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)


def write_python(document, into):
    """Runs in the environment of the generated client, which says what types its arguments have."""
    sys.path.insert(0, into)
    every = list(calls(operations(json.load(open(document, encoding="utf-8")))))
    with open(f"{into}/calls.py", "w", encoding="utf-8") as file:
        file.write(Python().program(every))


def main():
    if sys.argv[1] == "--write-python":
        return write_python(*sys.argv[2:])
    binary, target, languages = sys.argv[1], sys.argv[2], sys.argv[3:]
    server, base = started(binary, target)
    try:
        document = os.path.join(target, "openapi.json")
        urllib.request.urlretrieve(f"{base}/api/openapi.json", document)
        for language in languages:
            began = time.monotonic()
            start = {"base": base, "operator": TOKEN, "secret": SECRET}
            start |= {"slug": f"site-{language}", "open_slug": f"events-{language}"}
            environment = os.environ | {"RECADO_KEPT": json.dumps(start)}
            {"typescript": drive_typescript, "python": drive_python}[language](
                document, target, environment
            )
            print(f"{language}: {time.monotonic() - began:.1f} s")
    finally:
        server.terminate()
        server.wait()


main()
