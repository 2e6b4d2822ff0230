"use strict";
(() => {
  // R423. Pages about conversations hear what happens. Each event becomes a `recado-event` of the
  // document, with the type and the contact.
  let last = "";
  function listen() {
    const shown = document.querySelector("[data-live], .thread[data-contact]");
    if (!shown || !window.EventSource) return;
    const after = last || shown.dataset.after || "";
    const source = new EventSource("/console/live" + (after ? "?after=" + encodeURIComponent(after) : ""));
    source.onmessage = (event) => {
      last = event.lastEventId || last;
      const detail = JSON.parse(event.data);
      document.dispatchEvent(new CustomEvent("recado-event", { detail }));
    };
    source.onerror = () => {
      // The browser connects again by itself, unless it was refused.
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 30000);
    };
    window.addEventListener("pagehide", () => source.close(), { once: true });
  }
  window.addEventListener("pageshow", (event) => { if (event.persisted) listen(); });

  // R423. The list loads its rows again, at most twice a second.
  let waiting = 0;
  document.addEventListener("recado-event", () => {
    if (waiting || !document.getElementById("conversations")) return;
    waiting = setTimeout(() => {
      waiting = 0;
      if (window.htmx) window.htmx.trigger("#conversations", "inbox-changed");
    }, 500);
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", listen);
  else listen();
})();

// A secret behind the # of an address never reaches a server by itself: it is sent by a form, and
// taken out of the address and the history.
for (const form of document.querySelectorAll("form[data-fragment]")) {
  const secret = location.hash.slice(1);
  if (secret) {
    history.replaceState(null, "", location.pathname);
    form.elements[form.dataset.fragment].value = secret;
    form.submit();
  }
}
