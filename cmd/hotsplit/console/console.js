'use strict';
// The console's page: it asks for the state every second and draws it. All text
// from the outside is set as textContent, never as markup.

const $ = (id) => document.getElementById(id);
const token = new URLSearchParams(location.hash.slice(1)).get('token') || '';
const colors = ['#f4f7fa', '#d3e5f2', '#a9cfe6', '#fce0a2', '#fdb462', '#f5803e', '#e04a2f', '#b3141f', '#6d0019'];
const ceiling = { read: 3000, write: 1000 };
const order = ['planned', 'dual-read', 'write-new', 'backfill', 'verified', 'complete'];
const labels = 168, rowHeight = 22, axis = 24, rowsMax = 24;

let state = null;
let view = null; // {from, to} in seconds; null shows all
let chosen = null; // {row, at}
let brush = null;

const number = (n) => Math.round(n).toLocaleString('en-US');
const load = (c) => Math.max(c.read / ceiling.read, c.write / ceiling.write);
const clock = (s) => new Date(s * 1000).toISOString().slice(11, 19);

function color(share) {
  if (share <= 0) return colors[0];
  if (share > 1) return colors[colors.length - 1];
  const steps = colors.length - 2;
  return colors[1 + Math.min(steps - 1, Math.floor(share * steps))];
}

