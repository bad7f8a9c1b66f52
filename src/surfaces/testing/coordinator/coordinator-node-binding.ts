/**
 * A stand-in for the runtime's Node binding, as strict as the real one: it takes and returns JSON
 * text, and denies if it cannot read an answer.
 */

import type { CancellationPort, HookResult } from '../../../core.ts';
import { type JsonValue, wellFormedJson } from '../../../values/json/index.ts';
import {
  anything,
  flag,
  fn,
  readOptions,
  type TableOf,
  withDefault,
} from '../../../values/options/index.ts';
import type { NodeBinding, NodeHookResult, NodeHooks } from '../../amplifier/node-binding-port.ts';
import { createTestHooks, type TestHooks } from './coordinator-hooks.ts';

/** Options of {@link createTestNodeBinding}. */
export interface TestNodeBindingOptions {
  /** The registry behind `hooks`. @default an empty one */
  readonly hooks?: TestHooks | undefined;
  /** The binding's `cancellation`. @default a token that is never cancelled */
  readonly cancellation?: CancellationPort | undefined;
  /** The binding's `config`. @default {} */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** The map that holds the capabilities, as values. @default an empty map */
  readonly capabilities?: Map<string, unknown> | undefined;
  /** Computes what the binding's `toDict` returns. @default empty lists */
  readonly toDict?: (() => object) | undefined;
  /** Called by the binding's `cleanup`. */
  readonly onCleanup?: (() => void | Promise<void>) | undefined;
  /**
   * Whether a promise from a handler is awaited, as newer bindings do. Older bindings treat it as a
   * failed handler. @default false
   */
  readonly awaitsHandlers?: boolean | undefined;
  /**
   * Whether each read of `hooks` returns a separate, empty registry, as in the oldest bindings.
   * @default false
   */
  readonly detachedHooks?: boolean | undefined;
}

/** A {@link NodeBinding} that records the errors that would end the process of a real one. */
export interface TestNodeBinding extends NodeBinding {
  /** With all members, also those that older bindings lack. */
  readonly hooks: Required<NodeHooks>;
  /** The token of the options. */
  readonly cancellation: CancellationPort;
  /** The options' `config`, as JSON text. */
  readonly config: string;
  /** The tools of the binding's own side. Tools that JavaScript mounts are never listed. */
  readonly toolNames: string[];
  /** Empty: a test has no providers. */
  readonly providerNames: string[];
  /** False: a test has none. */
  readonly hasOrchestrator: boolean;
  /** False: a test has none. */
  readonly hasContext: boolean;
  /** Does nothing. A real binding forgets what it injected in the turn. */
  resetTurn(): void;
  /** Returns a summary of what is mounted, as a real binding does. */
  toDict(): object;
  /** The errors that handlers threw. Each may end the process of a real binding. */
  readonly fatal: readonly unknown[];
  /** How often `cleanup` was called. */
  readonly cleanups: number;
}

const bindingTable = {
  hooks: anything<TestHooks>(),
  cancellation: anything<CancellationPort>(),
  config: withDefault(anything<NonNullable<TestNodeBindingOptions['config']>>(), Object.freeze({})),
  capabilities: anything<Map<string, unknown>>(),
  toDict: fn<NonNullable<TestNodeBindingOptions['toDict']>>(),
  onCleanup: fn<NonNullable<TestNodeBindingOptions['onCleanup']>>(),
  awaitsHandlers: withDefault(flag, false),
  detachedHooks: withDefault(flag, false),
} satisfies TableOf<TestNodeBindingOptions>;

/**
 * Makes a stand-in for the binding, for {@link fromNodeBinding}. Arguments of the wrong kind throw
 * a TypeError, as native ones do.
 *
 * @example
 * ```ts
 * import { fromNodeBinding } from 'host-tools/amplifier';
 * import { createTestNodeBinding } from 'host-tools/testing';
 *
 * const coordinator = fromNodeBinding(createTestNodeBinding());
 * ```
 */
export function createTestNodeBinding(given?: TestNodeBindingOptions): TestNodeBinding {
  const options = readOptions('createTestNodeBinding', given, bindingTable);
  const { config, awaitsHandlers, detachedHooks } = options;
  const { hooks = createTestHooks(), capabilities = new Map<string, unknown>() } = options;
  const fatal: unknown[] = [];
  let cleanups = 0;
  const none: CancellationPort = { isCancelled: false, isGraceful: false, isImmediate: false };
  return {
    // Each read returns a new object over the same registry, as native getters do.
    get hooks() {
      return nodeHooks(detachedHooks ? createTestHooks() : hooks, fatal, awaitsHandlers);
    },
    get cancellation() {
      return options.cancellation ?? none;
    },
    get config() {
      return JSON.stringify(config);
    },
    toolNames: [],
    providerNames: [],
    hasOrchestrator: false,
    hasContext: false,
    registerCapability(name, valueJson) {
      capabilities.set(text('name', name), parsed(text('valueJson', valueJson)));
    },
    getCapability(name) {
      return capabilities.has(text('name', name))
        ? (JSON.stringify(capabilities.get(name)) ?? null)
        : null;
    },
    resetTurn() {},
    toDict: () =>
      options.toDict?.() ?? {
        tools: [],
        providers: [],
        has_orchestrator: false,
        has_context: false,
        capabilities: [...capabilities.keys()],
      },
    async cleanup() {
      cleanups += 1;
      await options.onCleanup?.();
    },
    fatal,
    get cleanups() {
      return cleanups;
    },
  };
}

