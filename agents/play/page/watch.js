// Watching: the episodes of models on one scene, step by step, beside each other.
import { call } from "./api.js";
import { drawFrame, drawLegend, judged, legendOf, make } from "./draw.js";
import { isTyping, releaseFocus } from "./keys.js";

const at = (id) => document.getElementById(id);
const MOST_BARS = 10;
const PACE = 700;

export class Watch {
  constructor(about, report) {
    this.about = about;
    this.report = report;
    this.scene = 0;
    this.step = 0;
    this.episodes = null;
    this.timer = null;
    at("watch-controls").onsubmit = (event) => event.preventDefault();
    at("watch-scene").max = about.scenes - 1;
    at("watch-scene").onchange = () => this.choose(Number(at("watch-scene").value));
    at("watch-step").oninput = () => this.go(Number(at("watch-step").value));
    at("watch-back").onclick = () => this.go(this.step - 1);
    at("watch-on").onclick = () => this.go(this.step + 1);
    at("watch-play").onclick = () => this.toggle();
    at("watch-eye").onchange = () => this.draw();
    at("watch").addEventListener("click", releaseFocus);
    addEventListener("keydown", (event) => this.keyDown(event));
    addEventListener("resize", () => this.shown && this.draw());
  }

  show(scene = this.scene, step = this.step) {
    return this.episodes && scene === this.scene ? this.go(step) : this.choose(scene, step);
  }

  // What is shown, as the address of the page has it.
  get where() {
    return `watch/${this.scene}/${this.step}`;
  }

  // Load the nearest scene that there is.
  choose(scene, step = 0) {
    return this.load(Math.min(this.about.scenes - 1, Math.max(0, Math.round(scene) || 0)), step);
  }

  async load(scene, step = 0) {
    if (!Number.isInteger(scene) || scene < 0 || scene >= this.about.scenes) return;
    at("watch-at").textContent = "playing…";
    try {
      const episodes = await call(`watch?scene=${scene}`);
      this.report(null);
      this.scene = scene;
      this.episodes = episodes;
      this.timeline = timelineOf(episodes);
    } catch (error) {
      this.report(error, () => this.load(scene, step));
      at("watch-at").textContent = "";
      await this.draw();
      return;
    }
    at("watch-scene").value = scene;
    at("watch-cards").replaceChildren(...this.episodes.map((episode) => make("article", { class: "card" },
      make("h3", {}, episode.name), make("div", { class: "view" }), make("p", { class: "verdict" }),
      make("div", { class: "beliefs" }))));
    await this.go(step);
  }

  get last() {
    return this.timeline.length - 1;
  }

  go(step) {
    this.step = Math.min(this.last, Math.max(0, Math.round(step) || 0));
    return this.draw();
  }

  toggle() {
    clearInterval(this.timer);
    this.timer = this.timer ? null : setInterval(() => this.tick(), PACE);
    if (this.timer && this.step === this.last) this.go(0);
    at("watch-play").textContent = this.timer ? "Pause" : "Play";
  }

  tick() {
    if (!this.shown || this.step === this.last) this.toggle();
    else this.go(this.step + 1);
  }

  keyDown(event) {
    if (!this.shown || !this.episodes || isTyping(event)) return;
    const act = {
      ArrowLeft: () => this.go(this.step - 1), ArrowRight: () => this.go(this.step + 1),
      ArrowUp: () => this.load(this.scene + 1), ArrowDown: () => this.load(this.scene - 1),
      Space: () => this.toggle(),
    }[event.code];
    // The space bar presses a button or a box that the keyboard has gone to.
    if (!act || (event.code === "Space" && event.target.matches("button, [type='checkbox']"))) return;
    event.preventDefault();
    act();
  }

