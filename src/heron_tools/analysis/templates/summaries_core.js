"use strict";

// The summaries page's logic, without a document. Offsets count characters (code points), as
// everywhere in heron; JavaScript's strings do not.
const HeronSummaries = (() => {
  // Consecutive parts of a text: { text, novel }.
  function parts({ text, novel }) {
    const characters = Array.from(text);
    const found = [];
    let from = 0;
    for (const [start, end] of novel) {
      found.push({ text: characters.slice(from, start).join(""), novel: false });
      found.push({ text: characters.slice(start, end).join(""), novel: true });
      from = end;
    }
    found.push({ text: characters.slice(from).join(""), novel: false });
    return found.filter((part) => part.text);
  }

  // What a search looks into, without capitals.
  function haystacks(rows) {
    return rows.map((row) => {
      const written = row.texts.filter(Boolean).map((each) => each.text);
      return [row.guid, row.group, row.gold.text, ...written, row.article].join("\n").toLowerCase();
    });
  }

  // What rows are ordered by: a score of the system at a place ("0"), or its lead over another
  // one ("0-2"). Null, which comes last, where there is no summary.
  function key(data, row, { score, system, from }) {
    if (!score) return 0;
    const [value, other] = system.split("-").map((place) => {
      const content = row.texts[Number(place)];
      return content ? content.scores[data.scores.indexOf(score)] : null;
    });
    if (value === null || other === null) return null;
    const lead = value - (other ?? 0);
    return from === "highest" ? -lead : lead;
  }

  return { parts, haystacks, key };
})();
