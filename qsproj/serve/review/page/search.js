// Search over trees, and bulk correction of the matches, with a preview in which each can be deselected.
import { ask } from "./api.js";
import { $, button, cell, element } from "./dom.js";

/** Return the changes of a word's cells by a correction; without one, the cells. */
function differing({ before, after }) {
  if (after === before) return before.join(" ");
  const changed = before.flatMap((cell, at) => (cell === after[at] ? [] : [at]));
  return `${changed.map((at) => before[at]).join(" ")} → ${changed.map((at) => after[at]).join(" ")}`;
}

/** The search dialog; calls `hooks` to open a sentence, and after corrections. */
export class Search {
  constructor(hooks) {
    this.hooks = hooks;
    this.hits = [];
    this.change = "";
    $("search").addEventListener("submit", (event) => { event.preventDefault(); this.#reportErrors(() => this.#find()); });
    $("correct").addEventListener("click", () => this.#reportErrors(() => this.#correct()));
    $("take-back").addEventListener("click", () => this.#reportErrors(() => this.#undo()));
    $("leave").addEventListener("click", () => $("searching").close());
  }

  open() {
    $("searching").showModal();
    $("pattern").focus();
  }

  #reportErrors(action) {
    return action().catch((error) => this.#say(error.message, true));
  }

  #say(text, bad = false) {
    $("found").textContent = text;
    $("found").classList.toggle("bad", bad);
  }

  async #find() {
    const [pattern, change] = [$("pattern").value, $("change").value.trim()];
    const found = await ask("search", { method: "POST", body: { pattern, change } });
    Object.assign(this, { hits: found.hits, change, doubted: null });
    $("take-back").hidden = true;
    $("hits").replaceChildren(...found.hits.map((hit) => this.#row(hit)));
    $("correct").disabled = !change || !found.hits.length;
    const shown = found.hits.length < found.total ? `; the first ${found.hits.length} are shown` : "";
    this.#say(`${found.total} words in ${found.sentences} sentences${shown}`);
  }

  #row(hit) {
    const box = Object.assign(element("input"), { type: "checkbox", checked: true });
    box.setAttribute("aria-label", `correct ${hit.form} in ${hit.id}`);
    const name = button(hit.id, () => { $("searching").close(); this.hooks.open(hit.index, hit.word); });
    const text = element("bdi", "", hit.left, " ", element("b", "", hit.form), " ", hit.right);
    return element("tr", "", cell("", this.change ? box : ""), cell("", name), cell("", text), cell("after", differing(hit)));
  }

  async #correct() {
    const doubt = this.hooks.doubt(this.change);
    if (doubt && this.doubted !== this.change) {
      this.doubted = this.change;
      return this.#say(`${doubt}. Press Correct again to accept this.`, true);
    }
    const chosen = this.hits.filter((_, at) => $("hits").rows[at].querySelector("input").checked);
    if (!chosen.length) return this.#say("No word is selected.", true);
    const hits = chosen.map((hit) => [hit.index, hit.word, hit.version]);
    const { changed } = await ask("search/correct", { method: "POST", body: { hits, change: this.change } });
    await this.#find();
    this.#say(`${chosen.length} words in ${changed} sentences are corrected. Undo reverts all of them.`);
    this.corrected = chosen[0].index;
    $("take-back").hidden = false;
    await this.hooks.corrected(this.corrected);
  }

  /** Undo the last correction in all sentences not changed since. */
  async #undo() {
    const { version } = await ask(`sentences/${this.corrected}`);
    const { undone } = await ask(`sentences/${this.corrected}/undo`, { method: "POST", body: { version } });
    await this.#find();
    this.#say(`The correction of ${undone} ${undone === 1 ? "sentence" : "sentences"} was reverted.`);
    await this.hooks.corrected(null);
  }
}