  async draw() {
    if (!this.episodes) return;
    at("watch-step").max = this.last;
    at("watch-step").value = this.step;
    if (this.shown) history.replaceState(null, "", `#${this.where}`);
    const unit = this.episodes.some(({ whole, soft }) => !whole || soft) ? "glimpse" : "step";
    at("watch-at").textContent = this.step === this.last ? "the end" : `${unit} ${this.step + 1} of ${this.last}`;
    const cards = [...at("watch-cards").children];
    const eye = at("watch-eye").checked;
    const legends = [];
    for (const [index, episode] of this.episodes.entries()) {
      const step = this.timeline[this.step][index];
      const { frame, eye: seen, outlook } = episode.frames[step];
      const ended = step === episode.frames.length - 1;
      const [, view, verdict, beliefs] = cards[index].children;
      const hidden = eye && !ended;
      legends.push(legendOf(frame, { eye: hidden, look: Boolean(outlook?.look), soft: episode.soft }));
      await drawFrame(view, hidden ? seen : frame, { dim: !ended, look: outlook?.look });
      const cut = episode.cut ? `, cut off after ${step} steps` : "";
      const result = episode.success === null ? `return ${episode.return.toFixed(2)}` : episode.success ? "right" : "wrong";
      const answered = frame.answer !== null && frame.kind !== "tapes" ? `answered ${frame.answer}` : "";
      const target = frame.target !== null && !episode.success ? `, it was ${frame.target}` : "";
      verdict.textContent = ended ? [answered, result].filter(Boolean).join(": ") + target + cut
        : [seenBy(episode), answered && `answer so far: ${frame.answer}`].filter(Boolean).join("; ");
      verdict.className = `verdict ${ended ? judged(episode.success) : ""}`;
      const last = ended ? episode.frames[step - 1]?.outlook : outlook;
      beliefs.replaceChildren(...(last ? beliefsOf(last, episode, frame) : []));
    }
    at("question").textContent = this.episodes[0].frames[0].frame.question || this.about.question;
    drawLegend(document.querySelector("#watch .legend"), ...legends);
  }
}

// The frame of each episode at each step. Of a moving scene that a soft model reads several times at each moment, all
// models are shown at the same moment; else a soft reading stands beside a glimpse.
function timelineOf(episodes) {
  const lasts = episodes.map(({ frames }) => frames.length - 1);
  const momentsOf = ({ frames }) => frames[frames.length - 1].moment;
  if (!episodes.some((episode, index) => episode.moves && lasts[index] > momentsOf(episode))) {
    return Array.from({ length: Math.max(...lasts) + 1 }, (_, step) => lasts.map((last) => Math.min(step, last)));
  }
  return Array.from({ length: Math.max(...episodes.map(momentsOf)) + 1 }, (_, moment) => {
    const readings = episodes.map(({ frames }) => frames.flatMap((frame, index) => (frame.moment === moment ? [index] : [])));
    return Array.from({ length: Math.max(...readings.map((mine) => mine.length)) }, (_, reading) =>
      readings.map((mine, index) => (mine.length ? mine[Math.min(reading, mine.length - 1)] : lasts[index])));
  }).flat();
}

function seenBy({ soft, whole }) {
  if (soft) return "reads softly where it is lit";
  return whole ? "sees the whole scene" : "";
}

function beliefsOf(outlook, { names, value }, frame) {
  const found = [];
  for (const [name, belief] of Object.entries(outlook)) {
    if (name === "value" || !belief?.parts || belief.places) continue;
    belief.parts.forEach((shares, part) => {
      const several = belief.parts.length > 1 ? ` ${part + 1}` : "";
      if (shares.length === 2 && belief.parts.length > 3) return; // bits of an address
      found.push(make("h4", {}, `${name}${several}`), barsOf(shares, labels(name, names[name], shares, frame)));
    });
    if (belief.parts.length > 3 && belief.parts[0].length === 2) {
      const address = belief.parts.reduce((sum, [, one], bit) => sum + (one > 0.5 ? 2 ** bit : 0), 0);
      const sure = belief.parts.reduce((product, shares) => product * Math.max(...shares), 1);
      found.push(make("h4", {}, name), barsOf([sure], [`address ${address}`]));
    }
  }
  if (outlook.value !== null) {
    found.push(make("p", { class: "value" }, `value ${outlook.value.toFixed(2)}: an estimate of ${value}`));
  }
  return found;
}

function labels(name, named, shares, frame) {
  if (named?.length === shares.length) return named.map((text) => text || "nothing");
  if (name === "look" && frame.kind === "tapes" && shares.length <= 3) {
    return shares.length === 2 ? ["stay", "→"] : ["←", "stay", "→"];
  }
  return shares.map((_, index) => String(index));
}

function barsOf(shares, names) {
  let order = shares.map((_, index) => index);
  if (shares.length > MOST_BARS + 2) order = order.sort((a, b) => shares[b] - shares[a]).slice(0, MOST_BARS);
  const most = shares.indexOf(Math.max(...shares));
  return make("div", { class: "bars" }, ...order.map((index) => {
    const bar = make("i", { class: index === most ? "most" : "" });
    bar.style.width = `${(100 * shares[index]).toFixed(1)}%`;
    return make("div", { class: "bar" }, make("span", {}, names[index]), make("b", {}, bar),
      make("em", {}, `${Math.round(100 * shares[index])} %`));
  }));
}
