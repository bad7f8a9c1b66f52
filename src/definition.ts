/** Definitions: what a tool is. Opaque and frozen; what could run it lives in a WeakMap that only the library reads. */
import { createHash } from 'node:crypto';
import type { ApprovalPrompt } from './approval/request.ts';
import type { CallInfo, ToolContext } from './context.ts';
import type { Allow, Ask, Decision, Deny } from './decision.ts';
import { describe, MisuseError } from './errors.ts';
import { canonicalJson, deepFreeze, type JsonObject, type JsonPrimitive, type JsonValue } from './json.ts';
import { checkToolName } from './names.ts';
import type { Fail, Ok } from './result.ts';
import { type BoundSchema, bindSchema } from './schema/bind.ts';
import type { InputOf, JsonSchema, ParsedOf, Schema } from './schema/schema.ts';
import type { ToolAnnotations } from './tool-summary.ts';

export type MaybePromise<T> = T | Promise<T>;

declare const toolTypes: unique symbol;
declare const toolServices: unique symbol;

/** Anything that names a tool and carries its types. */
export interface ToolRef<I = unknown, O = unknown> {
  readonly name: string;
  readonly [toolTypes]?: { readonly input: I; readonly output: O };
}

/** What a tool is, made by {@link defineTool}. Frozen; it cannot be run from. */
export interface HostToolDefinition<Name extends string = string, I = unknown, O = unknown, K = unknown, in Services = never> extends ToolRef<I, O> {
  readonly name: Name;
  readonly description: string;
  readonly title?: string;
  readonly version?: string;
  readonly category?: string;
  /** `sha256:` and hex over the canonical JSON of name, description, schemas, annotations and version. Tokens and grants bind it. */
  readonly fingerprint: string;
  /** The input as JSON Schema: always of type object, frozen. */
  readonly parameters: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly knobsType?: K;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];
  readonly [toolServices]?: (services: Services) => void;
}

/** Any definition that a registry over `Services` can hold. */
export type AnyTool<Services = never> = HostToolDefinition<string, unknown, unknown, unknown, Services>;

/** What a handler may return: a plain value, {@link Ok}, {@link Fail}, or an async generator that yields progress and returns one of them. */
export type HandlerReturn<O> = MaybePromise<O | Ok<O> | Fail> | AsyncGenerator<JsonValue | undefined, O | Ok<O> | Fail, unknown>;
type Plain<R> = R extends Fail ? never : R extends Ok<infer T> ? T : R extends void ? null : R;
// biome-ignore lint/suspicious/noExplicitAny: what a generator yields does not matter to its result.
type OutputFromReturn<R> = R extends AsyncGenerator<any, infer T, any> ? Plain<T> : Plain<Awaited<R>>;
type Needed<OS> = [OS] extends [Schema] ? InputOf<OS> : unknown;
/** What a caller gets: the output schema's type, else what the handler returns. */
export type OutputFor<OS, R> = [OS] extends [Schema] ? ParsedOf<OS> : OutputFromReturn<R>;
export type KnobsOf<KS> = [KS] extends [Schema] ? ParsedOf<KS> : Readonly<Record<string, never>>;

/** What a tool's own `check` is given. `input` and `knobs` are its own: changing them changes nothing. */
export interface PolicyCall<I, K, S> {
  readonly input: I;
  readonly knobs: K;
  readonly context: CallInfo<S>;
  allow(): Allow;
  ask(prompt?: string): Ask;
  deny(reason: string, message?: string): Deny;
}

/** A condition on one session fact. */
export type FactRule = { readonly fact: string; readonly equals: JsonPrimitive } | { readonly fact: string; readonly in: readonly JsonPrimitive[] };

