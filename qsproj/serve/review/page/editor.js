// One sentence: its words in rows, its arcs beside them, and what a person does to its tree.
import { Refusal, ask } from "./api.js";
import { drawArcs, markArc } from "./arcs.js";
import { attached, direction, labelled, missing, refusal, rooted, same } from "./tree.js";

const UNSURE = 0.75;
const $ = (id) => document.getElementById(id);

function cell(kind, text, title) {
  const made = document.createElement("td");
  made.className = kind;
  made.textContent = text;
  if (title) made.title = title;
  return made;
}

/** Shows a sentence and edits its tree; tells `hooks` what was confirmed or undone, and where to go. */
export class Editor {
  constructor(hooks) {
    this.hooks = hooks;
    this.relations = new Set();
    this.open_ = null; // the sentence as the server told it, with the states of its tree
    this.kept = new Map(); // sentences with corrections that are not confirmed, by index
    this.taken = null; // the word that waits for its head
    this.doubted = null; // the tree that was found odd when it was confirmed
    this.confirmed = []; // what was confirmed in this window, by index, the last one last
    $("confirm").addEventListener("click", () => this.confirm());
    $("undo").addEventListener("click", () => this.undo());
    $("previous").addEventListener("click", () => this.#go(-1));
    $("next").addEventListener("click", () => this.#go(1));
    $("words").addEventListener("click", (event) => this.#clicked(event));
    $("words").addEventListener("focusin", (event) => this.#focused(event));
    $("text").addEventListener("click", (event) => this.#rowOfText(event)?.focus());
    $("sentence").addEventListener("keydown", (event) => this.#pressed(event));
    new ResizeObserver(() => this.#draw()).observe($("words"));
  }

  get index() { return this.open_?.index ?? null; }
  get tree() { return this.open_.states.at(-1); }
  get changed() { return this.open_ !== null && this.open_.states.length > 1; }
  unsaved() { return this.changed || this.kept.size > 0; }
  forget() { this.kept.clear(); this.confirmed = []; this.open_ = null; }

  async open(index) {
    if (this.changed) this.kept.set(this.index, this.open_);
    const kept = this.kept.get(index);
    this.kept.delete(index);
    this.#show(kept ?? this.#fresh(await ask(`sentences/${index}`)));
    this.say(kept ? "These corrections are not confirmed yet." : "");
    this.#row(this.#leastSure())?.focus({ preventScroll: true });
    $("sentence").scrollTop = 0;
  }

  /** Show the sentence that is open as the server tells it now, where a person was. */
  async refresh() {
    if (this.open_ === null || this.changed) return;
    const focused = this.#wordOf(document.activeElement), place = $("sentence").scrollTop;
    this.#show(this.#fresh(await ask(`sentences/${this.index}`)));
    this.#row(focused)?.focus({ preventScroll: true });
    $("sentence").scrollTop = place;
  }

  say(text, bad = false) {
    if (text) $("sentence").hidden = false; // also what goes wrong before there is a sentence
    $("message").textContent = text;
    $("message").classList.toggle("bad", bad);
    $("choices").replaceChildren();
  }

  /** Confirm the tree; one that the server finds odd is confirmed twice. */
  async confirm() {
    const sure = this.doubted === this.tree;
    const lacking = missing(this.tree);
    if (lacking) return this.say(`Not confirmed: ${lacking}.`, true);
    const { index, version } = this.open_;
    await this.#send(`sentences/${index}`, { method: "PUT", body: { version, sure, ...this.tree } }, async (told) => {
      this.confirmed = [...this.confirmed.filter((one) => one !== index), index];
      this.#show(this.#fresh(told));
      this.say("Saved.");
      await this.hooks.confirmed(told, { goOn: true });
    });
  }

  async undo() {
    if (this.changed) {
      this.open_.states.pop();
      this.#update("Undone.");
    } else if (this.open_.undo || this.confirmed.length) {
      // Of a sentence without a confirmation: the last one of this window, which was left for this sentence.
      if (!this.open_.undo) await this.open(this.confirmed.at(-1));
      if (this.changed) return this.say("These corrections are not confirmed yet: undo takes them back.");
      const { index, version } = this.open_;
      this.confirmed = this.confirmed.filter((one) => one !== index);
      await this.#send(`sentences/${index}/undo`, { method: "POST", body: { version } }, async (told) => {
        this.#show(this.#fresh(told));
        this.say("The confirmation was taken back.");
        await this.hooks.undone(told, { goOn: false });
      });
    } else this.say("There is nothing to undo.");
  }

  #fresh(told) {
    const tree = { heads: told.heads, relations: told.relations };
    return { ...told, first: tree, states: [tree] };
  }

  async #send(path, request, done) {
    try {
      await done(await ask(path, request));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(`Not saved: ${error.message}`, true);
      if (error.status === 409) this.#offer(error.told);
    }
  }

  /** Offer what can be done when someone else was faster. */
  #offer(told) {
    if (told.reason === "doubt") {
      this.doubted = this.tree;
      this.say(`Not saved: ${told.text}. Confirm again if that is meant.`, true);
    } else if (told.reason === "file") {
      this.#choice("Load the file again", () => this.hooks.reload());
    } else {
      this.#choice("Show what is there now", () => { this.#show(this.#fresh(told.sentence)); this.say(""); });
      this.#choice("Keep this tree, to confirm it over that one", () => {
        this.open_.version = told.sentence.version;
        this.say("Confirm again to save this tree.");
      });
    }
  }

  #choice(text, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => Promise.resolve(action()).catch((error) => this.say(error.message, true)));
    $("choices").append(button);
  }

  #go(step) {
    return this.hooks.moved(step).catch((error) => this.say(error.message, true));
  }

  // What is shown

  #show(sentence) {
    this.open_ = sentence;
    this.taken = null;
    $("sentence").hidden = $("tree").hidden = $("tools").hidden = false;
    $("name").textContent = sentence.id;
    $("translation").hidden = $("linked").hidden = !sentence.translation;
    $("translation").replaceChildren(...this.#texts(sentence.translation ?? []));
    $("text").replaceChildren(...this.#texts(sentence.forms));
    $("tree").dir = direction(sentence.forms);
    $("words").replaceChildren(this.#rootRow(), ...sentence.forms.map((form, index) => this.#wordRow(index + 1, form)));
    this.#update("");
  }

  #texts(words) {
    return words.flatMap((word, index) => {
      const made = document.createElement("span");
      made.textContent = word;
      made.dataset.word = index + 1;
      return [made, " "];
    });
  }

  #rootRow() {
    const row = document.createElement("tr");
    row.dataset.word = 0;
    row.tabIndex = -1;
    row.append(cell("number", "0"), cell("word", "(root)"), ...["tag", "head", "relation", "sure"].map((kind) => cell(kind, "")));
    if (this.open_.translation) row.append(cell("links", ""));
    return row;
  }

  #wordRow(word, form) {
    const row = document.createElement("tr");
    row.dataset.word = word;
    row.tabIndex = -1;
    const relation = cell("relation", "");
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = -1;
    relation.append(button);
    const chance = this.open_.chances[word - 1];
    const sure = cell("sure", chance === null ? "" : chance.toFixed(2), "probability of the arc as it was");
    sure.classList.toggle("unsure", chance !== null && chance < UNSURE);
    row.append(cell("number", word), cell("word", form, form), cell("tag", this.open_.upos[word - 1]), cell("head", ""), relation, sure);
    if (this.open_.translation) row.append(cell("links", this.#linked(word).map((at) => this.open_.translation[at - 1]).join(" ")));
    return row;
  }

  #linked(word) {
    return this.open_.links.filter(([, target]) => target === word).map(([source]) => source);
  }

  /** Show the tree as it is now. */
  #update(message) {
    const { heads, relations } = this.tree, { first, forms } = this.open_;
    heads.forEach((head, index) => {
      const row = this.#row(index + 1);
      const named = head < 0 ? "no head" : head === 0 ? "root" : `${head} ${forms[head - 1]}`;
      row.querySelector(".head").textContent = row.querySelector(".head").title = named;
      const button = row.querySelector(".relation button");
      if (button) button.textContent = relations[index];
      const changed = head !== first.heads[index] || relations[index] !== first.relations[index];
      row.classList.toggle("changed", changed);
      row.setAttribute("aria-label", `${index + 1} ${forms[index]}, head ${named}, ${relations[index]}`);
    });
    const state = this.changed ? "changed" : this.open_.reviewed ? "reviewed" : this.open_.proposed ? "parsed again" : "";
    $("state").textContent = state;
    $("undo").disabled = !this.changed && !this.open_.undo && !this.confirmed.length;
    this.#draw();
    this.say(message);
  }

  #draw() {
    if (!this.open_) return;
    const rows = [...$("words").rows];
    drawArcs($("arcs"), $("words").parentNode, rows, this.tree, this.#chancesNow(), UNSURE);
    markArc($("arcs"), this.#wordOf(document.activeElement));
  }

  /** Return the chances of arcs that are still what they were told of. */
  #chancesNow() {
    const { chances, first } = this.open_;
    return chances.map((chance, index) => (this.tree.heads[index] === first.heads[index] ? chance : null));
  }

  #leastSure() {
    const { chances } = this.open_;
    const known = chances.map((chance) => chance ?? 1);
    return chances.length ? known.indexOf(Math.min(...known)) + 1 : 0;
  }

  #row(word) { return $("words").rows[word]; }
  #wordOf(element) { return Number(element?.closest?.("#words tr")?.dataset.word ?? -1); }
  #rowOfText(event) { return this.#row(Number(event.target.dataset.word ?? -1)); }

  #focused(event) {
    const word = this.#wordOf(event.target), links = this.#linked(word);
    for (const row of $("words").rows) row.tabIndex = row === this.#row(word) ? 0 : -1;
    const mark = (place, chosen, kind) => {
      for (const one of $(place).querySelectorAll("span")) one.classList.toggle(kind, chosen.includes(Number(one.dataset.word)));
    };
    mark("text", [word], "chosen");
    mark("translation", links, "linked");
    markArc($("arcs"), word);
  }

  // What is done to the tree

  #clicked(event) {
    const word = this.#wordOf(event.target);
    if (word < 0 || event.target.closest("input")) return;
    if (event.target.closest(".relation") && word > 0 && this.taken === null) return this.#editRelation(word);
    this.#row(word).focus();
    this.#take(word);
  }

  /** Take a word; when one was taken, this is its head. */
  #take(word) {
    if (this.taken === null) {
      if (word === 0) return this.say("Take a word first, then its head.");
      this.#setTaken(word);
      return this.say(`Choose the head of ${word} ${this.open_.forms[word - 1]}, or Esc.`);
    }
    const dependent = this.taken;
    this.#setTaken(null);
    if (dependent === word) return this.say("");
    this.#row(dependent).focus();
    if (word === 0) this.#root(dependent);
    else this.#attach(dependent, word);
  }

  #setTaken(word) {
    this.taken = word;
    for (const row of $("words").rows) row.classList.toggle("taken", Number(row.dataset.word) === word);
  }

  #attach(word, head) {
    const refused = refusal(this.tree.heads, word, head);
    if (refused) {
      const cycle = [...refused.cycle, refused.cycle[0]].join(" → ");
      return this.say(`Refused: a cycle, ${cycle}. Give ${head} another head first.`, true);
    }
    const wasRoot = this.tree.heads[word - 1] === 0;
    this.#change(attached(this.tree, word, head), wasRoot ? "There is no root now: press 0 on the new one." : "");
  }

  #root(word) { this.#change(rooted(this.tree, word), ""); }

  #change(tree, message) {
    if (same(tree, this.tree)) return;
    this.open_.states.push(tree);
    this.#update(message);
  }

  #editRelation(word) {
    const place = this.#row(word).querySelector(".relation"), button = place.firstChild;
    const input = document.createElement("input");
    input.setAttribute("list", "relations");
    input.setAttribute("aria-label", `relation of ${this.open_.forms[word - 1]}`);
    input.placeholder = this.tree.relations[word - 1];
    let done = false;
    const close = (relation) => {
      if (done) return;
      done = true;
      place.replaceChildren(button);
      this.#row(word).focus();
      if (relation) this.#relabel(word, relation);
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") close(input.value.trim());
      if (event.key === "Escape") close("");
    });
    input.addEventListener("change", () => close(input.value.trim()));
    input.addEventListener("blur", () => close(input.value.trim()));
    place.replaceChildren(input);
    input.focus();
  }

  #relabel(word, relation) {
    if (/[\s|]/.test(relation) || relation === "_") return this.say(`Refused: ${relation} is no relation.`, true);
    const isNew = !this.relations.has(relation);
    this.#change(labelled(this.tree, word, relation), isNew ? `${relation} is new in this file.` : "");
  }

  #pressed(event) {
    if (event.target.closest("input") || !this.open_) return;
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key === "z") { event.preventDefault(); return this.undo(); }
    if (control || event.altKey) return;
    const word = this.#wordOf(event.target), rows = $("words").rows;
    const toRow = (at) => rows[Math.max(0, Math.min(rows.length - 1, at))].focus();
    const onWord = {
      ArrowUp: () => toRow(word - 1), ArrowDown: () => toRow(word + 1), Home: () => toRow(0), End: () => toRow(rows.length - 1),
      Enter: () => this.#take(word), " ": () => this.#take(word),
      0: () => word > 0 && this.#root(word), r: () => word > 0 && this.#editRelation(word),
    };
    const anywhere = {
      Escape: () => { this.#setTaken(null); this.say(""); },
      c: () => this.confirm(), u: () => this.undo(), n: () => this.#go(1), p: () => this.#go(-1),
    };
    const isButton = event.target.closest("button") && [" ", "Enter"].includes(event.key);
    const action = anywhere[event.key] ?? (word >= 0 && !isButton ? onWord[event.key] : undefined);
    if (!action) return;
    event.preventDefault();
    Promise.resolve(action()).catch((error) => this.say(error.message, true));
  }
}