function nodeHooks(
  hooks: TestHooks,
  fatal: unknown[],
  awaitsHandlers: boolean,
): Required<NodeHooks> {
  return {
    register(event, handler, priority, name) {
      text('event', event);
      text('name', name);
      if (typeof handler !== 'function') throw new TypeError('Expected `handler` to be a function');
      if (!Number.isInteger(priority) || Math.abs(priority) > 2 ** 31 - 1)
        throw new TypeError('Expected `priority` to be a 32-bit integer');
      hooks.register(
        event,
        async (emitted, data) => {
          let answer: unknown;
          try {
            answer = handler(emitted, JSON.stringify(data));
            if (awaitsHandlers) answer = await answer;
          } catch (error) {
            fatal.push(error);
            throw error;
          }
          if (answer instanceof Promise) answer.catch((error: unknown) => fatal.push(error));
          if (typeof answer !== 'string')
            throw new TypeError('Failed to convert the handler\u2019s answer into a string');
          return (
            readAnswer(answer) ?? {
              action: 'deny',
              reason: 'Hook handler returned invalid response',
            }
          );
        },
        priority,
        name,
      );
    },
    async emit(event, dataJson) {
      text('event', event);
      const data = parsed(text('dataJson', dataJson));
      // Handlers run on a later turn, since the native side calls them back and never directly.
      await Promise.resolve();
      return toNode(await hooks.emit(event, isRecord(data) ? data : {}));
    },
    listHandlers: () => Object.fromEntries(hooks.listHandlers()),
    setDefaultFields(defaultsJson) {
      const defaults = parsed(text('defaultsJson', defaultsJson));
      hooks.setDefaultFields(isRecord(defaults) ? defaults : {});
    },
  };
}

/**
 * The values that each field of an answer may have. One invalid field makes the whole answer
 * invalid.
 */
const fields: Readonly<Record<keyof HookResult, (value: unknown) => boolean>> = {
  action: oneOf('continue', 'deny', 'modify', 'inject_context', 'ask_user'),
  data: optional(isRecord),
  reason: optional(isText),
  context_injection: optional(isText),
  context_injection_role: oneOf('system', 'user', 'assistant'),
  ephemeral: isBoolean,
  append_to_last_tool_result: isBoolean,
  suppress_output: isBoolean,
  user_message: optional(isText),
  user_message_level: oneOf('info', 'warning', 'error'),
  user_message_source: optional(isText),
  approval_prompt: optional(isText),
  approval_options: optional((value) => Array.isArray(value) && value.every(isText)),
  approval_timeout: (value) => typeof value === 'number',
  approval_default: oneOf('allow', 'deny'),
};

function readAnswer(json: string): HookResult | undefined {
  let answer: unknown;
  try {
    answer = parsed(json);
  } catch {
    return undefined;
  }
  if (!isRecord(answer)) return undefined;
  for (const [field, accepts] of Object.entries(fields))
    if (Object.hasOwn(answer, field) && !accepts(answer[field])) return undefined;
  return { action: 'continue', ...answer } as HookResult;
}

/** The value of a JSON text. Half of a character makes it invalid, as in the real binding. */
function parsed(json: string): unknown {
  const value = JSON.parse(json) as JsonValue | object;
  if (wellFormedJson(value) !== value) throw new SyntaxError('A lone surrogate in a JSON text');
  return value;
}

function toNode(result: HookResult): NodeHookResult {
  const node: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(result)) {
    if (value === null || value === undefined || unseen.has(field)) continue;
    const name = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    node[name] = enumerated.has(field) ? pascal(String(value)) : value;
  }
  return node as unknown as NodeHookResult;
}

const unseen: ReadonlySet<string> = new Set([
  'data',
  'approval_options',
  'append_to_last_tool_result',
]);
const enumerated: ReadonlySet<string> = new Set([
  'action',
  'context_injection_role',
  'user_message_level',
  'approval_default',
]);

function pascal(snake: string): string {
  return snake
    .split('_')
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('');
}

function text(parameter: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`Expected \`${parameter}\` to be a string`);
  return value;
}
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function isText(value: unknown): boolean {
  return typeof value === 'string';
}
function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}
function oneOf(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && allowed.includes(value);
}
function optional(check: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === null || check(value);
}
