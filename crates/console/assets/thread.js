(() => {
  "use strict";
  const DRAFT = "recado-draft-";
  const SENDING = "recado-sending-";
  const thread = () => document.querySelector(".thread[data-contact]");

  // R425. What is written is kept for each field until a page shows that it was sent.
  const draft = () => document.querySelector("textarea[data-draft]");
  const keep = ({ value, dataset }) => {
    if (value) localStorage.setItem(DRAFT + dataset.draft, value);
    else localStorage.removeItem(DRAFT + dataset.draft);
  };
  function restore() {
    const fields = document.querySelectorAll("[data-draft]");
    // What was refused stands in the page again.
    for (const key of fields.length ? Object.keys(sessionStorage) : []) {
      if (!key.startsWith(SENDING)) continue;
      sessionStorage.removeItem(key);
      localStorage.removeItem(DRAFT + key.slice(SENDING.length));
    }
    for (const field of fields) {
      field.value ||= localStorage.getItem(DRAFT + field.dataset.draft) || "";
      if (!field.value) continue;
      keep(field);
      field.closest("details")?.setAttribute("open", "");
      // The preview of a template shows it, too.
      const tell = () => field.dispatchEvent(new Event("input", { bubbles: true }));
      if (field.form.matches("[hx-get]")) window.addEventListener("load", tell);
    }
  }
  let saying = 0;
  document.addEventListener("input", ({ target }) => {
    if (!target.dataset?.draft) return;
    keep(target);
    // Said once after a pause, so that a screen reader does not repeat it with each letter.
    const said = target.form.querySelector("[data-kept]");
    clearTimeout(saying);
    saying = setTimeout(() => { said.textContent = target.value ? said.dataset.kept : ""; }, 500);
  });
  document.addEventListener("submit", (event) => {
    for (const { dataset } of event.target.querySelectorAll("[data-draft]")) {
      sessionStorage.setItem(SENDING + dataset.draft, "1");
    }
    // Whoever signs out leaves nothing that they wrote to the next person.
    if (event.target.matches("form.sign-out")) {
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith(DRAFT)) localStorage.removeItem(key);
      }
    }
    // One click sends once; the key of the form makes sure of it where this does not run.
    if (event.target.matches("form.answer")) {
      const button = event.target.querySelector("button[type=submit]");
      if (button) setTimeout(() => { button.disabled = true; }, 0);
    }
  });

  // R424. The messages are loaded again when something happens in this conversation.
  document.addEventListener("recado-event", (event) => {
    const shown = thread();
    const about = event.detail && event.detail.contact_id;
    const isNewest = !/[?&]page=([2-9]|\d\d)/.test(location.search);
    if (!shown || !isNewest || (about && about !== shown.dataset.contact)) return;
    if (window.htmx) window.htmx.trigger("#messages", "thread-changed");
  });

  // R425. Single keys are on until somebody turns them off in this browser (WCAG 2.1.4).
  const KEYS = "recado-keys";
  const areKeysOn = () => localStorage.getItem(KEYS) !== "off";
  function showSwitches() {
    for (const one of document.querySelectorAll("input[data-keys]")) {
      one.checked = areKeysOn();
      one.closest("[hidden]")?.removeAttribute("hidden");
    }
  }
  document.addEventListener("change", (event) => {
    if (!event.target.matches("input[data-keys]")) return;
    if (event.target.checked) localStorage.removeItem(KEYS);
    else localStorage.setItem(KEYS, "off");
    showSwitches();
  });

  // R425. Keys. None does anything while somebody writes.
  const writes = (target) => target.closest("input, textarea, select, [contenteditable]");
  function step(by) {
    const items = [...document.querySelectorAll("#messages .message, [data-conversation]")];
    if (!items.length) return false;
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const last = items.length - 1;
    const next = at < 0 ? (thread() ? last : 0) : Math.min(last, Math.max(0, at + by));
    const target = items[next].matches("a, button") ? items[next] : items[next].querySelector("a");
    const focused = items[next].hasAttribute("tabindex") ? items[next] : target || items[next];
    focused.focus();
    focused.scrollIntoView({ block: "nearest" });
    return true;
  }
  // A key leads to its control and changes nothing by itself: a link is followed, what is folded is
  // opened. A control of the message that has the focus comes first.
  function go(key) {
    if (!/^[a-z]$/.test(key)) return false;
    const focused = document.activeElement && document.activeElement.closest(".message");
    const named = "[data-key='" + key + "']";
    const own = focused && focused.querySelector(named);
    const control = own || [...document.querySelectorAll(named)].find((one) => !one.closest(".message"));
    if (!control) return false;
    if (control.matches("a")) {
      control.click();
      return true;
    }
    if (control.matches("details")) control.open = true;
    const field = "select, textarea, input:not([type=hidden]):not([type=checkbox])";
    const target = (key !== "c" && control.querySelector(field)) || control.querySelector("button");
    if (target) target.focus();
    return Boolean(target);
  }
  function search() {
    const field = document.querySelector("input[type=search]");
    if (field) field.focus();
    return Boolean(field);
  }
  function open(id) {
    const dialog = document.getElementById(id);
    if (!dialog || !dialog.showModal) return false;
    if (!dialog.open) dialog.showModal();
    return true;
  }
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) open(opener.dataset.opens);
  });
  document.addEventListener("keydown", (event) => {
    // With AltGr a key writes another sign. Windows says Control and Alt of it.
    if (event.getModifierState?.("AltGraph")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = event.target.closest("form.answer");
      if (form) { event.preventDefault(); form.requestSubmit(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
    if (!areKeysOn()) return;
    if (document.querySelector("dialog[open]")) return;
    let isDone = false;
    if (event.key === "r" && draft()) { draft().focus(); isDone = true; }
    if (event.key === "j") isDone = step(1);
    if (event.key === "k") isDone = step(-1);
    if (event.key === "?") isDone = open("keys-help");
    if (event.key === "/") isDone = search();
    if (!isDone) isDone = go(event.key);
    if (isDone) event.preventDefault();
  });

  function start() {
    restore();
    showSwitches();
    // The last messages, and the field below them; but what was refused is read first.
    const answer = document.getElementById("answer");
    if (document.querySelector("main > [role=alert]")) return;
    if (answer && document.querySelector("#messages .message") && !location.hash) {
      answer.scrollIntoView({ block: "end" });
    }
  }
  // A page that comes back out of the browser's own memory has its buttons again.
  window.addEventListener("pageshow", () => {
    for (const button of document.querySelectorAll("form.answer button[disabled]")) {
      button.disabled = false;
    }
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
