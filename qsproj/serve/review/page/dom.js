// Elements of the page.

export const $ = (id) => document.getElementById(id);

/** Return a new element with classes and content. */
export function element(tag, kind = "", ...content) {
  const made = document.createElement(tag);
  made.className = kind;
  made.append(...content);
  return made;
}

/** Return a button; `action` gets its clicks. */
export function button(text, action, title = "") {
  const made = Object.assign(element("button", "", text), { type: "button", title });
  if (action) made.addEventListener("click", action);
  return made;
}

/** Return a cell of a table, with a title for text that is cut off. */
export function cell(kind, content, title = "") {
  return Object.assign(element("td", kind, content), { title });
}

/** Return a key press without Ctrl, Alt or Meta as its name, else null. */
export function plainKey(event) { return event.ctrlKey || event.metaKey || event.altKey ? null : event.key; }