/** Everything about a tool but the way it runs. */
export interface ToolSpecBase<Name extends string, P extends Schema, OS extends Schema | undefined, KS extends Schema | undefined, S> {
  /** Stable id: non-blank, at most 1024 characters; untrimmed, non-NFC, control, bidi and invisible characters are refused. */
  name: Name;
  /** What it does and when to use it, for the model. */
  description: string;
  parameters: P;
  /** Enforced: an output that violates it is `invalid_output`. */
  outputSchema?: OS;
  title?: string;
  version?: string;
  category?: string;
  tags?: readonly string[];
  annotations?: ToolAnnotations;
  policy?: {
    /** The tool's settings in a profile. Not given there, they are the parse of `{}`. */
    knobs?: KS;
    /** The tool's own gate, after all rules. One that throws or answers nonsense denies. */
    check?(call: PolicyCall<ParsedOf<P>, KnobsOf<KS>, S>): MaybePromise<Decision>;
  };
  /** Asks a person before the call. A function may decide by the input. @default false */
  requiresApproval?: boolean | ApprovalPrompt | ((input: ParsedOf<P>, context: CallInfo<S>) => MaybePromise<boolean | ApprovalPrompt>);
  /** Milliseconds the handler may run. Starts with the handler: waits for people and slots never count. Above 0, at most 2^31-1. @default the registry's `defaultTimeoutMs` */
  timeoutMs?: number;
  /** Milliseconds without `context.progress()` after which the call times out. Off unless set. */
  idleTimeoutMs?: number;
  /** Facts that must hold for the tool to be available. */
  requires?: readonly FactRule[];
  /** Facts that this tool can bring about; named as prerequisites of the tools that wait for them. */
  provides?: readonly string[];
  /** Whether a batch may run it beside others. @default `annotations.readOnly === true` */
  parallelSafe?: boolean;
  /** Calls with the same key never overlap. */
  resourceKey?: string | ((input: ParsedOf<P>) => string);
  /** Budget of the model-visible output, in UTF-16 code units. */
  maxOutputChars?: number;
  /** Which end is kept when output is cut. @default "head" */
  outputStrategy?: 'head' | 'head_tail';
  /** Calls at once over the whole registry. No bound unless set. */
  maxConcurrency?: number;
  /** The tools that the handler may call by `context.tools.call`. */
  // biome-ignore lint/suspicious/noExplicitAny: any tool may be named, whatever its types.
  uses?: readonly (string | ToolRef<any, any>)[];
  /** The event names that the handler may send by `context.emit`. */
  events?: readonly string[];
  /** `session`: made once a session by `create`. @default "global", or "session" with `create` */
  scope?: 'global' | 'session';
  /** `internal`: never listed, callable through `uses` alone. @default "model" */
  exposure?: 'model' | 'internal';
}

export interface ToolConfig<Name extends string, P extends Schema, OS extends Schema | undefined, KS extends Schema | undefined, S, R> extends ToolSpecBase<Name, P, OS, KS, S> {
  handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R;
  create?: never;
  executor?: never;
}

/** Where a handler runs when it is not inline. `execute` gets the canonical input. */
export interface Executor {
  readonly kind: 'worker' | 'process' | 'remote';
  // biome-ignore lint/suspicious/noExplicitAny: an executor serves tools of any services and knobs.
  execute(input: JsonObject, context: ToolContext<any, any>): Promise<unknown>;
  dispose?(): MaybePromise<void>;
}

export interface ExecutorToolConfig<Name extends string, P extends Schema, OS extends Schema | undefined, KS extends Schema | undefined, S> extends ToolSpecBase<Name, P, OS, KS, S> {
  executor: Executor;
  handler?: never;
  create?: never;
}

export interface SessionToolConfig<Name extends string, P extends Schema, OS extends Schema | undefined, KS extends Schema | undefined, S, R> extends ToolSpecBase<Name, P, OS, KS, S> {
  /** Makes the handler, once a session, at its first call; disposed with the session. */
  create: (session: Omit<CallInfo<S>, 'callId' | 'toolName'>) => MaybePromise<{ handler: (input: ParsedOf<P>, context: ToolContext<S, KnobsOf<KS>>) => R; dispose?(): MaybePromise<void> }>;
  handler?: never;
  executor?: never;
}

export interface DefineTool<S> {
  <
    const Name extends string,
    const P extends Schema,
    const OS extends Schema | undefined = undefined,
    const KS extends Schema | undefined = undefined,
    R extends HandlerReturn<Needed<OS>> = HandlerReturn<Needed<OS>>,
  >(
    config: ToolConfig<Name, P, OS, KS, S, R> | SessionToolConfig<Name, P, OS, KS, S, R> | ExecutorToolConfig<Name, P, OS, KS, S>,
  ): HostToolDefinition<Name, InputOf<P>, OutputFor<OS, R>, KnobsOf<KS>, S>;
}

