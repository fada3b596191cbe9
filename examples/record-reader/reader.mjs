// Reads hotsplit's durable record (docs/record-format.md) and says how to read
// and stamp a person's rows now: what a member in another language needs.
//   node reader.mjs http://127.0.0.1:8000 TABLE HOTSPLIT#renewal-saga person-2
import { createHash } from "node:crypto";

/** @typedef {{index: string, partitionKey: string, base: string, count: number, separator?: string}} Layout */
/** @typedef {{format: number, function: string, phase: string, generation: number, from: Layout, to: Layout}} Record */

/** Which layouts each phase reads, and which one it stamps; an unknown phase reads both. */
const phases = {
  planned: ["from", "from"], "dual-read": ["from to", "from"], "write-new": ["from to", "to"], backfill: ["from to", "to"],
  verified: ["from to", "to"], complete: ["to", "to"], reverting: ["to from", "from"],
};

/** @param {any} v an attribute value @returns {any} plain JSON */
const plain = (v) => v.M ? Object.fromEntries(Object.entries(v.M).map(([k, w]) => [k, plain(w)]))
  : v.L ? v.L.map(plain) : v.N !== undefined ? Number(v.N) : v.S ?? v.BOOL ?? null;

/** @param {Layout} l @param {string} owner @returns {string} the partition key of owner's rows */
export function keyOf(l, owner) {
  if (l.count === 0) return l.base;
  const hash = createHash("sha256").update(owner, "utf8").digest("hex").slice(0, 16);
  return `${l.base}${l.separator || "#"}${BigInt("0x" + hash) % BigInt(l.count)}`;
}

/** @param {Record} r @param {string} owner */
export function route(r, owner) {
  if (r.format !== 1 || r.function !== "sha256-64-mod") throw new Error(`record of format ${r.format}, function ${r.function}: upgrade`);
  const [read, write] = phases[r.phase] ?? ["from to", null];
  return { phase: r.phase, generation: r.generation, read: read.split(" ").map((l) => keyOf(r[l], owner)), write: write && keyOf(r[write], owner) };
}

const [endpoint, table, prefix, owner] = process.argv.slice(2);
const answer = await fetch(endpoint, { // against AWS use the SDK's GetItemCommand, which signs
  method: "POST", headers: { "X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0", "Authorization": "AWS4-HMAC-SHA256 Credential=reader/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0", "X-Amz-Date": "20260101T000000Z" },
  body: JSON.stringify({ TableName: table, ConsistentRead: true, Key: { PK: { S: prefix }, SK: { S: "RECORD" } } }),
});
const { Item, message } = await answer.json();
if (!Item) throw new Error(message ?? `no record under ${prefix}: read and stamp the layout of your own configuration`);
console.log(JSON.stringify(route(plain(Item.hotsplit), owner)));
