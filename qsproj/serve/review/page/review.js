// The page: the list of sentences, and the tree of the selected one.
import { Refusal, ask } from "./api.js";
import { $, button, element, plainKey } from "./dom.js";
import { Editor } from "./editor.js";
import { Search } from "./search.js";
import { Words } from "./words.js";

const PAGE = 50, POLL = 1000;
const list = { offset: 0, total: 0, rows: [] };
let started = false, overview = null, turn = 0, newest = null;

const editor = new Editor({ confirmed: afterChange, undone: afterChange, kept: watchBatch, moved: go, reload, cut });
const search = new Search({ open: (index, word) => reportingErrors(open)(index, word), corrected: afterSearch, doubt: doubtAbout });

const words = new Words({ open: (index, word) => reportingErrors(open)(index, word), decided: watchBatch, tagged: afterTag });

async function start() {
  overview = await ask("overview");
  document.title = `${overview.file}: review`;
  $("file").textContent = overview.file;
  for (const list of ["relations", "tags"]) $(list).replaceChildren(...overview[list].map((name) => new Option(name, name)));
  editor.known = { relations: new Set(overview.relations), upos: new Set(overview.tags) };
  editor.features = overview.features;
  editor.live = overview.live;
  editor.learns = overview.keeps;
  $("order").querySelector("[value=differing]").hidden = !overview.beside;
  if (!started) $("order").value = overview.order;
  started = true;
  $("inference").hidden = !overview.live;
  await words.start();
  showProgress();
  await showList(0);
  if (list.rows.length) await open(list.rows[0].index);
  if (overview.training) await watchTraining();
}

function showProgress() {
  $("progress").textContent = `${overview.reviewed} of ${overview.sentences} reviewed`;
  $("trained").textContent = gain(overview.trained);
  const after = overview.train_after, standing = overview.standing;
  $("standing").hidden = !standing;
  if (standing) $("standing").textContent = standing.text;
  $("train").hidden = after === null;
  if (after === null) return;
  const left = Math.max(0, after - overview.reviewed);
  $("train").disabled = overview.training || (standing ? !standing.fresh.some(Boolean) : left > 0);
  if (standing) $("train").textContent = overview.training ? "Learning ..." : "Save model";
  else $("train").textContent = overview.training ? "Training ..." : left ? `Train again (${left} more)` : "Train again";
  const [done, all] = overview.parts ?? [0, 0];
  $("parts-done").hidden = !overview.training;
  if (all) Object.assign($("parts-done"), { max: all, value: done });
  else $("parts-done").removeAttribute("value");
}

function gain(trained) {
  if (trained.error) return trained.error;
  if (!trained.reviewed) return "";
  const rest = `${trained.changed} heads of the other ${trained.left} sentences are new.`;
  if (!trained.before) return rest;
  if (trained.worse) {
    return `Discarded: trained on the reviewed sentences, the parser was worse on held-out ones, ${trained.after.las} LAS `
      + `after ${trained.before.las}.`;
  }
  const scores = ({ uas, las }) => `${uas} UAS, ${las} LAS`;
  return `Reviewed sentences, held out in ${trained.parts} parts: ${scores(trained.before)} before, `
    + `${scores(trained.after)} after training on the others. ${rest}`;
}

/** Show a part of the list; a later request replaces one that is still pending. */
function showList(offset) {
  turn += 1;
  return (newest = fillList(offset, turn));
}

async function fillList(offset, own) {
  const asked = new URLSearchParams({
    order: $("order").value, shown: $("shown").value, query: $("query").value.trim(), offset, limit: PAGE,
  });
  const part = await ask(`sentences?${asked}`);
  if (own !== turn) return newest;
  Object.assign(list, { offset, total: part.total, rows: part.sentences });
  $("list").replaceChildren(...list.rows.map(rowOf));
  const last = Math.min(offset + PAGE, list.total);
  $("place").textContent = list.total ? `${offset + 1} to ${last} of ${list.total}` : "nothing to show";
  $("earlier").disabled = offset === 0;
  $("later").disabled = last >= list.total;
  mark();
}

