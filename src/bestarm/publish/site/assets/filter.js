// Filters of tables of a class, such as claims: by a row's data- attributes, and by words in it.
"use strict";
{
  function start(bar) {
    const area = document.getElementById(bar.dataset.for);
    const { of } = bar.dataset;
    const rows = [...area.querySelectorAll(`table.${of} > tbody > tr`)];
    const sections = [...area.querySelectorAll(".target")];
    const fields = [...bar.querySelectorAll("select, input")];
    const count = bar.querySelector("output");
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

    function matches(row, field) {
      const wanted = field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      if (field.type === "search") return wanted.every((word) => texts.get(row).includes(word));
      return !wanted.length || wanted.includes(row.dataset[field.name]);
    }

    function apply() {
      const all = fields.every((field) => !field.value);
      for (const row of rows) row.hidden = !fields.every((field) => matches(row, field));
      for (const one of sections) one.hidden = !all && !one.querySelector(`table.${of} > tbody > tr:not([hidden])`);
      count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} ${of}`;
    }

    /** A link to a row or section that the filters hide clears them. */
    function reveal() {
      const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!there?.closest("[hidden]") || !area.contains(there)) return;
      for (const field of fields) field.value = "";
      apply();
      there.scrollIntoView();
    }

    for (const field of fields) field.addEventListener("input", apply);
    addEventListener("hashchange", reveal);
    bar.hidden = false;
    apply();
    reveal();
  }

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".filters").forEach(start);
  });
}