/** A handler as the library calls it. */
export type RawHandler = (input: unknown, context: ToolContext) => unknown;
export interface MadeHandler {
  readonly handler: RawHandler;
  readonly dispose?: () => MaybePromise<void>;
}

/** The half of a definition that never leaves the library. */
export interface ToolInternals {
  readonly definition: AnyTool;
  readonly input: BoundSchema;
  readonly output: BoundSchema | undefined;
  readonly knobs: BoundSchema | undefined;
  readonly handler: RawHandler | undefined;
  readonly create: ((session: Omit<CallInfo, 'callId' | 'toolName'>) => MaybePromise<MadeHandler>) | undefined;
  readonly executor: Executor | undefined;
  readonly check: ((call: PolicyCall<unknown, unknown, unknown>) => unknown) | undefined;
  readonly requiresApproval: boolean | ApprovalPrompt | ((input: unknown, context: CallInfo) => unknown);
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly requires: readonly FactRule[];
  readonly provides: readonly string[];
  readonly parallelSafe: boolean;
  readonly resourceKey: string | ((input: unknown) => unknown) | undefined;
  readonly maxOutputChars: number | undefined;
  readonly outputStrategy: 'head' | 'head_tail';
  readonly maxConcurrency: number | undefined;
  readonly uses: readonly string[];
  readonly events: readonly string[];
  readonly internal: boolean;
}

/** What is given to {@link createDefinition}: the config with its types forgotten. */
type LooseConfig = { readonly [key: string]: unknown };

const internals = new WeakMap<object, ToolInternals>();
const definitionBrand = Symbol.for('host-tools.definition');
const none: readonly never[] = Object.freeze([]);
const noAnnotations: ToolAnnotations = Object.freeze({});

/** The public face of a definition. Schemas and fingerprint are computed when first read. */
class Definition {
  readonly name: string;
  readonly description: string;
  declare readonly title?: string;
  declare readonly version?: string;
  declare readonly category?: string;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];

  constructor(name: string, description: string, config: LooseConfig, annotations: ToolAnnotations, tags: readonly string[]) {
    this.name = name;
    this.description = description;
    this.annotations = annotations;
    this.tags = tags;
    for (const key of ['title', 'version', 'category'] as const) {
      const value = config[key];
      if (value !== undefined) (this as { title?: unknown; version?: unknown; category?: unknown })[key] = value;
    }
  }

  get parameters(): JsonSchema {
    return internalsOf(this).input.json as JsonSchema;
  }

  get outputSchema(): JsonSchema | undefined {
    return internalsOf(this).output?.json as JsonSchema | undefined;
  }

  get fingerprint(): string {
    return fingerprintOf(this as unknown as AnyTool);
  }
}
Object.defineProperty(Definition.prototype, definitionBrand, { value: true });
Object.freeze(Definition.prototype);

const fingerprints = new WeakMap<object, string>();

function fingerprintOf(definition: AnyTool): string {
  let fingerprint = fingerprints.get(definition);
  if (fingerprint === undefined) {
    const { name, description, version, annotations } = definition;
    const { input, output } = internalsOf(definition);
    const identity: Record<string, JsonValue> = { name, description, parameters: input.json, annotations: annotations as JsonObject };
    if (output !== undefined) identity.outputSchema = output.json;
    if (version !== undefined) identity.version = version;
    fingerprint = `sha256:${createHash('sha256').update(canonicalJson(identity)).digest('hex')}`;
    fingerprints.set(definition, fingerprint);
  }
  return fingerprint;
}

/** The private half of a definition of this copy. @throws MisuseError `foreign_definition` for another copy's, `invalid_definition` for anything else. */
export function internalsOf(definition: unknown): ToolInternals {
  const found = typeof definition === 'object' && definition !== null ? internals.get(definition) : undefined;
  if (found !== undefined) return found;
  if (typeof definition === 'object' && definition !== null && definitionBrand in definition) {
    throw new MisuseError('foreign_definition', `The definition of \`${String((definition as { name?: unknown }).name)}\` was made by another installed copy of host-tools. Deduplicate the dependency, so that defineTool and the registry come from one copy.`);
  }
  throw new MisuseError('invalid_definition', `Expected a definition made by defineTool(), got ${describe(definition)}.`);
}

