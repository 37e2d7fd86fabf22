"use strict";

// The answers page: filters, and a card for each chosen question. All texts go in as text.
(() => {
  const STEP = 25; // cards that are added at a time
  const data = JSON.parse(document.getElementById("answers-data").textContent);
  const texts = HeronAnswers.haystacks(data);
  const form = document.getElementById("answers-filters");
  const box = document.getElementById("answers-rows");
  const more = document.getElementById("answers-more");
  const fields = form.elements;
  let chosen = [];
  let shown = 0;

  function element(tag, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  // Texts run in their language's direction, whatever the page's is.
  function own(tag, attributes = {}, ...children) {
    const place = { dir: data.direction, lang: data.language };
    return element(tag, { ...place, ...attributes }, ...children);
  }

  function marked(part) {
    const tags = [part.goldFirst ? "gold" : "", part.first ? "model" : ""].filter(Boolean);
    if (!part.gold && !part.model) return part.text;
    const names = ["gold", "model", "first", "last"].filter((name) => part[name]);
    const tag = tags.length ? [element("span", { className: "tag", lang: "en", textContent: tags.join(" + ") })] : [];
    return element("mark", { className: names.join(" ") }, ...tag, part.text);
  }

  function fill(node, row, whole) {
    const characters = Array.from(data.contexts[row.context]);
    const end = characters.length;
    const [from, to] = whole ? [0, end] : HeronAnswers.excerpt(characters, row.golds, row.given);
    const parts = HeronAnswers.parts(characters, row.golds, row.given, from, to).map(marked);
    node.replaceChildren(from > 0 ? "… " : "", ...parts, to < end ? " …" : "");
    if (from > 0 || to < end) {
      const button = element("button", { type: "button", textContent: "whole context" });
      button.addEventListener("click", () => fill(node, row, true));
      node.append(" ", element("bdi", {}, button));
    }
  }

  function fact(name, value) {
    const label = element("b", { textContent: `${name.replaceAll("_", " ")} ` });
    return element("span", {}, label, element("bdi", { textContent: value }));
  }

  function candidates(row) {
    const characters = Array.from(data.contexts[row.context]);
    const items = row.best.map(([start, end, probability]) =>
      element("li", {}, own("bdi", { textContent: characters.slice(start, end).join("") }), ` ${probability.toFixed(3)}, characters ${start} to ${end}`));
    const summary = element("summary", { textContent: `candidates: ${row.best.length}` });
    return element("details", {}, summary, element("ol", {}, ...items));
  }

  function card(row) {
    const context = own("p", { className: "context" });
    fill(context, row, false);
    const facts = [
      fact("answer is", row.class),
      ...data.scores.map((name, i) => fact(name, row.scores[i].toFixed(3))),
      fact("probability", row.probability === null ? "no answer" : row.probability.toFixed(3)),
      fact("question word", row.word),
    ];
    const about = [row.group, row.guid].filter(Boolean).map((text) => element("bdi", { textContent: text }));
    if (about.length > 1) about.splice(1, 0, " · ");
    return element("article", { className: "answer" },
      own("h2", { textContent: row.question }), context,
      element("div", { className: "facts" }, ...facts),
      ...(row.best.length ? [candidates(row)] : []),
      element("p", { className: "about" }, ...about));
  }

  function add() {
    box.append(...chosen.slice(shown, shown + STEP).map((number) => card(data.rows[number])));
    shown = Math.min(shown + STEP, chosen.length);
    more.hidden = shown === chosen.length;
    fields.count.textContent = `${chosen.length} of ${data.rows.length} chosen, ${shown} shown`;
  }

  function show() {
    chosen = HeronAnswers.choose(data, texts, {
      search: fields.search.value, kind: fields.class.value,
      word: fields.word.value, order: fields.order.value,
    });
    shown = 0;
    box.replaceChildren();
    add();
  }

  for (const [field, names] of [[fields.class, data.classes], [fields.word, data.words]]) {
    field.append(...names.map((name) => element("option", { value: name, textContent: name.replaceAll("_", " ") })));
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", add);
  form.hidden = false;
  show();
})();
