/**
 * The secrets of the calls of one registry: the values that schemas and paths mark in inputs, knobs
 * and outputs. They are kept out of every text and event of their call.
 */

import type { Call, FoundCall } from '../../core/call/call.ts';
import { newId } from '../../core/call/calls-in-flight.ts';
import type { Masking, ShownInput, Unaskable } from '../../core/call/ports.ts';
import type { CallSession } from '../../core/call/session-port.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import type { View } from '../../core/session/view.ts';
import { Slot } from '../../core/slot.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { copyJson, isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { loggedError } from '../../values/logging.ts';
import { type Budget, createBudget } from '../../values/redaction/budget.ts';
import { createRedactor, type Redactor } from '../../values/redaction/redactor.ts';
import { holdsSecret, redactText, scrubStrings } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import { namesAny, spelledOut } from './program-text.ts';
import { inputNotShown, secretInPrompt, shownError } from './refusals.ts';
import { redactorsOf, type ToolRedactors } from './tool-redactors.ts';

/**
 * The secrets of a call and of all calls that it leads to, so that no call reveals those of
 * another. The outermost call has them.
 */
const found = new Slot<Secrets>();
/** The secrets of the input as it arrived, if `tool:pre` had to find them. */
const sent = new Slot<Secrets>();
/** The call, or one that it made, has read back text that may hold parts of secrets. */
const readBack = new Slot<true>();

/** The secrets of a call; undefined if none were looked for. */
function secretsOf(call: Call): Secrets | undefined {
  const { extra } = outermost(call);
  return extra === undefined ? undefined : found.of(extra);
}

function outermost(call: Call): Call {
  let at = call.actual;
  while (at.parent !== undefined) at = at.parent;
  return at;
}

export class SecretMasking implements Masking {
  paths: readonly string[] = [];
  /** Finds what the paths name, for any tool. */
  byPath: Redactor | undefined;
  /** Texts that no call may show, such as values of the environment. */
  known: Secrets | undefined;
  readonly #tools = new WeakMap<ToolEntry, ToolRedactors>();
  /** The names of the tools of a view whose input has secrets. */
  readonly #marked = new WeakMap<View, readonly string[]>();

  /** @throws MisuseError `invalid_option`. */
  use(paths: readonly string[]): void {
    this.byPath = createRedactor(undefined, paths);
    this.paths = Object.freeze([...paths]);
  }

  /** Finds the secrets of a tool. */
  of(entry: ToolEntry): ToolRedactors {
    let redactors = this.#tools.get(entry);
    if (redactors === undefined) {
      redactors = redactorsOf(entry, this.paths);
      this.#tools.set(entry, redactors);
    }
    return redactors;
  }

  /** The secrets of a call; undefined if none were looked for. */
  found(call: Call): Secrets | undefined {
    return secretsOf(call);
  }

  concerns(entry: ToolEntry): boolean {
    return this.of(entry).any || entry.internals.credentials !== undefined;
  }

  hide(call: Call, text: string): void {
    const { more } = outermost(call);
    const secrets = found.of(more) ?? new Secrets(this.known);
    found.set(more, secrets);
    secrets.addText(text);
  }

