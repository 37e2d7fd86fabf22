"use strict";

// The predictions of a run's page: chosen, put in order, shown ten at a time.
(() => {
  const { element } = HeronCards;
  const data = HeronCards.data();
  const own = HeronCards.ownTexts(data);
  const quoted = data.markers.map((marker) => marker.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const markers = quoted.length ? new RegExp(`(${quoted.join("|")})`) : null;

  // Sets off markers (opening and closing ones alternate) and what they enclose.
  function marked(text) {
    const open = [document.createDocumentFragment()];
    for (const part of markers ? text.split(markers) : [text]) {
      const place = data.markers.indexOf(part);
      if (place < 0) {
        open.at(-1).append(part);
      } else if (place % 2 === 0) {
        const mark = element("mark");
        open.at(-1).append(mark);
        open.push(mark);
      }
      if (place >= 0) open.at(-1).append(element("bdi", { className: "marker", textContent: part }));
      if (place % 2 === 1 && open.length > 1) open.pop();
    }
    return open[0];
  }

  function line(row) {
    const texts = own("td", { className: "text" });
    if (row.pair) {
      texts.append(element("p", { className: "premise" }, marked(row.text)));
      texts.append(element("p", { className: "hypothesis", textContent: row.pair }));
    } else {
      texts.append(marked(row.text));
    }
    const cross = element("span", { className: "cross", textContent: "✗", role: "img", ariaLabel: "wrong" });
    return element(
      "tr",
      { className: row.right ? "" : "wrong" },
      texts,
      element("td", { dir: "auto", textContent: row.gold }),
      element("td", { dir: "auto" }, row.prediction, ...(row.right ? [] : [" ", cross])),
      element("td", { className: "number", textContent: row.value === null ? "–" : row.value.toFixed(3) }),
      element("td", { className: "guid", textContent: row.guid }),
    );
  }

  // A page without classes has no fields for them.
  const keep = (row, { gold = "", prediction = "", right = "" }) =>
    (!gold || row.gold === gold) && (!prediction || row.prediction === prediction) && (!right || String(row.right) === right);

  // Rows without a probability or score come last. Most surprising: wrong and confident; the right
  // ones follow, the least confident first.
  function key({ value, right }, { order }) {
    if (order === "file" || value === null) return order === "file" ? 0 : null;
    if (order === "surprising") return right ? value : -1 - value;
    return order === "high" ? -value : value;
  }

  const texts = data.rows.map((row) => [row.text, row.pair, row.gold, row.prediction, row.guid].join("\n").toLowerCase());
  HeronCards.show(data.rows, texts, { keep, key, card: line, step: 10 });
})();
