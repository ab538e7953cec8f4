// The mouse and the keys that play a game.
import { ACTS_OF, Chords, SYMBOLS, codeOf, isTyping, symbolOf } from "./keys.js";

const STEP = 0.05; // of the pointer by an arrow key, as a share of the scene
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LETTERS = { KeyA: [-1, 0], KeyD: [1, 0], KeyW: [0, -1], KeyS: [0, 1] };

// Hand clicks on the scene, and keys wherever they are pressed, to a `Play`.
export function listen(play, scene) {
  const chords = new Chords((keys) => play.inTurn(() => play.step({ keys })));
  scene.addEventListener("click", (event) => click(play, scene, event));
  scene.addEventListener("pointermove", (event) => point(play, scene, event));
  addEventListener("keydown", (event) => keyDown(play, chords, event));
  addEventListener("keyup", (event) => {
    const code = codeOf(event);
    if (play.shown && code !== null && play.game?.controls.chords) chords.up(code);
  });
  addEventListener("blur", () => chords.clear());
}

const inside = (value) => Math.min(1, Math.max(0, value));

function placeOf(scene, event) {
  const box = scene.getBoundingClientRect();
  return { x: inside((event.clientX - box.left) / box.width), y: inside((event.clientY - box.top) / box.height) };
}

function click(play, scene, event) {
  if (!play.game || !play.places || play.game.ended || event.target.tagName !== "CANVAS") return;
  play.keyed = false;
  play.aim = placeOf(scene, event);
  if (play.game.last && play.part("answer") && play.answer === null) {
    play.say("That was the last glimpse: answer with a number key or a button.");
    return;
  }
  play.look(play.aim);
}

function point(play, scene, event) {
  if (event.pointerType === "mouse" && play.game && play.places) {
    play.cursor = placeOf(scene, event);
    play.keyed = false;
  }
}

function keyDown(play, chords, event) {
  if (!play.shown || !play.game || isTyping(event)) return;
  if (play.game.ended) {
    if (event.code === "Enter" && event.target.tagName !== "BUTTON") play.deal();
    return;
  }
  if (play.game.controls.chords) {
    const code = codeOf(event);
    if (code === null || event.repeat) return;
    event.preventDefault();
    chords.down(code);
    return;
  }
  if (pressed(play, event)) event.preventDefault();
}

// Whether a key means something where the environment has no keys of its own.
function pressed(play, event) {
  const act = play.part("act");
  const acted = (ACTS_OF[event.code] ?? []).map((name) => act?.names.indexOf(name) ?? -1).find((index) => index >= 0);
  // A key that is held down acts no longer once it is let go.
  const actNow = (choice) => (event.repeat ? play.act(choice) : play.inTurn(() => play.act(choice)));
  if (acted !== undefined) {
    actNow(acted);
    return true;
  }
  const move = ARROWS[event.code] ?? (act ? LETTERS[event.code] : undefined);
  if (move && play.places) {
    const share = event.shiftKey ? STEP / 5 : STEP;
    play.cursor = { x: inside(play.cursor.x + share * move[0]), y: inside(play.cursor.y + share * move[1]) };
    play.aim = play.cursor;
    play.keyed = true;
    play.draw();
    return true;
  }
  if (event.target.tagName === "BUTTON" && (event.code === "Enter" || event.code === "Space")) return false;
  if (event.code === "Enter" && play.part("stop") && (play.answer !== null || !play.part("answer"))) {
    play.look(null, { stop: 1 });
    return true;
  }
  if ((event.code === "Enter" || event.code === "Space") && play.places) {
    if (!play.game.last || !play.part("answer") || play.answer !== null) play.look(play.cursor);
    return true;
  }
  const symbol = symbolOf(event);
  const answer = play.part("answer");
  const choice = symbol === null ? -1 : SYMBOLS.indexOf(symbol);
  if (answer && choice >= 0 && choice < answer.names.length) {
    play.choose(choice);
    return true;
  }
  // Letters move the pointer.
  if (act && !answer && choice >= 0 && choice < Math.min(act.names.length, 10)) {
    actNow(choice);
    return true;
  }
  return false;
}
