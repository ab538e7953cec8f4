// The page: which of its two parts is shown, and what is said where the server cannot be reached.
import { call } from "./api.js";
import { Play } from "./play.js";
import { Watch } from "./watch.js";

const at = (id) => document.getElementById(id);
let retry = () => start();

export function report(error, again) {
  at("error").hidden = error === null;
  if (error === null) return;
  at("error-text").textContent = error.message;
  at("retry").hidden = !error.dead;
  retry = again;
}

async function start() {
  let about;
  try {
    about = await call("about");
  } catch (error) {
    report(error, start);
    return;
  }
  report(null);
  at("title").textContent = about.env_id.replace(/^Glimpse\//, "");
  document.title = `${at("title").textContent} · Glimpse`;
  at("question").textContent = about.question;
  const parts = { play: new Play(about, report), watch: new Watch(about, report) };
  const show = (name, ...where) => {
    for (const each of Object.keys(parts)) {
      at(each).hidden = each !== name;
      at(`tab-${each}`).setAttribute("aria-pressed", String(each === name));
      parts[each].shown = each === name;
    }
    parts[name].show(...where);
  };
  const watching = about.machines.length > 0 && !about.recording;
  at("tabs").hidden = !watching;
  const follow = () => {
    const [part, ...where] = location.hash.slice(1).split("/"); // #watch/SCENE/STEP
    if (watching && part === "watch") show("watch", ...where.map(Number));
    else show("play");
  };
  at("tab-play").onclick = () => { location.hash = "play"; };
  at("tab-watch").onclick = () => { location.hash = parts.watch.where; };
  onhashchange = follow; // by a tab, or by the browser's back button
  follow();
}

at("retry").onclick = () => retry();
start();
