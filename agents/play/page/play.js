// Playing: one game, its scene, its answers and its keys.
import { call } from "./api.js";
import { drawCards } from "./cards.js";
import { buildControls, describeKeys } from "./controls.js";
import { drawFrame, drawLegend, drawPanels, judged, legendOf, make } from "./draw.js";
import { ACTS_OF, Chords, SYMBOLS, codeOf, isTyping, keysOfSymbol, releaseFocus, symbolOf } from "./keys.js";
import { scoreOf, statusOf } from "./status.js";

const at = (id) => document.getElementById(id);
const STEP = 0.05;

export class Play {
  constructor(about, report) {
    this.about = about;
    this.report = report;
    this.game = null;
    this.answer = null;
    this.cursor = { x: 0.5, y: 0.5 };
    this.keyed = false;
    this.busy = false;
    this.held = new Set(); // arrows that buttons hold down on tapes
    this.turn = Promise.resolve();
    this.chords = new Chords((keys) => this.inTurn(() => this.step({ keys })));
    at("how").textContent = about.how_to_play;
    at("next").onclick = () => this.deal();
    at("play").addEventListener("click", releaseFocus);
    at("scene").addEventListener("click", (event) => this.click(event));
    at("scene").addEventListener("pointermove", (event) => this.point(event));
    addEventListener("keydown", (event) => this.keyDown(event));
    addEventListener("keyup", (event) => this.keyUp(event));
    addEventListener("blur", () => this.chords.clear());
    addEventListener("resize", () => this.shown && this.draw());
    document.addEventListener("visibilitychange", () => this.refresh());
  }

  // The game may have gone on in another tab.
  refresh() {
    if (!document.hidden && this.shown && this.game) this.ask(() => call(`games/${this.game.id}`));
  }

  async show() {
    if (this.game) return this.draw();
    const kept = sessionStorage.getItem("game");
    this.say("The first scene is made: the first time of all, this takes up to a minute.");
    return this.ask(async () => {
      try {
        if (kept) return await call(`games/${kept}`);
      } catch (error) {
        if (!error.gone) throw error;
      }
      return call("games", {});
    }, true);
  }

  // Ask the server, and show the game that it answers with.
  async ask(question, fresh = false) {
    if (this.busy) return;
    this.busy = true;
    try {
      const game = await question();
      this.report(null);
      const dealt = !this.game || this.game.scene !== game.scene || this.game.id !== game.id;
      this.game = game;
      sessionStorage.setItem("game", game.id);
      if (dealt || fresh) this.begin();
    } catch (error) {
      if (!this.game) this.say("");
      if (error.gone) {
        this.game = null;
        sessionStorage.removeItem("game");
      }
      this.report(error, () => (this.game ? this.ask(() => call(`games/${this.game.id}`)) : this.show()));
      if (error.gone) {
        this.busy = false;
        await this.show();
        this.report(new Error("That game is no longer there: this is a new one."));
      }
      return;
    } finally {
      this.busy = false;
    }
    await this.draw();
    if (this.game.ended) this.compare();
  }

  begin() {
    this.answer = this.kept();
    this.keyed = false;
    this.cursor = { x: 0.5, y: 0.5 };
    this.aim = null; // where buttons look: at the place pointed to last, else the gaze stays
    at("models").hidden = true;
    buildControls(this);
    describeKeys(at("keys"), this);
  }

  // What was chosen and not yet sent; a reload keeps it, as it keeps the game.
  get choiceKey() {
    return `${this.game.id}/${this.game.scene}/${this.game.taken}/`;
  }

  kept() {
    const [found, text] = [this.choiceKey, sessionStorage.getItem("choice")];
    return text?.startsWith(found) && !this.game.ended ? Number(text.slice(found.length)) : null;
  }

  part(name) {
    return this.game.controls.components.find((each) => each.name === name);
  }

  get places() {
    return this.part("look")?.kind === "place";
  }

  // Whether the answer of the next action is scored, whatever comes after it.
  get due() {
    const every = this.part("answer")?.every;
    return every > 0 && this.game.taken % every === 0;
  }

  // What is typed faster than the server answers waits; a click is left out, as it may be double.
  inTurn(action) {
    this.turn = this.turn.finally(action);
  }

  step(message) {
    if (!this.game || this.game.ended) return undefined;
    return this.ask(() => call(`games/${this.game.id}/step`, message));
  }

  deal() {
    return this.ask(() => call(`games/${this.game.id}/deal`, {}));
  }

  // Look somewhere, with what else is chosen.
  look(place, more = {}) {
    const { written, every } = this.part("answer") ?? {};
    if (this.due && this.answer === null) {
      this.say(written ? "Choose the next word first: one is written with each look."
        : "Choose an answer first: it counts with this look.");
      return undefined;
    }
    const act = this.part("act");
    if (act && !act.idle && !("act" in more)) {
      this.cursor = place ?? this.cursor;
      this.keyed = true;
      return this.draw().then(() => this.say("Now act: the gaze goes to the pointer with it."));
    }
    const action = { ...more };
    if (place && this.part("look")) action.look = place;
    if (this.answer !== null && this.part("answer") && !this.part("answer").optional) action.answer = this.answer;
    if (written || (this.due && every > 1)) this.answer = null; // the next one is to something else
    return this.step({ action });
  }

  // Act, and look at the pointer where places are looked at.
  act(choice) {
    return this.look(this.places ? this.cursor : null, { act: choice });
  }

  choose(choice) {
    if (this.game.ended) return undefined;
    if (this.held.size) return this.step({ keys: [...this.held, ...keysOfSymbol(this.part("answer").names[choice])] });
    if (this.part("answer").optional) return this.step({ action: { answer: choice } });
    this.answer = choice;
    if (this.game.last) return this.look(null);
    return this.draw();
  }

