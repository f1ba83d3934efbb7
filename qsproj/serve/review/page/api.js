// Requests to the server, with the token from the page's address.

let token = new URLSearchParams(location.search).get("token") ?? "";

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
  if (answer.status === 403 && method !== "GET" && renewed()) return ask(path, { method, body });
  if (!answer.ok) throw new Refusal(answer.status, content);
  return content;
}

/** Ask for the new address of a server that was started again; return whether one was given. */
function renewed() {
  const given = prompt("Was the server started again? Paste the address that it shows now, and nothing is lost.")?.match(/token=([\w-]+)/);
  if (!given) return false;
  token = given[1];
  history.replaceState(null, "", `?token=${token}`);
  return true;
}
