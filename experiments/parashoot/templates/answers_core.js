"use strict";

// The answers page's logic, without a document: cutting contexts into marked parts.
// Offsets count characters (code points), as everywhere in heron; JavaScript's strings do not.
const HeronAnswers = (() => {
  const AROUND = 220; // characters of context that are shown on either side of what is marked

  // Consecutive parts of a context: { text, gold, model, first, last }, where `first` and `last`
  // tell whether the model's answer begins or ends with the part.
  function parts(characters, golds, given, from, to) {
    const spans = given ? [...golds, given] : golds;
    const cuts = new Set([from, to]);
    for (const place of spans.flat()) if (place > from && place < to) cuts.add(place);
    const borders = [...cuts].sort((a, b) => a - b);
    return borders.slice(0, -1).map((start, i) => {
      const end = borders[i + 1];
      const inside = ([low, high]) => low <= start && end <= high;
      const model = Boolean(given && inside(given));
      return {
        text: characters.slice(start, end).join(""),
        gold: golds.some(inside),
        goldFirst: golds.some(([low]) => low === start),
        model,
        first: model && given[0] === start,
        last: model && given[1] === end,
      };
    });
  }

  // The stretch of a context that holds all marks, between spaces; the whole where there are none.
  function excerpt(characters, golds, given) {
    const spans = given ? [...golds, given] : golds;
    if (!spans.length) return [0, Math.min(characters.length, 4 * AROUND)];
    let from = Math.max(0, Math.min(...spans.map(([low]) => low)) - AROUND);
    let to = Math.min(characters.length, Math.max(...spans.map(([, high]) => high)) + AROUND);
    while (from > 0 && !/\s/.test(characters[from - 1])) from--;
    while (to < characters.length && !/\s/.test(characters[to])) to++;
    return [from, to];
  }

  // What a search looks into, without capitals.
  function haystacks(data) {
    const contexts = data.contexts.map((context) => context.toLowerCase());
    return data.rows.map((row) => {
      const own = [row.guid, row.group, row.question].join("\n").toLowerCase();
      return `${own}\n${contexts[row.context]}`;
    });
  }

  return { parts, excerpt, haystacks };
})();
