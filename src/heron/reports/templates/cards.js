"use strict";

// A page of cards: rows are searched, filtered and put in order, and shown some at a time. All
// texts go in as text. What a card shows, and what else chooses rows, is the page's own.
const HeronCards = (() => {
  const STEP = 25; // cards that are added at a time

  // Indices of the rows that pass `keep` and whose text holds what is searched for, ascending by
  // `key`; equal ones stay in the file's order, rows without a key come last.
  function choose(rows, texts, search, keep, key) {
    const wanted = search.trim().toLowerCase();
    const keys = rows.map((row) => key(row) ?? Infinity);
    return rows
      .map((row, number) => number)
      .filter((number) => keep(rows[number]) && (!wanted || texts[number].includes(wanted)))
      .sort((a, b) => (keys[a] === keys[b] ? 0 : keys[a] - keys[b]) || a - b);
  }

  function element(tag, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  function fact(name, value) {
    const label = element("b", { textContent: `${name.replaceAll("_", " ")} ` });
    return element("span", {}, label, element("bdi", { textContent: value }));
  }

  function about(...texts) {
    const parts = texts.filter(Boolean).flatMap((text) => [" · ", element("bdi", { textContent: text })]);
    return element("p", { className: "about" }, ...parts.slice(1));
  }

  function options(field, names) {
    field.append(...names.map((name) => element("option", { value: name, textContent: name.replaceAll("_", " ") })));
  }

  const data = () => JSON.parse(document.getElementById("cards-data").textContent);
  const fields = () => document.getElementById("cards-filters").elements;

  // Texts run in their language's direction, whatever the page's is.
  const ownTexts = (content) => (tag, attributes = {}, ...children) =>
    element(tag, { dir: content.direction, lang: content.language, ...attributes }, ...children);

  // Shows `rows` and follows the form. `texts` is what a search looks into, in small letters;
  // `keep` and `key` get a row and the form's values by name; `card` makes a row's element, `step`
  // of them at a time.
  function show(rows, texts, { keep, key, card, step = STEP }) {
    const form = document.getElementById("cards-filters");
    const box = document.getElementById("cards-rows");
    const more = document.getElementById("cards-more");
    let chosen = [];
    let shown = 0;

    function add() {
      box.append(...chosen.slice(shown, shown + step).map((number) => card(rows[number])));
      shown = Math.min(shown + step, chosen.length);
      more.hidden = shown === chosen.length;
      form.elements.count.textContent = `${chosen.length} of ${rows.length} chosen, ${shown} shown`;
    }

    function begin() {
      const values = Object.fromEntries([...form.elements].map((field) => [field.name, field.value]));
      chosen = choose(rows, texts, values.search, (row) => keep(row, values), (row) => key(row, values));
      shown = 0;
      box.replaceChildren();
      add();
    }

    form.addEventListener("input", begin);
    form.addEventListener("submit", (event) => event.preventDefault());
    more.addEventListener("click", add);
    form.hidden = false;
    begin();
  }

  return { about, choose, data, element, fact, fields, options, ownTexts, show };
})();
