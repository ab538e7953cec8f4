// Buttons for each part of the action, and a list of what the keys do.
import { make } from "./draw.js";
import { ACTS_OF, ARROWS, OPPOSITES, SYMBOLS, rangesOf } from "./keys.js";

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
  at("others").replaceChildren(...others.flat().filter(Boolean));
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
  if (part.name === "look" && part.names.length) {
    return section("Read", part.names.map((name, choice) => button(name, () => send({ look: choice }))));
  }
  if (part.name === "look" && play.game.controls.chords) {
    const arrows = arrowsOf(part);
    return [section("Move", arrows.map((name) => button(name, () => play.step({ keys: [ARROWS[name]] })))),
      section("Move with each symbol", arrows.map((name) => holdButton(play, name)))];
  }
  if (part.kind === "several" || part.name === "look") return severalForm(part, send);
  if (part.name === "stop") {
    return section("Stop", [button(play.part("answer") ? "Answer now" : "Stop here", () => play.look(null, { stop: 1 }))]);
  }
  const title = { write: "Write", act: "Act" }[part.name] ?? part.name;
  const keyed = (choice) => part.name === "write" || (part.name === "act" && !play.part("answer") && choice < 10);
  const act = part.name === "write" ? (choice) => play.write(choice)
    : (choice) => play.look(play.places ? play.aim : null, { [part.name]: choice });
  const choices = part.names.map((name, choice) => name && button(keyed(choice) ? labelOf(play, name, choice) : [name], () => act(choice)));
  return section(title, choices.filter(Boolean), part.names.length > MANY);
}

// The arrows of the moves that heads on tapes have: one that has two moves cannot go back.
function arrowsOf(part) {
  const [input, memory] = part.sizes ?? [part.choices];
  return [...(input > 2 ? "←→" : "→"), ...(memory ? "↓↑" : "")];
}

// What an arrow key that is held does, for those without keys.
function holdButton(play, name) {
  const made = button(name, () => {
    const pressed = !play.held.delete(ARROWS[name]);
    if (pressed) play.held.add(ARROWS[name]).delete(ARROWS[OPPOSITES[name]]);
    for (const each of made.parentElement.children) {
      each.setAttribute("aria-pressed", String(play.held.has(ARROWS[each.textContent])));
    }
  });
  made.setAttribute("aria-pressed", String(play.held.has(ARROWS[name])));
  return made;
}

function button(label, onclick) {
  return make("button", { type: "button", onclick }, ...label);
}

function section(title, buttons, many = false) {
  return make("section", {}, make("h2", {}, title), make("div", { class: many ? "buttons many" : "buttons" }, ...buttons));
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
    rows.push([arrowsOf(play.part("look")).filter((name) => "←→".includes(name)).join(" "), "move the input head"]);
    if (play.part("write")) rows.push(["↓ ↑", "move the memory head left, right"]);
    rows.push([rangesOf(answer.names.filter(Boolean).map((name) => SYMBOLS[name])), "put a symbol out"]);
    if (play.part("write")) rows.push(["⇧ + symbol", "write it"]);
    rows.push(["together", "held keys act at once, when one is let go"]);
  } else if (play.game.controls.chords) {
    const { choices, bits, names } = play.part("look");
    const looks = names.length ? `read on: ${names.join(", ")}` : "look at an address, a = 0";
    rows.push([rangesOf(SYMBOLS.slice(10, 10 + (bits ?? choices))),
      bits ? "bits of the address that are 1, held together; a is the lowest" : looks]);
    const values = answer.names.filter(Boolean).length;
    rows.push([rangesOf("1234567890".slice(0, values)), `answer${values > 9 ? "; 0 is 10" : ""}${values > 10 ? "; with space 10 more" : ""}`]);
  } else {
    const act = play.part("act");
    const there = play.places ? ", and look at the pointer" : "";
    const arrows = [..."←→↑↓"].filter((_, index) => Object.values(ACTS_OF)[index].some((name) => act?.names.includes(name)));
    if (arrows.length) rows.push([arrows.join(" "), `act${there}`]);
    if (act && !answer) rows.push([rangesOf(SYMBOLS.slice(0, Math.min(act.names.length, 10))), `act by number${there}`]);
    if (play.places) {
      rows.push(["click", !act || act.idle ? "look there" : "point there"]);
      rows.push(act ? ["w a s d", "move the pointer"] : ["arrows", "move the pointer, with ⇧ finely"]);
      if (!act || act.idle) rows.push(["space", "look at the pointer"]);
    }
    if (answer) rows.push([rangesOf(SYMBOLS.slice(0, answer.names.length)),
      answer.written ? "the next word, written with each look" : `answer; ${countsWhen(answer)}`]);
    if (play.part("stop")) rows.push(["enter", answer ? "answer now, and stop" : "stop: the gaze is on it"]);
  }
  rows.push(["enter", "next scene, at the end"]);
  list.replaceChildren(...rows.flatMap(([keys, text]) => [make("dt", {}, make("kbd", {}, keys)), make("dd", {}, text)]));
}
