// A button on each block of code that copies it; of a console block, the commands without prompts and output.
"use strict";

function commandsOf(text) {
  const kept = [];
  let going = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("$ ")) kept.push(line.slice(2));
    else if (going) kept.push(line);
    else continue;
    going = line.endsWith("\\");
  }
  return kept.join("\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that are read from a folder may not have the clipboard.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const text = block.querySelector("pre").textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await copy(block.closest(".highlight-console") ? commandsOf(text) : text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
