// Requests to the server, with the token from the page's address.

const token = new URLSearchParams(location.search).get("token") ?? "";

/** A refusal of the server, or a failed connection. */
export class Refusal extends Error {
  constructor(status, content) {
    super(typeof content === "string" ? content.trim() : content.text);
    this.status = status;
    this.content = content;
  }
}

export async function ask(path, { method = "GET", body = null } = {}) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, {
      method,
      headers: { "X-Qsproj-Token": token, ...(body ? { "Content-Type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : null,
    });
  } catch {
    throw new Refusal(0, "the server does not answer; nothing is lost, try again");
  }
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  const content = isJson ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Refusal(answer.status, content);
  return content;
}
