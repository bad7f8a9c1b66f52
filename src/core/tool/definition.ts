/**
 * Definitions of tools. They are opaque and frozen. The code that runs a tool is in a WeakMap that
 * only the library reads.
 */

import type { ApprovalPrompt } from '../../api/approval.ts';
import type { CallInfo, ToolContext } from '../../api/context.ts';
import type { OutputOrigin, Role } from '../../api/origins.ts';
import type {
  AnyTool,
  DefinitionPatch,
  Deprecation,
  FactRule,
  ToolAnnotations,
} from '../../api/tool.ts';
import type { Executor } from '../../api/tool-config.ts';
import type { PolicyCall } from '../../api/tool-fields.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { type JsonObject, wellFormedJson } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { checkOption, duration, flag, wrongOption } from '../../values/options/index.ts';
import type { BoundSchema } from '../../values/schema/bind.ts';
import type { JsonSchema } from '../../values/schema/schema.ts';
import { shownSchema } from '../../values/schema/to-json-schema.ts';
import { checkToolName } from '../../values/text/names.ts';
import type { ReadAttributes } from './attributes.ts';
import type { MarkParts } from './check-marks.ts';
import { digestOf } from './fingerprint.ts';
import type { ReadNeeds } from './read-needs.ts';
import type { ReadUi } from './read-ui.ts';

/** A handler as the library calls it. */
export type RawHandler = (input: unknown, context: ToolContext) => unknown;
/** What takes a call back, as the library calls it. */
export type Revert = (output: unknown, input: unknown, context: ToolContext) => unknown;
/** What `create` returns. */
export interface MadeHandler {
  readonly handler: RawHandler;
  readonly dispose?: () => MaybePromise<void>;
}

/** Where a definition from outside is registered: a registry or a session. */
export interface OutsidePlace {
  /** The definition was withdrawn, or is valid again: the listings are updated. */
  changed(): void;
  /**
   * Replaces the definition with a later one of the same tool. The host's own settings on the tool
   * are kept.
   */
  replace(definition: AnyTool): void;
}

/** What a later definition from outside becomes in the place of a tool; undefined to disable it. */
export type Later = (
  definition: AnyTool,
  entry: { readonly name: string; readonly source: string; readonly internals: ToolInternals },
  registry: {
    readonly parts: MarkParts;
    hostFault(thrown: unknown, where: object, message: string): void;
  },
) => AnyTool | undefined;

/** Labels of fields by dotted path. */
export interface FieldLabels {
  /** The origins of the texts of output fields. */
  readonly origins?: Readonly<Record<string, OutputOrigin>> | undefined;
  /** The roles of input fields. */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
}

/** Links a definition from outside, such as an imported one, to its origin. */
export interface OutsideOrigin {
  /**
   * The origin's name, such as `mcp:files`. It is the tool's source for rules, approvals and
   * events, whoever registers the tool.
   */
  readonly source: string;
  /** The host's labels for its fields. They override its schemas; profiles override them. */
  readonly labels?: FieldLabels | undefined;
  /**
   * What else the origin says about the tool, such as its title. No gate reads it, but the
   * fingerprint covers it.
   */
  readonly said?: JsonObject | undefined;
  /**
   * Why the definition must not be called now, as a `reason`; undefined while it is valid. Read at
   * each call.
   */
  withdrawn(): string | undefined;
  /** Called for each place where the definition is registered. The place must be held weakly. */
  onRegistered(place: OutsidePlace): void;
}

/** How long calls of a tool run, how many at once, and how much they return. */
export interface ToolExecution {
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly parallelSafe: boolean;
  readonly resourceKey: string | ((input: unknown) => unknown) | undefined;
  readonly maxConcurrency: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly outputStrategy: 'head' | 'head_tail' | 'offload';
  /** Whether they may, or must, outlive the request of a client; undefined for neither. */
  readonly task: 'optional' | 'required' | undefined;
}

