/** The dialects of SQL. */
import type { Definition, Dialect, Type } from "./dialect.js";

const DAY_MS = 86_400_000;
const CHARACTERS = "[0-9A-Za-z]{11}";
const NAME = /^[a-z_]\w{0,62}$/i;
const A_NAME = "must be the name of a schema, a letter or _ and then at most 62 letters, digits or _";
const DOTTED = /^[a-z_][\w-]{0,62}(\.[a-z_]\w{0,62})?$/i;
const A_PATH = "must be the name of a schema, alone or after that of a catalog and a dot";

/** Operators as C has them. */
const operators: Pick<Dialect, "field" | "modulo"> = {
  field(value, shift, bits) {
    const shifted = shift === 0 ? value : `${value} >> ${shift}`;
    if (bits === undefined) return shift === 0 ? shifted : `(${shifted})`;
    return `(${shift === 0 ? value : `(${shifted})`} & ${2n ** BigInt(bits) - 1n})`;
  },
  modulo: (value, by) => `${value} % ${by}`,
};

/** The functions of these names instead. */
const functions = (and: string, right: string): Pick<Dialect, "field"> => ({
  field(value, shift, bits) {
    const shifted = shift === 0 ? value : `${right}(${value}, ${shift})`;
    return bits === undefined ? shifted : `${and}(${shifted}, ${2n ** BigInt(bits) - 1n})`;
  },
});

/** The functions with these names in most dialects. */
const common = {
  charAt: (text, index) => `substr(${text}, ${index} + 1, 1)`,
  indexIn: (alphabet, text, at) => `strpos(${alphabet}, substr(${text}, ${at}, 1)) - 1`,
  join: (texts) => texts.join("\n    || "),
  binary: (text) => text,
} satisfies Partial<Dialect>;

const listOf = ({ parameters }: Definition, typeOf: (type: Type) => string): string =>
  parameters.map(([name, type]) => `${name} ${typeOf(type)}`.trim()).join(", ");

const typesOf =
  (types: Record<Type, string>) =>
  (type: Type): string =>
    types[type];

const POSTGRES = (isBigNode: boolean) =>
  typesOf({ id: "bigint", node: isBigNode ? "bigint" : "integer", time: "timestamptz", text: "text" });

const postgres: Dialect = {
  ...operators,
  ...common,
  runOn: "Postgres and PGlite",
  notes: ["A number that is no ID of the layout gives NULL."],
  isSigned: true,
  schema: {
    quote: '"',
    pattern: /^[a-z_][\w$-]{0,62}$/i,
    rule: "must be the name of a schema, a letter or _ and then at most 62 letters, digits, _, $ or -",
  },
  divide: (value, by) => `${value} / ${by}`,
  charAt: (text, index) => `substr(${text}, (${index})::integer + 1, 1)`,
  indexIn: (alphabet, text, at) => `strpos(${alphabet}, substr(${text}, ${at}, 1))::bigint - 1`,
  isBase62: (text) => `${text} COLLATE "C" ~ '^${CHARACTERS}$'`,
  binary: (text) => `${text} COLLATE "C"`,
  // Immutable, unlike `to_timestamp` of a sum and `timestamptz + interval`. The factor of an interval is a double, which holds 1000
  // times a number exactly while 125 times the number is below 2^53: later times are made of days and the rest.
  timeOf: (ms, lastMs) =>
    lastMs * 125 < 2 ** 53
      ? `(timestamp '1970-01-01' + interval '1 millisecond' * (${ms})) AT TIME ZONE 'UTC'`
      : `(timestamp '1970-01-01' + interval '1 day' * ((${ms}) / ${DAY_MS})
    + interval '1 millisecond' * ((${ms}) % ${DAY_MS})) AT TIME ZONE 'UTC'`,
  // By an interval, since `extract` from a time with a zone is not immutable. In microseconds, since a double of Postgres 13 is not exact.
  msOf: (time) => `(extract(epoch FROM ${time} - timestamptz '1970-01-01 00:00:00+00') * 1000000)::bigint / 1000`,
  define: (prefix, definition, _, isBigNode) => {
    const typeOf = POSTGRES(isBigNode);
    const { name, returns, body } = definition;
    const result = returns === "node" && !isBigNode ? `(${body})::integer` : body;
    return `CREATE OR REPLACE FUNCTION ${prefix}${name}(${listOf(definition, typeOf)}) RETURNS ${typeOf(returns)}
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ${result}
$$;`;
  },
  drop: (prefix, definition) =>
    `DROP FUNCTION IF EXISTS ${prefix}${definition.name}(${listOf(definition, POSTGRES(false)).replace(/\w+ (\w+)/g, "$1")});`,
};