  /** The name of a tool that exists is not the model's text. */
  name(session: CallSession, name: string, input: unknown, parent: Call | undefined): string {
    // Otherwise nothing is secret in an unknown tool, so most calls end here.
    const hides =
      this.byPath !== undefined ||
      this.known !== undefined ||
      (parent !== undefined && secretsOf(parent) !== undefined);
    if (!hides || session.entryOf(name) !== undefined || session.knew(name)) return name;
    return redactText(name, this.#given(session, name, input, parent));
  }

  id(
    session: CallSession,
    id: string,
    name: string,
    input: unknown,
    parent: Call | undefined,
  ): string {
    if (this.known === undefined && (parent === undefined || secretsOf(parent) === undefined)) {
      const entry = session.entryOf(name);
      const isMarked = entry === undefined ? this.byPath !== undefined : this.of(entry).any;
      if (!isMarked || !sharesText(id.toLowerCase(), input)) return id;
    }
    return holdsSecret(id, this.#given(session, name, input, parent)) ? newId(session) : id;
  }

  begin(call: Call): void {
    if (this.known !== undefined && secretsOf(call) === undefined)
      found.set(outermost(call).more, new Secrets(this.known));
  }

  hidesTexts(): boolean {
    return this.known !== undefined;
  }

  collectInput(call: FoundCall): void {
    const { input, knobs } = this.of(call.entry);
    collect(call, input, call.canonical);
    collect(call, knobs, (call.binding.status.knobs ?? null) as JsonValue);
  }

  collectEarlier(program: Call, tool: string, input: JsonValue, output: JsonValue): void {
    const entry = program.session.entryOf(tool);
    if (entry === undefined) return;
    const redactors = this.of(entry);
    collect(program, redactors.input, input);
    collect(program, redactors.output, output);
  }

  /**
   * What a program will pass to a tool is not known before it does. So one that names a tool with
   * secrets is hidden, and one that holds a secret which is known.
   */
  hidesProgram(call: Call, source: string): boolean {
    const { session } = call;
    const view = wholeSession(session).view();
    let names = this.#marked.get(view);
    if (names === undefined) {
      names = [...view.entries].flatMap(([name, entry]) => (this.of(entry).isMarked ? [name] : []));
      this.#marked.set(view, names);
    }
    const secrets = secretsOf(call);
    return spelledOut(source).some(
      (text) => namesAny(text, names) || (secrets !== undefined && holdsSecret(text, secrets)),
    );
  }

  /**
   * Defaults and repairs are in the canonical input of a raw schema, and in the parse of any other
   * schema.
   */
  collectParse(call: FoundCall): void {
    const { input: redactor } = this.of(call.entry);
    if (redactor === undefined || call.ended) return;
    collect(call, redactor, call.canonical);
    if (call.entry.internals.input.kind === 'json') return;
    // A schema can only mark fields of JSON, so the rest of a parse is skipped.
    const copy = copyJson(call.parsed, { maxDepth: 64, maxValues: 50_000 });
    if (copy.ok) collect(call, redactor, copy.value);
  }

  collectOutput(call: FoundCall, output: unknown): void {
    const { output: redactor } = this.of(call.entry);
    collect(call, redactor, output as JsonValue);
    const structured = call.extra?.outcome?.alongside?.sent.structuredContent;
    if (structured !== undefined) collect(call, redactor, structured);
  }

  /** The calls above it may return the same. */
  hideOutput(call: Call): void {
    for (let at: Call | undefined = call; at !== undefined; at = at.parent)
      readBack.set(at.more, true);
  }

  hides(call: Call): boolean {
    return secretsOf(call)?.none === false;
  }

  text(call: Call, text: string): string {
    const secrets = secretsOf(call);
    return secrets === undefined ? text : redactText(text, secrets);
  }

  json(call: Call, value: JsonValue): JsonValue {
    return scrub(call, value, this.byPath);
  }

  input(call: Call): JsonValue {
    const { session, given } = call;
    if (given === null) return null;
    const entry = call.entry ?? session.entryOf(call.toolName);
    const redactor = this.#inputOf(entry);
    const known = secretsOf(call);
    if (entry?.isProgram === true && isJsonObject(given) && typeof given.code === 'string')
      if (this.hidesProgram(call, given.code)) return { code: redacted };
    if (redactor === undefined && known === undefined) return given;
    const secrets = new Secrets(known);
    const budget = createBudget();
    const hidden = redactor === undefined ? given : redactor.redact(given, budget, secrets);
    if (known === undefined) sent.set(call.more, secrets);
    return scrubStrings(hidden, secrets, budget);
  }

  /** A tool from outside cannot mark fields as secret. */
  forApprover(call: FoundCall): ShownInput | undefined {
    const isOutside = !call.entry.internals.input.trusted;
    const redactor = isOutside ? this.byPath : this.of(call.entry).input;
    const secrets = isOutside ? secretsIn(call.canonical, redactor) : secretsOf(call);
    const shown = show(call, redactor, true);
    if (shown === undefined || secrets?.lost === true) return undefined;
    return { ...shown, holds: holder(secrets) };
  }

  question(
    call: FoundCall,
    title: string | undefined,
    message: string | undefined,
  ): ShownInput | Unaskable {
    const shown = this.forApprover(call);
    if (shown === undefined) return inputNotShown;
    if (title !== undefined && shown.holds(title)) return secretInPrompt(call, 'title');
    if (message !== undefined && shown.holds(message)) return secretInPrompt(call, 'message');
    return shown;
  }

  error(call: Call, error: ToolError): ToolError | undefined {
    return this.hides(call) ? shownError(call, error) : undefined;
  }

  logged(call: Call, thrown: unknown): unknown {
    return loggedError(thrown, this.hides(call) ? (text) => this.text(call, text) : undefined);
  }

  /** Every marked field is hidden, and secret texts are hidden wherever they occur. */
  forListeners(call: FoundCall): ShownInput {
    const budget = createBudget();
    const shown = show(call, this.of(call.entry).input, false, budget);
    const secrets = secretsOf(call);
    const value =
      shown === undefined || secrets === undefined
        ? shown?.value
        : scrubStrings(shown.value, secrets, budget);
    return shown !== undefined && value !== undefined && isJsonObject(value)
      ? { value, fields: shown.fields, holds: holder(secrets) }
      : { value: redacted, fields: [''], holds: holder(secrets) };
  }

  output(call: FoundCall, value: JsonValue, isCut: boolean): JsonValue {
    const hides = this.hides(call);
    // A cut may go through the middle of a secret, and half of a secret cannot be found.
    const isUnknown = call.extra !== undefined && readBack.of(call.extra) === true;
    if ((hides && isCut) || isUnknown) return redacted;
    if (!hides && call.binding.status.masking === undefined) return value;
    return scrub(call, value, this.of(call.entry).output ?? this.byPath);
  }

  /** What marks an input: the tool's schema and the paths, or the paths alone without a tool. */
  #inputOf(entry: ToolEntry | undefined): Redactor | undefined {
    return entry === undefined ? this.byPath : this.of(entry).input;
  }

  /** The secrets of a call before it begins. */
  #given(session: CallSession, name: string, input: unknown, parent: Call | undefined): Secrets {
    const secrets = new Secrets((parent && secretsOf(parent)) ?? this.known);
    const redactor = this.#inputOf(session.entryOf(name));
    if (redactor === undefined) return secrets;
    const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000, maxChars: 1_048_576 });
    if (copy.ok && !copy.overflow) redactor.collect(copy.value, secrets);
    // The secrets of an input that cannot be read are not known.
    else secrets.lose();
    return secrets;
  }
}