/** True for a definition that this copy made. */
export function isDefinition(value: unknown): value is AnyTool {
  return typeof value === 'object' && value !== null && internals.has(value);
}

const largestTimeout = 2 ** 31 - 1;
const known = new Set(
  'name description parameters outputSchema handler create executor scope category title version tags annotations requiresApproval timeoutMs idleTimeoutMs policy requires provides exposure parallelSafe resourceKey maxOutputChars outputStrategy maxConcurrency uses events'.split(' '),
);

/**
 * Makes a definition from a config whose types are not known.
 * @param extras Further properties of the definition object, such as a mock's spies.
 * @param trusted False for definitions from outside; their patterns must be ones that RE2 can run.
 */
export function createDefinition(config: LooseConfig, extras?: PropertyDescriptorMap, trusted = true): AnyTool {
  if (typeof config !== 'object' || config === null) throw new MisuseError('invalid_definition', `Expected defineTool() to be given an object, got ${describe(config)}.`);
  const name = checkToolName(config.name);
  const fault = (field: string, expected: string): MisuseError => new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`${field}\` to be ${expected}, got ${describe(config[field])}.`);
  for (const key of Object.keys(config)) {
    if (!known.has(key)) throw new MisuseError('invalid_definition', `Tool \`${name}\`: unknown field \`${key}\`. Known fields: ${[...known].join(', ')}.`);
  }
  const { description } = config;
  if (typeof description !== 'string' || description.trim() === '') throw fault('description', 'a non-blank string that tells the model what the tool does');
  for (const field of ['title', 'version', 'category']) {
    if (config[field] !== undefined && typeof config[field] !== 'string') throw fault(field, 'a string');
  }
  const ways = (['handler', 'create', 'executor'] as const).filter((way) => config[way] !== undefined);
  if (ways.length !== 1) throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected exactly one of \`handler\`, \`create\` or \`executor\`, got ${ways.length === 0 ? 'none' : ways.join(' and ')}.`);
  if (config.handler !== undefined && typeof config.handler !== 'function') throw fault('handler', 'a function');
  if (config.create !== undefined && typeof config.create !== 'function') throw fault('create', 'a function');
  const executor = config.executor as Executor | undefined;
  if (executor !== undefined && (typeof executor !== 'object' || executor === null || typeof executor.execute !== 'function')) throw fault('executor', 'an object with `kind` and `execute`');
  for (const field of ['timeoutMs', 'idleTimeoutMs'] as const) {
    const value = config[field];
    if (value !== undefined && !(typeof value === 'number' && value > 0 && value <= largestTimeout)) throw fault(field, `a number of milliseconds above 0 and at most ${largestTimeout}`);
  }
  for (const field of ['maxOutputChars', 'maxConcurrency'] as const) {
    const value = config[field];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) > 0)) throw fault(field, 'a positive integer');
  }
  const scope = config.scope ?? (config.create === undefined ? 'global' : 'session');
  if (scope !== 'global' && scope !== 'session') throw fault('scope', '"global" or "session"');
  if (scope === 'session' && config.create === undefined) throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`create\` with \`scope: "session"\`, got \`${ways[0]}\`. A session-scoped handler is made by \`create(session)\`, once a session.`);
  if (scope === 'global' && config.create !== undefined) throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`handler\` with \`scope: "global"\`, got \`create\`.`);
  if (config.exposure !== undefined && config.exposure !== 'model' && config.exposure !== 'internal') throw fault('exposure', '"model" or "internal"');
  if (config.outputStrategy !== undefined && config.outputStrategy !== 'head' && config.outputStrategy !== 'head_tail') throw fault('outputStrategy', '"head" or "head_tail"');
  if (config.parallelSafe !== undefined && typeof config.parallelSafe !== 'boolean') throw fault('parallelSafe', 'a boolean');
  if (config.resourceKey !== undefined && typeof config.resourceKey !== 'string' && typeof config.resourceKey !== 'function') throw fault('resourceKey', 'a string or a function of the input');
  const policy = (config.policy ?? {}) as { knobs?: unknown; check?: unknown };
  if (typeof policy !== 'object' || policy === null) throw fault('policy', 'an object with `knobs` and `check`');
  if (policy.check !== undefined && typeof policy.check !== 'function') throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`policy.check\` to be a function, got ${describe(policy.check)}.`);
  const annotations = readAnnotations(config.annotations, fault);
  const tags = config.tags === undefined ? none : readStrings('tags', config.tags, fault);
  const where = `Tool \`${name}\``;
  const definition = new Definition(name, description, config, annotations, tags);
  const entry: ToolInternals = {
    definition: definition as unknown as AnyTool,
    input: bindSchema(config.parameters, { direction: 'input', where: `${where}, \`parameters\``, objectOnly: true, trusted }),
    output: config.outputSchema === undefined ? undefined : bindSchema(config.outputSchema, { direction: 'output', where: `${where}, \`outputSchema\``, objectOnly: false, trusted }),
    knobs: policy.knobs === undefined ? undefined : bindSchema(policy.knobs, { direction: 'input', where: `${where}, \`policy.knobs\``, objectOnly: true, trusted: true }),
    handler: config.handler as RawHandler | undefined,
    create: config.create as ToolInternals['create'],
    executor,
    check: policy.check === undefined ? undefined : (policy.check.bind(policy) as ToolInternals['check']),
    requiresApproval: readApproval(config.requiresApproval, fault),
    timeoutMs: config.timeoutMs as number | undefined,
    idleTimeoutMs: config.idleTimeoutMs as number | undefined,
    requires: config.requires === undefined ? none : readFactRules(config.requires, fault),
    provides: config.provides === undefined ? none : readStrings('provides', config.provides, fault),
    parallelSafe: (config.parallelSafe as boolean | undefined) ?? annotations.readOnly === true,
    resourceKey: config.resourceKey as ToolInternals['resourceKey'],
    maxOutputChars: config.maxOutputChars as number | undefined,
    outputStrategy: (config.outputStrategy as 'head' | 'head_tail' | undefined) ?? 'head',
    maxConcurrency: config.maxConcurrency as number | undefined,
    uses: config.uses === undefined ? none : readUses(config.uses, fault),
    events: config.events === undefined ? none : readStrings('events', config.events, fault),
    internal: config.exposure === 'internal',
  };
  if (extras !== undefined) Object.defineProperties(definition, extras);
  internals.set(definition, entry);
  return Object.freeze(definition) as unknown as AnyTool;
}

