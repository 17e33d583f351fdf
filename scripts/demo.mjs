// What `npm start` shows: fresh IDs, and (once) two that the world knows, each with its bits.
import { Layout, Snowflake } from "frazil";

const [backend] = process.argv.slice(2);

/** The bits of an ID, field by field. */
function bitsOf(id, layout) {
  const width = layout.fields.reduce((bits, field) => bits + field.bits, 0);
  let rest = id.toString(2).padStart(width, "0");
  return layout.fields
    .map(({ bits }) => {
      const field = rest.slice(0, bits);
      rest = rest.slice(bits);
      return field;
    })
    .join(" ");
}

function show(title, layout, ids) {
  const fields = layout.fields.map(({ kind, name, bits }) => `${name ?? kind} ${bits}`).join(" | ");
  process.stdout.write(`\n${title}\n  bits: ${fields}\n`);
  for (const id of ids) {
    const { date, node, parts, sequence } = layout.decode(id);
    const names = Object.keys(parts);
    const where = names.length > 1 ? ` (${names.map((name) => `${name} ${parts[name]}`).join(", ")})` : "";
    process.stdout.write(
      `  ${id}  ${date.toISOString()}  node ${node}${where}  sequence ${sequence}\n  ${bitsOf(id, layout)}\n`,
    );
  }
}

const ids = new Snowflake({ node: 7 });
show(`Minted now, with new Snowflake({ node: 7 }), backend ${ids.backend}`, ids.layout, ids.nextMany(4));
if (backend === "wasm") {
  show('A tweet of 2022, with Layout.named("twitter")', Layout.named("twitter"), [1541815603606036480n]);
  show('A Discord message of 2016, with Layout.named("discord")', Layout.named("discord"), [175928847299117063n]);
}
