// Keys of the browser as the codes of SDL that glimpse_envs.episodes.keyboard uses.
const NAMED = {
  ArrowRight: 0x4000004f, ArrowLeft: 0x40000050, ArrowDown: 0x40000051, ArrowUp: 0x40000052,
  ShiftLeft: 0x400000e1, ShiftRight: 0x400000e1, Space: 32,
};
export const ARROWS = { "←": NAMED.ArrowLeft, "→": NAMED.ArrowRight, "↓": NAMED.ArrowDown, "↑": NAMED.ArrowUp };
export const OPPOSITES = { "←": "→", "→": "←", "↓": "↑", "↑": "↓" };
// Acts that an arrow key stands for, by their names.
export const ACTS_OF = { ArrowLeft: ["left"], ArrowRight: ["right"], ArrowUp: ["up", "forward"], ArrowDown: ["down"] };
export const SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz";

// Keys, in order, as people write them: "1–9 a–u".
export function rangesOf(keys) {
  const runs = [];
  for (const key of keys) {
    const last = runs[runs.length - 1];
    if (last && key.charCodeAt(0) === last[1].charCodeAt(0) + 1) last[1] = key;
    else runs.push([key, key]);
  }
  return runs.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(" ");
}

// Keys whose holding writes or puts out a symbol, by its number.
export function keysOfSymbol(number, written) {
  return [...(written ? [NAMED.ShiftLeft] : []), SYMBOLS.charCodeAt(number)];
}

export function codeOf(event) {
  if (event.code in NAMED) return NAMED[event.code];
  const symbol = symbolOf(event);
  return symbol === null ? null : symbol.charCodeAt(0);
}

export function symbolOf(event) {
  const match = /^(?:Digit|Numpad|Key)([0-9A-Z])$/.exec(event.code);
  if (match) return match[1].toLowerCase();
  const key = event.key?.toLowerCase();
  return key?.length === 1 && SYMBOLS.includes(key) ? key : null;
}

// After a click keys are for the page again, not for the button or box that was clicked.
export function releaseFocus(event) {
  if (event.detail > 0) event.target.closest("button, [type='checkbox']")?.blur();
}

export function isTyping(event) {
  return event.ctrlKey || event.metaKey || event.altKey
    || event.target.matches?.("input:not([type='checkbox'], [type='range']), textarea");
}

// Keys that are held together act when the first of them is let go.
export class Chords {
  constructor(act) {
    this.act = act;
    this.held = new Set();
    this.sent = false;
  }

  down(code) {
    if (this.held.size === 0) this.sent = false;
    this.held.add(code);
  }

  up(code) {
    if (!this.held.has(code)) return;
    const keys = [...this.held];
    this.held.delete(code);
    if (this.sent) return;
    this.sent = true;
    this.act(keys);
  }

  clear() {
    this.held.clear();
  }
}