const mysql: Dialect = {
  ...operators,
  ...common,
  notes: ["Times are DATETIME in UTC. A number that is no ID of the layout gives NULL."],
  schema: {
    quote: "`",
    pattern: /^[a-z_][\w$]{0,62}$/i,
    rule: "must be the name of a database, a letter or _ and then at most 62 letters, digits, _ or $",
  },
  unsigned: (value) => `CAST(${value} AS UNSIGNED)`,
  divide: (value, by) => `${value} DIV ${by}`,
  indexIn: (alphabet, text, at) => `LOCATE(SUBSTR(${text}, ${at}, 1), ${alphabet}) - 1`,
  join: (texts) => `CONCAT(${texts.join(",\n    ")})`,
  // The parameter is of the type ascii_bin, in which this tells capital letters apart.
  isBase62: (text) => `LENGTH(${text}) = 11 AND ${text} REGEXP '^${CHARACTERS}$'`,
  timeOf: (ms) => `TIMESTAMPADD(MICROSECOND, 1000 * (${ms}), '1970-01-01')`,
  msOf: (time) => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${time}) DIV 1000`,
  define: (prefix, definition, isUnsigned) => {
    const number = isUnsigned ? "BIGINT UNSIGNED" : "BIGINT";
    const text = (length: number) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;
    const { name, returns, body } = definition;
    const parameters = listOf(definition, typesOf({ id: number, node: "BIGINT", time: "DATETIME(6)", text: text(64) }));
    const result = typesOf({ id: number, node: "BIGINT", time: "DATETIME(3)", text: text(75) })(returns);
    return `DROP FUNCTION IF EXISTS ${prefix}${name};
CREATE FUNCTION ${prefix}${name}(${parameters}) RETURNS ${result}
DETERMINISTIC NO SQL SQL SECURITY INVOKER
RETURN ${body};`;
  },
  drop: (prefix, { name }) => `DROP FUNCTION IF EXISTS ${prefix}${name};`,
};

const sqlite: Dialect = {
  ...operators,
  ...common,
  runOn: "SQLite",
  notes: [
    "SQLite has no functions in SQL: put the expressions into queries, indexes and generated columns, with your own column for id.",
    "Times are text in UTC, as strftime reads and writes it. A number that is no ID of the layout gives NULL.",
  ],
  isSigned: true,
  divide: (value, by) => `${value} / ${by}`,
  indexIn: (alphabet, text, at) => `instr(${alphabet}, substr(${text}, ${at}, 1)) - 1`,
  isBase62: (text) => `length(${text}) = 11 AND ${text} NOT GLOB '*[^0-9A-Za-z]*'`,
  binary: (text) => `${text} COLLATE BINARY`,
  timeOf: (ms) => `strftime('%Y-%m-%d %H:%M:%f', (${ms}) / 1000.0, 'unixepoch')`,
  // A Julian day is a double of whole milliseconds.
  msOf: (time) => `CAST(round((julianday(${time}) - 2440587.5) * 86400000) AS INTEGER)`,
  define: (_, { name, parameters, body }) => {
    const samples = { id: "0", node: "0", time: "'2026-11-01'", text: "'00000000000'" };
    return `-- ${name}(${parameters.map(([parameter]) => parameter).join(", ")})
SELECT ${body}
  FROM (SELECT ${parameters.map(([parameter, type]) => `${samples[type]} AS ${parameter}`).join(", ")});`;
  },
  drop: () => "",
};

const duckdb: Dialect = {
  ...operators,
  ...common,
  runOn: "DuckDB",
  notes: ["Times are TIMESTAMP in UTC. A number that is no ID of the layout gives NULL."],
  schema: { quote: '"', pattern: NAME, rule: A_NAME },
  unsigned: (value) => `(${value})::UBIGINT`,
  charAt: (text, index) => `substr(${text}, (${index})::BIGINT + 1, 1)`,
  divide: (value, by) => `${value} // ${by}`,
  isBase62: (text) => `regexp_full_match(${text}, '${CHARACTERS}')`,
  timeOf: (ms) => `make_timestamp((1000 * (${ms}))::BIGINT)`,
  msOf: (time) => `epoch_ms(${time})`,
  define: (prefix, { name, parameters, body }) =>
    `CREATE OR REPLACE MACRO ${prefix}${name}(${parameters.map(([parameter]) => parameter).join(", ")}) AS ${body};`,
  drop: (prefix, { name }) => `DROP MACRO IF EXISTS ${prefix}${name};`,
};

