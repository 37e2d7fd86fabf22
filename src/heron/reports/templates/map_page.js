"use strict";

// The data map's page: what is chosen, hovered and coloured, and what the reader does to it.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = HeronMap.read(JSON.parse(byId("map-data").textContent));
  const [pointCanvas, markCanvas] = [byId("map-points"), byId("map-marks")];
  const controls = byId("map-controls").elements;
  const REACH = 14; // pixels within which the pointer finds a point
  const MOST = { rings: 300, arrows: 60 };
  const BARS = { confidence: "#CC79A7", variability: "#0072B2", correctness: "#009E73" };

  let widest = 0.5;
  for (const run of data.runs) for (const value of run.values.variability) if (value > widest) widest = value;
  const WHOLE = { x0: -0.012, x1: widest + 0.012, y0: -0.02, y1: 1.02 };

  const state = {
    run: 0, colour: "", words: "", box: null, zoom: WHOLE, focus: -1, kept: false,
    hidden: new Set(), boxRun: 0, inBox: null, hits: null, chosen: null,
  };
  let colours, view, column, colouring, painted, grid;

  const statistics = () => data.runs[state.run].values;
  const { element } = HeronRead;

  // --- what is chosen --------------------------------------------------------------------------

  function choose() {
    const { inBox, hits, hidden } = state;
    if (!inBox && !hits && !hidden.size) {
      state.chosen = null;
      return;
    }
    const chosen = new Uint8Array(data.count);
    for (let i = 0; i < chosen.length; i++) {
      chosen[i] = (!inBox || inBox[i]) && (!hits || hits[i]) &&
        !(hidden.size && hidden.has(colouring.bands[i])) ? 1 : 0;
    }
    state.chosen = chosen;
  }

  function setBox(box, add) {
    const { variability, confidence } = statistics();
    const into = add && state.inBox ? state.inBox : new Uint8Array(data.count);
    state.box = box;
    state.boxRun = state.run;
    state.inBox = box && HeronMap.inRectangle(variability, confidence, box, into);
    const fields = byId("map-box").elements;
    for (const key of ["x0", "x1", "y0", "y1"]) fields[key].value = box ? Number(box[key].toFixed(4)) : "";
  }

  // What was chosen stays chosen: that is how one sees where it lies in the other run.
  function setRun(run) {
    state.run = run;
    state.hidden.clear();
    const { variability, confidence } = statistics();
    grid = HeronMap.makeGrid(variability, confidence);
    fillColours();
  }

  function setColour(name) {
    const found = HeronMap.colourings(data, state.run);
    column = found.find((one) => one.name === name) || found[0];
    if (column.name !== state.colour) state.hidden.clear();
    state.colour = column.name;
    controls.colour.value = column.name;
    colouring = HeronMap.colouring(column, data.few, data.palette.length);
    painted = HeronDraw.paint(data, colouring, colours);
    showLegend();
  }

  function fillColours() {
    const names = HeronMap.colourings(data, state.run).map((one) => one.name);
    controls.colour.replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })));
    setColour(state.colour);
  }

  // --- what is drawn ---------------------------------------------------------------------------

  let waiting = 0;
  let full = false;
  // `lists` also renews what is below the plot: not worth it while a rectangle is being drawn.
  function redraw(lists = true) {
    full ||= lists;
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      draw();
      if (full) showLists();
      full = false;
    });
  }

  function draw() {
    const began = performance.now();
    const { variability, confidence } = statistics();
    view = HeronDraw.frame(pointCanvas, state.zoom);
    HeronDraw.points(pointCanvas, view, variability, confidence, colouring, painted, state.chosen, colours);
    drawMarks();
    drawBars();
    showCount();
    pointCanvas.dataset.drawMs = (performance.now() - began).toFixed(2);
  }

  function drawMarks() {
    const { variability, confidence } = statistics();
    const hits = state.hits ? HeronMap.rowsOf(data, state.chosen) : [];
    HeronDraw.marks(markCanvas, view, variability, confidence, colours, {
      box: state.boxRun === state.run ? state.box : null,
      focus: state.focus,
      hits: hits.length <= MOST.rings ? hits : [],
      arrows: controls.arrows && controls.arrows.checked ? arrows() : [],
    });
  }

  function arrows() {
    const [a, b] = data.runs.map((run) => run.values);
    return HeronMap.furthest(a, b, state.chosen, MOST.arrows).map(({ row }) =>
      [a.variability[row], a.confidence[row], b.variability[row], b.confidence[row]]);
  }

  function drawBars() {
    for (const canvas of byId("map-histograms").children) {
      const name = canvas.dataset.name;
      const values = statistics()[name];
      const bins = name === "correctness" ? Math.min(data.runs[state.run].records + 1, data.bins) : data.bins;
      const half = name === "correctness" && bins > 1 ? 0.5 / (bins - 1) : 0;
      const high = name === "variability" ? widest : 1;
      const count = (chosen) => HeronMap.histogram(values, chosen, -half, high + half, bins);
      const chosen = state.chosen && count(state.chosen);
      HeronDraw.bars(canvas, name, count(null), chosen, 0, high, colours, BARS[name]);
    }
  }

  function showCount() {
    const many = state.chosen ? state.chosen.reduce((sum, one) => sum + one, 0) : data.count;
    byId("map-count").textContent = state.chosen
      ? `${many.toLocaleString("en")} of ${data.count.toLocaleString("en")} chosen`
      : `all ${many.toLocaleString("en")} examples`;
  }

  function showLegend() {
    const legend = byId("map-legend");
    legend.replaceChildren(element("div", { className: "note", textContent: state.colour }));
    if (colouring.scaled) {
      const css = painted.table.filter((_, i) => i % 15 === 0).map((rgb) => `rgb(${rgb.map(Math.round)})`);
      const bar = element("div", { className: "map-scale" });
      bar.style.background = `linear-gradient(to right, ${css})`;
      const ends = [colouring.low, colouring.high].map((v) => element("span", { textContent: HeronMap.short(v) }));
      legend.append(bar, element("div", { className: "map-ends" }, ...ends));
      return;
    }
    colouring.entries.forEach((entry, band) => {
      const mark = element("span", { textContent: painted.shapes[band] });
      mark.style.color = `rgb(${painted.table[band].map(Math.round)})`;
      const count = element("span", { className: "count", textContent: entry.count.toLocaleString("en") });
      const name = element("span", { textContent: entry.name, dir: "auto" });
      const button = element("button", { type: "button", title: "show or hide" }, mark, name, count);
      button.setAttribute("aria-pressed", String(!state.hidden.has(band)));
      button.addEventListener("click", () => {
        if (!state.hidden.delete(band)) state.hidden.add(band);
        button.setAttribute("aria-pressed", String(!state.hidden.has(band)));
        choose();
        redraw();
      });
      legend.append(button);
    });
  }

  // --- one point -------------------------------------------------------------------------------

  function setFocus(row, keep) {
    if (row === state.focus && keep === state.kept) return;
    state.focus = row;
    state.kept = keep && row >= 0;
    drawMarks();
    showDetails();
  }

  function showDetails() {
    HeronRead.showExample(data, byId("map-details"), state.focus);
  }

  function showLists() {
    const open = (row) => {
      setFocus(row, true);
      pointCanvas.scrollIntoView({ block: "nearest" });
    };
    HeronRead.showChosen(data, byId("map-rows"), state.run, state.chosen, open);
    HeronRead.showMovers(data, byId("map-movers"), state.chosen, open);
  }

  // --- pointer and keyboard --------------------------------------------------------------------

  let drag = null;
  const at = (event) => {
    const area = pointCanvas.getBoundingClientRect();
    return { left: event.clientX - area.left, top: event.clientY - area.top };
  };
  const between = (a, b) => ({
    x0: Math.min(view.x(a.left), view.x(b.left)), x1: Math.max(view.x(a.left), view.x(b.left)),
    y0: Math.min(view.y(a.top), view.y(b.top)), y1: Math.max(view.y(a.top), view.y(b.top)),
  });
  const find = (place) => HeronMap.nearest(
    grid, view.x(place.left), view.y(place.top), view.perX, view.perY, REACH, state.chosen);

  pointCanvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    drag = { from: at(event), before: event.shiftKey && state.inBox ? state.inBox.slice() : null, far: false };
    pointCanvas.setPointerCapture(event.pointerId);
  });
  pointCanvas.addEventListener("pointermove", (event) => {
    const place = at(event);
    if (!drag) {
      const began = performance.now();
      if (!state.kept) setFocus(find(place), false);
      pointCanvas.dataset.hoverMs = (performance.now() - began).toFixed(2);
      return;
    }
    drag.far ||= Math.hypot(place.left - drag.from.left, place.top - drag.from.top) > 4;
    if (!drag.far) return;
    state.inBox = drag.before && drag.before.slice();
    setBox(between(drag.from, place), Boolean(drag.before));
    choose();
    redraw(false);
  });
  pointCanvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    if (drag.far) {
      redraw();
    } else {
      const row = find(at(event));
      setFocus(row, row >= 0 && !(state.kept && row === state.focus));
    }
    drag = null;
  });
  pointCanvas.addEventListener("pointercancel", () => { drag = null; });
  pointCanvas.addEventListener("pointerleave", () => { if (!drag && !state.kept) setFocus(-1, false); });

  const WALK = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  pointCanvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return clear();
    if (!WALK[event.key]) return undefined;
    event.preventDefault();
    const { variability, confidence } = statistics();
    const first = HeronMap.rowsOf(data, state.chosen).find((row) => confidence[row] === confidence[row]);
    const row = state.focus < 0 ? first : HeronMap.step(
      variability, confidence, state.focus, ...WALK[event.key], view.perX, view.perY, state.chosen);
    if (row >= 0) setFocus(row, true);
    return undefined;
  });

  function clear() {
    state.hidden.clear();
    state.zoom = WHOLE;
    controls.search.value = state.words = "";
    state.hits = null;
    setBox(null);
    setFocus(-1, false);
    showLegend();
    choose();
    redraw();
  }

  // --- controls --------------------------------------------------------------------------------

  let typing = 0;
  function search(words) {
    state.words = words;
    state.hits = HeronMap.search(data, words);
    choose();
    redraw();
  }
  controls.search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => search(controls.search.value), 120);
  });
  controls.colour.addEventListener("change", () => {
    setColour(controls.colour.value);
    choose();
    redraw();
  });
  for (const radio of controls.run || []) {
    radio.addEventListener("change", () => {
      setRun(Number(controls.run.value));
      choose();
      redraw();
    });
  }
  if (controls.arrows) controls.arrows.addEventListener("change", drawMarks);
  byId("map-controls").addEventListener("submit", (event) => event.preventDefault());
  controls.clear.addEventListener("click", clear);
  controls.zoom.addEventListener("click", () => {
    const { variability, confidence } = statistics();
    const found = { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity };
    for (const row of HeronMap.rowsOf(data, state.chosen)) {
      if (confidence[row] !== confidence[row]) continue;
      found.x0 = Math.min(found.x0, variability[row]);
      found.x1 = Math.max(found.x1, variability[row]);
      found.y0 = Math.min(found.y0, confidence[row]);
      found.y1 = Math.max(found.y1, confidence[row]);
    }
    const [wide, tall] = [0.05 * (found.x1 - found.x0) + 1e-3, 0.05 * (found.y1 - found.y0) + 1e-3];
    state.zoom = state.chosen && found.x1 >= found.x0
      ? { x0: found.x0 - wide, x1: found.x1 + wide, y0: found.y0 - tall, y1: found.y1 + tall }
      : WHOLE;
    redraw();
  });
  byId("map-box").addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = event.target.elements;
    const number = (key, otherwise) => (fields[key].value === "" ? otherwise : Number(fields[key].value));
    setBox({ x0: number("x0", 0), x1: number("x1", widest), y0: number("y0", 0), y1: number("y1", 1) });
    choose();
    redraw();
  });

  // --- export ----------------------------------------------------------------------------------

  const said = (text) => { byId("map-said").textContent = text; };
  function save(name, content, type) {
    const link = element("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    said(`saved as ${name}`);
  }
  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers that keep the clipboard from local files still let a selection be copied.
      const area = element("textarea", { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    said(`${what} copied`);
  }
  const BUTTONS = {
    txt: () => save("guids.txt", HeronMap.toTxt(data, state.chosen), "text/plain;charset=utf-8"),
    csv: () => save("rows.csv", HeronMap.toCsv(data, state.chosen), "text/csv;charset=utf-8"),
    guids: () => copy(HeronMap.toTxt(data, state.chosen), "guids"),
    link: () => copy(location.href.split("#")[0] + HeronMap.toHash(toView()), "link"),
  };
  byId("map-export").addEventListener("click", (event) => BUTTONS[event.target.name]?.());

  function toView() {
    const { box, boxRun, focus, words, colour, run } = state;
    const corners = box && [box.x0, box.x1, box.y0, box.y1].map((value) => value.toFixed(4)).join(",");
    const guid = focus >= 0 ? data.guids[focus] : null;
    return { colour, run: run || null, search: words, box: corners, of: (box && boxRun) || null, guid };
  }

  function openView() {
    const asked = HeronMap.fromHash(location.hash);
    state.colour = asked.colour || "";
    const run = data.runs[Number(asked.run)] ? Number(asked.run) : 0;
    if (run && controls.run) controls.run.value = String(run);
    const corners = (asked.box || "").split(",").map(Number);
    const [x0, x1, y0, y1] = corners;
    state.run = data.runs[Number(asked.of)] ? Number(asked.of) : 0; // where the box was drawn
    setBox(corners.length === 4 && corners.every(Number.isFinite) ? { x0, x1, y0, y1 } : null);
    setRun(run);
    controls.search.value = state.words = asked.search || "";
    state.hits = HeronMap.search(data, state.words);
    state.focus = asked.guid ? data.guids.indexOf(asked.guid) : -1;
    state.kept = state.focus >= 0;
    choose();
    draw();
    showDetails();
    showLists();
  }

  function recolour() {
    colours = HeronDraw.theme();
    setColour(state.colour);
    draw();
  }

  byId("map-histograms").append(...Object.keys(BARS).map((name) => {
    const canvas = element("canvas");
    canvas.dataset.name = name;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `histogram of ${name}`);
    return canvas;
  }));
  colours = HeronDraw.theme();
  openView();
  new ResizeObserver(() => redraw(false)).observe(pointCanvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  // On paper the page is light, whatever the screen is.
  const print = (scheme) => () => {
    document.documentElement.style.colorScheme = scheme;
    recolour();
  };
  addEventListener("beforeprint", print("light"));
  addEventListener("afterprint", print(""));
  addEventListener("hashchange", openView);
})();