/** The part of a definition that never leaves the library. */
export interface ToolInternals {
  readonly definition: AnyTool;
  readonly input: BoundSchema;
  readonly output: BoundSchema | undefined;
  readonly knobs: BoundSchema | undefined;
  readonly handler: RawHandler | undefined;
  readonly create:
    | ((session: Omit<CallInfo, 'callId' | 'toolName'>) => MaybePromise<MadeHandler>)
    | undefined;
  readonly executor: Executor | undefined;
  /** `inline`, the name that the executor gives, or `external` if other code runs the tool. */
  readonly runsIn: string;
  readonly check: ((call: PolicyCall<unknown, unknown, unknown>) => unknown) | undefined;
  readonly requiresApproval:
    | boolean
    | ApprovalPrompt
    | ((input: unknown, context: CallInfo) => unknown);
  readonly attributes: ReadAttributes | undefined;
  readonly execution: ToolExecution;
  readonly requires: readonly FactRule[];
  readonly provides: readonly string[];
  /** The origin of the text of its output, unless a field has its own label. */
  readonly origin: OutputOrigin;
  /** The host has set {@link origin} itself. */
  readonly originGiven: boolean;
  readonly uses: readonly string[];
  readonly events: readonly string[];
  /** What the caller's token must grant; undefined for nothing. */
  readonly scopes: readonly string[] | undefined;
  /** The credentials that it needs, by name; undefined for none. */
  readonly credentials: ReadNeeds | undefined;
  /** Takes a call back, given its output and its input. */
  readonly revert: Revert | undefined;
  readonly internal: boolean;
  /** Present for definitions from outside. */
  readonly outside: OutsideOrigin | undefined;
  readonly later: Later | undefined;
  readonly ui: ReadUi | undefined;
}

const internals = new WeakMap<object, ToolInternals>();
const definitionBrand = Symbol.for('host-tools.definition');

/** The members of a definition that are public and unchanged. */
export interface DefinitionFace {
  readonly name: string;
  readonly description: string;
  readonly title: string | undefined;
  readonly version: string | undefined;
  readonly category: string | undefined;
  readonly deprecated: Deprecation | undefined;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];
}

/** The public part of a definition. Schemas and fingerprint are computed on first read. */
class Definition {
  readonly name: string;
  readonly description: string;
  declare readonly title?: string;
  declare readonly version?: string;
  declare readonly category?: string;
  declare readonly deprecated?: Deprecation;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];

  constructor(face: DefinitionFace) {
    const { name, description, title, version, category, deprecated, annotations, tags } = face;
    this.name = name;
    // What models and people read. Rules go by the name, the tags and the annotations.
    this.description = description.toWellFormed();
    this.annotations = annotations;
    this.tags = tags;
    if (title !== undefined) this.title = title.toWellFormed();
    if (version !== undefined) this.version = version;
    if (category !== undefined) this.category = category;
    if (deprecated !== undefined) this.deprecated = Object.freeze(wellFormedJson(deprecated));
  }

  get parameters(): JsonSchema {
    return shownSchema(internalsOf(this).input.json) as JsonSchema;
  }

  get outputSchema(): JsonSchema | undefined {
    const { output } = internalsOf(this);
    return output && (shownSchema(output.json) as JsonSchema);
  }

  get fingerprint(): string {
    return fingerprintOf(this as AnyTool);
  }
}
Object.defineProperty(Definition.prototype, definitionBrand, { value: true });
Object.freeze(Definition.prototype);

const fingerprints = new WeakMap<object, string>();

function fingerprintOf(definition: AnyTool): string {
  let fingerprint = fingerprints.get(definition);
  if (fingerprint === undefined) {
    const { input, output, outside, ui } = internalsOf(definition);
    fingerprint = digestOf(definition, input.json, output?.json, outside?.said ?? ui?.said);
    fingerprints.set(definition, fingerprint);
  }
  return fingerprint;
}

/**
 * Returns the private part of a definition that this copy of the library made.
 * @throws MisuseError `foreign_definition` for one of another copy, `invalid_definition` for
 * anything else.
 */
