"use strict";

// The answers page: a card for each question.
(() => {
  const { element, fact } = HeronCards;
  const data = HeronCards.data();
  const own = HeronCards.ownTexts(data);

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
      row.written ? fact("written answer", row.written)
        : fact("probability", row.probability === null ? "no answer" : row.probability.toFixed(3)),
      fact("question word", row.word),
    ];
    return element("article", { className: "card" },
      own("h2", { textContent: row.question }), context,
      element("div", { className: "facts" }, ...facts),
      ...(row.best.length ? [candidates(row)] : []),
      HeronCards.about(row.group, row.guid));
  }

  const f1 = data.scores.indexOf("f1");
  const orders = { file: () => 0, worst: (row) => row.scores[f1], sure: (row) => -(row.probability ?? -1) };
  HeronCards.options(HeronCards.fields().class, data.classes);
  HeronCards.options(HeronCards.fields().word, data.words);
  HeronCards.show(data.rows, HeronAnswers.haystacks(data), {
    keep: (row, values) => (!values.class || row.class === values.class) && (!values.word || row.word === values.word),
    key: (row, values) => orders[values.order](row),
    card,
  });
})();
