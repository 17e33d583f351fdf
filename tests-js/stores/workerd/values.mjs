// Values as JSON, with bigints and absent values, between the tests and the Worker.

export const encode = (value) =>
  JSON.stringify(value, (_, part) =>
    typeof part === "bigint" ? { bigint: String(part) } : part === undefined ? { absent: true } : part,
  );

export const decode = (text) =>
  JSON.parse(text, (_, part) => {
    if (part?.bigint !== undefined) return BigInt(part.bigint);
    return part?.absent ? undefined : part;
  });
