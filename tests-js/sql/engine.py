"""Runs SQL in DuckDB or ClickHouse, which are in this process: python3 engine.py duckdb|clickhouse.

Each line of the input is {"script", "query"} as JSON, and each line of the output the first row of the query, or {"error"}.
"""
import json
import sys


def duckdb():
    import duckdb as engine

    connection = engine.connect()
    return connection.execute, lambda query: list(connection.execute(query).fetchone())


def clickhouse():
    from chdb import session

    connection = session.Session()

    def run(script):
        for statement in script.split(";\n"):
            lines = [line for line in statement.split("\n") if not line.startswith("--")]
            if "".join(lines).strip():
                connection.query("\n".join(lines))

    return run, lambda query: json.loads(str(connection.query(query, "JSONCompactEachRow")).split("\n")[0])


run, row = {"duckdb": duckdb, "clickhouse": clickhouse}[sys.argv[1]]()
for line in sys.stdin:
    request = json.loads(line)
    try:
        if request.get("script"):
            run(request["script"])
        answer = row(request["query"]) if request.get("query") else []
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer, default=str), flush=True)
