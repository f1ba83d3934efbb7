// Arcs beside the table, drawn between rows.
import { levels } from "./tree.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 9, MOST = 320, POINT = 7, CORNER = 5;

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Draw the arcs of a tree; `rows[i]` is the row of word i, `rows[0]` that of the root. */
export function drawArcs(svg, table, rows, tree, chances, unsure) {
  const level = levels(tree.heads);
  const deepest = Math.max(1, ...level);
  const step = Math.min(STEP, MOST / deepest);
  const width = deepest * step + 2 * POINT;
  const top = table.getBoundingClientRect().top;
  const heights = rows.map((row) => {
    const box = row.getBoundingClientRect();
    return box.top - top + box.height / 2;
  });
  const mirrored = getComputedStyle(table).direction === "rtl";
  const arcs = element("g", mirrored ? { transform: `matrix(-1 0 0 1 ${width} 0)` } : {});
  tree.heads.forEach((head, index) => {
    if (head < 0) return;
    const [from, to] = [heights[head], heights[index + 1]];
    const end = width - 1, far = end - POINT - level[index] * step;
    const sign = to > from ? 1 : -1, bend = Math.min(CORNER, step);
    const start = from + sign * 4;
    const group = element("g", { "data-word": index + 1 });
    if (chances[index] !== null && chances[index] < unsure) group.classList.add("unsure");
    group.append(
      element("path", {
        d: `M${end} ${start}H${far + bend}Q${far} ${start} ${far} ${start + sign * bend}V${to - sign * bend}`
          + `Q${far} ${to} ${far + bend} ${to}H${end - POINT}`,
      }),
      element("path", { class: "point", d: `M${end} ${to}l${-POINT} ${-POINT / 2}v${POINT}z` }),
    );
    arcs.append(group);
  });
  svg.setAttribute("width", width);
  svg.setAttribute("height", table.getBoundingClientRect().height);
  svg.replaceChildren(arcs);
}

export function markArc(svg, word) {
  for (const group of svg.querySelectorAll("g[data-word]")) {
    group.classList.toggle("chosen", group.dataset.word === String(word));
  }
}
