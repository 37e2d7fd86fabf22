"use strict";

// The summaries page's logic, without a document. Offsets count characters (code points), as
// everywhere in heron; JavaScript's strings do not.
const HeronSummaries = (() => {
  // Consecutive parts of a text: { text, novel }.
  function parts({ text, novel }) {
    const characters = Array.from(text);
    const pieces = [];
    let from = 0;
    for (const [start, end] of novel) {
      pieces.push({ text: characters.slice(from, start).join(""), novel: false });
      pieces.push({ text: characters.slice(start, end).join(""), novel: true });
      from = end;
    }
    pieces.push({ text: characters.slice(from).join(""), novel: false });
    return pieces.filter((piece) => piece.text);
  }

  // The text of each row that is searched, in lower case.
  function haystacks(rows) {
    return rows.map((row) => {
      const summaries = row.texts.filter(Boolean).map((content) => content.text);
      return [row.guid, row.group, row.gold.text, ...summaries, row.article].join("\n").toLowerCase();
    });
  }

  // The number by which a row is sorted: a score of the system with this index ("0"), or its
  // difference to another system's ("0-2"). Null, which is sorted last, without a summary.
  function key(data, row, { score, system, from }) {
    if (!score) return 0;
    const [value, other] = system.split("-").map((index) => {
      const content = row.texts[Number(index)];
      return content ? content.scores[data.scores.indexOf(score)] : null;
    });
    if (value === null || other === null) return null;
    const lead = value - (other ?? 0);
    return from === "highest" ? -lead : lead;
  }

  return { parts, haystacks, key };
})();
