// Buttons for each part of the action, and a list of what the keys do.
import { make } from "./draw.js";
import { ACTS_OF, ARROWS, SYMBOLS } from "./keys.js";

const at = (id) => document.getElementById(id);
const MANY = 20; // answers, from which on their buttons are small

export function buildControls(play) {
  const answer = play.part("answer");
  at("answering").hidden = !answer;
  at("answers").classList.toggle("many", answer?.names.length > MANY);
  at("answering-title").textContent = play.game.frame.kind === "tapes" ? "Put out" : "Answer";
  at("answers").replaceChildren(...(answer?.names ?? []).map((name, choice) => {
    if (answer.optional && choice === 0) return null;
    const label = labelOf(play, name, choice);
    return make("button", { type: "button", "data-choice": choice, "aria-pressed": "false",
      onclick: () => play.choose(choice) }, ...label);
  }).filter(Boolean));
  const others = play.game.controls.components.filter((each) => each !== answer).map((each) => controlOf(play, each));
  at("others").replaceChildren(...others.filter(Boolean));
}

// The name of a choice, behind its key where that is another.
function labelOf(play, name, choice) {
  const { chords } = play.game.controls;
  const key = !chords ? SYMBOLS[choice] ?? "" : play.game.frame.kind === "tapes" ? SYMBOLS[name] : name;
  return key && key !== name ? [make("kbd", {}, key), ` ${name}`] : [name];
}

function controlOf(play, part) {
  if (part.kind === "place") return null;
  const send = (action) => play.step({ action });
  if (part.kind === "address") return addressForm(part, send);
  if (part.name === "look" && play.game.controls.chords) {
    const names = part.kind === "several" ? "←→↓↑" : "←→";
    return section("Move", [...names].map((name) => button(name, () => play.step({ keys: [ARROWS[name]] }))));
  }
  if (part.kind === "several" || part.name === "look") return severalForm(part, send);
  if (part.name === "stop") {
    return section("Stop", [button(play.part("answer") ? "Answer now" : "Stop here", () => play.look(null, { stop: 1 }))]);
  }
  const title = { write: "Write", act: "Act" }[part.name] ?? part.name;
  const keyed = (choice) => part.name === "write" || (part.name === "act" && !play.part("answer") && choice < 10);
  const choices = part.names.map((name, choice) => name && button(keyed(choice) ? labelOf(play, name, choice) : [name],
    () => play.look(play.places ? play.aim : null, { [part.name]: choice })));
  return section(title, choices.filter(Boolean));
}

function button(label, onclick) {
  return make("button", { type: "button", onclick }, ...label);
}

function section(title, buttons) {
  return make("section", {}, make("h2", {}, title), make("div", { class: "buttons" }, ...buttons));
}

function addressForm(part, send) {
  const input = make("input", { type: "number", min: 0, max: part.choices - 1, required: true,
    "aria-label": `address, 0 to ${part.choices - 1}`, placeholder: `0 to ${part.choices - 1}` });
  const form = make("form", { class: "buttons", onsubmit: (event) => {
    event.preventDefault();
    send({ look: Number(input.value) });
    input.value = "";
  } }, input, make("button", {}, "Look"));
  return make("section", {}, make("h2", {}, "Look at address"), form);
}

function severalForm(part, send) {
  const sizes = part.sizes ?? [part.choices];
  const inputs = sizes.map((size) => make("input", { type: "number", min: 0, max: size - 1, required: true, value: 0,
    "aria-label": `choice, 0 to ${size - 1}` }));
  const form = make("form", { class: "buttons", onsubmit: (event) => {
    event.preventDefault();
    const values = inputs.map((input) => Number(input.value));
    send({ [part.name]: part.sizes ? values : values[0] });
  } }, ...inputs, make("button", {}, "Go"));
  return make("section", {}, make("h2", {}, part.name), form);
}

function countsWhen({ every }) {
  if (every === 1) return "it counts with each look";
  return every ? `it counts after every ${every} glimpses` : "it counts after the last glimpse";
}

export function describeKeys(list, play) {
  const rows = [];
  const answer = play.part("answer");
  if (play.game.controls.chords && play.game.frame.kind === "tapes") {
    rows.push(["← →", "move the input head"]);
    if (play.part("write")) rows.push(["↓ ↑", "move the memory head left, right"]);
    rows.push(["0–9 a–z", "put a symbol out"]);
    if (play.part("write")) rows.push(["⇧ + symbol", "write it"]);
    rows.push(["together", "held keys act at once, when one is let go"]);
  } else if (play.game.controls.chords) {
    const { choices, bits } = play.part("look");
    const lastKey = SYMBOLS[9 + (bits ?? Math.min(choices, 26))];
    rows.push([`a–${lastKey}`,
      bits ? "bits of the address that are 1, held together; a is the lowest" : "look at an address, a = 0"]);
    rows.push(["1–9, 0", "answer; with space 10 more"]);
  } else {
    const act = play.part("act");
    const there = play.places ? ", and look at the pointer" : "";
    const arrows = [..."←→↑↓"].filter((_, index) => Object.values(ACTS_OF)[index].some((name) => act?.names.includes(name)));
    if (arrows.length) rows.push([arrows.join(" "), `act${there}`]);
    if (act && !answer) rows.push([`0–${Math.min(act.names.length, 10) - 1}`, `act by number${there}`]);
    if (play.places) {
      rows.push(["click", !act || act.idle ? "look there" : "point there"]);
      rows.push(act ? ["w a s d", "move the pointer"] : ["arrows", "move the pointer, with ⇧ finely"]);
      if (!act || act.idle) rows.push(["space", "look at the pointer"]);
    }
    if (answer) rows.push(["0–9" + (answer.names.length > 10 ? " a–z" : ""), 
      answer.written ? "the next word, written with each look" : `answer; ${countsWhen(answer)}`]);
    if (play.part("stop")) rows.push(["enter", answer ? "answer now, and stop" : "stop: the gaze is on it"]);
  }
  rows.push(["enter", "next scene, at the end"]);
  list.replaceChildren(...rows.flatMap(([keys, text]) => [make("dt", {}, make("kbd", {}, keys)), make("dd", {}, text)]));
}
