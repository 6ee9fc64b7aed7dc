// For the organiser: figures that follow the study, and a button that copies links.
// Without this file the page shows the figures of the moment it was loaded.
"use strict";

const SECONDS = 5;
const live = document.getElementById("live");
const bar = document.querySelector("[data-bar]");

async function follow() {
  let told;
  try {
    const answer = await fetch(document.body.dataset.progress, { headers: { accept: "application/json" } });
    if (answer.status === 401) {
      live.hidden = false;
      live.textContent = "You are signed out; reload the page to sign in.";
      return;
    }
    if (!answer.ok) throw new Error(answer.statusText);
    told = await answer.json();
  } catch {
    live.hidden = false;
    live.textContent = "The server does not answer at the moment; these figures may be old.";
    setTimeout(follow, SECONDS * 2000);
    return;
  }
  for (const place of document.querySelectorAll("[data-live]")) {
    const text = told.shown[place.dataset.live];
    if (text !== undefined && place.textContent !== text) place.textContent = text;
  }
  bar.value = told.judgements;
  const rows = document.querySelectorAll("[data-row]").length;
  const others = told.people.length - rows;
  const news = others > 0 ? `${others} more joined since; reload the page to see them.` : "";
  if (live.textContent !== news) live.textContent = news;
  live.hidden = !news;
  setTimeout(follow, SECONDS * 1000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  const said = document.getElementById("copied");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(field.value); // only with HTTPS, or on this machine
      said.textContent = "Copied.";
    } catch {
      field.select();
      said.textContent = "Selected; copy it with Ctrl+C.";
    }
  });
}

setTimeout(follow, SECONDS * 1000);
