"use strict";

// The rating form: one article at a time, its summaries beside it. All texts go in as text.
(() => {
  const data = JSON.parse(document.getElementById("judge-data").textContent);
  const words = data.words;
  const NONE = "no_error"; // no kind of error can have this name
  const memory = `heron-judge:${data.study}:${data.rater}`;
  const byId = (id) => document.getElementById(`judge-${id}`);
  const total = HeronJudge.items(data).length;
  let answers = {};
  let at = 0; // article

  function element(tag, attributes = {}, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  function say(text, warning = false) {
    byId("said").textContent = text;
    byId("said").classList.toggle("warning", warning);
  }

  const answer = (item) => (answers[item] ??= HeronJudge.blank());

  // Browsers may refuse to remember what a file does (private windows, policies).
  function keep() {
    try {
      localStorage.setItem(memory, HeronJudge.write(data, answers, new Date().toISOString()));
      return true;
    } catch {
      return false;
    }
  }

  function changed() {
    const kept = keep();
    const count = HeronJudge.done(data, answers);
    byId("progress").value = count / Math.max(total, 1);
    byId("count").textContent = HeronJudge.fill(words.progress, { done: count, total });
    if (count === total) say(words.done);
    else say(kept ? words.kept : words.not_kept, !kept);
    for (const card of document.querySelectorAll(".judge-summary")) {
      card.classList.toggle("done", HeronJudge.isDone(data, answers[card.dataset.item]));
    }
  }

  function rate(item, criterion, value) {
    if (value) answer(item).ratings[criterion] = value;
    else delete answer(item).ratings[criterion];
    for (const radio of document.querySelectorAll(`input[name="${item}:${criterion}"]`)) {
      radio.checked = Number(radio.value) === value;
    }
    changed();
  }

  function scale(item, criterion) {
    const name = `${item}:${criterion.name}`;
    const numbers = Array.from({ length: data.highest }, (_, i) => i + 1).map((value) => {
      const checked = answers[item]?.ratings[criterion.name] === value;
      const radio = element("input", { type: "radio", name, value, checked });
      radio.addEventListener("change", () => rate(item, criterion.name, value));
      return element("label", {}, radio, String(value));
    });
    const clear = element("button", { type: "button", className: "clear", textContent: words.clear });
    clear.addEventListener("click", () => rate(item, criterion.name, 0));
    const ends = [[1, criterion.lowest], [data.highest, criterion.highest]].filter(([, text]) => text);
    const meaning = ends.map(([value, text]) => `${value} – ${text}`).join("; ");
    const set = element("fieldset", {},
      element("legend", { textContent: criterion.title }),
      element("div", { className: "note", textContent: criterion.description }),
      element("div", { className: "note", textContent: meaning }),
      element("div", { className: "scale" }, ...numbers, clear));
    set.dataset.item = item;
    set.dataset.criterion = criterion.name;
    return set;
  }

  function kinds(item) {
    const box = (name, title, description) => {
      const checked = name ? Boolean(answers[item]?.errors.includes(name)) : Boolean(answers[item]?.none);
      const made = element("input", { type: "checkbox", name: `${item}:${name || NONE}`, checked });
      made.addEventListener("change", () => {
        const own = answer(item);
        own.errors = data.errors.map((kind) => kind.name).filter((kind) => kind === name ? made.checked : own.errors.includes(kind));
        own.none = name ? own.none && !own.errors.length : made.checked;
        if (!name && made.checked) own.errors = [];
        for (const other of made.closest(".kinds").querySelectorAll("input")) {
          const kind = other.name.slice(item.length + 1);
          other.checked = kind === NONE ? own.none : own.errors.includes(kind);
        }
        changed();
      });
      return element("label", {}, made, " ", element("b", { textContent: title }), description ? ` – ${description}` : "");
    };
    const boxes = data.errors.map((kind) => box(kind.name, kind.title, kind.description));
    const list = element("div", { className: "kinds" }, ...boxes, box("", words.none, ""));
    return element("details", { open: true }, element("summary", { textContent: words.errors }), list);
  }

  function remarks(item) {
    const text = element("textarea", { name: `${item}:comment`, value: answers[item]?.comment ?? "", dir: "auto" });
    text.addEventListener("input", () => { answer(item).comment = text.value; changed(); });
    return element("label", {}, words.comment, text);
  }

  // Texts run in their language's direction, whatever the form's is.
  const own = (tag, attributes, text) =>
    element(tag, { ...attributes, dir: data.direction, lang: data.language, textContent: text || words.empty });

  function card(summary, number) {
    const made = element("section", { className: "judge-summary" },
      element("h2", { textContent: HeronJudge.fill(words.summary, { number }) }),
      own("p", { className: "text" }, summary.text),
      ...data.criteria.map((criterion) => scale(summary.item, criterion)),
      ...(data.errors.length ? [kinds(summary.item)] : []),
      remarks(summary.item));
    made.dataset.item = summary.item;
    return made;
  }

  function show(article) {
    at = article;
    const { text, summaries } = data.articles[at];
    Object.assign(byId("article"), { dir: data.direction, lang: data.language, textContent: text, scrollTop: 0 });
    byId("summaries").replaceChildren(...summaries.map((summary, i) => card(summary, i + 1)));
    byId("title").textContent = HeronJudge.fill(words.article, { number: at + 1, total: data.articles.length });
    byId("previous").disabled = at === 0;
    byId("next").disabled = at === data.articles.length - 1;
    changed();
  }

  function turn(step) {
    if (at + step < 0 || at + step >= data.articles.length) return;
    show(at + step);
    byId("nav").scrollIntoView();
    byId("title").focus({ preventScroll: true });
  }

  const question = (item, criterion) =>
    document.querySelector(`fieldset[data-item="${item}"][data-criterion="${criterion}"]`);

  function focus(set) {
    (set?.querySelector("input:checked") ?? set?.querySelector("input"))?.focus();
  }

  function mark(set) {
    document.querySelector("fieldset.current")?.classList.remove("current");
    set?.classList.add("current");
  }

  function goOpen() {
    const open = HeronJudge.nextOpen(data, answers, at);
    if (!open) return;
    if (open.article !== at) show(open.article);
    focus(question(open.item, open.criterion));
  }

  document.addEventListener("focusin", (event) => {
    const set = event.target.closest?.("fieldset[data-criterion]");
    if (set) mark(set);
  });

  // A number rates the outlined question, or the first one, and goes on to the next.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "TEXTAREA") return;
    if (event.code === "KeyN") turn(1);
    else if (event.code === "KeyP") turn(-1);
    else if (/^\d$/.test(event.key) && Number(event.key) <= data.highest) {
      const sets = [...document.querySelectorAll("fieldset[data-criterion]")];
      const set = document.querySelector("fieldset.current") ?? sets[0];
      rate(set.dataset.item, set.dataset.criterion, Number(event.key));
      const next = event.key === "0" ? set : sets[sets.indexOf(set) + 1] ?? set;
      mark(next);
      focus(next);
    } else return;
    event.preventDefault();
  });

  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("open").addEventListener("click", goOpen);

  byId("save").addEventListener("click", () => {
    const name = `judgements-${data.study}-${data.rater}.json`;
    const content = HeronJudge.write(data, answers, new Date().toISOString());
    const href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    const link = element("a", { download: name, href });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
    say(HeronJudge.fill(words.saved, { name }));
  });

  byId("load").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", async () => {
    const [file] = byId("file").files;
    if (!file) return;
    const found = HeronJudge.read(data, await file.text());
    byId("file").value = "";
    if (found.wrong) return say(HeronJudge.fill(words[found.wrong], { name: file.name }), true);
    // What the file does not answer stays as it is.
    answers = { ...answers, ...found.answers };
    show(at);
    const count = Object.keys(found.answers).length;
    const lost = found.unread ? ` – ${HeronJudge.fill(words.unread, { count: found.unread })}` : "";
    say(HeronJudge.fill(words.loaded, { name: file.name, count }) + lost, Boolean(lost));
  });

  let remembered = null;
  try {
    remembered = localStorage.getItem(memory);
  } catch {
    // nothing is remembered here; `changed` says so
  }
  if (remembered) answers = HeronJudge.read(data, remembered).answers ?? {};
  byId("help").open = !Object.keys(answers).length;
  byId("bar").hidden = byId("nav").hidden = false;
  show(HeronJudge.nextOpen(data, answers, 0)?.article ?? 0);
})();
