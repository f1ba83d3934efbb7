"use strict";
(async () => {
  // Replace each container of packed sentences by its sentences.
  const unpacked = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  };
  for (const packed of document.querySelectorAll("script.packed")) {
    packed.insertAdjacentHTML("beforebegin", await unpacked(packed.textContent));
    packed.remove();
  }

  const relationOf = (arc) => arc.querySelector(".label").firstChild.data;
  const sentences = [...document.querySelectorAll("article")].map((article) => ({
    article,
    text: `${article.querySelector("h2").textContent} ${article.querySelector("title").textContent}`.toLowerCase(),
    // Query the current elements, because drawings are redrawn when the window changes.
    get arcs() { return [...article.querySelectorAll(".arc")]; },
  }));

  // Filters: hide sentences without a match; in the others, dim arcs that do not match.
  const form = document.querySelector("form");
  const output = form.querySelector("output");
  const relations = new Set(sentences.flatMap(({ arcs }) => arcs.map(relationOf)));
  for (const relation of [...relations].sort()) {
    document.getElementById("relations").append(new Option(relation, relation));
  }
  const filter = () => {
    const text = form.elements.text.value.trim().toLowerCase();
    const relation = form.elements.relation.value.trim();
    const below = form.elements.below.value === "" ? null : Number(form.elements.below.value);
    const matches = (arc) =>
      (relation === "" || relationOf(arc) === relation || relationOf(arc).startsWith(`${relation}:`)) &&
      (below === null || Number(arc.dataset.probability ?? 1) < below);
    const byArc = relation !== "" || below !== null;
    let shown = 0;
    let found = 0;
    // Segments of an arc on several lines belong together.
    const name = (arc) => [arc.parentNode.getAttribute("class"), arc.dataset.head, arc.dataset.dependent, relationOf(arc)].join();
    for (const sentence of sentences) {
      const arcs = sentence.arcs, matching = arcs.filter(matches);
      const hidden = !sentence.text.includes(text) || (byArc && matching.length === 0);
      sentence.article.hidden = hidden;
      shown += hidden ? 0 : 1;
      found += hidden ? 0 : new Set(matching.map(name)).size;
      const kept = new Set(matching);
      for (const arc of arcs) arc.classList.toggle("dim", byArc && !kept.has(arc));
    }
    const arcs = byArc ? `, ${found.toLocaleString("en")} arcs` : "";
    output.value = `${shown.toLocaleString("en")} of ${sentences.length.toLocaleString("en")} sentences${arcs}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();

  // Break a sentence into lines of the window's width when it comes into view.
  if ("fit" in document.querySelector("main").dataset) {
    const known = new WeakMap();
    let waiting = 0;
    const fit = (figure) => {
      const svg = figure.querySelector("svg"), room = figure.clientWidth, { model, last } = known.get(svg) ?? {};
      const lines = new Set([...svg.querySelectorAll(".form")].map((form) => form.getAttribute("y"))).size;
      if (last === room || (!model && lines === 1 && Number(svg.getAttribute("width")) <= room)) return;
      known.set(svg, { model: fitted(svg, room, model), last: room });
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(filter);
    };
    const seen = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) fit(target);
    }, { rootMargin: "400px" });
    const watch = () => {
      for (const { article } of sentences) {
        const figure = article.querySelector("figure");
        seen.unobserve(figure);
        seen.observe(figure);
      }
    };
    addEventListener("resize", watch);
    watch();
  }

  // Describe the arc under the pointer, and highlight its counterpart in the other language.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.dir = "auto";
  document.body.append(tip);
  const marked = [];
  const mark = (root, selector) => {
    for (const element of root.querySelectorAll(selector)) {
      element.classList.add("on");
      marked.push(element);
    }
  };
  const show = (arc, event) => {
    const title = arc.querySelector("title");
    if (title !== null) {
      // Otherwise the browser would show the title as well.
      arc.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    const { head, dependent, partner } = arc.dataset;
    const tree = arc.closest(".tree");
    const side = tree.classList.contains("target") ? "target" : "source";
    mark(tree, `.arc[data-head="${head}"][data-dependent="${dependent}"]`);
    mark(tree, `[data-word="${head}"], [data-word="${dependent}"]`);
    mark(arc.closest("svg"), `.link[data-${side}="${head}"], .link[data-${side}="${dependent}"]`);
    if (partner !== undefined) {
      const other = tree.parentNode.querySelector(`.tree.${side === "target" ? "source" : "target"}`);
      mark(other, `.arc[data-dependent="${partner}"]`);
    }
    tip.textContent = arc.getAttribute("aria-label");
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, room))}px`;
    tip.style.top = `${event.clientY + 18}px`;
  };
  document.addEventListener("pointerover", (event) => {
    for (const element of marked.splice(0)) element.classList.remove("on");
    tip.hidden = true;
    const arc = event.target.closest?.(".arc[data-head]");
    if (arc) show(arc, event);
  });
})();