/** What `ToolRegistration.update` may change. */
export interface DefinitionPatch {
  readonly description?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly requiresApproval?: boolean | undefined;
}

/** A definition like another, but for a patch. Same handler, same schemas; the fingerprint follows the description. @throws MisuseError, and changes nothing, when the patch is bad. */
export function patchDefinition(definition: AnyTool, patch: DefinitionPatch): AnyTool {
  const base = internalsOf(definition);
  const { name } = definition;
  for (const key of Object.keys(patch)) {
    if (key !== 'description' && key !== 'timeoutMs' && key !== 'requiresApproval') throw new MisuseError('invalid_definition', `Tool \`${name}\`: \`update\` changes description, timeoutMs and requiresApproval only, got \`${key}\`. Replace the definition for anything else.`);
  }
  const { description = definition.description, timeoutMs = base.timeoutMs, requiresApproval } = patch;
  if (typeof description !== 'string' || description.trim() === '') throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`description\` to be a non-blank string, got ${describe(description)}.`);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= largestTimeout)) throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`timeoutMs\` to be a number of milliseconds above 0 and at most ${largestTimeout}, got ${describe(timeoutMs)}.`);
  if (requiresApproval !== undefined && typeof requiresApproval !== 'boolean') throw new MisuseError('invalid_definition', `Tool \`${name}\`: expected \`requiresApproval\` to be a boolean, got ${describe(requiresApproval)}.`);
  const { title, version, category } = definition;
  const patched = new Definition(name, description, { title, version, category }, definition.annotations, definition.tags);
  internals.set(patched, { ...base, definition: patched as unknown as AnyTool, timeoutMs, requiresApproval: requiresApproval ?? base.requiresApproval });
  return Object.freeze(patched) as unknown as AnyTool;
}

