// For annotators: keys, one submit only, and the clock stands still while the page cannot be seen.
// Without this file the pages work as plain forms.
"use strict";

const form = document.getElementById("answer");
const pause = document.getElementById("pause");
const PATIENCE = 10_000; // milliseconds for the next page; after that another try is allowed
let left = -Infinity; // when another page was asked for: that request must not be followed by a pause

function leaving() {
  return performance.now() - left < PATIENCE;
}

for (const one of document.forms) {
  one.addEventListener("submit", (event) => {
    if (leaving()) event.preventDefault();
    else left = performance.now();
  });
}
for (const link of document.links) {
  if (link.pathname !== location.pathname || link.search) link.addEventListener("click", (event) => {
    if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) left = performance.now();
  });
}
addEventListener("pageshow", (event) => {
  left = -Infinity;
  if (event.persisted) location.reload(); // from the browser's memory: it may be out of date
});

if (form) {
  document.querySelector(".keys").hidden = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const radio = /^[1-9]$/.test(event.key) && form.querySelector(`[data-key="${event.key}"]`);
    if (radio) {
      radio.checked = true;
      radio.focus();
      event.preventDefault();
    } else if (event.key === "Enter" && !event.repeat && !event.target.closest("a, button, summary, input")) {
      form.requestSubmit();
      event.preventDefault();
    }
  });
}

// Closing a page and loading it again look alike from here: both send a pause. The next page in the same tab finds this
// mark, and starts the clock again once the pause has arrived.
const away = {
  mark() { try { sessionStorage.setItem("mohs-away", "1"); } catch { /* storage is switched off */ } },
  take() {
    try {
      const found = sessionStorage.getItem("mohs-away") !== null;
      sessionStorage.removeItem("mohs-away");
      return found;
    } catch {
      return false;
    }
  },
};

if (pause) {
  const item = form.elements.namedItem("item").value; // `elements.item` is a method
  let stopped = null; // the request that stopped the clock

  // Asking for the page starts the clock again; the item may have gone to somebody else in the meantime.
  const resume = () => fetch(pause.action.replace(/\/pause$/, ""), { headers: { accept: "application/json" } })
    .then((answer) => answer.json())
    .then((now) => {
      const looking = location.pathname.includes("/item/");
      if (!looking && !leaving() && (!now.item || String(now.item.number) !== item)) location.reload();
    })
    .catch(() => null);

  if (away.take()) setTimeout(resume, 1000);
  document.addEventListener("visibilitychange", () => {
    if (leaving()) return;
    if (document.visibilityState === "hidden") {
      away.mark();
      stopped = fetch(pause.action, {
        method: "POST",
        body: new URLSearchParams(new FormData(pause)),
        headers: { accept: "application/json" },
        keepalive: true,
      }).catch(() => null);
    } else if (stopped) {
      away.take();
      stopped.then(resume);
      stopped = null;
    }
  });
}
