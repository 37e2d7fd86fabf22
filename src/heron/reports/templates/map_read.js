"use strict";

// What the data map's page shows in words: one example, the chosen ones, those that moved furthest.
// Everything is put in as text, never as markup.
const HeronRead = (() => {
  const SHOWN = { rows: 40, movers: 30, letters: 160 };

  function element(tag, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  // Texts run in their language's direction, whatever the page's is.
  function asText(data, node) {
    node.dir = data.texts ? data.texts.direction : "auto";
    if (data.texts && data.texts.language) node.lang = data.texts.language;
    return node;
  }

  function textsOf(data, row) {
    return ["first", "second"].map((which) => HeronMap.textOf(data, row, which)).filter(Boolean);
  }

  function showExample(data, box, row) {
    if (row < 0) {
      const hint = "Point at the map, or walk through it with the arrow keys, to read an example.";
      box.replaceChildren(element("p", { className: "note", textContent: hint }));
      return;
    }
    const texts = textsOf(data, row).map((text, i) =>
      asText(data, element("p", { textContent: text, className: i ? "second" : "" })));
    const facts = factsOf(data, row).filter(([, value]) => value !== "").map(([name, value]) =>
      element("span", {}, element("b", { textContent: `${name} ` }), element("bdi", { textContent: value })));
    box.replaceChildren(
      element("p", { className: "guid", dir: "auto", textContent: data.guids[row] }),
      ...texts,
      element("div", { className: "facts" }, ...facts),
    );
  }

  // Name and value of everything that is known of an example.
  function factsOf(data, row) {
    const facts = [];
    data.runs.forEach((run, number) => {
      const suffix = data.runs.length > 1 ? ` ${"AB"[number]}` : "";
      for (const name of data.statistics) {
        if (run.values[name]) facts.push([name + suffix, HeronMap.short(run.values[name][row])]);
      }
      if (run.predicted) facts.push([`predicted${suffix}`, HeronMap.valueOf(run.predicted, row)]);
    });
    for (const one of data.columns) {
      facts.push([one.name, one.codes ? HeronMap.valueOf(one, row) : HeronMap.short(one.values[row])]);
    }
    return facts;
  }

  function showChosen(data, section, run, chosen, open) {
    const rows = chosen ? HeronMap.rowsOf(data, chosen) : [];
    const { confidence, variability } = data.runs[run].values;
    const [head, cells] = columnsOf(data);
    fillTable(data, section, rows.length, [...head, "confidence", "variability"],
      rows.slice(0, SHOWN.rows).map((row) => [
        row, ...cells(row), HeronMap.short(confidence[row]), HeronMap.short(variability[row])]), open);
  }

  function showMovers(data, section, chosen, open) {
    if (data.runs.length < 2) return;
    const [a, b] = data.runs.map((run) => run.values);
    const moved = HeronMap.furthest(a, b, chosen, SHOWN.movers);
    const [head, cells] = columnsOf(data);
    const pair = (values, row) =>
      `${HeronMap.short(values.confidence[row])}, ${HeronMap.short(values.variability[row])}`;
    fillTable(data, section, moved.length,
      [...head, "A: confidence, variability", "B: confidence, variability", "distance"],
      moved.map(({ row, distance }) => [
        row, ...cells(row), pair(a, row), pair(b, row), HeronMap.short(distance)]), open);
  }

  // The columns that every list has beside guids: their names, and a row's cells.
  function columnsOf(data) {
    const label = data.columns.find((one) => one.name === "label");
    const clip = (text) => (text.length > SHOWN.letters ? `${text.slice(0, SHOWN.letters - 1)}…` : text);
    const both = (row) => {
      const paragraphs = textsOf(data, row).map((text) => element("p", { textContent: clip(text) }));
      return asText(data, element("div", {}, ...paragraphs));
    };
    return [
      [...(label ? ["label"] : []), ...(data.texts ? ["text"] : [])],
      (row) => [...(label ? [HeronMap.valueOf(label, row)] : []), ...(data.texts ? [both(row)] : [])],
    ];
  }

  function fillTable(data, section, total, head, rows, open) {
    section.hidden = !total;
    const heads = ["guid", ...head].map((name) => element("th", { scope: "col", textContent: name }));
    const body = rows.map(([row, ...cells]) => {
      const button = element("button", { type: "button", className: "map-row guid", textContent: data.guids[row] });
      button.addEventListener("click", () => open(row));
      return element("tr", {}, element("td", {}, button), ...cells.map((cell) => element("td", {}, cell)));
    });
    const table = element("table", { className: "predictions" },
      element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body));
    const rest = total > rows.length ? `The first ${rows.length} of ${total.toLocaleString("en")}.` : "";
    section.querySelector(".wide").replaceChildren(element("p", { className: "note", textContent: rest }), table);
  }

  return { element, showExample, showChosen, showMovers };
})();
