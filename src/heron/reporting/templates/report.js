"use strict";

// Sortable tables: a click on a column's name sorts by it, a second one turns the order round.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value;
      const order = (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
      const byNumber = (a, b) => Number(value(a)) - Number(value(b));
      const rows = [...table.tBodies[0].rows];
      const numeric = rows.every((row) => !Number.isNaN(Number(value(row))));
      rows.sort(numeric ? byNumber : order);
      table.tBodies[0].append(...(descending ? rows.reverse() : rows));
    });
  });
}

// Predictions: search, gold and predicted class, wrong ones only.
const filters = document.querySelector(".filters");
if (filters) {
  const rows = [...document.querySelectorAll(".predictions tbody tr")];
  const show = () => {
    const { search, gold, prediction, wrong, count } = filters.elements;
    const words = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = Boolean(
        (gold.value && row.dataset.gold !== gold.value) ||
        (prediction.value && row.dataset.prediction !== prediction.value) ||
        (wrong.checked && !row.classList.contains("wrong")) ||
        (words && !row.textContent.toLowerCase().includes(words)),
      );
      shown += !row.hidden;
    }
    count.textContent = `${shown} shown`;
  };
  filters.hidden = false;
  filters.addEventListener("input", show);
  filters.addEventListener("submit", (event) => event.preventDefault());
  for (const cell of document.querySelectorAll(".confusion button")) {
    cell.addEventListener("click", () => {
      filters.elements.gold.value = cell.dataset.gold;
      filters.elements.prediction.value = cell.dataset.prediction;
      filters.elements.wrong.checked = false;
      show();
      document.querySelector("#predictions").scrollIntoView();
    });
  }
  show();
}
