// The editor of a sentence: words in rows, arcs beside them, and edits of the tree.
import { Refusal, ask } from "./api.js";
import { drawArcs, markArc } from "./arcs.js";
import { $, button, cell, element } from "./dom.js";
import {
  CHECKABLE, COLUMNS, INFERRED, attached, before, celled, direction, fixed, fixedHeads, inferred, linked, missing, question, refusal, rooted, same, turned,
} from "./tree.js";

const UNSURE = 0.75, LEAST = 0.005;

/** The editor of a sentence; calls `hooks` after confirmations and undos, and to move on. */
export class Editor {
  constructor(hooks) {
    this.hooks = hooks;
    this.known = { relations: new Set(), upos: new Set() }; // relations and tags of the file and of UD
    this.live = false; // whether a model infers the rest
    this.learns = false; // whether a model learns from corrections that are not confirmed
    this.open_ = null; // the sentence from the server, with the states of its tree
    this.kept = new Map(); // sentences with unconfirmed corrections, by index
    this.taken = null; // the selected word, waiting for its head
    this.opening = 0; // how many sentences were asked for
    this.stale = false; // whether a refresh waits until nothing is being typed or chosen
    this.doubted = null; // the unusual tree whose confirmation was refused once
    this.confirmed = []; // indices of sentences confirmed in this window, in order
    $("confirm").addEventListener("click", () => this.confirm());
    $("undo").addEventListener("click", () => this.undo());
    $("previous").addEventListener("click", () => this.#go(-1));
    $("next").addEventListener("click", () => this.#go(1));
    $("live").addEventListener("change", () => this.#draw());
    $("more").addEventListener("change", (event) => this.#edited(event));
    $("cut").addEventListener("click", (event) => this.#cut(event.target.closest("button")?.dataset.action));
    $("more").addEventListener("focusin", (event) => event.target.select?.());
    $("more").addEventListener("submit", (event) => event.preventDefault());
    $("words").addEventListener("click", (event) => this.#clicked(event));
    $("words").addEventListener("focusin", (event) => this.#focused(event));
    $("translation").addEventListener("click", (event) => this.#link(this.word, Number(event.target.dataset.word ?? 0)));
    $("source-words").addEventListener("click", (event) => this.#link(this.word, Number(event.target.closest("tr").dataset.word)));
    $("source").addEventListener("toggle", () => this.#draw());
    $("text").addEventListener("click", (event) => this.#rowOfText(event)?.focus());
    $("sentence").addEventListener("focusout", () => setTimeout(() => this.#refreshLate()));
    document.addEventListener("keydown", (event) => this.#pressed(event));
    new ResizeObserver(() => this.#draw()).observe($("words"));
  }

  get index() { return this.open_?.index ?? null; }
  get tree() { return this.open_.states.at(-1); }
  get changed() { return this.open_ !== null && this.open_.states.length > 1; }
  unsaved() { return this.changed || this.kept.size > 0; }
  forget() { this.kept.clear(); this.confirmed = []; this.open_ = null; }

  /** Open a sentence, at a word; a later request replaces one that is still pending. */
  async open(index, word = null) {
    const own = (this.opening += 1);
    let lost = "";
    const refused = (reason) => { lost = `Corrections of ${this.open_.id} are not saved: ${reason}`; };
    if (this.changed && !(await this.keep({ leaves: true, refused }))) this.kept.set(this.index, this.open_);
    const kept = this.kept.get(index), sentence = kept ?? this.#fresh(await ask(`sentences/${index}`));
    if (own !== this.opening) return;
    // Corrections made during these requests are kept, too.
    if (this.changed && this.kept.get(this.index) !== this.open_) return this.open(index, word);
    this.kept.delete(index);
    this.#show(sentence);
    const isPartial = !sentence.reviewed && INFERRED.some((column) => sentence.decided[column].some(Boolean));
    this.say(lost || (kept || isPartial ? "These corrections are not confirmed yet." : ""), Boolean(lost));
    $("sentence").scrollTop = 0;
    // When corrections fix the words above, start at the top, so that no unread cell is fixed.
    const begin = this.#isLive() && $("above").checked ? 1 : this.#leastSure();
    this.#row(word ?? begin)?.focus({ preventScroll: word === null });
  }

  /** Reload the open sentence from the server, keeping focus and scroll position; later if the user is typing. */
  async refresh() {
    if (this.open_ === null || this.changed) return;
    const open = this.open_, sentence = this.#isBusy() ? null : this.#fresh(await ask(`sentences/${this.index}`));
    if (this.changed || open !== this.open_) return;
    this.stale = sentence === null || this.#isBusy();
    if (this.stale) return;
    const focused = this.#wordOf(document.activeElement), place = $("sentence").scrollTop;
    this.#show(sentence);
    this.#row(focused)?.focus({ preventScroll: true });
    $("sentence").scrollTop = place;
  }

  #refreshLate() {
    if (this.stale && !this.#isBusy()) this.refresh().catch((error) => this.say(error.message, true));
  }

  /** Whether a value is being typed, or the head of a word chosen. */
  #isBusy() {
    return this.taken !== null || document.activeElement.matches("#sentence :is(input:not([type=checkbox]), select, textarea)");
  }

  say(text, bad = false) {
    if (text) $("sentence").hidden = false; // for errors before the first sentence
    $("message").textContent = text;
    $("message").classList.toggle("bad", bad);
    $("choices").replaceChildren();
  }

  /** Confirm the tree; an unusual one must be confirmed twice. */
  async confirm() {
    const sure = this.doubted === this.tree;
    const lacking = missing(this.tree);
    if (lacking) return this.say(`Not confirmed: ${lacking}.`, true);
    const { index } = this.open_;
    await this.#send(`sentences/${index}`, { method: "PUT", body: { sure, ...this.#correction() } }, async (sentence) => {
      this.confirmed = [...this.confirmed.filter((one) => one !== index), index];
      this.#show(this.#fresh(sentence));
      this.say("Saved.");
      await this.hooks.confirmed(sentence, { goOn: true });
    });
  }

  /** Return the tree as a request, with the columns that a model changes meanwhile, and others that are changed here. */
  #correction() {
    const { version, first } = this.open_, { heads, relations } = this.tree;
    const isChanged = (column) => this.tree[column].some((cell, at) => cell !== first[column][at]);
    const columns = Object.fromEntries(COLUMNS.slice(2)
      .filter((column) => ["upos", ...CHECKABLE].includes(column) || isChanged(column))
      .map((column) => [column, this.tree[column]]));
    return { version, heads, relations, columns, checked: CHECKABLE.filter(isChanged) };
  }

  /**
   * Save corrections without confirming them, if a model learns from them; else return false.
   * `leaves`: whether the sentence is left, whatever is being typed or chosen; `refused` gets the reason of a refusal.
   */
  async keep({ leaves = false, refused = () => null } = {}) {
    if (!this.learns || this.open_.reviewed) return false;
    const body = { ...this.#correction(), decided: this.tree.fixed }, open = this.open_, { tree } = this;
    try {
      const sentence = await ask(`sentences/${open.index}/part`, { method: "PUT", body });
      open.version = sentence.version;
      if (open === this.open_ && tree === this.tree && (leaves || !this.#isBusy())) this.#show(this.#fresh(sentence));
      await this.hooks.kept();
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused(error.message);
      return false;
    }
  }

  async undo() {
    if (this.changed) {
      this.open_.states.pop();
      this.#update("Undone.");
    } else if (this.open_.undo || this.confirmed.length) {
      // Without a change of this sentence, undo the last confirmation in this window.
      if (!this.open_.undo) {
        const last = this.confirmed.at(-1);
        await this.open(last);
        if (this.index !== last) return; // another sentence was opened meanwhile
      }
      if (this.changed) return this.say("These corrections are not confirmed yet: undo reverts them.");
      const { index, version } = this.open_;
      this.confirmed = this.confirmed.filter((one) => one !== index);
      await this.#send(`sentences/${index}/undo`, { method: "POST", body: { version } }, async (sentence) => {
        this.#show(this.#fresh(sentence));
        this.say(sentence.undone > 1 ? `The correction of ${sentence.undone} sentences was reverted.` : "The last change of this sentence was reverted.");
        await this.hooks.undone(sentence, { goOn: false });
        await this.hooks.cut(sentence);
      });
    } else this.say("There is nothing to undo.");
  }

  #fresh(sentence) {
    const cells = Object.fromEntries(COLUMNS.map((column) => [column, sentence[column]]));
    const sources = (word) => sentence.links.filter(([, target]) => target === word).map(([source]) => source);
    const tree = {
      ...cells, links: sentence.heads.map((_, index) => sources(index + 1)), chances: sentence.chances, seconds: sentence.heads.map(() => null), moved: sentence.heads.map(() => false),
      fixed: sentence.decided,
    };
    return { ...sentence, first: tree, states: [tree] };
  }

  async #send(path, request, done) {
    try {
      await done(await ask(path, request));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(`Not saved: ${error.message}`, true);
      if (error.status === 409) this.#offer(error.content);
    }
  }

  /** Offer the choices after a conflict with another change. */
  #offer(refused) {
    if (refused.reason === "doubt") {
      this.doubted = this.tree;
      this.say(`Not saved: ${refused.text}. Confirm again to accept this.`, true);
    } else if (refused.reason === "file") {
      this.#choice("Reload the file", () => this.hooks.reload());
    } else {
      this.#choice("Show the current version", () => { this.#show(this.#fresh(refused.sentence)); this.say(""); });
      this.#choice("Keep this tree, to replace that one", () => {
        this.open_.version = refused.sentence.version;
        this.say("Confirm again to save this tree.");
      });
    }
  }

  #choice(text, action) {
    $("choices").append(button(text, () => Promise.resolve(action()).catch((error) => this.say(error.message, true))));
  }

  #go(step) {
    return this.hooks.moved(step).catch((error) => this.say(error.message, true));
  }

  // Display

  #show(sentence) {
    this.open_ = sentence;
    this.taken = null;
    this.stale = false;
    this.word = 0;
    $("sentence").hidden = $("tree").hidden = $("tools").hidden = false;
    $("name").textContent = sentence.id;
    $("othered").hidden = !sentence.other;
    $("translation").hidden = $("linked").hidden = !sentence.translation;
    $("translation").replaceChildren(...this.#texts(sentence.translation?.forms ?? []));
    for (const span of $("translation").querySelectorAll("[data-word]")) {
      const { forms, heads, relations } = sentence.translation, at = Number(span.dataset.word) - 1, head = heads[at];
      if (head >= 0) span.title = `${relations[at]} of ${head ? forms[head - 1] : "the root"}`;
    }
    $("text").replaceChildren(...this.#texts(sentence.text_tokens.map(([, , form]) => form), sentence.text_tokens));
    this.#showSource(sentence.translation ?? { forms: [], heads: [], relations: [], upos: [] });
    $("tree").dir = direction(sentence.forms);
    $("words").replaceChildren(this.#rootRow(), ...sentence.forms.map((form, index) => this.#wordRow(index + 1, form)));
    this.#update("");
    this.#fixColumns();
    if (this.#isLive()) this.#seconds();
  }

  /** Fix the width of each column while the sentence is shown, so that nothing moves under a click. */
  #fixColumns() {
    const table = $("words").parentNode, headers = [...table.tHead.rows[0].cells].filter((one) => !one.hidden);
    table.classList.remove("fixed");
    for (const one of headers) one.style.width = "";
    const em = parseFloat(getComputedStyle(table).fontSize), widths = headers.map((one) => one.offsetWidth / em);
    const word = Math.min(14, widths[1]), least = { tag: 4.4, relation: 6.4, sure: 2.8, othered: 8 };
    if (this.live) Object.assign(least, { mark: 1.7, second: Math.min(14, 0.85 * word + 4.6) });
    headers.forEach((one, at) => {
      const kind = one.dataset.kind ?? one.id;
      const wide = kind === "head" ? Math.min(14, Math.max(widths[at], word + 1.6)) : Math.max(widths[at], least[kind] ?? 0);
      one.style.width = `${wide * em}px`;
    });
    table.classList.add("fixed");
    this.#draw();
  }

  /** Show the tree of the translation, if any. */
  #showSource({ forms, heads, relations, upos }) {
    $("source").hidden = !heads.some((head) => head >= 0);
    $("source-tree").dir = direction(forms);
    const named = (head) => (head < 0 ? "" : head === 0 ? "root" : `${head} ${forms[head - 1]}`);
    const rows = $("source").hidden ? [] : [["(root)", "", "", ""], ...forms.map((form, at) => [form, upos[at], named(heads[at]), relations[at]])];
    $("source-words").replaceChildren(...rows.map(([form, ...cells], at) => {
      const row = element("tr", "", cell("number", at), cell("word", form, form), ...["tag", "head", "relation"].map((kind, which) => cell(kind, cells[which])));
      row.dataset.word = at;
      return row;
    }));
  }

  /** The words of a text; `tokens`: first word, last word, form, whether a space follows. */
  #texts(forms, tokens = forms.map((form, at) => [at + 1, at + 1, form, true])) {
    return tokens.flatMap(([first, last, form, space]) => {
      const made = element("span", "", form);
      Object.assign(made.dataset, { word: first, last });
      return space ? [made, " "] : [made];
    });
  }

  #rootRow() {
    const empty = ["tag", "head", "relation", "mark", "sure", "second"].map((kind) => cell(kind, ""));
    return this.#rowOf(0, cell("word", "(root)"), empty, (kind) => cell(kind, ""));
  }

  #wordRow(word, form) {
    const withButton = (kind) => cell(kind, Object.assign(button(""), { tabIndex: -1 }));
    const cells = [withButton("tag"), cell("head", ""), withButton("relation"), cell("mark", ""), cell("sure", ""), withButton("second")];
    return this.#rowOf(word, this.#wordCell(word, form), cells, withButton);
  }

  #rowOf(word, form, cells, more) {
    const row = element("tr", "", cell("number", word), form, ...cells);
    row.dataset.word = word;
    row.tabIndex = -1;
    if (this.open_.other) row.append(more("other"));
    if (this.open_.translation) row.append(more("links"));
    return row;
  }

  /** The cell of a word; the first word of a multiword token also shows the token. */
  #wordCell(word, form) {
    const made = cell("word", form, form), token = this.open_.tokens.find(([first, last]) => first <= word && word <= last);
    if (!token) return made;
    made.append(element("small", "", word === token[0] ? ` of ${token[2]}` : " ″"));
    return made;
  }

  #linked(word) {
    return word > 0 ? this.tree.links[word - 1] : [];
  }

