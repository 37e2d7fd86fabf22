"use strict";

// The rating form's logic, without a document: answers, what is open, files of answers.
// An answer: { ratings: { criterion: 1..highest }, errors: [name], none: boolean, comment: string }.
const HeronJudge = (() => {
  const blank = () => ({ ratings: Object.create(null), errors: [], none: false, comment: "" });
  const items = (data) => data.articles.flatMap((article) => article.summaries.map((one) => one.item));
  const isBlank = (answer) =>
    !Object.keys(answer.ratings).length && !answer.errors.length && !answer.none && !answer.comment;

  // A summary is done when every criterion is rated; errors and comments are optional.
  const isDone = (data, answer) =>
    Boolean(answer) && data.criteria.every((criterion) => answer.ratings[criterion.name]);

  const done = (data, answers) => items(data).filter((item) => isDone(data, answers[item])).length;

  // The first unrated question at or after an article, around the end: { article, item, criterion }.
  function nextOpen(data, answers, from) {
    for (let step = 0; step < data.articles.length; step++) {
      const article = (from + step) % data.articles.length;
      for (const { item } of data.articles[article].summaries) {
        const open = data.criteria.find((one) => !answers[item]?.ratings[one.name]);
        if (open) return { article, item, criterion: open.name };
      }
    }
    return null;
  }

  // What a file or the browser's memory holds: one line for each summary.
  function write(data, answers, saved) {
    const head = { kind: data.kind, study: data.study, rater: data.rater, saved };
    const lines = items(data)
      .filter((item) => answers[item] && !isBlank(answers[item]))
      .map((item) => JSON.stringify({ item, ...answers[item] }));
    const body = lines.length ? `[\n${lines.join(",\n")}\n]` : "[]";
    return `${JSON.stringify(head).slice(0, -1)},\n"answers": ${body}}\n`;
  }

  // One answer as far as it can be used, and how much of it cannot.
  function readAnswer(data, given) {
    const answer = blank();
    let unread = 0;
    for (const [name, value] of Object.entries(given.ratings ?? {})) {
      const known = data.criteria.some((criterion) => criterion.name === name);
      if (known && Number.isInteger(value) && value >= 1 && value <= data.highest) answer.ratings[name] = value;
      else if (value !== null) unread++;
    }
    for (const name of Array.isArray(given.errors) ? given.errors : []) {
      if (!data.errors.some((kind) => kind.name === name)) unread++;
      else if (!answer.errors.includes(name)) answer.errors.push(name);
    }
    answer.none = given.none === true && !answer.errors.length;
    if (typeof given.comment === "string") answer.comment = given.comment;
    return [answer, unread];
  }

  // { wrong: "unreadable" | "foreign" } or { answers, unread }.
  function read(data, text) {
    let content;
    try {
      content = JSON.parse(text);
    } catch {
      return { wrong: "unreadable" };
    }
    if (content?.kind !== data.kind || !Array.isArray(content.answers)) return { wrong: "unreadable" };
    if (content.study !== data.study || content.rater !== data.rater) return { wrong: "foreign" };
    const known = new Set(items(data));
    const answers = {};
    let unread = 0;
    for (const given of content.answers) {
      if (!known.has(given?.item)) unread++;
      else {
        const [answer, lost] = readAnswer(data, given);
        unread += lost;
        if (!isBlank(answer)) answers[given.item] = answer;
      }
    }
    return { answers, unread };
  }

  // Fill the {names} of a message.
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  return { blank, items, isDone, done, nextOpen, write, read, fill };
})();
