"use strict";

// The dashboard's figures, as SVG: a few hundred lines are quick, can be pointed at and printed.
const HeronFigures = (() => {
  const SPACE = "http://www.w3.org/2000/svg";
  const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

  function node(name, attributes = {}, children = []) {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // Each text in its own direction, and cut where there is no room.
  function text(words, x, y, more = {}, most = 40) {
    const shown = words.length > most ? `${words.slice(0, most - 1)}…` : words;
    const made = node("text", { x, y, ...more });
    made.style.unicodeBidi = "plaintext";
    made.append(shown);
    if (shown !== words) made.append(node("title", {}, [words]));
    return made;
  }

  function canvas(holder, height, label) {
    const width = Math.max(holder.clientWidth, 320);
    const made = node("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
    holder.replaceChildren(made);
    return [made, width];
  }

  // Parallel coordinates: a line for every run, an axis for every setting, the score last.
  function parallel(holder, data, columns, rows, shown, colourOf, stretches, onMark) {
    const [drawing, width] = canvas(holder, 340, "Parallel coordinates: settings and the chosen score of every run");
    const [top, bottom] = [46, 310];
    const left = (i) => 60 + (columns.length > 1 ? (i * (width - 130)) / (columns.length - 1) : 0);
    const axes = columns.map((column) => HeronDash.axisOf(data, column));
    const y = (share) => bottom - share * (bottom - top);
    const lines = node("g", { fill: "none" });
    const inside = new Set(rows);
    for (const place of shown) {
      const run = data.runs[place];
      const points = columns.map((column, i) => [left(i), axes[i].place(HeronDash.cell(data, run, column))])
        .filter(([, at]) => at !== null).map(([x, at]) => `${x.toFixed(1)},${y(at).toFixed(1)}`);
      if (!points.length) continue;
      const line = node("polyline", {
        points: points.join(" "), "data-run": place, class: inside.has(place) ? "dash-line" : "dash-line dash-out",
      });
      if (inside.has(place)) line.style.stroke = colourOf(place);
      line.append(node("title", {}, [run.job]));
      lines.append(line);
    }
    drawing.append(lines);
    columns.forEach((column, i) => {
      const x = left(i);
      const axis = node("g", { class: "dash-axis" });
      axis.append(node("line", { x1: x, x2: x, y1: top, y2: bottom }));
      axis.append(text(column, x, i % 2 ? 14 : 30, { "text-anchor": "middle", class: "dash-name" }, 26));
      for (const [name, at] of axes[i].ticks) {
        axis.append(text(String(name), x + 5, y(at) - 4, { class: "dash-tick" }, 18));
      }
      const marked = stretches[column];
      if (marked) {
        axis.append(node("rect", { x: x - 7, width: 14, y: y(marked[1]), height: Math.max(y(marked[0]) - y(marked[1]), 3), class: "dash-mark" }));
      }
      const grip = node("rect", { x: x - 14, width: 28, y: top - 8, height: bottom - top + 16, class: "dash-grip", "data-axis": column });
      markable(drawing, grip, (at) => (bottom - at) / (bottom - top), (low, high) => onMark(column, low, high));
      axis.append(grip);
      drawing.append(axis);
    });
  }

  // Dragging along an axis marks a stretch of it; a click clears it.
  function markable(drawing, grip, share, done) {
    const at = (event) => share(((event.clientY - drawing.getBoundingClientRect().top) * drawing.viewBox.baseVal.height) / drawing.getBoundingClientRect().height);
    grip.addEventListener("pointerdown", (event) => {
      const start = at(event);
      grip.setPointerCapture(event.pointerId);
      grip.addEventListener("pointerup", (end) => {
        const [low, high] = [Math.min(start, at(end)), Math.max(start, at(end))];
        if (high - low < 0.02) done(null);
        else done(low - 1e-9, high + 1e-9);
      }, { once: true });
    });
  }

  // Learning curves of the chosen runs; colours and dashes tell them apart.
  function curves(holder, series, label, palette, levels) {
    const [drawing, width] = canvas(holder, 300, `Learning curves: ${label}`);
    const points = series.flatMap((each) => each.points);
    if (!points.length) {
      drawing.append(text("No chosen run has this curve.", 20, 40, { class: "dash-tick" }, 80));
      return;
    }
    const [across, up] = [HeronDash.scale([0, ...points.map(([x]) => x)]), HeronDash.scale([...points.map(([, v]) => v), ...levels.map((each) => each.value)])];
    const [left, right, top, bottom] = [56, width - 14, 12, 262];
    // Steps are spread evenly, however many they are.
    const most = Math.max(...points.map(([x]) => x), 1);
    const x = (step) => left + (step / most) * (right - left);
    const y = (value) => bottom - up.place(value) * (bottom - top);
    const frame = node("g", { class: "dash-axis" });
    frame.append(node("line", { x1: left, x2: right, y1: bottom, y2: bottom }), node("line", { x1: left, x2: left, y1: top, y2: bottom }));
    for (const [name, at] of up.ticks) {
      frame.append(text(String(name), left - 6, bottom - at * (bottom - top) + 4, { "text-anchor": "end", class: "dash-tick" }));
    }
    for (const [name, at] of across.ticks.filter(([name]) => Number.isInteger(Number(name)))) {
      frame.append(text(name, left + at * (right - left), bottom + 16, { "text-anchor": "middle", class: "dash-tick" }));
    }
    frame.append(text("optimizer step", (left + right) / 2, bottom + 34, { "text-anchor": "middle", class: "dash-tick" }));
    drawing.append(frame);
    for (const { name, value } of levels) {
      drawing.append(node("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "dash-level" }));
      drawing.append(text(`${name} ${value.toFixed(3)}`, right, y(value) - 4, { "text-anchor": "end", class: "dash-tick" }));
    }
    series.forEach((each, i) => {
      const path = each.points.map(([step, value]) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
      const line = node("polyline", { points: path, class: "dash-curve", "data-run": each.run });
      line.style.stroke = palette[i % palette.length];
      line.style.strokeDasharray = DASHES[Math.floor(i / palette.length) % DASHES.length];
      line.append(node("title", {}, [each.name]));
      drawing.append(line);
      if (each.points.length === 1) {
        const dot = node("circle", { cx: x(each.points[0][0]), cy: y(each.points[0][1]), r: 4, fill: palette[i % palette.length] });
        drawing.append(dot);
      }
    });
  }

  // One row a group: a dot for each seed, mean and standard deviation over them.
  function strip(holder, data, groups, label, best, levels) {
    const [row, top] = [26, 12 + 15 * levels.length];
    const height = top + groups.length * row + 40;
    const [drawing, width] = canvas(holder, Math.max(height, 80), `${label} over seeds, by setting`);
    if (!groups.length) {
      drawing.append(text("No finished run has this score.", 20, 40, { class: "dash-tick" }, 80));
      return;
    }
    const names = Math.min(0.45 * width, 380);
    const axis = HeronDash.scale(groups.flatMap((group) => [...group.values, group.mean - (group.sd || 0), group.mean + (group.sd || 0)]).concat(levels.map((each) => each.value)));
    const x = (value) => names + 12 + axis.place(value) * (width - names - 130);
    levels.forEach(({ name, value }, i) => {
      const right = axis.place(value) > 0.5; // the name stands where there is room
      const [at, anchor] = right ? [x(value) - 5, "end"] : [x(value) + 5, "start"];
      drawing.append(node("line", { x1: x(value), x2: x(value), y1: 4 + 15 * i, y2: height - 34, class: "dash-level" }));
      drawing.append(text(`${name} ${value.toFixed(3)}`, at, 14 + 15 * i, { "text-anchor": anchor, class: "dash-tick" }));
    });
    groups.forEach((group, i) => {
      const y = top + i * row + row / 2;
      const line = node("g", { class: group.group === best ? "dash-strip dash-best" : "dash-strip", "data-group": group.group });
      line.append(text(HeronDash.labelOf(data, group.runs[0]), names, y + 4, { "text-anchor": "end" }, Math.floor(names / 7.4)));
      line.append(node("line", { x1: names + 12, x2: width - 118, y1: y, y2: y, class: "dash-rule" }));
      if (group.sd !== null) {
        line.append(node("line", { x1: x(group.mean - group.sd), x2: x(group.mean + group.sd), y1: y, y2: y, class: "dash-sd" }));
      }
      for (const [k, place] of group.runs.entries()) {
        const dot = node("circle", { cx: x(group.values[k]), cy: y, r: 4, class: "dash-dot", "data-run": place });
        dot.append(node("title", {}, [`${data.runs[place].job}: ${group.values[k]}`]));
        line.append(dot);
      }
      line.append(node("line", { x1: x(group.mean), x2: x(group.mean), y1: y - 8, y2: y + 8, class: "dash-mean" }));
      const sd = group.sd === null ? "" : ` ± ${group.sd.toFixed(3)}`;
      line.append(text(`${group.mean.toFixed(3)}${sd} (${group.n})`, width - 4, y + 4, { "text-anchor": "end", class: "dash-tick" }));
      drawing.append(line);
    });
    for (const [name, at] of axis.ticks) {
      drawing.append(text(String(name), names + 12 + at * (width - names - 130), height - 18, { "text-anchor": "middle", class: "dash-tick" }));
    }
  }

  return { parallel, curves, strip };
})();
