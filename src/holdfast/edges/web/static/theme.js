// Before the first paint: the theme that was chosen here, else that of the system.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* Storage may be off. */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
