/** What stands around a program inside its sandbox: one line before it, so that lines stay. */

/** The names by which the sandbox reaches its host. */
export const bridge = { now: 'hostNow', later: 'hostLater' } as const;

/** Most characters of what a program logs. */
export const maxLogChars = 8_000;
/** Most characters of a result, and of the arguments of a call. */
export const maxValueChars = 1_000_000;

/** Lines of the sandbox before the first line of the program. */
const linesBefore = 2;

/**
 * Builds `tools` and a `console` that its host hears, and gives what runs the program. It is
 * written for the sandbox, so it may use nothing that a program can change: most built-in
 * prototypes are frozen there, and everything else is taken or frozen before the program begins.
 * A program may close the function around it, and declare functions that hide built-ins; then this
 * throws.
 */
const prelude = `
((now, later, maxCalls, secret) => {
  const { freeze, create, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
  const { toString: tagOf } = Object.prototype;
  const Fault = Error, Later = Promise, text = String, Names = Map, Shell = Proxy;
  const { set: setPrepare } = getOwnPropertyDescriptor(Fault, 'prepareStackTrace');
  for (const name of ['prepareStackTrace', 'stackTraceLimit'])
    defineProperty(Fault, name, {
      value: name === 'stackTraceLimit' ? 10 : undefined, writable: false, configurable: false });
  freeze(Fault); freeze(Fault.prototype);
  for (const one of [[].values(), ''[Symbol.iterator](), new Names().values(), ''.matchAll(/x/g)]) {
    freeze(getPrototypeOf(one)); freeze(getPrototypeOf(getPrototypeOf(one)));
  }
  const { parse, stringify } = JSON;
  const { begin, log: tell, end } = now;
  const { ask: send } = later;
  const places = (_, frames) => frames;
  const lineOfCall = () => {
    setPrepare.call(Fault, places);
    const frames = new Fault().stack;
    setPrepare.call(Fault, undefined);
    for (let at = 3; at < frames.length; at++)
      if (frames[at].getFileName() === 'run.js') return frames[at].getLineNumber() - ${linesBefore};
    return 0;
  };
  const lineIn = (stack) => {
    const found = /run\\.js:([0-9]+)/.exec(text(stack));
    return found ? found[1] - ${linesBefore} : 0;
  };
  const fail = (error, line, name) => {
    const fault = new Fault(text(error.message));
    for (const key of ['code', 'reason', 'retryable'])
      if (error[key] !== undefined)
        defineProperty(fault, key, {
          value: error[key], enumerable: true, writable: true, configurable: true });
    defineProperty(fault, 'stack', {
      value: '    at tools.' + name + ' (run.js:' + (line + ${linesBefore}) + ')',
      writable: true, configurable: true });
    return fault;
  };
  const messageOf = (error) => {
    try {
      if (typeof error !== 'object' || error === null) return text(error);
      const { name, message } = error;
      const isNamed = typeof name === 'string' && name !== 'Error';
      return isNamed ? name + ': ' + text(message) : text(message);
    } catch { return 'The error cannot be read.'; }
  };
  const hints = freeze({ __proto__: null,
    Promise: 'await it', Map: 'give Object.fromEntries(it)', Set: 'give [...it]',
    bigint: 'give a number or a text', function: 'call it' });
  const write = (value) => stringify(value, (key, one) => {
    let kind = typeof one;
    if (kind === 'object' && one !== null) {
      if (one instanceof Fault) return { ...one, message: messageOf(one) };
      kind = keys(one).length > 0 ? 'Object' : tagOf.call(one).slice(8, -1);
      if (kind === 'Object' || kind === 'Array') return one;
    } else if (kind !== 'function' && kind !== 'symbol' && kind !== 'bigint') return one;
    const hint = hints[kind];
    const where = key === '' ? 'it' : '\`' + text(key).slice(0, 100) + '\`';
    throw new Fault(where + ' is a ' + kind + (hint ? ': ' + hint : ''));
  });
  let calls = 0;
  const ask = (kind, name, input) => {
    const line = lineOfCall();
    const refuse = (code, reason, message) =>
      Later.reject(fail({ code, reason, retryable: false, message }, line, name));
    if (typeof name !== 'string') {
      name = kind;
      return refuse('invalid_input', 'query', '\`find\` takes a text.');
    }
    let json;
    try { json = input === undefined ? '{}' : write(input); } catch (error) {
      const why = 'The arguments cannot be written as JSON: ' + messageOf(error);
      return refuse('invalid_input', 'not_json', why);
    }
    if (json === undefined) json = 'null';
    if (json.length > ${maxValueChars}) {
      const why = 'The arguments are longer than ${maxValueChars} characters.';
      return refuse('invalid_input', 'input_too_large', why);
    }
    if (kind === 'call' && ++calls > maxCalls) {
      const why = 'The program has made ' + maxCalls + ' calls, and may make no more.';
      return refuse('rate_limited', 'max_calls', why);
    }
    return new Later((resolve, reject) => {
      send(secret, kind, name, json, line).then((answer) => {
        const { ok, value, error } = parse(answer);
        if (ok) resolve(value); else reject(fail(error, line, name));
      }, (error) => {
        const message = messageOf(error);
        reject(fail({ code: 'internal', retryable: false, message }, line, name));
      });
    });
  };
  const known = new Names();
  const own = {
    sleep: (ms) => ask('sleep', 'sleep', ms),
    find: (query) => ask('find', query, undefined),
  };
  const toolOf = (name) => {
    let tool = known.get(name);
    if (tool === undefined) {
      const call = (input) => ask('call', name, input);
      tool = freeze(name === 'sleep' ? own.sleep : name === 'find' ? own.find : call);
      known.set(name, tool);
    }
    return tool;
  };
  const tools = new Shell(freeze(create(null)), {
    get: (_, name) =>
      typeof name !== 'string' || name === 'then' || name === 'toJSON' ? undefined : toolOf(name),
  });
  defineProperty(globalThis, 'tools', {
    value: tools, enumerable: true, writable: false, configurable: false });
  let room = ${maxLogChars};
  const shown = (value) => {
    try { return typeof value === 'string' ? value : write(value) ?? text(value); }
    catch { return typeof value === 'bigint' ? text(value) : tagOf.call(value); }
  };
  const log = (...values) => {
    if (room <= 0) return;
    const line = values.map(shown).join(' ').slice(0, room);
    room -= line.length + 1;
    tell(line);
  };
  for (const name of ['log', 'info', 'debug', 'warn', 'error'])
    defineProperty(console, name, {
      value: log, enumerable: true, writable: false, configurable: false });
  freeze(console);
  begin();
  return async (program) => {
    let kind = 'thrown';
    try {
      const value = await program();
      kind = 'value';
      const json = write(value) ?? 'null';
      if (json.length > ${maxValueChars})
        throw new Fault('The result is longer than ${maxValueChars} characters.');
      end('ok', json, 0);
    } catch (error) {
      let line = 0;
      try { line = kind === 'value' ? 0 : lineIn(error.stack); } catch {}
      end(kind, messageOf(error).slice(0, 4000), line);
    }
  };
})`.replace(/\s*\n\s*/g, ' ');

/**
 * The source for the sandbox. The program begins on its first line.
 * @param secret Comes with each request, so that a program can make none on its own, with a line
 * of its choice.
 */
export function wrapped(source: string, maxCalls: number, secret: string): string {
  const given = `${bridge.now}, ${bridge.later}, ${maxCalls}, '${secret}'`;
  return `const start = ${prelude}(${given}); return start(async () => {${source}\n});`;
}
