/**
 * One definition in a registry or a session, with its source, its slots and the calls that run on
 * it.
 */

import type { AnyTool, ToolSummary } from '../../api/tool.ts';
import { Semaphore } from '../../values/limits/semaphore.ts';
import type { WaitGraph } from '../../values/limits/wait-graph.ts';
import type { JsonSchema } from '../../values/schema/schema.ts';
import { internalsOf, type OutsidePlace, type ToolInternals } from './definition.ts';

/**
 * One definition of a tool. Replacing the tool creates a new entry; calls in flight keep theirs.
 */
export class ToolEntry {
  readonly definition: AnyTool;
  readonly internals: ToolInternals;
  /** Who registered the tool: `host`, a scope's source, or `session`. */
  readonly owner: string;
  /** The source of the tool: its owner, or where a definition from outside came from. */
  readonly source: string;
  /** Keeps the place alive, since a definition from outside only holds it weakly. */
  place: OutsidePlace | undefined;
  /** Limits concurrent calls in the whole registry, if the definition sets a limit. */
  readonly slots: Semaphore | undefined;
  enabled = true;
  /** The tool is deprecated, and no call to it has been logged yet. */
  deprecationNotLogged: boolean;
  /** No output has been logged as one that lost data. */
  noticesLoss = true;
  removed = false;
  /**
   * It runs programs of its caller. Each call of a program is one that the caller makes: of any
   * tool that the caller may use, and of no other.
   */
  isProgram = false;
  /** Calls on this entry that have not ended. */
  inFlight = 0;
  #summary: ToolSummary | undefined;
  #fingerprint: string | undefined;
  #getSchema: (() => JsonSchema) | undefined;
  #drained: (() => void)[] | undefined;

  constructor(definition: AnyTool, owner: string, waits: WaitGraph, heir?: ToolEntry) {
    this.definition = definition;
    this.internals = internalsOf(definition);
    this.owner = owner;
    const {
      outside,
      execution: { maxConcurrency },
    } = this.internals;
    this.source = outside?.source ?? owner;
    this.place = heir?.place;
    this.slots =
      heir?.slots ??
      (maxConcurrency === undefined ? undefined : new Semaphore(maxConcurrency, { waits }));
    this.deprecationNotLogged =
      definition.deprecated !== undefined && (heir === undefined || heir.deprecationNotLogged);
    if (heir !== undefined) this.enabled = heir.enabled;
  }

  get name(): string {
    return this.definition.name;
  }

  /** The part of the definition that gates may see. Its fingerprint is computed on first read. */
  get summary(): ToolSummary {
    if (this.#summary === undefined) {
      const { definition, source } = this;
      const { name, tags, annotations } = definition;
      this.#summary = Object.freeze({
        name,
        source,
        tags,
        annotations,
        get fingerprint() {
          return definition.fingerprint;
        },
      });
    }
    return this.#summary;
  }

  /** One function for all host tools of the entry. */
  get getSchema(): () => JsonSchema {
    if (this.#getSchema === undefined) {
      const { parameters } = this.definition;
      this.#getSchema = Object.freeze(() => parameters);
    }
    return this.#getSchema;
  }

  /** Computed on first read. */
  get fingerprint(): string {
    this.#fingerprint ??= this.definition.fingerprint;
    return this.#fingerprint;
  }

  /** Must be called when a call on this entry has ended. */
  ended(): void {
    if (--this.inFlight > 0 || this.#drained === undefined) return;
    const waiting = this.#drained;
    this.#drained = undefined;
    for (const resolve of waiting) resolve();
  }

  /** Resolves when no call on this entry is in flight. */
  drain(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained ??= [];
      this.#drained.push(resolve);
    });
  }
}
