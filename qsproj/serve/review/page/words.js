// Questions of convention and words to tag, one row each: single keys assign tags, contexts are shown below the row.
import { ask } from "./api.js";
import { $, button, element, plainKey } from "./dom.js";
import { direction } from "./tree.js";

const MOST = 2;
// One key for each tag.
const KEYS = {
  n: "NOUN", p: "PROPN", v: "VERB", x: "AUX", a: "ADJ", r: "ADV", d: "DET", o: "PRON", i: "ADP", c: "CCONJ", s: "SCONJ",
  u: "NUM", t: "PART", j: "INTJ", k: "PUNCT", y: "SYM", z: "X",
};

const counted = (words) => `${words.length} ${words.length === 1 ? "word" : "words"}`;

/** Show the tags of a row in a cell, and mark an answer that has none of the tags that the model considers. */
function showDecided(cell, { decided, tags }) {
  const unlike = decided.length > 0 && !decided.some((tag) => tags.includes(tag));
  cell.title = unlike ? "The model considers none of these tags: a slip of the keys?" : "";
  cell.textContent = decided.join(" ") + (unlike ? " ≠" : "");
  return cell;
}

/** The dialog of questions and words; calls `hooks` to open a sentence, and after each decision and tag in a context. */
export class Words {
  constructor(hooks) {
    this.hooks = hooks;
    this.rows = []; // questions and words by place; a question has the words that it settles
    this.saving = Promise.resolve();
    this.stale = false; // whether training has made a new list
    $("tag-keys").textContent = Object.entries(KEYS).map(([key, tag]) => `${key} ${tag}`).join(" · ");
    $("lexicon").addEventListener("keydown", (event) => this.#pressed(event));
    $("lexicon").addEventListener("click", (event) => this.#clicked(event));
    $("leave-words").addEventListener("click", () => $("deciding").close());
  }

  /** Load questions and words, and show the button if there are any. */
  async start() {
    this.rows = await this.#listed();
    $("wordlist").hidden = !this.rows.length;
    $("lexicon").replaceChildren(...this.rows.map((row, at) => this.#row(row, at)));
    this.#count();
  }

  async #listed() {
    const listed = await ask("words");
    const words = listed.words.map(([form, tags, decided, place, , , wrong, example]) =>
      ({ form, tags, decided, place, wrong, example }));
    const questions = listed.questions.map(({ name, answer, ...rest }) => ({ form: name, decided: answer, ...rest }));
    return [...questions, ...words].sort((one, other) => one.place - other.place)
      .map((row) => ({ ...row, saved: row.decided.length > 0, unsaved: 0 }));
  }

  async open() {
    if (!this.rows.length) return;
    if (this.stale) await this.start();
    this.stale = false;
    if (!$("deciding").open) $("deciding").showModal();
    this.#go(Math.max(0, this.rows.findIndex((row) => !row.decided.length)));
  }

  #row(one, at) {
    const row = element("tr", one.words ? "question" : ""), more = element("bdi", "", one.words ? "" : one.example ?? "");
    if (one.words) more.append(one.left.join(" "), element("small", "", one.practice));
    const lines = button(one.words ? counted(one.left) : "Contexts");
    row.tabIndex = lines.tabIndex = -1;
    row.dataset.at = at;
    row.append(element("td", "word", one.words ? `${one.form}?` : one.form), showDecided(element("td", "decided"), one),
      element("td", "tag", one.tags.join(" ")), element("td", "number", one.wrong ?? ""), element("td", "", lines),
      element("td", "example", more));
    return row;
  }

  #rowAt(at) { return $("lexicon").querySelector(`tr[data-at="${at}"]`); }

  #go(at) {
    const row = this.#rowAt(Math.max(0, Math.min(this.rows.length - 1, at)));
    for (const other of $("lexicon").querySelectorAll("tr[tabindex='0']")) other.tabIndex = -1;
    row.tabIndex = 0;
    row.focus();
  }

  #count() {
    const decided = (asked) => this.rows.filter((row) => Boolean(row.words) === asked && row.saved).length;
    const questions = this.rows.filter((row) => row.words).length;
    $("decided").textContent = `${decided(false)} of ${this.rows.length - questions} words decided`
      + (questions ? `, ${decided(true)} of ${questions} questions answered` : "")
      + ". One key assigns a tag, another key a second tag. Enter accepts the first tag of the model, and goes on. "
      + "b keeps two tags, because the context decides, and lists the occurrences: arrows go to them, one key tags each. "
      + "Space shows the contexts of a word, or the words of a question. Backspace removes tags.";
  }

