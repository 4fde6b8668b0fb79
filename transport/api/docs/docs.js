// Renders the OpenAPI document. Everything is put in as text, never as HTML.
"use strict";

function el(tag, attrs, ...children) {
  const node = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) node.setAttribute(k, v);
  node.append(...children.filter((c) => c !== undefined && c !== ""));
  return node;
}

function schemaName(schema) {
  return schema && schema.$ref ? schema.$ref.split("/").slice(3).join("/") : "";
}

function shape(schema) {
  const name = schemaName(schema);
  if (name) return el("a", { href: "#schema-" + name }, name);
  const { description, ...rest } = schema || {};
  return el("code", {}, JSON.stringify(rest));
}

function parameters(list) {
  if (!list || !list.length) return "";
  const rows = list.map((p) =>
    el("tr", {},
      el("td", {}, el("code", {}, p.name), p.required ? " (required)" : ""),
      el("td", {}, p.in),
      el("td", {}, shape(p.schema), " ", p.description || "")));
  return el("table", {}, el("tr", {}, el("th", {}, "Parameter"), el("th", {}, "In"), el("th", {}, "")), ...rows);
}

function contents(content) {
  return Object.entries(content || {}).map(([type, m]) => el("span", {}, el("code", {}, type), " ", shape(m.schema)));
}

function responses(all) {
  const rows = Object.entries(all).map(([status, r]) =>
    el("tr", {}, el("td", {}, status), el("td", {}, r.description), el("td", {}, ...contents(r.content))));
  return el("table", {}, el("tr", {}, el("th", {}, "Status"), el("th", {}, "Meaning"), el("th", {}, "Body")), ...rows);
}

function operation(path, method, op) {
  return el("details", { class: "operation", id: op.operationId },
    el("summary", {},
      el("span", { class: "method " + method }, method.toUpperCase()),
      el("code", {}, path), el("span", { class: "about" }, op.summary)),
    el("p", {}, op.description || ""),
    parameters(op.parameters),
    op.requestBody ? el("p", {}, "Body: ", ...contents(op.requestBody.content)) : "",
    responses(op.responses));
}

function render(spec) {
  document.getElementById("about").textContent = spec.info.description + " Version " + spec.info.version + ".";
  const groups = new Map();
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const [method, op] of Object.entries(item)) {
      const tag = op.tags[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(path, method, op));
    }
  }
  document.getElementById("operations").replaceChildren(
    ...[...groups].map(([tag, ops]) => el("section", {}, el("h2", {}, tag), ...ops)));
  document.getElementById("schemas").replaceChildren(
    ...Object.entries(spec.components.schemas).map(([name, schema]) =>
      el("details", { id: "schema-" + name }, el("summary", {}, el("code", {}, name)),
        el("pre", {}, JSON.stringify(schema, null, 2)))));
  reveal();
}

function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}

function filter(event) {
  const words = event.target.value.toLowerCase();
  for (const op of document.querySelectorAll(".operation")) {
    op.hidden = !op.textContent.toLowerCase().includes(words);
  }
}

document.getElementById("filter").addEventListener("input", filter);
window.addEventListener("hashchange", reveal);
fetch("/api/openapi.json")
  .then((r) => r.json())
  .then(render)
  .catch(() => { document.getElementById("operations").textContent = "Couldn't load /api/openapi.json."; });