export function internalsOf(definition: unknown): ToolInternals {
  const found =
    typeof definition === 'object' && definition !== null ? internals.get(definition) : undefined;
  if (found !== undefined) return found;
  if (typeof definition === 'object' && definition !== null && definitionBrand in definition) {
    throw new MisuseError(
      'foreign_definition',
      `The definition of \`${String((definition as { name?: unknown }).name)}\` was made by ` +
        'another installed copy of host-tools. Deduplicate the dependency.',
    );
  }
  throw new MisuseError(
    'invalid_definition',
    `Expected a definition made by defineTool(), got ${describe(definition)}.`,
  );
}

/** True for a definition that this copy of the library made. */
export function isDefinition(value: unknown): value is AnyTool {
  return typeof value === 'object' && value !== null && internals.has(value);
}

/**
 * Makes a frozen definition. `rest` becomes its private part: it is kept, not copied. `extras` are
 * further properties, such as a mock's spies.
 */
export function seal(
  face: DefinitionFace,
  rest: Omit<ToolInternals, 'definition'> & { definition?: AnyTool },
  extras?: PropertyDescriptorMap,
): AnyTool {
  const definition = new Definition(face);
  if (extras !== undefined) Object.defineProperties(definition, extras);
  rest.definition = definition as AnyTool;
  internals.set(definition, rest as ToolInternals);
  return Object.freeze(definition) as AnyTool;
}

/**
 * Returns a copy of a definition with the patch applied. The handler and the schemas stay the same;
 * the fingerprint follows the description.
 * @throws MisuseError `invalid_definition`.
 */
export function patchDefinition(definition: AnyTool, patch: DefinitionPatch): AnyTool {
  const base = internalsOf(definition);
  const { name } = definition;
  for (const key of Object.keys(patch)) {
    if (key !== 'description' && key !== 'timeoutMs' && key !== 'requiresApproval')
      throw new MisuseError(
        'invalid_definition',
        `Tool \`${name}\`: \`update\` can change description, timeoutMs and ` +
          `requiresApproval, got \`${key}\`. Replace the definition to change anything else.`,
      );
  }
  const {
    description = definition.description,
    timeoutMs = base.execution.timeoutMs,
    requiresApproval,
  } = patch;
  const where = `Tool \`${name}\``;
  const wording = { code: 'invalid_definition' } as const;
  if (typeof description !== 'string' || description.trim() === '')
    throw wrongOption(where, 'description', 'a non-blank string', description, wording);
  if (timeoutMs !== undefined) checkOption(where, 'timeoutMs', timeoutMs, duration, wording);
  if (requiresApproval !== undefined)
    checkOption(where, 'requiresApproval', requiresApproval, flag, wording);
  return seal(
    { ...faceOf(definition), description },
    {
      ...base,
      execution: { ...base.execution, timeoutMs },
      requiresApproval: requiresApproval ?? base.requiresApproval,
    },
  );
}

function faceOf({
  name,
  description,
  title,
  version,
  category,
  deprecated,
  annotations,
  tags,
}: AnyTool): DefinitionFace {
  return { name, description, title, version, category, deprecated, annotations, tags };
}

/** Returns a copy of a definition under another name, for a scope's prefix. */
export function renameDefinition(definition: AnyTool, name: string): AnyTool {
  return seal({ ...faceOf(definition), name: checkToolName(name) }, { ...internalsOf(definition) });
}

/**
 * Returns a copy of a definition that runs nothing. It has no handler, and none of the host's code
 * that decides about calls. Plain data stays, such as a `requiresApproval` that is not a function.
 * @param hostGates Keeps that code: `check` and `requiresApproval`.
 */
export function inertDefinition(definition: AnyTool, hostGates = false): AnyTool {
  const base = internalsOf(definition);
  const { check, requiresApproval } = base;
  return seal(faceOf(definition), {
    ...base,
    handler: undefined,
    create: undefined,
    executor: undefined,
    revert: undefined,
    check: hostGates ? check : undefined,
    requiresApproval:
      typeof requiresApproval === 'function' && !hostGates ? false : requiresApproval,
  });
}
