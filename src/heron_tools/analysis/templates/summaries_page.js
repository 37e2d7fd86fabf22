"use strict";

// The summaries page: a card for each article.
(() => {
  const { element, fact } = HeronCards;
  const data = HeronCards.data();
  const own = HeronCards.ownTexts(data);
  const fields = HeronCards.fields();

  function text(content, kind) {
    const marked = HeronSummaries.parts(content).map((part) =>
      part.novel ? element("mark", { className: "novel" }, part.text) : part.text);
    return own("p", { className: `summary ${kind}` }, ...marked);
  }

  function title(name) {
    return element("h3", {}, element("bdi", { textContent: name }));
  }

  function system({ name, copied }, content) {
    if (!content) return [title(name), element("p", { className: "about", textContent: "no summary" })];
    const facts = data.scores.map((score, i) => fact(score, content.scores[i].toFixed(3)));
    return [title(name), text(content, copied ? "copied" : "own"), element("div", { className: "facts" }, ...facts)];
  }

  // Articles are most of the page: each is laid out when it is first opened.
  function article(row) {
    const words = row.article.split(/\s+/).filter(Boolean).length;
    const folded = element("details", {}, element("summary", { textContent: `article, ${words} words` }));
    folded.addEventListener("toggle", () => folded.append(own("div", { className: "article", textContent: row.article })), { once: true });
    return folded;
  }

  function card(row) {
    return element("article", { className: "card" },
      article(row), title("gold summary"), text(row.gold, "gold"),
      ...row.texts.flatMap((content, index) => system(data.systems[index], content)),
      HeronCards.about(row.group, row.guid));
  }

  HeronCards.options(fields.score, data.scores);
  const indices = [...data.systems.keys()];
  const differences = indices.filter((index) => !data.systems[index].copied)
    .flatMap((index) => indices.filter((other) => other !== index).map((other) => [index, other]));
  fields.system.append(...[...indices.map((index) => [index]), ...differences].map((pair) =>
    element("option", { value: pair.join("-"), textContent: pair.map((index) => data.systems[index].name).join(" minus ") })));
  HeronCards.show(data.rows, HeronSummaries.haystacks(data.rows), {
    keep: () => true,
    key: (row, values) => HeronSummaries.key(data, row, values),
    card,
  });
})();
