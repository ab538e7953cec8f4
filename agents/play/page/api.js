// Messages to the server. An error says what to show; `gone` where there is no such game any more.
export class ServerError extends Error {
  constructor(text, { dead = false, gone = false } = {}) {
    super(text);
    this.dead = dead;
    this.gone = gone;
  }
}

export async function call(path, message) {
  const options = message === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(message),
  };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, options);
  } catch {
    throw new ServerError(
      "The server does not answer. Start it again with python -m agents.play; then try again.",
      { dead: true },
    );
  }
  const failed = { error: "The server failed: its terminal says why." };
  const content = await answer.json().catch(() => failed);
  if (content === failed || !answer.ok) throw new ServerError(content.error, { gone: answer.status === 404 });
  return content;
}
