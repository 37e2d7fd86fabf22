"use strict";

// The dashboard's logic, without a document: filtering, sorting, axes, spread over seeds.
const HeronDash = (() => {
  const FEW = 12; // distinct settings that get a place each, at equal distances
  const BASE = ["state", "job", "seconds", "steps", "tokens"];

  // One value of a run by its column: state, a setting, "validation/macro_f1", ...
  function cell(data, run, column) {
    if (BASE.includes(column)) return run[column];
    const key = data.keys.indexOf(column);
    if (key >= 0) return run.settings[key];
    const split = column.split("/", 1)[0];
    const metric = data.metrics.indexOf(column.slice(split.length + 1));
    return metric >= 0 && run.scores[split] ? run.scores[split][metric] : null;
  }

  const isNumber = (text) => text !== null && text !== "" && Number.isFinite(Number(text));

  // Words of the filter box, all of which must hold: key=value, key!=value, key>1, key<1, or any
  // text that the run's name, state or settings hold. Quotation marks keep spaces together.
  function parse(data, text) {
    const columns = new Set([...BASE, ...data.keys]);
    for (const split of ["validation", "test"]) for (const name of data.metrics) columns.add(`${split}/${name}`);
    return (text.match(/(?:"[^"]*"|\S)+/g) || []).map((raw) => {
      const word = raw.replaceAll('"', "");
      const found = /^(.+?)(!=|>=|<=|=|>|<)(.*)$/.exec(word);
      if (found && columns.has(found[1])) return { column: found[1], sign: found[2], value: found[3] };
      return { text: word.toLowerCase() };
    });
  }

  function holds(data, run, term) {
    if (term.text !== undefined) {
      return [run.job, run.state, run.error, ...run.settings].join("\n").toLowerCase().includes(term.text);
    }
    const value = cell(data, run, term.column);
    const both = isNumber(value) && isNumber(term.value);
    const same = both ? Number(value) === Number(term.value) : String(value) === term.value;
    if (term.sign === "=") return same;
    if (term.sign === "!=") return !same;
    if (!both) return false;
    const [a, b] = [Number(value), Number(term.value)];
    return { ">": a > b, "<": a < b, ">=": a >= b, "<=": a <= b }[term.sign];
  }

  // Places of the runs that the filter box and the marked stretches of axes leave.
  function filter(data, text, stretches = {}) {
    const terms = parse(data, text);
    const axes = Object.entries(stretches).map(([column, [low, high]]) => {
      const axis = axisOf(data, column);
      return (run) => {
        const at = axis.place(cell(data, run, column));
        return at !== null && at >= low && at <= high;
      };
    });
    const found = [];
    data.runs.forEach((run, place) => {
      if (terms.every((term) => holds(data, run, term)) && axes.every((inside) => inside(run))) found.push(place);
    });
    return found;
  }

  // Order rows by a column: numbers by size, words after them, what is missing last either way.
  function sort(data, rows, column, descending) {
    const value = (place) => cell(data, data.runs[place], column);
    const missing = (v) => v === null || v === undefined || v === "";
    const compare = (a, b) => {
      const numbers = [isNumber(a), isNumber(b)];
      if (numbers[0] && numbers[1]) return Number(a) - Number(b);
      if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
      return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
    };
    return [...rows].sort((one, two) => {
      const [a, b] = [value(one), value(two)];
      if (missing(a) || missing(b)) return missing(a) - missing(b) || one - two;
      return (descending ? -compare(a, b) : compare(a, b)) || one - two;
    });
  }

  // An axis from 0 (low) to 1 (high). Few settings stand at equal distances; many numbers are
  // spread by size, by their logarithm where they span two powers of ten.
  function axisOf(data, column) {
    if (data.keys.includes(column)) {
      const values = data.order[column];
      if (values.length <= FEW || !values.every(isNumber)) {
        const at = new Map(values.map((value, i) => [value, values.length > 1 ? i / (values.length - 1) : 0.5]));
        return { place: (value) => at.get(value) ?? null, ticks: thin(values.map((value) => [value, at.get(value)]), FEW) };
      }
      return scale(values.map(Number));
    }
    return scale(data.runs.map((run) => cell(data, run, column)).filter((value) => value !== null));
  }

  function scale(numbers) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of numbers) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low > high) [low, high] = [0, 1];
    const logarithmic = low > 0 && high / low >= 100;
    const bend = logarithmic ? Math.log10 : (value) => value;
    const [from, wide] = [bend(low), bend(high) - bend(low)];
    const place = (value) => (isNumber(value) ? (wide ? (bend(Number(value)) - from) / wide : 0.5) : null);
    if (!wide) return { place, ticks: [[short(low), 0.5]], low, high };
    const step = logarithmic ? 1 : roundStep(wide / 5);
    const ticks = [];
    for (let count = Math.ceil(from / step); count * step <= from + wide; count++) {
      // A sum of steps such as 0.1 would end in 0.30000000000000004.
      const value = logarithmic ? 10 ** count : count * step;
      ticks.push([String(Number(value.toPrecision(12))), (count * step - from) / wide]);
    }
    return { place, ticks, low, high };
  }

  // The next larger of 1, 2 and 5 times a power of ten.
  function roundStep(wanted) {
    const power = 10 ** Math.floor(Math.log10(wanted));
    return [1, 2, 5, 10].find((times) => times * power >= wanted * 0.999) * power;
  }

  function thin(ticks, most) {
    const step = Math.ceil(ticks.length / most);
    return ticks.filter((_, i) => i % step === 0);
  }

  function short(value) {
    if (value === null || value === undefined) return "–";
    if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
    return String(Number(value.toPrecision(3)));
  }

  // Mean, sample standard deviation and number of values.
  function summarize(values) {
    const n = values.length;
    if (!n) return null;
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const sd = n > 1 ? Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)) : null;
    return { mean, sd, n };
  }

  // Whether less of a score is better ("validation/loss").
  function isMinimised(data, column) {
    return data.minimised.includes(column.slice(column.indexOf("/") + 1));
  }

  // Groups of the given runs with their values in one score, best mean first.
  function spread(data, rows, column) {
    const groups = new Map();
    for (const place of rows) {
      const run = data.runs[place];
      const value = cell(data, run, column);
      if (run.state !== "done" || value === null) continue;
      if (!groups.has(run.group)) groups.set(run.group, { group: run.group, label: data.groups[run.group], runs: [], values: [] });
      groups.get(run.group).runs.push(place);
      groups.get(run.group).values.push(value);
    }
    const found = [...groups.values()].map((group) => ({ ...group, ...summarize(group.values) }));
    const sign = isMinimised(data, column) ? -1 : 1;
    return found.sort((a, b) => sign * (b.mean - a.mean) || a.group - b.group);
  }

  // What copying sentences reaches in a score ("test/rouge1"): { name, value }, each value once.
  function copied(data, rows, column) {
    const split = column.split("/", 1)[0];
    const names = data.copied[column.slice(split.length + 1)] || [];
    const found = new Map();
    for (const name of names) {
      for (const place of rows) {
        const curve = data.runs[place].curves[`${split}/${name}`]; // of the rows that the curve is of
        const value = curve ? curve.at(-1)[1] : cell(data, data.runs[place], `${split}/${name}`);
        if (value !== null) found.set(`${name} ${value.toFixed(3)}`, { name, value });
      }
    }
    return [...found.values()].sort((a, b) => a.value - b.value);
  }

  // A run's settings but seeds, by the last parts of their names where those tell them apart.
  function labelOf(data, place) {
    const keys = data.keys.filter((key) => !data.seeds.includes(key));
    const last = keys.map((key) => key.split(".").pop());
    const names = keys.map((key, i) => (last.indexOf(last[i]) === last.lastIndexOf(last[i]) ? last[i] : key));
    const { settings } = data.runs[place];
    return keys.map((key, i) => `${names[i]}=${settings[data.keys.indexOf(key)]}`).join(" ") || "all runs";
  }

  // The runs whose curves are shown before anybody chooses: the best by validation, never by test.
  function firstChoice(data, most = 5) {
    const column = `validation/${data.monitor}`;
    const scored = data.runs.map((_, place) => place).filter((place) => cell(data, data.runs[place], column) !== null);
    const drawn = (scored.length ? scored : data.runs.map((_, place) => place))
      .filter((place) => Object.keys(data.runs[place].curves).length);
    return sort(data, drawn, column, !isMinimised(data, column)).slice(0, most);
  }

  return { cell, parse, filter, sort, axisOf, scale, short, summarize, isMinimised, spread, copied, labelOf, firstChoice };
})();

if (typeof module !== "undefined") module.exports = HeronDash;