  #decide(at, tags) {
    const row = this.rows[at];
    return this.#save(at, tags, row.words ? { question: row.form, tags, words: row.left } : { word: row.form, tags });
  }

  /** Save a decision after those before it, so that the last key holds. */
  #save(at, tags, body) {
    const row = this.rows[at], before = row.decided;
    this.#show(row, { decided: tags });
    row.unsaved += 1;
    return (this.saving = this.saving.then(() => this.#sent(row, tags, body, before)));
  }

  async #sent(row, tags, body, before) {
    try {
      await ask("words", { method: "PUT", body });
      row.saved = tags.length > 0;
      this.#count();
      if (row.words) await this.#showSettled();
      await this.hooks.decided();
    } catch (error) {
      this.#show(row, { decided: before });
      $("decided").textContent = `Not saved: ${error.message}`;
    } finally {
      row.unsaved -= 1;
    }
  }

  /** Change a row in place: focus and open contexts stay. */
  #show(row, changed) {
    Object.assign(row, changed);
    const shown = this.#rowAt(this.rows.indexOf(row));
    if (!shown) return; // of an earlier list
    showDecided(shown.querySelector(".decided"), row);
    if (!row.words) return;
    shown.querySelector("bdi").firstChild.textContent = row.left.join(" ");
    shown.querySelector("button").textContent = counted(row.left);
  }

  /** Show what an answer settled, except in rows whose later decision is not saved yet. */
  async #showSettled() {
    const key = (row) => (row.words ? `${row.form}?` : row.form);
    const listed = new Map((await this.#listed()).map((row) => [key(row), row]));
    for (const row of this.rows) {
      const now = listed.get(key(row));
      if (now && !row.unsaved) this.#show(row, { decided: now.decided, saved: now.saved });
    }
    this.#count();
  }

  /** Show or hide the occurrences of a word with their translations, or the words of a question. */
  async #lines(at) {
    const row = this.#rowAt(at), one = this.rows[at];
    if (row.nextElementSibling?.classList.contains("contexts")) return row.nextElementSibling.remove();
    const lines = one.words ? one.words.map((word, number) => this.#settled(at, word, one.examples[number])) : await this.#contexts(one.form);
    const list = element("ul", "", ...lines), place = element("td", "lines", lines.length ? list : "not in these texts");
    place.colSpan = row.cells.length;
    row.after(element("tr", "contexts", place));
  }

  async #contexts(form) {
    const { contexts } = await ask(`words/contexts?${new URLSearchParams({ word: form })}`);
    return contexts.map((one) => this.#context(one));
  }

  /** A word of a question, which may be left out of it. */
  #settled(at, word, example) {
    const one = this.rows[at], own = this.rows.find((row) => !row.words && row.form === word);
    const item = element("li", one.left.includes(word) ? "" : "left-out");
    const toggle = button(word, async () => {
      this.#show(one, { left: one.words.filter((other) => (other === word) !== one.left.includes(other)) });
      item.classList.toggle("left-out", !one.left.includes(word));
      if (!one.decided.length) return;
      await ask("words", { method: "PUT", body: { question: one.form, tags: one.decided, words: one.left } });
      await this.#showSettled();
    }, "exclude this word from the question, or include it again");
    item.append(toggle, " ", element("bdi", "", own?.example ?? example));
    return item;
  }

  #context({ index, word, tag, verse, form, left, right, translation, linked }) {
    const item = Object.assign(element("li", ""), { dir: direction([form]) }), text = element("bdi", "", left, " ", element("b", "", form), " ", right);
    const open = button(tag, () => { $("deciding").close(); this.hooks.open(index, word); }, "open this sentence");
    item.append(index === undefined ? element("small", "", verse) : open, " ", text);
    if (index !== undefined) {
      item.tabIndex = 0;
      item.addEventListener("keydown", (event) => this.#tagged(event, item, { index, word, form }));
    }
    if (translation.length) {
      const parts = translation.flatMap((own, at) => [element(linked.includes(at + 1) ? "b" : "span", "", own), " "]);
      item.append(element("br"), element("bdi", "translation", ...parts));
    }
    return item;
  }

  /** Tag one occurrence in its context by a key; arrows go to other lines, and to the words before and after. */
  #tagged(event, item, given) {
    const tag = KEYS[event.key], line = item.closest("tr"), lines = [...line.querySelectorAll("li[tabindex]")], at = lines.indexOf(item);
    const go = { ArrowDown: lines[at + 1] ?? line.nextElementSibling, ArrowUp: lines[at - 1] ?? line.previousElementSibling };
    if (event.target !== item || !plainKey(event) || !(tag || go[event.key])) return;
    event.preventDefault();
    if (!tag) return go[event.key].focus();
    const { index, ...rest } = given;
    item.querySelector("button").textContent = tag;
    this.saving = this.saving.then(() => ask(`sentences/${index}/tag`, { method: "PUT", body: { ...rest, tag } }));
    this.#reportErrors(this.saving.then(() => item.classList.add("tagged")).then(() => this.hooks.tagged()));
    this.saving = this.saving.catch(() => null);
  }

  #clicked(event) {
    const row = event.target.closest("tr[data-at]");
    if (!row) return;
    this.#go(Number(row.dataset.at));
    if (event.target.closest("button")) this.#reportErrors(this.#lines(Number(row.dataset.at)));
  }

  #pressed(event) {
    const row = event.target.closest("tr[data-at]");
    if (!row || event.target !== row || !plainKey(event)) return;
    const at = Number(row.dataset.at), one = this.rows[at], tag = KEYS[event.key], own = one.decided;
    const open = row.nextElementSibling?.classList.contains("contexts") ? row.nextElementSibling : null;
    const line = open?.querySelector("li[tabindex]"), both = [...new Set([...own, ...one.tags])].slice(0, MOST);
    const actions = {
      ArrowDown: () => (line ? line.focus() : this.#go(at + 1)), ArrowUp: () => this.#go(at - 1), " ": () => this.#lines(at), Backspace: () => this.#decide(at, []),
      Enter: () => { this.#go(at + 1); return own.length ? null : this.#decide(at, one.tags.slice(0, 1)); },
      b: one.words ? null : () => Promise.all([both.length === MOST ? this.#decide(at, both) : null, open ? null : this.#lines(at)]),
    };
    const toggled = own.includes(tag) ? own.filter((other) => other !== tag) : [...own, tag].slice(one.words ? -1 : -MOST);
    const action = tag ? () => this.#decide(at, toggled) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    this.#reportErrors(action());
  }

  #reportErrors(work) {
    return Promise.resolve(work).catch((error) => { $("decided").textContent = error.message; });
  }
}
