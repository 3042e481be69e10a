// Headings of tables become buttons that sort; folded parts open for printing. Everything reads without this.
"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 3) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const figures = head.classList.contains("figure");
      const key = (row) => row.cells[column].dataset.order ?? row.cells[column].textContent;
      const value = (row) => (figures && key(row) !== "" && !isNaN(key(row)) ? Number(key(row)) : null);
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (figures && (x === null || y === null)) return (x === null) - (y === null);
        const order = figures ? x - y : key(a).localeCompare(key(b), document.documentElement.lang);
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
});