  write(choice) {
    if (!this.held.size) return this.step({ action: { write: choice } });
    return this.step({ keys: [...this.held, ...keysOfSymbol(this.part("write").names[choice], true)] });
  }

  // --- mouse and keys ------------------------------------------------------------------------

  placeOf(event) {
    const box = at("scene").getBoundingClientRect();
    const inside = (value) => Math.min(1, Math.max(0, value));
    return { x: inside((event.clientX - box.left) / box.width), y: inside((event.clientY - box.top) / box.height) };
  }

  click(event) {
    if (!this.game || !this.places || this.game.ended || event.target.tagName !== "CANVAS") return;
    this.keyed = false;
    this.aim = this.placeOf(event);
    if (this.game.last && this.part("answer") && this.answer === null) {
      this.say("That was the last glimpse: answer with a number key or a button.");
      return;
    }
    this.look(this.placeOf(event));
  }

  point(event) {
    if (event.pointerType === "mouse" && this.game && this.places) {
      this.cursor = this.placeOf(event);
      this.keyed = false;
    }
  }

  keyDown(event) {
    if (!this.shown || !this.game || isTyping(event)) return;
    if (this.game.ended) {
      if (event.code === "Enter" && event.target.tagName !== "BUTTON") this.deal();
      return;
    }
    if (this.game.controls.chords) {
      const code = codeOf(event);
      if (code === null || event.repeat) return;
      event.preventDefault();
      this.chords.down(code);
      return;
    }
    if (this.pressed(event)) event.preventDefault();
  }

  keyUp(event) {
    const code = codeOf(event);
    if (this.shown && code !== null && this.game?.controls.chords) this.chords.up(code);
  }

  // Whether a key means something where the environment has no keys of its own.
  pressed(event) {
    const act = this.part("act");
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.code];
    const acted = (ACTS_OF[event.code] ?? []).map((name) => act?.names.indexOf(name) ?? -1).find((index) => index >= 0);
    // A key that is held down acts no longer once it is let go.
    const actNow = (choice) => (event.repeat ? this.act(choice) : this.inTurn(() => this.act(choice)));
    if (acted !== undefined) {
      actNow(acted);
      return true;
    }
    const letters = { KeyA: [-1, 0], KeyD: [1, 0], KeyW: [0, -1], KeyS: [0, 1] }[event.code];
    const move = arrow ?? (act ? letters : undefined);
    if (move && this.places) {
      const share = event.shiftKey ? STEP / 5 : STEP;
      const inside = (value) => Math.min(1, Math.max(0, value));
      this.cursor = { x: inside(this.cursor.x + share * move[0]), y: inside(this.cursor.y + share * move[1]) };
      this.aim = this.cursor;
      this.keyed = true;
      this.draw();
      return true;
    }
    if (event.target.tagName === "BUTTON" && (event.code === "Enter" || event.code === "Space")) return false;
    if (event.code === "Enter" && this.part("stop") && (this.answer !== null || !this.part("answer"))) {
      this.look(null, { stop: 1 });
      return true;
    }
    if ((event.code === "Enter" || event.code === "Space") && this.places) {
      if (!this.game.last || !this.part("answer") || this.answer !== null) this.look(this.cursor);
      return true;
    }
    const symbol = symbolOf(event);
    const answer = this.part("answer");
    const choice = symbol === null ? -1 : SYMBOLS.indexOf(symbol);
    if (answer && choice >= 0 && choice < answer.names.length) {
      this.choose(choice);
      return true;
    }
    // Letters move the pointer.
    if (act && !answer && choice >= 0 && choice < Math.min(act.names.length, 10)) {
      actNow(choice);
      return true;
    }
    return false;
  }

  // --- what is shown -------------------------------------------------------------------------

  say(text) {
    at("status").textContent = text;
  }

  async draw() {
    const game = this.game;
    if (!game) return;
    const { frame, ended } = game;
    if (this.answer === null) sessionStorage.removeItem("choice");
    else sessionStorage.setItem("choice", `${this.choiceKey}${this.answer}`);
    await drawFrame(at("scene"), frame, {
      dim: !ended,
      cursor: this.keyed && !ended ? this.cursor : null,
      reach: this.part("look")?.reach,
      onAddress: ended ? null : (address) => this.step({ action: { look: address } }),
    });
    at("scene").classList.toggle("ended", ended);
    at("panels-part").hidden = !frame.panels?.length;
    drawPanels(at("panels"), frame);
    drawLegend(document.querySelector("#play .legend"), legendOf(frame, { eye: !ended }));
    at("pips").replaceChildren(...Array.from({ length: Math.min(game.budget ?? 0, 60) }, (_, index) =>
      make("i", { class: index < game.taken ? "on" : "" })));
    for (const button of at("answers").children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.choice) === this.answer));
      button.disabled = ended;
    }
    for (const button of at("others").querySelectorAll("button, input")) button.disabled = ended;
    at("next").textContent = ended ? "Next scene" : "Skip this scene";
    at("next").hidden = this.about.recording && !ended;
    at("next").classList.toggle("main", ended);
    at("question").textContent = frame.question || this.about.question;
    this.say(statusOf(this));
    at("status").className = ended ? judged(game.success) : "";
    at("score").textContent = scoreOf(game.score);
  }

  async compare() {
    if (!this.about.machines.length) return;
    const scene = this.game.scene;
    try {
      const episodes = await call(`games/${this.game.id}/models`);
      if (this.game.scene !== scene || !this.game.ended) return;
      at("models").hidden = false;
      await drawCards(at("model-cards"), this.game, episodes);
    } catch (error) {
      this.report(error, () => this.compare());
    }
  }
}
