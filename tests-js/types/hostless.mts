// A program without the types of any host: neither DOM nor Node, nor `Symbol.dispose`.
import { Snowflake } from "frazil";
import * as decode from "frazil/decode";
import * as layout from "frazil/layout";
import * as lease from "frazil/lease";
import "frazil/native";
import * as publicIds from "frazil/public";
import * as segment from "frazil/segment";
import * as d1 from "frazil/stores/d1";
import * as document from "frazil/stores/document";
import * as durableObject from "frazil/stores/durable-object";
import * as etcd from "frazil/stores/etcd";
import * as mysql from "frazil/stores/mysql";
import * as postgres from "frazil/stores/postgres";
import * as redis from "frazil/stores/redis";
import * as sqlite from "frazil/stores/sqlite";
import * as zookeeper from "frazil/stores/zookeeper";
import * as testing from "frazil/testing";
import * as leaseContract from "frazil/testing/lease-contract";
import * as segmentContract from "frazil/testing/segment-contract";
import * as text from "frazil/text";
import * as transport from "frazil/transport";
import * as sql from "frazil/sql";
import * as typed from "frazil/typed";
import * as workers from "frazil/workers";
import * as workersSegment from "frazil/workers/segment";

export const entries = [decode, layout, lease, publicIds, segment, sql, testing, text, transport, typed, workers, workersSegment];
export const contracts = [leaseContract, segmentContract];
export const stores = [d1, document, durableObject, etcd, mysql, postgres, redis, sqlite, zookeeper];

// A signal is what frazil uses of one.
const signal = {
  aborted: false,
  reason: undefined,
  throwIfAborted() {},
  addEventListener(_type: "abort", _listener: () => void) {},
  removeEventListener(_type: "abort", _listener: () => void) {},
};
const ids = new Snowflake({ node: 7 });
export const id: Promise<bigint> = ids.nextAsync({ signal });
// @ts-expect-error: nobody could hear that it aborts
void ids.nextAsync({ signal: { aborted: false } });
ids[Symbol.dispose]();