function rowOf(row) {
  const state = row.reviewed ? "reviewed" : row.differing ? `${row.differing} differ` : `${row.words} words`;
  const preview = Object.assign(element("span", "preview", row.text), { dir: "auto" });
  const opener = button(element("span", "about", element("span", "", row.id), element("span", "", state)), () => open(row.index));
  opener.append(preview);
  opener.dataset.index = row.index;
  opener.classList.toggle("reviewed", row.reviewed);
  return element("li", "", opener);
}

/** Show or hide the list in narrow windows; wide windows always show it. */
function showNarrowList(shown) {
  document.body.classList.toggle("listing", shown);
  $("sentences").setAttribute("aria-expanded", shown);
}

function mark() {
  for (const button of $("list").querySelectorAll("button")) {
    const current = Number(button.dataset.index) === editor.index;
    button.setAttribute("aria-current", current);
    if (current) button.scrollIntoView({ block: "nearest" });
  }
}

async function open(index, word = null) {
  showNarrowList(false);
  await editor.open(index, word);
  mark();
}

/** Go to the next or previous sentence of the list, across pages. */
async function go(step) {
  const at = list.rows.findIndex((row) => row.index === editor.index);
  const next = at + step;
  if (at >= 0 && list.rows[next]) return open(list.rows[next].index);
  const offset = list.offset + step * PAGE;
  if (offset < 0 || offset >= list.total) return at < 0 && list.rows.length ? open(list.rows[0].index) : undefined;
  await showList(offset);
  return open(list.rows[step > 0 ? 0 : list.rows.length - 1].index);
}

/** Update the page after a confirmation or undo; `goOn` opens the next unreviewed sentence. */
async function afterChange(sentence, { goOn }) {
  overview.reviewed = sentence.all_reviewed;
  showProgress();
  if (overview.standing) await watchBatch();
  const row = list.rows.find((one) => one.index === sentence.index);
  if (row) {
    row.reviewed = sentence.reviewed;
    const button = $("list").querySelector(`button[data-index="${row.index}"]`);
    button.parentNode.replaceWith(rowOf(row));
  }
  mark();
  if (!goOn) return;
  const after = list.rows.slice(list.rows.indexOf(row) + 1).find((one) => !one.reviewed);
  if (after) await open(after.index);
  else await showListAgain();
}

/** Update the page after a change of the number or text of sentences. */
async function cut(sentence) {
  Object.assign(overview, { sentences: sentence.sentences, reviewed: sentence.all_reviewed });
  showProgress();
  await showList(list.offset < list.total ? list.offset : 0);
}

/** Update the page after a bulk correction; Undo of sentence `index` reverts all of it. */
async function afterSearch(index) {
  if (index !== null) editor.confirmed = [...editor.confirmed.filter((one) => one !== index), index];
  await showList(list.offset);
  await editor.refresh();
}

/** Update the page after a tag that was given in a context. */
async function afterTag() {
  await editor.refresh();
  await watchBatch();
}

/** Open the words; what they show includes the corrections of the open sentence. */
async function openWords() {
  if (editor.changed) await editor.keep();
  await words.open();
}

/** Return a warning about tags and relations of a correction that are neither in UD nor in the file. */
function doubtAbout(change) {
  const given = change.split(/\s+/).map((one) => one.split("=")).filter(([name]) => ["upos", "deprel"].includes(name));
  const known = ([name, value]) => {
    const own = editor.known[name === "upos" ? "upos" : "relations"];
    return own.has(value) || own.has(value?.split(":")[0]);
  };
  const odd = given.filter((one) => !known(one)).map(([, value]) => value);
  return odd.length ? `${odd.join(", ")}: neither in Universal Dependencies nor in this file` : null;
}

