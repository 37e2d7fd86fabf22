"use strict";

// The data map's logic, without a document: reading the data, choosing points, exporting.
// N points; "chosen" arrays hold 1 for a point that is in the choice, 0 for one that is not.
const HeronMap = (() => {
  const ARRAYS = { f4: Float32Array, i4: Int32Array, i2: Int16Array };

  function unpack(block) {
    const text = atob(block.data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
    return new ARRAYS[block.type](bytes.buffer);
  }

  function readColumn(column) {
    return column.kind === "numbers"
      ? { name: column.name, values: unpack(column.values) }
      : { name: column.name, names: column.names, codes: unpack(column.codes) };
  }

  function read(payload) {
    const runs = payload.runs.map((run) => ({
      name: run.name,
      records: run.records,
      values: Object.fromEntries(Object.entries(run.values).map(([k, v]) => [k, unpack(v)])),
      predicted: run.predicted && readColumn(run.predicted),
    }));
    const texts = payload.texts && {
      strings: payload.texts.strings,
      first: unpack(payload.texts.first),
      second: payload.texts.second && unpack(payload.texts.second),
      language: payload.texts.language,
      direction: payload.texts.direction,
    };
    return { ...payload, runs, texts, columns: payload.columns.map(readColumn) };
  }

  function textOf(data, row, which) {
    const places = data.texts && data.texts[which];
    return places && places[row] >= 0 ? data.texts.strings[places[row]] : "";
  }

  // What points can be coloured by; statistics and predictions are the shown run's own.
  function colourings(data, run) {
    const shown = data.runs[run];
    const numbers = data.statistics.map((name) => ({ name, values: shown.values[name] }));
    const found = [...numbers.filter((column) => column.values), ...data.columns];
    if (shown.predicted) found.splice(data.statistics.length, 0, shown.predicted);
    return found.sort((a, b) => (b.name === "correctness") - (a.name === "correctness"));
  }

  // Each point's place in a legend of few entries, or on a scale from 0 to 1.
  function colouring(column, few, palette) {
    if (column.codes) {
      const counts = countCodes(column.codes, column.names.length);
      // Names come with the most frequent first; those beyond the palette share one colour.
      const shown = column.names.length > palette ? palette - 1 : column.names.length;
      const bands = column.codes.map((code) => Math.min(code, shown));
      const entries = column.names.slice(0, shown).map((name, i) => ({ name, count: counts[i] }));
      if (shown < column.names.length) {
        const rest = counts.slice(shown).reduce((sum, count) => sum + count, 0);
        entries.push({ name: `${column.names.length - shown} others`, count: rest, other: true });
      }
      return { bands: Int16Array.from(bands), entries, ordered: false };
    }
    const sorted = Float32Array.from(column.values.filter(Number.isFinite)).sort();
    const distinct = [];
    for (const value of sorted) {
      if (value !== distinct[distinct.length - 1]) distinct.push(value);
      if (distinct.length > few) break;
    }
    if (distinct.length <= few) {
      const bands = Int16Array.from(column.values, (value) => distinct.indexOf(value));
      const counts = countCodes(bands, distinct.length);
      const entries = distinct.map((v, i) => ({ name: short(v), count: counts[i] }));
      return { bands, entries, ordered: true };
    }
    // A few extreme values must not squeeze all others into one colour.
    const unit = column.name === "correctness" || column.name === "confidence";
    const low = unit ? 0 : sorted[Math.floor(0.01 * (sorted.length - 1))];
    const high = unit ? 1 : sorted[Math.ceil(0.99 * (sorted.length - 1))];
    const scaled = Float32Array.from(column.values, (value) =>
      Math.min(Math.max((value - low) / (high - low || 1), 0), 1));
    return { scaled, low, high };
  }

  function countCodes(codes, length) {
    const counts = new Array(length).fill(0);
    for (const code of codes) if (code >= 0) counts[code] += 1;
    return counts;
  }

  // Points sorted into square cells, so that looking for the nearest one reads few of them.
  function makeGrid(x, y, cells = 128) {
    let widest = 0.5;
    for (const value of x) if (value > widest) widest = value;
    const cell = new Int32Array(x.length);
    const start = new Int32Array(cells * cells + 1);
    for (let i = 0; i < x.length; i++) {
      const seen = x[i] === x[i] && y[i] === y[i];
      cell[i] = seen ? place(y[i], cells) * cells + place(x[i] / widest, cells) : -1;
      if (seen) start[cell[i] + 1] += 1;
    }
    for (let i = 0; i < cells * cells; i++) start[i + 1] += start[i];
    const next = start.slice();
    const items = new Int32Array(start[cells * cells]);
    for (let i = 0; i < x.length; i++) if (cell[i] >= 0) items[next[cell[i]]++] = i;
    return { x, y, cells, widest, start, items };
  }

  function place(share, cells) {
    return Math.min(Math.max(Math.floor(share * cells), 0), cells - 1);
  }

  // The nearest allowed point to (x, y), at most `radius` pixels away; -1 where there is none.
  // `perX` and `perY` are pixels per unit; `allowed` may be null.
  function nearest(grid, x, y, perX, perY, radius, allowed) {
    const { cells, widest, start, items } = grid;
    const left = place((x - radius / perX) / widest, cells);
    const right = place((x + radius / perX) / widest, cells);
    const bottom = place(y - radius / perY, cells);
    const top = place(y + radius / perY, cells);
    let best = -1;
    let bestDistance = radius * radius;
    for (let row = bottom; row <= top; row++) {
      for (let k = start[row * cells + left]; k < start[row * cells + right + 1]; k++) {
        const i = items[k];
        if (allowed && !allowed[i]) continue;
        const dx = (grid.x[i] - x) * perX;
        const dy = (grid.y[i] - y) * perY;
        const distance = dx * dx + dy * dy;
        if (distance < bestDistance || (distance === bestDistance && best < 0)) {
          best = i;
          bestDistance = distance;
        }
      }
    }
    return best;
  }

  // The nearest point in a direction (dx, dy of -1, 0, 1), for walking with the keyboard. Points in
  // the same place are walked through by their number, or one would hide all others.
  function step(x, y, from, dx, dy, perX, perY, allowed) {
    let best = -1;
    let bestCost = Infinity;
    const forward = dx > 0 || dy > 0;
    for (let i = 0; i < x.length; i++) {
      if (i === from || (allowed && !allowed[i]) || x[i] !== x[i] || y[i] !== y[i]) continue;
      const px = (x[i] - x[from]) * perX;
      const py = (y[i] - y[from]) * perY;
      if (px === 0 && py === 0) {
        if (forward ? i < from : i > from) continue;
        const cost = Math.abs(i - from) / x.length / 1e3;
        if (cost < bestCost) [best, bestCost] = [i, cost];
        continue;
      }
      const along = px * dx + py * dy;
      const across = Math.abs(px * dy) + Math.abs(py * dx);
      if (along <= 0 || across > along) continue;
      const cost = along + 2 * across;
      if (cost < bestCost) [best, bestCost] = [i, cost];
    }
    return best;
  }

  function inRectangle(x, y, box, into) {
    for (let i = 0; i < x.length; i++) {
      if (x[i] >= box.x0 && x[i] <= box.x1 && y[i] >= box.y0 && y[i] <= box.y1) into[i] = 1;
    }
    return into;
  }

  // Rows whose text, second text or guid holds the words as they stand; null for no words.
  function search(data, words) {
    const wanted = words.trim().normalize("NFC").toLowerCase();
    if (!wanted) return null;
    const lower = (strings) => strings.map((text) => text.normalize("NFC").toLowerCase());
    data.lower ??= { guids: lower(data.guids), strings: data.texts ? lower(data.texts.strings) : [] };
    const inString = Uint8Array.from(data.lower.strings, (text) => text.includes(wanted));
    const hits = Uint8Array.from(data.lower.guids, (guid) => guid.includes(wanted));
    for (const which of ["first", "second"]) {
      const places = data.texts && data.texts[which];
      if (places) for (let i = 0; i < hits.length; i++) hits[i] |= places[i] >= 0 && inString[places[i]];
    }
    return hits;
  }

  function histogram(values, chosen, low, high, bins) {
    const counts = new Int32Array(bins);
    const scale = bins / (high - low);
    for (let i = 0; i < values.length; i++) {
      if (values[i] !== values[i] || (chosen && !chosen[i])) continue;
      counts[Math.min(Math.max(Math.floor((values[i] - low) * scale), 0), bins - 1)] += 1;
    }
    return counts;
  }

  // Rows that moved furthest between two runs, with the distance; ties by row.
  function furthest(a, b, chosen, most) {
    const moved = [];
    for (let i = 0; i < a.confidence.length; i++) {
      if (chosen && !chosen[i]) continue;
      const distance = Math.hypot(
        b.confidence[i] - a.confidence[i], b.variability[i] - a.variability[i]);
      if (distance > 0) moved.push({ row: i, distance });
    }
    moved.sort((one, other) => other.distance - one.distance || one.row - other.row);
    return moved.slice(0, most);
  }

  function rowsOf(data, chosen) {
    const rows = [];
    for (let i = 0; i < data.count; i++) if (!chosen || chosen[i]) rows.push(i);
    return rows;
  }

  function toTxt(data, chosen) {
    return rowsOf(data, chosen).map((row) => data.guids[row] + "\n").join("");
  }

  function toCsv(data, chosen) {
    const several = data.runs.length > 1;
    const columns = data.columns.map((c) => [c.name, (row) => valueOf(c, row)]);
    data.runs.forEach((run, number) => {
      const suffix = several ? ` ${"AB"[number]}` : "";
      for (const name of data.statistics) {
        const values = run.values[name];
        if (values) columns.push([name + suffix, (row) => valueOf({ values }, row)]);
      }
      if (run.predicted) columns.push(["predicted" + suffix, (row) => valueOf(run.predicted, row)]);
    });
    const line = (cells) => cells.map(quote).join(",") + "\n";
    const head = line(["guid", ...columns.map(([name]) => name)]);
    const cells = (row) => [data.guids[row], ...columns.map(([, value]) => value(row))];
    return head + rowsOf(data, chosen).map((row) => line(cells(row))).join("");
  }

  function valueOf(column, row) {
    if (column.codes) return column.codes[row] >= 0 ? column.names[column.codes[row]] : "";
    return Number.isNaN(column.values[row]) ? "" : String(Number(column.values[row].toPrecision(7)));
  }

  function quote(cell) {
    return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  }

  function short(value) {
    return Number.isNaN(value) ? "–" : String(Number(value.toPrecision(3)));
  }

  // A view as the part of an address after "#", and back.
  function toHash(view) {
    const words = Object.entries(view).filter(([, value]) => value !== "" && value !== null);
    return "#" + words.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  }

  function fromHash(hash) {
    const view = {};
    for (const word of hash.replace(/^#/, "").split("&")) {
      const [key, value] = word.split("=", 2);
      try {
        if (value !== undefined) view[key] = decodeURIComponent(value);
      } catch { /* a broken link still opens the page */ }
    }
    return view;
  }

  return {
    read, textOf, colourings, colouring, makeGrid, nearest, step, inRectangle, search, histogram,
    furthest, rowsOf, toTxt, toCsv, valueOf, short, toHash, fromHash,
  };
})();

if (typeof module !== "undefined") module.exports = HeronMap;