function collect(call: Call, redactor: Redactor | undefined, value: JsonValue): void {
  if (redactor === undefined) return;
  let secrets = secretsOf(call);
  if (secrets === undefined) {
    // `tool:pre` has found secrets already. They are found again here, and their search index
    // exists.
    secrets = (call.extra && sent.of(call.extra)) ?? new Secrets();
    found.set(outermost(call).more, secrets);
  }
  redactor.collect(value, secrets);
}

/**
 * JSON without secrets: first its secret fields are hidden, then secret texts wherever they occur.
 * Both share one budget; if it runs out, the whole value is hidden.
 */
function scrub(call: Call, value: JsonValue, redactor: Redactor | undefined): JsonValue {
  const budget = createBudget();
  const hidden = redactor === undefined ? value : redactor.redact(value, budget);
  const secrets = secretsOf(call);
  return secrets === undefined ? hidden : scrubStrings(hidden, secrets, budget);
}

function show(
  { canonical }: FoundCall,
  redactor: Redactor | undefined,
  exact: boolean,
  budget?: Budget,
): Omit<ShownInput, 'holds'> | undefined {
  return redactor === undefined
    ? { value: canonical, fields: [] }
    : redactor.show(canonical, exact, budget);
}

function secretsIn(value: JsonValue, redactor: Redactor | undefined): Secrets | undefined {
  if (redactor === undefined) return undefined;
  const secrets = new Secrets();
  redactor.collect(value, secrets);
  return secrets;
}

function holder(secrets: Secrets | undefined): (text: string) => boolean {
  return (text) => secrets !== undefined && holdsSecret(text, secrets);
}

/** Values that are looked at before the input is read in full. */
const maxLooked = 500;

const leastSecret = 4;

/**
 * Whether a text or number of the input is part of the id, or may be. This costs less than finding
 * the secrets, and almost never holds.
 */
function sharesText(id: string, input: unknown): boolean {
  let left = maxLooked;
  const shares = (value: unknown): boolean => {
    if (--left < 0) return true;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value).trim().toLowerCase();
      return text.length >= leastSecret && text.length <= id.length && id.includes(text);
    }
    if (typeof value !== 'object' || value === null) return false;
    for (const key in value) if (shares((value as Record<string, unknown>)[key])) return true;
    return false;
  };
  try {
    // A text may hold JSON.
    return typeof input === 'string' ? input.length >= leastSecret : shares(input);
  } catch {
    return true;
  }
}