function element(name, attributes, text) {
  const svg = ['svg', 'rect', 'text', 'line', 'title'].includes(name);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

function say(id, text) {
  const e = $(id);
  if (e.textContent !== text) e.textContent = text;
}

// visible makes control characters and marks of direction in a key readable.
function visible(key) {
  if (key === '') return '(key not in the requests)';
  return key.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

const short = (text, most) => [...text].length > most ? [...text].slice(0, most - 1).join('') + '…' : text;
const rows = () => (state && state.map && state.map.rows || []).slice(0, rowsMax);
const step = () => (state && state.map && state.map.stepSeconds) || 1;
const seconds = (text) => Math.floor(Date.parse(text) / 1000);

function span() {
  if (view) return view;
  const from = seconds(state.from), to = Math.max(seconds(state.to), from + 60) + step();
  return { from, to };
}

function drawMap() {
  const map = $('map');
  const list = rows();
  const width = Math.max(320, map.clientWidth), height = Math.max(1, list.length) * rowHeight + axis;
  map.setAttribute('viewBox', `0 0 ${width} ${height}`);
  map.setAttribute('height', height);
  map.replaceChildren();
  if (!list.length) {
    map.append(element('text', { x: 10, y: 20, class: 'soft' }, 'Nothing was seen by the second.'));
    return;
  }
  const { from, to } = span();
  const x = (s) => labels + (s - from) / (to - from) * (width - labels);
  list.forEach((row, i) => {
    const y = i * rowHeight;
    map.append(element('text', { x: labels - 6, y: y + rowHeight / 2 + 4, 'text-anchor': 'end' }, short(visible(row.key), 22)));
    map.append(element('rect', { x: labels, y: y + 1, width: width - labels, height: rowHeight - 2, fill: colors[0] }));
    for (const c of row.cells) {
      const at = seconds(c.at);
      if (at + step() <= from || at >= to) continue;
      const left = Math.max(labels, x(at)), right = Math.min(width, x(at + step()));
      const r = element('rect', { x: left.toFixed(2), y: y + 1, width: Math.max(1, right - left).toFixed(2), height: rowHeight - 2, fill: color(load(c)) });
      map.append(r);
      if (c.throttled) map.append(element('rect', { x: left.toFixed(2), y: y + rowHeight - 6, width: Math.max(1, right - left).toFixed(2), height: 4, class: 'refused' }));
    }
  });
  const base = list.length * rowHeight + 16;
  map.append(element('text', { x: labels, y: base, class: 'soft' }, clock(from)), element('text', { x: width, y: base, class: 'soft', 'text-anchor': 'end' }, clock(to) + ' UTC'));
  if (chosen && chosen.row < list.length && chosen.at >= from && chosen.at < to) {
    map.append(element('rect', { x: x(chosen.at).toFixed(2), y: chosen.row * rowHeight + 1, width: Math.max(3, x(chosen.at + step()) - x(chosen.at)).toFixed(2), height: rowHeight - 2, class: 'chosen' }));
  }
  if (brush) map.append(element('rect', { x: Math.min(brush.a, brush.b), y: 0, width: Math.abs(brush.b - brush.a), height: list.length * rowHeight, class: 'brush' }));
}

// describe says the chosen cell: its key, its use, and who made it.
function describe() {
  const list = rows();
  if (!chosen || chosen.row >= list.length) return;
  const row = list[chosen.row];
  const where = `${visible(row.key)} of ${row.index || row.table} at ${clock(chosen.at)}`;
  const c = row.cells.find((c) => seconds(c.at) === chosen.at);
  let text = `${where}: not among the heavy keys then.`;
  if (c) {
    text = `${where}: ${number(c.read)} read and ${number(c.write)} write units in its busiest second, ${number(100 * load(c))} % of the ceiling.`;
    if (c.throttled) text += ` ${number(c.throttled)} attempts were refused (${c.reason || 'reason not known'}).`;
    if (c.caller) text += ` Mostly ${c.caller}.`;
  }
  const known = (state.callers || []).find((k) => k.key === row.key && k.table === row.table && (k.index || '') === (row.index || ''));
  if (known) text += ' Callers of the key so far: ' + known.callers.slice(0, 4).map((p) => `${p.name} ${number(100 * p.share)} %`).join(', ') + '.';
  say('cell', text);
}

function choose(row, at) {
  const list = rows();
  if (!list.length) return;
  const { from, to } = span();
  const s = step();
  chosen = {
    row: Math.max(0, Math.min(list.length - 1, row)),
    at: Math.max(from - from % s, Math.min(to - 1 - (to - 1) % s, at - at % s)),
  };
  drawMap();
  describe();
}

function place(event) {
  const box = $('map').getBoundingClientRect();
  const { from, to } = span();
  const px = event.clientX - box.left, py = event.clientY - box.top;
  return { px, row: Math.floor(py / rowHeight), at: Math.floor(from + (px - labels) / (box.width - labels) * (to - from)) };
}

function zoom(factor) {
  if (!rows().length) return;
  const { from, to } = span();
  const middle = chosen ? chosen.at : (from + to) / 2;
  const half = Math.max(5 * step(), (to - from) * factor) / 2;
  view = { from: Math.floor(middle - half), to: Math.ceil(middle + half) };
  const all = { from: seconds(state.from), to: seconds(state.to) + step() };
  if (view.from <= all.from && view.to >= all.to) view = null;
  drawMap();
}

function showAll() {
  view = null;
  drawMap();
}

function listenToMap() {
  const map = $('map');
  map.addEventListener('pointermove', (e) => {
    if (!state) return;
    const p = place(e);
    if (brush) {
      brush.b = Math.max(labels, p.px);
      drawMap();
    } else if (p.px > labels) {
      choose(p.row, p.at);
    }
  });
  map.addEventListener('pointerdown', (e) => {
    const p = place(e);
    if (p.px < labels || e.button) return;
    brush = { a: p.px, b: p.px, from: p.at };
    map.setPointerCapture(e.pointerId);
  });
  map.addEventListener('pointerup', (e) => {
    if (!brush) return;
    const end = place(e).at, wide = Math.abs(brush.b - brush.a) > 6;
    const from = Math.min(brush.from, end), to = Math.max(brush.from, end);
    brush = null;
    if (wide && to - from >= 2) view = { from, to };
    drawMap();
  });
  map.addEventListener('pointercancel', () => { brush = null; drawMap(); });
  map.addEventListener('keydown', (e) => {
    if (!state) return;
    const list = rows();
    const at = chosen ? chosen.at : (list[0] && list[0].cells.length ? seconds(list[0].cells[list[0].cells.length - 1].at) : 0);
    const row = chosen ? chosen.row : 0;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [0, -10], PageDown: [0, 10] };
    if (moves[e.key]) choose(row + moves[e.key][0], at + moves[e.key][1] * step());
    else if (e.key === '+' || e.key === '=') zoom(0.5);
    else if (e.key === '-') zoom(2);
    else if (e.key === 'Escape') showAll();
    else return;
    e.preventDefault();
  });
  $('zoom-in').addEventListener('click', () => zoom(0.5));
  $('zoom-out').addEventListener('click', () => zoom(2));
  $('zoom-all').addEventListener('click', showAll);
}

function showHeat() {
  say('paragraph', state.dark && !rows().length ? 'Nothing can be said of heat.' : state.paragraph);
  $('dark').hidden = !state.dark;
  say('dark', state.dark || '');
  say('source', state.source ? 'Heat is from the ' + state.source + '.' : '');
  const verdicts = $('verdicts');
  const seen = JSON.stringify(state.verdicts);
  if (verdicts.dataset.seen !== seen) {
    verdicts.dataset.seen = seen;
    verdicts.replaceChildren(...(state.verdicts || []).map((v) => {
      const li = element('li');
      li.append(element('b', { class: v.severity }, `${v.rule}, ${v.severity}`), state.paragraph.includes(v.text) ? '' : ': ' + v.text);
      if (v.evidence) {
        const list = element('ul', { class: 'soft' });
        v.evidence.forEach((line) => list.append(element('li', {}, line)));
        li.append(list);
      }
      if (v.next) li.append(element('div', { class: 'soft' }, 'Next: ' + v.next));
      return li;
    }));
  }
}

function showPhases(phase) {
  const list = phase === 'reverting' ? ['reverting', ...order] : order;
  const here = order.indexOf(phase);
  $('phases').replaceChildren(...list.map((p) => {
    const at = order.indexOf(p);
    const kind = p === 'reverting' ? 'back here' : at === here ? 'here' : at < here ? 'done' : '';
    const li = element('li', { class: kind }, p);
    if (p === phase) li.setAttribute('aria-current', 'step');
    return li;
  }));
}

function fact(name, text) {
  return [element('dt', {}, name), element('dd', {}, text)];
}

function showMove() {
  const m = state.move;
  $('move-known').hidden = !m.known;
  $('move-unknown').hidden = m.known;
  say('move-unknown', m.why || '');
  if (!m.known) return;
  const s = m.status;
  showPhases(s.phase);
  say('line', m.line);
  const share = s.total > 0 ? Math.min(1, s.moved / s.total) : 0;
  $('bar').setAttribute('width', 100 * share);
  $('progress').setAttribute('aria-label', `${s.moved} of ${s.total} rows moved`);
  const facts = [
    ...fact('layouts', `${s.from} to ${s.to}`),
    ...fact('generation', `${s.generation}${s.agreed ? ', every member has it' : ', not confirmed by every member'}`),
    ...fact('progress', s.total > 0 ? `${number(s.moved)} of ${number(s.total)} rows, ${number(100 * share)} %` : `${number(s.moved)} rows moved; how many there are is not known yet`),
    ...fact('on the way', `${number(s.moving)} rows`),
    ...fact('pace', `${s.rate.toFixed(1)} rows a second` + (s.why ? `, because: ${s.why}` : '; the reason is not told')),
    ...fact('ETA', s.eta || 'not known'),
    ...fact('old key', `${number(s.oldUnits)} write units a second by members`),
    ...fact('runner', s.runner || 'none holds the lease'),
    ...fact('waiting for', s.waiting || (s.behind && s.behind.length ? s.behind.join(', ') : 'nobody')),
    ...fact('verification', s.pass ? `${number(s.pass.owners)} owners, ${number(s.pass.rows)} rows, ${number(s.pass.defects)} defects, at ${s.pass.at}` : 'no pass yet'),
    ...fact('next', (s.next || []).join(' or ') || 'nothing'),
  ];
  const text = facts.map((f) => f.textContent).join('\n');
  if ($('facts').dataset.seen !== text) {
    $('facts').dataset.seen = text;
    $('facts').replaceChildren(...facts);
  }
  showMembers(s.members || [], s.generation);
  const events = (m.events || []).join('\n');
  if ($('events').dataset.seen !== events) {
    $('events').dataset.seen = events;
    $('events').replaceChildren(...(m.events || []).map((e) => element('li', {}, e)));
  }
}

function showMembers(members, generation) {
  const list = members.map((m) => {
    const units = Object.entries(m.units || {}).map(([k, u]) => `${visible(k)}: ${u.read} read, ${u.write} write`).join('; ');
    const tr = element('tr');
    [m.id, m.role || '', m.version || '', m.generation + (m.generation < generation ? ' (behind)' : ''), units || 'not reported'].forEach((t) => tr.append(element('td', {}, String(t))));
    return tr;
  });
  if (!list.length) {
    const tr = element('tr');
    tr.append(element('td', { colspan: 5, class: 'soft' }, 'No member reports. Programs that know only the old key cannot be seen here.'));
    list.push(tr);
  }
  $('members').replaceChildren(...list);
}

const questions = {
  advance: 'Take the move one phase further?',
  complete: 'End the reading of the old key? The way back stays open until the move is archived.',
  rollback: 'Every row goes back to the old key. Roll back?',
};

let asking = null; // {id} of a question of the runner, or {verb}

function ask(what, text, members) {
  asking = what;
  $('ask-text').textContent = text + ' Type yes to confirm.';
  $('ask-members').replaceChildren(...(members || []).map((m) => element('li', {}, m)));
  $('ask-answer').value = '';
  $('ask').returnValue = '';
  $('ask').showModal();
  $('ask-answer').focus();
}

async function post(path, body) {
  const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Hotsplit-Token': token }, body: JSON.stringify(body) });
  if (!answer.ok) say('running', (await answer.text()).trim());
  return answer.ok;
}

function act(verb, sure) {
  const argument = verb === 'set' ? $('setting').value : verb === 'pause' ? 'paused at the console' : '';
  return post('/act', { verb, argument, sure });
}

function listenToActions() {
  if (!$('actions')) return;
  for (const b of document.querySelectorAll('[data-verb]')) {
    b.addEventListener('click', () => questions[b.dataset.verb] ? ask({ verb: b.dataset.verb }, questions[b.dataset.verb]) : act(b.dataset.verb, ''));
  }
  $('ask').addEventListener('close', () => {
    const what = asking, given = $('ask').returnValue === 'ok' ? $('ask-answer').value.trim() : 'no';
    asking = null;
    if (what && what.id) post('/answer', { id: what.id, answer: given });
    else if (what && given === 'yes') act(what.verb, 'yes');
    else if (what) say('running', what.verb + ': not confirmed');
  });
}

function showAction() {
  const a = state.action;
  if (!$('actions')) return;
  for (const b of document.querySelectorAll('[data-verb]')) b.disabled = !a.allowed || Boolean(a.running && questions[b.dataset.verb]);
  if (a.running) say('running', a.running + ' is running …');
  else if (a.last) say('running', a.last);
  $('running').className = a.failed && !a.running ? 'bad' : '';
  if (a.question && !asking) ask({ id: a.question.id }, a.question.text, a.question.members);
}

async function refresh() {
  try {
    const answer = await fetch('/state');
    if (!answer.ok) throw new Error(answer.statusText);
    state = await answer.json();
    $('lost').hidden = true;
    say('clock', state.now.slice(0, 19).replace('T', ' ') + ' UTC');
    showHeat();
    if (!brush) drawMap();
    describe();
    showMove();
    showAction();
  } catch {
    $('lost').hidden = false;
  }
  setTimeout(refresh, 1000);
}

listenToMap();
listenToActions();
window.addEventListener('resize', () => state && drawMap());
refresh();
