// Before the first paint: the theme that was chosen here, else that of the system.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* Storage may be off. */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();

// Buttons work once the scripts of the page have run. A click before that is repeated then, so that
// none is lost and no form is sent by the browser itself.
(() => {
  let clicked = null;
  const keep = (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    clicked = button;
  };
  document.addEventListener("click", keep, true);
  // Other listeners of this event prepare the buttons: they run before a timer does.
  document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
    document.removeEventListener("click", keep, true);
    clicked?.click();
  }));
})();
