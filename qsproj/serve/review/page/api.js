// Requests to the server, with the token from the page's address.

const token = new URLSearchParams(location.search).get("token") ?? "";

/** A refusal of the server, or a failed connection. */
export class Refusal extends Error {
  constructor(status, told) {
    super(typeof told === "string" ? told.trim() : told.text);
    this.status = status;
    this.told = told;
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
  const told = isJson ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Refusal(answer.status, told);
  return told;
}