/** A definition like another under another name, for a scope's prefix. */
export function renameDefinition(definition: AnyTool, name: string): AnyTool {
  const base = internalsOf(definition);
  const { description, title, version, category, annotations, tags } = definition;
  const renamed = new Definition(checkToolName(name), description, { title, version, category }, annotations, tags);
  internals.set(renamed, { ...base, definition: renamed as unknown as AnyTool });
  return Object.freeze(renamed) as unknown as AnyTool;
}

type FaultOf = (field: string, expected: string) => MisuseError;

function readAnnotations(value: unknown, fault: FaultOf): ToolAnnotations {
  if (value === undefined) return noAnnotations;
  if (typeof value !== 'object' || value === null) throw fault('annotations', 'an object of booleans');
  const kept: Record<string, boolean> = {};
  for (const [key, item] of Object.entries(value)) {
    if (!['readOnly', 'destructive', 'idempotent', 'openWorld'].includes(key)) throw fault('annotations', `an object with readOnly, destructive, idempotent and openWorld only (\`${key}\` is unknown)`);
    if (item === undefined) continue;
    if (typeof item !== 'boolean') throw fault('annotations', `an object of booleans (\`${key}\` is ${describe(item)})`);
    kept[key] = item;
  }
  return Object.freeze(kept);
}

function readStrings(field: string, value: unknown, fault: FaultOf): readonly string[] {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string' || item === '')) throw fault(field, 'an array of non-empty strings');
  return Object.freeze([...value] as string[]);
}

function readUses(value: unknown, fault: FaultOf): readonly string[] {
  if (!Array.isArray(value)) throw fault('uses', 'an array of tool names or definitions');
  return Object.freeze(
    value.map((item: unknown) => {
      if (typeof item === 'string' && item !== '') return item;
      if (isDefinition(item)) return item.name;
      throw fault('uses', 'an array of tool names or definitions');
    }),
  );
}

function readFactRules(value: unknown, fault: FaultOf): readonly FactRule[] {
  const expected = 'an array of { fact, equals } or { fact, in: [...] }';
  if (!Array.isArray(value)) throw fault('requires', expected);
  const isPrimitive = (item: unknown): boolean => item === null || typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean';
  return Object.freeze(
    value.map((rule: { fact?: unknown; equals?: unknown; in?: unknown }): FactRule => {
      if (typeof rule !== 'object' || rule === null || typeof rule.fact !== 'string' || rule.fact === '') throw fault('requires', expected);
      if (Array.isArray(rule.in) && rule.equals === undefined && rule.in.every(isPrimitive)) return Object.freeze({ fact: rule.fact, in: Object.freeze([...rule.in]) as readonly JsonPrimitive[] });
      if (rule.in === undefined && isPrimitive(rule.equals)) return Object.freeze({ fact: rule.fact, equals: rule.equals as JsonPrimitive });
      throw fault('requires', expected);
    }),
  );
}

function readApproval(value: unknown, fault: FaultOf): ToolInternals['requiresApproval'] {
  if (value === undefined) return false;
  if (typeof value === 'boolean' || typeof value === 'function') return value as ToolInternals['requiresApproval'];
  const prompt = readPrompt(value);
  if (prompt === undefined) throw fault('requiresApproval', 'a boolean, { title, message?, risk? }, or a function that answers either');
  return prompt;
}

/** Reads an approval prompt exactly; undefined when it is none. */
export function readPrompt(value: unknown): ApprovalPrompt | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { title, message, risk } = value as Record<string, unknown>;
  if (typeof title !== 'string' || title === '' || (message !== undefined && typeof message !== 'string')) return undefined;
  if (risk !== undefined && risk !== 'low' && risk !== 'medium' && risk !== 'high') return undefined;
  return deepFreeze({ title, ...(message === undefined ? {} : { message }), ...(risk === undefined ? {} : { risk }) });
}

/**
 * Defines a tool: checks everything at once and throws a {@link MisuseError} that names the tool, the field, what was expected and what came.
 * `defineTool.for<Services>()` gives the same function over typed `context.services`.
 */
export const defineTool: DefineTool<unknown> & { for<Services>(): DefineTool<Services> } = Object.assign(((config: LooseConfig) => createDefinition(config)) as unknown as DefineTool<unknown>, {
  for: <Services>(): DefineTool<Services> => defineTool as unknown as DefineTool<Services>,
});
