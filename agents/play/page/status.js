// What is said of the game: how far the episode is, what to do next, and how episodes went.

// For frames where the gaze is no place in a picture.
const HINTS = {
  tapes: "Move a head, or hold a symbol and an arrow together.",
  table: "Click a cell to look there.",
  scene: "Act by a key or a button.",
};

export function statusOf(play) {
  const { frame, taken, budget, ended, last, success } = play.game;
  if (ended) {
    const result = success === null ? `Return ${play.game.return.toFixed(2)}` : success ? "Right" : "Wrong";
    const answered = frame.answer === null ? "" : frame.kind === "tapes" ? "" : `you answered ${frame.answer}`;
    const right = frame.kind === "tapes" ? "the next symbol was" : "it was";
    const target = frame.target !== null && !success ? `${right} ${frame.target}` : "";
    const why = [answered, target].filter(Boolean).join(", ");
    return `${result}${why ? `: ${why}` : ""}, ${after(taken)}.`;
  }
  const [act, answer] = [play.part("act"), play.part("answer")];
  const given = frame.answer !== null && (answer?.written || answer?.every > 1)
    ? ` ${answer.written ? "Written" : "Answered"} so far: ${frame.answer}.` : "";
  const now = `Glimpse ${taken}${budget === null ? "" : ` of ${budget}`}.${given}`;
  if (last && answer && !answer.optional) {
    return play.answer === null ? `${now} That was the last: ${answer.written ? "choose the last word." : "what is it?"}`
      : `${now} That was the last: click or press enter to answer ${answer.names[play.answer]}, or choose another.`;
  }
  if (last) return `${now} The last action.`;
  if (!play.places) {
    const hint = frame.lines && play.part("look")?.kind === "choice" ? "Choose what to read next, or answer." : HINTS[frame.kind];
    return [now, hint].filter(Boolean).join(" ");
  }
  if (act) return `${now} ${act.idle ? "Act, or click to look without acting." : "Click where to look, then act."}`;
  if (answer?.written) {
    const next = play.answer === null ? "Choose the next word, then click where to look." : `Next word: ${answer.names[play.answer]}. Click where to look.`;
    return `${now} ${next}`;
  }
  if (play.due && play.answer === null) return `${now} The answer counts with this look: choose it, then click where to look.`;
  const kept = play.answer === null || !answer ? "" : ` Your ${play.due ? "answer now" : answer.every > 1 ? "next answer" : "answer so far"}: ${answer.names[play.answer]}.`;
  const stop = play.part("stop") && !answer ? " Stop when the gaze lies on it." : "";
  return `${now}${kept} Click where to look next.${stop}`;
}

// How the episodes so far went.
export function scoreOf({ played, successes, glimpses, return: total }) {
  if (played === 0) return "";
  return successes === null ? `${played} played, mean return ${(total / played).toFixed(2)}`
    : `${successes} of ${played} right, ${(glimpses / played).toFixed(1)} glimpses each`;
}

export function after(glimpses) {
  return `after ${glimpses} ${glimpses === 1 ? "glimpse" : "glimpses"}`;
}