/** Show the number of corrected cells by batch of confirmations. */
async function report() {
  const { batches } = await ask("report");
  const time = (text) => new Date(text).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
  $("batches").replaceChildren(...batches.map((one) => {
    const cells = [
      time(one.from), time(one.to), one.sentences, one.words, one.corrections,
      (one.corrections / one.sentences).toFixed(1), ((100 * one.corrections) / one.words).toFixed(1),
    ];
    return element("tr", "", ...cells.map((text) => element("td", "", text)));
  }));
  $("report").showModal();
}

async function showListAgain() {
  await showList(0);
  const left = list.rows.find((one) => !one.reviewed);
  if (left) await open(left.index);
}

async function reload() {
  await ask("load", { method: "POST" });
  editor.forget();
  await start();
}

async function train() {
  if (editor.changed) await editor.keep();
  overview = { ...overview, ...(await ask("training", { method: "POST" })) };
  await watchTraining();
}

let watching = false;

/** Follow the training that a batch of answers has begun. */
async function watchBatch() {
  overview = { ...overview, ...(await ask("training")) };
  if (overview.training && !watching) watchTraining().catch((error) => editor.say(error.message, true));
  else showProgress();
}

async function watchTraining() {
  watching = true;
  try {
    await followTraining();
  } finally {
    watching = false;
  }
}

async function followTraining() {
  let silent = false;
  showProgress();
  while (overview.training) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
    try {
      overview = { ...overview, ...(await ask("training")) };
      if (silent) editor.say("");
      silent = false;
    } catch (error) {
      // The server may answer again.
      silent = error instanceof Refusal && error.status === 0;
      if (!silent) throw error;
      editor.say(error.message, true);
    }
    showProgress();
  }
  showProgress();
  words.stale = true;
  await showTrees();
}

/** Show new trees in their new order; the open sentence stays open. */
async function showTrees() {
  await showList(list.offset < overview.sentences ? list.offset : 0);
  await editor.refresh();
  mark();
}

/** Show what another window has changed meanwhile. */
async function returned() {
  if (overview === null || watching) return;
  overview = await ask("overview");
  showProgress();
  await showTrees();
  if (overview.training) await watchTraining();
}

const reportingErrors = (action) => (...given) => Promise.resolve(action(...given)).catch((error) => editor.say(error.message, true));

for (const id of ["shown", "order"]) $(id).addEventListener("change", reportingErrors(() => showList(0)));
let typing = 0;
$("query").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(reportingErrors(() => showList(0)), 200);
});
$("filter").addEventListener("submit", (event) => {
  event.preventDefault();
  reportingErrors(async () => { await showList(0); if (list.rows.length) await open(list.rows[0].index); })();
});
$("earlier").addEventListener("click", reportingErrors(() => showList(Math.max(0, list.offset - PAGE))));
$("later").addEventListener("click", reportingErrors(() => showList(list.offset + PAGE)));
$("train").addEventListener("click", reportingErrors(train));
$("sentences").addEventListener("click", () => showNarrowList($("sentences").getAttribute("aria-expanded") !== "true"));
$("help").addEventListener("click", () => $("keys").showModal());
$("open-report").addEventListener("click", reportingErrors(report));
$("wordlist").addEventListener("click", reportingErrors(openWords));
$("open-search").addEventListener("click", () => search.open());
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, dialog") || !plainKey(event)) return;
  if (event.key === "/") { event.preventDefault(); $("query").focus(); }
  if (event.key === "?") $("keys").showModal();
  if (event.key === "w") { event.preventDefault(); reportingErrors(openWords)(); }
  if (event.key === "x") { event.preventDefault(); search.open(); }
});
addEventListener("focus", reportingErrors(returned));
addEventListener("beforeunload", (event) => { if (editor.unsaved()) event.preventDefault(); });
reportingErrors(start)();
