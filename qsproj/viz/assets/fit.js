"use strict";
// Breaks the words of a tree into lines of the window's width, like qsproj/viz/layout.py and trees.py.
const fitted = (() => {
  const MARGIN = 12, GAP = 18, ROOM = 12, STEP = 7, LEVEL = 24, TEXT = 34, TOKEN = 16, TIP = 6, CORNER = 8, EVERY = 700;
  const ink = document.createElement("canvas").getContext("2d");
  const wide = (text, size) => {
    ink.font = `${size}px "Helvetica Neue", Arial, "Noto Sans", sans-serif`;
    return ink.measureText(text).width;
  };

  /** Read words, arcs and multiword tokens from a drawing; segments of an arc on several lines are joined. */
  const read = (svg) => {
    const forms = [...svg.querySelectorAll(".form")].sort((a, b) => a.dataset.word - b.dataset.word);
    const words = [null, ...forms.map((form) => {
      const tag = form.nextElementSibling;
      return { form: form.outerHTML, tag: tag.outerHTML, half: Math.max(wide(form.textContent, 15), wide(tag.textContent, 10)) / 2 };
    })];
    const arcs = new Map();
    for (const group of svg.querySelectorAll(".arc[data-head]")) {
      group.classList.remove("dim", "on");
      const [head, dependent] = [Number(group.dataset.head), Number(group.dataset.dependent)];
      const label = group.querySelector(".label"), kind = group.getAttribute("class");
      const title = group.querySelector("title")?.textContent ?? group.getAttribute("aria-label");
      arcs.set(`${kind} ${head} ${dependent}`, {
        head, dependent, left: Math.min(head, dependent), right: Math.max(head, dependent), title, offsets: {},
        below: /other|enhanced/.test(kind), shell: group.cloneNode(false), label: label.innerHTML,
        room: wide(label.textContent, 11), opacity: group.querySelector("path").getAttribute("opacity"),
      });
    }
    const tokens = [...svg.querySelectorAll(".token")].map((text) => ({ ...text.dataset, form: text.textContent }));
    return { words, tokens, arcs: [...arcs.values()], turned: forms[0]?.getAttribute("direction") === "rtl" };
  };

  /** Place the ends of arcs at each word, so that nested arcs do not overlap. */
  const spread = (arcs, words) => {
    const at = new Map();
    for (const arc of arcs) {
      for (const [word, other] of [[arc.head, arc.dependent], [arc.dependent, arc.head]]) {
        const order = other === 0 ? 0 : (other < word ? -1 : 1) / (arc.right - arc.left);
        if (word !== 0) at.set(word, [...(at.get(word) ?? []), [order, arc]]);
      }
    }
    for (const [word, found] of at) {
      const step = Math.min(STEP, (2 * words[word].half) / found.length);
      found.sort(([one], [other]) => one - other);
      found.forEach(([, arc], rank) => { arc.offsets[word] = step * (rank - (found.length - 1) / 2); });
    }
  };

  /** Break words into lines of limited width, with space for labels. */
  const linesOf = ({ words, arcs }, width) => {
    const lines = [];
    let line = { first: 1, centres: [], right: MARGIN - GAP };
    const place = (word) => Math.max(line.right + GAP + words[word].half, ...arcs.filter((arc) => arc.right === word).map((arc) => {
      if (arc.left === 0) return arc.room / 2 + 2;
      const room = arc.room + ROOM - arc.offsets[word];
      return arc.left < line.first ? room : line.centres[arc.left - line.first] + room + arc.offsets[arc.left];
    }));
    for (let word = 1; word < words.length; word += 1) {
      if (line.centres.length && place(word) + words[word].half + MARGIN > width) {
        lines.push(line);
        line = { first: word, centres: [], right: MARGIN - GAP };
      }
      const centre = place(word);
      line.centres.push(centre);
      line.right = centre + words[word].half;
    }
    if (line.centres.length) lines.push(line);
    for (const one of lines) {
      one.stop = one.first + one.centres.length;
      const ends = arcs.filter((arc) => (arc.left === 0 ? arc.right : arc.left) >= one.first && (arc.left === 0 ? arc.right < one.stop : arc.left < one.stop));
      one.edge = Math.max(one.right + MARGIN, ...ends.map((arc) => {
        if (arc.left === 0) return one.centres[arc.right - one.first] + arc.room / 2 + 2;
        return arc.right < one.stop ? 0 : one.centres[arc.left - one.first] + arc.room + ROOM + arc.offsets[arc.left];
      }));
    }
    return lines;
  };

  /** Assign each arc on a line a level: above all arcs within its span, different from arcs that it crosses. */
  const levelsOf = (arcs, line) => {
    const clip = (arc) => [Math.max(arc.left, line.first - 1), Math.min(arc.right, line.stop)];
    const length = (arc) => clip(arc)[1] - clip(arc)[0];
    const levels = new Map();
    for (const arc of arcs.filter((one) => one.head !== 0).sort((a, b) => length(a) - length(b) || a.right - a.left - b.right + b.left)) {
      const [left, right] = clip(arc), taken = new Set();
      let level = 1;
      for (const [other, own] of levels) {
        const [start, end] = clip(other);
        if (left <= start && end <= right) level = Math.max(level, own + 1);
        else if (start < right && left < end) taken.add(own);
      }
      while (taken.has(level)) level += 1;
      levels.set(arc, level);
    }
    const top = 1 + Math.max(0, ...levels.values());
    for (const arc of arcs) if (arc.head === 0) levels.set(arc, top);
    return levels;
  };

  const drawArc = (arc, line, level, edge, away, width, across) => {
    const placed = (word) => (word < line.first ? 0 : word >= line.stop ? width : line.centres[word - line.first] + arc.offsets[word]);
    const here = (word) => word >= line.first && word < line.stop;
    const tip = Math.round(across(placed(arc.dependent))), tail = arc.head === 0 ? tip : Math.round(across(placed(arc.head)));
    const height = edge + away * level * LEVEL, base = edge + away * TIP, reach = Math.min(CORNER, Math.abs(tip - tail) >> 1);
    const x = tip > tail ? reach : -reach, y = height > edge ? reach : -reach, shown = arc.opacity ? ` opacity="${arc.opacity}"` : "";
    let path = `M${tip} ${height}V${base}`;
    if (arc.head !== 0) {
      path = here(arc.head) ? `M${tail} ${edge}V${height - y}q0 ${y} ${x} ${y}` : `M${tail} ${height}`;
      path += here(arc.dependent) ? `H${tip - x}q${x} 0 ${x} ${-y}V${base}` : `H${tip}`;
    }
    const point = here(arc.dependent) ? `<path class="tip"${shown} d="M${tip} ${edge}l-3 ${away * TIP}h6z"/>` : "";
    const copies = 1 + Math.floor(Math.abs(tip - tail) / EVERY), box = arc.room + 6;
    const labels = Array.from({ length: copies }, (_, copy) => {
      const centre = tail + ((tip - tail) * (copy + 0.5)) / copies;
      return `<rect class="behind" x="${centre - box / 2}" y="${height - 7}" width="${box}" height="14"/>`
        + `<text class="label" x="${centre}" y="${height + 3.5}">${arc.label}</text>`;
    });
    const group = arc.shell.cloneNode(false), title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    group.innerHTML = `<path${shown} d="${path}"/>${point}${labels.join("")}`;
    title.textContent = arc.title;
    group.prepend(title);
    return group;
  };

  /** Redraw a tree at the available width; pairs with a translation are unchanged. */
  return (svg, room, known) => {
    const tree = svg.querySelector(".tree.words");
    if (!tree) return known;
    const model = known ?? read(svg), { words, tokens, arcs } = model;
    const sides = [false, true].map((below) => arcs.filter((arc) => arc.below === below));
    if (!known) sides.forEach((side) => spread(side, words));
    const lines = linesOf(model, room), width = Math.max(2 * MARGIN, ...lines.map((line) => line.edge));
    const across = (x) => (model.turned ? width - x : x), textHeight = TEXT + (tokens.length ? TOKEN : 0), pieces = [];
    const put = (markup, x, y) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", "g");
      made.innerHTML = markup;
      made.firstChild.setAttribute("x", Math.round(x));
      made.firstChild.setAttribute("y", Math.round(y));
      pieces.push(...made.childNodes);
    };
    let bottom = 0;
    for (const line of lines) {
      const [above, below] = sides.map((side) => levelsOf(side.filter((arc) => (
        arc.left === 0 ? arc.right >= line.first && arc.right < line.stop : arc.left < line.stop && arc.right >= line.first
      )), line));
      const tall = (levels) => Math.max(0, ...levels.values()) * LEVEL + MARGIN;
      const top = bottom + tall(above), end = top + textHeight;
      for (const [levels, edge, away] of [[above, top, -1], [below, end, 1]]) {
        for (const [arc, level] of [...levels].sort(([, one], [, other]) => other - one)) {
          pieces.push(drawArc(arc, line, level, edge, away, width, across));
        }
      }
      line.centres.forEach((centre, at) => {
        put(words[line.first + at].form, across(centre), top + 16);
        put(words[line.first + at].tag, across(centre), top + 29);
      });
      for (const { first, last, form } of tokens) {
        const centres = line.centres.filter((_, at) => line.first + at >= first && line.first + at <= last).map(across);
        if (!centres.length) continue;
        const [left, right] = [Math.min(...centres) - 8, Math.max(...centres) + 8];
        put(`<path class="joint" d="M${left} ${top + TEXT - 2}v3H${right}v-3"/>`, 0, 0);
        put(`<text class="token" data-first="${first}" data-last="${last}"></text>`, (left + right) / 2, top + TEXT + 12);
        pieces.at(-1).textContent = form;
      }
      bottom = end + tall(below);
    }
    tree.replaceChildren(...pieces);
    for (const [name, value] of [["width", width], ["height", bottom], ["viewBox", `0 0 ${width} ${bottom}`]]) svg.setAttribute(name, value);
    return model;
  };
})();
