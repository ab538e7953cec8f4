// Playing: one game, its scene, its answers and its keys.
import { call } from "./api.js";
import { drawCards } from "./cards.js";
import { buildControls, describeKeys } from "./controls.js";
import { drawFrame, drawLegend, drawPanels, judged, legendOf, make } from "./draw.js";
import { listen } from "./input.js";
import { keysOfSymbol, releaseFocus } from "./keys.js";
import { scoreOf, statusOf } from "./status.js";

const at = (id) => document.getElementById(id);

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
    at("how").textContent = about.how_to_play;
    at("next").onclick = () => this.deal();
    at("play").addEventListener("click", releaseFocus);
    listen(this, at("scene"));
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
      onAddress: ended || this.part("look")?.kind !== "address" ? null : (address) => this.step({ action: { look: address } }),
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
