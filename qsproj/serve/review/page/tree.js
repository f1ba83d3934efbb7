// Trees as arrays: heads[i] is the head of word i + 1, 0 is the root, -1 is missing. Independent of the page.

/** Return the words from `word` up to the root, or up to the first repeated word. */
function pathUp(heads, word) {
  const path = [word];
  for (let head = heads[word - 1]; head > 0 && !path.includes(head); head = heads[head - 1]) path.push(head);
  return path;
}

/** Return why `head` cannot be the head of `word`: the words of a cycle, "root" or "self"; else null. */
export function refusal(heads, word, head) {
  if (head === word) return { reason: "self" };
  if (head === 0) {
    const root = heads.indexOf(0) + 1;
    return root && root !== word ? { reason: "root", root } : null;
  }
  const path = pathUp(heads, head);
  const at = path.indexOf(word);
  return at < 0 ? null : { reason: "cycle", cycle: path.slice(0, at + 1).reverse() };
}

/** Return the tree with a new head of a word. */
export function attached(tree, word, head) {
  return { ...tree, heads: tree.heads.with(word - 1, head) };
}

/** Return the tree with a new root, which becomes the head of the old one; both swap relations. */
export function rooted(tree, word) {
  const old = tree.heads.indexOf(0) + 1;
  let { heads, relations } = tree;
  if (old === word) return tree;
  heads = heads.with(word - 1, 0);
  if (!old) return { ...tree, heads, relations: relations.with(word - 1, "root") };
  const [upper, lower] = [relations[old - 1], relations[word - 1]];
  heads = heads.with(old - 1, word);
  return { ...tree, heads, relations: relations.with(word - 1, upper).with(old - 1, lower) };
}

/** Return the tree with a new cell of a word in a column. */
export function celled(tree, column, word, text) {
  return { ...tree, [column]: tree[column].with(word - 1, text) };
}

// The columns that a model infers, in reading order of a word.
export const INFERRED = ["upos", "heads", "relations"];

/** Return the tree with fixed cells: `cells` are (column, word) pairs. */
export function fixed(tree, cells) {
  const next = { ...tree.fixed };
  for (const [column, word] of cells) next[column] = next[column].with(word - 1, true);
  return { ...tree, fixed: next };
}

/** Return the tree with open relations of words that became the root, or ceased to be: those of before are wrong. */
export function turned(earlier, tree) {
  const stays = tree.heads.map((head, index) => (head === 0) === (earlier.heads[index] === 0));
  return { ...tree, fixed: { ...tree.fixed, relations: tree.fixed.relations.map((own, index) => own && stays[index]) } };
}

/** Return all cells before one in reading order: those of the words above, and of its own word. */
export function before(column, word) {
  const above = Array.from({ length: word - 1 }, (_, index) => INFERRED.map((one) => [one, index + 1])).flat();
  return [...above, ...INFERRED.slice(0, INFERRED.indexOf(column)).map((one) => [one, word])];
}

/** Return the question to a model: fixed cells, and blanks. */
export function question(tree) {
  const kept = (column, blank) => tree[column].map((cell, index) => (tree.fixed[column][index] ? cell : blank));
  return { heads: kept("heads", -1), relations: kept("relations", "_"), upos: tree.upos, tags: tree.fixed.upos };
}

/** Return the tree with new links of a word; all links are written to MISC (Align=2,4). */
export function linked(tree, word, sources) {
  const links = tree.links.with(word - 1, sources);
  const misc = tree.misc.map((cell, index) => {
    const kept = cell.split("|").filter((item) => item !== "_" && !item.startsWith("Align="));
    if (links[index].length) kept.push(`Align=${links[index].join(",")}`);
    return kept.join("|") || "_";
  });
  return { ...tree, links, misc };
}

/** Return the fixed heads; -1 elsewhere. */
export function fixedHeads(tree) { return question(tree).heads; }

/** Return the tree inferred by a model, and the words that it changed. */
export function inferred(tree, found, earlier) {
  const moved = tree.heads.map((_, index) => INFERRED.some(
    (column) => !tree.fixed[column][index] && found[column][index] !== earlier[column][index],
  ));
  return { ...tree, ...found, moved };
}

/** Return the first thing missing from a tree for its confirmation, or null. */
export function missing(tree) {
  const headless = tree.heads.findIndex((head) => head < 0) + 1;
  if (headless) return `word ${headless} has no head`;
  const roots = tree.heads.flatMap((head, index) => (head === 0 ? [index + 1] : []));
  if (roots.length !== 1) return roots.length ? `words ${roots.join(", ")} are roots; keep one` : "there is no root";
  const bare = tree.relations.indexOf("_") + 1;
  return bare ? `word ${bare} has no relation` : null;
}

export function same(one, other) {
  const equal = (a, b) => a.length === b.length && a.every((value, index) => value === b[index]);
  return COLUMNS.every((column) => equal(one[column], other[column]));
}

// Columns that a model learns from sentences in which one of their cells is changed.
export const CHECKABLE = ["lemmas", "feats"];

// The editable columns.
export const COLUMNS = ["heads", "relations", "upos", "xpos", "lemmas", "feats", "deps", "misc"];

/** Return the level of each arc, 1 being nearest: above all arcs within its span. */
export function levels(heads) {
  const spans = heads.map((head, index) => ({ index, low: Math.min(head, index + 1), high: Math.max(head, index + 1) }));
  const drawn = spans.filter((span) => span.low >= 0).sort((a, b) => a.high - a.low - (b.high - b.low));
  const level = heads.map(() => 1);
  drawn.forEach((span, rank) => {
    for (const other of drawn.slice(0, rank)) {
      const overlap = other.low < span.high && span.low < other.high;
      if (overlap) level[span.index] = Math.max(level[span.index], level[other.index] + 1);
    }
  });
  return level;
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u;
const letter = /\p{L}/u;

/** Return the writing direction: that of most words with letters. */
export function direction(forms) {
  const worded = forms.filter((form) => letter.test(form));
  return worded.filter((form) => rightToLeft.test(form)).length * 2 > worded.length ? "rtl" : "ltr";
}
