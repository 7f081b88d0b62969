// Light or dark: as the system has it, until the reader chooses. Runs before the page is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const memory = (() => {
    try {
      return window.localStorage;
    } catch {
      return null; // storage is refused: the choice lasts for this page
    }
  })();
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => root.dataset.theme || (system.matches ? "dark" : "light");
  const kept = memory?.getItem("theme"); // the documentation keeps its own there, or "auto"
  if (["light", "dark"].includes(kept)) root.dataset.theme = kept;

  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => {
      button.textContent = chosen() === "dark" ? "Light" : "Dark";
      button.setAttribute("aria-label", `Use ${button.textContent.toLowerCase()} colours`);
    };
    button.addEventListener("click", () => {
      root.dataset.theme = chosen() === "dark" ? "light" : "dark";
      memory?.setItem("theme", root.dataset.theme);
      changed();
    });
    const changed = () => {
      label();
      document.dispatchEvent(new Event("themechange")); // what is drawn on a canvas is drawn anew
    };
    system.addEventListener("change", changed);
    label();
    button.hidden = false;
  });
})();
