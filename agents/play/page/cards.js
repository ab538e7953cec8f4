// Whole episodes on the same scene beside each other: the player's and those of models.
import { drawFrame, judged, make } from "./draw.js";
import { after } from "./status.js";

export async function drawCards(host, game, episodes) {
  host.replaceChildren();
  await addCard(host, "you", game.frame, game, after(game.taken));
  for (const episode of episodes) {
    const { frame } = episode.frames[episode.frames.length - 1];
    const seen = episode.whole ? "sees the whole scene" : after(episode.frames.length - 1);
    await addCard(host, `trained: ${episode.name}`, frame, episode, seen);
  }
}

function addCard(host, name, frame, { success, return: total }, seen) {
  const view = make("div", { class: "view" });
  const verdict = success === null ? `return ${total.toFixed(2)}` : success ? "right" : "wrong";
  const answered = frame.answer !== null && frame.kind !== "tapes" ? `answered ${frame.answer}, ` : "";
  host.append(make("article", { class: "card" }, make("h3", {}, name), view,
    make("p", { class: `verdict ${judged(success)}` }, `${answered}${verdict}, ${seen}`)));
  return drawFrame(view, frame);
}
