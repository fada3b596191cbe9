// Keeps a page up to date: asks for its live part with the last ETag, changes
// only the rows that changed, and leaves scroll, focus and typed text alone.
(() => {
  "use strict";
  const live = document.getElementById("live");
  const statusLine = document.getElementById("status");
  const statusText = document.getElementById("status-text");
  const notice = document.getElementById("notice");
  const spoken = document.getElementById("spoken");
  const every = Number(document.body.dataset.poll) || 4000;
  const staleAfter = Number(document.body.dataset.stale) || 15;
  const automation = statusText.textContent;
  let tag = "";
  let address = location.pathname + location.search;
  let timer = 0;
  let failures = 0;
  let busy = null;
  let lastGood = Date.now() - (Number(document.body.dataset.age) || 0) * 1000;

  const seconds = (n) => n < 90 ? Math.round(n) + " s" : n < 5400 ? Math.round(n / 60) + " min" : Math.round(n / 3600) + " h";

  function show(age) {
    const old = age > staleAfter;
    statusLine.classList.toggle("live", !old);
    statusLine.classList.toggle("old", old);
    statusText.textContent = automation + " · " + (old ? "as of " + seconds(age) + " ago" : "live");
    notice.hidden = !old;
    const text = "The database is busy. You see the page as it was " + seconds(age) + " ago; it catches up by itself.";
    if (old && notice.textContent !== text) notice.textContent = text;
  }

  function later(wait) {
    clearTimeout(timer);
    // A little chance keeps many browsers from asking in step.
    timer = setTimeout(look, wait * (0.85 + Math.random() * 0.3));
  }

  async function look() {
    if (document.hidden) return later(every);
    if (busy) busy.abort();
    const mine = busy = new AbortController();
    const limit = setTimeout(() => mine.abort(), 15000);
    try {
      const answer = await fetch(address, {
        headers: Object.assign({ "X-Fragment": "1", "Accept": "text/html" }, tag ? { "If-None-Match": tag } : {}),
        cache: "no-store", signal: mine.signal,
      });
      if (answer.status === 200) merge(await answer.text());
      if (answer.status === 200 || answer.status === 304) {
        tag = answer.headers.get("ETag") || tag;
        failures = 0;
        const age = Number(answer.headers.get("Age")) || 0;
        lastGood = Date.now() - age * 1000;
        show(age);
        later(every);
        return;
      }
      if (answer.status < 500 && answer.status !== 429) return location.reload(); // gone, or not ours to see
      missed(Number(answer.headers.get("Retry-After")));
    } catch (error) {
      if (busy !== mine) return; // another look took its place
      missed(0);
    } finally {
      clearTimeout(limit);
    }
  }

  function missed(retryAfter) {
    failures++;
    show((Date.now() - lastGood) / 1000);
    later(Math.max(retryAfter * 1000, Math.min(every * 2 ** failures, 30000)));
  }

  // merge puts the new parts in place of the old ones. A table is merged row by
  // row; what has the focus is found again by its address, id or value.
  function merge(html) {
    const fresh = document.createElement("div");
    fresh.innerHTML = html;
    const focus = remember();
    let changed = 0;
    const seen = new Set();
    let before = null;
    for (const part of [...fresh.children]) {
      const name = part.dataset.part;
      seen.add(name);
      const old = live.querySelector(`:scope > [data-part="${name}"]`);
      if (!old) {
        before ? before.after(part) : live.prepend(part);
        before = part;
        changed++;
        continue;
      }
      before = old;
      const rows = part.querySelector("[data-rows]");
      const oldRows = old.querySelector("[data-rows]");
      if (rows && oldRows) changed += mergeRows(oldRows, rows);
      else if (old.innerHTML !== part.innerHTML) {
        old.replaceWith(part);
        before = part;
        if (name !== "tiles" && name !== "count" && name !== "pager") changed++;
      }
    }
    for (const old of [...live.children]) if (!seen.has(old.dataset.part)) old.remove();
    if (focus) focus();
    if (changed) spoken.textContent = changed === 1 ? "One change" : changed + " changes";
  }

  function mergeRows(table, fresh) {
    const old = new Map([...table.children].map((row) => [row.dataset.key, row]));
    let changed = 0;
    let at = table.firstElementChild;
    for (const row of [...fresh.children]) {
      const have = old.get(row.dataset.key);
      let keep = have;
      if (!have) {
        keep = row;
        keep.classList.add("changed");
        changed++;
      } else if (have.dataset.rev !== row.dataset.rev) {
        have.dataset.rev = row.dataset.rev;
        mergeCells(have, row);
        have.classList.remove("changed");
        void have.offsetWidth; // starts the animation anew
        have.classList.add("changed");
        changed++;
      }
      old.delete(row.dataset.key);
      if (keep === at) at = at.nextElementSibling;
      else table.insertBefore(keep, at);
    }
    for (const gone of old.values()) { gone.remove(); changed++; }
    return changed;
  }

  function mergeCells(have, row) {
    [...row.children].forEach((cell, i) => {
      if (have.children[i].innerHTML !== cell.innerHTML) have.children[i].innerHTML = cell.innerHTML;
    });
  }

  // remember says how to give the focus back when its element is replaced.
  function remember() {
    const el = document.activeElement;
    if (!el || !live.contains(el)) return null;
    const find = el.id ? "#" + CSS.escape(el.id) : el.getAttribute("href") ? `a[href="${CSS.escape(el.getAttribute("href"))}"]` : null;
    return () => {
      if (document.activeElement === el && el.isConnected) return;
      const again = el.isConnected ? el : find && live.querySelector(find);
      if (again) again.focus({ preventScroll: true });
      else document.getElementById("main").focus({ preventScroll: true });
    };
  }

  const filter = document.getElementById("filter");
  if (filter) {
    let typing = 0;
    const apply = () => {
      const query = new URLSearchParams();
      for (const [name, value] of new FormData(filter)) {
        if (value && !(name === "view" && value === "active")) query.append(name, value);
      }
      const text = query.toString();
      address = filter.getAttribute("action") + (text ? "?" + text : "");
      history.replaceState(null, "", address);
      tag = "";
      look();
    };
    filter.addEventListener("input", (event) => {
      clearTimeout(typing);
      typing = setTimeout(apply, event.target.type === "search" ? 200 : 0);
    });
    filter.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(typing); apply(); });
    // On keyup, so that the key itself is not typed into the field it opens.
    document.addEventListener("keyup", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
      filter.elements.q.focus();
      filter.elements.q.select();
    });
  }

  const move = document.getElementById("move");
  if (move) {
    move.addEventListener("submit", () => {
      // After the form took its button's value, pressing twice does nothing.
      setTimeout(() => move.querySelectorAll("button:not(.blocker)").forEach((b) => { b.disabled = true; }), 0);
    });
    addEventListener("pageshow", () => move.querySelectorAll("button:not(.blocker)").forEach((b) => { b.disabled = false; }));
    // A conflict's page has the address of the form; looks and reloads use the renewal's.
    address = move.getAttribute("action").replace(/\/moves$/, "");
    if (location.pathname !== address) history.replaceState(null, "", address);
    for (const id of ["conflict", "failure"]) {
      const alert = document.getElementById(id);
      if (alert) { alert.tabIndex = -1; alert.focus(); }
    }
  }

  const error = document.getElementById("error");
  if (error) {
    const wait = Number(error.dataset.retry);
    if (wait) setTimeout(() => location.reload(), wait * 1000 * (1 + Math.random() / 2));
    return;
  }
  if (live) {
    show(Number(document.body.dataset.age) || 0);
    later(every);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  }
})();
