// A frame of any kind, drawn into an element: a scene, tapes, or a table.
import { LOOK, TARGET, drawScene } from "./scene.js";

export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export async function drawFrame(host, frame, view = {}) {
  host.dataset.kind = frame.kind;
  if (frame.kind === "scene") {
    let canvas = host.querySelector("canvas");
    if (!canvas) {
      canvas = make("canvas", { tabindex: "0" });
      host.replaceChildren(canvas);
    }
    canvas.setAttribute("aria-label", `scene, ${frame.path.length} glimpses so far`);
    await drawScene(canvas, frame, view);
    return;
  }
  host.replaceChildren(frame.kind === "tapes" ? tapesOf(frame) : tableOf(frame, view));
}

const SLOTS = 13;

function tapesOf(frame) {
  const strips = frame.strips.map((strip) => stripOf(strip, firstOf(strip.with_first ? frame.strips[0] : strip)));
  return make("div", { class: "tapes" }, ...strips);
}

// The cell in the first slot: a tape stands still while it fits, and then keeps its head in the middle.
function firstOf(strip) {
  const focus = strip.head ?? strip.good.length;
  const end = Math.max(focus, ...Object.keys(strip.cells).map(Number), ...strip.blanks);
  return Math.max(-1, Math.min(focus - Math.floor(SLOTS / 2), end + 1 - SLOTS));
}

function stripOf(strip, first) {
  const cells = [];
  for (let index = first; index < first + SLOTS; index += 1) {
    const known = index in strip.cells;
    const classes = ["cell"];
    if (known) classes.push("seen");
    if (strip.blanks.includes(index)) classes.push("blank");
    if (strip.written.includes(index)) classes.push("written");
    if (index < strip.good.length && index >= 0) classes.push(strip.good[index] ? "right" : "wrong");
    if (index === strip.head) classes.push("head");
    const text = known ? strip.cells[index] : "";
    if (text.length > 2) classes.push("long");
    cells.push(make("span", { class: classes.join(" "), "data-index": index }, text));
  }
  return make("div", { class: "strip", "data-name": strip.name },
    make("h3", {}, strip.name), make("div", { class: "cells" }, ...cells));
}

function tableOf(frame, view) {
  const cells = frame.cells.map((cell) => {
    const classes = ["cell", cell.seen ? "seen" : "unseen"];
    if (cell.written) classes.push("written");
    if (cell.steps.length) classes.push("visited");
    if (cell.address === frame.present) classes.push("present");
    const pointer = /^->(\d+)(.*)$/.exec(cell.text);
    const content = pointer
      ? [make("button", { class: "pointer", type: "button", disabled: !view.onAddress,
        onclick: () => view.onAddress?.(Number(pointer[1])) }, `→ ${pointer[1]}`), pointer[2].trim()]
      : [cell.text];
    const number = view.onAddress
      ? make("button", { class: "address", type: "button", title: `look at address ${cell.address}` }, String(cell.address))
      : make("span", { class: "address" }, String(cell.address));
    // A click anywhere in the cell looks there, but for one on a pointer, which is followed.
    const look = view.onAddress && ((event) => event.target.closest(".pointer") || view.onAddress(cell.address));
    return make("div", { class: classes.join(" "), "data-address": cell.address, ...(look ? { onclick: look } : {}) }, number,
      make("span", { class: "content" }, ...content),
      make("span", { class: "steps" }, cell.steps.slice(-3).join(", ")),
      cell.relevant ? make("span", { class: "star", title: "holds the answer" }, "★") : "");
  });
  return make("div", { class: "table" }, make("h3", { class: "query" }, frame.query),
    make("div", { class: frame.lines ? "grid lines" : "grid" }, ...cells));
}

export function drawPanels(host, frame) {
  host.replaceChildren(...(frame.panels ?? []).map((panel) => {
    const image = make("img", { src: panel.image, alt: `glimpse, ${panel.label}` });
    image.style.borderColor = panel.colour;
    return make("figure", {}, image, make("figcaption", {}, panel.label));
  }));
}

// What the signs of a frame mean, as [sign, colour, text]: `eye` where only what was seen is shown, `look` where the
// next look is drawn, `soft` where it is lit by soft attention.
export function legendOf(frame, { eye = false, look = false, soft = false }) {
  const scales = frame.outlines ?? [];
  const entries = {
    scene: [
      ...scales.map((one, index) => ["ring", one.colour,
        scales.length === 1 ? "what the glimpse shows" : ["finest window", "coarsest window"][index === 0 ? 0 : 1]])
        .filter((_, index) => index === 0 || index === scales.length - 1),
      ...(scales.length ? [["dot", "rgb(255, 84, 40)", "gaze"]] : []),
      ...(scales.length && frame.path.length > 1 ? [["dot", "rgb(255, 150, 110)", "gaze before"]] : []),
      ...(soft ? [["fill", "rgb(104, 61, 45)", "lit: read softly"]] : []),
      ...(eye && scales.length ? [["fill", "#6e6e6e", "lit: seen"], ["fill", "#000", "black: not seen"]] : []),
      ...(frame.boxes?.length ? [["ring", TARGET, "where the answer lies"]] : []),
    ],
    tapes: [["ring", "var(--head)", "under the head"], ["fill", "var(--seen)", "seen"], ["ring", "var(--line)", "not seen"],
      ...(frame.strips?.some((strip) => strip.written.length) ? [["fill", "var(--written)", "written"]] : []),
      ...[["right", true], ["wrong", false]].filter(([, good]) => frame.strips?.some((strip) => strip.good.includes(good)))
        .map(([text]) => ["fill", `var(--${text}-cell)`, text])],
    table: [["ring", "var(--head)", frame.lines ? "present line" : "present cell"],
      ["ring", "var(--path)", `visited, at the steps ${frame.lines ? "beside" : "below"}`],
      ...(frame.cells?.some((cell) => cell.written) ? [["fill", "var(--written)", "written"]] : []),
      ...(frame.cells?.some((cell) => !cell.seen) ? [["fill", "#000", "not seen"]] : []),
      ...(frame.cells?.some((cell) => cell.relevant) ? [["star", "", "holds the answer"]] : [])],
  }[frame.kind];
  if (look && frame.kind === "scene") {
    entries.push(scales.length ? ["ring", LOOK, "where it may look next"] : ["dot", LOOK, "where it points"]);
  }
  return entries;
}

// The legend of all frames that are shown, each sign once.
export function drawLegend(list, ...legends) {
  const entries = new Map(legends.flat().map((entry) => [entry.join(), entry]));
  list.replaceChildren(...[...entries.values()].map(([sign, colour, text]) => {
    const mark = make("i", { class: sign }, sign === "star" ? "★" : "");
    mark.style.setProperty("--sign", colour);
    return make("li", {}, mark, text);
  }));
}

// The class of a verdict: a world that does not tell success has neither.
export function judged(success) {
  return success === null ? "" : success ? "right" : "wrong";
}
