// Tables: sort by a column, and bring the rows that are not on the page.
"use strict";
const bestarm = {
  _waiting: {},

  /** Load a script once; pages opened as files cannot fetch data, but they can run scripts. */
  script(url) {
    bestarm._waiting[url] ??= new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = document.body.dataset.top + url;
      element.onload = done;
      element.onerror = () => failed(new Error(`${url} could not be loaded`));
      document.head.append(element);
    });
    return bestarm._waiting[url];
  },

  /** The rows of a table: {columns, rows, chart}. */
  async data(key) {
    await bestarm.script(`figures/${key}.js`);
    return bestarm._data[key];
  },

  _data: {},
  /** Keep a table that came by columns; see table.py. */
  receive(key, { columns, chart }) {
    const names = Object.keys(columns);
    const values = names.map((name) => {
      const column = columns[name];
      if (Array.isArray(column)) return column;
      const { names, runs } = column;
      const at = column.at ?? runs.flatMap((n, k) => (k % 2 ? Array(n).fill(runs[k - 1]) : []));
      return at.map((place) => names[place]);
    });
    const rows = values.length ? values[0].map((_, k) => values.map((column) => column[k])) : [];
    bestarm._data[key] = { columns: names, rows, chart };
  },
};

{
  const text = (value) => (value === null ? "" : String(value));

  async function showAll(table) {
    const body = table.tBodies[0];
    if (body.rows.length < Number(table.dataset.rows)) {
      const { rows } = await bestarm.data(table.dataset.key);
      const made = rows.map((row) => {
        const line = document.createElement("tr");
        for (const value of row) line.insertCell().textContent = text(value);
        return line;
      });
      body.replaceChildren(...made);
    }
    document.querySelector(`button.all[data-for="${CSS.escape(table.dataset.key)}"]`)?.remove();
  }

  const number = (cell) => {
    if (cell === "") return NaN;
    return Number(cell.replace(/^> /, "").replace("∞", "Infinity").replace("−", "-"));
  };

  function compare(a, b) {
    const [x, y] = [number(a), number(b)];
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x < y ? -1 : x > y ? 1 : 0;
    if (a === "" || b === "") return (a === "") - (b === ""); // nothing comes last
    return a.localeCompare(b, "en", { numeric: true });
  }

  async function sort(table, column) {
    await showAll(table);
    const heads = [...table.tHead.rows[0].cells];
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    const lines = [...table.tBodies[0].rows].map((row) => [row.cells[column].textContent, row]);
    lines.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return down ? compare(b, a) : compare(a, b);
    });
    table.tBodies[0].replaceChildren(...lines.map(([, row]) => row));
  }

  addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table.data")) {
      [...table.tHead.rows[0].cells].forEach((head, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = head.textContent;
        button.addEventListener("click", () => sort(table, column));
        head.replaceChildren(button);
      });
    }
    for (const button of document.querySelectorAll("button.all")) {
      button.addEventListener("click", () => {
        const table = document.querySelector(
          `table[data-key="${CSS.escape(button.dataset.for)}"]`,
        );
        showAll(table).then(() => table.parentElement.focus());
      });
    }
  });
}
