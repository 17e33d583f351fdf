// The generators that the bench compares, each with one ID a call: as a bigint where it can give one, and as text.
import { Snowflake as Sapphire } from "@sapphire/snowflake";
import FlakeId from "flake-idgen";
import hyperid from "hyperid";
import { Snowflake as NodejsSnowflake } from "nodejs-snowflake";
import simple from "simple-flakeid";
import Snowflakify from "snowflakify";
import { Snowyflake } from "snowyflake";
import { TSIDGenerator } from "tsid-ts";
import { v7 } from "uuid";
import { uuidv7 } from "uuidv7";

/** Where the epoch can be chosen: 2024-01-01, as that of frazil's default layout. */
const EPOCH_MS = 1_704_067_200_000;

const sapphire = new Sapphire(BigInt(EPOCH_MS));
const snowyflake = new Snowyflake({ workerId: 1n, processId: 1n, epoch: BigInt(EPOCH_MS) });
const nodejs = new NodejsSnowflake({ custom_epoch: EPOCH_MS, instance_id: 1 });
const flakeId = new FlakeId({ id: 1, epoch: EPOCH_MS });
const yitter = new simple.SnowflakeIdv1({ workerId: 1, workerIdBitLength: 6, seqBitLength: 12 });
const fragments = new Snowflakify({ epoch: EPOCH_MS });
const tsid = new TSIDGenerator();
const uniqueText = hyperid();

/** Without snowflake-uuid, whose licence is the GPL. */
export const PEERS = {
  "@sapphire/snowflake": { bigint: () => sapphire.generate() },
  snowyflake: { bigint: () => snowyflake.nextId() },
  snowflakify: { bigint: () => fragments.nextId() },
  "nodejs-snowflake": { bigint: () => nodejs.getUniqueID() },
  "flake-idgen": { bigint: () => flakeId.next().readBigUInt64BE() },
  "simple-flakeid": { bigint: () => yitter.NextBigId() },
  "tsid-ts": { bigint: () => tsid.create().toBigInt() },
  hyperid: { text: () => uniqueText() },
  "crypto.randomUUID()": { text: () => crypto.randomUUID() },
  "uuidv7 (LiosK)": { text: () => uuidv7() },
  "uuid v7": { text: () => v7() },
};