  /** Show the current tree. */
  #update(message) {
    const { heads, relations } = this.tree, { first, forms } = this.open_;
    heads.forEach((head, index) => {
      const row = this.#row(index + 1), place = (kind) => row.querySelector(`.${kind}`);
      const named = this.#named(head);
      place("head").textContent = place("head").title = named;
      for (const [kind, column] of [["tag", "upos"], ["relation", "relations"]]) {
        const button = place(kind).querySelector("button");
        if (button) button.textContent = this.tree[column][index];
      }
      this.#showTagChance(place("tag"), index);
      this.#showChances(row, index);
      this.#showOther(row, index);
      const links = row.querySelector(".links button");
      if (links) links.textContent = this.#linked(index + 1).map((at) => this.open_.translation.forms[at - 1]).join(" ") || "–";
      const changed = COLUMNS.some((column) => this.tree[column][index] !== first[column][index]);
      const moved = this.tree.moved[index], stays = this.tree.fixed.heads[index];
      row.classList.toggle("changed", changed);
      row.classList.toggle("moved", moved);
      const shown = this.live && !this.open_.reviewed;
      const marks = shown ? [...(stays ? [["●", "stays"]] : []), ...(moved ? [["↻", "changed by the model"]] : [])] : [];
      place("mark").textContent = marks.map(([mark]) => mark).join("");
      place("mark").title = marks.map(([, text]) => text).join(", ");
      const marked = marks.map(([, text]) => `, ${text}`).join("");
      row.setAttribute("aria-label", `${index + 1} ${forms[index]}, ${this.tree.upos[index]}, head ${named}, ${relations[index]}${marked}`);
    });
    this.#showMore();
    const state = this.changed ? "changed" : this.open_.reviewed ? "reviewed" : this.open_.proposed ? "parsed again" : "";
    $("state").textContent = state;
    $("undo").disabled = !this.changed && !this.open_.undo && !this.confirmed.length;
    this.#draw();
    this.say(message);
  }

  #named(head) { return head < 0 ? "no head" : head === 0 ? "root" : `${head} ${this.open_.forms[head - 1]}`; }

  /** Mark an uncertain tag until it is changed or fixed. */
  #showTagChance(place, index) {
    const chance = this.tree.upos[index] === this.open_.upos[index] ? this.open_.tag_chances[index] : null;
    const unsure = chance !== null && chance < UNSURE && !this.open_.reviewed;
    place.classList.toggle("unsure", unsure);
    place.title = chance === null ? "" : `probability of the tag: ${chance.toFixed(2)}`;
  }

  /** Show the probability of a word's arc, and the second-best head. */
  #showChances(row, index) {
    const chance = this.#chancesNow()[index], second = this.tree.seconds[index];
    const sure = row.querySelector(".sure"), button = row.querySelector(".second button");
    sure.textContent = chance === null ? "" : chance.toFixed(2);
    sure.title = "probability of the arc";
    sure.classList.toggle("unsure", chance !== null && chance < UNSURE);
    const other = second && second[0] !== this.tree.heads[index] && second[1] >= LEAST ? second : null;
    button.textContent = other ? `${this.#named(other[0])} ${other[1].toFixed(2)}` : "";
    button.hidden = !other;
    button.title = "second head, and its probability";
  }

  /** Show the differences of a word to the other annotator. */
  #showOther(row, index) {
    const { other } = this.open_, button = row.querySelector(".other button");
    if (!button) return;
    const differs = INFERRED.filter((column) => other[column][index] !== this.tree[column][index]);
    button.hidden = !differs.length;
    button.textContent = differs.map((column) => (column === "heads" ? this.#named(other.heads[index]) : other[column][index])).join(" ");
  }

  /** Copy the other annotator's analysis of a word. */
  async #takeOther(word) {
    const { other } = this.open_;
    if (!other) return this.say("There is no other annotation: start with --versus FILE.");
    const differs = INFERRED.filter((column) => other[column][word - 1] !== this.tree[column][word - 1]);
    for (const column of differs) {
      const own = other[column][word - 1];
      if (column !== "heads") await this.#change(celled(this.tree, column, word, own), column, word, "");
      else await (own === 0 ? this.#root(word) : this.#attach(word, own));
    }
  }

  #draw() {
    if (!this.open_) return;
    const rows = [...$("words").rows];
    drawArcs($("arcs"), $("words").parentNode, rows, this.tree, this.#chancesNow(), UNSURE);
    markArc($("arcs"), this.#wordOf(document.activeElement));
    if ($("source").hidden || !$("source").open) return;
    const { heads } = this.open_.translation, source = $("source-words");
    drawArcs($("source-arcs"), source.parentNode, [...source.rows], { heads }, heads.map(() => null), UNSURE);
  }

  /** Return the probabilities of arcs that are unchanged since these were computed; else null. */
  #chancesNow() {
    const { chances, heads } = this.tree, computed = this.#computed();
    return chances.map((chance, index) => (heads[index] === computed.heads[index] ? chance : null));
  }

  /** Return the state that the current probabilities belong to, from the file or the model. */
  #computed() { return this.open_.states.findLast((state) => state.chances === this.tree.chances && state.computed) ?? this.open_.first; }

  #leastSure() {
    const { chances } = this.tree;
    const known = chances.map((chance) => chance ?? 1);
    return chances.length ? known.indexOf(Math.min(...known)) + 1 : 0;
  }

  #row(word) { return $("words").rows[word]; }
  #wordOf(element) { return Number(element?.closest?.("#words tr")?.dataset.word ?? -1); }
  #rowOfText(event) { return this.#row(Number(event.target.dataset.word ?? -1)); }

  #focused(event) {
    const word = this.#wordOf(event.target);
    if (word !== this.word) { this.word = word; this.#showMore(); }
    for (const row of $("words").rows) row.tabIndex = row === this.#row(word) ? 0 : -1;
    this.#mark(word);
    markArc($("arcs"), word);
  }

  /** Mark a word, and the words of the translation linked to it. */
  #mark(word) {
    const mark = (place, chosen, kind) => {
      for (const one of $(place).querySelectorAll("[data-word]")) {
        one.classList.toggle(kind, chosen.some((own) => Number(one.dataset.word) <= own && own <= Number(one.dataset.last)));
      }
    };
    mark("text", [word], "chosen");
    mark("translation", this.#linked(word), "linked");
    for (const row of $("source-words").rows) row.classList.toggle("linked", this.#linked(word).includes(Number(row.dataset.word)));
  }

  // Edits of the tree

  #clicked(event) {
    const word = this.#wordOf(event.target);
    if (word < 0 || event.target.closest("input")) return;
    if (word > 0 && this.taken === null) {
      if (event.target.closest(".relation")) return this.#editCell(word, "relations");
      if (event.target.closest(".tag")) return this.#editCell(word, "upos");
      if (event.target.closest(".second button")) return this.#second(word);
      if (event.target.closest(".links")) return this.#editLinks(word);
      if (event.target.closest(".other button")) return this.#takeOther(word);
    }
    this.#row(word).focus();
    this.#take(word);
  }

  /** Select a word; if one is selected already, make this its head. */
  #take(word) {
    if (this.taken === null) {
      if (word === 0) return this.say("Select a word first, then its head.");
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
    this.#refreshLate();
  }

  #attach(word, head) {
    const refused = refusal(this.#isLive() ? fixedHeads(this.tree) : this.tree.heads, word, head);
    if (refused) {
      const cycle = [...refused.cycle, refused.cycle[0]].join(" → ");
      return this.say(`Refused: a cycle, ${cycle}. Give ${head} another head first.`, true);
    }
    const wasRoot = this.tree.heads[word - 1] === 0 && !this.#isLive();
    const said = wasRoot ? "There is no root: press 0 on the new one." : "";
    return this.#change(attached(this.tree, word, head), "heads", word, said);
  }

  #root(word) {
    const old = this.tree.heads.indexOf(0) + 1, tree = this.#isLive() ? this.tree : rooted(this.tree, word);
    if (!this.#isLive() || old === word) return this.#change(tree, "heads", word, "");
    const loose = old ? { ...tree.fixed, heads: tree.fixed.heads.with(old - 1, false) } : tree.fixed;
    const heads = (old ? tree.heads.with(old - 1, word) : tree.heads).with(word - 1, 0);
    return this.#change({ ...tree, heads, fixed: loose }, "heads", word, "");
  }

  #second(word) {
    const second = this.tree.seconds[word - 1];
    if (!second || second[0] === this.tree.heads[word - 1]) return this.say("No second head is known.");
    return second[0] === 0 ? this.#root(word) : this.#attach(word, second[0]);
  }

  /** Apply a change of a cell, which is fixed from now on; the model infers the rest. */
  async #change(tree, column, word, message) {
    if (same(tree, this.tree)) return;
    const earlier = this.tree, open = this.open_;
    const above = INFERRED.includes(column) && $("above").checked ? before(column, word) : [];
    const cells = INFERRED.includes(column) ? [...above, [column, word]] : [];
    const next = { ...turned(earlier, fixed(tree, cells)), moved: tree.heads.map(() => false), computed: false };
    open.states.push(next);
    this.#update(message);
    if (!this.#isLive() || !cells.length) return;
    try {
      const found = await ask(`sentences/${open.index}/rest`, { method: "POST", body: question(next) });
      const at = open.states.indexOf(next);
      if (at < 0 || at !== open.states.length - 1) return; // undone, or changed again, with an inference of its own
      open.states[at] = { ...inferred(next, found, earlier), computed: true };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Revert a correction only if no tree allows it; after a timeout it stays.
      if (error.status !== 409) return this.say(`No inference: ${error.message}`, true);
      const at = open.states.indexOf(next);
      if (at > 0) open.states.splice(at, 1);
      if (open === this.open_) this.#update("");
      return this.say(`Refused: ${error.message}`, true);
    }
    if (open !== this.open_) return;
    const others = this.tree.moved.filter((moved, index) => moved && index !== word - 1).length;
    const rest = others === 1 ? "Another word changed with it." : `${others} other words changed with it.`;
    this.#update(message || (others ? rest : ""));
  }

  #isLive() { return this.live && $("live").checked && this.open_ !== null && !this.open_.reviewed; }

  /** Request the second-best heads for the displayed tree; values from the file are kept. */
  async #seconds() {
    const open = this.open_, tree = this.tree;
    if (tree.seconds.some(Boolean)) return;
    const found = await ask(`sentences/${open.index}/rest`, { method: "POST", body: question(tree) }).catch(() => null);
    if (!found || open.states[0] !== tree) return;
    const seconds = found.seconds.map((second, index) => (
      found.heads[index] === tree.heads[index] ? second : [found.heads[index], found.chances[index]]
    ));
    const chances = tree.chances.map((own, index) => own ?? (found.heads[index] === tree.heads[index] ? found.chances[index] : null));
    const first = { ...tree, seconds, chances, computed: true };
    const isTop = open.states.length === 1;
    open.states[0] = open.first = first;
    if (open === this.open_ && isTop) this.#update($("message").textContent);
  }

  /** Fix all cells of a word, or release them. */
  #fix(word) {
    const stays = !this.tree.fixed.heads[word - 1];
    const next = Object.fromEntries(INFERRED.map((column) => [column, this.tree.fixed[column].with(word - 1, stays)]));
    this.open_.states.push({ ...this.tree, fixed: next });
    this.#update(stays ? "This word is fixed." : "This word may change.");
  }

  /** Add or remove the link of a word with a word of the translation. */
  #link(word, source) {
    if (!source || !word) return;
    const own = this.#linked(word);
    this.#relink(word, own.includes(source) ? own.filter((one) => one !== source) : [...own, source]);
  }

  #relink(word, sources) {
    const wrong = sources.find((one) => !(one >= 1 && one <= this.open_.translation.forms.length));
    if (wrong !== undefined) return this.say(`Refused: the translation has no word ${wrong}.`, true);
    const change = this.#change(linked(this.tree, word, [...new Set(sources)].sort((a, b) => a - b)), "misc", word, "");
    this.#mark(word);
    return change;
  }

  #editLinks(word) {
    if (!this.open_.translation) return this.say("There is no translation: start with --source and --alignment.");
    const row = this.#row(word), own = this.#linked(word).join(" ");
    this.#ask(row, row.querySelector(".links"), `word numbers of the translation for ${this.open_.forms[word - 1]}`, own, null, (text) => {
      if (text !== null) this.#relink(word, text.split(/[\s,]+/).filter(Boolean).map(Number));
    });
  }

  #editCell(word, column) {
    const [kind, list, what] = column === "upos" ? ["tag", "tags", "tag"] : ["relation", "relations", "relation"];
    const row = this.#row(word), label = `${what} of ${this.open_.forms[word - 1]}`;
    this.#ask(row, row.querySelector(`.${kind}`), label, "", list, (text) => {
      if (text) this.#setCell(word, column, text, what);
    }, { placeholder: this.tree[column][word - 1], doubt: (text) => this.#doubtAbout(column, text, what) });
  }

  /** Return the reason to enter a new value twice: it is neither in UD nor in the file. */
  #doubtAbout(column, text, what) {
    const isKnown = !text || [text, text.split(":")[0]].some((one) => this.known[column].has(one));
    return isKnown ? null : `${text} is not a ${what} of Universal Dependencies, and new in this file`;
  }

  /**
   * Replace a button by an input; `done` gets its text, or null if unchanged.
   * A warning from `doubt` is shown, and the text is accepted when Enter is pressed again.
   */
  #ask(row, place, label, value, list, done, { placeholder = "", doubt = () => null } = {}) {
    const shown = place.firstChild, input = element("input");
    if (list) input.setAttribute("list", list);
    input.setAttribute("aria-label", label);
    Object.assign(input, { placeholder, value });
    let closed = false, doubted = null;
    const close = (text, focus = true) => {
      if (closed) return;
      closed = true;
      place.replaceChildren(shown);
      if (focus) row.focus({ preventScroll: true });
      done(text === value ? null : text);
    };
    const take = (leaves) => {
      const text = input.value.trim(), why = closed || text === doubted ? null : doubt(text);
      if (!why) return close(text);
      if (leaves) {
        close(value, false);
        return this.say(`Not accepted: ${why}. Press Enter twice to accept it.`, true);
      }
      doubted = text;
      return this.say(`${why}. Press Enter again to accept it, or Esc.`, true);
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") { event.preventDefault(); take(false); }
      if (event.key === "Escape") { this.say(""); close(value); }
    });
    // A choice from the list is accepted immediately.
    input.addEventListener("input", (event) => { if (!event.inputType || event.inputType === "insertReplacementText") take(false); });
    input.addEventListener("blur", () => take(true));
    place.replaceChildren(input);
    input.focus();
  }

  #setCell(word, column, text, what) {
    if (/[\s|]/.test(text) || text === "_") return this.say(`Refused: ${text} is no ${what}.`, true);
    const isNew = !this.known[column].has(text);
    return this.#change(celled(this.tree, column, word, text), column, word, isNew ? `${text} is new in this file.` : "");
  }

  /** Change word, token or sentence boundaries on the server, which saves immediately. */
  async #cut(action) {
    if (!action) return;
    if (this.changed) return this.say("Confirm your corrections first, or undo them: this is saved at once.", true);
    const { index, version } = this.open_, word = Math.max(1, this.word);
    const parts = $("parts").value.trim().split(/\s+/u).filter(Boolean);
    const texts = action === "comments" ? $("comments").value.split("\n").filter(Boolean) : parts;
    if (["split", "form"].includes(action) && !parts.length) return this.say("Write the parts first.", true);
    const last = ["merge", "join"].includes(action) ? word + 1 : word;
    await this.#send(`sentences/${index}/edit`, { method: "POST", body: { version, action, word, last, texts } }, async (sentence) => {
      this.kept.clear(); // sentences have new numbers
      this.confirmed = [];
      this.#show(this.#fresh(sentence));
      $("parts").value = "";
      this.say("Saved. Undo reverts it.");
      this.#row(Math.min(word, sentence.forms.length))?.focus();
      await this.hooks.cut(sentence);
    });
  }

  // The other columns of the focused word

  #showMore() {
    const word = this.word ?? 0;
    $("more").hidden = $("cut").hidden = word < 1 || word > this.open_.forms.length;
    if (document.activeElement !== $("comments")) $("comments").value = this.open_.comments.join("\n");
    if ($("more").hidden) return;
    $("moreof").textContent = `${word} ${this.open_.forms[word - 1]}`;
    for (const column of ["lemmas", "xpos", "feats", "deps", "misc"]) {
      const input = $(`more-${column}`);
      if (document.activeElement !== input) input.value = this.tree[column][word - 1];
    }
    const own = new Map(this.tree.feats[word - 1].split("|").filter((pair) => pair.includes("=")).map((pair) => pair.split("=")));
    const names = [...new Set([...Object.keys(this.features ?? {}), ...own.keys()])];
    $("features").replaceChildren(...names.map((name) => {
      const select = element("select");
      const values = [...new Set([...(this.features?.[name] ?? []), ...(own.has(name) ? [own.get(name)] : [])])];
      select.append(new Option("", ""), ...values.map((value) => new Option(value, value)));
      select.value = own.get(name) ?? "";
      select.dataset.feature = name;
      return element("label", "", name, " ", select);
    }));
  }

  #edited(event) {
    const word = this.word, feature = event.target.dataset.feature;
    if (!word) return;
    if (feature) {
      const pairs = this.tree.feats[word - 1].split("|").filter((pair) => pair.includes("=") && !pair.startsWith(`${feature}=`));
      if (event.target.value) pairs.push(`${feature}=${event.target.value}`);
      const text = pairs.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)).join("|") || "_";
      this.#change(celled(this.tree, "feats", word, text), "feats", word, "");
      return $("features").querySelector(`[data-feature="${CSS.escape(feature)}"]`)?.focus();
    }
    const column = event.target.id.replace("more-", "");
    if (COLUMNS.includes(column)) this.#change(celled(this.tree, column, word, event.target.value.trim() || "_"), column, word, "");
  }

  /** Edit the other columns of a word, which stays visible above them. */
  #editMore(word) {
    const form = $("more"), row = this.#row(word);
    $("more-lemmas").focus({ preventScroll: true });
    row.style.scrollMarginBottom = `${form.offsetHeight + $("status").offsetHeight + 8}px`;
    row.scrollIntoView({ block: "nearest" });
  }

  /** Handle a key, wherever the focus is; keys for words apply to the focused one. */
  #pressed(event) {
    if (!this.open_ || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && event.target.closest("#more, #cut")) return this.#row(this.word)?.focus();
    if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key === "z") { event.preventDefault(); return this.undo(); }
    if (control || event.altKey) return;
    const here = this.#wordOf(event.target), word = here >= 0 ? here : this.word, rows = $("words").rows;
    const toRow = (at) => rows[Math.max(0, Math.min(rows.length - 1, at))].focus();
    const onWord = {
      ArrowUp: () => toRow(word - 1), ArrowDown: () => toRow(word + 1), Home: () => toRow(0), End: () => toRow(rows.length - 1),
      Enter: () => this.#take(word), " ": () => this.#take(word),
      0: () => word > 0 && this.#root(word), r: () => word > 0 && this.#editCell(word, "relations"),
      t: () => word > 0 && this.#editCell(word, "upos"), s: () => word > 0 && this.#second(word),
      a: () => word > 0 && this.#editLinks(word), o: () => word > 0 && this.#takeOther(word), f: () => word > 0 && this.#fix(word), e: () => word > 0 && this.#editMore(word),
    };
    const anywhere = {
      Escape: () => { this.#setTaken(null); this.say(""); },
      l: () => this.live && $("live").click(), c: () => this.confirm(), u: () => this.undo(), n: () => this.#go(1), p: () => this.#go(-1),
    };
    const isButton = event.target.closest("button, summary, input") && [" ", "Enter"].includes(event.key);
    const action = anywhere[event.key] ?? (word >= 0 && !isButton ? onWord[event.key] : undefined);
    if (!action) return;
    event.preventDefault();
    Promise.resolve(action()).catch((error) => this.say(error.message, true));
  }
}
