(() => {
  "use strict";
  // R424. What comes by itself does not take away what somebody is at. While a part of the page has
  // the focus, is opened or plays, its swap is owed; it is made when they leave.
  const owed = new Map();
  const isOwed = (element) => owed.has(element.id);
  // The table of a plot is only read: it stays open through a swap.
  const OPEN = "details[open]:not(figure details)";
  const plays = (element) =>
    [...element.querySelectorAll("audio, video")].some((one) => !one.paused && !one.ended);
  // A message is found again by its id, and a link by where it leads.
  function hasFocus(element) {
    const focused = document.activeElement;
    return element.contains(focused) && !focused.matches(".message, a[href]");
  }
  const isHeld = (element) =>
    hasFocus(element) || plays(element) || Boolean(element.querySelector(OPEN));
  function keepTables(from, to) {
    const open = [...from.querySelectorAll("figure details")].map((one) => one.open);
    [...to.querySelectorAll("figure details")].forEach((one, at) => { one.open = open[at] || false; });
  }
  // The link that has the focus, to give it back.
  let at = "";

  document.addEventListener("htmx:beforeSwap", (event) => {
    const element = event.detail.target;
    const focused = document.activeElement;
    at = element.contains(focused) && focused.matches("a[href]") ? focused.getAttribute("href") : "";
    if (element.id !== "messages" || !event.detail.shouldSwap) return;
    if (isHeld(element)) {
      event.detail.shouldSwap = false;
      owed.set(element.id, null);
    } else {
      owed.delete(element.id);
    }
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (at && document.activeElement === document.body) {
      const links = [...document.querySelectorAll("main a[href]")];
      const same = links.find((link) => link.getAttribute("href") === at);
      if (same) same.focus({ preventScroll: true });
    }
    at = "";
  });
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target, fragment } = event.detail;
    const next = fragment.firstElementChild;
    if (!next) return;
    keepTables(target, next);
    const focused = document.activeElement;
    if (isHeld(target) || (target.contains(focused) && focused.matches("a[href]"))) {
      event.preventDefault();
      owed.set(target.id, next);
    } else {
      owed.delete(target.id);
    }
  });

  // Makes what is owed where somebody has left.
  function settle(left) {
    for (const element of document.querySelectorAll("#messages, #panel, [id^='campaign-']")) {
      if (!isOwed(element) || !element.contains(left) || plays(element)) continue;
      if (element.contains(document.activeElement)) continue;
      const next = owed.get(element.id);
      owed.delete(element.id);
      if (next) {
        keepTables(element, next);
        element.replaceWith(next);
        if (window.htmx) window.htmx.process(next);
        document.dispatchEvent(new CustomEvent("htmx:afterSettle"));
      } else {
        element.querySelectorAll(OPEN).forEach((one) => { one.open = false; });
        if (window.htmx) window.htmx.trigger(element, "thread-changed");
      }
    }
  }
  // The focus is elsewhere only after these events.
  const later = (event) => setTimeout(() => settle(event.target));
  document.addEventListener("focusout", later);
  document.addEventListener("pause", later, true);
  document.addEventListener("ended", later, true);
  document.addEventListener("toggle", (event) => { if (!event.target.open) later(event); }, true);
})();
