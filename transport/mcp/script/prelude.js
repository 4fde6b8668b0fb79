// What a program finds besides the language. It can spoil this for itself and for nobody else:
// the runner believes nothing that comes out of here.
(function (send, write, end) {
  "use strict";
  const { parse, stringify } = JSON;
  const pending = new Map();
  let calls = 0;

  // ToolError is what a call that failed throws. Its stack is that of the call.
  class ToolError extends Error {
    constructor(tool, problem, stack) {
      super(problem.message);
      this.name = "ToolError";
      this.tool = tool;
      this.code = problem.code;
      this.details = problem.details || {};
      if (problem.result !== undefined) this.result = problem.result;
      this.stack = stack;
    }
  }

  function tool(name, args) {
    return new Promise((resolve, reject) => {
      if (typeof name !== "string") throw new TypeError("a tool has a name, as in tool(\"a.b\", {…})");
      const text = stringify(args === undefined || args === null ? {} : args);
      if (typeof text !== "string" || text[0] !== "{") throw new TypeError("a tool takes one object with its arguments");
      send(calls + 1, name, text);
      pending.set(++calls, { resolve, reject, name, stack: new Error().stack });
    });
  }

  // under is tools.a, tools.a.b, …: each is a function that calls the tool of that name. It
  // has no then, or await would call it.
  function under(path) {
    return new Proxy(function () {}, {
      get: (_, key) => (typeof key === "symbol" || key === "then" || key === "toJSON" ? undefined : under(path ? path + "." + key : key)),
      apply: (_, self, args) => tool(path, args[0]),
    });
  }

  function answer(n, value, problem) {
    const call = pending.get(n);
    pending.delete(n);
    if (problem === undefined) call.resolve(parse(value));
    else call.reject(new ToolError(call.name, parse(problem), call.stack));
  }

  const show = (v) => (typeof v === "string" ? v : v instanceof Error ? String(v) : stringify(v) || String(v));
  const log = (...items) => write(items.map(show).join(" "));
  const console = { log, info: log, warn: log, error: log, debug: log };

  // describe tells of what was thrown, whatever it is.
  function describe(e) {
    try {
      if (!(e instanceof Error)) return stringify({ name: "Error", message: "the program threw " + show(e) });
      const told = { name: String(e.name), message: String(e.message), stack: String(e.stack) };
      if (typeof e.code === "string") told.code = e.code;
      if (e instanceof ToolError) told.details = e.details;
      return stringify(told);
    } catch {
      return stringify({ name: "Error", message: "the program threw something that can't be told" });
    }
  }

  function begin(main, args) {
    main(parse(args), under(""), tool, log, console)
      .then((v) => end(stringify(v === undefined ? null : v) || "null", ""))
      .catch((e) => end("", describe(e)));
  }

  return { begin, answer };
})