const clickhouse: Dialect = {
  ...functions("bitAnd", "bitShiftRight"),
  ...common,
  runOn: "ClickHouse (chDB)",
  notes: [
    "Times are DateTime64(3, 'UTC'), which ends in 2299. The functions take any number: none is refused, so results are not Nullable.",
  ],
  isUnchecked: true,
  unsigned: (value) => `toUInt64(${value})`,
  divide: (value, by) => `intDiv(${value}, ${by})`,
  modulo: (value, by) => `${value} % ${by}`,
  indexIn: (alphabet, text, at) => `toInt64(position(${alphabet}, substr(${text}, ${at}, 1))) - 1`,
  isBase62: (text) => `match(${text}, '^${CHARACTERS}$')`,
  timeOf: (ms) => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`,
  msOf: (time) => `toUnixTimestamp64Milli(toDateTime64(${time}, 3, 'UTC'))`,
  define: (_, { name, parameters, body }) =>
    `CREATE OR REPLACE FUNCTION ${name} AS (${parameters.map(([parameter]) => parameter).join(", ")}) -> ${body};`,
  drop: (_, { name }) => `DROP FUNCTION IF EXISTS ${name};`,
};

const bigquery: Dialect = {
  ...operators,
  ...common,
  notes: ["A number that is no ID of the layout gives NULL."],
  isSigned: true,
  schema: { quote: "`", pattern: DOTTED, rule: A_PATH },
  divide: (value, by) => `DIV(${value}, ${by})`,
  modulo: (value, by) => `MOD(${value}, ${by})`,
  join: (texts) => `CONCAT(${texts.join(",\n    ")})`,
  isBase62: (text) => `REGEXP_CONTAINS(${text}, r'^${CHARACTERS}$')`,
  timeOf: (ms) => `TIMESTAMP_MILLIS(${ms})`,
  msOf: (time) => `UNIX_MILLIS(${time})`,
  define: (prefix, definition) => {
    const typeOf = typesOf({ id: "INT64", node: "INT64", time: "TIMESTAMP", text: "STRING" });
    return `CREATE OR REPLACE FUNCTION ${prefix}${definition.name}(${listOf(definition, typeOf)}) RETURNS ${typeOf(definition.returns)} AS (
  ${definition.body}
);`;
  },
  drop: (prefix, { name }) => `DROP FUNCTION IF EXISTS ${prefix}${name};`,
};

const TRINO = typesOf({ id: "bigint", node: "bigint", time: "timestamp(3) with time zone", text: "varchar" });

const trino: Dialect = {
  ...functions("bitwise_and", "bitwise_right_shift"),
  ...common,
  notes: ["A number that is no ID of the layout gives NULL. The catalog must store functions."],
  isSigned: true,
  schema: { quote: "", pattern: DOTTED, rule: A_PATH },
  divide: (value, by) => `${value} / ${by}`,
  modulo: (value, by) => `${value} % ${by}`,
  isBase62: (text) => `length(${text}) = 11 AND regexp_like(${text}, '^${CHARACTERS}$')`,
  timeOf: (ms) => `timestamp '1970-01-01 00:00:00.000 UTC' + (${ms}) * interval '0.001' second`,
  msOf: (time) => `date_diff('millisecond', timestamp '1970-01-01 00:00:00.000 UTC', ${time})`,
  define: (prefix, definition) =>
    `CREATE OR REPLACE FUNCTION ${prefix}${definition.name}(${listOf(definition, TRINO)}) RETURNS ${TRINO(definition.returns)}
DETERMINISTIC
RETURN ${definition.body};`,
  drop: (prefix, definition) =>
    `DROP FUNCTION IF EXISTS ${prefix}${definition.name}(${definition.parameters.map(([, type]) => TRINO(type)).join(", ")});`,
};

const SNOWFLAKE = typesOf({ id: "NUMBER", node: "NUMBER", time: "TIMESTAMP_NTZ", text: "VARCHAR" });

const snowflake: Dialect = {
  ...functions("BITAND", "BITSHIFTRIGHT"),
  ...common,
  notes: ["Times are TIMESTAMP_NTZ in UTC. A number that is no ID of the layout gives NULL."],
  schema: { quote: "", pattern: DOTTED, rule: A_PATH },
  unsigned: (value) => value,
  // Exact: a quotient of numbers has six places, and is rounded.
  divide: (value, by) => `((${value} - MOD(${value}, ${by})) / ${by})`,
  modulo: (value, by) => `MOD(${value}, ${by})`,
  charAt: (text, index) => `SUBSTR(${text}, (${index})::INT + 1, 1)`,
  indexIn: (alphabet, text, at) => `POSITION(SUBSTR(${text}, ${at}, 1), ${alphabet}) - 1`,
  isBase62: (text) => `REGEXP_LIKE(${text}, '${CHARACTERS}')`,
  timeOf: (ms) => `TO_TIMESTAMP_NTZ(${ms}, 3)`,
  msOf: (time) => `DATE_PART(EPOCH_MILLISECOND, ${time})`,
  define: (prefix, definition) =>
    `CREATE OR REPLACE FUNCTION ${prefix}${definition.name}(${listOf(definition, SNOWFLAKE)}) RETURNS ${SNOWFLAKE(definition.returns)}
IMMUTABLE AS $$
  ${definition.body}
$$;`,
  drop: (prefix, definition) =>
    `DROP FUNCTION IF EXISTS ${prefix}${definition.name}(${definition.parameters.map(([, type]) => SNOWFLAKE(type)).join(", ")});`,
};

export const DIALECTS = {
  postgres,
  mariadb: { ...mysql, runOn: "MariaDB" },
  mysql,
  sqlite,
  clickhouse,
  duckdb,
  bigquery,
  trino,
  snowflake,
} as const satisfies Record<string, Dialect>;
