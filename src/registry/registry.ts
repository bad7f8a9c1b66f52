/** The registry: holds definitions, rules, profiles and scopes; makes sessions. */

import { exemplars } from '../call/exemplars.ts';
import { interrupts } from '../call/interrupt.ts';
import { describe, MisuseError } from '../errors.ts';
import type { Emitter, ToolEvents } from '../events.ts';
import {
  anything,
  checkOption,
  kind,
  readOptions,
  type TableOf,
  text,
  withDefault,
} from '../options.ts';
import type { Profile } from '../policy/profile.ts';
import type { Rule } from '../policy/rule.ts';
import { closeAutomatically } from '../session/auto-close.ts';
import { closeSession } from '../session/close.ts';
import { checkOverrides, Session } from '../session/session.ts';
import type { ToolSession } from '../session/session-api.ts';
import { readSessionOptions, type SessionOptions } from '../session/session-options.ts';
import { checkDefinition } from '../state/check-definition.ts';
import { defineProfile } from '../state/define-profile.ts';
import { releaseExecutor, retainExecutor } from '../state/executors.ts';
import {
  Registration,
  type ToolRegistration,
  type ToolTable,
  tellOrigin,
} from '../state/registration.ts';
import type { RegistryOptions } from '../state/registry-options.ts';
import { RegistryState } from '../state/registry-state.ts';
import { SessionState } from '../state/session-state.ts';
import { ToolEntry } from '../state/tool-entry.ts';
import { nameSkeleton } from '../text/names.ts';
import type { HostTool } from '../tool/host-tool.ts';
import type { AnyTool } from '../tool/tool-config.ts';
import { createScope, type ToolScope } from './scope.ts';

const host = 'host';
const scopeTable = {
  prefix: withDefault(text(), ''),
  rules: anything<readonly Rule[]>(),
} satisfies TableOf<ScopeOptions>;
const scopeSource = kind<string>(
  'a non-blank string other than "host" and "session"',
  (value) =>
    typeof value === 'string' && value.trim() !== '' && value !== host && value !== 'session',
);

/**
 * The state behind a registry, undefined for what is none. Set by the class, the only code that can
 * read the private field.
 */
export let readState: (registry: object) => RegistryState | undefined;

/** What {@link HostToolRegistry.scope} may be given. */
export interface ScopeOptions {
  /** Stands before the name of each of the scope's tools. @default "" */
  readonly prefix?: string | undefined;
  /** Rules for the scope's own tools. @default none */
  readonly rules?: readonly Rule[] | undefined;
}

/**
 * Holds definitions, and makes sessions over them. Mutating calls are synchronous and throw a
 * {@link MisuseError} at a host's mistake, changing nothing.
 * @typeParam S What its tools need as `context.services`.
 *
 * @example
 * ```ts
 * import { defineTool, HostToolRegistry } from 'host-tools';
 * import { z } from 'zod';
 *
 * const registry = new HostToolRegistry({ rules: [{ effect: 'ask', tools: 'delete_*' }] });
 * registry.register(
 *   defineTool({
 *     name: 'delete_file',
 *     description: 'Deletes a file of the project.',
 *     parameters: z.object({ path: z.string() }),
 *     handler: async ({ path }) => `${path} is gone`,
 *   }),
 * );
 * const session = registry.createSession({ sessionId: 's1', approver: () => 'allow_once' });
 * const result = await session.call('delete_file', { path: 'a.txt' });
 * ```
 */
export class HostToolRegistry<S = unknown> {
  readonly #state: RegistryState;
  readonly #table: ToolTable;
  readonly #scopes = new Set<string>();
  #closing: Promise<void> | undefined;

  static {
    readState = (registry) => (#state in registry ? registry.#state : undefined);
  }

  constructor(options: RegistryOptions<S> = {}) {
    const state = new RegistryState(options as RegistryOptions<never>, interrupts);
    state.exemplars = exemplars();
    this.#state = state;
    this.#table = {
      get: (name) => state.tools.get(name),
      replace: (entry) => this.#put(entry),
      remove: (entry) => this.#remove([entry]),
      changed: ({ name }) => this.#tell({ modified: [name] }),
      waits: state.waits,
    };
  }

  /**
   * Adds a tool. @throws MisuseError `duplicate_name`, `name_conflict` for a twin of another name,
   * `invalid_schema`, `foreign_definition`.
   *
   * @example
   * ```ts
   * const registration = registry.register(add);
   * // later: registration.unregister();
   * ```
   */
  register(definition: AnyTool<S>): ToolRegistration {
    return this.#add([definition], host)[0] as ToolRegistration;
  }

  /** All or nothing. One `tools:changed`. */
  registerAll(definitions: readonly AnyTool<S>[]): readonly ToolRegistration[] {
    return this.#add(definitions, host);
  }

