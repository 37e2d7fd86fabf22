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

// Wide tables: a line below says so while there is more to the side than fits.
for (const box of document.querySelectorAll(".wide")) {
  const hint = document.createElement("p");
  hint.className = "note sideways";
  hint.textContent = "The table is wider than the page: scroll it sideways.";
  box.after(hint);
  const look = () => {
    hint.hidden = box.scrollWidth <= box.clientWidth + 1;
    if (!hint.hidden) box.tabIndex = 0; // so that arrow keys scroll it
  };
  const watched = new ResizeObserver(look);
  watched.observe(box);
  if (box.firstElementChild) watched.observe(box.firstElementChild);
  look();
}
