// Words to tag, one row each: single keys assign tags, contexts are shown below the row.
import { ask } from "./api.js";

const $ = (id) => document.getElementById(id);
const MOST = 2;
// One key for each tag.
const KEYS = {
  n: "NOUN", p: "PROPN", v: "VERB", x: "AUX", a: "ADJ", r: "ADV", d: "DET", o: "PRON", i: "ADP", c: "CCONJ", s: "SCONJ",
  u: "NUM", t: "PART", j: "INTJ", k: "PUNCT", y: "SYM", z: "X",
};

function cell(text, kind = "") {
  const made = document.createElement("td");
  made.className = kind;
  made.append(text);
  return made;
}

/** The dialog of words to tag; calls `hooks` to open a sentence. */
export class Words {
  constructor(hooks) {
    this.hooks = hooks;
    this.words = [];
    $("tag-keys").textContent = Object.entries(KEYS).map(([key, tag]) => `${key} ${tag}`).join(" · ");
    $("lexicon").addEventListener("keydown", (event) => this.#pressed(event));
    $("lexicon").addEventListener("click", (event) => this.#clicked(event));
    $("leave-words").addEventListener("click", () => $("deciding").close());
  }

  /** Load the words, and show the button if there are any. */
  async start() {
    const told = await ask("words");
    this.words = told.words.map(([form, tags, decided, text, bitext, wrong, example]) => ({ form, tags, decided, text, bitext, wrong, example }));
    $("wordlist").hidden = !this.words.length;
    $("lexicon").replaceChildren(...this.words.map((word, at) => this.#row(word, at)));
    this.#count();
  }

  open() {
    if (!this.words.length) return;
    $("deciding").showModal();
    const first = this.words.findIndex((word) => !word.decided.length);
    this.#rowAt(Math.max(0, first))?.focus();
  }

  #row(word, at) {
    const row = document.createElement("tr"), example = document.createElement("bdi");
    row.tabIndex = at === 0 ? 0 : -1;
    row.dataset.at = at;
    example.textContent = word.example ?? "";
    const more = document.createElement("button");
    more.type = "button";
    more.tabIndex = -1;
    more.textContent = "Contexts";
    row.append(cell(word.form, "word"), cell(word.tags.join(" "), "tag"), cell(word.decided.join(" "), "decided"),
      cell(word.wrong ?? "", "number"), cell(more), cell(example));
    return row;
  }

  #rowAt(at) { return $("lexicon").querySelector(`tr[data-at="${at}"]`); }

  #count() {
    const done = this.words.filter((word) => word.decided.length).length;
    $("decided").textContent = `${done} of ${this.words.length} words decided. A key gives a tag, another one a second tag; Enter takes `
      + "the first tag of the model, or goes on; Backspace takes tags away; Space shows contexts.";
  }

  async #decide(at, tags) {
    const word = this.words[at], before = word.decided;
    word.decided = tags;
    this.#rowAt(at).querySelector(".decided").textContent = tags.join(" ");
    try {
      await ask("words", { method: "PUT", body: { word: word.form, tags } });
      this.#count();
    } catch (error) {
      word.decided = before;
      this.#rowAt(at).querySelector(".decided").textContent = before.join(" ");
      $("decided").textContent = `Not saved: ${error.message}`;
    }
  }

  /** Show or hide the occurrences of a word with their translations. */
  async #contexts(at) {
    const row = this.#rowAt(at);
    if (row.nextElementSibling?.classList.contains("contexts")) return row.nextElementSibling.remove();
    const { contexts } = await ask(`words/contexts?${new URLSearchParams({ word: this.words[at].form })}`);
    const shown = document.createElement("tr"), place = cell("", "lines"), list = document.createElement("ul");
    shown.className = "contexts";
    place.colSpan = row.cells.length;
    list.append(...contexts.map((one) => this.#context(one)));
    place.append(contexts.length ? list : "not in this file");
    shown.append(place);
    row.after(shown);
  }

  #context({ index, word, tag, form, left, right, translation, linked }) {
    const item = document.createElement("li"), text = document.createElement("bdi"), found = document.createElement("b");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = tag;
    button.title = "open this sentence, where the tag depends on the context";
    button.addEventListener("click", () => { $("deciding").close(); this.hooks.open(index, word); });
    found.textContent = form;
    text.append(left, " ", found, " ", right);
    item.append(button, " ", text);
    if (translation.length) {
      const other = document.createElement("bdi");
      other.className = "translation";
      other.append(...translation.flatMap((own, at) => {
        const part = document.createElement(linked.includes(at + 1) ? "b" : "span");
        part.textContent = own;
        return [part, " "];
      }));
      item.append(document.createElement("br"), other);
    }
    return item;
  }

  #clicked(event) {
    const row = event.target.closest("tr[data-at]");
    if (!row) return;
    row.focus();
    if (event.target.closest("button")) this.#told(this.#contexts(Number(row.dataset.at)));
  }

  #pressed(event) {
    const row = event.target.closest("tr[data-at]");
    if (!row || event.target !== row || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Number(row.dataset.at), word = this.words[at], tag = KEYS[event.key];
    const go = (to) => {
      const other = this.#rowAt(Math.max(0, Math.min(this.words.length - 1, to)));
      row.tabIndex = -1;
      other.tabIndex = 0;
      other.focus();
    };
    const own = word.decided;
    const actions = {
      ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), " ": () => this.#contexts(at), Backspace: () => this.#decide(at, []),
      Enter: () => { go(at + 1); return own.length ? null : this.#decide(at, word.tags.slice(0, 1)); },
    };
    const toggled = own.includes(tag) ? own.filter((one) => one !== tag) : [...own, tag].slice(-MOST);
    const action = tag ? () => this.#decide(at, toggled) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    this.#told(action());
  }

  #told(work) {
    return Promise.resolve(work).catch((error) => { $("decided").textContent = error.message; });
  }
}
