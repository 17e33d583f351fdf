// Compares what was found with what an incident must show.

const isEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const timesOf = ({ atMs, fromMs, toMs }) => [atMs, fromMs, toMs];
const nodesOf = ({ node, nodes }) => nodes ?? (node === undefined ? undefined : [node]);

/** What is wrong with the findings of one expected finding: a line each. */
function problemsOf({ kind, count, nodes, hosts, atMs, fromMs, toMs }, findings) {
  const name = `${kind}${nodes ? ` of node ${nodes}` : ""}`;
  const found = findings.filter(
    (one) => one.kind === kind && (nodes === undefined || isEqual(nodesOf(one) ?? nodes, nodes)),
  );
  if (found.length === 0) return [`${name} is not found`];
  const sum = found.reduce((all, one) => all + one.count, 0);
  const times = found.flatMap(timesOf);
  return [
    ...(count !== undefined && sum !== count ? [`${name}: ${sum} instead of ${count}`] : []),
    ...(hosts !== undefined && !found.some((one) => isEqual([...(one.hosts ?? [])].sort(), hosts))
      ? [`${name}: hosts ${found.map((one) => one.hosts)} instead of ${hosts}`]
      : []),
    ...Object.entries({ atMs, fromMs, toMs })
      .filter(([, ms]) => ms !== undefined && !times.includes(ms))
      .map(([field, ms]) => `${name}: ${field} is not ${ms}, but ${times}`),
  ];
}

/**
 * What differs between findings and an incident, a line each: what is missing or has another number, node, host or time; and what is found
 * though it is not there. Informational findings are told from others by `certainty`, and may always be there.
 */
export function differences(findings, { expected, also = [] }) {
  const wrong = findings.filter((one) => {
    if (one.certainty === "informational" || also.includes(one.kind)) return false;
    const same = expected.filter(({ kind }) => kind === one.kind);
    return !same.some(({ nodes }) => nodes === undefined || nodesOf(one) === undefined || isEqual(nodesOf(one), nodes));
  });
  return [
    ...expected.flatMap((one) => problemsOf(one, findings)),
    ...wrong.map((one) => `${one.kind} is found, and not there: ${one.message ?? JSON.stringify(one)}`),
  ];
}
