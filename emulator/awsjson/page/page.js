"use strict";
const byId = id => document.getElementById(id);
const ROWS_MAX = 50;
let sequence = 0, second = 0, throttles = [];

function make(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

const level = percent => percent <= 0 ? "" : percent < 25 ? "l1" : percent < 60 ? "l2" : percent < 90 ? "l3" : "l4";
const count = n => n >= 100 ? Math.round(n).toLocaleString("en") : String(Math.round(n * 10) / 10);
const some = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
const partName = id => id < 0 ? "" : "p" + id;

function bar(value, ceiling) {
  const b = make("div", "bar"), fill = make("i", level(100 * value / ceiling));
  fill.style.width = Math.min(100, 100 * value / ceiling) + "%";
  b.append(fill);
  return b;
}

function partition(p) {
  const e = make("div", "part"), last = p.read.length - 1;
  if (p.throttled) e.append(make("span", "warn", count(p.throttled) + " throttled"));
  e.append(make("b", "", partName(p.id)));
  for (const [word, used, ceiling] of [["writes", p.write[last], p.ceiling.write], ["reads", p.read[last], p.ceiling.read]]) {
    e.append(make("div", "", `${count(used)} of ${count(ceiling)} ${word}/s`), bar(used, ceiling));
  }
  const share = p.write.map((w, i) => Math.ceil(100 * Math.max(w / p.ceiling.write, p.read[i] / p.ceiling.read)));
  e.append(strip(share, []));
  return e;
}

function strip(share, throttled) {
  const e = make("div", "strip");
  share.forEach((percent, i) => {
    const cell = make("i", level(percent) + (throttled[i] ? " refused" : ""));
    const ago = share.length - 1 - i;
    cell.title = `${ago} s ago: ${percent} % of the partition's ceiling` + (throttled[i] ? `, ${throttled[i]} throttled` : "");
    e.append(cell);
  });
  e.setAttribute("role", "img");
  e.setAttribute("aria-label", `heat of the last minute, now ${share[share.length - 1]} percent of the ceiling`);
  return e;
}

function keyRows(keys) {
  const grid = make("div", "keys"), time = make("div", "head time");
  time.append(make("span", "", "a minute ago"), make("span", "", "now"));
  grid.append(make("div", "head", "hottest keys"), time, make("div", "head num", "units in the last second"));
  for (const k of keys) {
    const name = make("div", "name", k.key);
    name.title = k.key;
    grid.append(name, strip(k.share, k.throttled), make("div", "num", `${partName(k.partition)} · ${count(k.write)} W · ${count(k.read)} R`));
  }
  return grid;
}

function resource(r) {
  const card = make("article"), title = make("h2", "", r.index || r.table);
  title.append(make("small", "", (r.index ? `index of ${r.table}` : "table") +
    ", " + some(r.partitions.length, "partition")));
  const parts = make("div", "parts");
  r.partitions.forEach(p => parts.append(partition(p)));
  card.append(title, parts);
  if (r.keys.length) card.append(keyRows(r.keys));
  return card;
}

function legend() {
  const e = make("p", "legend", "share of a partition's ceiling:");
  for (const [cls, text] of [["", "none"], ["l1", "under 25 %"], ["l2", "25 to 60 %"], ["l3", "60 to 90 %"], ["l4", "90 % and more"], ["refused", "requests refused"]])
    e.append(make("i", cls), make("span", "", text));
  return e;
}

function nothing() {
  const e = make("div", "empty", "No tables yet. Point a client here:");
  e.append(make("pre", "", `export AWS_ENDPOINT_URL_DYNAMODB=${location.origin} AWS_REGION=us-east-1\n` +
    "export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local\naws dynamodb list-tables"));
  return e;
}

function throttleRow(t) {
  const tr = make("tr");
  const time = new Date(t.time).toISOString().slice(11, 23);
  for (const text of [time, t.operation, t.index ? `${t.table} / ${t.index}` : t.table, partName(t.partition)]) tr.append(make("td", "", text));
  const key = make("td", "key", t.key);
  key.title = t.key;
  tr.append(key, make("td", "", t.reason), make("td", "", t.caller));
  return tr;
}

function show(v) {
  const cards = v.resources.map(resource);
  byId("resources").replaceChildren(...(cards.length ? [...cards, legend()] : [nothing()]));
  const passed = second ? Math.max(1, v.second - second) : 0;
  const indexes = v.resources.filter(r => r.index).length;
  const parts = [`${some(v.resources.length - indexes, "table")}, ${some(indexes, "index", "indexes")}`];
  if (passed) parts.push(`${count(v.requests / passed)} requests/s`);
  if (v.faults) parts.push(some(v.faults, "scripted fault"));
  byId("summary").textContent = parts.join(" · ");
  throttles = v.throttles.concat(throttles).slice(0, ROWS_MAX);
  byId("throttles").hidden = !throttles.length;
  byId("calm").hidden = throttles.length > 0;
  byId("throttles").tBodies[0].replaceChildren(...throttles.map(throttleRow));
  sequence = v.sequence;
  second = v.second;
}

async function refresh() {
  try {
    const answer = await fetch("/admin/state?since=" + sequence, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    show(await answer.json());
    byId("lost").hidden = true;
  } catch {
    byId("lost").hidden = false;
  }
  setTimeout(refresh, document.hidden ? 5000 : 1000);
}
show(FIRST);
setTimeout(refresh, 1000);
