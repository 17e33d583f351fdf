/** The records of tags in MariaDB and MySQL: one row for each, replaced by one statement that compares it. */

import { storeUnavailable } from "../kit/errors.js";
import { MAX_ATTEMPTS, sleepAfterRace } from "../kit/races.js";
import type { KeptRecord } from "../kit/segment/rules.js";
import type { TagTable, TagView } from "../kit/segment/tag-table.js";
import type { MySqlClient } from "./client.js";
import { hexOf, MySqlDatabase } from "./database.js";
import type { MySqlStoreOptions } from "./options.js";
import { checkCounter, checkServer, incarnationOf } from "./server.js";
import { MAKE_TAG, PLACE, READ_TAG, REPLACE_TAG } from "./statements.js";

export class MySqlTags implements TagTable {
  readonly #database: MySqlDatabase;

  constructor(client: MySqlClient, options: MySqlStoreOptions) {
    this.#database = new MySqlDatabase(client, options);
  }

  async readTag(tag: string, signal: AbortSignal | undefined): Promise<TagView | undefined> {
    const rows = await this.#database.read(READ_TAG, { tag: hexOf(tag) }, signal);
    if (rows === undefined) return undefined;
    const [row] = rows;
    checkServer(row);
    const incarnation = incarnationOf(row);
    if (row["tag"] === null) return undefined;
    checkCounter(row, "frazil_segments", "next_number");
    const recent = Buffer.from(String(row["recent"]), "hex").toString("utf8");
    return { kept: [String(row["next_number"]), String(row["recorded"]), recent], incarnation };
  }

  async replaceTag(
    tag: string,
    [seenNext, recorded, seenRecent]: KeptRecord,
    [next, server, recent]: KeptRecord,
    signal: AbortSignal | undefined,
  ): Promise<true | undefined> {
    // As HEX() writes digits: some collations of a connection tell the cases of letters apart.
    const texts = { recent: hexOf(recent), seenRecent: hexOf(seenRecent).toUpperCase() };
    const values = { tag: hexOf(tag), next, server, seenNext, recorded, ...texts };
    return (await this.#database.write(REPLACE_TAG, values, signal)) || undefined;
  }

  async makeTag(tag: string, first: bigint, signal: AbortSignal): Promise<boolean | undefined> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const rows = await this.#database.read(READ_TAG, { tag: hexOf(tag) }, signal);
      if (rows === undefined) return undefined;
      const [row] = rows;
      checkServer(row);
      if (row["tag"] !== null) return false;
      const values = { tag: hexOf(tag), first: `${first}`, server: incarnationOf(row) };
      if (await this.#database.write(MAKE_TAG, values, signal)) return true;
      await sleepAfterRace(attempt, signal);
    }
    throw storeUnavailable(
      `the record of the tag ${JSON.stringify(tag)} could not be written, ${MAX_ATTEMPTS} times\nReads may go to another server than writes.`,
    );
  }

  async placeOfTags(signal: AbortSignal | undefined): Promise<string> {
    const [row] = (await this.#database.read(PLACE, {}, signal)) ?? [];
    return `the table frazil_segments of the database ${String(row?.["name"])}, which migrate() makes`;
  }
}