  /**
   * True when it replaced; the tool then keeps its place. Calls in flight finish on the definition
   * they started on.
   */
  registerOrReplace(definition: AnyTool<S>): boolean {
    const state = this.#state;
    this.#checkOpen('register a tool');
    checkDefinition(definition as AnyTool, state);
    const before = state.tools.get(definition.name);
    if (before === undefined) {
      this.#add([definition], host);
      return false;
    }
    if (before.owner !== host)
      throw new MisuseError(
        'name_conflict',
        `The tool \`${definition.name}\` belongs to \`${before.owner}\`; only that scope can ` +
          'replace it.',
      );
    const entry = new ToolEntry(definition as AnyTool, host, state.waits);
    this.#put(entry);
    tellOrigin(new Registration(this.#table, entry), entry);
    return true;
  }

  /** False when there is none of this name. */
  unregister(name: string): boolean {
    const entry = this.#state.tools.get(name);
    if (entry === undefined) return false;
    this.#remove([entry]);
    return true;
  }

  /** The definition of this name; undefined when there is none. */
  get(name: string): AnyTool<S> | undefined {
    return this.#state.tools.get(name)?.definition as AnyTool<S> | undefined;
  }

  /** In insertion order; a replacement keeps its place. */
  listTools(): readonly AnyTool<S>[] {
    return [...this.#state.tools.values()].map(({ definition }) => definition as AnyTool<S>);
  }

  /** Names, in the order of `listTools`. */
  listNames(): readonly string[] {
    return [...this.#state.tools.keys()];
  }

  /** Removes every tool; how many there were. */
  clear(): number {
    const entries = [...this.#state.tools.values()];
    if (entries.length > 0) this.#remove(entries);
    return entries.length;
  }

  /** How many tools there are, disabled ones included. */
  get count(): number {
    return this.#state.tools.size;
  }

  /** Grows with every change of tools. */
  get revision(): number {
    return this.#state.revision;
  }

  /** Every session's events too, but for their `tools:changed`. */
  get events(): Emitter<ToolEvents> {
    return this.#state.hub;
  }

  /**
   * Adds rules for every session, for files and plugins; returns what takes them away. @throws
   * MisuseError `invalid_rule`.
   */
  addRules(rules: readonly Rule[]): () => void {
    return this.#state.addRules(rules, 'registry', undefined);
  }

  /**
   * Defines a profile, or replaces the one of this id; sessions follow. @throws MisuseError naming
   * profile, tool and knob.
   *
   * @example
   * ```ts
   * registry.defineProfile({
   *   id: 'reader',
   *   tools: ['add'],
   *   rules: [{ effect: 'deny', annotations: { destructive: true }, reason: 'read_only' }],
   * });
   * const session = registry.createSession({ sessionId: 's1', profile: 'reader' });
   * ```
   */
  defineProfile(profile: Profile): void {
    this.#checkOpen('define a profile');
    defineProfile(this.#state, profile);
  }

  /** A profile as it was given, without its parents; undefined when there is none. */
  profile(id: string): Profile | undefined {
    return this.#state.profiles.get(id)?.given;
  }

  /**
   * What a plugin is given: it can register, list, drain and dispose its own tools, and nothing
   * else. @throws MisuseError when the source is taken.
   *
   * @example
   * ```ts
   * const plugin = registry.scope('plugin:math', { prefix: 'math.' });
   * plugin.register(add); // registered as `math.add`
   * // later: await plugin.dispose();
   * ```
   */
  scope(source: string, options: ScopeOptions = {}): ToolScope<S> {
    this.#checkOpen('make a scope');
    const { prefix, rules } = readOptions('scope', options, scopeTable);
    checkOption('scope', 'source', source, scopeSource);
    if (this.#scopes.has(source))
      throw new MisuseError(
        'duplicate_name',
        `The scope \`${source}\` exists already. Dispose it first, or choose another source.`,
      );
    const removeRules =
      rules === undefined ? undefined : this.#state.addRules(rules, `scope:${source}`, source);
    this.#scopes.add(source);
    const state = this.#state;
    return createScope<S>({
      source,
      prefix,
      add: (definitions) => this.#add(definitions, source),
      entries: () => [...state.tools.values()].filter((entry) => entry.owner === source),
      remove: (entries) => this.#remove(entries),
      disposed: () => {
        removeRules?.();
        this.#scopes.delete(source);
      },
    });
  }

  /**
   * Creates a session: one conversation of one agent, which sees and calls the registry's tools.
   * Close it when the conversation ends.
   * @throws MisuseError naming the option.
   *
   * @example
   * ```ts
   * declare const askUser: (question: string) => Promise<boolean>; // yours
   * const session = registry.createSession({
   *   sessionId: 'chat-1',
   *   principal: 'user:ann',
   *   approver: async ({ title }) => ((await askUser(title)) ? 'allow_once' : 'reject_once'),
   * });
   * ```
   */
  createSession(options: SessionOptions<S>): ToolSession<S> {
    const state = this.#state;
    this.#checkOpen('create a session');
    const setup = readSessionOptions(options as SessionOptions<never>, state);
    const session = new SessionState(state, setup);
    if (setup.overrides !== undefined) checkOverrides(session, setup.overrides);
    const { signal, idleTimeoutMs } = setup;
    if (signal !== undefined || idleTimeoutMs !== undefined)
      closeAutomatically(session, signal, idleTimeoutMs);
    if (state.hub.hears('session:start') || state.hub.hears('session:end')) {
      session.watch();
      if (state.hub.hears('session:start')) session.emit('session:start', {});
    }
    return new Session<S>(session);
  }

  /** The short form: a session's tools. The session closes with the registry or its signal. */
  createSessionTools(
    sessionId: string,
    context: Omit<SessionOptions<S>, 'sessionId'>,
  ): readonly HostTool[] {
    return this.createSession({ ...context, sessionId } as SessionOptions<S>).tools();
  }

  /** Closes every open session and refuses new ones. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const state = this.#state;
    state.closed = true;
    const open = new Set<SessionState>(state.held);
    for (const ref of state.watchers) {
      const session = ref.deref();
      if (session !== undefined) open.add(session);
    }
    for (let call = state.calls; call !== undefined; call = call.next) open.add(call.session);
    await Promise.all([...open].map(closeSession));
    await Promise.all([...state.tools.values()].map((entry) => releaseExecutor(entry, state)));
  }

  #add(definitions: readonly AnyTool<S>[], source: string): readonly ToolRegistration[] {
    const state = this.#state;
    this.#checkOpen('register a tool');
    if (!Array.isArray(definitions))
      throw new MisuseError(
        'invalid_definition',
        `Expected an array of definitions, got ${describe(definitions)}.`,
      );
    const skeletons = new Map<string, string>();
    for (const definition of definitions) {
      checkDefinition(definition as AnyTool, state);
      const { name } = definition;
      const skeleton = nameSkeleton(name);
      const taken = state.skeletons.get(skeleton) ?? skeletons.get(skeleton);
      if (taken === name)
        throw new MisuseError(
          'duplicate_name',
          `Tool \`${name}\` is registered already. Use registerOrReplace() to replace it, or ` +
            'choose another name.',
        );
      if (taken !== undefined)
        throw new MisuseError(
          'name_conflict',
          `Tool \`${name}\` could be mistaken for \`${taken}\`, which is registered already ` +
            `(case, \`-\` and \`_\`, and look-alike letters do not tell names apart). Choose ` +
            'another name.',
        );
      skeletons.set(skeleton, name);
    }
    const entries = definitions.map(
      (definition) => new ToolEntry(definition as AnyTool, source, state.waits),
    );
    for (const [skeleton, name] of skeletons) state.skeletons.set(skeleton, name);
    for (const entry of entries) {
      state.tools.set(entry.name, entry);
      state.removed.delete(entry.name);
      retainExecutor(entry, state);
    }
    if (entries.length > 0) this.#tell({ added: entries.map(({ name }) => name) });
    return entries.map((entry) => tellOrigin(new Registration(this.#table, entry), entry));
  }

  /** Puts an entry in the place of the one of its name. */
  #put(entry: ToolEntry): void {
    const state = this.#state;
    const before = state.tools.get(entry.name);
    state.tools.set(entry.name, entry);
    // The heir first: an executor that both stand on lives on.
    retainExecutor(entry, state);
    if (before !== undefined) {
      before.removed = true;
      void releaseExecutor(before, state);
    }
    this.#tell({ modified: [entry.name] });
  }

  #remove(entries: readonly ToolEntry[]): void {
    const state = this.#state;
    for (const entry of entries) {
      entry.removed = true;
      state.tools.delete(entry.name);
      state.skeletons.delete(nameSkeleton(entry.name));
      if (!entry.internals.internal) state.rememberRemoved(entry.name);
      void releaseExecutor(entry, state);
    }
    this.#tell({ removed: entries.map(({ name }) => name) });
  }

  #tell(change: {
    added?: readonly string[];
    removed?: readonly string[];
    modified?: readonly string[];
  }): void {
    const state = this.#state;
    state.revision++;
    state.epoch++;
    state.emitToolsChanged(change);
    state.followChange('registry');
  }

  #checkOpen(action: string): void {
    if (this.#state.closed)
      throw new MisuseError('closed', `Cannot ${action}, because the registry is closed.`);
  }
}
