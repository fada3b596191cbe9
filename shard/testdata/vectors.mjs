// A second implementation of the shard function, checked against the vectors
// given as the first argument.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const vectors = JSON.parse(readFileSync(process.argv[2], "utf8"));
if (vectors.length < 100) throw new Error(`only ${vectors.length} vectors`);
let topBits = 0;
for (const v of vectors) {
  const hash = createHash("sha256").update(v.owner, "utf8").digest("hex").slice(0, 16);
  const shard = v.count === 0 ? 0 : Number(BigInt("0x" + hash) % BigInt(v.count));
  const key = v.count === 0 ? v.base : `${v.base}#${shard}`;
  if (v.function !== "sha256-64-mod" || hash !== v.hash || shard !== v.shard || key !== v.key) {
    throw new Error(`${JSON.stringify(v)}: here ${hash} ${shard} ${key}`);
  }
  if (BigInt("0x" + hash) >> 63n) topBits++;
}
if (topBits === 0) throw new Error("no vector has the top bit set");
