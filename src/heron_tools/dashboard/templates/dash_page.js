"use strict";

// The dashboard's page: the table, what is filtered and chosen, and the figures that follow it.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("dash-data").textContent);
  const controls = byId("dash-controls").elements;
  const PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#3B9BD9"];
  const LOW = [86, 180, 233];
  const HIGH = [213, 94, 0];
  const MOST_GROUPS = 30;

  const scores = [];
  for (const split of ["validation", "test"]) {
    data.metrics.forEach((name, k) => {
      if (data.runs.some((run) => run.scores[split][k] !== null)) scores.push(`${split}/${name}`);
    });
  }
  const known = (column) => data.runs.some((run) => run[column] !== null);
  const COLUMNS = ["job", "state", ...data.keys, ...["seconds", "steps", "tokens"].filter(known), ...scores];
  const CURVES = [...new Set(data.runs.flatMap((run) => Object.keys(run.curves)))];
  const first = `validation/${data.monitor}`;

  const state = {
    score: scores.includes(first) ? first : scores[0] || "", words: "", stretches: {},
    sort: null, descending: false, rows: [], chosen: new Set(HeronDash.firstChoice(data)), all: false,
  };
  if (state.score) [state.sort, state.descending] = [state.score, !HeronDash.isMinimised(data, state.score)];

  function element(name, properties = {}, children = []) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // --- the table -------------------------------------------------------------------------------

  const long = (value) => (value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 1 }));
  const isWords = (column) => column === "job" || column === "state" || data.keys.includes(column);
  const lines = data.runs.map((run, place) => {
    const box = element("input", { type: "checkbox", checked: state.chosen.has(place) });
    box.setAttribute("aria-label", `curves of ${run.job}`);
    box.disabled = !Object.keys(run.curves).length;
    box.addEventListener("change", () => {
      if (box.checked) state.chosen.add(place);
      else state.chosen.delete(place);
      drawCurves();
    });
    const cells = COLUMNS.map((column) => {
      const value = HeronDash.cell(data, run, column);
      const made = element("td", { className: isWords(column) ? "" : "number" });
      if (column === "job") made.append(name(run));
      else if (column === "state") made.append(element("span", { className: `dash-state dash-${run.state}`, textContent: run.state, title: run.error }));
      else made.append(element("bdi", { textContent: scores.includes(column) && value !== null ? value.toFixed(3) : isWords(column) ? value : long(value) }));
      return made;
    });
    const line = element("tr", {}, [element("td", {}, [box]), ...cells]);
    line.dataset.run = place;
    if (data.best && run.group === data.best.group) line.className = "dash-of-best";
    line.addEventListener("pointerenter", () => highlight(place));
    line.addEventListener("pointerleave", () => highlight(-1));
    line.addEventListener("focusin", () => highlight(place));
    line.addEventListener("focusout", () => highlight(-1));
    return line;
  });

  function name(run) {
    const shown = element("bdi", { textContent: run.job });
    return run.link ? element("a", { href: run.link }, [shown]) : shown;
  }

  const heads = COLUMNS.map((column) => {
    const button = element("button", { type: "button" }, [element("bdi", { textContent: column === "job" ? "run" : column })]);
    const head = element("th", { scope: "col" }, [button]);
    button.addEventListener("click", () => {
      state.descending = state.sort === column ? !state.descending : !isWords(column) && !HeronDash.isMinimised(data, column);
      state.sort = column;
      showTable();
    });
    return head;
  });

  function showTable() {
    const rows = state.sort ? HeronDash.sort(data, state.rows, state.sort, state.descending) : state.rows;
    byId("dash-rows").replaceChildren(...rows.map((place) => lines[place]));
    COLUMNS.forEach((column, i) => {
      if (column === state.sort) heads[i].setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    const shown = rows.length === data.runs.length ? `all ${rows.length} runs` : `${rows.length} of ${data.runs.length} runs`;
    byId("dash-count").textContent = shown;
  }

  function highlight(place) {
    for (const line of document.querySelectorAll(".dash-hot")) line.classList.remove("dash-hot");
    if (place < 0) return;
    for (const line of document.querySelectorAll(`svg [data-run="${place}"]`)) {
      line.classList.add("dash-hot");
      if (line.classList.contains("dash-line")) line.parentNode.append(line); // over the others
    }
  }

  // --- figures ---------------------------------------------------------------------------------

  function colours() {
    const axis = HeronDash.axisOf(data, state.score);
    return (place) => {
      const share = state.score ? axis.place(HeronDash.cell(data, data.runs[place], state.score)) : null;
      if (share === null) return "var(--quiet)";
      return `rgb(${LOW.map((low, k) => Math.round(low + share * (HIGH[k] - low))).join(" ")})`;
    };
  }

  function drawParallel() {
    const columns = [...data.keys.filter((key) => !data.seeds.includes(key)), ...(state.score ? [state.score] : [])];
    byId("dash-parallel-section").hidden = columns.length < 2;
    if (columns.length < 2) return;
    const shown = data.runs.map((_, place) => place);
    HeronFigures.parallel(byId("dash-parallel"), data, columns, state.rows, shown, colours(), state.stretches, (column, low, high) => {
      if (low === null) delete state.stretches[column];
      else state.stretches[column] = [low, high];
      update();
    });
  }

  function drawStrip() {
    const groups = HeronDash.spread(data, state.rows, state.score);
    const shown = state.all ? groups : groups.slice(0, MOST_GROUPS);
    controls.all.hidden = groups.length <= MOST_GROUPS;
    controls.all.textContent = state.all ? `best ${MOST_GROUPS} settings` : `all ${groups.length} settings`;
    HeronFigures.strip(byId("dash-strip"), data, shown, state.score, data.best ? data.best.group : -1, HeronDash.copied(data, groups.flatMap((group) => group.runs), state.score));
  }

  function drawCurves() {
    const curve = byId("dash-curve").value;
    const chosen = [...state.chosen].sort((a, b) => a - b);
    const drawn = chosen.filter((place) => data.runs[place].curves[curve]);
    const series = drawn.map((place) => ({ run: place, name: data.runs[place].job, points: data.runs[place].curves[curve] }));
    HeronFigures.curves(byId("dash-curves"), series, curve, PALETTE, HeronDash.copied(data, drawn, curve));
    byId("dash-legend").replaceChildren(...series.map((each, i) => {
      const swatch = element("span", { className: "dash-swatch" });
      swatch.style.background = PALETTE[i % PALETTE.length];
      const off = element("button", { type: "button", textContent: "×", title: "leave out" });
      off.setAttribute("aria-label", `leave out ${each.name}`);
      off.addEventListener("click", () => choose(each.run, false));
      return element("li", {}, [swatch, element("bdi", { textContent: each.name }), off]);
    }));
  }

  function choose(place, on) {
    if (on) state.chosen.add(place);
    else state.chosen.delete(place);
    lines[place].querySelector("input").checked = on;
    drawCurves();
  }

  function drawFigures() {
    drawParallel();
    drawStrip();
    drawCurves();
  }

  function update() {
    state.rows = HeronDash.filter(data, state.words, state.stretches);
    const marked = Object.keys(state.stretches);
    byId("dash-marked").textContent = marked.length ? `marked: ${marked.join(", ")}` : "";
    showTable();
    drawParallel();
    drawStrip();
  }

  // --- what the reader does --------------------------------------------------------------------

  const option = (value) => element("option", { value, textContent: value });
  controls.score.append(...scores.map(option));
  controls.score.value = state.score;
  controls.score.addEventListener("change", () => {
    state.score = controls.score.value;
    update();
  });
  let typing = 0;
  controls.words.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      state.words = controls.words.value;
      update();
    }, 120);
  });
  byId("dash-controls").addEventListener("submit", (event) => event.preventDefault());
  controls.clear.addEventListener("click", () => {
    state.words = controls.words.value = "";
    state.stretches = {};
    update();
  });
  controls.all.addEventListener("click", () => {
    state.all = !state.all;
    drawStrip();
  });
  byId("dash-curve").append(...CURVES.map(option));
  if (CURVES.includes(first)) byId("dash-curve").value = first;
  byId("dash-curve").addEventListener("change", drawCurves);
  byId("dash-none").addEventListener("click", () => {
    for (const place of [...state.chosen]) lines[place].querySelector("input").checked = false;
    state.chosen.clear();
    drawCurves();
  });
  byId("dash-shown").addEventListener("click", () => {
    const rows = state.sort ? HeronDash.sort(data, state.rows, state.sort, state.descending) : state.rows;
    for (const place of rows.slice(0, 24)) choose(place, !lines[place].querySelector("input").disabled);
  });
  const copy = byId("dash-copy");
  if (copy) {
    copy.addEventListener("click", async () => {
      const command = byId("dash-command");
      try {
        await navigator.clipboard.writeText(command.textContent);
      } catch {
        getSelection().selectAllChildren(command); // local files may not write: copy by hand
      }
      copy.textContent = "copied";
    });
  }

  byId("dash-heads").append(element("th", { scope: "col", textContent: "curves" }), ...heads);
  update();
  drawCurves();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawFigures();
  });
})();
